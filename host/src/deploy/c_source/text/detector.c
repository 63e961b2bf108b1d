
/* The detector: faded sums of what each sample adds to the log-likelihood, and to its derivatives. */

/* Fades a sum and adds to it. */
static void fade(double_word *total, float gained)
{
    add(total, gained - LOST * (total->sum + total->carry));
}

/* The log-likelihood of one state less that of another before it, with its derivatives: common parts cancel. */
static void log_ratio(number *ratio, const belief *state, const belief *before)
{
    number sum, other;
    sum_of_row(&sum, state->row);
    set_constant(&other, 1.0f);
    if (before->age != 0) {
        sum_of_row(&other, before->row);
    }
    ratio->v[0] = log_of_ratio(sum.v[0] / other.v[0], state->exponent - before->exponent, &state->log, &before->log);
#if DIRECTIONS > 0
    {
        const float reciprocal = 1.0f / sum.v[0], other_reciprocal = 1.0f / other.v[0];
        unsigned c;
        for (c = 0; c < DIRECTIONS; c++) {
            const float accumulated = difference(&state->accumulated[c], &before->accumulated[c]);
            ratio->v[1 + c] = accumulated + (sum.v[1 + c] * reciprocal - other.v[1 + c] * other_reciprocal);
        }
    }
#endif
}

static void restart(fishweir_stream *stream)
{
    memset(stream, 0, sizeof *stream);
    start_model(&stream->model);
    stream->mark = MARK;
}

/* Takes in a sample, null for a missing one. A refused sample is missing. */
static fishweir_status push_sample(fishweir_stream *stream, const sample *x)
{
    const belief before = stream->model;
    fishweir_status status = FISHWEIR_STATUS_OK;
    number gained;
    unsigned c;
    set_constant(&gained, 0.0f);
    if (x != NULL) {
        status = step_model(&stream->model, 0, *x);
    }
    if (x == NULL || status != FISHWEIR_STATUS_OK) {
        step_model_missing(&stream->model, 0);
        fade(&stream->weight, 0.0f);
    } else {
        log_ratio(&gained, &stream->model, &before);
        fade(&stream->weight, 1.0f);
    }
    for (c = 0; c < WIDTH; c++) {
        fade(&stream->faded[c], gained.v[c]);
    }
    return status;
}
