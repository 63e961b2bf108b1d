use fishweir::batch::log_likelihoods;
use fishweir::data::Samples;
use fishweir::kernel::{Information, InformationError};
use fishweir::model::{Scored, scores};
use fishweir::runtime::Hmm;
use fishweir_core::emission::Parametrisation;
use fishweir_tests::oracle::words;
use fishweir_tests::sample::{Sampler, TOPOLOGIES, Topology};
use proptest::prelude::*;

use crate::gram::{SYMBOLS, categorical, gaussian, sequences, views};

const BOTH: [Parametrisation; 2] = [Parametrisation::RATIO, Parametrisation::SOFTMAX];

/// All sequences of a length, as the host has them.
fn all(length: usize) -> Vec<Samples> {
    words(SYMBOLS, length)
        .map(|word| {
            Samples::Symbols(word.iter().map(|&symbol| u16::try_from(symbol).ok()).collect())
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// `sum_x p(x) g(x) = 0`, and the exact information is `sum_x p(x) g(x) g(x)'` over all of them.
    #[test]
    fn scores_have_mean_zero_and_their_information(
        seed: u64,
        topology in 0..4_usize,
        states in 1..4_usize,
        length in 0..5_usize,
    ) {
        let model = categorical(&mut Sampler::new(seed), TOPOLOGIES[topology], states);
        let samples = all(length);
        for parametrisation in BOTH {
            let mut mean = vec![0.0; model.parameters()];
            let mut second = vec![vec![0.0; model.parameters()]; model.parameters()];
            let mut size: f64 = 1.0;
            let mut total = 0.0;
            // A sequence that is impossible has no probability either.
            for found in model.scores(&views(&samples), parametrisation).into_iter().flatten() {
                let p = found.log_likelihood.exp();
                total += p;
                for (a, mean) in mean.iter_mut().enumerate() {
                    let g = found.score[a];
                    *mean += p * g;
                    size = size.max(g.abs());
                    for (sum, other) in second[a].iter_mut().zip(&found.score) {
                        *sum += p * g * other;
                    }
                }
            }
            prop_assert!((total - 1.0).abs() < 1e-12);
            for mean in mean {
                prop_assert!(mean.abs() < 1e-13 * size, "mean {mean:e}, scores up to {size}");
            }
            let exact = Information::exact(&model, length, parametrisation).expect("few");
            prop_assert_eq!(exact.standard_error, None);
            for (row, expected) in exact.matrix().rows().zip(&second) {
                for (got, expected) in row.iter().zip(expected) {
                    prop_assert!((got - expected).abs() < 1e-12 * size * size);
                }
            }
        }
    }

    /// Entries of probabilities that are exactly zero are zero.
    #[test]
    fn structural_zeros_have_no_score(seed: u64, states in 2..5_usize) {
        let sampler = &mut Sampler::new(seed);
        let model = categorical(sampler, Topology::LeftToRight, states);
        let samples = sequences(sampler, &model, 6);
        let probabilities: Vec<f64> =
            model.initial.iter().chain(model.transition.iter().flatten()).copied().collect();
        for parametrisation in BOTH {
            for found in scores(&model, &views(&samples), parametrisation).expect("possible") {
                prop_assert_eq!(found.score.len(), model.parameters());
                for (p, entry) in probabilities.iter().zip(&found.score) {
                    prop_assert!(*p > 0.0 || *entry == 0.0);
                }
                prop_assert!(found.score.iter().all(|entry| entry.is_finite()));
            }
        }
    }
}

/// The scores of Gaussians are derivatives of the log-likelihood with respect to means, variances and
/// log standard deviations.
#[test]
fn gaussian_scores_are_derivatives() {
    let sampler = &mut Sampler::new(11);
    let model = gaussian(sampler, Topology::Ergodic, 3);
    let samples = sequences(sampler, &model, 7);
    let views = views(&samples);
    let [by_variance, by_log_std] = BOTH.map(|by| scores(&model, &views, by).expect("possible"));
    let (states, channels) = (model.states(), model.size());
    let moved = |change: &dyn Fn(&mut f64, &mut f64), state: usize, channel: usize| {
        let mut model: Hmm = model.clone();
        let of = |name| model.emission.part(name).expect("a Gaussian")[state][channel];
        let (mut mean, mut std) = (of("mean"), of("std"));
        change(&mut mean, &mut std);
        for (name, value) in [("mean", mean), ("std", std)] {
            model.emission.part_mut(name).expect("a Gaussian")[state][channel] = value;
        }
        let logs = log_likelihoods(&model, &views).expect("a model");
        logs.into_iter().map(|log| log.expect("possible")).collect::<Vec<f64>>()
    };
    let h = 1e-5;
    for state in 0..states {
        for channel in 0..channels {
            let slope = |change: &dyn Fn(f64, &mut f64, &mut f64)| -> Vec<f64> {
                let up = moved(&|mean, std| change(h, mean, std), state, channel);
                let down = moved(&|mean, std| change(-h, mean, std), state, channel);
                up.iter().zip(&down).map(|(up, down)| (up - down) / (2.0 * h)).collect()
            };
            let of_mean = slope(&|h, mean, _| *mean += h);
            let of_log_std = slope(&|h, _, std| *std *= h.exp());
            let of_variance = slope(&|h, _, std| *std = (*std * *std + h).sqrt());
            let place = states * (1 + states) + state * 2 * channels + channel;
            for (index, mean) in of_mean.into_iter().enumerate() {
                let (variance, log_std) = (&by_variance[index].score, &by_log_std[index].score);
                for (got, slope) in [
                    (variance[place], mean),
                    (log_std[place], mean),
                    (variance[place + channels], of_variance[index]),
                    (log_std[place + channels], of_log_std[index]),
                ] {
                    assert!((got - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{got} {slope}");
                }
            }
        }
    }
}

/// Lengths are taken from the whole list, whatever its order: of short sequences followed by long ones as
/// many of each.
#[test]
fn lengths_are_sampled_evenly() {
    let model = categorical(&mut Sampler::new(5), TOPOLOGIES[0], 2);
    let listed = [vec![1; 50], vec![20; 50]].concat();
    let drawn = [vec![1; 5], vec![20; 5]].concat();
    for by in BOTH {
        let of = |lengths: &[usize]| Information::sampled(&model, lengths, 10, 3, by).expect("ten");
        assert_eq!(of(&listed).matrix(), of(&drawn).matrix());
    }
}

/// The squared distance of the sampled information from the exact one is what its standard error says
/// it is in the mean, over many seeds, and never far more.
#[test]
fn the_sampled_information_is_within_its_standard_error() {
    let sampler = &mut Sampler::new(2);
    for topology in [Topology::Ergodic, Topology::LeftToRight] {
        let model = categorical(sampler, topology, 2);
        for parametrisation in BOTH {
            let length = 5;
            let exact = Information::exact(&model, length, parametrisation).expect("few");
            let mut ratios = Vec::new();
            for run in 0..20 {
                let sampled =
                    Information::sampled(&model, &[length], 400, 1000 * run, parametrisation)
                        .expect("sequences");
                let pairs = exact.matrix().rows().flatten().zip(sampled.matrix().rows().flatten());
                let distance: f64 = pairs.map(|(a, b)| (a - b) * (a - b)).sum();
                let error = sampled.standard_error.expect("sampled");
                ratios.push(distance / (error * error));
            }
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            assert!((0.4..2.5).contains(&mean), "{topology:?}: {mean}");
            assert!(ratios.iter().all(|ratio| *ratio < 16.0), "{topology:?}: {ratios:?}");
        }
    }
}

#[test]
fn information_that_cannot_be_had_is_refused() {
    let sampler = &mut Sampler::new(3);
    let by = Parametrisation::SOFTMAX;
    let (symbols, channels) =
        (categorical(sampler, Topology::Ergodic, 2), gaussian(sampler, Topology::Ergodic, 2));
    let refused = |result: Result<Information, InformationError>| result.expect_err("refused");
    assert_eq!(refused(Information::exact(&channels, 3, by)), InformationError::NotSymbols);
    let too_many = InformationError::TooMany { symbols: SYMBOLS, length: 40 };
    assert_eq!(refused(Information::exact(&symbols, 40, by)), too_many);
    for (lengths, count) in [(&[][..], 5), (&[3], 1)] {
        let refused = refused(Information::sampled(&symbols, lengths, count, 1, by));
        assert!(matches!(refused, InformationError::Nothing(_)), "{refused}");
    }
    assert!(matches!(refused(Information::empirical(&[])), InformationError::Nothing(_)));
    let information = Information::empirical(&[vec![1.0, 0.0]]).expect("one score");
    let axes = information.axes().expect("finite");
    assert_eq!((axes.rank(), axes.condition_number()), (1, Some(1.0)));
    for ridge in [0.0, -1.0, f64::NAN] {
        assert!(fishweir::kernel::Whitening::ridge(&axes, ridge).is_err());
    }
    assert!(fishweir::kernel::Whitening::diagonal(&information, -1.0).is_err());
}
