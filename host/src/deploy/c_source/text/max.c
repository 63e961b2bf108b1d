
/* The sum of (max, times) is the largest: a row has the best path into each state. */
static void sum_of_row(number *sum, const number *row)
{
    unsigned j;
    *sum = row[0];
    for (j = 1; j < ROW; j++) {
        if (row[j].v[0] > sum->v[0]) {
            *sum = row[j];
        }
    }
}
