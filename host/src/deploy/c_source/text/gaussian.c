
/* Emissions: channels that are Gaussian, independent given the state. */
typedef const float *sample;
/* 1 if rows of likelihoods are relative to a log scale. */
#define SCALED 1

static int is_finite(float x)
{
    return (bits_of(x) & 0x7f800000u) != 0x7f800000u;
}

static int is_missing(float x)
{
    return (bits_of(x) & 0x7fffffffu) > 0x7f800000u;
}

#if FISHWEIR_MISSING_CHANNELS
/* Whether none of so many numbers was observed. */
static int is_empty(const float *x, unsigned count)
{
    unsigned d;
    for (d = 0; d < count; d++) {
        if (!is_missing(x[d])) {
            return 0;
        }
    }
    return 1;
}
#endif

static fishweir_status check(sample x)
{
    unsigned d;
    for (d = 0; d < SEEN; d++) {
        if (!is_finite(x[d]) && !(FISHWEIR_MISSING_CHANNELS && is_missing(x[d]))) {
            return FISHWEIR_STATUS_INVALID;
        }
    }
    return FISHWEIR_STATUS_OK;
}

/* The log-likelihood in a state, or at a position, with its tangent. */
static void log_likelihood(number *log, unsigned model, uint32_t state, sample x)
{
    const float *mean = MEAN[EMISSION(model)][state], *rate = RATE[EMISSION(model)][state];
    float square = 0.0f, constant;
    unsigned d;
#if DIRECTIONS > 0
    unsigned c;
#endif
    *log = CONSTANT[EMISSION(model)][state];
    constant = log->v[0];
#if FISHWEIR_MISSING_CHANNELS
    if (constant == -INFINITE) {
        set_constant(log, constant);
        return;
    }
#endif
    for (d = 0; d < SEEN; d++) {
        float z;
#if FISHWEIR_MISSING_CHANNELS
        if (is_missing(x[d])) {
            constant = constant - (logarithm(rate[d]) - 0.9189385f);
#if DIRECTIONS > 0
            for (c = 1; c < WIDTH; c++) {
                log->v[c] = log->v[c] + QUADRATIC[EMISSION(model)][state][d][c - 1];
            }
#endif
            continue;
        }
#endif
        z = (x[d] - mean[d]) * rate[d];
        square = square + z * z;
#if DIRECTIONS > 0
        for (c = 1; c < WIDTH; c++) {
            const float linear = LINEAR[EMISSION(model)][state][d][c - 1];
            log->v[c] = log->v[c] + (linear + QUADRATIC[EMISSION(model)][state][d][c - 1] * z) * z;
        }
#endif
    }
    log->v[0] = constant - 0.5f * square;
}

/* A row of likelihoods of the states from `first` on, relative to the largest, and their log scale; 0 if there is none. */
static int likelihoods(number *row, log_scale *scale, unsigned model, uint32_t first, sample x)
{
    unsigned j;
    float most = -INFINITE;
#if FISHWEIR_MISSING_CHANNELS
    if (is_empty(x, SEEN)) {
        return 0;
    }
#endif
    for (j = 0; j < ROWS(model); j++) {
        log_likelihood(&row[j], model, first + j, x);
        if (row[j].v[0] > most) {
            most = row[j].v[0];
        }
    }
    if (!is_near(most)) {
        return 0;
    }
    for (j = 0; j < ROWS(model); j++) {
        exponentiate(&row[j], most);
    }
    for (; j < ROW; j++) {
        set_constant(&row[j], 0.0f);
    }
    *scale = most;
    return 1;
}
