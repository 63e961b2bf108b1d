
/* The filter: a scaled row over the states, and what scaling moved out of it. */

/* Moves the magnitude and the derivative of a row, whose sum this is, out of it. */
static void rescale_row(number *row, const number *sum, belief *ledger)
{
    unsigned j;
    const int32_t exponent = exponent_of(sum->v[0]);
    const float factor = power_of_two(-exponent);
#if DIRECTIONS > 0
    const float reciprocal = 1.0f / sum->v[0];
    unsigned c;
    for (c = 0; c < DIRECTIONS; c++) {
        const float rate = sum->v[1 + c] * reciprocal;
        for (j = 0; j < ROW; j++) {
            row[j].v[1 + c] = (row[j].v[1 + c] - rate * row[j].v[0]) * factor;
        }
        add(&ledger->accumulated[c], rate);
    }
#endif
    for (j = 0; j < ROW; j++) {
        row[j].v[0] = row[j].v[0] * factor;
    }
    ledger->exponent += exponent;
}

static void rescale(belief *state)
{
    number sum;
    sum_of_row(&sum, state->row);
    rescale_row(state->row, &sum, state);
    state->age = 1;
}

#if BEGINS_RAISED || FISHWEIR_MISSING_CHANNELS
/* Makes a predicted row the state: time has passed, nothing was observed. */
static void advance(belief *state, const number *predicted)
{
    number sum;
    sum_of_row(&sum, predicted);
    memcpy(state->row, predicted, sizeof state->row);
    state->age += 1;
    if (state->age > 32 || !is_between(sum.v[0], -32, 2)) {
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
    if (is_between(sum.v[0], -32, 2) && !(DIRECTIONS > 0 && state->age >= 32)) {
        memcpy(state->row, row, sizeof state->row);
        if (DIRECTIONS > 0) {
            state->age += 1;
        }
        return 1;
    }
    if (!(sum.v[0] >= power_of_two(-40))) {
        return 0;
    }
    memcpy(state->row, row, sizeof state->row);
    rescale(state);
    return 1;
}

/* The same from a prediction that sums to one. */
static int condition_raised(belief *state, const number *predicted, const number *likelihood, float log_scale)
{
    const belief before = *state;
    number sums_to_one[ROW], sum;
    memcpy(sums_to_one, predicted, sizeof sums_to_one);
    sum_of_row(&sum, sums_to_one);
    rescale_row(sums_to_one, &sum, state);
    if (!condition(state, sums_to_one, likelihood)) {
        *state = before;
        return 0;
    }
    if (before.age == 0) {
        state->age = 1;
    }
    add(&state->log, log_scale);
    return 1;
}

/* The same by logarithms, relative to the best of the states that can be reached. */
static int condition_on_logs(belief *state, const number *predicted, unsigned model, uint32_t first, sample x)
{
    number joint[ROW];
    float best = -INFINITE;
    unsigned j, c;
    for (j = 0; j < ROW; j++) {
        const float value = predicted[j].v[0];
        number log;
        set_constant(&joint[j], -INFINITE);
        if (!(value > 0.0f)) {
            continue;
        }
        log_likelihood(&log, model, first + j, x);
        if (!is_near(log.v[0])) {
            continue;
        }
        joint[j].v[0] = logarithm(value) + log.v[0];
        for (c = 1; c < WIDTH; c++) {
            joint[j].v[c] = predicted[j].v[c] / value + log.v[c];
        }
        if (joint[j].v[0] > best) {
            best = joint[j].v[0];
        }
    }
    if (best == -INFINITE) {
        return 0;
    }
    for (j = 0; j < ROW; j++) {
        exponentiate(&joint[j], best);
    }
    memcpy(state->row, joint, sizeof state->row);
    add(&state->log, best);
    rescale(state);
    return 1;
}

/* Takes in an observation of the states from `first` on; on an error the state is unchanged. */
static fishweir_status observe(belief *state, const number *predicted, unsigned model, uint32_t first, sample x)
{
    number likelihood[ROW];
    float log_scale = 0.0f;
    const int is_new = state->age == 0;
    /* A filter begins with a prediction that sums to one. */
    const int has_row = likelihoods(likelihood, &log_scale, model, first, x);
    fishweir_status status;
    if (has_row && !(BEGINS_RAISED && is_new) && condition(state, predicted, likelihood)) {
        if (SCALED) {
            add(&state->log, log_scale);
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
    if (has_row && condition_raised(state, predicted, likelihood, log_scale)) {
        return FISHWEIR_STATUS_OK;
    }
    return condition_on_logs(state, predicted, model, first, x) ? FISHWEIR_STATUS_OK : FISHWEIR_STATUS_IMPOSSIBLE;
}
