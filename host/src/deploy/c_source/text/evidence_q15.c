
/* The sum of a belief's row. */
static void sum_of_belief(number *total, const belief *state)
{
#if FISHWEIR_KNOWN_STATES
    *total = state->row[0];
#else
    sum_of_row(total, state->row);
#endif
}

/* Splits a sum v 2^-16 into an integer and the rest. */
static int64_t split(int64_t sum, float *part)
{
    const int64_t low = (int64_t)((uint64_t)sum & 0xffffu);
    *part = (float)low * power_of_two(-16);
    return (sum - low) / 65536;
}

#if DIRECTIONS > 0 || FISHWEIR_CODE_DEPTH > 0
static double_word of_integer(int64_t integer)
{
    double_word result;
    result.sum = (float)integer;
    result.carry = (float)(integer - (int64_t)result.sum);
    return result;
}
#endif

/* The logarithm of what is not a power of two: of the ledger's rest and the row's sum. */
static float logarithm_of_rest(const number *total, float part)
{
    return part * 0.69314718056f + logarithm((float)(total->word >> 5) * power_of_two(-16));
}

/* The log-likelihood. */
static float log_of(const belief *state)
{
    number total;
    float part, multiple;
    if (state->age == 0) {
        return 0.0f;
    }
    sum_of_belief(&total, state);
    multiple = (float)split(state->log2, &part);
    return (multiple * 0.6933594f + multiple * -2.1219444e-4f) + logarithm_of_rest(&total, part);
}

/* The log-likelihood and its derivatives, `[1 + direction]`, before they are rounded to one number. */
static void log_parts(const belief *state, unsigned model, double_word *parts)
{
    number total;
    float part;
    (void)model;
    memset(parts, 0, WIDTH * sizeof *parts);
    if (state->age == 0) {
        return;
    }
    sum_of_belief(&total, state);
    parts[0] = logarithm_of_power(split(state->log2, &part));
    add(&parts[0], logarithm_of_rest(&total, part));
#if DIRECTIONS > 0
    {
        const float scale = power_of_two((int32_t)(total.word & EXPONENT) + 1), mantissa = (float)(total.word >> 5);
        unsigned c;
        for (c = 0; c < DIRECTIONS; c++) {
            const float unit = power_of_two(UNIT[model][c]);
            parts[1 + c] = of_integer(split(state->accumulated[c], &part));
            add(&parts[1 + c], part + (float)total.rate[c] * scale / mantissa);
            parts[1 + c].sum = parts[1 + c].sum * unit;
            parts[1 + c].carry = parts[1 + c].carry * unit;
        }
    }
#endif
}
