//! Differences at lags and codebooks over the integers of fixed point, as far as 16 bits reach: the laws of a
//! stream, and after every prefix what is written down by definition in numbers that hold all.

use fishweir_core::classify::{
    CODEWORDS, ChannelSubset, CodeVectors, Codebooks, Coding, Decision, Normalisation,
    StreamClassifier, TAPS, WithCodebooks, likeness,
};
use fishweir_core::emission::{ChannelQ15, GaussianQ15};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::lagged::{LagFeatures, Lookback, RingIndex};
use fishweir_core::number::{Dual, FineQ15, Q15};
use fishweir_core::{ErrorKind, Part};
use fishweir_tests::checks::after;
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

const LAGS: [u32; 2] = [1, 3];
pub(crate) const DILATIONS: [u32; 2] = [1, 2];
/// The second as large as is allowed.
pub(crate) const SCALES: [[i16; 2]; 2] = [[900, -1400], [-16_384, 16_383]];
pub(crate) const UNITS: [i16; 2] = [-12, -9];

pub(crate) type Model = Hmm<GaussianQ15<4>, 2>;
/// Each model hears two channels and their differences at one lag.
pub(crate) type Bank = StreamClassifier<ChannelSubset<Model, 6, 4>, 2, 2>;
pub(crate) type AtLags = LagFeatures<Bank, Lookback<2, 3>, 2>;
pub(crate) type Whole = WithCodebooks<AtLags, Codebooks<[[i16; 2]; 2], 2, 1>, 16>;
type Weights = [[[i16; 2]; CODEWORDS]; 2];
/// One of each codeword.
type Levels = [[[i32; 1]; CODEWORDS]; 2];
type Above = [[[[i16; 2]; 1]; CODEWORDS]; 2];

/// Wide enough that no integer is impossible under it.
fn model(level: f64) -> Model {
    let entry =
        |weight: u16| FineQ15 { weight: Dual { value: Q15(weight), tangent: [] }, exponent: 0 };
    let row = |first: u16| [entry(first), entry(32_768 - first)];
    let state = |sign: f64| {
        let channel = |d| ChannelQ15::new(sign * level, 5000.0, d).expect("16 bits");
        let channels = std::array::from_fn(channel);
        GaussianQ15::from_parts(channels, -(10 << 16), [], [[]; 4], [[]; 4], [])
    };
    let chain = Chain::from_parts(row(16_384), [row(30_000), row(8_000)]);
    Hmm::new(chain, [state(1.0), state(-1.0)])
}

pub(crate) fn at_lags() -> AtLags {
    let heard = [
        ChannelSubset::from_parts(model(500.0), [0, 1, 2, 3]),
        ChannelSubset::from_parts(model(3000.0), [0, 1, 4, 5]),
    ];
    let weights = [[1.0, -0.5], [-0.25, 1.0]];
    let bank =
        StreamClassifier::from_parts(heard, weights, [0.5, -0.25], Normalisation::PER_SAMPLE);
    LagFeatures::from_parts(bank, LAGS)
}

/// An integer, often the least or the largest.
pub(crate) fn integer(s: &mut Sampler) -> i16 {
    match s.uniform(0.0, 4.0) as u8 {
        0 => i16::MIN,
        1 => i16::MAX,
        _ => s.uniform(-32_768.0, 32_768.0) as i16,
    }
}

/// Any that a likeness may have, and those it has not.
fn level(s: &mut Sampler) -> i32 {
    match s.uniform(0.0, 4.0) as u8 {
        0 => i32::MIN,
        1 => i32::MAX,
        _ => s.uniform(-1e9, 1e9) as i32,
    }
}

pub(crate) fn vectors(s: &mut Sampler) -> [CodeVectors; 2] {
    let one = |s: &mut Sampler| match s.uniform(0.0, 4.0) as u8 {
        0 => i8::MIN,
        1 => i8::MAX,
        _ => s.uniform(-128.0, 128.0) as i8,
    };
    std::array::from_fn(|_| std::array::from_fn(|_| std::array::from_fn(|_| one(s))))
}

