
/* Returns the alarm of the detector. Ask after every sample, and call fishweir_reset() after an alarm: otherwise a change that
 * lasts raises it again. */
fishweir_status fishweir_detect(const fishweir_stream *stream, fishweir_alarm *alarm);

/* Returns the statistics: the fit, which is the faded log-likelihood less its mean, in nats, then the drift along each
 * direction: `count` is FISHWEIR_STATISTICS. */
fishweir_status fishweir_statistics(const fishweir_stream *stream, float *statistics, size_t count);
