//! The range of a row: what `f32` keeps, `f64` keeping it, and what every recursion refuses.

use std::borrow::Borrow;

use fishweir_core::ObservationError;
use fishweir_core::context::{ContextLikelihood, ContextStatistics, Independent};
use fishweir_core::emission::Categorical;
use fishweir_core::filter::{Belief, Forward, Streaming};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::FixedLength;
use fishweir_core::number::{Real, Scalar};
use fishweir_core::smooth::{Survivors, Viterbi, posteriors, viterbi};
use fishweir_tests::build::{Family, Task, dispatch, samples};
use fishweir_tests::oracle::{Law, Model, Observation, Sequence, log_sum_exp};
use fishweir_tests::sample::{Sampler, zoo};
use proptest::prelude::*;

/// The range of a row of `f32`, as [`Forward`] documents it.
pub(crate) const KEPT_FROM: f64 = 1.0 / (1_u128 << 84) as f64;

/// A recursion in the log domain, exact, and what reaches each state by way of states in range alone:
/// those that have a part of their row or more, predicted and conditioned. What underflow may do to a
/// recursion lies between the two.
pub(crate) struct Ranged {
    /// The logarithm of that part.
    log_part: f64,
    /// A sum over states, or the largest.
    sum: fn(&[f64]) -> f64,
    /// `log p(x_1..t, z_t = j)`, `[state]`.
    pub(crate) exact: Vec<f64>,
    /// The same in range, `[state]`.
    pub(crate) kept: Vec<f64>,
}

impl Ranged {
    pub(crate) fn from(part: f64, sum: fn(&[f64]) -> f64) -> Self {
        Self { log_part: part.ln(), sum, exact: Vec::new(), kept: Vec::new() }
    }

    /// Takes in one more sample.
    pub(crate) fn push(&mut self, model: &Model, x: Option<&Observation>) {
        let step = |joint: &[f64], j: usize| {
            let terms = joint.iter().zip(&model.transition).map(|(log, row)| log + row[j].ln());
            (self.sum)(&terms.collect::<Vec<_>>())
        };
        let predict = |joint: &[f64]| -> Vec<f64> {
            match joint {
                [] => model.initial.iter().map(|p| p.ln()).collect(),
                _ => (0..model.states()).map(|j| step(joint, j)).collect(),
            }
        };
        (self.exact, self.kept) = (predict(&self.exact), predict(&self.kept));
        self.drop();
        for (j, b) in model.log_row(x).into_iter().enumerate() {
            self.exact[j] += b;
            self.kept[j] += b;
        }
        self.drop();
    }

    fn drop(&mut self) {
        let bound = (self.sum)(&self.exact) + self.log_part;
        for kept in self.kept.iter_mut().filter(|kept| **kept < bound) {
            *kept = f64::NEG_INFINITY;
        }
    }
}

fn largest(terms: &[f64]) -> f64 {
    terms.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// `log p(x_1..t, z_t = j)`, `[time][state]`, until a sample is refused.
struct Joint<'a> {
    sequence: &'a Sequence,
    best_path: bool,
}

impl<T: Real> Task<T> for Joint<'_> {
    type Output = Vec<Vec<f64>>;
    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Self::Output, String> {
        let samples = samples::<T, E>(self.sequence)?;
        if self.best_path {
            joint(&Viterbi::of(hmm), &samples, |state| state.joint_logs().map(|log| log.value()))
        } else {
            joint(&Forward::of(hmm), &samples, |state| state.joint_logs())
        }
    }
}

fn joint<R: Streaming, S: Borrow<R::Observation>, T: Real, const N: usize>(
    recursion: &R,
    samples: &[Option<S>],
    read: impl Fn(&R::State) -> [T; N],
) -> Result<Vec<Vec<f64>>, String> {
    let mut state = recursion.initial_state();
    let mut rows = Vec::new();
    for x in samples {
        if !crate::theorems::push(recursion, &mut state, x.as_ref()) {
            break;
        }
        rows.push(read(&state).iter().map(|log| log.to_f64()).collect());
    }
    Ok(rows)
}

/// A number as `f32` holds it.
fn single(x: f64) -> f64 {
    f64::from(x as f32)
}

/// States from left to right, `gap` standard deviations apart, and samples anywhere among them.
fn far_apart(s: &mut Sampler, length: usize) -> (Model, Sequence) {
    let (states, gap) = (s.uniform(2.0, 6.0) as usize, s.uniform(3.0, 14.0));
    let mut transition = vec![vec![0.0; states]; states];
    for i in 0..states {
        let onward = if i + 1 < states { single(s.uniform(1e-9, 0.5)) } else { 0.0 };
        transition[i][i] = 1.0 - onward;
        if i + 1 < states {
            transition[i][i + 1] = onward;
        }
    }
    let law = |j: usize| Law::Gaussian { mean: vec![single(gap * j as f64)], variance: vec![1.0] };
    let mut initial = vec![0.0; states];
    initial[0] = 1.0;
    let model = Model { initial, transition, emission: (0..states).map(law).collect() };
    let sample = |_| {
        let x = gap * s.uniform(-0.5, states as f64) + s.normal();
        (s.uniform(0.0, 1.0) > 0.2).then(|| Observation::Channels(vec![single(x)]))
    };
    let sequence = (0..length).map(sample).collect();
    (model, sequence)
}

