/* Follows a recording and writes what the library answers to the serial port, one line per sample:
 *
 *     status [class margin log-likelihood...]      of a classifier, where a decision is due
 *     status statistic value fit drift...          of a change detector
 *     status [class start end log-odds]...         of a spotter, and at the end of a stream
 *     end [class start end log-odds]...
 *
 * with decision values in the place of log-likelihoods where the model is a kernel machine, a statistic
 * of ffffffff where there is no alarm, and the low 32 bits of where events start and end. Floats are their
 * bits, in hexadecimal, so that nothing is rounded on the way.
 *
 * A decision is due at the end of each window of FISHWEIR_WINDOW_LENGTH samples, one every
 * FISHWEIR_WINDOW_HOP; of a model without windows (0) after each sample, on the stream so far.
 *
 * Replace the recording by a sensor that is read every FISHWEIR_PERIOD_NS nanoseconds (0: unknown), and the
 * lines by what an answer means to you.
 */
#include <stddef.h>
#include <stdint.h>

#include "board.h"
#include "fishweir.h"

/* What a step of a recording is. */
enum step_kind { SAMPLE, MISSING, RESET };

struct step {
    uint8_t kind;
#if FISHWEIR_FIXED_POINT && FISHWEIR_CHANNELS > 0
    int16_t sample[FISHWEIR_CHANNELS];
#elif FISHWEIR_CHANNELS > 0
    float sample[FISHWEIR_CHANNELS];
#else
    uint16_t sample;
#endif
};

/* Defines `static const struct step recording[]`. */
#include <recording.h>

/* Owned by this program: its size is known when it is compiled, and nothing allocates. */
static fishweir_stream stream;

static fishweir_status push(const struct step *step)
{
    if (step->kind == MISSING) {
        return fishweir_push_missing(&stream);
    }
#if FISHWEIR_FIXED_POINT && FISHWEIR_CHANNELS > 0
    return fishweir_push_integers(&stream, step->sample, FISHWEIR_CHANNELS);
#elif FISHWEIR_CHANNELS > 0
    return fishweir_push(&stream, step->sample, FISHWEIR_CHANNELS);
#else
    return fishweir_push_symbol(&stream, step->sample);
#endif
}

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

#if FISHWEIR_STATISTICS > 0
/* Whether there is an alarm, and why. After one the detector begins anew. */
static fishweir_status answer(void)
{
    fishweir_alarm alarm;
    float statistics[FISHWEIR_STATISTICS];
    fishweir_status status = fishweir_detect(&stream, &alarm);
    if (status == FISHWEIR_STATUS_OK) {
        status = fishweir_statistics(&stream, statistics, FISHWEIR_STATISTICS);
    }
    if (status != FISHWEIR_STATUS_OK) {
        return status;
    }
    write_number((uint32_t)alarm.statistic);
    write_bits(alarm.value);
    for (size_t i = 0; i < FISHWEIR_STATISTICS; i++) {
        write_bits(statistics[i]);
    }
    return alarm.statistic == FISHWEIR_NO_ALARM ? FISHWEIR_STATUS_OK : fishweir_reset(&stream);
}
#elif FISHWEIR_EVENTS > 0
static fishweir_event events[FISHWEIR_EVENTS];

static void write_events(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        write_number(events[i].class_index);
        write_number((uint32_t)events[i].start);
        write_number((uint32_t)events[i].end);
        write_bits(events[i].log_odds);
    }
}

/* The events that this sample has decided. */
static fishweir_status answer(void)
{
    size_t count = 0;
    fishweir_status status = fishweir_events(&stream, events, FISHWEIR_EVENTS, &count);
    write_events(count);
    return status;
}
#else
/* The decision, and what it rests on, where the sample has filled a window. */
static fishweir_status answer(void)
{
    fishweir_decision decision;
    float log_likelihoods[FISHWEIR_MODELS];
    fishweir_status status = fishweir_decide(&stream, &decision);
    if (status == FISHWEIR_STATUS_NO_DECISION) {
        return FISHWEIR_STATUS_OK;
    }
    if (status == FISHWEIR_STATUS_OK) {
        status = fishweir_log_likelihoods(&stream, log_likelihoods, FISHWEIR_MODELS);
    }
    if (status != FISHWEIR_STATUS_OK) {
        return status;
    }
    write_number(decision.class_index);
    write_bits(decision.margin);
    for (size_t model = 0; model < FISHWEIR_MODELS; model++) {
        write_bits(log_likelihoods[model]);
    }
    return FISHWEIR_STATUS_OK;
}
#endif

static fishweir_status report(fishweir_status pushed)
{
    board_write_hex((uint32_t)pushed);
    fishweir_status status = answer();
    board_write("\n");
    return status;
}

/* The end of a stream, and the start of the next. */
static fishweir_status restart(void)
{
#if FISHWEIR_EVENTS > 0
    size_t count = 0;
    fishweir_status status = fishweir_finish(&stream, events, FISHWEIR_EVENTS, &count);
    board_write("end");
    write_events(count);
    board_write("\n");
    return status;
#else
    return fishweir_reset(&stream);
#endif
}

int main(void)
{
    board_start();
    fishweir_status status = fishweir_init(&stream, sizeof stream);
    for (size_t i = 0; status == FISHWEIR_STATUS_OK && i < sizeof recording / sizeof *recording; i++) {
        if (recording[i].kind == RESET) {
            status = restart();
        } else {
            /* A refused sample is no end: it is missing, and the next one may fit. */
            status = report(push(&recording[i]));
        }
    }
    return status == FISHWEIR_STATUS_OK ? restart() : status;
}
