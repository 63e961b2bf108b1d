//! The C interface: streams over the model that was compiled in, in memory that the caller owns.
//!
//! `include/fishweir.h` is made from this crate by cbindgen and says what C needs to know. Pointers
//! become references in `pointer.rs`; behind it, and in all of fishweir-core, nothing is unsafe.
//! Misuse that can be seen (null, misaligned, not started, another model's header) is a status.
//!
//! Names begin with `fishweir`, or with what `FISHWEIR_PREFIX` says when the library is built: then
//! libraries of several models stand in one image.
//!
//! Nothing panics: on a device the panic handler calls a function that exists nowhere, so that an
//! image in which a panic can be reached does not link.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(unsafe_code, reason = "symbols and pointers of C")]

// A program on a PC that links the library brings no panic handler: std has one.
#[cfg(not(target_os = "none"))]
extern crate std;

mod answer;
#[cfg(target_os = "none")]
mod panic;
mod pointer;
mod sample;
mod shape;
mod status;

use core::ffi::{CStr, c_char};

use fishweir_core::filter::Streaming;
use fishweir_model::{Model, ModelWindows};

use answer::Answering;
pub use answer::{Alarm, Choice, FISHWEIR_NO_ALARM, Found};
use pointer::{Number, checked, numbers, numbers_mut, put, started, started_mut};
use sample::Sample;
use shape::{Sizes, Started, State, WORDS};
pub use status::Status;

/// Words of eight bytes in a [`Stream`].
pub const FISHWEIR_STATE_WORDS: usize = include!(concat!(env!("OUT_DIR"), "/words.rs"));

// The header's sizes come from the building machine's layout.
const _: () = assert!(
    FISHWEIR_STATE_WORDS == WORDS && align_of::<Started>() <= align_of::<u64>(),
    "the target lays out the state otherwise than the machine that wrote the header"
);

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version without zeros"),
    };

/// State of one stream. The caller owns the memory, static or on a stack; its content is
/// the library's. Copy it by assignment to keep a moment of the stream. Nothing needs to be freed.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Stream {
    /// Private content of the stream.
    words: [u64; FISHWEIR_STATE_WORDS],
}

impl Stream {
    /// Memory that was not started.
    pub const ZEROED: Self = Self { words: [0; FISHWEIR_STATE_WORDS] };
}

/// Starts a stream, and checks the model where it is an artefact that is read in place: one pass over
/// it. Call it before anything else, with `sizeof(fishweir_stream)` as the size.
///
/// Returns FISHWEIR_STATUS_WRONG_SIZE where the header belongs to another model, and
/// FISHWEIR_STATUS_BAD_MODEL where the artefact is damaged.
///
/// # Safety
/// `stream` is null or points to `size` bytes that nothing else uses meanwhile.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_init"))]
pub unsafe extern "C" fn fishweir_init(stream: *mut Stream, size: usize) -> Status {
    Status::of(|| {
        if size != size_of::<Stream>() {
            return Err(Status::WrongSize);
        }
        let model = fishweir_model::load().map_err(|_| Status::BadModel)?;
        // SAFETY: the caller's promise; the size is that of a stream.
        unsafe { put(stream.cast(), Started::new(model)) }
    })
}

/// Forgets the past: the next sample is the first of a new stream.
///
/// # Safety
/// `stream` is null or points to a stream that nothing else uses meanwhile.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_reset"))]
pub unsafe extern "C" fn fishweir_reset(stream: *mut Stream) -> Status {
    Status::of(|| {
        // SAFETY: the caller's promise.
        let started = unsafe { started_mut(stream) }?;
        windows()?.restart(&mut started.state);
        Ok(())
    })
}

/// Takes in one sample of a model over channels: `count` is FISHWEIR_CHANNELS, the values are in the
/// units that the model was trained on, or the integers of one in fixed point. Null in place of
/// `channels` is a missing sample, whatever the `count`. NaN is a missing channel to a model whose
/// channels may be missing: it leaves the channel out.
///
/// A refused sample is missing, and the status says why: a channel is NaN or infinite, say. So one step
/// passes whatever the sensor gives. Where windows overlap, each refuses by its own past; between
/// windows nothing is refused. Only misuse lets no time pass: a stream that was not started, another
/// count, a model over symbols.
///
/// # Safety
/// `stream` is null or points to a stream that nothing else uses meanwhile; `channels` is null or
/// points to `count` floats.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_push"))]
pub unsafe extern "C" fn fishweir_push(
    stream: *mut Stream,
    channels: *const f32,
    count: usize,
) -> Status {
    let wanted = Observation::CHANNELS;
    // SAFETY: the caller's promise.
    unsafe { push_channels(stream, channels, count, wanted, Observation::of_channels) }
}

