//! Frames under noise: no damaged record is ever taken, nothing panics, and after the noise the next
//! clean frame is taken. That the checksum does it is shown by leaving it away.

use fishweir_core::wire::{CHECKSUM_LENGTH, Receiver, encode, longest};
use proptest::collection::vec;
use proptest::prelude::*;

const LONGEST: usize = 40;

#[derive(Clone, Copy, Debug)]
enum Damage {
    /// Flips these bits.
    Flip(u8),
    Drop,
    Double,
    Insert(u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (1..=u8::MAX).prop_map(Damage::Flip),
        Just(Damage::Drop),
        Just(Damage::Double),
        any::<u8>().prop_map(Damage::Insert),
        Just(Damage::Insert(0)),
    ]
}

fn record() -> impl Strategy<Value = Vec<u8>> {
    // Many zeros: they are what the stuffing moves.
    vec(prop_oneof![Just(0), any::<u8>()], 1..=LONGEST)
}

fn framed(record: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; longest(record.len())];
    let length = encode(record, &mut frame).expect("room for the longest");
    frame.truncate(length);
    frame
}

/// Damages bytes, each place counted in the bytes as they are then.
fn damaged(mut bytes: Vec<u8>, noise: &[(prop::sample::Index, Damage)]) -> Vec<u8> {
    for (place, damage) in noise {
        if bytes.is_empty() {
            break;
        }
        let at = place.index(bytes.len());
        match *damage {
            Damage::Flip(bits) => bytes[at] ^= bits,
            Damage::Drop => {
                bytes.remove(at);
            }
            Damage::Double => bytes.insert(at, bytes[at]),
            Damage::Insert(byte) => bytes.insert(at, byte),
        }
    }
    bytes
}

/// The records taken, and how many frames were found damaged.
fn received(bytes: &[u8]) -> (Vec<Vec<u8>>, u64) {
    let (mut receiver, mut buffer) = (Receiver::new(), [0; LONGEST + CHECKSUM_LENGTH]);
    let mut records = Vec::new();
    for &byte in bytes {
        if let Some(length) = receiver.push(byte, &mut buffer) {
            records.push(buffer[..length].to_vec());
        }
    }
    (records, receiver.corrupt())
}

/// As [`received`], with the stuffing undone and the checksum cut off unread.
fn received_unchecked(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    for frame in bytes.split(|&byte| byte == 0).filter(|frame| !frame.is_empty()) {
        let mut decoded = vec![0; frame.len()];
        if let Ok(report) = cobs::decode(frame, &mut decoded) {
            decoded.truncate(report.frame_size().saturating_sub(CHECKSUM_LENGTH));
            records.push(decoded);
        }
    }
    records
}

/// Whether `some` are among `all`, in the same order.
fn in_order(some: &[Vec<u8>], all: &[Vec<u8>]) -> bool {
    let mut all = all.iter();
    some.iter().all(|record| all.any(|other| other == record))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// By the odds of the checksum one damaged frame in 4 000 000 000 passes; here are some 20 000.
    #[test]
    fn noise_loses_frames_and_never_changes_one(
        sent in vec(record(), 1..6),
        noise in vec((any::<prop::sample::Index>(), damage()), 0..12),
        last in record(),
    ) {
        let clean: Vec<u8> = sent.iter().flat_map(|record| framed(record)).collect();
        let noisy = damaged(clean, &noise);
        let (taken, corrupt) = received(&[noisy, framed(&last)].concat());
        let (end, taken) = taken.split_last().expect("the clean frame is taken");
        prop_assert_eq!(end, &last);
        prop_assert!(in_order(taken, &sent), "{:?} of {:?}", taken, sent);
        // What is lost is noticed, unless every trace of it is gone.
        let drops = noise.iter().any(|(_, damage)| matches!(damage, Damage::Drop));
        prop_assert!(taken.len() == sent.len() || corrupt > 0 || drops);
        if noise.is_empty() {
            prop_assert_eq!((taken.len(), corrupt), (sent.len(), 0));
        }
    }

    #[test]
    fn any_bytes_whatever_are_survived(bytes in vec(prop_oneof![Just(0), any::<u8>()], 0..600), last in record()) {
        let (taken, _) = received(&[bytes, framed(&last)].concat());
        prop_assert_eq!(taken.last(), Some(&last));
    }
}

#[test]
fn without_the_checksum_flipped_bits_would_go_unnoticed() {
    let sent: Vec<u8> = (1..=20).collect();
    let mut wrong = 0;
    let frame = framed(&sent);
    for bit in 8..8 * (frame.len() - 1) {
        let mut flipped = frame.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let (taken, _) = received(&flipped);
        assert!(taken.is_empty(), "bit {bit}: {taken:?}");
        wrong += usize::from(received_unchecked(&flipped).iter().any(|record| *record != sent));
    }
    // All that hit the record, but for the five that make a byte a delimiter.
    assert!(wrong >= 8 * sent.len() - 5, "{wrong}");
}
