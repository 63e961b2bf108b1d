//! Scores and directional derivatives: against each other, against finite differences, and their
//! expectation under the model.

use std::borrow::Borrow;

use fishweir_core::emission::VectorSpace;
use fishweir_core::filter::{Forward, Statistics, Streaming};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use fishweir_core::score::Score;
use fishweir_core::smooth::posteriors;
use fishweir_tests::build::{
    Family, Task, coordinates, direction, dispatch, samples, with_directions,
};
use fishweir_tests::oracle::{Direction, LogDomain, Model, Parametrisation, Sequence, derivative};
use fishweir_tests::sample::{Sampler, TOPOLOGIES, all_sequences, zoo};
use proptest::prelude::*;

use crate::theorems::{assert_close, push};

struct Derive<'a> {
    sequence: &'a Sequence,
    direction: &'a Direction,
    by: Parametrisation,
}

struct Derived {
    /// The tangent filter's log-likelihood and derivative after every sample.
    tangent: Vec<(f64, f64)>,
    /// The plain filter's log-likelihood after every sample.
    plain: Vec<f64>,
    /// The score from forward-only statistics times the direction, at the end.
    score_dot: f64,
    /// The same from statistics collected with posteriors.
    smoothed_dot: f64,
    /// Whether all observations were possible.
    possible: bool,
}

impl<T: Real> Task<T> for Derive<'_> {
    type Output = Derived;
    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Derived, String> {
        let moved = with_directions(hmm, self.direction, self.by)?;
        let w = direction::<T, E, N>(self.direction)?;
        let by = coordinates(self.direction, self.by);
        let (tangent, plain) = (Forward::of(&moved), Forward::of(hmm));
        let statistics = Statistics::of(hmm).with_boundary_scores();
        let (mut a, mut b, mut c) =
            (tangent.initial_state(), plain.initial_state(), statistics.initial_state());
        let mut out = Derived {
            tangent: vec![],
            plain: vec![],
            score_dot: 0.0,
            smoothed_dot: 0.0,
            possible: true,
        };
        let samples = samples::<T, E>(self.sequence)?;
        for x in samples.iter().map(Option::as_ref) {
            let possible =
                [push(&tangent, &mut a, x), push(&plain, &mut b, x), push(&statistics, &mut c, x)];
            assert!(possible.iter().all(|p| *p == possible[0]), "all refuse the same");
            out.possible &= possible[0];
            if !out.possible {
                return Ok(out);
            }
            let dual = tangent.read(&a);
            out.tangent.push((dual.value.to_f64(), dual.tangent[0].to_f64()));
            out.plain.push(plain.read(&b).to_f64());
        }
        let expected = statistics.read(&c);
        out.score_dot = Score::of(hmm, &expected, by).dot(&w).to_f64();

        let mut rows = vec![[T::ZERO; N]; samples.len()];
        let mut expected = fishweir_core::score::StatisticsOf::<E, N>::ZERO;
        let observations = samples.iter().map(|x| x.as_ref().map(Borrow::borrow));
        posteriors(hmm, observations, &mut rows, &mut expected.transition)
            .map_err(|error| error.to_string())?;
        expected.initial = rows[0];
        for (row, x) in rows.iter().zip(&samples) {
            let Some(x) = x else { continue };
            let states = hmm.emission().iter().zip(&mut expected.emission).zip(row);
            for ((emission, collected), &weight) in states.filter(|(_, w)| **w > T::ZERO) {
                emission.observe(x.borrow(), weight, collected);
            }
        }
        out.smoothed_dot = Score::of(hmm, &expected, by).dot(&w).to_f64();
        Ok(out)
    }
}

fn derive<T: Real>(
    model: &Model,
    sequence: &Sequence,
    direction: &Direction,
    by: Parametrisation,
) -> Derived {
    let task = Derive { sequence, direction, by };
    dispatch::<T, _>(model, task).expect("a model of the sizes compiled")
}

