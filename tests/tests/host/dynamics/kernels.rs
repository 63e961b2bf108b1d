//! Kernels between systems and between networks, beside the golden vectors.

use fishweir::dynamics::{LinearNetwork, LinearSystem, Moments};
use fishweir::kernel::between::{
    BetweenError, DynamicsKernel, ModelKernel, NetworkKernel, PerStepKernel,
};
use fishweir_core::kernel::{Affinity, Normal, gaussian_log_overlap};
use fishweir_tests::sample::Sampler;

use super::{host, in_other_coordinates, near};

const MEASURES: [Affinity<f64>; 6] = [
    Affinity::Product { rho: 0.5 },
    Affinity::Product { rho: 1.0 },
    Affinity::Product { rho: 1.75 },
    Affinity::MeanMap { lambda: 0.0 },
    Affinity::MeanMap { lambda: 0.25 },
    Affinity::MeanMap { lambda: 30.0 },
];

/// By the covariance of all samples together.
fn dense(a: &Moments, b: &Moments, measure: Affinity<f64>) -> f64 {
    let size = a.mean.len();
    let mut scratch = vec![0.0; size * (size + 1)];
    let (one, other) = (a.covariance.concat(), b.covariance.concat());
    let one = Normal::full(&a.mean, &one, &mut scratch).expect("a Gaussian");
    let other = Normal::full(&b.mean, &other, &mut scratch).expect("a Gaussian");
    gaussian_log_overlap(&one, &other, measure, &mut scratch).expect("a kernel")
}

#[test]
fn a_filter_of_zeros_says_what_the_dense_gaussians_do() {
    let mut sampler = Sampler::new(51);
    let systems: Vec<LinearSystem> =
        [1, 2, 3, 5].into_iter().map(|n| host(&sampler.system(n, 2))).collect();
    for measure in MEASURES {
        for times in [0, 1, 2, 7] {
            let kernel = DynamicsKernel::new(times, measure).expect("a measure");
            for a in &systems {
                for b in &systems {
                    let got = kernel.log_value(a, b).expect("a kernel");
                    let joint = |s: &LinearSystem| s.joint(times).expect("moments");
                    near(
                        got,
                        if times == 0 { 0.0 } else { dense(&joint(a), &joint(b), measure) },
                        1e-9,
                    );
                    near(got, kernel.log_value(b, a).expect("the same"), 1e-12);
                }
            }
        }
    }
}

/// Whatever the coordinates; a system's Bhattacharyya affinity with itself is one; and where states forget
/// at once, samples are independent.
#[test]
fn kernels_keep_what_they_promise() {
    let mut sampler = Sampler::new(52);
    let (a, b) = (host(&sampler.system(3, 2)), host(&sampler.system(2, 2)));
    for measure in MEASURES {
        let kernel = DynamicsKernel::new(40, measure).expect("a measure");
        let log = kernel.log_value(&a, &b).expect("a kernel");
        near(kernel.log_value(&in_other_coordinates(&a), &b).expect("the same"), log, 1e-9);
        let forget = |system: &LinearSystem| {
            let mut system = system.clone();
            system.transition.iter_mut().for_each(|row| row.fill(0.0));
            system
        };
        let (a, b) = (forget(&a), forget(&b));
        let per_step = PerStepKernel::new(40, measure).expect("a measure");
        let (exact, apart) = (kernel.log_value(&a, &b), per_step.log_value(&a, &b));
        near(exact.expect("a kernel"), apart.expect("a kernel"), 1e-10);
    }
    let own = DynamicsKernel::new(40, MEASURES[0]).expect("a measure").log_value(&a, &a);
    assert!(own.expect("a kernel").abs() < 1e-9);
}

#[test]
fn matrices_of_all_pairs_are_positive_semidefinite() {
    let mut sampler = Sampler::new(53);
    let systems: Vec<LinearSystem> = (0..12).map(|k| host(&sampler.system(1 + k % 4, 2))).collect();
    for measure in MEASURES {
        for times in [1, 6] {
            let kernel = DynamicsKernel::new(times, measure).expect("a measure");
            let gram = kernel.log_gram(&systems).expect("kernels").normalised();
            assert!(gram.spectrum().expect("eigenvalues").is_positive_semidefinite());
            let kernel = PerStepKernel::new(times, measure).expect("a measure");
            let gram = kernel.log_gram(&systems).expect("kernels").normalised();
            assert!(gram.spectrum().expect("eigenvalues").is_positive_semidefinite());
        }
    }
}