/// Takes in a sample for a model in fixed point (FISHWEIR_FIXED_POINT), without floating point: `count` is
/// FISHWEIR_CHANNELS, each value is the channel times two to its power in FISHWEIR_CHANNEL_PLACES,
/// rounded. Null in place of `channels` is a missing sample. INT16_MIN is a missing channel to a model
/// whose channels may be missing, and a number to all others.
///
/// # Safety
/// `stream` is null or points to a stream that nothing else uses meanwhile; `channels` is null or
/// points to `count` integers.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_push_integers"))]
pub unsafe extern "C" fn fishweir_push_integers(
    stream: *mut Stream,
    channels: *const i16,
    count: usize,
) -> Status {
    let wanted = Observation::INTEGERS;
    // SAFETY: the caller's promise.
    unsafe { push_channels(stream, channels, count, wanted, Observation::of_integers) }
}

/// Takes in one sample of a model over symbols: 0 to FISHWEIR_SYMBOLS - 1. A refused one is missing, and
/// the status says why: a symbol outside the alphabet, say. Misuse lets no time pass.
///
/// # Safety
/// `stream` is null or points to a stream that nothing else uses meanwhile.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_push_symbol"))]
pub unsafe extern "C" fn fishweir_push_symbol(stream: *mut Stream, symbol: u16) -> Status {
    Status::of(|| {
        // SAFETY: the caller's promise.
        let started = unsafe { started_mut(stream) }?;
        push(started, Observation::of_symbol(symbol))
    })
}

/// Takes in a missing sample: time passes, nothing is learnt. After more than FISHWEIR_LONGEST_GAP in a
/// row the next sample begins a new window.
///
/// # Safety
/// `stream` is null or points to a stream that nothing else uses meanwhile.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_push_missing"))]
pub unsafe extern "C" fn fishweir_push_missing(stream: *mut Stream) -> Status {
    Status::of(|| {
        // SAFETY: the caller's promise.
        let started = unsafe { started_mut(stream) }?;
        windows()?.step_missing(&mut started.state);
        Ok(())
    })
}

/// The decision on the window that the last sample has filled. Ask after every sample, a missing or
/// refused one too: FISHWEIR_STATUS_NO_DECISION where none is due, and `decision` is as before. A model
/// without windows (FISHWEIR_WINDOW_LENGTH is 0) decides after any sample, on the stream since
/// fishweir_init() or fishweir_reset(): call that at the end of each series.
///
/// Costs a logarithm and a division per model, or, of a kernel machine, a kernel value per stored item;
/// that may be FISHWEIR_STATUS_UNDECIDED.
///
/// # Safety
/// `stream` is null or points to a stream that nothing changes meanwhile; `decision` is null or points
/// to a decision that nothing else uses meanwhile.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_decide"))]
pub unsafe extern "C" fn fishweir_decide(stream: *const Stream, decision: *mut Choice) -> Status {
    // SAFETY: the caller's promise.
    unsafe { decide(stream, decision, ModelWindows::decided) }
}

/// The decision on the oldest open window, before it is full: it uses fewer samples, and is less accurate.
/// FISHWEIR_STATUS_NO_DECISION before the first sample, between windows, in too long a gap, and where
/// partly filled windows do not decide (FISHWEIR_PARTIAL_WINDOWS is 0).
///
/// # Safety
/// As for fishweir_decide().
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_decide_so_far"))]
pub unsafe extern "C" fn fishweir_decide_so_far(
    stream: *const Stream,
    decision: *mut Choice,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { decide(stream, decision, ModelWindows::so_far) }
}

/// The natural logarithm of a window's likelihood under every model; of a kernel machine
/// (FISHWEIR_KERNEL_MACHINE) its decision values: `count` is FISHWEIR_MODELS. The window is the one that
/// the last sample has filled, else the oldest open one, else one without samples.
///
/// # Safety
/// `stream` is null or points to a stream that nothing changes meanwhile; `log_likelihoods` is null or
/// points to `count` floats that nothing else uses meanwhile.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_log_likelihoods"))]
pub unsafe extern "C" fn fishweir_log_likelihoods(
    stream: *const Stream,
    log_likelihoods: *mut f32,
    count: usize,
) -> Status {
    Status::of(|| {
        // SAFETY: the caller's promise.
        let started = unsafe { started(stream) }?;
        let wanted = <Model as Sizes<_>>::MODELS.ok_or(Status::WrongKind)?;
        // SAFETY: the caller's promise.
        let values = unsafe { numbers_mut(log_likelihoods, count, wanted) }?;
        of_window(started, |model, state| model.evidence(state, values))
    })
}

