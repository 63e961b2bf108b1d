/* Pushes the steps of recording.h, and writes a line for each sample: its status and, where a decision is due, the class, the
 * margin, what calibration says, and the log-likelihoods, in hexadecimal; of a detector alarm and statistics, of a spotter its
 * events. */
#include <stddef.h>

#include "board.h"
#include "fishweir.h"

enum step_kind { SAMPLE, MISSING, RESET };

struct step {
    uint8_t kind;
#if FISHWEIR_CHANNELS > 0
    float sample[FISHWEIR_CHANNELS];
#else
    uint16_t sample;
#endif
};

#include "recording.h"

static fishweir_stream stream;

static void write_number(uint32_t number)
{
    board_write(" ");
    board_write_hex(number);
}

static void write_bits(float value)
{
    union {
        float value;
        uint32_t bits;
    } as = {value};
    write_number(as.bits);
}

static fishweir_status push(size_t t)
{
    const struct step *step = &recording[t];
    if (step->kind == MISSING) {
        return fishweir_push_missing(&stream);
    }
#if FISHWEIR_CHANNELS > 0
    return fishweir_push(&stream, step->sample, FISHWEIR_CHANNELS);
#else
    return fishweir_push_symbol(&stream, step->sample);
#endif
}

#if FISHWEIR_STATISTICS > 0
/* The alarm and the statistics of a detector, which begins anew after one. */
static void answer(void)
{
    fishweir_alarm alarm;
    float statistics[FISHWEIR_STATISTICS];
    size_t i;
    (void)fishweir_detect(&stream, &alarm);
    (void)fishweir_statistics(&stream, statistics, FISHWEIR_STATISTICS);
    write_number((uint32_t)alarm.statistic);
    write_bits(alarm.value);
    for (i = 0; i < FISHWEIR_STATISTICS; i++) {
        write_bits(statistics[i]);
    }
    if (alarm.statistic != FISHWEIR_NO_ALARM) {
        (void)fishweir_reset(&stream);
    }
}
#elif FISHWEIR_EVENTS > 0
static void write_events(const fishweir_event *events, size_t count)
{
    size_t n;
    for (n = 0; n < count; n++) {
        write_number(events[n].class_index);
        write_number((uint32_t)events[n].start);
        write_number((uint32_t)events[n].end);
        write_bits(events[n].log_odds);
    }
}

static void answer(void)
{
    fishweir_event events[FISHWEIR_EVENTS];
    size_t count = 0;
    (void)fishweir_events(&stream, events, FISHWEIR_EVENTS, &count);
    write_events(events, count);
}

/* The events that are left at the end of a stream. */
static void finish(void)
{
    fishweir_event events[FISHWEIR_EVENTS];
    size_t count = 0;
    board_write_hex(0xffffffffu);
    (void)fishweir_finish(&stream, events, FISHWEIR_EVENTS, &count);
    write_events(events, count);
    board_write("\n");
}
#else
static void answer(void)
{
    fishweir_decision decision;
    static float logs[FISHWEIR_MODELS];
    size_t model;
    if (fishweir_decide(&stream, &decision) != FISHWEIR_STATUS_OK) {
        return;
    }
    write_number(decision.class_index);
    write_bits(decision.margin);
#if FISHWEIR_CALIBRATED
    {
        fishweir_prediction prediction;
        (void)fishweir_predict(&stream, &prediction);
        write_bits(prediction.probability);
        write_number((uint32_t)prediction.rejection);
    }
#endif
    (void)fishweir_log_likelihoods(&stream, logs, FISHWEIR_MODELS);
    for (model = 0; model < FISHWEIR_MODELS; model++) {
        write_bits(logs[model]);
    }
}
#endif

int main(void)
{
    size_t t;
    board_start();
    if (fishweir_init(&stream, sizeof stream) != FISHWEIR_STATUS_OK) {
        return 1;
    }
    for (t = 0; t < sizeof recording / sizeof *recording; t++) {
        if (recording[t].kind == RESET) {
#if FISHWEIR_EVENTS > 0
            finish();
#endif
            (void)fishweir_reset(&stream);
            continue;
        }
        board_write_hex((uint32_t)push(t));
        answer();
        board_write("\n");
    }
    return 0;
}
