
/* The exponential is FreeBSD's e_expf.c, in its operations and constants:
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
