
/* Hidden states: one step of the chain. */
static void predict(number *predicted, const belief *state, unsigned model)
{
    unsigned j;
    if (state->age == 0) {
        begin(predicted, model);
        return;
    }
    for (j = 0; j < ROW; j++) {
        inner(&predicted[j], state->row, model, j);
    }
}

static void start_model(belief *state)
{
    (void)state;
}

static fishweir_status step_model(belief *state, unsigned model, sample x)
{
    number predicted[ROW];
    predict(predicted, state, model);
    return observe(state, predicted, model, 0, x);
}

static void step_model_missing(belief *state, unsigned model)
{
    number predicted[ROW];
    predict(predicted, state, model);
    advance(state, predicted);
}
