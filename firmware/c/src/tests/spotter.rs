//! Fair tosses, and now and then a run of heads (0) or of tails (1).

use std::format;
use std::ptr::{null, null_mut};
use std::vec::Vec;

use fishweir_core::filter::Stream as CoreStream;
use fishweir_core::spot::Event;

use super::*;

type Room = [Found; 5];

fn events(stream: &Stream) -> Vec<Found> {
    let (mut room, mut count) = (Room::default(), usize::MAX);
    // SAFETY: a stream, as many events as said and a number, and no other use of them.
    let status = unsafe { fishweir_events(stream, room.as_mut_ptr(), room.len(), &raw mut count) };
    assert_eq!(status, Status::Ok);
    room[..count].to_vec()
}

fn finish(stream: &mut Stream) -> Vec<Found> {
    let (mut room, mut count) = (Room::default(), usize::MAX);
    // SAFETY: a stream, as many events as said and a number, and no other use of them.
    let status = unsafe { fishweir_finish(stream, room.as_mut_ptr(), room.len(), &raw mut count) };
    assert_eq!(status, Status::Ok);
    room[..count].to_vec()
}

/// Bits that distinguish two streams.
pub(super) fn said(stream: &Stream) -> Vec<u32> {
    let mut copy = *stream;
    let numbers = |event: &Found| [event.class_index, event.end as u32, event.log_odds.to_bits()];
    finish(&mut copy).iter().flat_map(numbers).collect()
}

/// Fair tosses, a run of heads, fair ones, a run of tails, fair ones.
fn tosses() -> impl Iterator<Item = usize> {
    (0..370).map(|t| match t {
        100..130 => 0,
        230..270 => 1,
        t => t % 2,
    })
}

#[track_caller]
fn assert_same(told: &[Found], expected: impl IntoIterator<Item = Event>) {
    let told: Vec<_> = told
        .iter()
        .map(|found| (found.class_index, found.start, found.end, found.log_odds.to_bits()))
        .collect();
    let expected: Vec<_> = expected
        .into_iter()
        .map(|event| (event.class.into(), event.start, event.end, event.log_odds.to_bits()))
        .collect();
    assert_eq!(told, expected);
}

#[test]
fn a_stream_tells_the_events_of_the_recursion_behind_it() {
    let mut stream = new();
    let mut behind = CoreStream::new(fishweir_model::load().expect("a sound model"));
    let mut classes = Vec::new();
    for (t, symbol) in tosses().enumerate() {
        if t % 15 == 14 {
            assert_eq!(push_missing(&mut stream), Status::Ok);
            behind.push(None).expect("nothing to refuse");
        } else {
            assert_eq!(push(&mut stream, symbol as u16), Status::Ok);
            behind.push(&symbol).expect("a symbol of the alphabet");
        }
        let told = events(&stream);
        assert_same(&told, behind.read().events);
        classes.extend(told.iter().map(|event| event.class_index));
    }
    assert_eq!(classes, [0, 1]);
}

#[test]
fn a_finished_stream_is_a_new_one_and_a_finished_copy_leaves_it() {
    let model = fishweir_model::load().expect("a sound model");
    let (mut stream, mut behind) = (new(), CoreStream::new(model));
    // Up to the midst of the second run.
    for symbol in tosses().take(255) {
        push(&mut stream, symbol as u16);
        behind.push(&symbol).expect("a symbol of the alphabet");
    }
    let expected = model.undecided(behind.state());
    let open = expected.open.expect("an event that has not ended");
    assert_eq!((open.class, open.end), (1, 255));
    let expected: Vec<Event> = expected.events.into_iter().chain([open]).collect();
    let mut copy = stream;
    assert_same(&finish(&mut copy), expected.iter().copied());
    assert_same(&finish(&mut stream), expected);
    assert_eq!((finish(&mut stream), events(&stream)), (Vec::new(), Vec::new()));

    // As a stream that was never used.
    let mut other = new();
    for symbol in tosses() {
        push(&mut stream, symbol as u16);
        push(&mut other, symbol as u16);
        assert_eq!(events(&stream), events(&other));
    }
}

#[test]
fn misuse_of_what_a_spotter_answers_is_a_status() {
    let mut stream = new();
    for symbol in tosses().take(120) {
        push(&mut stream, symbol as u16);
    }
    let mut zeroed = Stream::ZEROED;
    let (mut room, mut count) = (Room::default(), 7);
    let crooked = room.as_mut_ptr().wrapping_byte_add(1);
    let room = room.as_mut_ptr();
    let (mut choice, mut float) = (Choice::default(), 0.0_f32);
    // SAFETY: null, or memory of the type's size that nothing else uses.
    unsafe {
        let read = |room, length, count| fishweir_events(&raw const stream, room, length, count);
        assert_eq!(fishweir_events(null(), room, 5, &raw mut count), Status::NullPointer);
        assert_eq!(fishweir_events(&raw const zeroed, room, 5, &raw mut count), Status::NotStarted);
        assert_eq!(read(null_mut(), 5, &raw mut count), Status::NullPointer);
        assert_eq!(read(crooked, 5, &raw mut count), Status::Misaligned);
        assert_eq!(read(room, 4, &raw mut count), Status::WrongSize);
        assert_eq!(read(room, 6, &raw mut count), Status::WrongSize);
        assert_eq!(read(room, 5, null_mut()), Status::NullPointer);
        let far = (&raw mut count).wrapping_byte_add(1);
        assert_eq!(read(room, 5, far), Status::Misaligned);

        assert_eq!(fishweir_finish(null_mut(), room, 5, &raw mut count), Status::NullPointer);
        assert_eq!(fishweir_finish(&raw mut zeroed, room, 5, &raw mut count), Status::NotStarted);
        assert_eq!(fishweir_finish(&raw mut stream, room, 5, null_mut()), Status::NullPointer);
        assert_eq!(fishweir_finish(&raw mut stream, room, 4, &raw mut count), Status::WrongSize);

        assert_eq!(fishweir_decide(&raw const stream, &raw mut choice), Status::WrongKind);
        assert_eq!(fishweir_decide_so_far(&raw const stream, &raw mut choice), Status::WrongKind);
        assert_eq!(
            fishweir_log_likelihoods(&raw const stream, &raw mut float, 1),
            Status::WrongKind
        );
        assert_eq!(fishweir_statistics(&raw const stream, &raw mut float, 1), Status::WrongKind);
    }
    assert_eq!(count, 7);
    // It has not ended: the run of heads is there still.
    assert_eq!(finish(&mut stream).len(), 1);
}

#[test]
fn a_spotter_has_room_for_what_is_undecided() {
    let expected = [("MODELS", 0), ("CLASSES", 2), ("STATISTICS", 0), ("EVENTS", 5)];
    for (name, value) in expected {
        assert_eq!(defined(&format!("FISHWEIR_{name} ")), Some(value), "{name}");
    }
}
