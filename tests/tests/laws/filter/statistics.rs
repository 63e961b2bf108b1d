//! Forward-only statistics against smoothing by definition.

use fishweir_core::emission::{Categorical, SufficientStatistics, VectorSpace};
use fishweir_core::filter::{ExpectedStatistics, ForgettingFactor, Statistics, Stream};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use fishweir_tests::build::{Family, Task, dispatch, padded, samples};
use fishweir_tests::checks::after;
use fishweir_tests::laws;
use fishweir_tests::oracle::{Enumeration, Law, LogDomain, Model, Observation};
use fishweir_tests::sample::{Sample, Sampler, Topology, zoo};

use crate::filter::{assert_near, on_trial};

/// `p(z_u = i, z_u+1 = j | x_1..T)`, `[u][from][to]`.
fn pairs(model: &Model, oracle: &LogDomain) -> Vec<Vec<Vec<f64>>> {
    let n = model.states();
    let log = oracle.log_likelihood();
    let pair = |u: usize, i: usize, j: usize| {
        let onward = oracle.log_emission[u + 1][j] + oracle.log_backward[u + 1][j];
        (oracle.log_forward[u][i] + model.transition[i][j].ln() + onward - log).exp()
    };
    let at = |u| (0..n).map(|i| (0..n).map(|j| pair(u, i, j)).collect()).collect();
    (0..oracle.log_forward.len().saturating_sub(1)).map(at).collect()
}

/// `sum_u lambda^(t-u) E[s_u | x_1..t]`, from posteriors of the log domain.
fn by_definition<E: SufficientStatistics<Real = f64>, const N: usize>(
    model: &Model,
    hmm: &Hmm<E, N>,
    sequence: &[Option<Observation>],
    observations: &[Option<&E::Observation>],
    lambda: f64,
) -> ExpectedStatistics<E::Statistics, f64, N> {
    let mut expected = ExpectedStatistics::<E::Statistics, f64, N>::ZERO;
    let oracle = LogDomain::of(model, sequence);
    let Some(posterior) = oracle.posterior() else { panic!("an impossible prefix") };
    let t = sequence.len() as i32;
    for (u, row) in posterior.iter().enumerate() {
        let weight = lambda.powi(t - 1 - u as i32);
        for (j, p) in row.iter().enumerate() {
            if u == 0 {
                expected.initial[j] = weight * p;
            }
            if let (Some(x), true) = (observations[u], *p > 0.0) {
                hmm.emission()[j].observe(x, weight * p, &mut expected.emission[j]);
            }
        }
    }
    for (u, pair) in pairs(model, &oracle).iter().enumerate() {
        let weight = lambda.powi(t - 2 - u as i32);
        for (i, j) in (0..model.states()).flat_map(|i| (0..model.states()).map(move |j| (i, j))) {
            expected.transition[i][j] += weight * pair[i][j];
        }
    }
    expected
}

fn entries<V: VectorSpace<f64>>(value: &V) -> Vec<f64> {
    let mut flat = vec![0.0; V::LENGTH];
    assert_eq!(value.write_to(&mut flat), V::LENGTH);
    flat
}

struct Checks<'a>(&'a Sample);

impl Task<f64> for Checks<'_> {
    /// Refusals that left the state alone.
    type Output = usize;

    fn run<E: Family<f64>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<usize, String> {
        let Sample { name, model, sequence } = self.0;
        let taken = samples::<f64, E>(sequence)?;
        let mut refusals = 0;
        let settings = [(1.0, false), (1.0, true), (0.9, false), (0.5, false), (0.0, false)];
        on_trial::<f64, E>(model, &taken, |trial| {
            for (lambda, zeros) in settings {
                let memory = ForgettingFactor::factor(lambda).expect("a factor");
                let plain = Statistics::of(hmm).with_memory(memory);
                let statistics = if zeros { plain.with_boundary_scores() } else { plain };
                refusals += laws::check(statistics, trial, |prefix, got| {
                    let t = prefix.len();
                    let expected = by_definition(model, hmm, &sequence[..t], prefix, lambda);
                    let (got, expected) = (entries(&got), entries(&expected));
                    for (entry, (got, expected)) in got.into_iter().zip(expected).enumerate() {
                        assert!(got.is_finite(), "{name}: entry {entry} at {t} is {got}");
                        // Limits of zeros that were asked for stand where these have zero.
                        if !(zeros && expected == 0.0) {
                            assert_near(got, expected, 1e-10, format!("{name}: {entry} at {t}"));
                        }
                        if expected == 0.0 && !zeros {
                            assert!(got == 0.0, "{name}: {entry} at {t} is {got}, cannot be");
                        }
                    }
                });
            }
        })?;
        Ok(refusals)
    }
}

