
static fishweir_status decide_on(const fishweir_stream *stream, fishweir_decision *decision, int partial)
{
    const fishweir_status status = is_started(stream);
    const window *state;
    output outputs[OUTPUTS];
    if (status != FISHWEIR_STATUS_OK) {
        return status;
    }
    if (decision == NULL) {
        return FISHWEIR_STATUS_NULL_POINTER;
    }
    state = window_of(stream, partial);
    if (state == NULL) {
        return FISHWEIR_STATUS_NO_DECISION;
    }
    outputs_of(outputs, state);
    decide(decision, outputs);
    return FISHWEIR_STATUS_OK;
}

fishweir_status fishweir_decide(const fishweir_stream *stream, fishweir_decision *decision)
{
    return decide_on(stream, decision, 0);
}

fishweir_status fishweir_decide_so_far(const fishweir_stream *stream, fishweir_decision *decision)
{
    return decide_on(stream, decision, FISHWEIR_PARTIAL_WINDOWS);
}

fishweir_status fishweir_log_likelihoods(const fishweir_stream *stream, float *log_likelihoods, size_t count)
{
    const fishweir_status status = is_started(stream);
    const window *state;
    unsigned model;
    if (status != FISHWEIR_STATUS_OK) {
        return status;
    }
    if (log_likelihoods == NULL) {
        return FISHWEIR_STATUS_NULL_POINTER;
    }
    if (count != MODELS) {
        return FISHWEIR_STATUS_WRONG_SIZE;
    }
    state = window_of(stream, 1);
    for (model = 0; model < MODELS; model++) {
        log_likelihoods[model] = 0.0f;
        if (state != NULL) {
            log_likelihoods[model] = state->ruled_out[model] ? -INFINITE : log_of(&state->models[model]);
        }
    }
    return FISHWEIR_STATUS_OK;
}