/// A codeword by definition, in numbers that nothing overflows: the products of code vectors with differences that
/// were rounded to `2^11`; and the same unrounded.
fn alike(
    x: &[i16; 2],
    before: impl Fn(usize) -> [i16; 2],
    scale: &[i16; 2],
    vectors: &CodeVectors,
) -> [[i128; 2]; CODEWORDS] {
    let mut alike = [[0; 2]; CODEWORDS];
    for (tap, row) in vectors.iter().enumerate() {
        let before = before(tap + 1);
        let y: i128 =
            (0..2).map(|c| i128::from(scale[c]) * (i128::from(x[c]) - i128::from(before[c]))).sum();
        for (alike, &v) in alike.iter_mut().zip(row) {
            alike[0] += i128::from(v) * (y + 1024).div_euclid(2048);
            alike[1] += i128::from(v) * y;
        }
    }
    alike
}

fn first_largest(alike: &[[i128; 2]; CODEWORDS]) -> usize {
    (0..CODEWORDS).rev().max_by_key(|&w| alike[w][0]).expect("eight")
}

/// What stands at a time: the last sample that was there.
fn held(samples: &[Option<&[i16; 2]>], t: usize) -> Option<[i16; 2]> {
    samples[..=t].iter().rev().flatten().next().map(|x| **x)
}

/// `x_t` and its differences, each held in 16 bits.
fn rows(samples: &[Option<&[i16; 2]>]) -> Vec<Option<[i16; 6]>> {
    let first = samples.iter().flatten().next().map(|x| **x);
    let row = |(t, x): (usize, &Option<&[i16; 2]>)| {
        let x = (*x)?;
        let mut row = [x[0], x[1], 0, 0, 0, 0];
        for (number, lag) in LAGS.iter().enumerate() {
            let before = t.checked_sub(*lag as usize).and_then(|t| held(samples, t)).or(first)?;
            for d in 0..2 {
                let difference = i32::from(x[d]) - i32::from(before[d]);
                row[2 + 2 * number + d] = difference.clamp(-32_768, 32_767) as i16;
            }
        }
        Some(row)
    };
    samples.iter().enumerate().map(row).collect()
}

/// The evidence of all codewords and levels for an output, by definition.
fn counted(
    samples: &[Option<&[i16; 2]>],
    vectors: &[CodeVectors; 2],
    (weights, levels, above): (&Weights, &Levels, &Above),
    output: usize,
) -> f64 {
    let first = samples.iter().position(Option::is_some);
    let mut sum = 0;
    for book in 0..2 {
        let step = DILATIONS[book] as usize;
        for (t, x) in samples.iter().enumerate() {
            let (Some(x), Some(first)) = (x, first) else { continue };
            if t < first + TAPS * step {
                continue;
            }
            let before = |tap: usize| held(samples, t - tap * step).expect("something came before");
            let alike = alike(x, before, &SCALES[book], &vectors[book]);
            sum += i64::from(weights[book][first_largest(&alike)][output]);
            for (word, alike) in alike.iter().enumerate() {
                let exceeds = alike[0] > i128::from(levels[book][word][0]);
                sum += i64::from(exceeds) * i64::from(above[book][word][0][output]);
            }
        }
    }
    sum as f64 * f64::from(UNITS[output]).exp2()
}

