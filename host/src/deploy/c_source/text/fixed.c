
/* Fixed point. A number is a mantissa of 27 bits above five bits of an exponent, which the rates of a row have in common. */
#define EXPONENT ((uint32_t)31)
#define EXPONENT_MAX ((uint32_t)30)
#define IMPOSSIBLE INT32_MIN

/* A logarithm to base 2 in units of 2^-16, its rates of change, and the exponent of a row's rates. */
typedef struct {
    int32_t log2;
#if DIRECTIONS > 0
    int32_t rate[DIRECTIONS];
#endif
    uint32_t exponent;
} log_number;
typedef log_number log_scale;

static void add_log_scale(belief *ledger, const log_number *log)
{
#if DIRECTIONS > 0
    unsigned c;
    for (c = 0; c < DIRECTIONS; c++) {
        ledger->accumulated[c] += (int64_t)log->rate[c] * 4;
    }
#endif
    ledger->log2 += log->log2;
}
