
/* Known states: the last symbols, which the context numbers. */
static void start_model(belief *state)
{
    state->context = 0;
    state->unknown = ORDER;
}

static void step_model_missing(belief *state, unsigned model)
{
    (void)model;
    start_model(state);
}

static fishweir_status step_model(belief *state, unsigned model, sample x)
{
    fishweir_status status = check(x);
    if (status == FISHWEIR_STATUS_OK && state->unknown == 0) {
        status = observe_known(state, model, state->context, x);
    }
    if (status == FISHWEIR_STATUS_OK) {
        state->context = (state->context * FISHWEIR_SYMBOLS + x) % FISHWEIR_STATES;
        state->unknown -= state->unknown > 0;
    }
    return status;
}
