
/* Calibration: probabilities, and reasons for rejection. */
static void believe(fishweir_prediction *prediction, const window *state)
{
    output outputs[OUTPUTS];
    float odds = 0.0f, most = -INFINITE;
    unsigned model;
    outputs_of(outputs, state);
    decide(&prediction->decision, outputs);
#if OUTPUTS == 1
    odds = odds + exponential(CALIBRATION_SCALE * 0.0f);
    odds = odds + exponential(CALIBRATION_SCALE * -prediction->decision.margin);
#else
    {
        unsigned o;
        for (o = 0; o < OUTPUTS; o++) {
            const output *best = &outputs[prediction->decision.class_index];
            odds = odds + exponential(CALIBRATION_SCALE * difference(&outputs[o], best));
        }
    }
#endif
    prediction->probability = 1.0f / odds;
    for (model = 0; model < MODELS; model++) {
        const float log = state->ruled_out[model] ? -INFINITE : log_of(&state->models[model]);
        if (log > most) {
            most = log;
        }
    }
    prediction->rejection = FISHWEIR_ACCEPTED;
    if (!(prediction->decision.margin >= LEAST_MARGIN)) {
        prediction->rejection = FISHWEIR_LOW_MARGIN;
    }
#if LIKELIHOOD_LIMITS
    if (state->samples > 0) {
        const float *limits = LIKELIHOOD_LIMIT[prediction->decision.class_index];
        const float likelihood = most / (float)state->samples;
        if (likelihood < limits[0]) {
            prediction->rejection = FISHWEIR_LOW_LIKELIHOOD;
        } else if (likelihood > limits[1]) {
            prediction->rejection = FISHWEIR_HIGH_LIKELIHOOD;
        }
    }
#endif
    (void)most;
}