/// Returns the alarm of a change detector. Ask after every sample, and call fishweir_reset() after an alarm:
/// otherwise a change that lasts raises it again. Costs two multiply-adds per statistic.
///
/// # Safety
/// `stream` is null or points to a stream that nothing changes meanwhile; `alarm` is null or points to
/// an alarm that nothing else uses meanwhile.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_detect"))]
pub unsafe extern "C" fn fishweir_detect(stream: *const Stream, alarm: *mut Alarm) -> Status {
    Status::of(|| {
        // SAFETY: the caller's promise.
        let started = unsafe { started(stream) }?;
        let read = of_window(started, Model::detect)?;
        // SAFETY: the caller's promise.
        unsafe { put(alarm, read) }
    })
}

/// Returns the statistics of a change detector: the fit, which is the faded log-likelihood less its mean, in
/// nats, then the drift along each direction: `count` is FISHWEIR_STATISTICS.
///
/// # Safety
/// `stream` is null or points to a stream that nothing changes meanwhile; `statistics` is null or
/// points to `count` floats that nothing else uses meanwhile.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_statistics"))]
pub unsafe extern "C" fn fishweir_statistics(
    stream: *const Stream,
    statistics: *mut f32,
    count: usize,
) -> Status {
    Status::of(|| {
        // SAFETY: the caller's promise.
        let started = unsafe { started(stream) }?;
        let wanted = <Model as Sizes<_>>::STATISTICS.ok_or(Status::WrongKind)?;
        // SAFETY: the caller's promise.
        let values = unsafe { numbers_mut(statistics, count, wanted) }?;
        of_window(started, |model, state| model.statistics(state, values))
    })
}

/// Returns the events of a spotter that the last sample has decided, in order of time; mostly an empty list.
/// Later samples do not change them. Ask once after every sample, a missing or refused one too.
/// `room` is FISHWEIR_EVENTS, and `count` becomes the number of events.
///
/// # Safety
/// `stream` is null or points to a stream that nothing changes meanwhile; `events` is null or points to
/// `room` events and `count` is null or points to a number, which nothing else uses meanwhile.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_events"))]
pub unsafe extern "C" fn fishweir_events(
    stream: *const Stream,
    events: *mut Found,
    room: usize,
    count: *mut usize,
) -> Status {
    Status::of(|| {
        // SAFETY: the caller's promise.
        let started = unsafe { started(stream) }?;
        // SAFETY: the caller's promise.
        unsafe {
            tell(events, room, count, |events| {
                of_window(started, |model, state| model.decided(state, events))
            })
        }
    })
}

/// Ends the stream of a spotter and returns the events that are not decided yet, as the best path has them;
/// an event that includes the last sample comes last. The next sample is the first of a new stream. To look
/// without an end, finish a copy. `room` and `count` are as for fishweir_events().
///
/// # Safety
/// As for fishweir_events(), but that nothing else uses the stream meanwhile.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_finish"))]
pub unsafe extern "C" fn fishweir_finish(
    stream: *mut Stream,
    events: *mut Found,
    room: usize,
    count: *mut usize,
) -> Status {
    Status::of(|| {
        // SAFETY: the caller's promise.
        let started = unsafe { started_mut(stream) }?;
        // SAFETY: the caller's promise.
        unsafe {
            tell(events, room, count, |events| {
                of_window(started, |model, state| model.rest(state, events))
            })
        }?;
        windows()?.restart(&mut started.state);
        Ok(())
    })
}

/// Bytes of the model, in flash: FISHWEIR_MODEL_SIZE of the header that belongs to this library.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_model_size"))]
pub extern "C" fn fishweir_model_size() -> usize {
    model().map_or(0, Sizes::bytes)
}

/// Bytes of a stream, in RAM: FISHWEIR_STATE_SIZE of the header that belongs to this library.
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_state_size"))]
pub extern "C" fn fishweir_state_size() -> usize {
    size_of::<Stream>()
}

