
fishweir_status fishweir_predict(const fishweir_stream *stream, fishweir_prediction *prediction)
{
    const fishweir_status status = is_started(stream);
    const window *state;
    if (status != FISHWEIR_STATUS_OK) {
        return status;
    }
    if (prediction == NULL) {
        return FISHWEIR_STATUS_NULL_POINTER;
    }
    state = window_of(stream, 0);
    if (state == NULL) {
        return FISHWEIR_STATUS_NO_DECISION;
    }
    believe(prediction, state);
    return FISHWEIR_STATUS_OK;
}
