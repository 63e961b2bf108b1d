
/* The row of a belief: products that fit 32 bits, and sums that stay below their end. */
#define TANGENTS ((uint32_t)32768 - 128)
#define RATE_MAX ((uint32_t)16128)
/* A row whose sum is below this has lost digits. */
#define VANISHED ((uint32_t)1 << 20)
/* Bits of a row of predictions or products beyond those of a state's row. */
#define WIDE ((uint32_t)10)

static uint32_t mantissa_of(const number *x)
{
    return x->word >> 5;
}

#if DIRECTIONS > 0
/* The product of 32 bits, without its carry. */
static int32_t product(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a * (uint32_t)b);
}

static int32_t sum(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* x factor / 2^15, of a factor up to 2^15. */
static int32_t by_high_and_low(int32_t x, int32_t factor)
{
    const int32_t high = down(x, 15), low = x & 0x7fff;
    return sum(product(high, factor), down(product(low, factor), 15));
}

/* The largest over the directions of the sum of a row's rates in absolute value. */
static uint32_t absolute_sum(const number *row)
{
    uint32_t largest = 0;
    unsigned c, j;
    for (c = 0; c < DIRECTIONS; c++) {
        uint32_t total = 0;
        for (j = 0; j < ROW; j++) {
            const int32_t rate = row[j].rate[c];
            total += (uint32_t)(rate < 0 ? ~rate : rate);
        }
        if (total > largest) {
            largest = total;
        }
    }
    return largest;
}
#endif

/* An entry of a table as a number. */
static void lift(number *x, const weight *entry, uint32_t exponent)
{
#if DIRECTIONS > 0
    unsigned c;
    for (c = 0; c < DIRECTIONS; c++) {
        x->rate[c] = down((int32_t)entry->rate[c] * 2048, finer(entry));
    }
#endif
    x->word = ((((uint32_t)entry->value << 16) >> finer(entry)) & ~EXPONENT) | exponent;
}

static void sum_of_row(number *total, const number *row)
{
    unsigned j;
#if DIRECTIONS > 0
    unsigned c;
#endif
    *total = row[0];
    for (j = 1; j < ROW; j++) {
        total->word = ((total->word & ~EXPONENT) + (row[j].word & ~EXPONENT)) | (total->word & EXPONENT);
#if DIRECTIONS > 0
        for (c = 0; c < DIRECTIONS; c++) {
            total->rate[c] = sum(total->rate[c], row[j].rate[c]);
        }
#endif
    }
}

/* The product of a prediction and a likelihood. */
static void product_of(number *made, const number *a, const number *b)
{
    const uint32_t likelihood = b->word >> 16;
    const uint32_t high = a->word >> 15, low = mantissa_of(a) & 0x3ffu;
    const uint32_t own = a->word & EXPONENT, other = b->word & EXPONENT;
    const uint32_t exponent = own > other ? own : other;
    const uint32_t value = high * likelihood + ((low * likelihood) >> 10);
#if DIRECTIONS > 0
    unsigned c;
    for (c = 0; c < DIRECTIONS; c++) {
        const int32_t rate = down(b->rate[c], 11);
#if FINE
        const int32_t low_rate = down(product((int32_t)(low << 5), rate), 15);
        const int32_t moved = down(sum(product((int32_t)high, rate), low_rate), 5);
        made->rate[c] = sum(down(by_high_and_low(a->rate[c], (int32_t)likelihood), exponent - own), down(moved, exponent - other));
#else
        const int32_t carried = down(product(down(sum(a->rate[c], 1024), 11), (int32_t)likelihood), exponent - own);
        const int32_t moved = down(down(product((int32_t)high, rate), 1), exponent - other);
        made->rate[c] = down(sum(carried, moved), 4);
#endif
    }
#endif
    made->word = (value & ~EXPONENT) | exponent;
}

/* The chain: the row before the first sample, and an entry of the row after, which is rounded once. */
static void begin(number *predicted, unsigned model)
{
    unsigned j;
    for (j = 0; j < ROW; j++) {
        lift(&predicted[j], &INITIAL[model][j], 0);
    }
}

static void inner(number *total, const number *row, unsigned model, unsigned to)
{
    const uint32_t exponent = row[0].word & EXPONENT;
    uint32_t value = 0;
    unsigned from;
#if DIRECTIONS > 0
    int32_t carried[DIRECTIONS], moved[DIRECTIONS];
    unsigned c;
    for (c = 0; c < DIRECTIONS; c++) {
        carried[c] = moved[c] = 0;
    }
#endif
    for (from = 0; from < ROW; from++) {
        const weight *entry = &TRANSITION[model][from][to];
        const uint32_t a = mantissa_of(&row[from]);
        value += (a * entry->value) >> finer(entry);
#if DIRECTIONS > 0
        for (c = 0; c < DIRECTIONS; c++) {
            carried[c] = sum(carried[c], down(product(row[from].rate[c], (int32_t)entry->value), finer(entry)));
            moved[c] = sum(moved[c], down(product((int32_t)a, entry->rate[c]), finer(entry)));
        }
#endif
    }
#if DIRECTIONS > 0
    for (c = 0; c < DIRECTIONS; c++) {
        total->rate[c] = down(sum(carried[c], down(moved[c], exponent)), 5);
    }
#endif
    total->word = (value & ~EXPONENT) | exponent;
}

/* Whether the sum of a row has kept its digits. */
static int is_within(const number *total)
{
    return total->word >= VANISHED;
}
#define is_left is_within
#define normalise(row, ledger) ((void)(row), (void)(ledger))

/* Makes a row of products or predictions, whose sum this is, the state: the sum between 2^15 and 2^16. */
static void keep(belief *state, const number *row, const number *total)
{
    uint32_t lost = WIDE + 1, top = total->word, half, kept;
    unsigned j;
#if DIRECTIONS > 0
    uint32_t lower, shift;
    int32_t rate_half;
    unsigned c;
#endif
    while (top > 0 && top < 0x80000000u && lost > 0) {
        top <<= 1;
        lost -= 1;
    }
    kept = total->word & EXPONENT;
#if DIRECTIONS > 0
    lower = kept > 0 && lost > 0;
    kept -= lower;
    shift = lost - lower;
    {
        uint32_t largest = absolute_sum(row) >> shift;
        while (largest >= TANGENTS) {
            largest >>= 1;
            shift += 1;
            kept += 1;
        }
    }
    if (kept > EXPONENT_MAX) {
        kept = EXPONENT_MAX;
    }
    shift &= 31u;
    rate_half = (int32_t)(((uint32_t)1 << shift) >> 1);
#else
    kept -= kept > 0 && lost > 0;
#endif
    half = (((uint32_t)1 << lost) >> 1) << 5;
    for (j = 0; j < ROW; j++) {
        state->row[j].word = (((row[j].word + half) >> (lost + 5)) << 5) | kept;
#if DIRECTIONS > 0
        for (c = 0; c < DIRECTIONS; c++) {
            state->row[j].rate[c] = down(sum(row[j].rate[c], rate_half), shift);
        }
#endif
    }
    state->log2 += ((int64_t)lost - (int64_t)WIDE) * 65536;
}

/* Moves the derivative of a row, whose sum this is, out of it, without a division. */
static void rescale_row(number *row, const number *total, belief *ledger)
{
#if DIRECTIONS > 0
    const uint32_t exponent = total->word & EXPONENT;
    const int32_t reciprocal = 47743 - (int32_t)(mantissa_of(total) >> 1);
    unsigned c, j;
    for (c = 0; c < DIRECTIONS; c++) {
        const int32_t rate = down(product(total->rate[c], reciprocal), 16);
        for (j = 0; j < ROW; j++) {
            const int32_t moved = down(sum(product(rate, (int32_t)mantissa_of(&row[j])), 8192), 14);
            row[j].rate[c] = (int32_t)((uint32_t)row[j].rate[c] - (uint32_t)moved);
        }
        ledger->accumulated[c] += (int64_t)rate * ((int64_t)1 << (exponent + 3));
    }
    if (absolute_sum(row) >= TANGENTS) {
        const uint32_t kept = exponent + 1 < EXPONENT_MAX ? exponent + 1 : EXPONENT_MAX;
        for (j = 0; j < ROW; j++) {
            row[j].word = (row[j].word & ~EXPONENT) | kept;
            for (c = 0; c < DIRECTIONS; c++) {
                row[j].rate[c] = down(row[j].rate[c] + 1, 1);
            }
        }
    }
#else
    (void)row;
    (void)total;
    (void)ledger;
#endif
}

/* 2^15 2^(-i/64). */
static const uint16_t POWERS[65] = {
    32768, 32415, 32066, 31720, 31379, 31041, 30706, 30376, 30048, 29725, 29405, 29088, 28774, 28464, 28158, 27855, 27554, 27258,
    26964, 26674, 26386, 26102, 25821, 25543, 25268, 24995, 24726, 24460, 24196, 23936, 23678, 23423, 23170, 22921, 22674, 22430,
    22188, 21949, 21713, 21479, 21247, 21019, 20792, 20568, 20347, 20127, 19911, 19696, 19484, 19274, 19066, 18861, 18658, 18457,
    18258, 18061, 17867, 17674, 17484, 17296, 17109, 16925, 16743, 16562, 16384
};

/* 2^15 2^(-x) of x 2^-16. */
static uint32_t exp2_of_negative(uint32_t x)
{
    const uint32_t whole = x >> 16, part = x & 0x3ffu;
    const unsigned index = (unsigned)((x & 0xffffu) >> 10);
    int32_t from, to, value;
    if (whole > 16) {
        return 0;
    }
    from = (int32_t)POWERS[index];
    to = (int32_t)POWERS[index + 1];
    value = from + down((to - from) * (int32_t)part + 512, 10);
    return ((uint32_t)value + (((uint32_t)1 << whole) >> 1)) >> whole;
}

/* A row of likelihoods relative to the likeliest, and its log scale; 0 if all are impossible. */
static int relative(number *row, log_scale *scale, log_number *logs)
{
    unsigned j, best = ROW;
#if DIRECTIONS > 0
    uint32_t largest = 0;
    unsigned c;
#endif
    for (j = 0; j < ROW; j++) {
        if (logs[j].log2 > (best < ROW ? logs[best].log2 : IMPOSSIBLE)) {
            best = j;
        }
    }
    if (best == ROW) {
        return 0;
    }
    *scale = logs[best];
    scale->exponent = 0;
    for (j = 0; j < ROW; j++) {
        const uint32_t value = exp2_of_negative((uint32_t)scale->log2 - (uint32_t)logs[j].log2);
#if DIRECTIONS > 0
        for (c = 0; c < DIRECTIONS; c++) {
            const int32_t end = (int32_t)1 << 30;
            int64_t difference = (int64_t)logs[j].rate[c] - scale->rate[c];
            if (difference > end) {
                difference = end;
            } else if (difference < -end) {
                difference = -end;
            }
            logs[j].rate[c] = by_high_and_low((int32_t)difference, (int32_t)value);
            largest |= (uint32_t)(logs[j].rate[c] < 0 ? -logs[j].rate[c] : logs[j].rate[c]);
        }
#endif
        row[j].word = value << 16;
    }
#if DIRECTIONS > 0
    while (largest >> scale->exponent > RATE_MAX) {
        scale->exponent += 1;
    }
    for (j = 0; j < ROW; j++) {
        for (c = 0; c < DIRECTIONS; c++) {
            row[j].rate[c] = down(logs[j].rate[c], scale->exponent & EXPONENT) * 2048;
        }
        row[j].word |= scale->exponent;
    }
#endif
    return 1;
}
