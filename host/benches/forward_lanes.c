/* Plain C to compare with: likelihoods of sequences of symbols, 16 side by side in vectors of floats.
 *
 *     cc -O3 -march=native -DSTATES=4 -DSYMBOLS=16 forward_lanes.c -o forward_lanes -lm && ./forward_lanes
 *
 * Prints nanoseconds a symbol, the best of runs during a quarter of a second. Symbols are laid out beforehand. Tables
 * of 16 likelihoods or fewer are looked up in a register where the compiler can; others by an index a lane. Rows are
 * scaled by powers of two once in eight steps. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LANES 16
#define LENGTH 1000
#define GROUPS 2
#define TABLE (SYMBOLS <= LANES ? LANES : SYMBOLS)

typedef float reals __attribute__((vector_size(LANES * 4)));
typedef int32_t integers __attribute__((vector_size(LANES * 4)));

static float initial[STATES], transition[STATES][STATES];
static float table[STATES][TABLE] __attribute__((aligned(64)));
static integers symbols[GROUPS][LENGTH];

static reals likelihood(int state, integers symbol) {
#if SYMBOLS <= LANES && defined(__GNUC__) && !defined(__clang__)
    return __builtin_shuffle(*(const reals *)table[state], symbol);
#else
    reals found;
    for (int lane = 0; lane < LANES; lane++) found[lane] = table[state][symbol[lane]];
    return found;
#endif
}

static reals sum(const reals *row) {
    reals sum = row[0];
    for (int j = 1; j < STATES; j++) sum += row[j];
    return sum;
}

__attribute__((noinline)) static void forward(const integers *x, float *log_likelihood) {
    reals row[STATES], next[STATES];
    integers exponent = {0};
    for (int j = 0; j < STATES; j++) row[j] = initial[j] * likelihood(j, x[0]);
    for (int t = 1; t < LENGTH; t++) {
        for (int j = 0; j < STATES; j++) {
            reals predicted = row[0] * transition[0][j];
            for (int i = 1; i < STATES; i++) predicted += row[i] * transition[i][j];
            next[j] = predicted * likelihood(j, x[t]);
        }
        for (int j = 0; j < STATES; j++) row[j] = next[j];
        if (t % 8 == 0) {
            integers power = ((integers)sum(row) >> 23) - 127;
            reals factor = (reals)((127 - power) << 23);
            exponent += power;
            for (int j = 0; j < STATES; j++) row[j] *= factor;
        }
    }
    reals total = sum(row);
    for (int lane = 0; lane < LANES; lane++)
        log_likelihood[lane] = logf(total[lane]) + (float)exponent[lane] * (float)M_LN2;
}

static void fill(float *row, int length) {
    float total = 0;
    for (int k = 0; k < length; k++) total += row[k] = 0.1f + 0.9f * (float)rand() / (float)RAND_MAX;
    for (int k = 0; k < length; k++) row[k] /= total;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(void) {
    float log_likelihood[LANES], check = 0;
    fill(initial, STATES);
    for (int i = 0; i < STATES; i++) fill(transition[i], STATES), fill(table[i], SYMBOLS);
    for (int group = 0; group < GROUPS; group++)
        for (int t = 0; t < LENGTH; t++)
            for (int lane = 0; lane < LANES; lane++) symbols[group][t][lane] = rand() % SYMBOLS;
    double best = INFINITY;
    for (double begin = now(); now() < begin + 250e6;) {
        double start = now();
        for (int group = 0; group < GROUPS; group++) forward(symbols[group], log_likelihood), check += log_likelihood[0];
        best = fmin(best, now() - start);
    }
    if (!isfinite(check)) return 1;
    printf("%f\n", best / (GROUPS * LENGTH * LANES));
    return 0;
}
