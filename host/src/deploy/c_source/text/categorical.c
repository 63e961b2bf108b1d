
/* Emissions: symbols. */
typedef uint16_t sample;
/* 1 if rows of likelihoods are relative to a log scale. */
#define SCALED 0

static fishweir_status check(sample x)
{
    return x < FISHWEIR_SYMBOLS ? FISHWEIR_STATUS_OK : FISHWEIR_STATUS_INVALID;
}

/* The log-likelihood in a state, or a context, with its tangent. */
static void log_likelihood(number *log, unsigned model, uint32_t state, sample x)
{
    unsigned c;
    const number *probability = &PROBABILITY[EMISSION(model)][state][x];
    if (!(probability->v[0] > 0.0f)) {
        set_constant(log, -INFINITE);
        return;
    }
    log->v[0] = logarithm(probability->v[0]);
    if (DIRECTIONS > 0) {
        const float reciprocal = 1.0f / probability->v[0];
        for (c = 1; c < WIDTH; c++) {
            log->v[c] = probability->v[c] * reciprocal;
        }
    }
}

/* A row of likelihoods of the states from `first` on, and their log scale; 0 if there is none. */
static int likelihoods(number *row, log_scale *scale, unsigned model, uint32_t first, sample x)
{
    unsigned j;
    if (x >= FISHWEIR_SYMBOLS) {
        return 0;
    }
    for (j = 0; j < ROWS(model); j++) {
        row[j] = PROBABILITY[EMISSION(model)][first + j][x];
    }
    for (; j < ROW; j++) {
        set_constant(&row[j], 0.0f);
    }
    *scale = 0.0f;
    return 1;
}
