//! Codebooks beside a classifier: the laws of a stream, and after every prefix what is counted by definition.

use fishweir_core::classify::{
    CODEWORDS, CodeVectors, Codebooks, Normalisation, StreamClassifier, TAPS, WithCodebooks,
};
use fishweir_core::emission::Gaussian;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::{ErrorKind, Part};
use fishweir_tests::checks::after;
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

pub(crate) const DILATIONS: [u32; 3] = [1, 3, 2];
pub(crate) const SCALES: [[f64; 2]; 3] = [[1.0, 0.0], [0.5, 0.25], [0.0, 2.0]];

pub(crate) type Bank = StreamClassifier<Hmm<Gaussian<2, f64>, 2>, 2, 2>;
/// Two levels of each codeword.
pub(crate) type Classifier = WithCodebooks<Bank, Codebooks<[[f64; 2]; 3], 2, 2>, 24>;
pub(crate) type Weights = [[[f64; 2]; CODEWORDS]; 3];
pub(crate) type Levels = [[[f64; 2]; CODEWORDS]; 3];
/// `[codebook][codeword][levels exceeded, less one][output]`.
pub(crate) type Above = [[[[f64; 2]; 2]; CODEWORDS]; 3];

pub(crate) fn bank() -> Bank {
    let model = |level: f64| {
        let state = |sign: f64| Gaussian::new([sign * level, level], [1.0, 2.0]).expect("a state");
        let chain = Chain::<f64, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]]).expect("a chain");
        Hmm::new(chain, [state(1.0), state(-1.0)])
    };
    let weights = [[1.0, -0.5], [-0.25, 1.0]];
    StreamClassifier::from_parts(
        [model(0.5), model(2.0)],
        weights,
        [0.5, -0.25],
        Normalisation::PER_SAMPLE,
    )
}

pub(crate) fn vectors(s: &mut Sampler) -> [CodeVectors; 3] {
    std::array::from_fn(|_| {
        std::array::from_fn(|_| {
            std::array::from_fn(|_| (60.0 * s.normal()).clamp(-127.0, 127.0) as i8)
        })
    })
}

pub(crate) fn weights(s: &mut Sampler) -> Weights {
    std::array::from_fn(|_| std::array::from_fn(|_| [s.normal(), s.normal()]))
}

/// Levels among what likenesses are, and what they weigh.
pub(crate) fn steps(s: &mut Sampler) -> (Levels, Above) {
    let mut level = || 100.0 * s.normal();
    let levels = std::array::from_fn(|_| {
        std::array::from_fn(|_| {
            let (one, other) = (level(), level());
            [f64::min(one, other), f64::max(one, other)]
        })
    });
    let mut row = || [s.normal(), s.normal()];
    (levels, std::array::from_fn(|_| std::array::from_fn(|_| [row(), row()])))
}

/// The evidence of all codewords and levels for an output, written down from the definition.
fn counted(
    samples: &[Option<&[f64; 2]>],
    vectors: &[CodeVectors; 3],
    (weights, levels, above): (&Weights, &Levels, &Above),
    output: usize,
) -> f64 {
    // What stands at a time: the last sample that was there, and nothing before the first.
    let held = |t: usize| samples[..=t].iter().rev().flatten().next();
    let first = samples.iter().position(Option::is_some);
    let mut sum = 0.0;
    for book in 0..3 {
        let step = DILATIONS[book] as usize;
        for (t, x) in samples.iter().enumerate() {
            let (Some(x), Some(first)) = (x, first) else { continue };
            if t < first + TAPS * step {
                continue;
            }
            let mut alike = [0.0; CODEWORDS];
            for (tap, row) in vectors[book].iter().enumerate() {
                let before = held(t - (tap + 1) * step).expect("something came before");
                let y: f64 = (0..2).map(|c| SCALES[book][c] * (x[c] - before[c])).sum();
                (0..CODEWORDS).for_each(|w| alike[w] += f64::from(row[w]) * y);
            }
            let word = (0..CODEWORDS).rev().max_by(|&a, &b| alike[a].total_cmp(&alike[b]));
            sum += weights[book][word.expect("eight")][output];
            for (word, alike) in alike.iter().enumerate() {
                sum += match levels[book][word] {
                    [_, high] if *alike > high => above[book][word][1][output],
                    [low, _] if *alike > low => above[book][word][0][output],
                    _ => 0.0,
                };
            }
        }
    }
    sum
}

