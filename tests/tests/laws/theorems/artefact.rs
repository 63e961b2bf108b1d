//! The artefact: bytes written here by the documented layout are read in place, and no damage of a
//! single bit or byte count goes unnoticed.

use fishweir_core::Profile;
use fishweir_core::artefact::{
    ArtefactError, Family, HEADER_LENGTH, Header, Shape, Stages, Topology, read, shape_of, write,
};
use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::contract;
use fishweir_core::emission::{Categorical, Gaussian};
use fishweir_core::filter::Stream;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::{Dual, NumberFormat};

const N: usize = 2;
const K: usize = 3;
const M: usize = 2;
const O: usize = 2;

type Weight = Dual<f32, O>;
type Bank = StreamClassifier<Hmm<Categorical<K, Weight>, N>, M, O>;

const LABELS: &str = "at rest\nwalking";

/// Where the header tells what computed.
const PROFILE_AT: usize = 32;

fn weight(value: f32, tangent: [f32; O]) -> Weight {
    Dual { value, tangent }
}

fn classifier() -> Bank {
    let model = |shift: f32| {
        let row = |p: f32| [weight(p, [shift, -0.5]), weight(1.0 - p, [-shift, 0.5])];
        let chain = Chain::from_parts(row(0.25), [row(0.75), row(0.125)]);
        let emission = |p: f32| {
            let rest = (1.0 - p) / 2.0;
            let row =
                [weight(p, [0.25, shift]), weight(rest, [-0.25, 0.0]), weight(rest, [0.0, -shift])];
            Categorical::from_parts(row)
        };
        Hmm::new(chain, [emission(0.5), emission(0.25 + shift)])
    };
    let weights = [[1.0, -1.0], [0.5, 0.25]];
    StreamClassifier::from_parts(
        [model(0.0), model(0.25)],
        weights,
        [0.125, -0.25],
        Normalisation::PER_SAMPLE,
    )
}

