/* State of one stream. The caller owns the memory, static or on a stack; its content is private. Copy it by assignment to
 * keep a moment of the stream. Nothing needs to be freed. */
typedef struct fishweir_stream {
    fishweir_belief model;
    fishweir_sum faded[1 + FISHWEIR_DIRECTIONS];
    fishweir_sum weight;
    uint32_t mark;
} fishweir_stream;

/* Value of `statistic` if there is no alarm. */
#define FISHWEIR_NO_ALARM (-1)

/* Alarm: the stream no longer follows the model. */
typedef struct fishweir_alarm {
    /* The statistic that is beyond its limit, as an index into fishweir_statistics(): a drift before the fit, which says less.
     * FISHWEIR_NO_ALARM if there is no alarm. */
    int32_t statistic;
    /* Value of the statistic; 0 if there is no alarm. The sign of a drift shows its direction. */
    float value;
} fishweir_alarm;

