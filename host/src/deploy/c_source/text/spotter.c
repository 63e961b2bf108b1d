
/* The spotter: the best path into each state of background and classes, and what it carries. */
#define PENDING FISHWEIR_PENDING

typedef fishweir_event event;
typedef fishweir_evidence evidence;
typedef fishweir_token token;

/* The row before the next sample, and the state before each of its entries on the best path: of equals, the lowest. */
static void predict(number *predicted, uint8_t *before, const belief *state, unsigned model)
{
    const unsigned rows = ROWS(model);
    const number *initial = model == 0 ? INITIAL[0] : BACKGROUND_INITIAL;
    unsigned i, j;
    memset(before, 0, ROW);
    for (j = 0; j < ROW; j++) {
        set_constant(&predicted[j], 0.0f);
        if (state->age == 0 && j < rows) {
            predicted[j] = initial[j];
        }
    }
    for (i = 0; state->age != 0 && i < rows; i++) {
        const number *transition = model == 0 ? TRANSITION[0][i] : BACKGROUND_TRANSITION[i];
        for (j = 0; j < rows; j++) {
            number product;
            product_of(&product, &state->row[i], &transition[j]);
            if (product.v[0] > predicted[j].v[0]) {
                predicted[j] = product;
                before[j] = (uint8_t)i;
            }
        }
    }
}

/* What a state, or with ROW the best one, has for its path; that of no sample before the first. */
static evidence evidence_of(const belief *state, unsigned j)
{
    evidence found;
    memset(&found, 0, sizeof found);
    found.sum = 1.0f;
    if (state->age != 0) {
        number sum;
        sum_of_row(&sum, state->row);
        found.exponent = state->exponent;
        found.log = state->log;
        found.sum = j < ROW ? state->row[j].v[0] : sum.v[0];
    }
    return found;
}

static float gained(const evidence *now, const evidence *before)
{
    return log_of_ratio(now->sum / before->sum, now->exponent - before->exponent, &now->log, &before->log);
}

/* The event of a class that ends before a sample. */
static event event_of(const token *entered, uint8_t of_class, uint64_t end, const evidence *score, const evidence *reference)
{
    event made;
    made.start = entered->start;
    made.end = end;
    made.class_index = of_class;
    made.log_odds = gained(score, &entered->score) - gained(reference, &entered->reference);
    return made;
}

static int is_at(const event *one, const event *other)
{
    return one->class_index == other->class_index && one->start == other->start && one->end == other->end;
}

/* The final state of the best path: the lowest such. */
static unsigned best_of(const belief *state)
{
    float most = 0.0f;
    unsigned j, best = 0;
    for (j = 0; j < ROW; j++) {
        if (state->row[j].v[0] > most) {
            most = state->row[j].v[0];
            best = j;
        }
    }
    return best;
}

/* Whether a path has the oldest event of the best one, or as little of any. */
static int agrees(const token *path, const event *best)
{
    if (best == NULL || path->count == 0) {
        return best == NULL && path->count == 0;
    }
    return is_at(best, &path->events[0]);
}

/* Whether a path has an event that cannot wait. */
static int is_late(const token *path, uint64_t samples)
{
    return path->count == PENDING || (path->count > 0 && samples - path->events[0].end >= LAG);
}

/* Decides the events that are certain, then those that cannot wait. */
static void decide(fishweir_stream *stream)
{
    unsigned round, j, n;
    stream->count = 0;
    /* Each round decides an event of the best path, or drops a survivor. */
    for (round = 0; round < ROW + PENDING; round++) {
        const token *path = &stream->tokens[best_of(&stream->survivors)];
        event first;
        const event *best = NULL;
        int agreed = 1, late = 0;
        if (path->count > 0) {
            first = path->events[0];
            best = &first;
        }
        for (j = 0; j < ROW; j++) {
            if (stream->survivors.row[j].v[0] > 0.0f) {
                agreed &= agrees(&stream->tokens[j], best);
                late |= is_late(&stream->tokens[j], stream->samples);
            }
        }
        if (!agreed && !late) {
            return;
        }
        for (j = 0; !agreed && j < ROW; j++) {
            if (!agrees(&stream->tokens[j], best)) {
                set_constant(&stream->survivors.row[j], 0.0f);
            }
        }
        if (best == NULL) {
            return;
        }
        for (j = 0; j < ROW; j++) {
            token *one = &stream->tokens[j];
            if (one->count > 0 && is_at(&one->events[0], best)) {
                one->count -= 1;
                for (n = 0; n < one->count; n++) {
                    one->events[n] = one->events[n + 1];
                }
            }
        }
        if (stream->count < PENDING) {
            stream->decided[stream->count++] = *best;
        }
    }
}

/* The survivors have taken in a sample: so do their tokens. */
static void pass(fishweir_stream *stream, const belief *survivors, const evidence *reference, const uint8_t *before)
{
    token old[ROW];
    unsigned j;
    memcpy(old, stream->tokens, sizeof old);
    for (j = 0; j < ROW; j++) {
        token *path = &stream->tokens[j];
        const uint8_t of_class = CLASS_OF[j], was = survivors->age == 0 ? BACKGROUND_CLASS : CLASS_OF[before[j]];
        evidence score;
        memset(path, 0, sizeof *path);
        path->score.sum = 1.0f;
        path->reference.sum = 1.0f;
        if (!(stream->survivors.row[j].v[0] > 0.0f)) {
            continue;
        }
        *path = old[before[j]];
        if (of_class == was) {
            continue;
        }
        score = evidence_of(survivors, before[j]);
        /* A token that is full has been decided on before. */
        if (was != BACKGROUND_CLASS && path->count < PENDING) {
            path->events[path->count++] = event_of(path, was, stream->samples, &score, reference);
        }
        path->start = 0;
        if (of_class != BACKGROUND_CLASS) {
            path->start = stream->samples;
            path->score = score;
            path->reference = *reference;
        }
    }
    stream->samples += 1;
    decide(stream);
}

static void restart(fishweir_stream *stream)
{
    memset(stream, 0, sizeof *stream);
    stream->mark = MARK;
}

/* Takes in a sample, null for a missing one. A refused sample is missing. */
static fishweir_status push_sample(fishweir_stream *stream, const sample *x)
{
    const belief survivors = stream->survivors;
    const evidence reference = evidence_of(&stream->background, ROW);
    fishweir_status status = FISHWEIR_STATUS_OK;
    number predicted[ROW];
    uint8_t before[ROW], unused[ROW];
    predict(predicted, before, &survivors, 0);
    if (x != NULL) {
        status = observe(&stream->survivors, predicted, 0, 0, *x);
    }
    if (x == NULL || status != FISHWEIR_STATUS_OK) {
        x = NULL;
        advance(&stream->survivors, predicted);
    }
    /* What is impossible in the background alone is no evidence there. */
    predict(predicted, unused, &stream->background, 1);
    if (x == NULL || observe(&stream->background, predicted, 1, 0, *x) != FISHWEIR_STATUS_OK) {
        advance(&stream->background, predicted);
    }
    pass(stream, &survivors, &reference, before);
    return status;
}
