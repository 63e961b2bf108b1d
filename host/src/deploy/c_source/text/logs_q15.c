
/* Weighs a predicted row by logarithms, relative to the best of the states that can be reached. */
static int condition_on_logs(belief *state, const number *predicted, unsigned model, uint32_t first, sample x)
{
    number row[ROW], total;
    log_number logs[ROW];
    log_scale scale;
    uint32_t up = 0, quotient, exponent;
    unsigned j;
    for (j = 0; j < ROW; j++) {
        log_likelihood(&logs[j], model, first + j, x);
        if (mantissa_of(&predicted[j]) == 0) {
            memset(&logs[j], 0, sizeof logs[j]);
            logs[j].log2 = IMPOSSIBLE;
        }
    }
    if (!relative(row, &scale, logs)) {
        return 0;
    }
    for (j = 0; j < ROW; j++) {
        const number likelihood = row[j];
        product_of(&row[j], &predicted[j], &likelihood);
    }
    sum_of_row(&total, row);
    quotient = total.word & ~EXPONENT;
    for (quotient = VANISHED / (quotient > 0 ? quotient : 1u); quotient > 0; quotient >>= 1) {
        up += 1;
    }
    exponent = (total.word & EXPONENT) + up;
    if (exponent > EXPONENT_MAX) {
        exponent = EXPONENT_MAX;
    }
    for (j = 0; j < ROW; j++) {
        row[j].word = ((row[j].word & ~EXPONENT) << up) | exponent;
    }
    total.word = ((total.word & ~EXPONENT) << up) | exponent;
    state->log2 -= (int64_t)up * 65536;
    keep(state, row, &total);
    add_log_scale(state, &scale);
    return 1;
}
