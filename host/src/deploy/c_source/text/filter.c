
/* The filter: a scaled row over the states, and what scaling moved out of it. */

static void rescale(belief *state)
{
    number sum;
    sum_of_row(&sum, state->row);
    rescale_row(state->row, &sum, state);
    state->age = 1;
}

#if ADVANCES || FISHWEIR_MISSING_CHANNELS
/* Makes a predicted row the state: time has passed, nothing was observed. */
static void advance(belief *state, const number *predicted)
{
    number sum;
    sum_of_row(&sum, predicted);
    keep(state, predicted, &sum);
    state->age += 1;
    if (state->age > RESCALE_EVERY || !is_within(&sum)) {
        rescale(state);
    }
}
#endif

/* Weighs a predicted row with likelihoods; 0, and nothing has changed, where the products vanish. */
static int condition(belief *state, const number *predicted, const number *likelihood)
{
    number row[ROW], sum;
    unsigned j;
    for (j = 0; j < ROW; j++) {
        product_of(&row[j], &predicted[j], &likelihood[j]);
    }
    sum_of_row(&sum, row);
    if (is_within(&sum) && !(DIRECTIONS > 0 && state->age >= RESCALE_EVERY)) {
        keep(state, row, &sum);
        if (DIRECTIONS > 0) {
            state->age += 1;
        }
        return 1;
    }
    if (!is_left(&sum)) {
        return 0;
    }
    keep(state, row, &sum);
    rescale(state);
    return 1;
}

/* The same from a prediction that sums to one. */
static int condition_raised(belief *state, const number *predicted, const number *likelihood, const log_scale *scale)
{
    const belief before = *state;
    number sums_to_one[ROW];
    memcpy(sums_to_one, predicted, sizeof sums_to_one);
    normalise(sums_to_one, state);
    if (!condition(state, sums_to_one, likelihood)) {
        *state = before;
        return 0;
    }
    if (before.age == 0) {
        state->age = 1;
    }
    add_log_scale(state, scale);
    return 1;
}

/* Takes in an observation of the states from `first` on; on an error the state is unchanged. */
static fishweir_status observe(belief *state, const number *predicted, unsigned model, uint32_t first, sample x)
{
    number likelihood[ROW];
    log_scale scale;
    const int is_new = state->age == 0;
    /* A filter begins with a prediction that sums to one. */
    const int has_row = likelihoods(likelihood, &scale, model, first, x);
    fishweir_status status;
    if (has_row && !(BEGINS_RAISED && is_new) && condition(state, predicted, likelihood)) {
        if (SCALED) {
            add_log_scale(state, &scale);
        }
        if (is_new) {
            state->age = 1;
        }
        return FISHWEIR_STATUS_OK;
    }
#if FISHWEIR_MISSING_CHANNELS
    if (is_empty(x, SEEN)) {
        advance(state, predicted);
        return FISHWEIR_STATUS_OK;
    }
#endif
    status = check(x);
    if (status != FISHWEIR_STATUS_OK) {
        return status;
    }
    if (has_row && condition_raised(state, predicted, likelihood, &scale)) {
        return FISHWEIR_STATUS_OK;
    }
    if (!condition_on_logs(state, predicted, model, first, x)) {
        return FISHWEIR_STATUS_IMPOSSIBLE;
    }
    rescale(state);
    return FISHWEIR_STATUS_OK;
}
