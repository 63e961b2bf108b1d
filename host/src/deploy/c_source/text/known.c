
/* Takes in an observation of a state that is known. */
static fishweir_status observe_known(belief *state, unsigned model, uint32_t context, sample x)
{
    number before;
    before = state->row[0];
    if (state->age == 0) {
        set_constant(&before, 1.0f);
    }
    return observe(state, &before, model, context, x);
}
