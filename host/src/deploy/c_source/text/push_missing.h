/* Takes in a missing sample: time passes, nothing is learnt. */
fishweir_status fishweir_push_missing(fishweir_stream *stream);
