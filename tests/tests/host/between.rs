//! Kernels between fitted models: every family, matrices of all pairs, bounds, what is refused.

use fishweir::kernel::between::{
    Affinity, BetweenError, DistributionKernel, FactorialHmm, FactorialKernel, HmmKernel,
    MeanField, ModelKernel,
};
use fishweir::model::DensityModel;
use fishweir::runtime::{Distribution, Emissions, Hmm, family};
use fishweir_tests::oracle::{least_eigenvalue, log_sum_exp};
use fishweir_tests::sample::{Sampler, TOPOLOGIES};

/// A model of a family of emissions over two channels, or three symbols.
fn model(sampler: &mut Sampler, name: &str, topology: usize, states: usize) -> Hmm {
    let (initial, transition) = sampler.chain(TOPOLOGIES[topology], states);
    let mut table = |length, low, high| -> Vec<Vec<f64>> {
        (0..states).map(|_| sampler.row(length, low, high)).collect()
    };
    let blocks = match name {
        "gaussian" => vec![table(2, -2.0, 2.0), table(2, 0.5, 1.5)],
        "poisson" => vec![table(2, 0.1, 20.0)],
        "bernoulli" => vec![table(2, 0.0, 1.0)],
        "full-gaussian" => {
            let spread = |row: &Vec<f64>| vec![row[0], row[2], row[2], row[1]];
            let (mean, rows) = (table(2, -2.0, 2.0), table(3, 0.5, 1.0));
            let skew = |mut row: Vec<f64>| {
                row[2] = 0.4 * (row[2] - 0.75);
                spread(&row)
            };
            vec![mean, rows.into_iter().map(skew).collect()]
        }
        "mixture" => {
            let mean = table(4, -2.0, 2.0);
            let std = table(4, 0.5, 1.5);
            vec![(0..states).map(|_| sampler.probabilities(2)).collect(), mean, std]
        }
        _ => vec![(0..states).map(|_| sampler.sparse_probabilities(3)).collect()],
    };
    let emission = Emissions::new(family(name).expect("a family"), blocks);
    Hmm { initial, transition, emission }
}

const FAMILIES: [&str; 6] =
    ["categorical", "gaussian", "poisson", "bernoulli", "full-gaussian", "mixture"];

const MEASURES: [Affinity<f64>; 4] = [
    Affinity::Product { rho: 0.5 },
    Affinity::Product { rho: 1.0 },
    Affinity::Product { rho: 1.7 },
    Affinity::MeanMap { lambda: 0.6 },
];

/// Pair by pair of states, in logarithms: no scaling, no padding, no vectors.
fn slow(kernel: &HmmKernel, power: f64, steps: usize, a: &Hmm, b: &Hmm) -> f64 {
    let psi = kernel.log_overlaps(a, b).expect("overlaps");
    let mut row: Option<Vec<Vec<f64>>> = None;
    for _ in 0..=steps {
        let next = |i: usize, j: usize| {
            let predicted = match &row {
                None => power * (a.initial[i].ln() + b.initial[j].ln()),
                Some(row) => {
                    let from = (0..a.states()).flat_map(|k| (0..b.states()).map(move |l| (k, l)));
                    let terms = from.map(|(k, l)| {
                        row[k][l] + power * (a.transition[k][i].ln() + b.transition[l][j].ln())
                    });
                    log_sum_exp(&terms.collect::<Vec<_>>())
                }
            };
            predicted + psi[i][j]
        };
        row =
            Some((0..a.states()).map(|i| (0..b.states()).map(|j| next(i, j)).collect()).collect());
    }
    log_sum_exp(&row.expect("a step").concat())
}

