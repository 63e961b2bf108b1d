//! Differences at lags, seen by one model or each by its own: the laws of a stream, and after every prefix what the recursion reads of rows that are
//! written down by definition.

use fishweir_core::classify::{ChannelSubset, Normalisation, StreamClassifier, StreamModel};
use fishweir_core::emission::{Autoregressive, Gaussian};
use fishweir_core::filter::{Forward, Streaming};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::lagged::{LagFeatures, Lookback};
use fishweir_core::{ErrorKind, Part};
use fishweir_tests::checks::after;
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

const LAGS: [u32; 3] = [1, 2, 5];

fn hmm() -> Hmm<Gaussian<8, f64>, 2> {
    let state = |mean: f64, spread: f64| Gaussian::new([mean; 8], [spread; 8]).expect("a state");
    Hmm::new(
        Chain::<f64, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]]).expect("a chain"),
        [state(0.0, 1.0), state(0.5, 2.0)],
    )
}

/// `x_t` and its differences: what is missing is the last that was there, and before the first lies the first.
fn rows(samples: &[Option<&[f64; 2]>]) -> Vec<Option<[f64; 8]>> {
    let mut held: Vec<Option<[f64; 2]>> = Vec::new();
    samples.iter().for_each(|x| held.push(x.copied().or(held.last().copied().flatten())));
    let first = held.iter().flatten().next().copied();
    let row = |(t, x): (usize, &Option<&[f64; 2]>)| {
        let x = (*x)?;
        let mut row = [0.0; 8];
        row[..2].copy_from_slice(x);
        for (number, lag) in LAGS.iter().enumerate() {
            let before = t.checked_sub(*lag as usize).and_then(|t| held[t]).or(first)?;
            (0..2).for_each(|d| row[2 + 2 * number + d] = x[d] - before[d]);
        }
        Some(row)
    };
    samples.iter().enumerate().map(row).collect()
}

proptest! {
    #[test]
    fn laws_and_definition_at_every_prefix(seed: u64, length in 0_usize..=24, gaps in 0_u64..4) {
        let mut s = Sampler::new(seed);
        let samples: Vec<Option<[f64; 2]>> = (0..length)
            .map(|_| {
                let x = [s.normal(), 3.0 * s.normal()];
                (gaps == 0 || s.normal() < 1.0).then_some(x)
            })
            .collect();
        let samples: Vec<Option<&[f64; 2]>> = samples.iter().map(Option::as_ref).collect();
        let hmm = hmm();
        let lagged = LagFeatures::<_, Lookback<2, 5>, 3>::from_parts(Forward::of(&hmm), LAGS);
        lagged.validate_lags().expect("rising lags");
        let odd = [[f64::NAN, 0.0], [0.0, f64::INFINITY]];
        let odd: Vec<&[f64; 2]> = odd.iter().collect();
        let refused = check(&lagged, Trial { samples: &samples, refusable: &odd }, |prefix, read| {
            assert_eq!(read, after(Forward::of(&hmm), rows(prefix)).read());
        });
        prop_assert!(refused >= 2);
    }
}

/// A model of a channel and its difference at a lag.
fn narrow(level: f64, step: f64) -> Hmm<Gaussian<2, f64>, 2> {
    let state =
        |sign: f64| Gaussian::new([sign * level, sign * step], [1.0, 0.5]).expect("a state");
    let chain = Chain::<f64, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]]).expect("a chain");
    Hmm::new(chain, [state(1.0), state(-1.0)])
}

proptest! {
    /// A model that hears some columns is that model of rows which hold nothing else.
    #[test]
    fn models_of_a_lag_each_hear_what_is_theirs(seed: u64, length in 0_usize..=24) {
        let mut s = Sampler::new(seed);
        let samples: Vec<Option<[f64; 1]>> =
            (0..length).map(|_| (s.normal() < 1.0).then_some([2.0 * s.normal()])).collect();
        let samples: Vec<Option<&[f64; 1]>> = samples.iter().map(Option::as_ref).collect();
        let models = [narrow(0.5, 0.1), narrow(-0.25, 1.0), narrow(2.0, 0.75)];
        let columns = [[0, 1], [0, 2], [0, 3]];
        let heard: [ChannelSubset<_, 4, 2>; 3] = std::array::from_fn(|m| ChannelSubset::from_parts(models[m], columns[m]));
        heard.iter().for_each(|model| model.validate().expect("columns of the row"));
        let weights = [[1.0, -2.0, 0.5], [0.25, 1.0, -1.0]];
        let bank = StreamClassifier::from_parts(heard, weights, [0.5, -0.25], Normalisation::PER_SAMPLE);
        let lagged = LagFeatures::<_, Lookback<1, 5>, 3>::from_parts(bank, LAGS);
        let odd = [[f64::NAN], [f64::INFINITY]];
        let odd: Vec<&[f64; 1]> = odd.iter().collect();
        let refused = check(&lagged, Trial { samples: &samples, refusable: &odd }, |prefix, read| {
            let held = |t: usize| prefix[..=t].iter().rev().flatten().next().map(|x| x[0]);
            let first = prefix.iter().flatten().next().map(|x| x[0]);
            let logs: Vec<f64> = models
                .iter()
                .zip(LAGS)
                .map(|(model, lag)| {
                    let row = |(t, x): (usize, &Option<&[f64; 1]>)| {
                        let x = (*x)?[0];
                        let before = t.checked_sub(lag as usize).and_then(held).or(first)?;
                        Some([x, x - before])
                    };
                    let rows: Vec<_> = prefix.iter().enumerate().map(row).collect();
                    after(Forward::of(model), rows).read()
                })
                .collect();
            let factor = 1.0 / prefix.len().max(1) as f64;
            let value = |o: usize, bias: f64| -> f64 {
                bias + factor * (0..3).map(|m| weights[o][m] * logs[m]).sum::<f64>()
            };
            let margin = value(0, 0.5) - value(1, -0.25);
            assert_eq!(read.class, usize::from(margin < 0.0));
            assert!((read.margin - margin.abs()).abs() < 1e-9, "{read:?} {margin}");
        });
        prop_assert!(refused >= 2);
    }
}

