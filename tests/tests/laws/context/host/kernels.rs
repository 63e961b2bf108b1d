use fishweir::data::Samples;
use fishweir::kernel::{
    Expected, FisherKernel, Gram, Information, Kernel, Metric, ScoreKernel, TopKernel,
};
use fishweir::model::{ContextSet, DensityModel, FittedModel, MarkovModel, PositionModel, Scored};
use fishweir_core::emission::Parametrisation;
use fishweir_tests::sample::Sampler;

use super::{BOTH, drawn, views};

/// Two models of a family each, with the sequences that their kernels are of.
struct Family {
    name: &'static str,
    models: [FittedModel; 2],
    samples: Vec<Samples>,
    /// Of the exact information, where there is one.
    length: Option<usize>,
}

fn families() -> Vec<Family> {
    let sampler = &mut Sampler::new(6);
    let strings: Vec<Samples> = (0..12).map(|n| drawn(sampler, 3, 2 + n % 5, 0.1)).collect();
    let even: Vec<Samples> = (0..12).map(|_| drawn(sampler, 3, 4, 0.1)).collect();
    let halves = |samples: &[Samples]| {
        let (first, second) = samples.split_at(samples.len() / 2);
        [first.to_vec(), second.to_vec()]
    };
    let markov = |set: ContextSet, end: bool| {
        let fit = |half: Vec<Samples>| -> FittedModel {
            MarkovModel::fit(&set, 3, end, &views(&half), 0.5).expect("a model").into()
        };
        halves(&strings).map(fit)
    };
    let positions = halves(&even).map(|half| -> FittedModel {
        PositionModel::fit(3, &views(&half), 0.5).expect("a model").into()
    });
    let mut density = |components: usize| {
        [(); 2].map(|()| -> FittedModel {
            let mut table = |low, high| -> Vec<Vec<f64>> {
                (0..components).map(|_| sampler.row(2, low, high)).collect()
            };
            let (mean, std) = (table(-1.0, 1.0), table(0.5, 2.0));
            let weight = sampler.probabilities(components);
            DensityModel::new(weight, mean, std).expect("a model").into()
        })
    };
    let (gaussian, mixture) = (density(1), density(3));
    let points = |models: &[FittedModel; 2]| -> Vec<Samples> {
        (0..12).map(|n| models[n % 2].any().draw(1 + n % 4, n as u64)).collect()
    };
    let (of_gaussian, of_mixture) = (points(&gaussian), points(&mixture));
    let strings_of =
        |name, models, length| Family { name, models, samples: strings.clone(), length };
    let chosen = ContextSet::Frequent { longest: 2, at_least: 4 };
    vec![
        strings_of("order 1", markov(ContextSet::Order(1), false), Some(5)),
        strings_of("padded", markov(ContextSet::Padded(1), true), Some(0)),
        strings_of("chosen", markov(chosen, true), Some(0)),
        Family { name: "positions", models: positions, samples: even, length: Some(4) },
        Family { name: "gaussian", models: gaussian, samples: of_gaussian, length: Some(3) },
        Family { name: "mixture", models: mixture, samples: of_mixture, length: None },
    ]
}

#[track_caller]
fn must_be_a_kernel(gram: &Gram, name: &str) {
    for matrix in [gram, &gram.normalised()] {
        let spectrum = matrix.spectrum().expect(name);
        assert!(spectrum.is_positive_semidefinite(), "{name}: {spectrum:?}");
    }
    assert!(gram.diagonal().any(|k| k > 0.0), "{name}");
}

#[test]
fn every_kernel_on_scores_takes_every_family() {
    let forms = [
        None,
        Some(ScoreKernel::gaussian(3.0)),
        Some(ScoreKernel::Polynomial { degree: 3 }),
        Some(ScoreKernel::RootCosine),
    ];
    for Family { name, models, samples, length } in families() {
        let models = models.each_ref().map(|model| model.any() as &dyn Scored);
        let exact = length.map(|length| Expected::Exact { length });
        let expected = [Expected::Sampled { count: 60, seed: 3 }, Expected::Empirical];
        let mut metrics = vec![Metric::Practical];
        for expected in exact.into_iter().chain(expected) {
            for (diagonal, ridge) in [(false, 0.0), (false, 0.1), (true, 0.0), (true, 0.1)] {
                metrics.push(Metric::Information { expected, diagonal, ridge });
            }
        }
        for parametrisation in BOTH {
            for &metric in &metrics {
                for form in forms {
                    let kernel = FisherKernel { models: &models, parametrisation, metric, form };
                    let name = format!("{name}: {metric:?} {form:?}");
                    must_be_a_kernel(&kernel.gram(&views(&samples)).expect(&name), &name);
                }
            }
            let log_priors = [0.5_f64.ln(); 2];
            let top = TopKernel { models: &models, log_priors: &log_priors, parametrisation };
            let features = top.features(&views(&samples)).expect(name);
            for (features, one) in features.iter().zip(&samples) {
                let logs = [0, 1].map(|class| {
                    let found = models[class].scores(&[one.view()], parametrisation);
                    found[0].as_ref().expect("possible").log_likelihood
                });
                let gap = features[0] - (logs[1] - logs[0]);
                assert!(gap.abs() < 1e-12 * (1.0 + logs[0].abs()), "{name}: {gap:e}");
            }
            must_be_a_kernel(&top.gram(&views(&samples)).expect(name), name);
        }
    }
}

/// The same in both parametrisations, by the exact information; and the practical kernel is not.
#[test]
fn the_invariant_kernel_is_invariant() {
    for Family { name, models, samples, length } in families() {
        let Some(length) = length else { continue };
        for model in models.iter().map(|model| model.any() as &dyn Scored) {
            let grams = |metric| {
                BOTH.map(|parametrisation| {
                    let models = &[model];
                    let form = None;
                    FisherKernel { models, parametrisation, metric, form }
                        .gram(&views(&samples))
                        .expect("possible")
                })
            };
            let expected = Expected::Exact { length };
            let exact = Metric::Information { expected, diagonal: false, ridge: 0.0 };
            let [ratio, softmax] = grams(exact);
            let size = ratio.diagonal().fold(0.0, f64::max);
            let gap = |[a, b]: [&Gram; 2]| {
                let pairs = a.rows().flatten().zip(b.rows().flatten());
                pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            let off = gap([&ratio, &softmax]);
            assert!(off <= 1e-9 * (1.0 + size), "{name}: {off:e} of {size}");
            let [ratio, softmax] = grams(Metric::Practical);
            assert!(gap([&ratio, &softmax]) > 1e-3, "{name}");
        }
    }
}

/// Whitened by the closed form, the features of drawn sequences have the identity as their mean product:
/// as many dimensions as there are free parameters.
#[test]
fn information_has_the_rank_of_the_free_parameters() {
    let rank = |model: &dyn Scored, length| {
        let exact = Information::exact(model, length, Parametrisation::SOFTMAX);
        exact.expect("a closed form").axes().expect("finite").rank()
    };
    let order = MarkovModel::uniform(&ContextSet::Order(2), 3, false, &[]).expect("a model");
    assert_eq!(rank(&order, 5), 9 * 2);
    // Two symbols are a context only; no context predicts.
    assert_eq!(rank(&order, 2), 0);
    let padded = MarkovModel::uniform(&ContextSet::Padded(1), 3, true, &[]).expect("a model");
    assert_eq!(rank(&padded, 0), 4 * 3);
    let positions = PositionModel::uniform(4, 6).expect("a model");
    assert_eq!((rank(&positions, 6), rank(&positions, 2)), (6 * 3, 2 * 3));
}
