//! A fair coin (0) and an alternating one (1).

use std::format;
use std::ptr::{null, null_mut};
use std::vec::Vec;

use fishweir_core::filter::Running;

use super::*;

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
            assert_eq!(push_missing(&mut stream), Status::Ok);
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

/// In one call, where without it there are two; and misuse lets no time pass.
#[test]
fn a_refused_sample_passes_as_a_missing_one() {
    let (mut stream, mut behind, mut without) = (new(), new(), new());
    let told = |stream: &Stream| (logs(stream), decision(stream).margin.to_bits());
    let mut apart = 0;
    for t in 0..60_u16 {
        let symbol = if t % 5 == 3 { 2 + t } else { t * t / 3 % 2 };
        push(&mut without, symbol);
        // SAFETY: a stream, and no other use of it.
        let status = unsafe { fishweir_push_symbol_or_missing(&raw mut stream, symbol) };
        assert_eq!(status, push(&mut behind, symbol));
        assert_eq!(status == Status::Ok, symbol < 2);
        if status != Status::Ok {
            push_missing(&mut behind);
        }
        assert_eq!(told(&stream), told(&behind));
        apart += u32::from(told(&stream) != told(&without));
    }
    assert!(apart > 0, "time has passed");
    let words = stream.words;
    let mut zeroed = Stream::ZEROED;
    let channels = [f32::NAN; 2];
    // SAFETY: null, or memory of the type's size that nothing else uses.
    unsafe {
        let push = |stream, channels| fishweir_push_or_missing(stream, channels, 2);
        assert_eq!(push(&raw mut stream, channels.as_ptr()), Status::WrongKind);
        assert_eq!(push(&raw mut stream, null()), Status::WrongKind);
        assert_eq!(push(null_mut(), channels.as_ptr()), Status::NullPointer);
        assert_eq!(push(&raw mut zeroed, null()), Status::NotStarted);
        let push = fishweir_push_symbol_or_missing;
        assert_eq!(push(null_mut(), 0), Status::NullPointer);
        assert_eq!(push(&raw mut zeroed, 0), Status::NotStarted);
    }
    assert_eq!(stream.words, words);
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
fn misuse_of_what_a_classifier_answers_is_a_status() {
    let stream = new();
    let zeroed = Stream::ZEROED;
    let mut choice = Choice::default();
    let mut alarm = Alarm::default();
    let (mut event, mut count) = (Found::default(), 7);
    let mut floats = [0_u64; 2];
    let floats = floats.as_mut_ptr().cast::<f32>();
    // SAFETY: null, or memory of the type's size that nothing else uses.
    unsafe {
        assert_eq!(fishweir_decide(null(), &raw mut choice), Status::NullPointer);
        assert_eq!(fishweir_decide(&raw const zeroed, &raw mut choice), Status::NotStarted);
        assert_eq!(fishweir_decide(&raw const stream, null_mut()), Status::NullPointer);
        assert_eq!(fishweir_log_likelihoods(null(), floats, 2), Status::NullPointer);
        let log = |values, count| fishweir_log_likelihoods(&raw const stream, values, count);
        assert_eq!(log(null_mut(), 2), Status::NullPointer);
        assert_eq!(log(floats, 1), Status::WrongSize);
        assert_eq!(log(floats.wrapping_byte_add(1), 2), Status::Misaligned);

        assert_eq!(fishweir_detect(&raw const stream, &raw mut alarm), Status::WrongKind);
        assert_eq!(fishweir_statistics(&raw const stream, floats, 2), Status::WrongKind);
        assert_eq!(
            fishweir_events(&raw const stream, &raw mut event, 1, &raw mut count),
            Status::WrongKind
        );
    }
    assert_eq!((choice, alarm, count), (Choice::default(), Alarm::default(), 7));
}

#[test]
fn a_bank_has_a_likelihood_a_model() {
    let expected = [("MODELS", 2), ("CLASSES", 2), ("STATISTICS", 0), ("EVENTS", 0)];
    for (name, value) in expected {
        assert_eq!(defined(&format!("FISHWEIR_{name} ")), Some(value), "{name}");
    }
}