/// Of models of one to five states: the slow sum, the same whichever is first, and without negative
/// eigenvalues.
#[test]
fn every_family_has_matrices_of_all_pairs() {
    let mut sampler = Sampler::new(3);
    for (number, name) in FAMILIES.into_iter().enumerate() {
        let sizes = [1, 2, 3, 5, 2, 4];
        let models: Vec<Hmm> =
            sizes.map(|states| model(&mut sampler, name, (states + number) % 4, states)).into();
        for measure in MEASURES {
            let steps = 6;
            let kernel = HmmKernel::new(measure, steps).expect("a kernel");
            let gram = kernel.log_gram(&models).expect("a matrix");
            for (i, a) in models.iter().enumerate() {
                for (j, b) in models.iter().enumerate().take(i + 1) {
                    let (log, alone) = (gram.get(i, j), kernel.log_value(a, b).expect("a value"));
                    assert_eq!(log.to_bits(), alone.to_bits());
                    for expected in [
                        slow(&kernel, measure.exponent(), steps, a, b),
                        kernel.log_value(b, a).expect("a value"),
                    ] {
                        let near =
                            log == expected || (log - expected).abs() < 1e-10 * (1.0 + log.abs());
                        assert!(near, "{name}, {measure:?}, {i} and {j}: {log}, not {expected}");
                    }
                }
            }
            let normal = gram.normalised();
            let rows: Vec<Vec<f64>> = normal.rows().map(<[f64]>::to_vec).collect();
            let least = least_eigenvalue(&rows);
            assert!(least > -1e-10, "{name}, {measure:?}: eigenvalue {least}");
        }
    }
}

/// Ten thousand steps: logarithms of tens of thousands, and cosines that are numbers. Models without a
/// sequence in common are orthogonal.
#[test]
fn no_length_underflows() {
    let mut sampler = Sampler::new(4);
    let mut models: Vec<Hmm> = (0..3).map(|_| model(&mut sampler, "full-gaussian", 0, 3)).collect();
    let kernel = HmmKernel::product(1.0, 10_000).expect("a kernel");
    let gram = kernel.log_gram(&models).expect("a matrix");
    assert!(gram.get(1, 0) < -20_000.0, "{}", gram.get(1, 0));
    let normal = gram.normalised();
    assert!((normal.get(1, 1) - 1.0).abs() < 1e-9 && normal.get(0, 1) < 1.0);
    for mean in models[2].emission.part_mut("mean").expect("means").iter_mut().flatten() {
        *mean += 300.0;
    }
    let log = kernel.log_value(&models[0], &models[2]).expect("a value");
    assert!(log.is_finite() && log < -1e8, "{log}: improbable, not impossible");
    let symbol = |probability: [f64; 2]| Hmm {
        initial: vec![1.0],
        transition: vec![vec![1.0]],
        emission: Emissions::categorical(vec![probability.into()]),
    };
    let gram = kernel.log_gram(&[symbol([1.0, 0.0]), symbol([0.0, 1.0])]).expect("a matrix");
    assert_eq!(gram.get(0, 1), f64::NEG_INFINITY);
    assert_eq!(gram.normalised().get(0, 1), 0.0);
}

/// An estimate of a density from points is their mean map, widened by both bandwidths; of symbols it is
/// the mean over all pairs.
#[test]
fn estimates_are_means_over_points() {
    let mut sampler = Sampler::new(5);
    let mut cloud = |points: usize| -> Vec<Vec<f64>> {
        (0..points).map(|_| sampler.row(2, -1.0, 1.0)).collect()
    };
    let (xs, ys) = (cloud(7), cloud(4));
    let (h, other, lambda) = (0.2, 0.5, 1.5);
    let width = 1.0 + lambda * (h + other);
    let distance =
        |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum() };
    let terms = xs.iter().flat_map(|x| ys.iter().map(|y| distance(x, y)));
    let sum: f64 = terms.map(|square| (-0.5 * lambda * square / width).exp() / width).sum();
    let kernel = DistributionKernel::mean_map(lambda).expect("a kernel");
    let estimates =
        [Distribution::kernel_density(&xs, h), Distribution::kernel_density(&ys, other)];
    let log = kernel.log_value(&estimates[0], &estimates[1]).expect("a value");
    assert!((log - (sum / 28.0).ln()).abs() < 1e-13, "{log}");

    let (s, t) = ([0, 1, 1, 2, 1], [2, 2, 0]);
    let alike = |a: usize, b: usize| if a == b { 1.0 } else { (-lambda).exp() };
    let sum: f64 = s.iter().flat_map(|&a| t.iter().map(move |&b| alike(a, b))).sum();
    let words = [Distribution::of_symbols(&s, 3), Distribution::of_symbols(&t, 3)];
    let log = kernel.log_value(&words[0], &words[1]).expect("a value");
    assert!((log - (sum / 15.0).ln()).abs() < 1e-14, "{log}");
}

