
fishweir_status fishweir_push(fishweir_stream *stream, const float *channels, size_t count)
{
    fishweir_status status = is_started(stream);
    unsigned d, missing = 0;
    if (status != FISHWEIR_STATUS_OK) {
        return status;
    }
    if (channels == NULL) {
        return push_sample(stream, NULL);
    }
    if (count != FISHWEIR_CHANNELS) {
        return FISHWEIR_STATUS_WRONG_SIZE;
    }
    for (d = 0; d < FISHWEIR_CHANNELS; d++) {
        missing += (unsigned)is_missing(channels[d]);
    }
    if (FISHWEIR_MISSING_CHANNELS ? missing == FISHWEIR_CHANNELS : missing > 0) {
        status = FISHWEIR_MISSING_CHANNELS ? FISHWEIR_STATUS_OK : FISHWEIR_STATUS_INVALID;
        (void)push_sample(stream, NULL);
        return status;
    }
    return push_sample(stream, &channels);
}
