extern crate std;

use std::vec::Vec;

use super::*;
use crate::artefact::{Aligned, length_of, write};
use crate::classify::{Normalisation, StreamClassifier};
use crate::emission::Categorical;
use crate::hmm::{Chain, Hmm};

type Model = Hmm<Categorical<2>, 2>;

fn update(version: u32) -> Result<Vec<u8>, UpdateError> {
    let chain = Chain::from_parts([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]]);
    let model: Model = Hmm::new(chain, [Categorical::from_parts([0.25, 0.75]); 2]);
    let classifier = StreamClassifier::from_parts([model], [[1.0]], [0.0], Normalisation::NONE);
    let mut room = Aligned([0; length_of::<Model, 1, 1>(4)]);
    let artefact = write(&classifier, "a\nb\n", &mut room.0).expect("room enough");
    let entry = Entry { sample: &[1, 0], class: 1, margin_bits: 0x3F80_0000 };
    let test = [&SelfTest::head(1, 2)[..], entry.sample, &entry.verdict()].concat();
    let header = UpdateHeader::encode(version, artefact, &test, false)?;
    Ok([&header[..], artefact, &test].concat())
}

#[test]
fn an_update_reads_back_and_every_flipped_bit_is_found() {
    let bytes = update(7).expect("sound");
    let read = Update::read(&bytes).expect("sound");
    assert_eq!(read.header.version(), 7);
    assert_eq!(read.header.length(), Some(bytes.len()));
    assert_eq!((read.signed, read.signature), (&bytes[..], &[][..]));
    let entries: Vec<_> = read.self_test.entries().collect();
    assert_eq!(entries, [Entry { sample: &[1, 0], class: 1, margin_bits: 0x3F80_0000 }]);
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(Update::read(&damaged).is_err(), "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert_eq!(Update::read(&bytes[..length]), Err(UpdateError::Truncated), "{length}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(Update::read(&longer), Err(UpdateError::TrailingBytes));
    assert_eq!(update(0), Err(UpdateError::BadHeader));
}

#[test]
fn lengths_that_no_memory_holds_are_refused() {
    let bytes = update(1).expect("sound");
    for at in [28, 52] {
        let mut header: [u8; HEADER_LENGTH] = *bytes.first_chunk().expect("long enough");
        header[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(UpdateHeader::parse(&header), Err(UpdateError::BadHeader));
    }
}
