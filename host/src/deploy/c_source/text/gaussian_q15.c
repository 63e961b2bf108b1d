
/* Emissions: channels that are Gaussian, independent given the state. */
typedef const channel *sample;
/* 1 if rows of likelihoods are relative to a log scale. */
#define SCALED 1

#if FISHWEIR_MISSING_CHANNELS
/* Whether none of so many numbers was observed. */
static int is_empty(const channel *x, unsigned count)
{
    unsigned d;
    for (d = 0; d < count; d++) {
        if (x[d] != MISSING) {
            return 0;
        }
    }
    return 1;
}
#endif

static fishweir_status check(sample x)
{
    (void)x;
    return FISHWEIR_STATUS_OK;
}

static int32_t within(int32_t x, int32_t end)
{
    return x < -end ? -end : x > end ? end : x;
}

/* x - lost, held at the end of 32 bits. */
static int32_t less(int32_t x, int32_t lost)
{
    const int64_t difference = (int64_t)x - lost;
    return difference < INT32_MIN ? INT32_MIN : difference > INT32_MAX ? INT32_MAX : (int32_t)difference;
}

/* y = (x - mean) rate, with eleven binary places, or with seven where sixteen bits want it. */
static int32_t standardise(channel x, int32_t mean, int32_t rate, uint32_t shift, int *coarse)
{
    const int32_t half = (int32_t)(((uint32_t)1 << shift) >> 1);
    const int32_t fine = down((int32_t)x * 4096 - mean + half, shift);
    *coarse = fine <= -32768 || fine >= 32768;
    if (!*coarse) {
        return down(fine * rate + 16384, 15);
    }
    return within(down(within(down(fine + 8, 4), 32767) * rate + 16384, 15), 16384);
}

/* The log-likelihood in a state, or at a position, with its rates. */
static void log_likelihood(log_number *log, unsigned model, uint32_t state, sample x)
{
    unsigned d;
#if DIRECTIONS > 0
    unsigned c;
    for (c = 0; c < DIRECTIONS; c++) {
        log->rate[c] = CONSTANT_RATE[model][state][c];
    }
#endif
    log->exponent = 0;
    log->log2 = CONSTANT[model][state];
    for (d = 0; d < SEEN; d++) {
        const uint32_t shift = SHIFT[model][state][d];
        int32_t y, square;
        int coarse;
#if FISHWEIR_MISSING_CHANNELS
        if (x[d] == MISSING) {
            const int32_t power = (int32_t)PLACES[model][state][d] - (int32_t)shift;
            log->log2 = less(log->log2, log2_of(RATE[model][state][d]) + power * 65536 - 988947);
#if DIRECTIONS > 0
            for (c = 0; c < DIRECTIONS; c++) {
                const int32_t expected = down((int32_t)QUADRATIC[model][state][d][c] * 47274 + 8192, 14);
                log->rate[c] = within(less(log->rate[c], -expected), (int32_t)1 << 29);
            }
#endif
            continue;
        }
#endif
        y = standardise(x[d], MEAN[model][state][d], (int32_t)RATE[model][state][d], shift, &coarse);
        square = y * y;
        log->log2 = less(log->log2, coarse ? square * 4 : down(square + 32, 6));
#if DIRECTIONS > 0
        for (c = 0; c < DIRECTIONS; c++) {
            const int32_t linear = LINEAR[model][state][d][c], quadratic = QUADRATIC[model][state][d][c];
            int32_t moved;
            if (coarse) {
                moved = less(down(linear * y + 16, 5), -(quadratic * (square >> 14) * 4));
            } else {
                const int few = square < 16777216;
                const int32_t part = few ? (square + 256) >> 9 : (square + 16384) >> 15;
                moved = down(linear * y + 256, 9) + (few ? down(quadratic * part + 1024, 11) : down(quadratic * part + 16, 5));
            }
            log->rate[c] = within(less(log->rate[c], -moved), (int32_t)1 << 29);
        }
#endif
    }
    if (log->log2 <= -((int32_t)1 << 30)) {
        memset(log, 0, sizeof *log);
        log->log2 = IMPOSSIBLE;
    }
}
