
/* A statistic less its mean. */
static float statistic_of(const fishweir_stream *stream, unsigned c)
{
    const double_word *faded = &stream->faded[c];
    return (faded->sum + faded->carry) - LIMIT[c][0] * (stream->weight.sum + stream->weight.carry);
}

fishweir_status fishweir_detect(const fishweir_stream *stream, fishweir_alarm *alarm)
{
    const fishweir_status status = is_started(stream);
    unsigned c;
    if (status != FISHWEIR_STATUS_OK) {
        return status;
    }
    if (alarm == NULL) {
        return FISHWEIR_STATUS_NULL_POINTER;
    }
    alarm->statistic = FISHWEIR_NO_ALARM;
    alarm->value = 0.0f;
    /* Drifts before the fit. */
    for (c = 1; c <= WIDTH && alarm->statistic == FISHWEIR_NO_ALARM; c++) {
        const float value = statistic_of(stream, c % WIDTH);
        const float size = float_of(bits_of(value) & 0x7fffffffu);
        if (!(size <= LIMIT[c % WIDTH][1])) {
            alarm->statistic = (int32_t)(c % WIDTH);
            alarm->value = value;
        }
    }
    return FISHWEIR_STATUS_OK;
}

fishweir_status fishweir_statistics(const fishweir_stream *stream, float *statistics, size_t count)
{
    const fishweir_status status = is_started(stream);
    unsigned c;
    if (status != FISHWEIR_STATUS_OK) {
        return status;
    }
    if (statistics == NULL) {
        return FISHWEIR_STATUS_NULL_POINTER;
    }
    if (count != FISHWEIR_STATISTICS) {
        return FISHWEIR_STATUS_WRONG_SIZE;
    }
    for (c = 0; c < WIDTH; c++) {
        statistics[c] = statistic_of(stream, c);
    }
    return FISHWEIR_STATUS_OK;
}
