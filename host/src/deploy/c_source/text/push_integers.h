/* Takes in one sample: `count` is FISHWEIR_CHANNELS, each value is the channel times two to its power in
 * FISHWEIR_CHANNEL_PLACES, rounded. Null in place of `channels` is a missing sample, whatever the `count`. INT16_MIN is a
 * missing channel to a model whose channels may be missing (FISHWEIR_MISSING_CHANNELS is 1), and a number to all others.
 *
 * A refused sample is missing, and the status says why. So one step passes whatever the sensor gives. Only misuse lets no
 * time pass: a stream that was not started, or another count. */
fishweir_status fishweir_push_integers(fishweir_stream *stream, const int16_t *channels, size_t count);

/* The same of floats, which are rounded to integers; halves away from zero. NaN is a missing channel. What 16 bits do not
 * hold is refused. */
fishweir_status fishweir_push(fishweir_stream *stream, const float *channels, size_t count);

