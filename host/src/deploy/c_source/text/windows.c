
/* The windows of a stream. */
#define OPEN FISHWEIR_WINDOW_STATES

static void restart(fishweir_stream *stream)
{
    unsigned open;
    for (open = 0; open < OPEN; open++) {
        start_window(&stream->windows[open]);
    }
    stream->place = 0;
    stream->missing = 0;
    stream->mark = MARK;
}

#if FISHWEIR_WINDOW_LENGTH > 0
#define LENGTH ((uint32_t)FISHWEIR_WINDOW_LENGTH)
#define HOP ((uint32_t)FISHWEIR_WINDOW_HOP)
#define GAP ((uint32_t)FISHWEIR_LONGEST_GAP)
/* Samples after which the same state begins its next window. */
#define CYCLE (HOP * OPEN)

/* Samples of its window that a state had before the sample at a place; LENGTH where it has no window open there. */
static uint32_t age_of(uint32_t place, uint32_t open)
{
    const uint32_t since = place - HOP * open;
    const uint32_t age = since >= CYCLE ? since - CYCLE : since;
    return age < LENGTH ? age : LENGTH;
}

static fishweir_status push_sample(fishweir_stream *stream, const sample *x)
{
    const int waits = stream->missing > GAP;
    const uint32_t place = waits ? 0 : stream->place;
    int any = 0, taken = 0;
    unsigned open;
    fishweir_status result = FISHWEIR_STATUS_OK;
    for (open = 0; (x != NULL || !waits) && open < OPEN; open++) {
        const uint32_t age = age_of(place, open);
        fishweir_status status;
        if (age == LENGTH) {
            continue;
        }
        if (age == 0) {
            start_window(&stream->windows[open]);
        }
        status = push_window(&stream->windows[open], x);
        any = 1;
        if (status == FISHWEIR_STATUS_OK) {
            taken = 1;
        } else if (result == FISHWEIR_STATUS_OK) {
            result = status;
        }
    }
    stream->place = place + 1 < 2 * CYCLE ? place + 1 : CYCLE;
    if (x != NULL && (taken || !any)) {
        stream->missing = 0;
    } else if (stream->missing < GAP + 2) {
        stream->missing += 1;
    }
    return result;
}

/* The state whose window the last sample filled, or with `partial` the oldest that is open; null if there is none. */
static const window *window_of(const fishweir_stream *stream, int partial)
{
    const window *oldest = NULL;
    uint32_t most = 0;
    unsigned open;
    if (stream->place == 0 || stream->missing > GAP + 1) {
        return NULL;
    }
    for (open = 0; open < OPEN; open++) {
        const uint32_t age = age_of(stream->place - 1, open);
        if (age != LENGTH && age + 1 > most && (partial || age + 1 == LENGTH)) {
            most = age + 1;
            oldest = &stream->windows[open];
        }
    }
    return oldest;
}
#else
static fishweir_status push_sample(fishweir_stream *stream, const sample *x)
{
    stream->place = 1;
    return push_window(&stream->windows[0], x);
}

static const window *window_of(const fishweir_stream *stream, int partial)
{
    (void)partial;
    return stream->place == 0 ? NULL : &stream->windows[0];
}
#endif
