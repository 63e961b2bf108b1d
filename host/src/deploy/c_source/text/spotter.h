
/* A stretch of the stream that a class explains, not the background. */
typedef struct fishweir_event {
    /* First sample of the event, counted from 0 at the beginning of the stream; missing and refused ones count. */
    uint64_t start;
    /* The sample after the last of the event. */
    uint64_t end;
    /* The class: 0 to FISHWEIR_CLASSES - 1, in the order of FISHWEIR_CLASS_NAMES. */
    uint32_t class_index;
    /* Confidence of the event, over all its samples: the log-odds of the class's path against the best path of the
     * background, in nats. Divide by `end - start` to compare events. */
    float log_odds;
} fishweir_event;

/* Private: a log-likelihood before it is rounded to one number. */
typedef struct fishweir_evidence {
    int64_t exponent;
    fishweir_sum log;
    float sum;
} fishweir_evidence;

/* Private: where the survivor in a state has entered its class, and the events behind it that are not decided. */
typedef struct fishweir_token {
    uint64_t start;
    fishweir_evidence score;
    fishweir_evidence reference;
    fishweir_event events[FISHWEIR_PENDING];
    uint32_t count;
} fishweir_token;

/* State of one stream. The caller owns the memory, static or on a stack; its content is private. Copy it by assignment to
 * keep a moment of the stream. Nothing needs to be freed. */
typedef struct fishweir_stream {
    fishweir_belief survivors;
    fishweir_belief background;
    fishweir_token tokens[FISHWEIR_STATES];
    uint64_t samples;
    fishweir_event decided[FISHWEIR_PENDING];
    uint32_t count;
    uint32_t mark;
} fishweir_stream;

