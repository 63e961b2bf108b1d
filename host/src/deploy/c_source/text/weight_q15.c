
/* An entry of a table: a probability in units of 2^-15, and rates of change in units of 2^-14, all relative to 2^-exponent. */
typedef struct {
    uint16_t value;
#if FINE
    uint16_t exponent;
#endif
#if DIRECTIONS > 0
    int16_t rate[DIRECTIONS];
#endif
} weight;

#if FINE
#define RESCALE_EVERY 8
#define finer(entry) ((uint32_t)((entry)->exponent & 15u))
#else
#define RESCALE_EVERY 16
#define finer(entry) ((void)(entry), (uint32_t)0)
#endif
