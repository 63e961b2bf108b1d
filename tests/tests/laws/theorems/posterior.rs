//! Posteriors and the best path, against enumeration and the log domain.

use std::borrow::Borrow;

use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use fishweir_core::smooth::{posteriors, viterbi};
use fishweir_tests::build::{Family, Task, dispatch, samples};
use fishweir_tests::oracle::{Enumeration, LogDomain, Model, Sequence};
use fishweir_tests::sample::zoo;
use proptest::prelude::*;

use crate::theorems::assert_close;

struct Smooth<'a>(&'a Sequence);

struct Smoothed {
    log: f64,
    posterior: Vec<Vec<f64>>,
    pairs: Vec<Vec<f64>>,
    path: Vec<usize>,
    log_path: f64,
}

impl<T: Real> Task<T> for Smooth<'_> {
    type Output = Smoothed;
    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Smoothed, String> {
        let samples = samples::<T, E>(self.0)?;
        let mut rows = vec![[T::ZERO; N]; samples.len()];
        let mut pairs = [[T::ZERO; N]; N];
        let observations = samples.iter().map(|x| x.as_ref().map(Borrow::borrow));
        let log = posteriors(hmm, observations, &mut rows, &mut pairs)
            .map_err(|error| error.to_string())?;
        let mut back = vec![[0_u8; N]; samples.len()];
        let mut path = vec![0_u8; samples.len()];
        let observations = samples.iter().map(|x| x.as_ref().map(Borrow::borrow));
        let log_path =
            viterbi(hmm, observations, &mut back, &mut path).map_err(|error| error.to_string())?;
        let doubles = |row: &[T; N]| row.iter().map(|p| p.to_f64()).collect();
        Ok(Smoothed {
            log: log.to_f64(),
            posterior: rows.iter().map(doubles).collect(),
            pairs: pairs.iter().map(doubles).collect(),
            path: path.into_iter().map(usize::from).collect(),
            log_path: log_path.to_f64(),
        })
    }
}

fn smooth(model: &Model, sequence: &Sequence) -> Smoothed {
    dispatch::<f64, _>(model, Smooth(sequence)).expect("a possible sequence")
}

fn assert_rows(got: &[Vec<f64>], expected: &[Vec<f64>], relative: f64, what: &str) {
    for (got, expected) in got.iter().zip(expected) {
        for (j, got) in got.iter().enumerate() {
            // States past the model's are padding, never occupied.
            let expected = expected.get(j).copied().unwrap_or(0.0);
            assert_close(*got, expected, relative, 1e-12, what);
        }
    }
}

proptest! {
    #![proptest_config(crate::theorems::cases(32))]

    #[test]
    fn posteriors_are_the_enumeration(seed: u64, length in 1_usize..=6) {
        for sample in zoo(seed, length) {
            let all = Enumeration::of(&sample.model, &sample.sequence).expect("possible");
            if all.likelihood < 1e-290 {
                continue;
            }
            let smoothed = smooth(&sample.model, &sample.sequence);
            assert_rows(&smoothed.posterior, &all.posterior, 1e-11, sample.name);
            assert_rows(&smoothed.pairs, &all.pairs, 1e-11, sample.name);
        }
    }

    /// Long sequences, against the log domain; every row sums to one, and the pairs leave each state
    /// as often as it was occupied before the last sample.
    #[test]
    fn posteriors_are_consistent(seed: u64, length in 2_usize..=200) {
        for sample in zoo(seed, length) {
            let slow = LogDomain::of(&sample.model, &sample.sequence);
            let smoothed = smooth(&sample.model, &sample.sequence);
            assert_close(smoothed.log, slow.log_likelihood(), 1e-12, 1e-10, sample.name);
            let posterior = slow.posterior().expect("possible");
            assert_rows(&smoothed.posterior, &posterior, 1e-8, sample.name);
            assert_rows(&smoothed.pairs, &slow.pairs().expect("possible"), 1e-8, sample.name);
            for row in &smoothed.posterior {
                assert_close(row.iter().sum(), 1.0, 1e-12, 0.0, sample.name);
            }
            for (i, row) in smoothed.pairs.iter().enumerate() {
                let left: f64 = row.iter().sum();
                let occupied: f64 = smoothed.posterior[..length - 1].iter().map(|p| p[i]).sum();
                assert_close(left, occupied, 1e-10, 1e-11, sample.name);
            }
        }
    }

    /// The best path's stated probability is that path's, the best there is, and no more than that of
    /// all paths.
    #[test]
    fn viterbi_is_the_log_domain_and_at_most_forward(seed: u64, length in 1_usize..=300) {
        for sample in zoo(seed, length) {
            let slow = LogDomain::of(&sample.model, &sample.sequence);
            let (_, best) = slow.viterbi().expect("possible");
            let Smoothed { log, path, log_path, .. } = smooth(&sample.model, &sample.sequence);
            assert_close(log_path, best, 1e-12, 1e-10, sample.name);
            let joint = sample.model.log_joint(&path, &sample.sequence);
            assert_close(joint, log_path, 1e-12, 1e-10, sample.name);
            prop_assert!(log_path <= log + 1e-10, "{}: {log_path} above {log}", sample.name);
        }
    }

    /// The oracle's own: the most probable path is no more probable than all paths together, and no less than any.
    #[test]
    fn viterbi_is_the_best_of_the_enumeration(seed: u64, length in 1_usize..=6) {
        for sample in zoo(seed, length) {
            let all = Enumeration::of(&sample.model, &sample.sequence).expect("possible");
            let slow = LogDomain::of(&sample.model, &sample.sequence);
            let (path, log) = slow.viterbi().expect("possible");
            assert_close(
                sample.model.log_joint(&path, &sample.sequence), log, 1e-12, 1e-11, sample.name,
            );
            if all.likelihood > 1e-290 {
                assert_close(log, all.best_joint.ln(), 1e-12, 1e-11, sample.name);
            }
            prop_assert!(log <= slow.log_likelihood() + 1e-11, "{}", sample.name);
        }
    }
}
