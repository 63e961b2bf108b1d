/* fishweir: follows a stream, sample by sample. Made by cbindgen: change src/, not this file.
 *
 * The sizes are those of one model. They stand in fishweir_model.h, which the build of the library
 * writes: header and library belong together, and fishweir_init() says when they do not.
 *
 * A classifier answers fishweir_decide() and fishweir_log_likelihoods(), a change detector
 * fishweir_detect() and fishweir_statistics(), a spotter fishweir_events() and fishweir_finish();
 * asked of another kind of model, they are FISHWEIR_STATUS_WRONG_KIND.
 *
 * Nothing allocates, nothing blocks, nothing is global: a stream is used by one thread at a time, and
 * streams do not know of each other. Every function but the last three returns a fishweir_status. */

#ifndef FISHWEIR_H
#define FISHWEIR_H

#include <stddef.h>
#include <stdint.h>
#include "fishweir_model.h"

// The `statistic` of an alarm that is none.
#define FISHWEIR_NO_ALARM -1

// What became of a call.
enum fishweir_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Done.
  FISHWEIR_STATUS_OK = 0,
  // The sample is impossible under all models left. The stream is as before: skip the sample, push it
  // as missing, or reset. After fishweir_push_or_missing(), and behind a front end, it is missing
  // already.
  FISHWEIR_STATUS_IMPOSSIBLE = 1,
  // A NaN or an infinity among the channels, or a symbol outside the alphabet. The stream is as
  // before; after fishweir_push_or_missing(), and behind a front end, the sample is missing already.
  FISHWEIR_STATUS_INVALID = 2,
  // A pointer is null.
  FISHWEIR_STATUS_NULL_POINTER = 3,
  // A pointer is not aligned as its type is.
  FISHWEIR_STATUS_MISALIGNED = 4,
  // A size or a count is not this model's: the header belongs to another library.
  FISHWEIR_STATUS_WRONG_SIZE = 5,
  // fishweir_init() has not been called on this stream.
  FISHWEIR_STATUS_NOT_STARTED = 6,
  // Channels for a model over symbols, or a symbol for one over channels; or what another kind of model
  // answers: a decision, asked of a change detector.
  FISHWEIR_STATUS_WRONG_KIND = 7,
  // The artefact that was compiled in is damaged.
  FISHWEIR_STATUS_BAD_MODEL = 8,
  // One sample more than the model has positions. The stream is as before; after
  // fishweir_push_or_missing(), and behind a front end, the sample is missing already. Whatever comes is
  // refused until fishweir_reset().
  FISHWEIR_STATUS_PAST_END = 9,
  // The scores of a kernel machine are out of the range of its numbers: nothing is decided until
  // later samples bring them back, or fishweir_reset().
  FISHWEIR_STATUS_UNDECIDED = 10,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum fishweir_status fishweir_status;
#else
typedef int32_t fishweir_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// One stream: what its past left. The caller owns the memory, static or on a stack; what is in it is
// the library's. Copy it by assignment to keep a moment of the stream. Nothing needs to be freed.
typedef struct fishweir_stream {
  // Not for the caller.
  uint64_t words[FISHWEIR_STATE_WORDS];
} fishweir_stream;

// A class and by how much it leads.
typedef struct fishweir_decision {
  // The class decided for: 0 to FISHWEIR_CLASSES - 1, in the order of the model's classes.
  uint32_t class_index;
  // Its decision value less the next best one's; not negative.
  float margin;
} fishweir_decision;

// Whether a stream has ceased to be what the model describes.
typedef struct fishweir_alarm {
  // The statistic that is beyond its limit, by its place in fishweir_statistics(): a drift before the
  // fit, which says less. FISHWEIR_NO_ALARM where none is.
  int32_t statistic;
  // Its value; 0 where there is no alarm. The sign of a drift tells which way the stream moves.
  float value;
} fishweir_alarm;

