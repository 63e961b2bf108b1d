//! A classifier's values are the sum written out by hand, from the oracles' likelihoods.

use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::emission::Parametrisation as Coordinates;
use fishweir_core::emission::{Categorical, Gaussian};
use fishweir_core::filter::Streaming;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::{ErrorKind, ModelError, Part};
use fishweir_tests::build::{Family, direction, padded, samples};
use fishweir_tests::oracle::{
    Direction, Law, LogDomain, Model, Parametrisation, Sequence, derivative,
};
use fishweir_tests::sample::{Sampler, Topology};
use proptest::prelude::*;

use crate::theorems::{assert_close, push};

const NORMALISATIONS: [Normalisation; 3] =
    [Normalisation::NONE, Normalisation::PER_SAMPLE, Normalisation::PER_ROOT_SAMPLE];

fn factor(normalisation: Normalisation, samples: usize) -> f64 {
    match normalisation {
        Normalisation::PER_SAMPLE => 1.0 / samples as f64,
        Normalisation::PER_ROOT_SAMPLE => 1.0 / (samples as f64).sqrt(),
        _ => 1.0,
    }
}

/// The class with the largest value and its lead, or the sign of a single value.
fn decide(values: &[f64]) -> (usize, f64) {
    if let [value] = values {
        return (usize::from(*value > 0.0), value.abs());
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    (order[0], values[order[0]] - values[order[1]])
}

fn check<E: Family<f64>, const N: usize, const O: usize>(
    models: &[Model; 3],
    sequence: &Sequence,
    weights: [[f64; 3]; O],
    biases: [f64; O],
    normalisation: Normalisation,
) {
    let bank: [Hmm<E, N>; 3] = std::array::from_fn(|m| padded(&models[m]).expect("a model"));
    let classifier = StreamClassifier::from_parts(bank, weights, biases, normalisation);
    classifier.validate().expect("finite");
    let logs = models.each_ref().map(|m| LogDomain::of(m, sequence).prefix_log_likelihood());
    let mut state = classifier.initial_state();
    for (t, x) in samples::<f64, E>(sequence).expect("observations").iter().enumerate() {
        assert!(push(&classifier, &mut state, x.as_ref()));
        let values: Vec<f64> = (0..O)
            .map(|o| {
                let evidence: f64 = (0..3).map(|m| weights[o][m] * logs[m][t]).sum();
                biases[o] + factor(normalisation, t + 1) * evidence
            })
            .collect();
        let scale = 1.0 + logs.iter().map(|log| log[t].abs()).sum::<f64>();
        for (got, value) in classifier.decision_values(&state).iter().zip(&values) {
            assert_close(*got, *value, 0.0, 1e-12 * scale, "decision value");
        }
        let decision = classifier.read(&state);
        let (class, margin) = decide(&values);
        assert_close(decision.margin, margin, 0.0, 1e-11 * scale, "margin");
        assert!(decision.class == class || margin < 1e-11 * scale, "class at sample {t}");
        assert_eq!(state.samples(), t as u64 + 1);
    }
}

/// Models with a direction per output: linear machines on Fisher scores.
fn check_directed<E: Family<f64>, const N: usize>(
    models: &[Model; 2],
    directions: &[[Direction; 3]; 2],
    sequence: &Sequence,
    normalisation: Normalisation,
) {
    let (weights, biases) = ([[0.5, -0.25], [0.0, 0.0], [-1.0, 2.0]], [0.25, -0.5, 0.0]);
    let bank: [Hmm<E::WithDirections<3>, N>; 2] = std::array::from_fn(|m| {
        let hmm = padded::<f64, E, N>(&models[m]).expect("a model");
        let w = directions[m].each_ref();
        let w = w.map(|w| direction::<f64, E, N>(w).expect("a direction of its shape"));
        hmm.with_directions(&w, Coordinates::SOFTMAX)
    });
    let classifier = StreamClassifier::from_parts(bank, weights, biases, normalisation);
    classifier.validate().expect("finite");
    let mut state = classifier.initial_state();
    for x in samples::<f64, E>(sequence).expect("observations") {
        assert!(push(&classifier, &mut state, x.as_ref()));
    }
    let log = |model: &Model| LogDomain::of(model, sequence).log_likelihood();
    let values: Vec<f64> = (0..3)
        .map(|o| {
            let evidence = |m: usize| {
                let moved = |e| directions[m][o].moved(&models[m], Parametrisation::Softmax, e);
                let slope = derivative(|e| log(&moved(e).expect("its shape")), 1e-4);
                weights[o][m] * log(&models[m]) + slope
            };
            biases[o] + factor(normalisation, sequence.len()) * (evidence(0) + evidence(1))
        })
        .collect();
    let scale = 1.0 + models.iter().map(|m| log(m).abs()).sum::<f64>();
    for (got, value) in classifier.decision_values(&state).iter().zip(&values) {
        assert_close(*got, *value, 1e-6, 1e-8 * scale, "decision value");
    }
    let (class, margin) = decide(&values);
    let decision = classifier.read(&state);
    assert_close(decision.margin, margin, 1e-6, 1e-7 * scale, "margin");
    assert!(decision.class == class || margin < 1e-6 * scale, "class");
}

proptest! {
    #![proptest_config(crate::theorems::cases(32))]

    #[test]
    fn likelihood_classifiers_are_the_sum_by_hand(
        seed: u64, length in 1_usize..=60, normalisation in 0_usize..3,
    ) {
        let mut s = Sampler::new(seed);
        let normalisation = NORMALISATIONS[normalisation];
        let models: [Model; 3] = std::array::from_fn(|_| s.categorical(Topology::Ergodic, 3, 4));
        let sequence = s.sequence(&models[0], length, 0.2);
        let bayes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let biases = [s.normal(), s.normal(), s.normal()];
        check::<Categorical<4, f64>, 4, 3>(&models, &sequence, bayes, biases, normalisation);
        let weights = [[s.normal(), s.normal(), s.normal()]];
        let bias = [s.normal()];
        check::<Categorical<4, f64>, 3, 1>(&models, &sequence, weights, bias, normalisation);
        let models: [Model; 3] =
            std::array::from_fn(|_| s.model(Topology::Ergodic, 2, |s| s.gaussian_law(2, 4.0)));
        let sequence = s.sequence(&models[1], length, 0.2);
        check::<Gaussian<2, f64>, 2, 3>(&models, &sequence, bayes, biases, normalisation);
    }

    #[test]
    fn score_classifiers_are_the_sum_by_hand(
        seed: u64, length in 1_usize..=40, normalisation in 0_usize..3,
    ) {
        let mut s = Sampler::new(seed);
        let normalisation = NORMALISATIONS[normalisation];
        let check_family = |s: &mut Sampler, models: [Model; 2]| {
            let directions = models.each_ref().map(|m| std::array::from_fn(|_| s.direction(m)));
            let sequence = s.sequence(&models[0], length, 0.2);
            match models[0].emission[0] {
                Law::Categorical(_) => check_directed::<Categorical<4, f64>, 3>(
                    &models, &directions, &sequence, normalisation,
                ),
                _ => check_directed::<Gaussian<2, f64>, 4>(
                    &models, &directions, &sequence, normalisation,
                ),
            }
        };
        let models = std::array::from_fn(|_| s.categorical(Topology::Ergodic, 3, 4));
        check_family(&mut s, models);
        let models =
            std::array::from_fn(|_| s.model(Topology::LeftToRight, 3, |s| s.gaussian_law(2, 3.0)));
        check_family(&mut s, models);
    }
}

/// However far away samples are, a margin is a number; weights by which it might not be are refused.
#[test]
fn heavy_weights_make_no_margin_that_is_no_number() {
    let chain = Chain::<f32, 1>::new([1.0], [[1.0]]).expect("sums to one");
    let law = |mean| Gaussian::<1>::new([mean], [1.0]).expect("positive");
    let bank = [0.0, 1.0].map(|mean| Hmm::new(chain, [law(mean)]));
    let weighed = |weights| {
        StreamClassifier::from_parts(bank, [[weights, -weights]], [0.0], Normalisation::NONE)
    };
    let heaviest = 2_f32.powi(48);
    let heavy = weighed(heaviest);
    assert_eq!(heavy.validate(), Ok(()));
    let mut state = heavy.initial_state();
    for x in [0.5, 1e9, -4e9, -4e9] {
        heavy.step(&mut state, &[x]).expect("possible");
        assert!(heavy.read(&state).margin.is_finite(), "{:?}", heavy.read(&state));
    }
    for (weight, kind) in [
        (2.0 * heaviest, ErrorKind::NotInRange),
        (f32::MAX, ErrorKind::NotInRange),
        (f32::INFINITY, ErrorKind::NotFinite),
    ] {
        let refused = Err(ModelError::new(Part::LikelihoodWeight, kind, 0, 0));
        assert_eq!(weighed(weight).validate(), refused, "{weight}");
    }
}
