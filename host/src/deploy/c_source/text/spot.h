
/* Returns the events that the last sample has decided, in order of time; mostly an empty list. Later samples do not change
 * them. Ask once after every sample, a missing or refused one too. `room` is FISHWEIR_EVENTS, and `count` becomes the number
 * of events. */
fishweir_status fishweir_events(const fishweir_stream *stream, fishweir_event *events, size_t room, size_t *count);

/* Ends the stream and returns the events that are not decided yet, as the best path has them; an event that includes the last
 * sample comes last. The next sample is the first of a new stream. To look without an end, finish a copy. `room` and `count`
 * are as for fishweir_events(). */
fishweir_status fishweir_finish(fishweir_stream *stream, fishweir_event *events, size_t room, size_t *count);
