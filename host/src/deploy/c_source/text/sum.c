
/* Part c of a sum of terms: pairs of pairs, block of four by block of four. */
static float sum_of_block(const number *terms, unsigned left, unsigned c)
{
    switch (left) {
    case 1:
        return terms[0].v[c];
    case 2:
        return terms[0].v[c] + terms[1].v[c];
    case 3:
        return terms[0].v[c] + terms[1].v[c] + terms[2].v[c];
    default:
        return (terms[0].v[c] + terms[1].v[c]) + (terms[2].v[c] + terms[3].v[c]);
    }
}

static void sum_of_row(number *sum, const number *row)
{
    unsigned c, i;
    for (c = 0; c < WIDTH; c++) {
        float total = sum_of_block(row, ROW, c);
        for (i = 4; i < ROW; i += 4) {
            total = total + sum_of_block(row + i, ROW - i, c);
        }
        sum->v[c] = total;
    }
}
