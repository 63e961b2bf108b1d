
/* Splits a row's sum with its ledger into a power of two and a significand near one. */
static float split(const belief *state, float sum, int64_t *power)
{
    int32_t exponent = exponent_of(sum);
    float significand = sum * power_of_two(-exponent);
    if (significand > 1.5f) {
        significand = significand * 0.5f;
        exponent += 1;
    }
    *power = state->exponent + exponent;
    return significand;
}

/* The log-likelihood. */
static float log_of(const belief *state)
{
    number sum;
    int64_t power;
    float significand, multiple;
    if (state->age == 0) {
        return 0.0f;
    }
    sum_of_row(&sum, state->row);
    significand = split(state, sum.v[0], &power);
    multiple = (float)power;
    return (multiple * 0.6933594f + multiple * -2.1219444e-4f)
        + ((state->log.sum + state->log.carry) + logarithm(significand));
}

/* The log-likelihood and its derivatives, `[1 + direction]`, before they are rounded to one number. */
static void log_parts(const belief *state, unsigned model, double_word *parts)
{
    number sum;
    int64_t power;
    float significand;
    (void)model;
    memset(parts, 0, WIDTH * sizeof *parts);
    if (state->age == 0) {
        return;
    }
    sum_of_row(&sum, state->row);
    significand = split(state, sum.v[0], &power);
    parts[0] = logarithm_of_power(power);
    add_sum(&parts[0], &state->log);
    add(&parts[0], logarithm(significand));
#if DIRECTIONS > 0
    {
        const float reciprocal = 1.0f / sum.v[0];
        unsigned c;
        for (c = 0; c < DIRECTIONS; c++) {
            parts[1 + c] = state->accumulated[c];
            add(&parts[1 + c], sum.v[1 + c] * reciprocal);
        }
    }
#endif
}
