
/* The row of a belief. */
/* Moves the magnitude and the derivative of a row, whose sum this is, out of it. */
static void rescale_row(number *row, const number *sum, belief *ledger)
{
    unsigned j;
    const int32_t exponent = exponent_of(sum->v[0]);
    const float factor = power_of_two(-exponent);
#if DIRECTIONS > 0
    const float reciprocal = 1.0f / sum->v[0];
    unsigned c;
    for (c = 0; c < DIRECTIONS; c++) {
        const float rate = sum->v[1 + c] * reciprocal;
        for (j = 0; j < ROW; j++) {
            row[j].v[1 + c] = (row[j].v[1 + c] - rate * row[j].v[0]) * factor;
        }
        add(&ledger->accumulated[c], rate);
    }
#endif
    for (j = 0; j < ROW; j++) {
        row[j].v[0] = row[j].v[0] * factor;
    }
    ledger->exponent += exponent;
}

/* Makes a row, whose sum this is, the state. */
static void keep(belief *state, const number *row, const number *sum)
{
    (void)sum;
    memcpy(state->row, row, sizeof state->row);
}

static void normalise(number *row, belief *ledger)
{
    number sum;
    sum_of_row(&sum, row);
    rescale_row(row, &sum, ledger);
}

static void add_log_scale(belief *ledger, const log_scale *scale)
{
    add(&ledger->log, *scale);
}