#[test]
fn statistics_at_every_prefix_are_those_of_smoothing() {
    // Past 32 samples what has accumulated is moved out: the sequences are longer than that.
    let refusals: usize = zoo(33, 45)
        .iter()
        .map(|sample| match dispatch(&sample.model, Checks(sample)) {
            Ok(refusals) => refusals,
            Err(error) => panic!("{}: {error}", sample.name),
        })
        .sum();
    assert!(refusals > 600, "{refusals} refusals");
}

#[test]
fn statistics_of_short_sequences_are_those_of_enumeration() {
    let mut sampler = Sampler::new(8);
    for topology in fishweir_tests::sample::TOPOLOGIES {
        let model = sampler.categorical(topology, 3, 4);
        let sequence = sampler.sequence(&model, 6, 0.3);
        let hmm = padded::<f64, Categorical<4, f64>, 3>(&model).expect("a model");
        let mut stream = Stream::new(Statistics::of(&hmm));
        for (t, x) in
            samples::<f64, Categorical<4, f64>>(&sequence).expect("symbols").iter().enumerate()
        {
            match x {
                Some(x) => stream.push(x).expect("a possible sample"),
                None => stream.push(None).expect("a possible sample"),
            }
            let expected = Enumeration::of(&model, &sequence[..=t]).expect("possible");
            let got = stream.read();
            for i in 0..3 {
                assert_near(got.initial[i], expected.posterior[0][i], 1e-12, "first state");
                for j in 0..3 {
                    assert_near(got.transition[i][j], expected.pairs[i][j], 1e-12, "transitions");
                }
            }
        }
    }
}

/// The likelihood by the plain forward recursion, of any numbers: also where a probability that is
/// zero has been moved below zero.
fn likelihood(model: &Model, sequence: &[Option<Observation>]) -> f64 {
    let n = model.states();
    let emission = |j: usize, x: &Option<Observation>| match (x, &model.emission[j]) {
        (Some(Observation::Symbol(k)), Law::Categorical(p)) => p[*k],
        _ => 1.0,
    };
    let mut row: Vec<f64> = Vec::new();
    for (t, x) in sequence.iter().enumerate() {
        let predicted = |j: usize| -> f64 {
            if t == 0 {
                model.initial[j]
            } else {
                (0..n).map(|i| row[i] * model.transition[i][j]).sum()
            }
        };
        row = (0..n).map(|j| predicted(j) * emission(j, x)).collect();
    }
    row.iter().sum()
}

/// `d log p / d a` of one number of the model by central differences: exact for a polynomial of low
/// degree, up to rounding.
fn slope(
    model: &Model,
    sequence: &[Option<Observation>],
    number: impl Fn(&mut Model) -> &mut f64,
) -> f64 {
    let at = |e: f64| {
        let mut moved = model.clone();
        *number(&mut moved) += e;
        likelihood(&moved, sequence)
    };
    let central = |h: f64| (at(h) - at(-h)) / (2.0 * h);
    ((4.0 * central(5e-4) - central(1e-3)) / 3.0) / at(0.0)
}

