//! The interface as C sees it, over a bundled model: by default the coins, with a feature the detector or the spotter.

use std::ptr::{null, null_mut};

use super::*;

#[cfg(not(any(feature = "detect-change", feature = "spot-events")))]
mod classifier;
#[cfg(feature = "detect-change")]
mod detector;
#[cfg(feature = "spot-events")]
mod spotter;
#[cfg(not(any(feature = "detect-change", feature = "spot-events")))]
mod windows;

#[cfg(not(any(feature = "detect-change", feature = "spot-events")))]
use classifier::logs as said;
#[cfg(feature = "detect-change")]
use detector::said;
#[cfg(feature = "spot-events")]
use spotter::said;

fn new() -> Stream {
    let mut stream = Stream::ZEROED;
    // SAFETY: a stream of this size, and no other use of it.
    let status = unsafe { fishweir_init(&raw mut stream, size_of::<Stream>()) };
    assert_eq!(status, Status::Ok);
    stream
}

fn push(stream: &mut Stream, symbol: u16) -> Status {
    // SAFETY: a stream, and no other use of it.
    unsafe { fishweir_push_symbol(stream, symbol) }
}

fn push_missing(stream: &mut Stream) -> Status {
    // SAFETY: a stream, and no other use of it.
    unsafe { fishweir_push_missing(stream) }
}

/// Returns the text of a definition in the model's header.
fn text(name: &str) -> Option<&'static str> {
    let header = include_str!(concat!(env!("OUT_DIR"), "/model.h"));
    let line = header.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name));
    line.map(str::trim)
}

/// Returns a whole number defined in the model's header.
fn defined(name: &str) -> Option<usize> {
    text(name).and_then(|value| value.trim_end_matches("ULL").parse().ok())
}

#[test]
fn a_refused_sample_is_missing_and_misuse_lets_no_time_pass() {
    let mut stream = new();
    for _ in 0..41 {
        push(&mut stream, 1);
    }
    for symbol in [2, u16::MAX] {
        let [mut missing, mut without] = [stream; 2];
        assert_eq!(push(&mut stream, symbol), Status::Invalid);
        assert_eq!(push_missing(&mut missing), Status::Ok);
        assert_eq!(said(&stream), said(&missing));
        for stream in [&mut stream, &mut missing, &mut without] {
            assert_eq!(push(stream, 1), Status::Ok);
        }
        assert_eq!(said(&stream), said(&missing));
        assert_ne!(said(&stream), said(&without), "time has passed");
    }
    let words = stream.words;
    let (channels, integers) = ([f32::NAN; 2], [0_i16; 2]);
    // SAFETY: a stream, null or as many numbers as said, and no other use of them.
    unsafe {
        for channels in [channels.as_ptr(), null()] {
            assert_eq!(fishweir_push(&raw mut stream, channels, 2), Status::WrongKind);
        }
        for integers in [integers.as_ptr(), null()] {
            assert_eq!(fishweir_push_integers(&raw mut stream, integers, 2), Status::WrongKind);
        }
    }
    assert_eq!(stream.words, words);
}

#[test]
fn misuse_is_a_status() {
    let mut stream = new();
    let mut zeroed = Stream::ZEROED;
    let size = size_of::<Stream>();
    let floats = [0.0_f32; 2];
    // One byte off, inside memory that is large enough.
    let mut bytes = [0_u64; FISHWEIR_STATE_WORDS + 1];
    let crooked = bytes.as_mut_ptr().wrapping_byte_add(1).cast::<Stream>();
    // SAFETY: null, or memory of the type's size that nothing else uses.
    unsafe {
        assert_eq!(fishweir_init(null_mut(), size), Status::NullPointer);
        assert_eq!(fishweir_init(&raw mut zeroed, size - 8), Status::WrongSize);
        assert_eq!(fishweir_init(crooked, size), Status::Misaligned);

        assert_eq!(fishweir_reset(null_mut()), Status::NullPointer);
        assert_eq!(fishweir_push_missing(null_mut()), Status::NullPointer);
        assert_eq!(fishweir_push_symbol(null_mut(), 0), Status::NullPointer);
        assert_eq!(fishweir_push(null_mut(), floats.as_ptr(), 2), Status::NullPointer);
        assert_eq!(fishweir_push(&raw mut zeroed, null(), 2), Status::NotStarted);

        assert_eq!(fishweir_reset(&raw mut zeroed), Status::NotStarted);
        assert_eq!(fishweir_push_missing(&raw mut zeroed), Status::NotStarted);
        assert_eq!(fishweir_push_symbol(&raw mut zeroed, 0), Status::NotStarted);
        assert_eq!(fishweir_reset(crooked), Status::Misaligned);
    }
    assert_eq!(zeroed.words, Stream::ZEROED.words);
    assert_eq!(push(&mut stream, 0), Status::Ok);
}

#[test]
fn sizes_and_version_are_those_of_the_header() {
    assert_eq!(defined("FISHWEIR_STATE_SIZE "), Some(fishweir_state_size()));
    assert_eq!(defined("FISHWEIR_STATE_ALIGN "), Some(align_of::<Stream>()));
    assert_eq!(defined("FISHWEIR_MODEL_SIZE "), Some(fishweir_model_size()));
    assert_eq!(defined("FISHWEIR_SYMBOLS "), Some(2));
    assert_eq!(defined("FISHWEIR_CHANNELS "), Some(0));
    // SAFETY: a string that ends with a zero and is never freed.
    let version = unsafe { CStr::from_ptr(fishweir_version()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}
