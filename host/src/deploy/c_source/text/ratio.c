
static float difference(const double_word *a, const double_word *b)
{
    return (a->sum - b->sum) + (a->carry - b->carry);
}

/* The difference of two log-likelihoods, of the ratio of their sums and what scaling has moved out: common parts cancel. */
static float log_of_ratio(float ratio, int64_t exponent, const double_word *log, const double_word *other_log)
{
    const float result = difference(log, other_log) + logarithm(ratio);
    if (exponent != 0) {
        const float multiple = (float)exponent;
        return (multiple * 0.6933594f + multiple * -2.1219444e-4f) + result;
    }
    return result;
}
