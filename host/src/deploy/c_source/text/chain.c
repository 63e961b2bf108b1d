
/* The chain: the row before the first sample, and an entry of the row after. */
static void begin(number *predicted, unsigned model)
{
    memcpy(predicted, INITIAL[model], sizeof INITIAL[model]);
}

static void inner(number *sum, const number *row, unsigned model, unsigned to)
{
    number terms[ROW];
    unsigned from;
    for (from = 0; from < ROW; from++) {
        product_of(&terms[from], &row[from], &TRANSITION[model][from][to]);
    }
    sum_of_row(sum, terms);
}
