/* Private: a number of the recursion in fixed point, and its rates of change along each output's direction. */
typedef struct fishweir_number {
    uint32_t word;
#if FISHWEIR_DIRECTIONS > 0
    int32_t rate[FISHWEIR_DIRECTIONS];
#endif
} fishweir_number;

/* Private: a sum and the remainder of its roundings. */
typedef struct fishweir_sum {
    float sum;
    float carry;
} fishweir_sum;

/* Private: a channel of a past sample, and a sum of weights of codebooks. */
#if FISHWEIR_MISSING_CHANNELS
typedef int32_t fishweir_channel;
#else
typedef int16_t fishweir_channel;
#endif
typedef int64_t fishweir_code_sum;

/* Private: position of one model in a stream. */
typedef struct fishweir_belief {
    int64_t log2;
#if FISHWEIR_DIRECTIONS > 0
    int64_t accumulated[FISHWEIR_DIRECTIONS];
#endif
    fishweir_number row[FISHWEIR_ROW];
    uint32_t age;
#if FISHWEIR_KNOWN_STATES
    uint32_t context;
    uint32_t unknown;
#endif
} fishweir_belief;

