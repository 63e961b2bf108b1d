use std::slice::from_ref;

use fishweir::data::{Samples, SamplesView};
use fishweir::kernel::{
    CountKernel, Counted, Expected, FisherKernel, Gram, Kernel, KernelError, Metric, ScoreKernel,
    TopKernel, Whitening,
};
use fishweir::model::NoScore;
use fishweir::runtime::Hmm;
use fishweir_core::emission::Parametrisation;
use fishweir_tests::oracle::least_eigenvalue;
use fishweir_tests::sample::{Sampler, TOPOLOGIES, Topology};
use proptest::prelude::*;

use crate::gram::{categorical, gaussian, sequences, views};

const BOTH: [Parametrisation; 2] = [Parametrisation::RATIO, Parametrisation::SOFTMAX];

const FORMS: [Option<ScoreKernel>; 4] = [
    None,
    Some(ScoreKernel::gaussian(3.0)),
    Some(ScoreKernel::Polynomial { degree: 3 }),
    Some(ScoreKernel::RootCosine),
];

/// What a matrix of kernel values must be: finite, symmetric to the bit, without a negative eigenvalue
/// but for rounding; and the same of its cosine, whose diagonal is one.
pub(super) fn must_be_a_kernel(gram: &Gram, name: &str) {
    for matrix in [gram, &gram.normalised()] {
        for i in 0..matrix.len() {
            for j in 0..matrix.len() {
                assert_eq!(matrix.get(i, j).to_bits(), matrix.get(j, i).to_bits(), "{name}");
            }
        }
        let spectrum = matrix.spectrum().expect(name);
        assert!(spectrum.is_positive_semidefinite(), "{name}: {spectrum:?}");
        // The library's eigenvalues by another algorithm.
        let rows: Vec<Vec<f64>> = matrix.rows().map(<[f64]>::to_vec).collect();
        let gap = (least_eigenvalue(&rows) - spectrum.smallest).abs();
        assert!(gap <= 1e-11 * (1.0 + spectrum.largest), "{name}: {gap:e} of {spectrum:?}");
    }
    for (raw, one) in gram.diagonal().zip(gram.normalised().diagonal()) {
        assert_eq!(one, f64::from(raw > 0.0), "{name}");
    }
}

fn metrics() -> Vec<Metric> {
    let mut metrics = vec![Metric::Practical];
    for expected in [
        Expected::Exact { length: 4 },
        Expected::Sampled { count: 50, seed: 3 },
        Expected::Empirical,
    ] {
        for (diagonal, ridge) in [(false, 0.0), (false, 0.1), (true, 0.0), (true, 0.1)] {
            metrics.push(Metric::Information { expected, diagonal, ridge });
        }
    }
    metrics
}