/// The library's version, as in "0.1.0".
#[unsafe(export_name = concat!(env!("FISHWEIR_PREFIX"), "_version"))]
pub extern "C" fn fishweir_version() -> *const c_char {
    VERSION.as_ptr()
}

type Observation = <Model as Streaming>::Observation;

/// The model; a stream that was started has had it checked.
fn model() -> Result<&'static Model, Status> {
    fishweir_model::loaded().ok_or(Status::BadModel)
}

/// The model on the windows of its contract.
fn windows() -> Result<ModelWindows, Status> {
    model().map(fishweir_model::windows)
}

/// The state of one window.
type WindowState = <Model as Streaming>::State;

/// Writes the decision on the window that is chosen, where there is one.
///
/// # Safety
/// As for fishweir_decide().
unsafe fn decide(
    stream: *const Stream,
    decision: *mut Choice,
    choose: impl for<'s> Fn(&ModelWindows, &'s State) -> Option<&'s WindowState>,
) -> Status {
    Status::of(|| {
        // SAFETY: the caller's promise.
        let started = unsafe { started(stream) }?;
        <Model as Sizes<_>>::MODELS.ok_or(Status::WrongKind)?;
        checked(decision)?;
        let windows = windows()?;
        let state = choose(&windows, &started.state).ok_or(Status::NoDecision)?;
        let choice = windows.classifier().decide(state)?;
        // SAFETY: the caller's promise.
        unsafe { put(decision, choice) }
    })
}

/// Reads the window that the last sample has filled, else the oldest open one, else a new one. That of a model without
/// windows is the whole stream.
fn of_window<T>(
    started: &Started,
    read: impl FnOnce(&Model, &WindowState) -> Result<T, Status>,
) -> Result<T, Status> {
    fishweir_device::classifier::of_window(&windows()?, &started.state, read)
}

/// Writes events and their number where the caller has room; without room the model is not asked.
///
/// # Safety
/// `events` is null or points to `room` events, `count` is null or points to a number; nothing else uses
/// them meanwhile.
unsafe fn tell(
    events: *mut Found,
    room: usize,
    count: *mut usize,
    answer: impl FnOnce(&mut [Found]) -> Result<usize, Status>,
) -> Result<(), Status> {
    let wanted = <Model as Sizes<_>>::EVENTS.ok_or(Status::WrongKind)?;
    // SAFETY: the caller's promise.
    let events = unsafe { numbers_mut(events, room, wanted) }?;
    // SAFETY: the caller's promise.
    unsafe { put(count, 0) }?;
    let told = answer(events)?;
    // SAFETY: the caller's promise.
    unsafe { put(count, told) }
}

/// Pushes a sample of channels: `wanted` is their number, `None` for a model that takes no such sample.
///
/// # Safety
/// `stream` is null or points to a stream that nothing else uses meanwhile; `channels` is null or points to `count`
/// numbers.
unsafe fn push_channels<T: Number>(
    stream: *mut Stream,
    channels: *const T,
    count: usize,
    wanted: Option<usize>,
    of_channels: impl FnOnce(&[T]) -> Result<Observation, Status>,
) -> Status {
    Status::of(|| {
        // SAFETY: the caller's promise.
        let started = unsafe { started_mut(stream) }?;
        let wanted = wanted.ok_or(Status::WrongKind)?;
        if channels.is_null() {
            windows()?.step_missing(&mut started.state);
            return Ok(());
        }
        // SAFETY: the caller's promise.
        let channels = unsafe { numbers(channels, count, wanted) }?;
        push(started, of_channels(channels))
    })
}

/// Pushes a sample. A refused one is missing: by the model, or because C's values are no observation of any model.
fn push(started: &mut Started, sample: Result<Observation, Status>) -> Result<(), Status> {
    #[cfg(feature = "plant-panic")]
    assert!(core::hint::black_box(true), "planted");
    let windows = windows()?;
    match sample {
        Ok(sample) => windows.push(&mut started.state, Some(&sample)).map_err(Status::refusing),
        Err(Status::WrongKind) => Err(Status::WrongKind),
        Err(refused) => {
            windows.step_missing(&mut started.state);
            Err(refused)
        }
    }
}

impl Started {
    /// Mark of memory that was started: `weir` in ASCII.
    const MARK: u32 = u32::from_le_bytes(*b"weir");

    fn new(model: &'static Model) -> Self {
        Self { state: fishweir_model::windows(model).initial_state(), mark: Self::MARK }
    }
}

#[cfg(test)]
mod tests;
