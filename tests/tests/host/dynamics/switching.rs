//! Systems that switch: paths of modes, all of them and some.

use fishweir::dynamics::{LinearSystem, SwitchingSystem};
use fishweir::kernel::between::{
    BetweenError, DynamicsKernel, ModelKernel, PathWeights, SampledPaths, SampledSwitchingKernel,
    SwitchingKernel,
};
use fishweir_core::kernel::Affinity;
use fishweir_tests::sample::Sampler;

use super::{host, near, samples, series};

/// Modes that share their channels.
pub(super) fn switching(sampler: &mut Sampler, modes: usize, states: usize) -> SwitchingSystem {
    let systems: Vec<LinearSystem> = (0..modes).map(|_| host(&sampler.system(states, 2))).collect();
    let mut row = || {
        let row: Vec<f64> = (0..modes).map(|_| sampler.uniform(0.1, 1.0)).collect();
        let sum: f64 = row.iter().sum();
        row.into_iter().map(|p| p / sum).collect::<Vec<f64>>()
    };
    SwitchingSystem {
        initial: row(),
        chain: (0..modes).map(|_| row()).collect(),
        initial_mean: systems.iter().map(|s| s.initial_mean.clone()).collect(),
        initial_covariance: systems.iter().map(|s| s.initial_covariance.clone()).collect(),
        transition: systems.iter().map(|s| s.transition.clone()).collect(),
        state_noise: systems.iter().map(|s| s.state_noise.clone()).collect(),
        observation: systems[0].observation.clone(),
        observation_noise: systems[0].observation_noise.clone(),
    }
}

/// The mode as a system of its own.
fn alone(system: &SwitchingSystem, mode: usize) -> LinearSystem {
    LinearSystem {
        initial_mean: system.initial_mean[mode].clone(),
        initial_covariance: system.initial_covariance[mode].clone(),
        transition: system.transition[mode].clone(),
        state_noise: system.state_noise[mode].clone(),
        observation: system.observation.clone(),
        observation_noise: system.observation_noise.clone(),
    }
}

#[test]
fn a_mode_that_is_never_left_is_a_system() {
    let mut sampler = Sampler::new(61);
    let mut one = switching(&mut sampler, 3, 2);
    let mut other = switching(&mut sampler, 2, 3);
    one.initial = vec![0.0, 1.0, 0.0];
    one.chain[1] = vec![0.0, 1.0, 0.0];
    other.initial = vec![1.0, 0.0];
    other.chain[0] = vec![1.0, 0.0];
    let own = samples(&series(&mut sampler, 2, 12));
    let rows = own.view().rows().expect("channels");
    let along = one.log_likelihood_along(&[1; 12], rows).expect("a likelihood");
    near(along, alone(&one, 1).log_likelihood(rows).expect("a likelihood"), 1e-12);
    near(one.log_probability(&[1; 12]), 0.0, 1e-12);
    for measure in [Affinity::Product { rho: 0.5 }, Affinity::MeanMap { lambda: 2.0 }] {
        let plain = DynamicsKernel::new(4, measure).expect("a measure");
        let expected = plain.log_value(&alone(&one, 1), &alone(&other, 0)).expect("a kernel");
        for weights in [PathWeights::Powered, PathWeights::Expected] {
            let kernel = SwitchingKernel::new(4, measure, weights).expect("a measure");
            near(kernel.log_value(&one, &other).expect("a kernel"), expected, 1e-10);
        }
        let drawn =
            |system: &SwitchingSystem| SampledPaths::draw(system.clone(), 4, 3, 1).expect("paths");
        let sampled = SampledSwitchingKernel::new(measure).expect("a measure");
        near(sampled.log_value(&drawn(&one), &drawn(&other)).expect("a kernel"), expected, 1e-10);
    }
}

#[test]
fn paths_that_are_drawn_estimate_the_sum_over_all() {
    let mut sampler = Sampler::new(62);
    let (one, other) = (switching(&mut sampler, 2, 2), switching(&mut sampler, 2, 1));
    for measure in [Affinity::Product { rho: 0.5 }, Affinity::Product { rho: 1.0 }] {
        let exact = SwitchingKernel::new(3, measure, PathWeights::Expected).expect("a measure");
        let expected = exact.log_value(&one, &other).expect("a kernel");
        let kernel = SampledSwitchingKernel::new(measure).expect("a measure");
        let draw = |system: &SwitchingSystem, seed| {
            SampledPaths::draw(system.clone(), 3, 4000, seed).expect("paths")
        };
        let got = kernel.log_value(&draw(&one, 1), &draw(&other, 2)).expect("a kernel");
        assert!((got - expected).abs() < 0.1, "{got} estimates {expected}");
    }
}

#[test]
fn few_paths_make_a_positive_semidefinite_matrix() {
    let mut sampler = Sampler::new(63);
    let drawn: Vec<SampledPaths> = (0..10)
        .map(|k| {
            let system = switching(&mut sampler, 2, 1 + k % 3);
            SampledPaths::draw(system, 6, 3, k as u64).expect("paths")
        })
        .collect();
    for measure in [Affinity::Product { rho: 0.5 }, Affinity::Product { rho: 1.0 }] {
        let kernel = SampledSwitchingKernel::new(measure).expect("a measure");
        let gram = kernel.log_gram(&drawn).expect("kernels").normalised();
        assert!(gram.spectrum().expect("eigenvalues").is_positive_semidefinite());
    }
    let systems: Vec<SwitchingSystem> = drawn.iter().map(|d| d.system().clone()).collect();
    for weights in [PathWeights::Powered, PathWeights::Expected] {
        let kernel = SwitchingKernel::new(3, Affinity::Product { rho: 0.5 }, weights);
        let gram = kernel.expect("a measure").log_gram(&systems).expect("kernels").normalised();
        assert!(gram.spectrum().expect("eigenvalues").is_positive_semidefinite());
    }
}

#[test]
fn what_is_too_much_or_none_is_said() {
    let mut sampler = Sampler::new(64);
    let system = switching(&mut sampler, 3, 1);
    let kernel = SwitchingKernel::new(20, Affinity::Product { rho: 1.0 }, PathWeights::Powered);
    let refused = kernel.expect("a measure").log_value(&system, &system).expect_err("too many");
    assert!(refused.to_string().contains("draw some"), "{refused}");
    assert!(matches!(
        SampledPaths::draw(system.clone(), 5, 0, 1),
        Err(BetweenError::Parameter { name: "draws", .. })
    ));
    let refused = |change: fn(&mut SwitchingSystem), words: &str| {
        let mut system = system.clone();
        change(&mut system);
        let error = system.validate().expect_err("refused").to_string();
        assert!(error.contains(words), "`{error}` does not say `{words}`");
    };
    refused(|s| s.chain[2][0] += 0.5, "chain[2]");
    refused(|s| s.initial.truncate(1), "initial is no");
    refused(|s| s.state_noise.truncate(2), "state_noise has 2 entries, and 3 are needed");
    refused(|s| s.state_noise[1][0][0] = -1.0, "row 0 of state_noise[1]");
    refused(|s| s.transition[2][0] = vec![1.0, 2.0], "transition[2][0] has 2 entries");
    refused(|s| s.initial.clear(), "without modes");
    let rows = samples(&[Some(vec![0.0; 2])]);
    let refused = system.log_likelihood_along(&[3], rows.view().rows().expect("channels"));
    assert!(refused.expect_err("no such mode").to_string().contains("a path of 1 modes"));
}
