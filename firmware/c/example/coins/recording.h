/* For whoever names no recording. A model over channels gets zeros and a second stream. */
static const struct step recording[] = {
#if FISHWEIR_CHANNELS > 0
    {SAMPLE, {0}}, {.kind = MISSING}, {SAMPLE, {0}}, {.kind = RESET}, {SAMPLE, {0}},
#else
    /* The bundled model: heads, tails, one that was not seen, and a second stream. Symbol 2 is in no
     * alphabet of two: it is refused, and so it is missing. */
    {SAMPLE, 0}, {SAMPLE, 1},  {SAMPLE, 0}, {MISSING, 0}, {SAMPLE, 0},
    {SAMPLE, 2}, {SAMPLE, 1},  {RESET, 0},  {SAMPLE, 1},  {SAMPLE, 1},
#endif
};
