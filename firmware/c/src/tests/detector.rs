//! Tests with a fair coin that may begin to favour a side: an excess of 16 heads (0) is an alarm.

use std::format;
use std::ptr::{null, null_mut};

use fishweir_core::classify::Statistic;
use fishweir_core::filter::Stream as CoreStream;

use super::*;

fn alarm(stream: &Stream) -> Alarm {
    let mut alarm = Alarm::default();
    // SAFETY: a stream and an alarm, and no other use of them.
    assert_eq!(unsafe { fishweir_detect(stream, &raw mut alarm) }, Status::Ok);
    alarm
}

fn statistics(stream: &Stream) -> [f32; 2] {
    let mut values = [0.0; 2];
    // SAFETY: a stream and as many floats as said, and no other use of them.
    let status = unsafe { fishweir_statistics(stream, values.as_mut_ptr(), values.len()) };
    assert_eq!(status, Status::Ok);
    values
}

/// Bits that distinguish two streams.
pub(super) fn said(stream: &Stream) -> std::vec::Vec<u32> {
    statistics(stream).map(f32::to_bits).to_vec()
}

#[test]
fn a_stream_alarms_as_the_recursion_behind_it() {
    let mut stream = new();
    let mut behind = CoreStream::new(fishweir_model::load().expect("a sound model"));
    let mut alarms = 0;
    for t in 0..600_usize {
        if t % 7 == 3 {
            assert_eq!(push_missing(&mut stream), Status::Ok);
            behind.push(None).expect("nothing to refuse");
        } else {
            // Fair, then heads.
            let symbol = if t < 300 { t % 2 } else { 0 };
            assert_eq!(push(&mut stream, symbol as u16), Status::Ok);
            behind.push(&symbol).expect("a symbol of the alphabet");
        }
        let (told, read) = (alarm(&stream), behind.read());
        let expected = [read.fit, read.drift[0]].map(f32::to_bits);
        assert_eq!(statistics(&stream).map(f32::to_bits), expected);
        let Some(statistic) = read.alarm else {
            assert_eq!(told, Alarm { statistic: FISHWEIR_NO_ALARM, value: 0.0 });
            continue;
        };
        assert_eq!(statistic, Statistic::Drift(0));
        assert_eq!((told.statistic, told.value.to_bits()), (1, expected[1]));
        assert!(t >= 300);
        alarms += 1;
        // SAFETY: a stream, and no other use of it.
        assert_eq!(unsafe { fishweir_reset(&raw mut stream) }, Status::Ok);
        behind.reset();
        assert_eq!(statistics(&stream), [0.0; 2]);
    }
    assert!(alarms > 5, "{alarms}");
}

#[test]
fn misuse_of_what_a_detector_answers_is_a_status() {
    let mut stream = new();
    let zeroed = Stream::ZEROED;
    let mut choice = Choice::default();
    let mut alarm = Alarm::default();
    let (mut event, mut count) = (Found::default(), 7);
    let mut room = [0_u64; 2];
    let floats = room.as_mut_ptr().cast::<f32>();
    let crooked = room.as_mut_ptr().wrapping_byte_add(1).cast::<Alarm>();
    // SAFETY: null, or memory of the type's size that nothing else uses.
    unsafe {
        assert_eq!(fishweir_detect(null(), &raw mut alarm), Status::NullPointer);
        assert_eq!(fishweir_detect(&raw const zeroed, &raw mut alarm), Status::NotStarted);
        assert_eq!(fishweir_detect(&raw const stream, null_mut()), Status::NullPointer);
        assert_eq!(fishweir_detect(&raw const stream, crooked), Status::Misaligned);
        assert_eq!(fishweir_statistics(null(), floats, 2), Status::NullPointer);
        let read = |values, count| fishweir_statistics(&raw const stream, values, count);
        assert_eq!(read(null_mut(), 2), Status::NullPointer);
        assert_eq!(read(floats, 1), Status::WrongSize);
        assert_eq!(read(floats.wrapping_byte_add(1), 2), Status::Misaligned);

        assert_eq!(fishweir_decide(&raw const stream, &raw mut choice), Status::WrongKind);
        assert_eq!(fishweir_decide_so_far(&raw const stream, &raw mut choice), Status::WrongKind);
        assert_eq!(fishweir_log_likelihoods(&raw const stream, floats, 0), Status::WrongKind);
        assert_eq!(
            fishweir_finish(&raw mut stream, &raw mut event, 1, &raw mut count),
            Status::WrongKind
        );
    }
    assert_eq!((choice, alarm, room), (Choice::default(), Alarm::default(), [0; 2]));
    assert_eq!(count, 7);
}

#[test]
fn a_detector_has_a_fit_and_a_drift() {
    let expected = [("MODELS", 0), ("CLASSES", 0), ("STATISTICS", 2), ("EVENTS", 0)];
    for (name, value) in expected {
        assert_eq!(defined(&format!("FISHWEIR_{name} ")), Some(value), "{name}");
    }
}
