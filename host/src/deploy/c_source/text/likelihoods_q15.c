
/* A row of likelihoods of the states from `first` on, relative to the likeliest, and their log scale; 0 if there is none. */
static int likelihoods(number *row, log_scale *scale, unsigned model, uint32_t first, sample x)
{
    log_number logs[ROW];
    unsigned j;
#if FISHWEIR_MISSING_CHANNELS
    if (is_empty(x, SEEN)) {
        return 0;
    }
#endif
    for (j = 0; j < ROW; j++) {
        log_likelihood(&logs[j], model, first + j, x);
    }
    return relative(row, scale, logs);
}
