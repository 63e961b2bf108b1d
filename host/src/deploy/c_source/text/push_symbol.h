/* Takes in one symbol: 0 to FISHWEIR_SYMBOLS - 1. A refused one is missing, and the status says why: a symbol outside the
 * alphabet, say. Misuse lets no time pass. */
fishweir_status fishweir_push_symbol(fishweir_stream *stream, uint16_t symbol);