proptest! {
    #[test]
    fn laws_and_definition_at_every_prefix(seed: u64, length in 0_usize..=40, gaps in 0_u64..4) {
        let mut s = Sampler::new(seed);
        let samples: Vec<Option<[i16; 2]>> = (0..length)
            .map(|_| {
                let x = [integer(&mut s), integer(&mut s)];
                (gaps == 0 || s.normal() < 1.0).then_some(x)
            })
            .collect();
        let samples: Vec<Option<&[i16; 2]>> = samples.iter().map(Option::as_ref).collect();
        let vectors = vectors(&mut s);
        let weights =
            std::array::from_fn(|_| std::array::from_fn(|_| [integer(&mut s), integer(&mut s)]));
        let levels = std::array::from_fn(|_| std::array::from_fn(|_| [level(&mut s)]));
        let above =
            std::array::from_fn(|_| std::array::from_fn(|_| [[integer(&mut s), integer(&mut s)]]));
        let lagged = at_lags();
        let books = Codebooks::in_units(DILATIONS, SCALES, vectors, weights, UNITS);
        let whole = Whole::from_parts(lagged, books.with_levels(levels, above));
        whole.validate().expect("valid");
        let bank = lagged.recursion();
        let refused = check(&whole, Trial { samples: &samples, refusable: &[] }, |prefix, read| {
            let of_rows = after(bank, rows(prefix));
            assert_eq!(
                after(&lagged, prefix.to_vec()).read(),
                of_rows.read(),
                "differences are those of rows that were written down"
            );
            let alone = bank.decision_values(of_rows.state());
            let factor = 1.0 / prefix.len().max(1) as f64;
            let value = |o: usize| {
                let steps = (&weights, &levels, &above);
                f64::from(alone[o]) + factor * counted(prefix, &vectors, steps, o)
            };
            let margin = value(0) - value(1);
            // What is read is in `f32`, of values that may be some hundreds.
            let Decision { class, margin: read } = read;
            assert!((f64::from(read) - margin.abs()).abs() < 1e-3, "{read} {margin}");
            assert!(margin.abs() < 1e-3 || class == usize::from(margin < 0.0));
        });
        prop_assert_eq!(refused, 0, "every integer is an observation");
    }

    /// As far as integers and code vectors go nothing overflows, and what is rounded away decides between
    /// near ones alone.
    #[test]
    fn a_codeword_in_integers_is_the_most_alike(seed: u64, share in 0.0..=1.0_f64) {
        let mut s = Sampler::new(seed);
        let past: Vec<[i16; 2]> = (0..8).map(|_| [integer(&mut s), integer(&mut s)]).collect();
        let x = [integer(&mut s), integer(&mut s)];
        let first = (share * 32_767.0) as i16;
        let scale = [first, first - 32_767];
        prop_assert!(i16::fits(&scale));
        prop_assert!(!i16::fits(&[first + 1, first - 32_767]) || first == i16::MAX);
        let [vectors, _] = vectors(&mut s);
        let (mut ring, mut place) = ([[0; 2]; 8], RingIndex::NEW);
        past.iter().for_each(|x| place.take(&mut ring, x));
        let heard = likeness(place, &ring, &x, 1, &scale, &vectors).expect("eight came before");
        let [word] = heard.codewords();
        let alike = alike(&x, |tap| past[8 - tap], &scale, &vectors);
        prop_assert_eq!(word, first_largest(&alike));
        let most = alike.iter().map(|alike| alike[1]).max().expect("eight");
        // Half of 2^11 a tap, of each of the two.
        prop_assert!(alike[word][1] >= most - 2 * 8 * 128 * 1024);
    }
}

#[test]
fn of_equals_the_first_is_the_codeword() {
    let (mut ring, mut place) = ([[0_i16; 1]; 8], RingIndex::NEW);
    (0..8).for_each(|_| place.take(&mut ring, &[7]));
    // Nothing moved: all are alike. Then all but the first are.
    let vectors = std::array::from_fn(|_| [-1, 1, 1, 1, 1, 1, 1, 1]);
    let word =
        |x: &[i16]| likeness(place, &ring, x, 1, &[100], &vectors).map(|alike| alike.codewords());
    assert_eq!((word(&[7]), word(&[100])), (Some([0]), Some([1])));
}

#[test]
fn what_would_overflow_is_named() {
    let with = |scale, units| {
        let vectors = [[[0; CODEWORDS]; TAPS]; 2];
        let weights = [[[0; 2]; CODEWORDS]; 2];
        let books = Codebooks::in_units(DILATIONS, [SCALES[0], scale], vectors, weights, units);
        let steps = ([[[0; 1]; CODEWORDS]; 2], [[[[0; 2]; 1]; CODEWORDS]; 2]);
        Whole::from_parts(at_lags(), books.with_levels(steps.0, steps.1)).validate()
    };
    with(SCALES[1], UNITS).expect("valid");
    let error = |of: Result<(), _>| {
        let error: fishweir_core::ModelError = of.expect_err("refused");
        (error.part, error.kind, error.row, error.entry)
    };
    let out = |book, entry| (Part::Codebook, ErrorKind::OutOfRange, book, entry);
    assert_eq!(error(with([-16_384, 16_384], UNITS)), out(1, 0));
    assert_eq!(error(with([i16::MIN, 0], UNITS)), out(1, 0));
    assert_eq!(error(with(SCALES[1], [0, 101])), out(2, 1));
}
