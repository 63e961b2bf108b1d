/* fishweir: follows a stream, sample by sample. Made by cbindgen: change src/, not this file.
 *
 * The sizes are those of one model. They stand in fishweir_model.h, which the build of the library
 * writes: header and library belong together, and fishweir_init() says when they do not.
 *
 * A classifier answers fishweir_decide(), fishweir_decide_so_far() and fishweir_log_likelihoods(), a
 * change detector fishweir_detect() and fishweir_statistics(), a spotter fishweir_events() and
 * fishweir_finish(); asked of another kind of model, they are FISHWEIR_STATUS_WRONG_KIND.
 *
 * A classifier decides on the windows that it was trained on: one begins every FISHWEIR_WINDOW_HOP
 * samples, and fishweir_decide() has a decision when FISHWEIR_WINDOW_LENGTH samples have filled it.
 * Missing and refused samples count. Without windows FISHWEIR_WINDOW_LENGTH is 0.
 *
 * Nothing allocates, nothing blocks, nothing is global: a stream is used by one thread at a time, and
 * streams do not know of each other. Every function but the last three returns a fishweir_status. */

#ifndef FISHWEIR_H
#define FISHWEIR_H

#include <stddef.h>
#include <stdint.h>
#include "fishweir_model.h"

// Value of `statistic` if there is no alarm.
#define FISHWEIR_NO_ALARM -1

// Outcome of a call.
enum fishweir_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Done.
  FISHWEIR_STATUS_OK = 0,
  // The sample is impossible under all models left: it is missing.
  FISHWEIR_STATUS_IMPOSSIBLE = 1,
  // A channel is NaN that may not be missing, infinite or no integer of the model's range, or the symbol is
  // outside the alphabet: the sample is missing.
  FISHWEIR_STATUS_INVALID = 2,
  // A pointer is null.
  FISHWEIR_STATUS_NULL_POINTER = 3,
  // A pointer is not aligned as its type is.
  FISHWEIR_STATUS_MISALIGNED = 4,
  // A size or a count is not this model's: the header belongs to another library.
  FISHWEIR_STATUS_WRONG_SIZE = 5,
  // fishweir_init() has not been called on this stream.
  FISHWEIR_STATUS_NOT_STARTED = 6,
  // Channels for a model over symbols, or a symbol for one over channels; or a question for another kind of model:
  // answers: a decision, asked of a change detector.
  FISHWEIR_STATUS_WRONG_KIND = 7,
  // The artefact that was compiled in is damaged.
  FISHWEIR_STATUS_BAD_MODEL = 8,
  // One sample more than the model has positions: the sample is missing, and so is every later one until
  // the next window begins, or fishweir_reset().
  FISHWEIR_STATUS_PAST_END = 9,
  // The scores of a kernel machine are out of the range of its numbers: nothing is decided until
  // later samples bring them back, the next window begins, or fishweir_reset().
  FISHWEIR_STATUS_UNDECIDED = 10,
  // No decision is due: the last sample filled no window. Of fishweir_decide_so_far(): no window is open,
  // or partly filled ones do not decide.
  FISHWEIR_STATUS_NO_DECISION = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum fishweir_status fishweir_status;
#else
typedef int32_t fishweir_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// State of one stream. The caller owns the memory, static or on a stack; its content is
// the library's. Copy it by assignment to keep a moment of the stream. Nothing needs to be freed.
typedef struct fishweir_stream {
  // Private content of the stream.
  uint64_t words[FISHWEIR_STATE_WORDS];
} fishweir_stream;

// A class and its margin over the runner-up.
typedef struct fishweir_decision {
  // The class decided for: 0 to FISHWEIR_CLASSES - 1, in the order of the model's classes.
  uint32_t class_index;
  // Decision value less that of the runner-up; not negative.
  float margin;
} fishweir_decision;

