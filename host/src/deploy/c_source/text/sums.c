
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
