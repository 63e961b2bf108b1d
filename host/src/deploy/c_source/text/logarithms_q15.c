
/* Emissions: symbols, whose logarithms are added. */
typedef uint16_t sample;

static fishweir_status check(sample x)
{
    return x < FISHWEIR_SYMBOLS ? FISHWEIR_STATUS_OK : FISHWEIR_STATUS_INVALID;
}

/* The log-likelihood at a position, or in a context, with its rates. */
static void log_likelihood(log_number *log, unsigned model, uint32_t state, sample x)
{
#if DIRECTIONS > 0
    unsigned c;
#endif
    memset(log, 0, sizeof *log);
    log->log2 = IMPOSSIBLE;
    if (x >= FISHWEIR_SYMBOLS) {
        return;
    }
    log->log2 = LOG2[model][state][x];
#if DIRECTIONS > 0
    for (c = 0; c < DIRECTIONS; c++) {
        log->rate[c] = LOG_RATE[model][state][x][c];
    }
#endif
}
