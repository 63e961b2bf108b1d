//! Every answer about a sequence, against enumeration and the log domain.

use fishweir_tests::checks::after;
use std::borrow::Borrow;

use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use fishweir_core::smooth::{Viterbi, viterbi};
use fishweir_tests::build::{Family, Task, dispatch, samples};
use fishweir_tests::oracle::{Enumeration, Law, LogDomain, Model, Observation, Sequence};
use fishweir_tests::sample::zoo;

use crate::smooth::each_other::{
    checkpointed_is_plain, full_lag_is_smoother, narrow_window_emits_one_path,
    wide_window_decodes_the_path,
};
use crate::smooth::{all_close, close, smoothed};

/// Every recursion's answer about one sequence, after the laws that bind them were checked.
struct Answers {
    log_likelihood: f64,
    posterior: Vec<Vec<f64>>,
    pairs: Vec<Vec<f64>>,
    path: Vec<usize>,
    log_joint: f64,
}

struct Ask<'a> {
    model: &'a Model,
    sequence: &'a Sequence,
}

impl<T: Real> Task<T> for Ask<'_> {
    type Output = Answers;

    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Answers, String> {
        let samples = samples::<T, E>(self.sequence)?;
        let length = samples.len();
        let states = self.model.states();
        let observations = || samples.iter().map(|x| x.as_ref().map(Borrow::borrow));

        let (plain, pairs, log_likelihood) = smoothed(hmm, &samples)?;
        checkpointed_is_plain(hmm, &samples, &plain, &pairs, log_likelihood)?;
        full_lag_is_smoother(hmm, &samples, &plain);

        let (mut back, mut path) = (vec![[0_u8; N]; length], vec![0_u8; length]);
        let log_joint = viterbi(hmm, observations(), &mut back, &mut path)
            .map_err(|error| error.to_string())?;
        assert_eq!(after(Viterbi::of(hmm), observations()).read(), log_joint, "score alone");
        wide_window_decodes_the_path(hmm, &samples, &path, log_joint);
        narrow_window_emits_one_path::<T, E, N, 1>(hmm, &samples, &path);
        narrow_window_emits_one_path::<T, E, N, 3>(hmm, &samples, &path);
        // One path is no likelier than all, but for the rounding of two sums of logarithms.
        let slack = T::SUM_TOLERANCE.to_f64() * (1.0 + log_joint.to_f64().abs());
        assert!(log_joint.to_f64() <= log_likelihood.to_f64() + slack, "best path above the sum");

        let doubles = |row: &[T; N]| row[..states].iter().map(|p| p.to_f64()).collect::<Vec<_>>();
        Ok(Answers {
            log_likelihood: log_likelihood.to_f64(),
            posterior: plain.iter().map(doubles).collect(),
            pairs: pairs[..states].iter().map(doubles).collect(),
            path: path.into_iter().map(usize::from).collect(),
            log_joint: log_joint.to_f64(),
        })
    }
}

/// `None` where the tests' builder does not know the family.
fn ask<T: Real>(name: &str, model: &Model, sequence: &Sequence) -> Option<Answers> {
    match dispatch::<T, _>(model, Ask { model, sequence }) {
        Err(error) if error.starts_with("no such") => None,
        answers => Some(answers.unwrap_or_else(|error| panic!("{name}: {error}"))),
    }
}

#[test]
fn short_sequences_agree_with_enumeration() {
    let mut asked = 0;
    for length in [1, 2, 3, 6] {
        for seed in 0..8 {
            for sample in zoo(seed, length) {
                let (name, model) = (sample.name, &sample.model);
                let Some(answers) = ask::<f64>(name, model, &sample.sequence) else { continue };
                let truth = Enumeration::of(model, &sample.sequence).expect("a possible sequence");
                close(answers.log_likelihood, truth.likelihood.ln(), 1e-11, name);
                all_close(&answers.posterior, &truth.posterior, 1e-11, name);
                all_close(&answers.pairs, &truth.pairs, 1e-11, name);
                close(answers.log_joint, truth.best_joint.ln(), 1e-11, name);
                let log = model.log_joint(&answers.path, &sample.sequence);
                close(log, truth.best_joint.ln(), 1e-11, name);
                asked += 1;
            }
        }
    }
    assert!(asked >= 4 * 8 * 11, "only {asked} sequences");
}

