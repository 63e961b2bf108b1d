
/* Emissions: symbols. */
typedef uint16_t sample;
/* 1 if rows of likelihoods are relative to a log scale. */
#define SCALED 1

static fishweir_status check(sample x)
{
    return x < FISHWEIR_SYMBOLS ? FISHWEIR_STATUS_OK : FISHWEIR_STATUS_INVALID;
}

/* The log-likelihood in a state, with its rates. */
static void log_likelihood(log_number *log, unsigned model, uint32_t state, sample x)
{
    const weight *probability = &PROBABILITY[model][state][x];
#if DIRECTIONS > 0
    unsigned c;
    for (c = 0; c < DIRECTIONS; c++) {
        log->rate[c] = probability->value == 0 ? 0 : (int32_t)probability->rate[c] * 32768 / (int32_t)probability->value;
    }
#endif
    log->exponent = 0;
    log->log2 = IMPOSSIBLE;
    if (probability->value != 0) {
        log->log2 = log2_of(probability->value) - (15 + (int32_t)SYMBOL_EXPONENT[model][x]) * 65536;
    }
}

/* A row of likelihoods of the states from `first` on, and their log scale; 0 if there is none. */
static int likelihoods(number *row, log_scale *scale, unsigned model, uint32_t first, sample x)
{
    unsigned j;
    if (x >= FISHWEIR_SYMBOLS) {
        return 0;
    }
    for (j = 0; j < ROW; j++) {
        lift(&row[j], &PROBABILITY[model][first + j][x], 0);
    }
    memset(scale, 0, sizeof *scale);
    scale->log2 = -(int32_t)SYMBOL_EXPONENT[model][x] * 65536;
    return 1;
}
