/* Symbols for the bundled model: heads, tails, one that was not seen, and a second stream. Symbol 2 is
 * in no alphabet of two: it is refused and changes nothing. */
static const struct step recording[] = {
    {SAMPLE, 0}, {SAMPLE, 1},  {SAMPLE, 0}, {MISSING, 0}, {SAMPLE, 0},
    {SAMPLE, 2}, {SAMPLE, 1},  {RESET, 0},  {SAMPLE, 1},  {SAMPLE, 1},
};
