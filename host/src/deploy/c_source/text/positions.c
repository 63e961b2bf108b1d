
/* Known states: a position each, and the last for all that follow. */
static void start_model(belief *state)
{
    (void)state;
}

static void step_model_missing(belief *state, unsigned model)
{
    (void)model;
    if (state->context + 1 < FISHWEIR_STATES) {
        state->context += 1;
    }
}

static fishweir_status step_model(belief *state, unsigned model, sample x)
{
    const fishweir_status status = observe_known(state, model, state->context, x);
    if (status == FISHWEIR_STATUS_OK) {
        step_model_missing(state, model);
    }
    return status;
}