#[test]
fn longer_sequences_agree_with_the_log_domain_in_both_precisions() {
    for seed in 0..3 {
        for sample in zoo(100 + seed, 200) {
            let (name, model) = (sample.name, &sample.model);
            let truth = LogDomain::of(model, &sample.sequence);
            let (_, log_joint) = truth.viterbi().expect("a possible sequence");
            let (posterior, pairs) = (
                truth.posterior().expect("a possible sequence"),
                truth.pairs().expect("a possible sequence"),
            );
            let Some(double) = ask::<f64>(name, model, &sample.sequence) else { continue };
            close(double.log_likelihood, truth.log_likelihood(), 1e-11, name);
            all_close(&double.posterior, &posterior, 1e-10, name);
            all_close(&double.pairs, &pairs, 1e-10, name);
            close(double.log_joint, log_joint, 1e-11, name);
            close(model.log_joint(&double.path, &sample.sequence), log_joint, 1e-11, name);

            let single = ask::<f32>(name, model, &sample.sequence).expect("the family is known");
            close(single.log_likelihood, truth.log_likelihood(), 1e-5, name);
            // A log-density of a few hundred nats is known to some 1e-5 in f32: so are ratios.
            all_close(&single.posterior, &posterior, 2e-3, name);
            all_close(&single.pairs, &pairs, 2e-3, name);
            close(single.log_joint, log_joint, 1e-5, name);
            close(model.log_joint(&single.path, &sample.sequence), log_joint, 1e-4, name);
        }
    }
}

/// The state that explains an observation can hardly be reached, in `f32` almost beyond its range.
#[test]
fn a_state_that_nothing_foresaw_has_its_posterior() {
    for rare in [1e-12_f64, 1e-25, 1e-30, 1e-38, 1e-42] {
        let rare = f64::from(rare as f32);
        let transition = vec![
            vec![1.0 - rare, 0.0, rare],
            vec![0.0, 1.0 - 2.0 * rare, 2.0 * rare],
            vec![0.0, 0.0, 1.0],
        ];
        let emission =
            [-0.5, 0.5, 300.0].map(|mean| Law::Gaussian { mean: vec![mean], variance: vec![1.0] });
        let model = Model { initial: vec![0.5, 0.5, 0.0], transition, emission: emission.to_vec() };
        let sequence: Sequence = [0.25, -0.4, 299.0, 300.0, 301.0]
            .map(|x| Some(Observation::Channels(vec![x])))
            .to_vec();
        let truth = LogDomain::of(&model, &sequence);
        let (posterior, pairs) = (
            truth.posterior().expect("a possible sequence"),
            truth.pairs().expect("a possible sequence"),
        );
        for (answers, tolerance) in [
            (ask::<f64>("rare", &model, &sequence).expect("a family that is known"), 1e-10),
            (ask::<f32>("rare", &model, &sequence).expect("a family that is known"), 2e-5),
        ] {
            // What is predicted below the smallest normal number is rounded to some 0.1 per cent, and
            // the likelihood with it: the posterior is not.
            close(
                answers.log_likelihood,
                truth.log_likelihood(),
                50.0 * tolerance,
                "log-likelihood",
            );
            all_close(&answers.posterior, &posterior, tolerance, "posterior");
            all_close(&answers.pairs, &pairs, tolerance, "pairs");
            assert_eq!(answers.path, truth.viterbi().expect("a possible sequence").0);
        }
    }
}