/// Where probabilities of zero make the ratio score a limit that posteriors cannot tell.
fn has_zeros(name: &str) -> bool {
    !(name.starts_with("ergodic") || name.starts_with("one state") || name == "counts")
}

proptest! {
    #![proptest_config(crate::theorems::cases(24))]

    /// The tangent filter is the slope of the log-domain oracle, along random directions.
    #[test]
    fn tangent_is_the_finite_difference(seed: u64, length in 1_usize..=30, ratio: bool) {
        let by = if ratio { Parametrisation::Ratio } else { Parametrisation::Softmax };
        let mut s = Sampler::new(seed);
        for sample in zoo(seed, length) {
            if ratio && has_zeros(sample.name) {
                continue;
            }
            let w = s.direction(&sample.model);
            let derived = derive::<f64>(&sample.model, &sample.sequence, &w, by);
            let log = |e: f64| {
                let moved = w.moved(&sample.model, by, e).expect("a direction of its shape");
                LogDomain::of(&moved, &sample.sequence).log_likelihood()
            };
            let slope = derivative(log, 1e-4);
            let (_, got) = derived.tangent[length - 1];
            // The differences lose 10^4 roundings of the log-likelihood.
            let rounding = 1e-11 * (1.0 + log(0.0).abs());
            assert_close(got, slope, 1e-6, 1e-6 + rounding, sample.name);
        }
    }

    /// Tangent filter = forward-only score . direction = smoothed score . direction.
    #[test]
    fn tangent_is_score_dot_direction(seed: u64, length in 1_usize..=120, ratio: bool) {
        let by = if ratio { Parametrisation::Ratio } else { Parametrisation::Softmax };
        let mut s = Sampler::new(seed);
        for sample in zoo(seed, length) {
            let w = s.direction(&sample.model);
            let derived = derive::<f64>(&sample.model, &sample.sequence, &w, by);
            let (_, tangent) = derived.tangent[length - 1];
            // Far from every mean single terms are large and cancel.
            let scale = if sample.name.starts_with("far") { 1e4 } else { 1.0 };
            let absolute = 1e-10 * scale * (1.0 + length as f64);
            if !(ratio && has_zeros(sample.name) && length > 20) {
                assert_close(derived.score_dot, tangent, 1e-9, absolute, sample.name);
            }
            if !(ratio && has_zeros(sample.name)) {
                assert_close(derived.smoothed_dot, tangent, 1e-9, absolute, sample.name);
            }
        }
    }

    /// Carrying derivatives changes no bit of the likelihood.
    #[test]
    fn tangents_leave_the_likelihood_alone(seed: u64, length in 1_usize..=200) {
        let mut s = Sampler::new(seed);
        for sample in zoo(seed, length) {
            let w = s.direction(&sample.model);
            let by = Parametrisation::Softmax;
            let single = derive::<f32>(&sample.model, &sample.sequence, &w, by);
            for (t, ((dual, _), plain)) in single.tangent.iter().zip(&single.plain).enumerate() {
                prop_assert_eq!(dual.to_bits(), plain.to_bits(), "{} at {}", sample.name, t);
            }
        }
    }

    /// The expected score is zero: `sum_x p(x) w . score(x)` over all sequences of a length.
    #[test]
    fn expected_score_is_zero(
        seed: u64, states in 1_usize..=3, symbols in 2_usize..=3, length in 1_usize..=4,
        topology in 0_usize..4,
    ) {
        let mut s = Sampler::new(seed);
        let model = s.categorical(TOPOLOGIES[topology], states, symbols);
        let w = s.direction(&model);
        let (mut tangents, mut scores) = (0.0, 0.0);
        for x in all_sequences(&model, length) {
            let derived = derive::<f64>(&model, &x, &w, Parametrisation::Softmax);
            if derived.possible {
                let (log, tangent) = derived.tangent[length - 1];
                tangents += log.exp() * tangent;
                scores += log.exp() * derived.score_dot;
            }
        }
        assert_close(tangents, 0.0, 0.0, 1e-13, "tangents");
        assert_close(scores, 0.0, 0.0, 1e-13, "scores");
    }
}