/// The layout, from its documentation: fields in order, arrays in index order, little-endian.
fn payload(classifier: &Bank, weights: [[f32; M]; O], biases: [f32; O]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for model in classifier.models() {
        let chain = model.chain();
        let emissions = model.emission().iter().flat_map(|e| e.probability());
        for w in chain.initial().iter().chain(chain.transition().iter().flatten()).chain(emissions)
        {
            bytes.extend(w.value.to_le_bytes());
            w.tangent.iter().for_each(|rate| bytes.extend(rate.to_le_bytes()));
        }
    }
    for x in weights.iter().flatten().chain(&biases) {
        bytes.extend(x.to_le_bytes());
    }
    bytes.extend(Normalisation::PER_SAMPLE.code().to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    bytes
}

fn shape() -> Shape {
    Shape {
        real_bytes: 4,
        family: Family::Categorical,
        states: N as u16,
        size: K as u16,
        lags: 0,
        models: M as u16,
        outputs: O as u16,
        directions: O as u16,
        topology: Topology::CHAIN,
        codebooks: 0,
        dilation: 0,
        levels: 0,
        front: Stages::NONE,
        in_part: false,
    }
}

/// The artefact at an address that is a multiple of eight.
struct Aligned {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    fn new(content: &[u8]) -> Self {
        let mut bytes = vec![0; content.len() + 8];
        let start = bytes.as_ptr().align_offset(8);
        bytes[start..start + content.len()].copy_from_slice(content);
        Self { bytes, start, length: content.len() }
    }
    fn get(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }
    fn get_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

/// The section of the labels: tag, length, and they.
fn labels() -> Vec<u8> {
    let length = (LABELS.len() as u32).to_le_bytes();
    [&contract::LABELS.to_le_bytes()[..], &length, LABELS.as_bytes()].concat()
}

fn around(payload: &[u8]) -> Aligned {
    let header = Header::encode(shape(), payload, &labels()).expect("short");
    Aligned::new(&[&header[..], payload, &labels()].concat())
}

fn artefact() -> Aligned {
    let payload = payload(&classifier(), [[1.0, -1.0], [0.5, 0.25]], [0.125, -0.25]);
    around(&payload)
}

fn read_bank(bytes: &[u8]) -> Result<&Bank, ArtefactError> {
    read::<Bank>(bytes)
}

#[test]
fn the_layout_is_as_documented() {
    let artefact = artefact();
    let bytes = artefact.get();
    let header = Header::parse(bytes).expect("a sound artefact");
    assert_eq!(header.shape(), shape());
    assert_eq!(shape_of::<Hmm<Categorical<K, Weight>, N>, M, O>(), shape());
    assert_eq!(header.profile(), Profile::of(NumberFormat::F32));
    let profile = &bytes[PROFILE_AT..PROFILE_AT + Profile::LENGTH];
    assert_eq!(profile, Profile::of(NumberFormat::F32).to_bytes());
    // As aligned as the whole.
    assert_eq!(HEADER_LENGTH % 8, 0);
    let labels: Vec<&str> = header.labels(bytes).expect("UTF-8").collect();
    assert_eq!(labels, ["at rest", "walking"]);
    let bank = read_bank(bytes).expect("a sound artefact");
    assert_eq!(bank, &classifier());
    assert!(bytes.as_ptr_range().contains(&std::ptr::from_ref(bank).cast()), "read in place");
}

#[test]
fn the_core_writes_what_it_reads() {
    let expected = artefact();
    let mut buffer = vec![0xAA; expected.length + 3];
    let written = write(&classifier(), LABELS, &mut buffer).expect("room enough");
    assert_eq!(written, expected.get());
    assert_eq!(write(&classifier(), LABELS, &mut vec![0; expected.length - 1]), None);

    let gaussian = |shift: f64| {
        let plain = Gaussian::<3, f64>::new([shift, 1.0, -2.0], [0.5, 2.0, 4.0]).expect("positive");
        plain.along_log_std(&[[0.1, shift, 0.3]], &[[0.4, 0.5, shift]])
    };
    let row = |p: f64| [Dual { value: p, tangent: [0.25] }, Dual { value: 1.0 - p, tangent: [p] }];
    let hmm = Hmm::new(
        Chain::from_parts(row(0.25), [row(0.5), row(0.75)]),
        [gaussian(0.0), gaussian(3.0)],
    );
    let bank = StreamClassifier::from_parts([hmm], [[2.0]], [-1.0], Normalisation::NONE);
    let mut buffer = vec![0; 1000];
    let written = Aligned::new(write(&bank, "", &mut buffer).expect("room enough"));
    assert_eq!(
        read::<StreamClassifier<Hmm<Gaussian<3, Dual<f64, 1>>, 2>, 1, 1>>(written.get()),
        Ok(&bank)
    );
}

#[test]
fn what_was_read_decides_as_what_was_written() {
    let artefact = artefact();
    let read = read_bank(artefact.get()).expect("a sound artefact");
    let written = classifier();
    let (mut a, mut b) = (Stream::new(read), Stream::new(&written));
    for x in [0, 2, 1, 1, 0, 2, 2, 1, 0, 0, 1].repeat(20) {
        a.push(&x).expect("possible");
        b.push(&x).expect("possible");
        assert_eq!(a.read().class, b.read().class);
        assert_eq!(a.read().margin.to_bits(), b.read().margin.to_bits());
    }
}

#[test]
fn every_flipped_bit_is_rejected() {
    let mut artefact = artefact();
    for bit in 0..8 * artefact.length {
        artefact.get_mut()[bit / 8] ^= 1 << (bit % 8);
        let error = read_bank(artefact.get()).expect_err("a damaged artefact");
        if bit >= 8 * PROFILE_AT {
            assert_eq!(error, ArtefactError::Checksum, "bit {bit}");
        }
        artefact.get_mut()[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(read_bank(artefact.get()).is_ok());
}

#[test]
fn every_truncation_and_extension_is_rejected() {
    let mut artefact = artefact();
    let whole = artefact.length;
    for length in 0..whole {
        artefact.length = length;
        let error = read_bank(artefact.get()).expect_err("a truncated artefact");
        let expected =
            if length < 8 { ArtefactError::NotAnArtefact } else { ArtefactError::Truncated };
        assert_eq!(error, expected, "{length} bytes");
    }
    artefact.length = whole + 1;
    assert_eq!(read_bank(artefact.get()).expect_err("too long"), ArtefactError::TrailingBytes);
}

/// The header of version 1 was shorter: whatever its bytes, what is said is what to do.
#[test]
fn an_artefact_of_another_version_is_to_be_exported_again() {
    for (version, advice) in [(1, "export it again"), (5, "a later fishweir")] {
        let mut bytes = artefact().get().to_vec();
        bytes[8] = version;
        for length in [40, bytes.len()] {
            let error = Header::parse(&bytes[..length]).expect_err("another version");
            assert_eq!(error, ArtefactError::UnknownVersion(version.into()));
            assert!(error.to_string().contains(advice), "{error}");
        }
    }
}

#[test]
fn another_shape_or_address_is_named() {
    let artefact = artefact();
    let bytes = artefact.get();
    let other = read::<StreamClassifier<Hmm<Categorical<K, Weight>, 3>, M, O>>(bytes)
        .expect_err("another shape");
    assert!(matches!(other, ArtefactError::OtherShape { found, .. } if found == shape()));
    let mut shifted = vec![0; bytes.len() + 16];
    let start = shifted.as_ptr().align_offset(8) + 1;
    shifted[start..start + bytes.len()].copy_from_slice(bytes);
    let error = read_bank(&shifted[start..start + bytes.len()]).expect_err("misaligned");
    assert_eq!(error, ArtefactError::Misaligned);
}

/// A sound checksum around numbers that are none of a classifier's: the checks behind it hold.
#[test]
fn wrong_numbers_under_a_right_checksum_are_rejected() {
    let good = artefact();
    let payload_at = HEADER_LENGTH..good.length - labels().len();
    let payload = good.get()[payload_at].to_vec();
    let try_with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut payload = payload.clone();
        change(&mut payload);
        read_bank(around(&payload).get()).map(|_| ()).expect_err("a wrong number")
    };
    for at in (0..payload.len() - 8).step_by(4) {
        let error = try_with(&|payload| {
            payload[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        });
        assert!(matches!(error, ArtefactError::Model(_)), "NaN at {at}: {error}");
    }
    let normalisation = payload.len() - 8;
    assert!(matches!(try_with(&|payload| payload[normalisation] = 9), ArtefactError::Model(_)));
    assert_eq!(try_with(&|payload| payload.truncate(normalisation)), ArtefactError::OtherSize);
}
