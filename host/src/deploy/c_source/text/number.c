#include <float.h>

/* No library is needed, but memcpy and memset, which compilers call anyway; headers that some toolchains lack are not. */
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

/* floor(log2(x)) of a positive normal number. */
static int32_t exponent_of(float x)
{
    return (int32_t)(bits_of(x) >> 23) - 127;
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

/* Whether x is at least 2^low and less than 2^high; not of NaN. */
static int is_between(float x, int32_t low, int32_t high)
{
    const uint32_t from = bits_of(power_of_two(low));
    const uint32_t to = bits_of(power_of_two(high));
    return bits_of(x) - from < to - from;
}

/* The exponential and the logarithm are FreeBSD's e_expf.c and e_logf.c, in their operations and constants:
 * Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
 * Developed at SunPro, a Sun Microsystems, Inc. business.
 * Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is preserved. */

static float exponential(float x)
{
    const uint32_t size = bits_of(x) & 0x7fffffffu;
    const int negative = x < 0.0f;
    int32_t power = 0, half;
    float multiple, high, low, rest, square, c, y;
    if (size > 0x7f800000u) {
        return x;
    }
    if (!negative && size >= 0x42b17218u) {
        return INFINITE;
    }
    if (negative && size >= 0x42cff1b5u) {
        return 0.0f;
    }
    if (size <= 0x39000000u) {
        return 1.0f + x;
    }
    if (size > 0x3f851592u) {
        power = (int32_t)(1.4426950216f * x + (negative ? -0.5f : 0.5f));
    } else if (size > 0x3eb17218u) {
        power = negative ? -1 : 1;
    }
    multiple = (float)power;
    high = x - multiple * 6.9314575195e-01f;
    low = multiple * 1.4286067653e-06f;
    rest = high - low;
    square = rest * rest;
    c = rest - square * (1.6666625440e-1f + square * -2.7667332906e-3f);
    y = 1.0f + (rest * c / (2.0f - c) - low + high);
    /* In two factors: a subnormal result is rounded once, by the second. */
    power += 254;
    half = power >> 1;
    return y * float_of((uint32_t)half << 23) * float_of((uint32_t)(power - half) << 23);
}

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

/* Part c of a sum of terms: pairs of pairs, block of four by block of four. */
static float sum_of_block(const number *terms, unsigned left, unsigned c)
{
    switch (left) {
    case 1:
        return terms[0].v[c];
    case 2:
        return terms[0].v[c] + terms[1].v[c];
    case 3:
        return terms[0].v[c] + terms[1].v[c] + terms[2].v[c];
    default:
        return (terms[0].v[c] + terms[1].v[c]) + (terms[2].v[c] + terms[3].v[c]);
    }
}

static void sum_of_row(number *sum, const number *row)
{
    unsigned c, i;
    for (c = 0; c < WIDTH; c++) {
        float total = sum_of_block(row, ROW, c);
        for (i = 4; i < ROW; i += 4) {
            total = total + sum_of_block(row + i, ROW - i, c);
        }
        sum->v[c] = total;
    }
}

static void product_of(number *product, const number *a, const number *b)
{
    unsigned c;
    const float value = a->v[0], other = b->v[0];
    for (c = 1; c < WIDTH; c++) {
        product->v[c] = a->v[c] * other + value * b->v[c];
    }
    product->v[0] = value * other;
}

/* A number that no direction moves. */
static void set_constant(number *x, float value)
{
    unsigned c;
    x->v[0] = value;
    for (c = 1; c < WIDTH; c++) {
        x->v[c] = 0.0f;
    }
}

/* exp(x - reference); where the value vanishes so does its tangent. */
static void exponentiate(number *x, float reference)
{
    unsigned c;
    const float value = exponential(x->v[0] - reference);
    if (DIRECTIONS > 0 && value == 0.0f) {
        set_constant(x, value);
        return;
    }
    for (c = 1; c < WIDTH; c++) {
        x->v[c] = x->v[c] * value;
    }
    x->v[0] = value;
}

/* Whether a log density is that of a possible observation. */
static int is_near(float log)
{
    return log >= -power_of_two(64);
}
