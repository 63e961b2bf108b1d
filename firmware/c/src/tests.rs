//! The interface as C sees it, over the bundled model: a fair coin (0) and an alternating one (1).

use std::ptr::{null, null_mut};
use std::vec::Vec;

use fishweir_core::filter::Running;

use super::*;

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

fn decision(stream: &Stream) -> Choice {
    let mut choice = Choice::default();
    // SAFETY: a stream and a decision, and no other use of them.
    assert_eq!(unsafe { fishweir_decide(stream, &raw mut choice) }, Status::Ok);
    choice
}

fn logs(stream: &Stream) -> Vec<u32> {
    let mut logs = [0.0; 2];
    // SAFETY: a stream and as many floats as said, and no other use of them.
    let status = unsafe { fishweir_log_likelihoods(stream, logs.as_mut_ptr(), logs.len()) };
    assert_eq!(status, Status::Ok);
    logs.map(f32::to_bits).to_vec()
}

#[test]
fn a_stream_decides_as_the_recursion_behind_it() {
    let mut stream = new();
    let mut behind = Running::new(fishweir_model::load().expect("a sound model"));
    for t in 0..300_usize {
        if t % 7 == 3 {
            // SAFETY: a stream, and no other use of it.
            assert_eq!(unsafe { fishweir_push_missing(&raw mut stream) }, Status::Ok);
            behind.push_missing();
        } else {
            let symbol = t * t / 3 % 2;
            assert_eq!(push(&mut stream, symbol as u16), Status::Ok);
            behind.push(&symbol).expect("a symbol of the alphabet");
        }
        let (choice, read) = (decision(&stream), behind.read());
        assert_eq!(choice.class_index as usize, read.class);
        assert_eq!(choice.margin.to_bits(), read.margin.to_bits());
        let expected = behind.recursion().log_likelihoods(behind.state()).map(f32::to_bits);
        assert_eq!(logs(&stream), expected);
    }
}

#[test]
fn heads_then_tails_is_the_alternating_coin() {
    let mut stream = new();
    assert_eq!((push(&mut stream, 0), push(&mut stream, 1)), (Status::Ok, Status::Ok));
    let choice = decision(&stream);
    assert_eq!(choice.class_index, 1);
    assert!((choice.margin - 1.25_f32.ln()).abs() < 1e-6);
}

#[test]
fn a_reset_stream_is_a_new_one_and_a_copy_is_a_moment_kept() {
    let mut stream = new();
    push(&mut stream, 0);
    let kept = stream;
    push(&mut stream, 0);
    push(&mut stream, 1);
    let before = (decision(&stream), logs(&stream));
    // SAFETY: a stream, and no other use of it.
    assert_eq!(unsafe { fishweir_reset(&raw mut stream) }, Status::Ok);
    assert_eq!(logs(&stream), logs(&new()));
    stream = kept;
    push(&mut stream, 0);
    push(&mut stream, 1);
    assert_eq!((decision(&stream), logs(&stream)), before);
}

#[test]
fn a_refused_sample_leaves_the_stream_as_it_was() {
    let mut stream = new();
    push(&mut stream, 1);
    let words = stream.words;
    for symbol in [2, u16::MAX] {
        assert_eq!(push(&mut stream, symbol), Status::Invalid);
    }
    let channels = [0.0_f32; 2];
    // SAFETY: a stream and as many floats as said, and no other use of them.
    let status = unsafe { fishweir_push(&raw mut stream, channels.as_ptr(), channels.len()) };
    assert_eq!(status, Status::WrongKind);
    assert_eq!(stream.words, words);
}

#[test]
fn misuse_is_a_status() {
    let mut stream = new();
    let mut zeroed = Stream::ZEROED;
    let mut choice = Choice::default();
    let mut logs = [0.0_f32; 2];
    let size = size_of::<Stream>();
    // One byte off, inside memory that is large enough.
    let mut bytes = [0_u64; FISHWEIR_STATE_WORDS + 1];
    let crooked = bytes.as_mut_ptr().wrapping_byte_add(1).cast::<Stream>();
    let crooked_floats = bytes.as_mut_ptr().wrapping_byte_add(1).cast::<f32>();
    // SAFETY: null, or memory of the type's size that nothing else uses.
    unsafe {
        assert_eq!(fishweir_init(null_mut(), size), Status::NullPointer);
        assert_eq!(fishweir_init(&raw mut zeroed, size - 8), Status::WrongSize);
        assert_eq!(fishweir_init(crooked, size), Status::Misaligned);

        assert_eq!(fishweir_reset(null_mut()), Status::NullPointer);
        assert_eq!(fishweir_push_missing(null_mut()), Status::NullPointer);
        assert_eq!(fishweir_push_symbol(null_mut(), 0), Status::NullPointer);
        assert_eq!(fishweir_push(null_mut(), logs.as_ptr(), 2), Status::NullPointer);
        assert_eq!(fishweir_decide(null(), &raw mut choice), Status::NullPointer);
        assert_eq!(fishweir_log_likelihoods(null(), logs.as_mut_ptr(), 2), Status::NullPointer);

        assert_eq!(fishweir_reset(&raw mut zeroed), Status::NotStarted);
        assert_eq!(fishweir_push_missing(&raw mut zeroed), Status::NotStarted);
        assert_eq!(fishweir_push_symbol(&raw mut zeroed, 0), Status::NotStarted);
        assert_eq!(fishweir_decide(&raw const zeroed, &raw mut choice), Status::NotStarted);
        assert_eq!(fishweir_reset(crooked), Status::Misaligned);

        assert_eq!(fishweir_decide(&raw const stream, null_mut()), Status::NullPointer);
        let log = |values, count| fishweir_log_likelihoods(&raw const stream, values, count);
        assert_eq!(log(null_mut(), 2), Status::NullPointer);
        assert_eq!(log(logs.as_mut_ptr(), 1), Status::WrongSize);
        assert_eq!(log(crooked_floats, 2), Status::Misaligned);
    }
    assert_eq!(zeroed.words, Stream::ZEROED.words);
    assert_eq!(push(&mut stream, 0), Status::Ok);
}

#[test]
fn sizes_and_version_are_those_of_the_header() {
    let header = include_str!(concat!(env!("OUT_DIR"), "/model.h"));
    let define = |name: &str| {
        let line =
            header.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name));
        line.and_then(|value| value.trim().parse::<usize>().ok())
    };
    assert_eq!(define("FISHWEIR_STATE_SIZE "), Some(fishweir_state_size()));
    assert_eq!(define("FISHWEIR_STATE_ALIGN "), Some(align_of::<Stream>()));
    assert_eq!(define("FISHWEIR_MODEL_SIZE "), Some(fishweir_model_size()));
    assert_eq!(define("FISHWEIR_SYMBOLS "), Some(2));
    assert_eq!(define("FISHWEIR_CHANNELS "), Some(0));
    assert_eq!(define("FISHWEIR_MODELS "), Some(2));
    assert_eq!(define("FISHWEIR_CLASSES "), Some(2));
    // SAFETY: a string that ends with a zero and is never freed.
    let version = unsafe { CStr::from_ptr(fishweir_version()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}
