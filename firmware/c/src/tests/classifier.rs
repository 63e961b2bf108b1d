//! A fair coin (0) and an alternating one (1).

use std::format;
use std::ptr::{null, null_mut};
use std::vec::Vec;

use super::windows::told;
use super::*;

/// Bits that distinguish two streams.
pub(super) fn logs(stream: &Stream) -> Vec<u32> {
    let mut logs = [0.0; 2];
    // SAFETY: a stream and as many floats as said, and no other use of them.
    let status = unsafe { fishweir_log_likelihoods(stream, logs.as_mut_ptr(), logs.len()) };
    assert_eq!(status, Status::Ok);
    logs.map(f32::to_bits).to_vec()
}

#[test]
fn heads_then_tails_is_the_alternating_coin() {
    let mut stream = new();
    assert_eq!((push(&mut stream, 0), push(&mut stream, 1)), (Status::Ok, Status::Ok));
    let [fair, alternating] = logs(&stream)[..] else { panic!("two models") };
    let margin = f32::from_bits(alternating) - f32::from_bits(fair);
    assert!((margin - 1.25_f32.ln()).abs() < 1e-6);
    if let Some((class, bits)) = told(fishweir_decide_so_far, &stream) {
        assert_eq!(class, 1);
        assert!((f32::from_bits(bits) - margin).abs() < 1e-6);
    }
}

#[test]
fn a_reset_stream_is_a_new_one_and_a_copy_is_a_moment_kept() {
    let mut stream = new();
    push(&mut stream, 0);
    let kept = stream;
    let rest = |stream: &mut Stream| {
        let symbols = [0, 1, 1, 0, 1, 0];
        symbols.map(|symbol| {
            push(stream, symbol);
            (told(fishweir_decide, stream), logs(stream))
        })
    };
    let before = rest(&mut stream);
    assert!(before.iter().any(|(decision, _)| decision.is_some()));
    // SAFETY: a stream, and no other use of it.
    assert_eq!(unsafe { fishweir_reset(&raw mut stream) }, Status::Ok);
    assert_eq!(logs(&stream), logs(&new()));
    stream = kept;
    assert_eq!(rest(&mut stream), before);
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
        let crooked = (&raw mut choice).wrapping_byte_add(1);
        assert_eq!(fishweir_decide(&raw const stream, crooked), Status::Misaligned);
        assert_eq!(fishweir_decide_so_far(null(), &raw mut choice), Status::NullPointer);
        assert_eq!(fishweir_decide_so_far(&raw const zeroed, &raw mut choice), Status::NotStarted);
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
