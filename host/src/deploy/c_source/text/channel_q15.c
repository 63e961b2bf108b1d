
/* Channels as windows keep them: integers of 16 bits, or what stands for a missing one. */
typedef fishweir_channel channel;
/* Null stands for channels that no integers hold. */
#if FISHWEIR_CHANNELS > 0
#define is_refused(x) ((x) == NULL)
#else
#define is_refused(x) ((void)(x), 0)
#endif
#if FISHWEIR_MISSING_CHANNELS
#define MISSING INT32_MIN
#endif

#if FISHWEIR_LAG_DEPTH > 0
/* The difference of two channels, held within 16 bits. */
static channel change_of(channel x, channel before)
{
    int32_t change;
#if FISHWEIR_MISSING_CHANNELS
    if (x == MISSING || before == MISSING) {
        return MISSING;
    }
#endif
    change = (int32_t)x - (int32_t)before;
    return (channel)(change < -32768 ? -32768 : change > 32767 ? 32767 : change);
}
#endif
