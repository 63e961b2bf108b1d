#ifndef FISHWEIR_H
#define FISHWEIR_H

#include <stddef.h>
#include <stdint.h>

@SIZES@
#ifdef __cplusplus
extern "C" {
#endif

/* Outcome of a call. */
typedef int32_t fishweir_status;
enum {
    /* Done. */
    FISHWEIR_STATUS_OK = 0,
    /* The sample is impossible under all models left: it is missing. */
    FISHWEIR_STATUS_IMPOSSIBLE = 1,
    /* A channel is infinite, or NaN that may not be missing, or the symbol is outside the alphabet: the sample is missing. */
    FISHWEIR_STATUS_INVALID = 2,
    /* A pointer is null. */
    FISHWEIR_STATUS_NULL_POINTER = 3,
    /* A size or a count is not this model's: the header belongs to another source. */
    FISHWEIR_STATUS_WRONG_SIZE = 5,
    /* fishweir_init() has not been called on this stream. */
    FISHWEIR_STATUS_NOT_STARTED = 6,
    /* No decision is due: the last sample filled no window. Of fishweir_decide_so_far(): no window is open, or partly filled
     * ones do not decide. */
    FISHWEIR_STATUS_NO_DECISION = 11
};

/* Private: a number and its rates of change along each output's direction. */
typedef struct fishweir_number {
    float v[1 + FISHWEIR_DIRECTIONS];
} fishweir_number;

/* Private: a sum and the remainder of its roundings. */
typedef struct fishweir_sum {
    float sum;
    float carry;
} fishweir_sum;

/* Private: position of one model in a stream. */
typedef struct fishweir_belief {
    int64_t exponent;
    fishweir_number row[FISHWEIR_ROW];
    fishweir_sum log;
#if FISHWEIR_DIRECTIONS > 0
    fishweir_sum accumulated[FISHWEIR_DIRECTIONS];
#endif
    uint32_t age;
#if FISHWEIR_KNOWN_STATES
    uint32_t context;
    uint32_t unknown;
#endif
} fishweir_belief;

/* Private: place in a ring of past samples. */
typedef struct fishweir_ring {
    uint32_t oldest;
    uint32_t rows;
} fishweir_ring;

/* Private: state of one window. */
typedef struct fishweir_window {
    uint64_t samples;
    fishweir_belief models[FISHWEIR_MODELS];
#if FISHWEIR_LAG_DEPTH > 0
    fishweir_ring lag_ring;
    float lag_past[FISHWEIR_LAG_DEPTH][FISHWEIR_CHANNELS];
#endif
#if FISHWEIR_CODE_DEPTH > 0
    fishweir_ring code_ring;
    float code_past[FISHWEIR_CODE_DEPTH][FISHWEIR_CHANNELS];
    fishweir_sum code_sums[FISHWEIR_OUTPUTS];
#endif
    uint8_t ruled_out[FISHWEIR_MODELS];
} fishweir_window;

/* State of one stream. The caller owns the memory, static or on a stack; its content is private. Copy it by assignment to
 * keep a moment of the stream. Nothing needs to be freed. */
typedef struct fishweir_stream {
    fishweir_window windows[FISHWEIR_WINDOW_STATES];
    uint32_t place;
    uint32_t missing;
    uint32_t mark;
} fishweir_stream;

/* A class and its margin over the runner-up. */
typedef struct fishweir_decision {
    /* The class decided for: 0 to FISHWEIR_CLASSES - 1, in the order of FISHWEIR_CLASS_NAMES. */
    uint32_t class_index;
    /* Decision value less that of the runner-up; not negative. */
    float margin;
} fishweir_decision;

/* Starts a stream. Call it before anything else, with sizeof(fishweir_stream) as the size. */
fishweir_status fishweir_init(fishweir_stream *stream, size_t size);

/* Forgets the past: the next sample is the first of a new stream. */
fishweir_status fishweir_reset(fishweir_stream *stream);

@PUSH@
/* Takes in a missing sample: time passes, nothing is learnt. After more than FISHWEIR_LONGEST_GAP in a row the next sample
 * begins a new window. */
fishweir_status fishweir_push_missing(fishweir_stream *stream);

/* The decision on the window that the last sample has filled. Ask after every sample, a missing or refused one too:
 * FISHWEIR_STATUS_NO_DECISION where none is due, and `decision` is as before. A model without windows
 * (FISHWEIR_WINDOW_LENGTH is 0) decides after any sample, on the stream since fishweir_init() or fishweir_reset(). */
fishweir_status fishweir_decide(const fishweir_stream *stream, fishweir_decision *decision);

/* The decision on the oldest open window, before it is full: it uses fewer samples, and is less accurate.
 * FISHWEIR_STATUS_NO_DECISION before the first sample, between windows, in too long a gap, and where partly filled windows
 * do not decide (FISHWEIR_PARTIAL_WINDOWS is 0). */
fishweir_status fishweir_decide_so_far(const fishweir_stream *stream, fishweir_decision *decision);

/* The natural logarithm of a window's likelihood under every model: `count` is FISHWEIR_MODELS. The window is the one that
 * the last sample has filled, else the oldest open one, else one without samples. */
fishweir_status fishweir_log_likelihoods(const fishweir_stream *stream, float *log_likelihoods, size_t count);
@PREDICT@
#ifdef __cplusplus
}
#endif

#endif