fn of_symbols(metric: &Metric) -> bool {
    matches!(metric, Metric::Information { expected: Expected::Exact { .. }, .. })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    #[test]
    fn fisher_kernels_are_kernels(seed: u64, topology in 0..4_usize, states in 1..4_usize) {
        let sampler = &mut Sampler::new(seed);
        let topology = TOPOLOGIES[topology];
        for symbols in [true, false] {
            let draw = if symbols { categorical } else { gaussian };
            let models = [draw(sampler, topology, states), draw(sampler, Topology::Ergodic, 2)];
            let samples = sequences(sampler, &models[0], 12);
            let views = views(&samples);
            for parametrisation in BOTH {
                for metric in metrics().into_iter().filter(|metric| symbols || !of_symbols(metric)) {
                    for form in FORMS {
                        let kernel = FisherKernel { models: &models, parametrisation, metric, form };
                        let name = format!("{metric:?} {form:?}");
                        must_be_a_kernel(&kernel.gram(&views).expect(&name), &name);
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn top_and_count_kernels_are_kernels(seed: u64, topology in 0..4_usize, states in 1..4_usize) {
        let sampler = &mut Sampler::new(seed);
        let models: Vec<Hmm> =
            (0..3).map(|_| categorical(sampler, TOPOLOGIES[topology], states)).collect();
        let samples = sequences(sampler, &models[0], 12);
        let views = views(&samples);
        for parametrisation in BOTH {
            for classes in [2, 3] {
                let log_priors = vec![-(classes as f64).ln(); classes];
                let models = &models[..classes];
                let kernel = TopKernel { models, log_priors: &log_priors, parametrisation };
                must_be_a_kernel(&kernel.gram(&views).expect("possible"), "TOP");
            }
        }
        for counted in [Counted::Single, Counted::Pairs] {
            for raw in [true, false] {
                let kernel = CountKernel { models: &models, counted, raw };
                must_be_a_kernel(&kernel.gram(&views).expect("possible"), "count");
            }
        }
    }

    /// The invariant kernel is the same in every parametrisation, the practical one is not.
    #[test]
    fn the_invariant_kernel_is_invariant(seed: u64, topology in 0..4_usize, states in 1..4_usize) {
        let sampler = &mut Sampler::new(seed);
        let model = categorical(sampler, TOPOLOGIES[topology], states);
        let length = 4;
        let samples: Vec<Samples> = (0..10).map(|n| model.simulate(length, n)).collect();
        let views = views(&samples);
        let expected = Expected::Exact { length };
        let metric = Metric::Information { expected, diagonal: false, ridge: 0.0 };
        // Where an axis is hardly known, the digits of its inverse are not those of the kernel.
        let clear = BOTH.iter().all(|&by| {
            let exact = fishweir::kernel::Information::exact(&model, length, by).expect("few");
            exact.axes().expect("finite").condition_number().is_none_or(|number| number < 1e6)
        });
        prop_assume!(clear);
        let grams = BOTH.map(|parametrisation| {
            let form = None;
            FisherKernel { models: from_ref(&model), parametrisation, metric, form }
                .gram(&views)
                .expect("possible")
        });
        let size = grams[0].diagonal().fold(0.0, f64::max);
        for (a, b) in grams[0].rows().flatten().zip(grams[1].rows().flatten()) {
            prop_assert!((a - b).abs() <= 1e-8 * (1.0 + size), "{a} and {b}");
        }
    }

    /// A machine's weights on features mean the same on scores.
    #[test]
    fn weights_pulled_back_give_the_same_values(seed: u64, states in 1..4_usize) {
        let sampler = &mut Sampler::new(seed);
        let model = categorical(sampler, Topology::Ergodic, states);
        let samples = sequences(sampler, &model, 8);
        let practical = FisherKernel {
            models: from_ref(&model),
            parametrisation: Parametrisation::SOFTMAX,
            metric: Metric::Practical,
            form: None,
        };
        let (scores, _) = practical.features(&views(&samples)).expect("possible");
        let by = fishweir::kernel::Information::empirical(&scores).expect("scores");
        let axes = by.axes().expect("finite");
        for whitening in [
            Whitening::practical(),
            Whitening::inverse(&axes),
            Whitening::ridge(&axes, 0.2).expect("positive"),
            Whitening::diagonal(&by, 0.0).expect("not negative"),
        ] {
            let features = whitening.features(scores.clone());
            let weights = sampler.row(features[0].len(), -1.0, 1.0);
            let pulled = whitening.pull(&weights);
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            for (features, score) in features.iter().zip(&scores) {
                let (one, other) = (dot(features, &weights), dot(score, &pulled));
                prop_assert!((one - other).abs() < 1e-9 * (1.0 + one.abs()), "{one} {other}");
            }
        }
    }
}

#[test]
fn the_practical_kernel_does_depend_on_the_parametrisation() {
    let sampler = &mut Sampler::new(5);
    let model = categorical(sampler, Topology::Ergodic, 2);
    let samples = sequences(sampler, &model, 6);
    let [ratio, softmax] = BOTH.map(|parametrisation| {
        let (metric, form) = (Metric::Practical, None);
        let models = from_ref(&model);
        FisherKernel { models, parametrisation, metric, form }.gram(&views(&samples)).expect("all")
    });
    assert!((ratio.get(0, 0) - softmax.get(0, 0)).abs() > 0.1 * softmax.get(0, 0));
}

/// Log-odds of the classes, by the features themselves: first of each block.
fn log_odds(models: &[Hmm], view: SamplesView<'_>) -> Vec<f64> {
    let log_priors = vec![-(models.len() as f64).ln(); models.len()];
    let parametrisation = Parametrisation::SOFTMAX;
    let features = TopKernel { models, log_priors: &log_priors, parametrisation }
        .features(&[view])
        .expect("possible")
        .swap_remove(0);
    let blocks = if models.len() == 2 { 1 } else { models.len() };
    let length = features.len() / blocks;
    (0..blocks).map(|block| features[block * length]).collect()
}

/// The rows of a model's probabilities, in the order of its score.
fn rows(model: &mut Hmm) -> Vec<&mut Vec<f64>> {
    let Some(probability) = model.emission.symbols_mut() else {
        return Vec::new();
    };
    std::iter::once(&mut model.initial).chain(&mut model.transition).chain(probability).collect()
}

/// The models with one logit of one of them moved.
fn moved(models: &[Hmm], which: usize, row: usize, entry: usize, step: f64) -> Vec<Hmm> {
    let mut models = models.to_vec();
    let mut rows = rows(&mut models[which]);
    let row = &mut rows[row];
    row[entry] *= step.exp();
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|p| *p /= sum);
    models
}

/// The TOP features are log-odds and their derivatives with respect to every logit of every model.
#[test]
fn top_features_are_derivatives_of_log_odds() {
    for classes in [2, 3] {
        let sampler = &mut Sampler::new(classes as u64);
        let models: Vec<Hmm> =
            (0..classes).map(|_| categorical(sampler, Topology::Ergodic, 2)).collect();
        let samples = sequences(sampler, &models[0], 5).swap_remove(4);
        let log_priors = vec![-(classes as f64).ln(); classes];
        let parametrisation = Parametrisation::SOFTMAX;
        let kernel = TopKernel { models: &models, log_priors: &log_priors, parametrisation };
        let features = kernel.features(&[samples.view()]).expect("possible").swap_remove(0);
        let blocks = log_odds(&models, samples.view()).len();
        let length = features.len() / blocks;
        let mut place = 1;
        for which in 0..classes {
            let widths: Vec<usize> =
                rows(&mut models[which].clone()).iter().map(|row| row.len()).collect();
            for (row, width) in widths.into_iter().enumerate() {
                for entry in 0..width {
                    let at =
                        |step| log_odds(&moved(&models, which, row, entry, step), samples.view());
                    let (up, down) = (at(1e-5), at(-1e-5));
                    for block in 0..blocks {
                        let slope = (up[block] - down[block]) / 2e-5;
                        let got = features[block * length + place];
                        assert!((got - slope).abs() < 1e-8, "{got} {slope}");
                    }
                    place += 1;
                }
            }
        }
        assert_eq!(place, length);
    }
}

#[test]
fn an_impossible_sequence_is_named() {
    let model = Hmm {
        initial: vec![1.0, 0.0],
        transition: vec![vec![0.5, 0.5], vec![0.0, 1.0]],
        emission: fishweir::runtime::Emissions::categorical(vec![vec![1.0, 0.0], vec![0.0, 1.0]]),
    };
    let possible = Samples::Symbols(vec![Some(0), Some(1)]);
    let impossible = Samples::Symbols(vec![Some(0), Some(1), Some(0)]);
    let views = [possible.view(), impossible.view()];
    let fisher = FisherKernel {
        models: from_ref(&model),
        parametrisation: Parametrisation::SOFTMAX,
        metric: Metric::Practical,
        form: None,
    };
    let log_priors = [0.5_f64.ln(); 2];
    let models = [model.clone(), model.clone()];
    let parametrisation = Parametrisation::RATIO;
    let top = TopKernel { models: &models, log_priors: &log_priors, parametrisation };
    let count =
        |counted| CountKernel { models: from_ref(&model), counted, raw: false }.gram(&views);
    for refused in
        [fisher.gram(&views), top.gram(&views), count(Counted::Single), count(Counted::Pairs)]
    {
        let error = refused.expect_err("impossible");
        assert!(matches!(error, KernelError::NoScore(NoScore { sequence: 1, .. })), "{error}");
        assert!(error.to_string().contains("observation 2"), "{error}");
    }
}

#[test]
fn counts_need_symbols_and_log_odds_two_classes() {
    let sampler = &mut Sampler::new(1);
    let model = gaussian(sampler, Topology::Ergodic, 2);
    let samples = sequences(sampler, &model, 3);
    let parametrisation = Parametrisation::SOFTMAX;
    for counted in [Counted::Single, Counted::Pairs] {
        let kernel = CountKernel { models: from_ref(&model), counted, raw: false };
        let error = kernel.gram(&views(&samples)).expect_err("channels");
        let words = "only symbols can be counted; the model observes real channels";
        assert_eq!(error.to_string(), words);
    }
    let top = TopKernel { models: from_ref(&model), log_priors: &[0.0], parametrisation };
    let error = top.gram(&views(&samples)).err();
    assert_eq!(error, Some(KernelError::Classes { models: 1, priors: 1 }));
}

/// Of all pairs at once, and of features with stored ones.
#[test]
fn kernels_on_features_are_their_formulas() {
    let sampler = &mut Sampler::new(12);
    let mut features: Vec<Vec<f64>> = (0..12).map(|_| sampler.row(7, -2.0, 2.0)).collect();
    features[3] = vec![0.0; 7];
    // Typical sequences have small scores.
    features[4].iter_mut().for_each(|x| *x *= 1e-9);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let cosine = |a: &[f64], b: &[f64]| {
        let lengths = (dot(a, a) * dot(b, b)).sqrt();
        if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
    };
    let roots = |row: &[f64]| -> Vec<f64> {
        row.iter().map(|x| if *x < 0.0 { -(-x).sqrt() } else { x.sqrt() }).collect()
    };
    for kernel in [
        ScoreKernel::gaussian(3.0),
        ScoreKernel::Polynomial { degree: 3 },
        ScoreKernel::Cosine,
        ScoreKernel::RootCosine,
    ] {
        let formula = |a: &[f64], b: &[f64]| match kernel {
            ScoreKernel::Gaussian { gamma } => {
                let gap: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
                (-gamma * dot(&gap, &gap)).exp()
            }
            ScoreKernel::Polynomial { degree } => (1.0 + dot(a, b)).powi(degree as i32),
            ScoreKernel::Cosine => cosine(a, b),
            ScoreKernel::RootCosine => cosine(&roots(a), &roots(b)),
        };
        let gram = kernel.gram(&features);
        must_be_a_kernel(&gram, &format!("{kernel:?}"));
        for (i, one) in features.iter().enumerate() {
            let mut prepared = one.clone();
            kernel.prepare(&mut prepared);
            for (j, other) in features.iter().enumerate() {
                let wanted = formula(one, other);
                let with_stored = kernel.value(&prepared, &kernel.stored(other.clone()));
                for found in [gram.get(i, j), with_stored] {
                    let gap = (found - wanted).abs();
                    assert!(gap <= 1e-13 * (1.0 + wanted.abs()), "{kernel:?} {i} {j}: {found}");
                }
            }
        }
    }
    // The length of a score is not looked at, and against itself a score is at its farthest.
    let scaled: Vec<Vec<f64>> = [1.0, 1e6, -0.01]
        .map(|by| features[0].iter().map(|x| by * x).collect())
        .into_iter()
        .collect();
    for (other, wanted) in [(1, 1.0), (2, -1.0)] {
        let found = ScoreKernel::RootCosine.gram(&scaled).get(0, other);
        assert!((found - wanted).abs() < 1e-14, "{found}");
    }
}

/// Who is not asked has no part in the information: no other sequence moves a feature.
#[test]
fn an_information_is_of_those_asked_alone() {
    let sampler = &mut Sampler::new(11);
    let model = categorical(sampler, Topology::Ergodic, 2);
    let samples: Vec<Samples> = (0..9).map(|n| model.simulate(6 + n as usize, n)).collect();
    let others: Vec<Samples> = (0..9).map(|n| model.simulate(40, 90 + n)).collect();
    let mixed: Vec<Samples> = samples[..5].iter().chain(&others[5..]).cloned().collect();
    for (expected, diagonal) in [
        (Expected::Empirical, false),
        (Expected::Empirical, true),
        (Expected::Sampled { count: 50, seed: 3 }, false),
    ] {
        let kernel = FisherKernel {
            models: from_ref(&model),
            parametrisation: Parametrisation::SOFTMAX,
            metric: Metric::Information { expected, diagonal, ridge: 0.1 },
            form: None,
        };
        let training = [0, 1, 2, 3, 4];
        let features = |samples: &[Samples], of: &[usize]| {
            kernel.features_by(&views(samples), of).expect("possible").0
        };
        let own = features(&samples, &training);
        assert_eq!(own[..5], features(&mixed, &training)[..5]);
        let all: Vec<usize> = (0..9).collect();
        assert_ne!(own[..5], features(&mixed, &all)[..5]);
    }
}
