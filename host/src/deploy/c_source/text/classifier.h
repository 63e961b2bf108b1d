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
    fishweir_channel lag_past[FISHWEIR_LAG_DEPTH][FISHWEIR_CHANNELS];
#endif
#if FISHWEIR_CODE_DEPTH > 0
    fishweir_ring code_ring;
    fishweir_channel code_past[FISHWEIR_CODE_DEPTH][FISHWEIR_CHANNELS];
    fishweir_code_sum code_sums[FISHWEIR_OUTPUTS];
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