// Alarm: the stream no longer follows the model.
typedef struct fishweir_alarm {
  // The statistic that is beyond its limit, as an index into fishweir_statistics(): a drift before the fit,
  // which says less. FISHWEIR_NO_ALARM if there is no alarm.
  int32_t statistic;
  // Value of the statistic; 0 if there is no alarm. The sign of a drift shows its direction.
  float value;
} fishweir_alarm;

// A stretch of the stream that a class explains, not the background.
typedef struct fishweir_event {
  // First sample of the event, counted from 0 at the beginning of the stream; missing and refused ones count.
  uint64_t start;
  // The sample after the last of the event.
  uint64_t end;
  // The class: 0 to FISHWEIR_CLASSES - 1, in the order of the model's classes.
  uint32_t class_index;
  // Confidence of the event, over all its samples: the log-odds of the class's path against the best path
  // of the background, in nats. Divide by `end - start` to compare events.
  float log_odds;
} fishweir_event;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Starts a stream, and checks the model where it is an artefact that is read in place: one pass over
// it. Call it before anything else, with `sizeof(fishweir_stream)` as the size.
//
// Returns FISHWEIR_STATUS_WRONG_SIZE where the header belongs to another model, and
// FISHWEIR_STATUS_BAD_MODEL where the artefact is damaged.
//
// # Safety
// `stream` is null or points to `size` bytes that nothing else uses meanwhile.
fishweir_status fishweir_init(struct fishweir_stream *stream,
                              size_t size);

// Forgets the past: the next sample is the first of a new stream.
//
// # Safety
// `stream` is null or points to a stream that nothing else uses meanwhile.
fishweir_status fishweir_reset(struct fishweir_stream *stream);

// Takes in one sample of a model over channels: `count` is FISHWEIR_CHANNELS, the values are in the
// units that the model was trained on, or the integers of one in fixed point. Null in place of
// `channels` is a missing sample, whatever the `count`. NaN is a missing channel to a model whose
// channels may be missing: it leaves the channel out.
//
// A refused sample is missing, and the status says why: a channel is NaN or infinite, say. So one step
// passes whatever the sensor gives. Where windows overlap, each refuses by its own past; between
// windows nothing is refused. Only misuse lets no time pass: a stream that was not started, another
// count, a model over symbols.
//
// # Safety
// `stream` is null or points to a stream that nothing else uses meanwhile; `channels` is null or
// points to `count` floats.
fishweir_status fishweir_push(struct fishweir_stream *stream,
                              const float *channels,
                              size_t count);

// Takes in a sample for a model in fixed point (FISHWEIR_FIXED_POINT), without floating point: `count` is
// FISHWEIR_CHANNELS, each value is the channel times two to its power in FISHWEIR_CHANNEL_PLACES,
// rounded. Null in place of `channels` is a missing sample. INT16_MIN is a missing channel to a model
// whose channels may be missing, and a number to all others.
//
// # Safety
// `stream` is null or points to a stream that nothing else uses meanwhile; `channels` is null or
// points to `count` integers.
fishweir_status fishweir_push_integers(struct fishweir_stream *stream,
                                       const int16_t *channels,
                                       size_t count);

// Takes in one sample of a model over symbols: 0 to FISHWEIR_SYMBOLS - 1. A refused one is missing, and
// the status says why: a symbol outside the alphabet, say. Misuse lets no time pass.
//
// # Safety
// `stream` is null or points to a stream that nothing else uses meanwhile.
fishweir_status fishweir_push_symbol(struct fishweir_stream *stream,
                                     uint16_t symbol);

// Takes in a missing sample: time passes, nothing is learnt. After more than FISHWEIR_LONGEST_GAP in a
// row the next sample begins a new window.
//
// # Safety
// `stream` is null or points to a stream that nothing else uses meanwhile.
fishweir_status fishweir_push_missing(struct fishweir_stream *stream);

