//! The marginalisation kernel over a finite set of models.

use fishweir_core::emission::Categorical;
use fishweir_core::hmm::Hmm;
use fishweir_core::kernel::{KernelError, Marginalisation};
use fishweir_tests::build::padded;
use fishweir_tests::checks::after;
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::oracle::{Law, LogDomain, Model, Observation, Sequence, log_sum_exp};
use fishweir_tests::sample::{Sampler, TOPOLOGIES};
use proptest::prelude::*;

use crate::kernels::{assert_positive, borrowed, cases, gappy};

const SYMBOLS: usize = 3;
const MODELS: usize = 3;
type Model3 = Hmm<Categorical<SYMBOLS, f64>, 3>;

fn observed(symbols: &[Option<usize>]) -> Sequence {
    symbols.iter().map(|x| x.map(Observation::Symbol)).collect()
}

fn models(sampler: &mut Sampler, zeros: bool) -> Vec<Model> {
    (0..MODELS)
        .map(|m| {
            let mut model = sampler.categorical(TOPOLOGIES[m], 3, SYMBOLS);
            if zeros {
                for law in &mut model.emission {
                    *law = Law::Categorical(sampler.sparse_probabilities(SYMBOLS));
                }
            }
            model
        })
        .collect()
}

fn logs(models: &[Model], x: &[Option<usize>]) -> [f64; MODELS] {
    std::array::from_fn(|m| LogDomain::of(&models[m], &observed(x)).log_likelihood())
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn laws_and_definition_at_every_prefix(seed: u64, length in 0_usize..=40, zeros: bool) {
        let mut sampler = Sampler::new(seed);
        let plain = models(&mut sampler, zeros);
        let built: [Model3; MODELS] = std::array::from_fn(|m| padded(&plain[m]).expect("a model"));
        let prior: [f64; MODELS] =
            sampler.sparse_probabilities(MODELS).try_into().expect("a prior");
        let stored: [[f64; MODELS]; 2] = std::array::from_fn(|_| {
            let z = gappy(&mut sampler, length / 2 + 1, SYMBOLS);
            logs(&plain, &z)
        });
        let kernel = Marginalisation::of(&built, &prior, &stored).expect("a kernel");
        let x = gappy(&mut sampler, length, SYMBOLS);
        let samples = borrowed(&x);
        let trial = Trial { samples: &samples, refusable: &[&SYMBOLS] };
        let refused = check(kernel, trial, |prefix, reading: [f64; 2]| {
            let prefix: Vec<_> = prefix.iter().map(|x| x.copied()).collect();
            let here = logs(&plain, &prefix);
            for (stored, log) in stored.iter().zip(reading) {
                let terms: Vec<f64> =
                    (0..MODELS).map(|m| prior[m].ln() + here[m] + stored[m]).collect();
                let expected = log_sum_exp(&terms);
                assert!(
                    log == expected || (log - expected).abs() < 1e-11 * (1.0 + expected.abs()),
                    "{log} where {expected} is right"
                );
            }
        });
        prop_assert_eq!(refused, length + 1, "a symbol that is none is refused, possible or not");
    }

    #[test]
    fn gram_is_positive(seed: u64) {
        let mut sampler = Sampler::new(seed);
        let plain = models(&mut sampler, false);
        let built: [Model3; MODELS] = std::array::from_fn(|m| padded(&plain[m]).expect("a model"));
        let items: Vec<_> = (0..6).map(|l| gappy(&mut sampler, 2 + l, SYMBOLS)).collect();
        let row = |z: &Vec<Option<usize>>| -> Vec<f64> {
            let stored = [logs(&plain, z)];
            items.iter().map(|x| {
                let prior = [0.5, 0.25, 0.25];
                let kernel = Marginalisation::of(&built, &prior, &stored).expect("a kernel");
                after(kernel, x.iter().copied()).read()[0]
            }).collect()
        };
        assert_positive(&items.iter().map(row).collect::<Vec<_>>());
    }
}

#[test]
fn a_long_stream_keeps_its_models_apart() {
    let mut sampler = Sampler::new(3);
    let plain = models(&mut sampler, false);
    let built: [Model3; MODELS] = std::array::from_fn(|m| padded(&plain[m]).expect("a model"));
    let x: Vec<_> = gappy(&mut sampler, 100_000, SYMBOLS);
    let stored = [[-3.0, -2.0, -1.0]];
    let kernel = Marginalisation::of(&built, &[0.25, 0.25, 0.5], &stored).expect("a kernel");
    let stream = after(kernel, x.iter().copied());
    let here = logs(&plain, &x);
    let terms: Vec<f64> =
        (0..MODELS).map(|m| [0.25_f64, 0.25, 0.5][m].ln() + here[m] + stored[0][m]).collect();
    let expected = log_sum_exp(&terms);
    assert!(expected < -5e4, "{expected}");
    assert!((stream.read()[0] - expected).abs() < 1e-11 * expected.abs());
}

#[test]
fn prior_and_stored_items_are_checked() {
    let mut sampler = Sampler::new(1);
    let plain = models(&mut sampler, false);
    let built: [Model3; MODELS] = std::array::from_fn(|m| padded(&plain[m]).expect("a model"));
    let refused = |prior: [f64; MODELS], stored: [[f64; MODELS]; 1]| {
        matches!(Marginalisation::of(&built, &prior, &stored), Err(KernelError::Model(_)))
    };
    assert!(refused([0.5, 0.25, 0.0], [[0.0; MODELS]]));
    assert!(refused([0.5, 0.75, -0.25], [[0.0; MODELS]]));
    assert!(refused([0.5, 0.25, 0.25], [[0.0, f64::NAN, 0.0]]));
    assert!(refused([0.5, 0.25, 0.25], [[0.0, f64::INFINITY, 0.0]]));
    assert!(!refused([0.5, 0.25, 0.25], [[0.0, f64::NEG_INFINITY, 0.0]]));
}
