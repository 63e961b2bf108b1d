
/* Numbers of the recursion: a value and its rates of change, in float. */
#define RESCALE_EVERY 32
typedef float log_scale;
typedef number log_number;

/* floor(log2(x)) of a positive normal number. */
static int32_t exponent_of(float x)
{
    return (int32_t)(bits_of(x) >> 23) - 127;
}

/* Whether x is at least 2^low and less than 2^high; not of NaN. */
static int is_between(float x, int32_t low, int32_t high)
{
    const uint32_t from = bits_of(power_of_two(low));
    const uint32_t to = bits_of(power_of_two(high));
    return bits_of(x) - from < to - from;
}

/* Whether the sum of a row has kept its digits. */
static int is_within(const number *sum)
{
    return is_between(sum->v[0], -32, 2);
}

/* Whether it is more than what vanished. */
static int is_left(const number *sum)
{
    return sum->v[0] >= power_of_two(-40);
}

static void product_of(number *product, const number *a, const number *b)
{
    unsigned c;
    const float value = a->v[0], other = b->v[0];
    for (c = 1; c < WIDTH; c++) {
        product->v[c] = a->v[c] * other + value * b->v[c];
    }
    product->v[0] = value * other;
}

/* A number that no direction moves. */
static void set_constant(number *x, float value)
{
    unsigned c;
    x->v[0] = value;
    for (c = 1; c < WIDTH; c++) {
        x->v[c] = 0.0f;
    }
}

/* exp(x - reference); where the value vanishes so does its tangent. */
static void exponentiate(number *x, float reference)
{
    unsigned c;
    const float value = exponential(x->v[0] - reference);
    if (DIRECTIONS > 0 && value == 0.0f) {
        set_constant(x, value);
        return;
    }
    for (c = 1; c < WIDTH; c++) {
        x->v[c] = x->v[c] * value;
    }
    x->v[0] = value;
}

/* Whether a log density is that of a possible observation. */
static int is_near(float log)
{
    return log >= -power_of_two(64);
}
