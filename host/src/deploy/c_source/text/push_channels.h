/* Takes in one sample: `count` is FISHWEIR_CHANNELS, the values are in the units that the model was trained on. Null in place
 * of `channels` is a missing sample, whatever the `count`. NaN is a missing channel: a model whose channels may be missing
 * (FISHWEIR_MISSING_CHANNELS is 1) leaves it out, to all others the sample is missing.
 *
 * A refused sample is missing, and the status says why. So one step passes whatever the sensor gives. Only misuse lets no
 * time pass: a stream that was not started, or another count. */
fishweir_status fishweir_push(fishweir_stream *stream, const float *channels, size_t count);

