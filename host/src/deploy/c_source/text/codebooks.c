
/* Codebooks: counts of short patterns in the last samples. */
#define WORDS 8
#define TAPS 8

/* Likeness of each code vector to the samples before x; 0 until enough have come. */
static int likeness(wide *alike, const window *state, unsigned book, const channel *x)
{
    uint32_t lag = 0;
    unsigned tap, word, d;
    if (state->code_ring.rows < DILATION[book] * TAPS) {
        return 0;
    }
    for (word = 0; word < WORDS; word++) {
        alike[word] = 0;
    }
    for (tap = 0; tap < TAPS; tap++) {
        const channel *before;
        wide y = 0;
        lag += DILATION[book];
        before = state->code_past[back(&state->code_ring, lag, FISHWEIR_CODE_DEPTH)];
        for (d = 0; d < FISHWEIR_CHANNELS; d++) {
            y = y + (wide)CODE_SCALE[book][d] * ((wide)x[d] - (wide)before[d]);
        }
        y = lowered(y);
        for (word = 0; word < WORDS; word++) {
            alike[word] = alike[word] + (wide)CODE_VECTOR[book][tap][word] * y;
        }
    }
    return 1;
}

/* Adds what the codeword of a sample weighs, and the levels that each code vector exceeds. */
static void take_codewords(window *state, const channel *x)
{
    wide sample_sums[OUTPUTS], alike[WORDS];
    unsigned book, word, o;
    for (o = 0; o < OUTPUTS; o++) {
        sample_sums[o] = 0;
    }
    for (book = 0; book < sizeof DILATION / sizeof *DILATION; book++) {
        unsigned best = 0;
        if (!likeness(alike, state, book, x)) {
            continue;
        }
        for (word = 1; word < WORDS; word++) {
            if (alike[word] > alike[best]) {
                best = word;
            }
        }
        for (o = 0; o < OUTPUTS; o++) {
            sample_sums[o] = sample_sums[o] + CODE_WEIGHT[book][best][o];
        }
#if LEVELS > 0
        for (word = 0; word < WORDS; word++) {
            unsigned level, exceeded = 0;
            for (level = 0; level < LEVELS; level++) {
                exceeded += alike[word] > CODE_LEVEL[book][word][level];
            }
            for (o = 0; exceeded > 0 && o < OUTPUTS; o++) {
                sample_sums[o] = sample_sums[o] + LEVEL_WEIGHT[book][word][exceeded - 1][o];
            }
        }
#endif
    }
    for (o = 0; o < OUTPUTS; o++) {
        add_sample(&state->code_sums[o], sample_sums[o]);
    }
    take(&state->code_ring, state->code_past, FISHWEIR_CODE_DEPTH, x);
}