// A stretch of the stream that a class explains, not the background.
typedef struct fishweir_event {
  // Its first sample, counted from 0 at the beginning of the stream; missing ones count, refused ones
  // do not.
  uint64_t start;
  // The sample after its last.
  uint64_t end;
  // The class: 0 to FISHWEIR_CLASSES - 1, in the order of the model's classes.
  uint32_t class_index;
  // Its confidence, over all its samples: the log-odds of the class's path against the best path of
  // the background, in nats. Divide by `end - start` to compare events.
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
// units that the model was trained on, or the integers of one in fixed point. On an error the stream
// is as before; behind a front end a sample that is refused is missing.
//
// # Safety
// `stream` is null or points to a stream that nothing else uses meanwhile; `channels` is null or
// points to `count` floats.
fishweir_status fishweir_push(struct fishweir_stream *stream,
                              const float *channels,
                              size_t count);

// The same of a model in fixed point (FISHWEIR_FIXED_POINT), without a float on the way: `count` is
// FISHWEIR_CHANNELS, each value is the channel times two to its power in FISHWEIR_CHANNEL_PLACES,
// rounded.
//
// # Safety
// `stream` is null or points to a stream that nothing else uses meanwhile; `channels` is null or
// points to `count` integers.
fishweir_status fishweir_push_integers(struct fishweir_stream *stream,
                                       const int16_t *channels,
                                       size_t count);

// Takes in one sample of a model over symbols: 0 to FISHWEIR_SYMBOLS - 1. On an error the stream is
// as before.
//
// # Safety
// `stream` is null or points to a stream that nothing else uses meanwhile.
fishweir_status fishweir_push_symbol(struct fishweir_stream *stream, uint16_t symbol);

// Lets one step pass whose sample was not observed: time passes, nothing is learnt.
//
// # Safety
// `stream` is null or points to a stream that nothing else uses meanwhile.
fishweir_status fishweir_push_missing(struct fishweir_stream *stream);

// Takes in one sample of a model over channels, or lets one step pass where it is refused: time passes
// once, whatever the sensor gave. A sample of which a channel is NaN or infinite is missing, all of it,
// and the status says so; null instead of channels is a sample that is known to be missing, whatever
// the `count`. Misuse (a stream that was not started, another count, a model over symbols) lets no time
// pass.
//
// # Safety
// As for fishweir_push().
fishweir_status fishweir_push_or_missing(struct fishweir_stream *stream,
                                         const float *channels,
                                         size_t count);

// The same of a model over symbols: what is no symbol of its alphabet, or impossible, is missing, and
// the status says so.
//
// # Safety
// As for fishweir_push_symbol().
fishweir_status fishweir_push_symbol_or_missing(struct fishweir_stream *stream,
                                                uint16_t symbol);

// The decision on the stream so far. Costs a logarithm and a division a model, or, of a kernel
// machine, a kernel value for every stored item; that may be FISHWEIR_STATUS_UNDECIDED.
//
// # Safety
// `stream` is null or points to a stream that nothing changes meanwhile; `decision` is null or points
// to a decision that nothing else uses meanwhile.
fishweir_status fishweir_decide(const struct fishweir_stream *stream,
                                struct fishweir_decision *decision);

// The natural logarithm of the stream's likelihood under every model; of a kernel machine
// (FISHWEIR_KERNEL_MACHINE) its decision values: `count` is FISHWEIR_MODELS.
//
// # Safety
// `stream` is null or points to a stream that nothing changes meanwhile; `log_likelihoods` is null or
// points to `count` floats that nothing else uses meanwhile.
fishweir_status fishweir_log_likelihoods(const struct fishweir_stream *stream,
                                         float *log_likelihoods,
                                         size_t count);

// Of a change detector: whether the stream of late is an alarm. Ask after every sample, and call
// fishweir_reset() after an alarm: a change that lasts is told again. Costs two multiply-adds a
// statistic.
//
// # Safety
// `stream` is null or points to a stream that nothing changes meanwhile; `alarm` is null or points to
// an alarm that nothing else uses meanwhile.
fishweir_status fishweir_detect(const struct fishweir_stream *stream,
                                struct fishweir_alarm *alarm);

// Of a change detector: the fit, which is the log-likelihood of late less its mean, in nats, then the
// drift along each direction: `count` is FISHWEIR_STATISTICS.
//
// # Safety
// `stream` is null or points to a stream that nothing changes meanwhile; `statistics` is null or
// points to `count` floats that nothing else uses meanwhile.
fishweir_status fishweir_statistics(const struct fishweir_stream *stream,
                                    float *statistics,
                                    size_t count);

// Of a spotter: the events that the last sample taken in has decided, in order of time; mostly none.
// Whatever comes does not change them. Ask once after every sample: a refused one leaves them as they
// were. `room` is FISHWEIR_EVENTS, and `count` becomes how many of them there are.
//
// # Safety
// `stream` is null or points to a stream that nothing changes meanwhile; `events` is null or points to
// `room` events and `count` is null or points to a number, which nothing else uses meanwhile.
fishweir_status fishweir_events(const struct fishweir_stream *stream,
                                struct fishweir_event *events,
                                size_t room,
                                size_t *count);

// Of a spotter, at the end of a stream: the events that are not decided yet, as the best path has them,
// the one that the last sample is in last. The next sample is the first of a new stream. To look
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
