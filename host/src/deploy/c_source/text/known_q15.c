
/* Takes in an observation of a state that is known: its logarithm is added. */
static fishweir_status observe_known(belief *state, unsigned model, uint32_t context, sample x)
{
    log_number log;
    fishweir_status status;
    log_likelihood(&log, model, context, x);
    if (log.log2 != IMPOSSIBLE) {
        add_log_scale(state, &log);
        memset(state->row, 0, sizeof state->row);
        state->row[0].word = (uint32_t)1 << 21;
        state->age = 1;
        return FISHWEIR_STATUS_OK;
    }
    status = check(x);
    return status == FISHWEIR_STATUS_OK ? FISHWEIR_STATUS_IMPOSSIBLE : status;
}
