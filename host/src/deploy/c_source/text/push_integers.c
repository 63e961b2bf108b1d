
/* Whether a sample can be taken in; NULL in place of its channels is a missing one. */
static fishweir_status is_sample(const fishweir_stream *stream, int is_null, size_t count)
{
    const fishweir_status status = is_started(stream);
    if (status == FISHWEIR_STATUS_OK && !is_null && count != FISHWEIR_CHANNELS) {
        return FISHWEIR_STATUS_WRONG_SIZE;
    }
    return status;
}

static fishweir_status push_row(fishweir_stream *stream, const channel *row)
{
#if FISHWEIR_MISSING_CHANNELS
    if (is_empty(row, FISHWEIR_CHANNELS)) {
        return push_sample(stream, NULL);
    }
#endif
    return push_sample(stream, &row);
}

fishweir_status fishweir_push_integers(fishweir_stream *stream, const int16_t *channels, size_t count)
{
    const fishweir_status status = is_sample(stream, channels == NULL, count);
    channel row[FISHWEIR_CHANNELS];
    unsigned d;
    if (status != FISHWEIR_STATUS_OK) {
        return status;
    }
    if (channels == NULL) {
        return push_sample(stream, NULL);
    }
    for (d = 0; d < FISHWEIR_CHANNELS; d++) {
        row[d] = channels[d];
#if FISHWEIR_MISSING_CHANNELS
        if (channels[d] == INT16_MIN) {
            row[d] = MISSING;
        }
#endif
    }
    return push_row(stream, row);
}

/* The integer nearest to x, halves away from zero; 0 if 16 bits do not hold it. */
static int integer_of(channel *integer, float x)
{
    int32_t whole;
    float rest;
    if (!(x > -40000.0f && x < 40000.0f)) {
        return 0;
    }
    whole = (int32_t)x;
    rest = x - (float)whole;
    whole += (rest >= 0.5f) - (rest <= -0.5f);
    *integer = (channel)whole;
    return whole >= -32768 && whole <= 32767;
}

fishweir_status fishweir_push(fishweir_stream *stream, const float *channels, size_t count)
{
    const fishweir_status status = is_sample(stream, channels == NULL, count);
    channel row[FISHWEIR_CHANNELS];
    unsigned d;
    if (status != FISHWEIR_STATUS_OK) {
        return status;
    }
    if (channels == NULL) {
        return push_sample(stream, NULL);
    }
    for (d = 0; d < FISHWEIR_CHANNELS; d++) {
        if ((bits_of(channels[d]) & 0x7fffffffu) > 0x7f800000u) {
#if FISHWEIR_MISSING_CHANNELS
            row[d] = MISSING;
            continue;
#else
            (void)push_sample(stream, NULL);
            return FISHWEIR_STATUS_INVALID;
#endif
        }
        if (!integer_of(&row[d], channels[d])) {
            const channel *none = NULL;
            return push_sample(stream, &none);
        }
    }
    return push_row(stream, row);
}