// The decision on the window that the last sample has filled. Ask after every sample, a missing or
// refused one too: FISHWEIR_STATUS_NO_DECISION where none is due, and `decision` is as before. A model
// without windows (FISHWEIR_WINDOW_LENGTH is 0) decides after any sample, on the stream since
// fishweir_init() or fishweir_reset(): call that at the end of each series.
//
// Costs a logarithm and a division per model, or, of a kernel machine, a kernel value per stored item;
// that may be FISHWEIR_STATUS_UNDECIDED.
//
// # Safety
// `stream` is null or points to a stream that nothing changes meanwhile; `decision` is null or points
// to a decision that nothing else uses meanwhile.
fishweir_status fishweir_decide(const struct fishweir_stream *stream,
                                struct fishweir_decision *decision);

// The decision on the oldest open window, before it is full: it uses fewer samples, and is less accurate.
// FISHWEIR_STATUS_NO_DECISION before the first sample, between windows, in too long a gap, and where
// partly filled windows do not decide (FISHWEIR_PARTIAL_WINDOWS is 0).
//
// # Safety
// As for fishweir_decide().
fishweir_status fishweir_decide_so_far(const struct fishweir_stream *stream,
                                       struct fishweir_decision *decision);

// The natural logarithm of a window's likelihood under every model; of a kernel machine
// (FISHWEIR_KERNEL_MACHINE) its decision values: `count` is FISHWEIR_MODELS. The window is the one that
// the last sample has filled, else the oldest open one, else one without samples.
//
// # Safety
// `stream` is null or points to a stream that nothing changes meanwhile; `log_likelihoods` is null or
// points to `count` floats that nothing else uses meanwhile.
fishweir_status fishweir_log_likelihoods(const struct fishweir_stream *stream,
                                         float *log_likelihoods,
                                         size_t count);

// Returns the alarm of a change detector. Ask after every sample, and call fishweir_reset() after an alarm:
// otherwise a change that lasts raises it again. Costs two multiply-adds per statistic.
//
// # Safety
// `stream` is null or points to a stream that nothing changes meanwhile; `alarm` is null or points to
// an alarm that nothing else uses meanwhile.
fishweir_status fishweir_detect(const struct fishweir_stream *stream,
                                struct fishweir_alarm *alarm);

// Returns the statistics of a change detector: the fit, which is the faded log-likelihood less its mean, in
// nats, then the drift along each direction: `count` is FISHWEIR_STATISTICS.
//
// # Safety
// `stream` is null or points to a stream that nothing changes meanwhile; `statistics` is null or
// points to `count` floats that nothing else uses meanwhile.
fishweir_status fishweir_statistics(const struct fishweir_stream *stream,
                                    float *statistics,
                                    size_t count);

// Returns the events of a spotter that the last sample has decided, in order of time; mostly an empty list.
// Later samples do not change them. Ask once after every sample, a missing or refused one too.
// `room` is FISHWEIR_EVENTS, and `count` becomes the number of events.
//
// # Safety
// `stream` is null or points to a stream that nothing changes meanwhile; `events` is null or points to
// `room` events and `count` is null or points to a number, which nothing else uses meanwhile.
fishweir_status fishweir_events(const struct fishweir_stream *stream,
                                struct fishweir_event *events,
                                size_t room,
                                size_t *count);

// Ends the stream of a spotter and returns the events that are not decided yet, as the best path has them;
// an event that includes the last sample comes last. The next sample is the first of a new stream. To look
// without an end, finish a copy. `room` and `count` are as for fishweir_events().
//
// # Safety
// As for fishweir_events(), but that nothing else uses the stream meanwhile.
fishweir_status fishweir_finish(struct fishweir_stream *stream,
                                struct fishweir_event *events,
                                size_t room,
                                size_t *count);

// Bytes of the model, in flash: FISHWEIR_MODEL_SIZE of the header that belongs to this library.
size_t fishweir_model_size(void);

// Bytes of a stream, in RAM: FISHWEIR_STATE_SIZE of the header that belongs to this library.
size_t fishweir_state_size(void);

// The library's version, as in "0.1.0".
const char *fishweir_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FISHWEIR_H */