/// A density that was fitted is the same distribution; a Gaussian with a matrix can be compared with one
/// without, and with a mixture.
#[test]
fn real_channels_are_one_space() {
    let density = DensityModel::new(
        vec![0.25, 0.75],
        vec![vec![0.0, 1.0], vec![2.0, -1.0]],
        vec![vec![1.0, 0.5], vec![0.5, 1.5]],
    )
    .expect("a density");
    let part = |mean: [f64; 2], variance: [f64; 2]| Distribution::FullGaussian {
        mean: mean.into(),
        covariance: vec![variance[0], 0.0, 0.0, variance[1]],
    };
    let by_hand = Distribution::Mixture {
        weight: vec![0.25, 0.75],
        component: vec![part([0.0, 1.0], [1.0, 0.25]), part([2.0, -1.0], [0.25, 2.25])],
    };
    let bell = Distribution::Gaussian { mean: vec![1.0, 0.0], variance: vec![1.0, 2.0] };
    for measure in MEASURES {
        let kernel = DistributionKernel::new(measure).expect("a kernel");
        let log = |a: &Distribution, b: &Distribution| kernel.log_value(a, b).expect("a value");
        let [one, other] =
            [density.distribution(), by_hand.clone()].map(|mixture| log(&mixture, &bell));
        assert!((one - other).abs() < 1e-13, "{measure:?}: {one} and {other}");
        // Samples that know nothing of each other are models without memory, a step at a time.
        if measure.exponent() == 1.0 {
            let chain = HmmKernel::new(measure, 2).expect("a kernel");
            let three = chain.log_value(&density.memoryless(), &density.memoryless());
            let own = log(&density.distribution(), &density.distribution());
            assert!((three.expect("a value") - 3.0 * own).abs() < 1e-12);
        }
    }
}

fn factorial(sampler: &mut Sampler, states: &[usize], topology: usize) -> FactorialHmm {
    let chains = states.iter().map(|&n| sampler.chain(TOPOLOGIES[topology], n));
    let (initial, transition) = chains.unzip();
    let mean = |&n: &usize| (0..n).map(|_| sampler.row(2, -1.0, 1.0)).collect();
    let mean = states.iter().map(mean).collect();
    FactorialHmm { initial, transition, mean, covariance: vec![vec![1.0, 0.3], vec![0.3, 0.8]] }
}

/// The bound rises with every sweep and stays below the kernel; where there is nothing hidden it is the
/// kernel. It starts at nothing where a chain has zeros.
#[test]
fn a_mean_field_bounds_the_kernel() {
    let mut sampler = Sampler::new(6);
    for topology in 0..4 {
        let a = factorial(&mut sampler, &[2, 3], topology);
        let b = factorial(&mut sampler, &[2, 2, 2], topology);
        for rho in [0.4, 0.5, 1.0, 2.0] {
            let exact = FactorialKernel::new(Affinity::Product { rho }, 4).expect("a kernel");
            let exact = exact.log_value(&a, &b).expect("a value");
            let field = MeanField::new(rho, 4).expect("a bound");
            let bounds = field.log_bounds(&a, &b).expect("bounds");
            assert!(bounds.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12), "{bounds:?}");
            let last = bounds[bounds.len() - 1];
            assert!(last.is_finite() && last <= exact + 1e-10, "{last} above {exact}");
            assert!(last > exact - 4.0, "{last} far below {exact}: topology {topology}, rho {rho}");
            assert_eq!(bounds[0].is_finite(), topology == 0, "{bounds:?}");
        }
    }
    let (a, b) = (factorial(&mut sampler, &[1, 1], 0), factorial(&mut sampler, &[1], 0));
    let exact = FactorialKernel::new(Affinity::Product { rho: 0.7 }, 3).expect("a kernel");
    let exact = exact.log_value(&a, &b).expect("a value");
    let bound = MeanField::new(0.7, 3).expect("a bound").log_value(&a, &b).expect("a value");
    assert!((bound - exact).abs() < 1e-12, "{bound} and {exact}");
    assert!(!MeanField::new(0.7, 3).expect("a bound").is_positive_semidefinite());
}

