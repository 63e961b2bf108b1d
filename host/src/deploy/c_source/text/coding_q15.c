
/* Codebooks in integers. */
typedef int32_t wide;
#define lowered(y) down((y) + 1024, 11)

static void add_sample(int64_t *total, int32_t sample)
{
    *total += sample;
}

static void add_codes(double_word *sum, const window *state, unsigned o)
{
    double_word total = of_integer(state->code_sums[o]);
    const float unit = power_of_two(CODE_UNIT[o]);
    total.sum = total.sum * unit;
    total.carry = total.carry * unit;
    add_sum(sum, &total);
}
