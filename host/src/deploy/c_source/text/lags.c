
/* Writes a sample and its differences from those at the lags before it. */
static void widen(channel *row, const window *state, const channel *x)
{
    unsigned l, d;
    memcpy(row, x, FISHWEIR_CHANNELS * sizeof *row);
    for (l = 0; l < sizeof LAGS / sizeof *LAGS; l++) {
        const channel *before = x;
        if (state->lag_ring.rows > 0) {
            before = state->lag_past[back(&state->lag_ring, LAGS[l], FISHWEIR_LAG_DEPTH)];
        }
        row += FISHWEIR_CHANNELS;
        for (d = 0; d < FISHWEIR_CHANNELS; d++) {
            row[d] = change_of(x[d], before[d]);
        }
    }
}
