
/* The models of one window. */
static void start_window(window *state)
{
    unsigned model;
    memset(state, 0, sizeof *state);
    for (model = 0; model < MODELS; model++) {
        start_model(&state->models[model]);
    }
}

static void step_window_missing(window *state)
{
    unsigned model;
    for (model = 0; model < MODELS; model++) {
        if (!state->ruled_out[model]) {
            step_model_missing(&state->models[model], model);
        }
    }
#if FISHWEIR_LAG_DEPTH > 0
    take_missing(&state->lag_ring, state->lag_past, FISHWEIR_LAG_DEPTH);
#endif
#if FISHWEIR_CODE_DEPTH > 0
    take_missing(&state->code_ring, state->code_past, FISHWEIR_CODE_DEPTH);
#endif
    state->samples += 1;
}

/* Pushes a sample to every model that is not ruled out. One that refuses what another takes is ruled out; what all refuse is
 * refused, and nothing has changed. */
static fishweir_status step_window(window *state, sample x)
{
    uint8_t refuses[MODELS];
    fishweir_status first = FISHWEIR_STATUS_IMPOSSIBLE;
    int taken = 0, refused = 0;
    unsigned model;
#if FISHWEIR_LAG_DEPTH > 0
    channel row[WIDENED];
    widen(row, state, x);
#endif
    for (model = 0; model < MODELS; model++) {
        fishweir_status status;
#if FISHWEIR_LAG_DEPTH > 0
        sample seen = row;
#if COLUMNS
        channel some[SEEN];
        unsigned d;
        for (d = 0; d < SEEN; d++) {
            some[d] = row[COLUMN[model][d]];
        }
        seen = some;
#endif
#else
        sample seen = x;
#endif
        refuses[model] = state->ruled_out[model];
        if (refuses[model]) {
            continue;
        }
        status = step_model(&state->models[model], model, seen);
        if (status == FISHWEIR_STATUS_OK) {
            taken = 1;
            continue;
        }
        refuses[model] = 1;
        if (!refused) {
            first = status;
        }
        refused = 1;
    }
    if (!taken) {
        return first;
    }
    memcpy(state->ruled_out, refuses, sizeof refuses);
    state->samples += 1;
#if FISHWEIR_LAG_DEPTH > 0
    take(&state->lag_ring, state->lag_past, FISHWEIR_LAG_DEPTH, x);
#endif
#if FISHWEIR_CODE_DEPTH > 0
    take_codewords(state, x);
#endif
    return FISHWEIR_STATUS_OK;
}

/* Takes in a sample, null for a missing one. A refused sample is missing. */
static fishweir_status push_window(window *state, const sample *x)
{
    fishweir_status status = FISHWEIR_STATUS_OK;
    if (x != NULL) {
        status = is_refused(*x) ? FISHWEIR_STATUS_INVALID : step_window(state, *x);
    }
    if (x == NULL || status != FISHWEIR_STATUS_OK) {
        step_window_missing(state);
    }
    return status;
}
