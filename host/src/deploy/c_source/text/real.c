#include <float.h>

/* No library is needed, but memcpy, memmove and memset, which compilers call anyway; headers that some toolchains lack are
 * not. */
#if defined(__GNUC__)
#define INFINITE __builtin_inff()
#else
#include <math.h>
#define INFINITE INFINITY
#endif
#if defined(__has_include)
#if !__has_include(<string.h>)
#define WITHOUT_STRING_H
#endif
#endif
#if defined(WITHOUT_STRING_H)
#if defined(__cplusplus)
extern "C" {
#endif
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
#if defined(__cplusplus)
}
#endif
#else
#include <string.h>
#endif

/* The bits of decisions are those of the host if every operation is rounded once, to float. */
#if defined(__FAST_MATH__)
#error "compile this file without -ffast-math: its bits would differ from the model's"
#endif
#if defined(FLT_EVAL_METHOD)
#if FLT_EVAL_METHOD != 0
#error "this compiler computes with more than float: on x86 compile with -msse2 -mfpmath=sse"
#endif
#endif
#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

/* Entries of a belief's row: hidden states, or one where the state is known. */
#define ROW FISHWEIR_ROW
#define DIRECTIONS FISHWEIR_DIRECTIONS
#define WIDTH (1 + DIRECTIONS)
/* Mark of a stream that was started. */
#define MARK 0x72696577u

typedef fishweir_number number;
typedef fishweir_sum double_word;
typedef fishweir_belief belief;

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^power, clamped to the normal range. */
static float power_of_two(int32_t power)
{
    if (power < -126) {
        power = -126;
    } else if (power > 127) {
        power = 127;
    }
    return float_of((uint32_t)(power + 127) << 23);
}

/* The logarithm is FreeBSD's e_logf.c, in its operations and constants:
 * Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
 * Developed at SunPro, a Sun Microsystems, Inc. business.
 * Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is preserved. */

static float logarithm(float x)
{
    uint32_t bits = bits_of(x);
    int32_t power = 0;
    float f, s, z, w, r, half_square, multiple;
    if (bits < 0x00800000u || bits >> 31 != 0) {
        if (bits << 1 == 0) {
            return -INFINITE;
        }
        if (bits >> 31 != 0) {
            return float_of(0x7fc00000u);
        }
        power = -25;
        bits = bits_of(x * 33554432.0f);
    } else if (bits >= 0x7f800000u) {
        return x;
    } else if (bits == 0x3f800000u) {
        return 0.0f;
    }
    bits += 0x3f800000u - 0x3f3504f3u;
    power += (int32_t)(bits >> 23) - 127;
    f = float_of((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    s = f / (2.0f + f);
    z = s * s;
    w = z * z;
    r = z * (0.66666662693f + w * 0.28498786688f) + w * (0.40000972152f + w * 0.24279078841f);
    half_square = 0.5f * f * f;
    multiple = (float)power;
    return s * (half_square + r) + multiple * 9.0580006145e-06f - half_square + f + multiple * 6.9313812256e-01f;
}

/* Adds a term; the remainder of the rounding is carried (Knuth; Dekker 1971). */
static void add(double_word *total, float term)
{
    const float sum = total->sum + term;
    const float from_term = sum - total->sum;
    const float dropped = (total->sum - (sum - from_term)) + (term - from_term);
    const float carry = total->carry + dropped;
    total->sum = sum + carry;
    total->carry = carry - (total->sum - sum);
}
