/* Starts a stream. Call it before anything else, with sizeof(fishweir_stream) as the size. */
fishweir_status fishweir_init(fishweir_stream *stream, size_t size);

/* Forgets the past: the next sample is the first of a new stream. */
fishweir_status fishweir_reset(fishweir_stream *stream);