/// Symbols and transitions of every order of magnitude down to `2^-90`, some of them zero.
fn starving(s: &mut Sampler, length: usize) -> (Model, Sequence) {
    const SYMBOLS: usize = 6;
    let states = s.uniform(2.0, 6.0) as usize;
    let mut row = |length: usize, common: usize| {
        let mut row: Vec<f64> = (0..length)
            .map(|_| if s.uniform(0.0, 1.0) < 0.3 { 0.0 } else { s.uniform(-90.0, -1.0).exp2() })
            .map(|p| single(p / length as f64))
            .collect();
        row[common] = 0.0;
        row[common] = 1.0 - row.iter().sum::<f64>();
        row
    };
    let model = Model {
        initial: row(states, 0),
        transition: (0..states).map(|i| row(states, i)).collect(),
        emission: (0..states).map(|_| Law::Categorical(row(SYMBOLS, SYMBOLS - 1))).collect(),
    };
    let sample = |_| {
        let symbol = s.uniform(0.0, SYMBOLS as f64) as usize;
        (s.uniform(0.0, 1.0) > 0.2).then_some(Observation::Symbol(symbol))
    };
    let sequence = (0..length).map(sample).collect();
    (model, sequence)
}

proptest! {
    #![proptest_config(crate::theorems::cases(4000))]

    /// What is possible by way of states in range is possible in `f32`, and each state has all the
    /// probability that reached it in range, no more than all there is.
    #[test]
    fn single_precision_keeps_its_range(seed: u64, symbols: bool, best_path: bool) {
        let mut s = Sampler::new(seed);
        let (model, sequence) =
            if symbols { starving(&mut s, 40) } else { far_apart(&mut s, 40) };
        let sum = if best_path { largest } else { log_sum_exp };
        let got = dispatch::<f32, _>(&model, Joint { sequence: &sequence, best_path })
            .expect("a model of the sizes compiled");
        let mut wanted = Ranged::from(KEPT_FROM, sum);
        let mut scale = 0.0;
        for (t, x) in sequence.iter().enumerate() {
            wanted.push(&model, x.as_ref());
            let total = sum(&wanted.kept);
            if total == f64::NEG_INFINITY {
                break;
            }
            prop_assert!(t < got.len(), "{t} is refused, and in range log p is {total}");
            // Logarithms of densities are rounded, and a row is conditioned in logarithms.
            scale += 10.0 + total.abs();
            for (j, (kept, exact)) in wanted.kept.iter().zip(&wanted.exact).enumerate() {
                let log = got[t][j];
                let size = scale + if log.is_finite() { log.abs() } else { 0.0 };
                let tolerance = 16.0 * f64::from(f32::EPSILON) * size;
                // Out of range, where numbers are subnormal, each sample may round up to twice as much.
                let in_range = *kept >= *exact - tolerance;
                let most = *exact + if in_range { tolerance } else { 0.7 * (t + 1) as f64 };
                let within = *kept - tolerance <= log && log <= most;
                prop_assert!(within, "{t}, {j}: {kept} <= {log} <= {exact}");
            }
        }
    }
}

/// A prediction of `[1, 2^-62]` whose likelihoods are all `2^-88`: nothing has been said about the
/// second state, and the next symbol is its own.
#[test]
fn an_improbable_sample_does_not_drop_an_improbable_state() {
    let tiny = f32::power_of_two(-62);
    let chain = Chain::<f32, 2>::new([1.0, tiny], [[1.0, 0.0], [0.0, 1.0]]).expect("a model");
    let rare = f32::power_of_two(-88);
    let common = Categorical::<3>::new([rare, 0.0, 1.0]).expect("a model");
    let other = Categorical::<3>::new([rare, 0.5, 0.5]).expect("a model");
    let hmm = Hmm::new(chain, [common, other]);
    let mut states = (Belief::NEW, Survivors::NEW);
    for x in [0, 1] {
        Forward::of(&hmm).step(&mut states.0, &x).expect("a possible symbol");
        Viterbi::of(&hmm).step(&mut states.1, &x).expect("a possible symbol");
    }
    let expected = -151.0 * core::f32::consts::LN_2;
    assert!((states.0.log() - expected).abs() < 1e-4, "{}", states.0.log());
    assert!((states.1.log().0 - expected).abs() < 1e-4, "{:?}", states.1.log());
}

/// What every recursion answers to a sample, after some that it has taken in.
struct Answers<'a> {
    before: &'a Sequence,
    candidates: &'a [Observation],
}