#[test]
fn no_model_hears_past_a_row() {
    let heard = ChannelSubset::<_, 4, 2>::from_parts(narrow(0.5, 0.1), [0, 4]);
    let error = heard.validate().expect_err("four columns");
    assert_eq!((error.part, error.entry, error.kind), (Part::Column, 1, ErrorKind::NotInRange));
    let mut state = heard.likelihood().initial_state();
    heard.likelihood().step(&mut state, &[0.0; 4]).expect_err("nothing is made up");
}

const PAST: [u32; 2] = [1, 3];
const MEAN: [[f64; 2]; 2] = [[0.5, -1.0], [-0.25, 2.0]];
const CENTRE: [[f64; 2]; 2] = [[1.0, 0.0], [0.0, -3.0]];
const COEFFICIENT: [[[f64; 2]; 2]; 2] = [[[0.9, -0.5], [-0.3, 0.1]], [[-0.2, 0.6], [0.0, 0.25]]];
const VARIANCE: [[f64; 2]; 2] = [[0.5, 2.0], [1.5, 0.75]];
const INITIAL: [f64; 2] = [0.75, 0.25];
const TRANSITION: [[f64; 2]; 2] = [[0.9, 0.1], [0.3, 0.7]];

/// `log p` of what has a whole past, by the textbook's density and over all paths.
fn enumerated(samples: &[Option<&[f64; 2]>]) -> f64 {
    let density = |t: usize, i: usize| -> f64 {
        let whole = (0..=3).map(|k| t.checked_sub(k).and_then(|t| samples[t]));
        let Some([now, first, _, third]) =
            whole.collect::<Option<Vec<_>>>().and_then(|all| <[_; 4]>::try_from(all).ok())
        else {
            return 1.0;
        };
        let of = |d: usize| {
            let told = [first, third].into_iter().zip(COEFFICIENT[i]);
            let told: f64 = told.map(|(x, a)| a[d] * (x[d] - CENTRE[i][d])).sum();
            let deviation = now[d] - MEAN[i][d] - told;
            (-deviation * deviation / (2.0 * VARIANCE[i][d])).exp()
                / (std::f64::consts::TAU * VARIANCE[i][d]).sqrt()
        };
        of(0) * of(1)
    };
    let path = |path: usize| -> f64 {
        let state = |t: usize| path >> t & 1;
        let step = |t: usize| {
            let before = |t: usize| TRANSITION[state(t)][state(t + 1)];
            t.checked_sub(1).map_or(INITIAL[state(0)], before) * density(t, state(t))
        };
        (0..samples.len()).map(step).product()
    };
    (0..1_usize << samples.len()).map(path).sum::<f64>().ln()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_whole_past_is_regressed_on_at_every_prefix(seed: u64, length in 0_usize..=10, gaps: bool) {
        let mut s = Sampler::new(seed);
        let samples: Vec<Option<[f64; 2]>> = (0..length)
            .map(|_| (!gaps || s.normal() < 1.2).then_some([s.normal(), 2.0 * s.normal()]))
            .collect();
        let samples: Vec<Option<&[f64; 2]>> = samples.iter().map(Option::as_ref).collect();
        let states = std::array::from_fn(|i| {
            let innovation = Gaussian::new(MEAN[i], VARIANCE[i]).expect("a distribution");
            Autoregressive::<6, 2, 2, f64>::new(innovation, CENTRE[i], COEFFICIENT[i]).expect("numbers")
        });
        let hmm = Hmm::new(Chain::<f64, 2>::new(INITIAL, TRANSITION).expect("a chain"), states);
        let lagged = LagFeatures::<_, Lookback<2, 3, true>, 2>::from_parts(Forward::of(&hmm), PAST);
        let odd = [[f64::NAN, 0.0], [0.0, f64::INFINITY]];
        let odd: Vec<&[f64; 2]> = odd.iter().collect();
        let refused = check(&lagged, Trial { samples: &samples, refusable: &odd }, |prefix, read| {
            let wanted = enumerated(prefix);
            assert!((read - wanted).abs() < 1e-10 * wanted.abs().max(1.0), "{read} {wanted}");
        });
        prop_assert!(refused >= 2);
    }
}

#[test]
fn lags_rise_to_the_rings_length() {
    let hmm = hmm();
    for (lags, entry, kind) in [
        ([0, 2, 5], 0, ErrorKind::NotInRange),
        ([2, 2, 5], 1, ErrorKind::NotInRange),
        ([1, 2, 6], 2, ErrorKind::NotInRange),
        ([1, 2, 4], 2, ErrorKind::Inconsistent),
    ] {
        let lagged = LagFeatures::<_, Lookback<2, 5>, 3>::from_parts(Forward::of(&hmm), lags);
        let error = lagged.validate_lags().expect_err("refused");
        assert_eq!((error.part, error.entry, error.kind), (Part::Lag, entry, kind), "{lags:?}");
    }
}
