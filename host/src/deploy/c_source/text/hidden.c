
/* Hidden states: one step of the chain. */
static void predict(number *predicted, const belief *state, unsigned model)
{
    number terms[ROW];
    unsigned i, j;
    if (state->age == 0) {
        memcpy(predicted, INITIAL[model], sizeof INITIAL[model]);
        return;
    }
    for (j = 0; j < ROW; j++) {
        for (i = 0; i < ROW; i++) {
            product_of(&terms[i], &state->row[i], &TRANSITION[model][i][j]);
        }
        sum_of_row(&predicted[j], terms);
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