proptest! {
    #[test]
    fn laws_and_definition_at_every_prefix(seed: u64, length in 0_usize..=40, gaps in 0_u64..4) {
        let mut s = Sampler::new(seed);
        let samples: Vec<Option<[f64; 2]>> = (0..length)
            .map(|_| {
                let x = [s.normal(), 3.0 * s.normal()];
                (gaps == 0 || s.normal() < 1.0).then_some(x)
            })
            .collect();
        let samples: Vec<Option<&[f64; 2]>> = samples.iter().map(Option::as_ref).collect();
        let (vectors, weights, bank) = (vectors(&mut s), weights(&mut s), bank());
        let (levels, above) = steps(&mut s);
        let books = Codebooks::from_parts(DILATIONS, SCALES, vectors, weights).with_levels(levels, above);
        let coded = Classifier::from_parts(bank, books);
        coded.validate().expect("valid");
        let odd = [[f64::NAN, 0.0], [0.0, f64::INFINITY]];
        let odd: Vec<&[f64; 2]> = odd.iter().collect();
        let refused = check(&coded, Trial { samples: &samples, refusable: &odd }, |prefix, read| {
            let alone = bank.decision_values(after(&bank, prefix.to_vec()).state());
            let factor = 1.0 / prefix.len().max(1) as f64;
            let value = |o: usize| alone[o] + factor * counted(prefix, &vectors, (&weights, &levels, &above), o);
            let margin = value(0) - value(1);
            assert!((read.margin - margin.abs()).abs() < 1e-9, "{read:?} {margin}");
            assert_eq!(read.class, usize::from(margin < 0.0));
        });
        prop_assert!(refused >= 2);
    }
}

#[test]
fn what_is_out_of_range_is_named() {
    let flat = ([[[0; CODEWORDS]; TAPS]; 3], [[[0.0; 2]; CODEWORDS]; 3]);
    let step = ([[[0.0; 2]; CODEWORDS]; 3], [[[[0.0; 2]; 2]; CODEWORDS]; 3]);
    let on_levels = |dilations, scales, (levels, above)| {
        let books =
            Codebooks::from_parts(dilations, scales, flat.0, flat.1).with_levels(levels, above);
        Classifier::from_parts(bank(), books).validate()
    };
    let with = |dilations, scales| on_levels(dilations, scales, step);
    with(DILATIONS, SCALES).expect("valid");
    let error = |of: Result<(), _>| {
        let error: fishweir_core::ModelError = of.expect_err("refused");
        (error.part, error.kind, error.row, error.entry)
    };
    let far = error(with([1, 4, 2], SCALES));
    assert_eq!(far, (Part::Codebook, ErrorKind::NotInRange, 1, 0));
    let short = error(with([1, 1, 2], SCALES));
    assert_eq!(short, (Part::Codebook, ErrorKind::Inconsistent, 0, 0));
    let mut scales = SCALES;
    scales[2][1] = f64::NAN;
    assert_eq!(error(with(DILATIONS, scales)), (Part::Codebook, ErrorKind::NotFinite, 2, 1));
    // After two scales and eight rows of two weights come two rows of two for each codeword, and then its levels.
    let (mut levels, mut above) = step;
    above[1][3][1][0] = f64::INFINITY;
    let weight = error(on_levels(DILATIONS, SCALES, (levels, above)));
    assert_eq!(weight, (Part::Codebook, ErrorKind::NotFinite, 1, 2 + 16 + 4 * 3 + 2));
    levels[0][7][1] = f64::NAN;
    let level = error(on_levels(DILATIONS, SCALES, (levels, step.1)));
    assert_eq!(level, (Part::Codebook, ErrorKind::NotFinite, 0, 2 + 16 + 32 + 15));
}
