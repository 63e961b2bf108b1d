
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
        state->row[j] = joint[j];
    }
    add_log_scale(state, &best);
    return 1;
}
