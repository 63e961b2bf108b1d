/* Private: a number and its rates of change along each output's direction. */
typedef struct fishweir_number {
    float v[1 + FISHWEIR_DIRECTIONS];
} fishweir_number;

/* Private: a sum and the remainder of its roundings. */
typedef struct fishweir_sum {
    float sum;
    float carry;
} fishweir_sum;

/* Private: a channel of a past sample, and a sum of weights of codebooks. */
typedef float fishweir_channel;
typedef fishweir_sum fishweir_code_sum;

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
