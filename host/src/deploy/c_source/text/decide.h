
/* The decision on the window that the last sample has filled. After more than FISHWEIR_LONGEST_GAP missing samples in a row
 * the next sample begins a new window. Ask after every sample, a missing or refused one too:
 * FISHWEIR_STATUS_NO_DECISION where none is due, and `decision` is as before. A model without windows
 * (FISHWEIR_WINDOW_LENGTH is 0) decides after any sample, on the stream since fishweir_init() or fishweir_reset(). */
fishweir_status fishweir_decide(const fishweir_stream *stream, fishweir_decision *decision);

/* The decision on the oldest open window, before it is full: it uses fewer samples, and is less accurate.
 * FISHWEIR_STATUS_NO_DECISION before the first sample, between windows, in too long a gap, and where partly filled windows
 * do not decide (FISHWEIR_PARTIAL_WINDOWS is 0). */
fishweir_status fishweir_decide_so_far(const fishweir_stream *stream, fishweir_decision *decision);

/* The natural logarithm of a window's likelihood under every model: `count` is FISHWEIR_MODELS. The window is the one that
 * the last sample has filled, else the oldest open one, else one without samples. */
fishweir_status fishweir_log_likelihoods(const fishweir_stream *stream, float *log_likelihoods, size_t count);