/// What is too large to enumerate is bounded, and says so.
#[test]
fn many_chains_are_left_to_the_bound() {
    let mut sampler = Sampler::new(8);
    let models = [0, 0].map(|topology| factorial(&mut sampler, &[3; 6], topology));
    let exact = FactorialKernel::new(Affinity::Product { rho: 0.5 }, 10).expect("a kernel");
    let error = exact.log_gram(&models).expect_err("729 states").to_string();
    assert!(error.contains("729 joint states") && error.contains("mean field"), "{error}");
    let field = MeanField::new(0.5, 10).expect("a bound");
    let gram = field.log_gram(&models).expect("bounds");
    assert!(gram.get(0, 1).is_finite());
}

/// Every refusal names what is wrong.
#[test]
fn refusals_name_the_culprit() {
    let parameter = |error: BetweenError| match error {
        BetweenError::Parameter { name, .. } => name,
        error => panic!("{error}"),
    };
    assert_eq!(parameter(HmmKernel::product(0.0, 3).expect_err("a rho")), "rho");
    assert_eq!(parameter(DistributionKernel::mean_map(f64::NAN).expect_err("a lambda")), "lambda");
    assert_eq!(parameter(MeanField::new(-1.0, 3).expect_err("a rho")), "rho");

    let mut sampler = Sampler::new(9);
    let kernel = HmmKernel::mean_map(1.0, 3).expect("a kernel");
    let refused = |models: [Hmm; 2]| {
        let error = kernel.log_gram(&models).expect_err("no kernel");
        assert_eq!(error.why, kernel.log_value(&models[1], &models[0]).expect_err("no kernel"));
        error.to_string()
    };
    let counts = model(&mut sampler, "poisson", 0, 2);
    let bells = model(&mut sampler, "gaussian", 0, 2);
    let text = refused([bells.clone(), counts.clone()]);
    assert!(text.contains("counts") && text.contains("real channels"), "{text}");
    let one = Hmm {
        initial: vec![1.0],
        transition: vec![vec![1.0]],
        emission: Emissions::gaussian(vec![vec![0.0]], vec![vec![1.0]]),
    };
    let text = refused([bells.clone(), one]);
    assert!(text.contains("models 1 and 0") && text.contains("1 real channels"), "{text}");
    let mut large = counts.clone();
    large.emission.part_mut("rate").expect("rates")[1][0] = 1e9;
    let text = refused([counts, large]);
    assert!(text.contains("rate [0]") && text.contains("larger units"), "{text}");
    let mut wrong = bells.clone();
    wrong.transition[1][0] = 0.9;
    assert!(
        kernel
            .log_value(&bells, &wrong)
            .expect_err("no chain")
            .to_string()
            .contains("transition[1]")
    );

    let flat = Distribution::FullGaussian { mean: vec![0.0; 2], covariance: vec![1.0; 4] };
    let kernel = DistributionKernel::product(0.5).expect("a kernel");
    let error = kernel.log_value(&flat, &flat).expect_err("no density");
    assert_eq!(error, BetweenError::Singular { part: "covariance".into(), row: 1 });
}