/// So long that the kernel is below the least number.
#[test]
fn length_underflows_nothing() {
    let mut sampler = Sampler::new(54);
    let systems = [host(&sampler.system(2, 2)), host(&sampler.system(3, 2))];
    let kernel = DynamicsKernel::new(3000, MEASURES[1]).expect("a measure");
    let logs = kernel.log_gram(&systems).expect("kernels");
    assert!(logs.get(0, 1) < -2000.0);
    assert!((0.0..1.0).contains(&logs.normalised().get(0, 1)));
}

#[test]
fn what_cannot_be_compared_is_said() {
    let mut sampler = Sampler::new(55);
    let (a, b) = (host(&sampler.system(2, 2)), host(&sampler.system(2, 1)));
    let kernel = DynamicsKernel::new(3, MEASURES[0]).expect("a measure");
    let refused = kernel.log_value(&a, &b);
    assert!(matches!(refused, Err(BetweenError::Shapes { what: "channels", first: 2, second: 1 })));
    let mut broken = a.clone();
    broken.observation_noise[0][0] = 0.0;
    assert!(matches!(kernel.log_value(&a, &broken), Err(BetweenError::Model { .. })));
    let wide = host(&sampler.system(40, 2));
    assert!(matches!(kernel.log_value(&wide, &wide), Err(BetweenError::Model { .. })));
    for measure in [Affinity::Product { rho: 0.0 }, Affinity::MeanMap { lambda: f64::NAN }] {
        assert!(matches!(DynamicsKernel::new(3, measure), Err(BetweenError::Parameter { .. })));
    }
}

fn network(sampler: &mut Sampler, variables: usize) -> LinearNetwork {
    let mut weights = vec![vec![0.0; variables]; variables];
    for (i, row) in weights.iter_mut().enumerate() {
        row[..i].iter_mut().for_each(|weight| *weight = sampler.normal());
    }
    LinearNetwork {
        bias: (0..variables).map(|_| sampler.normal()).collect(),
        weights,
        variance: (0..variables).map(|_| sampler.uniform(0.2, 2.0)).collect(),
        observed: vec![variables - 1, 0],
    }
}

/// A system is a network of its numbers.
#[test]
fn a_system_written_as_a_network_has_its_kernel() {
    let chain = |a: f64, q: f64, c: f64, r: f64| {
        let system = LinearSystem {
            initial_mean: vec![0.5],
            initial_covariance: vec![vec![1.5]],
            transition: vec![vec![a]],
            state_noise: vec![vec![q]],
            observation: vec![vec![c]],
            observation_noise: vec![vec![r]],
        };
        let mut weights = vec![vec![0.0; 6]; 6];
        for (to, from, weight) in [(1, 0, c), (2, 0, a), (3, 2, c), (4, 2, a), (5, 4, c)] {
            weights[to][from] = weight;
        }
        let network = LinearNetwork {
            bias: vec![0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
            weights,
            variance: vec![1.5, r, q, r, q, r],
            observed: vec![1, 3, 5],
        };
        (system, network)
    };
    let ((one, net), (other, net2)) = (chain(0.9, 0.3, 1.0, 0.5), chain(-0.4, 1.0, 2.0, 0.25));
    for measure in MEASURES {
        let systems = DynamicsKernel::new(3, measure).expect("a measure");
        let networks = NetworkKernel::new(measure).expect("a measure");
        let expected = networks.log_value(&net, &net2).expect("a kernel");
        near(systems.log_value(&one, &other).expect("a kernel"), expected, 1e-11);
    }
}

#[test]
fn networks_that_are_none_are_refused() {
    let mut sampler = Sampler::new(56);
    let good = network(&mut sampler, 4);
    let kernel = NetworkKernel::new(MEASURES[1]).expect("a measure");
    kernel.log_value(&good, &network(&mut sampler, 3)).expect("a kernel");
    let refused = |change: fn(&mut LinearNetwork), words: &str| {
        let mut network = good.clone();
        change(&mut network);
        let error = network.validate().expect_err("refused").to_string();
        assert!(error.contains(words), "`{error}` does not say `{words}`");
    };
    refused(|n| n.weights[1][2] = 0.5, "weights[1][2]");
    refused(|n| n.weights[3].truncate(2), "weights[3]");
    refused(|n| n.variance[2] = -1.0, "variance[0][2]");
    refused(|n| n.observed = vec![1, 1], "observed[1]");
    refused(|n| n.observed = vec![4], "observed[0]");
    refused(|n| n.observed.clear(), "without observed variables");
    // A variable that others determine has no density.
    let mut still = good.clone();
    still.variance = vec![1.0, 0.0, 0.0, 0.0];
    assert!(matches!(kernel.log_value(&still, &good), Err(BetweenError::Singular { .. })));
}
