
/* The interface. */

static fishweir_status is_started(const fishweir_stream *stream)
{
    if (stream == NULL) {
        return FISHWEIR_STATUS_NULL_POINTER;
    }
    return stream->mark == MARK ? FISHWEIR_STATUS_OK : FISHWEIR_STATUS_NOT_STARTED;
}

fishweir_status fishweir_init(fishweir_stream *stream, size_t size)
{
    if (stream == NULL) {
        return FISHWEIR_STATUS_NULL_POINTER;
    }
    if (size != sizeof *stream) {
        return FISHWEIR_STATUS_WRONG_SIZE;
    }
    restart(stream);
    return FISHWEIR_STATUS_OK;
}

fishweir_status fishweir_reset(fishweir_stream *stream)
{
    const fishweir_status status = is_started(stream);
    if (status == FISHWEIR_STATUS_OK) {
        restart(stream);
    }
    return status;
}

fishweir_status fishweir_push_missing(fishweir_stream *stream)
{
    const fishweir_status status = is_started(stream);
    return status == FISHWEIR_STATUS_OK ? push_sample(stream, NULL) : status;
}
