
/* Codebooks in float. */
typedef float wide;
#define lowered(y) (y)

static void add_sample(double_word *total, float sample)
{
    add(total, sample);
}

static void add_codes(double_word *sum, const window *state, unsigned o)
{
    add_sum(sum, &state->code_sums[o]);
}
