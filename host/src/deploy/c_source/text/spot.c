
static fishweir_status has_room(const fishweir_stream *stream, const event *events, size_t room, const size_t *count)
{
    const fishweir_status status = is_started(stream);
    if (status != FISHWEIR_STATUS_OK) {
        return status;
    }
    if (events == NULL || count == NULL) {
        return FISHWEIR_STATUS_NULL_POINTER;
    }
    return room == FISHWEIR_EVENTS ? FISHWEIR_STATUS_OK : FISHWEIR_STATUS_WRONG_SIZE;
}

/* Copies events, and returns their number. */
static size_t list(event *events, const event *from, uint32_t count)
{
    size_t n;
    for (n = 0; n < count; n++) {
        events[n] = from[n];
    }
    return n;
}

fishweir_status fishweir_events(const fishweir_stream *stream, fishweir_event *events, size_t room, size_t *count)
{
    const fishweir_status status = has_room(stream, events, room, count);
    if (status == FISHWEIR_STATUS_OK) {
        *count = list(events, stream->decided, stream->count);
    }
    return status;
}

fishweir_status fishweir_finish(fishweir_stream *stream, fishweir_event *events, size_t room, size_t *count)
{
    const fishweir_status status = has_room(stream, events, room, count);
    if (status == FISHWEIR_STATUS_OK) {
        const unsigned best = best_of(&stream->survivors);
        const token *path = &stream->tokens[best];
        *count = 0;
        if (stream->samples > 0) {
            *count = list(events, path->events, path->count);
            if (CLASS_OF[best] != BACKGROUND_CLASS) {
                const evidence score = evidence_of(&stream->survivors, best);
                const evidence reference = evidence_of(&stream->background, ROW);
                events[(*count)++] = event_of(path, CLASS_OF[best], stream->samples, &score, &reference);
            }
        }
        restart(stream);
    }
    return status;
}
