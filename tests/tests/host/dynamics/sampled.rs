//! The product kernel by draws, against kernels that are known.

use fishweir::data::SamplesView;
use fishweir::dynamics::LinearSystem;
use fishweir::kernel::between::{
    BetweenError, DynamicsKernel, ModelKernel, OfLength, Sampled, SampledProduct,
};
use fishweir::runtime::{Emissions, Hmm};
use fishweir_core::kernel::Affinity;
use fishweir_tests::sample::Sampler;

use super::{host, near};

const DRAWS: usize = 800;

#[test]
fn of_systems_it_is_the_exact_kernel_but_for_chance() {
    let mut sampler = Sampler::new(81);
    let systems: Vec<OfLength<LinearSystem>> = (0..3)
        .map(|k| OfLength { model: host(&sampler.system(1 + k % 3, 2)), length: 2 })
        .collect();
    for rho in [0.5, 1.0] {
        let exact = DynamicsKernel::new(2, Affinity::Product { rho }).expect("a measure");
        let kernel = SampledProduct::new(rho, DRAWS, 7).expect("a measure");
        let pooled = kernel.pooled(&systems).expect("kernels");
        let gram = pooled.normalised();
        assert!(gram.spectrum().expect("eigenvalues").is_positive_semidefinite());
        for (i, a) in systems.iter().enumerate() {
            for (j, b) in systems.iter().enumerate() {
                let expected = exact.log_value(&a.model, &b.model).expect("a kernel").exp();
                let own = kernel.log_value(a, b).expect("a kernel").exp();
                for got in [own, pooled.get(i, j).exp()] {
                    let scale = if rho == 0.5 { 1.0 } else { expected };
                    assert!((got - expected).abs() < 0.15 * scale, "{got}, not {expected}");
                }
                near(kernel.log_value(b, a).expect("a kernel").exp(), own, 1e-12);
            }
        }
    }
}

/// Of hidden Markov models it is the kernel of what is observed: all words, each by its probability.
#[test]
fn of_hidden_markov_models_it_is_that_of_what_is_observed() {
    let model = |stay: f64, one: f64| Hmm {
        initial: vec![0.75, 0.25],
        transition: vec![vec![stay, 1.0 - stay], vec![1.0 - stay, stay]],
        emission: Emissions::categorical(vec![vec![one, 1.0 - one], vec![0.0, 1.0]]),
    };
    let models = [model(0.875, 0.75), model(0.25, 0.5)];
    let models = models.map(|model| OfLength { model, length: 3 });
    let words: Vec<Vec<Option<u16>>> =
        (0..8_u16).map(|word| (0..3).map(|bit| Some(word >> bit & 1)).collect()).collect();
    let of = |model: &OfLength<Hmm>| -> Vec<f64> {
        let views: Vec<SamplesView<'_>> = words.iter().map(|w| SamplesView::Symbols(w)).collect();
        let logs = fishweir::batch::log_likelihoods::<f64>(&model.model, &views).expect("a model");
        logs.into_iter().map(|log| log.map_or(0.0, f64::exp)).collect()
    };
    let (p, q) = (of(&models[0]), of(&models[1]));
    for rho in [0.5, 1.0, 2.0] {
        let expected: f64 = p.iter().zip(&q).map(|(p, q)| (p * q).powf(rho)).sum();
        let kernel = SampledProduct::new(rho, DRAWS, 3).expect("a measure");
        let got = kernel.log_value(&models[0], &models[1]).expect("a kernel").exp();
        assert!((got - expected).abs() < 0.1 * expected, "{got}, not {expected}");
    }
}

#[test]
fn what_cannot_be_drawn_or_scored_is_said() {
    let new = |rho, draws| SampledProduct::<OfLength<LinearSystem>>::new(rho, draws, 1);
    assert!(matches!(new(0.0, 5), Err(BetweenError::Parameter { name: "rho", .. })));
    assert!(matches!(new(0.5, 0), Err(BetweenError::Parameter { name: "draws", .. })));
    let mut sampler = Sampler::new(82);
    let mut of = |channels| OfLength { model: host(&sampler.system(2, channels)), length: 3 };
    let (two, three) = (of(2), of(3));
    assert!(matches!(
        new(0.5, 5).expect("a measure").log_value(&two, &three),
        Err(BetweenError::Shapes { what: "real channels", first: 2, second: 3 })
    ));
    assert_eq!(two.draws(3, 5), two.draws(3, 5));
    assert_ne!(two.draws(3, 5), two.draws(3, 6));
}
