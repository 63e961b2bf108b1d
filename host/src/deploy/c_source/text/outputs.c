
/* Outputs: sums of evidence, which are subtracted before they are rounded. */
typedef struct {
    float ruled_out;
    double_word sum;
} output;

/* Infinity with the sign opposite to that of the weight of models that are ruled out. */
static float infinite(float weight)
{
    return weight > 0.0f ? -INFINITE : INFINITE;
}

static void outputs_of(output *outputs, const window *state)
{
    unsigned model, o;
    memset(outputs, 0, OUTPUTS * sizeof *outputs);
    for (model = 0; model < MODELS; model++) {
        double_word parts[WIDTH];
        log_parts(&state->models[model], model, parts);
        for (o = 0; o < OUTPUTS; o++) {
            const float weight = WEIGHT[o][model];
            if (state->ruled_out[model]) {
                outputs[o].ruled_out = outputs[o].ruled_out + weight;
                continue;
            }
            if (weight != 0.0f) {
                const double_word weighed = multiply(&parts[0], weight);
                add_sum(&outputs[o].sum, &weighed);
            }
#if DIRECTIONS > 0
            add_sum(&outputs[o].sum, &parts[1 + o]);
#endif
        }
    }
    for (o = 0; o < OUTPUTS; o++) {
#if FISHWEIR_CODE_DEPTH > 0
        add_codes(&outputs[o].sum, state, o);
#endif
#if defined(FACTOR)
        /* Of one sample or none the factor is one. */
        if (state->samples > 1) {
            outputs[o].sum = multiply(&outputs[o].sum, FACTOR((float)state->samples));
        }
#endif
        add(&outputs[o].sum, BIAS[o]);
    }
}

#if OUTPUTS == 1
/* One output: its sign decides between two classes. */
static void decide(fishweir_decision *decision, const output *outputs)
{
    float value = outputs[0].sum.sum + outputs[0].sum.carry;
    if (outputs[0].ruled_out != 0.0f) {
        value = infinite(outputs[0].ruled_out);
    }
    decision->class_index = value > 0.0f;
    decision->margin = float_of(bits_of(value) & 0x7fffffffu);
}
#else
static float difference(const output *a, const output *b)
{
    const float ruled_out = a->ruled_out - b->ruled_out;
    if (ruled_out > 0.0f || ruled_out < 0.0f) {
        return infinite(ruled_out);
    }
    return (a->sum.sum - b->sum.sum) + (a->sum.carry - b->sum.carry);
}

/* Several outputs: the largest decides. */
static void decide(fishweir_decision *decision, const output *outputs)
{
    uint32_t o, best = 0, second = OUTPUTS;
    for (o = 1; o < OUTPUTS; o++) {
        if (difference(&outputs[o], &outputs[best]) > 0.0f) {
            second = best;
            best = o;
        } else if (second == OUTPUTS || difference(&outputs[o], &outputs[second]) > 0.0f) {
            second = o;
        }
    }
    decision->class_index = best;
    decision->margin = difference(&outputs[best], &outputs[second]);
}
#endif