#[test]
fn statistics_of_zeros_are_limits() {
    let mut sampler = Sampler::new(77);
    let mut zeros = 0;
    for topology in [Topology::LeftToRight, Topology::Sparse, Topology::Absorbing] {
        for _ in 0..5 {
            let mut model =
                sampler.model(topology, 3, |s| Law::Categorical(s.sparse_probabilities(4)));
            // Every symbol can be emitted, if not by every state.
            model.emission[0] = Law::Categorical(vec![0.25; 4]);
            let sequence = sampler.sequence(&model, 7, 0.2);
            let hmm = padded::<f64, Categorical<4, f64>, 3>(&model).expect("a model");
            let taken = samples::<f64, Categorical<4, f64>>(&sequence).expect("symbols");
            let got = after(Statistics::of(&hmm).with_boundary_scores(), taken).read();
            for i in 0..3 {
                if model.initial[i] == 0.0 {
                    let limit = slope(&model, &sequence, |m| &mut m.initial[i]);
                    assert_near(got.initial[i], limit, 1e-6, "initial");
                    zeros += 1;
                }
                for j in 0..3 {
                    if model.transition[i][j] == 0.0 {
                        let limit = slope(&model, &sequence, |m| &mut m.transition[i][j]);
                        assert_near(got.transition[i][j], limit, 1e-6, "transition");
                        zeros += 1;
                    }
                }
                let counts = entries(&got.emission[i]);
                for k in 0..4 {
                    let Law::Categorical(p) = &model.emission[i] else { continue };
                    if p[k] == 0.0 {
                        let limit = slope(&model, &sequence, |m| match &mut m.emission[i] {
                            Law::Categorical(p) => &mut p[k],
                            _ => unreachable!("all are categorical"),
                        });
                        assert_near(counts[k], limit, 1e-6, "emission");
                        zeros += 1;
                    }
                }
            }
        }
    }
    assert!(zeros > 50, "{zeros} zeros");
}

#[test]
fn limits_of_zeros_saturate_and_are_never_nan() {
    // Two states are out of reach and explain every symbol a million times better.
    let better = || Law::Categorical(vec![1.0, 0.0]);
    let model = Model {
        initial: vec![1.0, 0.0, 0.0],
        transition: vec![vec![1.0, 0.0, 0.0], vec![0.0, 0.5, 0.5], vec![0.0, 0.5, 0.5]],
        emission: vec![Law::Categorical(vec![1e-6, 1.0 - 1e-6]), better(), better()],
    };
    let hmm = padded::<f32, Categorical<2, f32>, 3>(&model).expect("a model");
    let mut stream = Stream::new(Statistics::of(&hmm).with_boundary_scores());
    for t in 0..5000_usize {
        stream.push(&usize::from(t % 977 == 976)).expect("a possible sample");
        let mut largest = 0.0_f32;
        stream.read().for_each(|entry| {
            assert!(entry.is_finite(), "{entry} at {t}");
            largest = largest.max(entry.abs());
        });
        assert!(largest <= 2.0_f32.powi(63), "{largest} at {t} is past where limits stop");
        assert!(t < 10 || largest > 1e12 || t > 900, "the limit is huge: {largest} at {t}");
    }
    assert!((stream.read().transition[0][0].to_f64() - 4999.0).abs() < 0.01, "counts are counts");
}

/// A huge limit leaves its part behind in a state that becomes too improbable for `f32`, which grows once
/// that state explains the samples best again.
#[test]
fn limits_stay_numbers_when_a_state_fades_and_explains_again() {
    let model = Model {
        initial: vec![1.0, 0.0, 0.0],
        transition: vec![vec![0.01, 0.99, 0.0], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]],
        emission: [[0.5, 0.5], [1e-6, 1.0 - 1e-6], [1.0, 0.0]]
            .map(|row| Law::Categorical(row.to_vec()))
            .to_vec(),
    };
    let hmm = padded::<f32, Categorical<2, f32>, 3>(&model).expect("a model");
    let mut stream = Stream::new(Statistics::of(&hmm).with_boundary_scores());
    for t in 0..200_usize {
        stream.push(&usize::from((64..85).contains(&t))).expect("a possible sample");
        stream.read().for_each(|entry| assert!(entry.abs() <= 2.0_f32.powi(63), "{entry} at {t}"));
    }
}
