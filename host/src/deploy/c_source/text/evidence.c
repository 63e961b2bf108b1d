
#define MODELS FISHWEIR_MODELS
#define OUTPUTS FISHWEIR_OUTPUTS

typedef fishweir_window window;

/* Log-likelihoods before they are rounded to one number. */
static void add_sum(double_word *total, const double_word *other)
{
    const double_word copy = *other;
    add(total, copy.sum);
    add(total, copy.carry);
}

static float leading_half(float x)
{
    return float_of(bits_of(x) >> 12 << 12);
}

/* The product with a factor, by Dekker's: without a fused operation. */
static double_word multiply(const double_word *total, float factor)
{
    const float product = total->sum * factor;
    const float a = leading_half(total->sum), a_rest = total->sum - a;
    const float b = leading_half(factor), b_rest = factor - b;
    const float dropped = ((a * b - product) + a * b_rest + a_rest * b) + a_rest * b_rest;
    const float carry = dropped + total->carry * factor;
    double_word result;
    result.sum = product + carry;
    result.carry = carry - (result.sum - product);
    return result;
}

/* exponent log 2. */
static double_word logarithm_of_power(int64_t exponent)
{
    double_word log_2, product;
    const float nearest = (float)exponent;
    const float rest = (float)(exponent - (int64_t)nearest);
    log_2.sum = 0.69314718056f;
    log_2.carry = -1.9046543e-9f;
    product = multiply(&log_2, nearest);
    add(&product, log_2.sum * rest);
    return product;
}

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
static void log_parts(const belief *state, double_word *parts)
{
    number sum;
    int64_t power;
    float significand;
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