type Answer = Result<(), ObservationError>;

impl<T: Real> Task<T> for Answers<'_> {
    type Output = ();
    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<(), String> {
        let candidates = self.candidates.iter().map(E::sample).collect::<Result<Vec<_>, _>>()?;
        let before = samples::<T, E>(self.before)?;
        let before = || before.iter().map(|x| x.as_ref().map(Borrow::borrow));
        for (candidate, x) in self.candidates.iter().zip(&candidates) {
            let x: &E::Observation = x.borrow();
            let sequence = || before().chain([Some(x)]);

            let filter = last(&Forward::of(hmm), sequence());
            assert_eq!(filter, last(&Viterbi::of(hmm), sequence()), "Viterbi: {candidate:?}");

            let mut rows = vec![[T::ZERO; N]; before().count() + 1];
            let smoothed = posteriors(hmm, sequence(), &mut rows, &mut [[T::ZERO; N]; N]);
            assert_eq!(filter.is_ok(), smoothed.is_ok(), "posteriors: {candidate:?}");
            let (mut back, mut path) = (vec![[0_u8; N]; rows.len()], vec![0_u8; rows.len()]);
            let best = viterbi(hmm, sequence(), &mut back, &mut path);
            assert_eq!(filter.is_ok(), best.is_ok(), "the best path: {candidate:?}");

            let stored: Vec<Option<&E::Observation>> = vec![None; rows.len()];
            let kernel =
                FixedLength::<Hmm<_, N>, _, 1>::of(hmm, [&stored]).map_err(|e| e.to_string())?;
            let mut state = kernel.initial_state();
            let taken = sequence().try_for_each(|x| match x {
                Some(x) => kernel.step(&mut state, x),
                None => {
                    kernel.step_missing(&mut state);
                    Ok(())
                }
            });
            let possible = taken.is_ok() && kernel.read(&state)[0] > T::NEG_INFINITY;
            assert_eq!(filter.is_ok(), possible, "the kernel with nothing known: {candidate:?}");

            // A state by itself, a filter of one state, and its statistics.
            for emission in hmm.emission() {
                let alone = Chain::from_parts([T::ONE], [[T::ONE]]);
                let alone = Hmm::<E, 1>::new(alone, [*emission]);
                let independent = Independent::of(*emission);
                let filter = last(&Forward::of(&alone), [Some(x)]);
                let likelihood = last(&ContextLikelihood::of(&independent), [Some(x)]);
                let statistics = last(&ContextStatistics::of(&independent), [Some(x)]);
                assert_eq!(filter, likelihood, "the likelihood: {candidate:?}");
                assert_eq!(filter, statistics, "statistics: {candidate:?}");
            }
        }
        Ok(())
    }
}

/// The answer to the last of some samples, the others being possible.
fn last<'x, R: Streaming<Observation: 'x>>(
    recursion: &R,
    samples: impl IntoIterator<Item = Option<&'x R::Observation>>,
) -> Answer {
    let mut state = recursion.initial_state();
    let mut answer = Ok(());
    for x in samples {
        assert_eq!(answer, Ok(()), "an impossible sample before the last");
        match x {
            Some(x) => answer = recursion.step(&mut state, x),
            None => recursion.step_missing(&mut state),
        }
    }
    answer
}

/// Observations that a law makes, that it hardly makes and that it does not.
fn candidates(law: &Law) -> Vec<Observation> {
    let channels = |x: f64, like: &[f64]| Observation::Channels(vec![x; like.len()]);
    let far = [0.0, 30.0, 1e3, -1e6, 1e9, 5e9, -6e9, 6.2e9, 1e10, -1e12, 1e18, 1e30, f64::NAN];
    match law {
        Law::Categorical(p) => (0..=p.len()).map(Observation::Symbol).collect(),
        Law::Gaussian { mean, .. } | Law::FullGaussian { mean, .. } => {
            far.into_iter().map(|x| channels(x, mean)).collect()
        }
        Law::Poisson(rate) => {
            [0.0, 1.0, 400.0, 1e6, 4_294_967_295.0].into_iter().map(|x| channels(x, rate)).collect()
        }
        Law::Bernoulli(p) => [0.0, 1.0].into_iter().map(|x| channels(x, p)).collect(),
        Law::Mixture { component, .. } => candidates(&component[0]),
    }
}

/// All recursions refuse the same samples, for the same reason.
#[test]
fn recursions_agree_on_what_is_impossible() {
    for seed in 0..4 {
        for length in [1, 3] {
            for sample in zoo(seed, length) {
                let candidates = candidates(&sample.model.emission[0]);
                for before in [&sample.sequence[..0], &sample.sequence] {
                    let before = before.to_vec();
                    let answers = || Answers { before: &before, candidates: &candidates };
                    dispatch::<f32, _>(&sample.model, answers()).expect(sample.name);
                    dispatch::<f64, _>(&sample.model, answers()).expect(sample.name);
                }
            }
        }
    }
}
