//! Mean maps over sequences, against the sums that define them.

use std::slice::from_ref;

use fishweir::data::{Samples, SamplesView};
use fishweir::kernel::mean_map::{Cliques, Convention, EmpiricalMap, LatentMap, Rbf};
use fishweir::kernel::{CountKernel, Counted, Gram, Kernel, KernelError};
use fishweir::model::NoScore;
use fishweir::runtime::Hmm;
use fishweir_tests::build::host::{host_model, host_samples};
use fishweir_tests::oracle::{LogDomain, Model, Observation, Sequence};
use fishweir_tests::sample::{Sampler, TOPOLOGIES, Topology};
use proptest::prelude::*;

use crate::gram::kernels::must_be_a_kernel;
use crate::gram::{SYMBOLS, categorical, gaussian, sequences, views};

const CONVENTIONS: [Convention; 2] = [Convention::Half, Convention::Full];
const CLIQUES: [Cliques; 3] = [Cliques::Emissions, Cliques::Transitions, Cliques::All];

fn rbf(lambda: f64, convention: Convention) -> Rbf {
    Rbf::new(lambda, convention).expect("not negative")
}

/// The radial basis function, as its convention writes it.
fn plain(lambda: f64, convention: Convention, squared: f64) -> f64 {
    let factor = if convention == Convention::Half { 0.5 } else { 1.0 };
    (-factor * lambda * squared).exp()
}

fn near(gram: &Gram, wanted: impl Fn(usize, usize) -> f64, what: &str) {
    for i in 0..gram.len() {
        for j in 0..gram.len() {
            let (got, wanted) = (gram.get(i, j), wanted(i, j));
            let off = (got - wanted).abs();
            assert!(off <= 1e-12 * (1.0 + wanted.abs()), "{what} {i} {j}: {got}, {wanted}");
        }
    }
}

/// Squared distance of two observations; symbols are vectors with a single one. `None` where one is
/// missing.
fn squared(x: &Option<Observation>, y: &Option<Observation>) -> Option<f64> {
    Some(match (x.as_ref()?, y.as_ref()?) {
        (Observation::Channels(x), Observation::Channels(y)) => {
            x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum()
        }
        (x, y) => 2.0 * f64::from(x != y),
    })
}

/// The mean over all pairs of windows.
fn empirical(order: usize, of_squared: impl Fn(f64) -> f64, x: &Sequence, y: &Sequence) -> f64 {
    let mut sum = 0.0;
    for x in x.windows(order + 1) {
        for y in y.windows(order + 1) {
            let distance = x.iter().zip(y).map(|(x, y)| squared(x, y)).sum::<Option<f64>>();
            sum += distance.map_or(0.0, &of_squared);
        }
    }
    let windows = |x: &Sequence| x.len().saturating_sub(order).max(1) as f64;
    sum / (windows(x) * windows(y))
}

/// `v_xq` and `v_qq` by all of their sums, from posteriors in logarithms.
fn latent(model: &Model, of_squared: impl Fn(f64) -> f64, x: &Sequence, y: &Sequence) -> [f64; 2] {
    let states = |i: usize, j: usize| if i == j { 1.0 } else { of_squared(2.0) };
    let (own, other) = (LogDomain::of(model, x), LogDomain::of(model, y));
    let (gamma, others) =
        (own.posterior().expect("possible"), other.posterior().expect("possible"));
    let (mut v_xq, mut v_qq) = (0.0, 0.0);
    for (x, gamma) in x.iter().zip(&gamma) {
        for (y, other) in y.iter().zip(&others) {
            let Some(distance) = squared(x, y) else { continue };
            for (i, p) in gamma.iter().enumerate() {
                for (j, q) in other.iter().enumerate() {
                    v_xq += of_squared(distance) * p * q * states(i, j);
                }
            }
        }
    }
    let (pairs, others) = (own.pairs().expect("possible"), other.pairs().expect("possible"));
    for (i, row) in pairs.iter().enumerate() {
        for (j, p) in row.iter().enumerate() {
            for (k, other) in others.iter().enumerate() {
                for (l, q) in other.iter().enumerate() {
                    v_qq += p * q * states(i, k) * states(j, l);
                }
            }
        }
    }
    let steps = |x: &Sequence| (x.len() - 1).max(1) as f64;
    [v_xq / (x.len() * y.len()) as f64, v_qq / (steps(x) * steps(y))]
}

/// A model of symbols or channels, and sequences of it with gaps.
fn drawn(sampler: &mut Sampler, symbols: bool, states: usize) -> (Model, Vec<Sequence>) {
    let model = if symbols {
        sampler.categorical(Topology::Ergodic, states, SYMBOLS)
    } else {
        sampler.model(Topology::Ergodic, states, |s| s.gaussian_law(2, 2.0))
    };
    let mut sequences = Vec::new();
    while sequences.len() < 5 {
        let sequence = sampler.sequence(&model, 1 + 2 * sequences.len(), 0.15);
        if sequence.iter().any(Option::is_some) {
            sequences.push(sequence);
        }
    }
    (model, sequences)
}

fn samples(sequences: &[Sequence]) -> Vec<Samples> {
    sequences.iter().map(|sequence| host_samples(sequence).expect("of one kind")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn empirical_maps_are_means_over_pairs_of_windows(
        seed: u64, symbols: bool, order in 0..4_usize, lambda in 0.0..3.0_f64,
    ) {
        let (_, sequences) = drawn(&mut Sampler::new(seed), symbols, 2);
        let samples = samples(&sequences);
        for convention in CONVENTIONS {
            let map = EmpiricalMap { order, rbf: rbf(lambda, convention) };
            let brute = |i: usize, j: usize| {
                let of_squared = |squared| plain(lambda, convention, squared);
                empirical(order, of_squared, &sequences[i], &sequences[j])
            };
            let gram = map.gram(&views(&samples)).expect("of one kind");
            near(&gram, brute, "pairs of windows");
            must_be_a_kernel(&gram, "empirical");
            if symbols {
                // A larger alphabet has words that there are not, and the same kernel.
                for size in [SYMBOLS, SYMBOLS + 2] {
                    let features = map.features(&views(&samples), size).expect("few words");
                    prop_assert!(features.iter().all(|row| row.len() == size.pow(order as u32 + 1)));
                    near(&Gram::of_features(&features), brute, "features");
                }
            }
        }
    }

    #[test]
    fn latent_maps_are_expectations_over_hidden_states(
        seed: u64, symbols: bool, states in 1..4_usize, lambda in 0.0..3.0_f64,
        nu in 0.1..3.0_f64,
    ) {
        let (model, sequences) = drawn(&mut Sampler::new(seed), symbols, states);
        let (hmm, samples) = (host_model(&model).expect("known"), samples(&sequences));
        for convention in CONVENTIONS {
            let brute = |i: usize, j: usize| {
                let of_squared = |squared| plain(lambda, convention, squared);
                latent(&model, of_squared, &sequences[i], &sequences[j])
            };
            for cliques in CLIQUES {
                let wanted = |i: usize, j: usize| {
                    let [v_xq, v_qq] = brute(i, j);
                    match cliques {
                        Cliques::Emissions => v_xq,
                        Cliques::Transitions => v_qq,
                        Cliques::All => v_xq + v_qq,
                    }
                };
                let rbf = rbf(lambda, convention);
                let map = LatentMap { models: from_ref(&hmm), rbf, cliques, nu: None };
                let gram = map.gram(&views(&samples)).expect("possible");
                near(&gram, wanted, "expectation");
                must_be_a_kernel(&gram, "latent");
                let exponentiated = |i: usize, j: usize| {
                    (-nu * (gram.get(i, i) - 2.0 * gram.get(i, j) + gram.get(j, j))).exp()
                };
                let map = LatentMap { nu: Some(nu), ..map };
                let gram = map.gram(&views(&samples)).expect("possible");
                near(&gram, exponentiated, "exponentiated");
                must_be_a_kernel(&gram, "latent, exponentiated");
            }
        }
    }

    /// Of chains with structural zeros, and of several models, which are added.
    #[test]
    fn latent_maps_are_kernels(
        seed: u64, symbols: bool, topology in 0..4_usize, states in 1..5_usize,
        lambda in 0.0..5.0_f64,
    ) {
        let sampler = &mut Sampler::new(seed);
        let draw = if symbols { categorical } else { gaussian };
        let models =
            [draw(sampler, TOPOLOGIES[topology], states), draw(sampler, Topology::Ergodic, 2)];
        let samples = sequences(sampler, &models[0], 12);
        let views = views(&samples);
        for nu in [None, Some(0.7)] {
            let of = |models: &[Hmm]| {
                let rbf = rbf(lambda, Convention::Half);
                LatentMap { models, rbf, cliques: Cliques::All, nu }.gram(&views).expect("possible")
            };
            let both = of(&models);
            must_be_a_kernel(&both, "of two models");
            let [one, other] = [of(&models[..1]), of(&models[1..])];
            let combined = |i: usize, j: usize| {
                let (a, b) = (one.get(i, j), other.get(i, j));
                if nu.is_some() { a * b } else { a + b }
            };
            near(&both, combined, "of one and the other");
        }
    }

    /// At a rate of zero all is alike; at an infinite one nothing but what is equal.
    #[test]
    fn limits_of_the_rate(seed: u64, states in 1..4_usize, order in 0..3_usize) {
        let sampler = &mut Sampler::new(seed);
        let model = categorical(sampler, Topology::Ergodic, states);
        let whole: Vec<Samples> = (0..5).map(|n| model.simulate(3 + n, n as u64)).collect();
        let views = views(&whole);
        let models = from_ref(&model);
        let map = |lambda, cliques| {
            let rbf = rbf(lambda, Convention::Full);
            LatentMap { models, rbf, cliques, nu: None }.gram(&views).expect("possible")
        };
        near(&map(0.0, Cliques::Emissions), |_, _| 1.0, "v_xq");
        near(&map(0.0, Cliques::Transitions), |_, _| 1.0, "v_qq");
        let words = EmpiricalMap { order, rbf: rbf(0.0, Convention::Half) };
        near(&words.gram(&views).expect("symbols"), |_, _| 1.0, "words");
        let counts = CountKernel { models, counted: Counted::Single, raw: false };
        let counts = counts.gram(&views).expect("possible");
        for lambda in [f64::INFINITY, 800.0] {
            near(&map(lambda, Cliques::Emissions), |i, j| counts.get(i, j), "counts");
        }
    }
}

#[test]
fn both_conventions_are_one_function() {
    let [half, full] = [rbf(3.0, Convention::Half), rbf(1.5, Convention::Full)];
    assert_eq!(half.mismatch().to_bits(), full.mismatch().to_bits());
    assert_eq!(half.mismatch(), (-3.0_f64).exp());
}

#[test]
fn what_has_no_mean_map_says_why() {
    let sampler = &mut Sampler::new(3);
    let (of_symbols, of_channels) =
        (categorical(sampler, Topology::Ergodic, 2), gaussian(sampler, Topology::Ergodic, 2));
    let (symbols, channels) = (of_symbols.simulate(4, 1), of_channels.simulate(4, 1));
    let (symbols, channels) = (symbols.view(), channels.view());
    for lambda in [-1.0, f64::NAN] {
        let error = Rbf::new(lambda, Convention::Half).expect_err("out of range");
        assert!(matches!(error, KernelError::Parameter { name: "lambda", .. }), "{error}");
    }
    let limit = rbf(f64::INFINITY, Convention::Half);
    let empirical = |order, rbf, items: &[SamplesView<'_>]| {
        EmpiricalMap { order, rbf }.gram(items).map(|gram| gram.len())
    };
    let one = rbf(1.0, Convention::Half);
    assert_eq!(empirical(1, limit, &[symbols]), Ok(1));
    assert_eq!(empirical(9, one, &[channels]), Ok(1));
    assert_eq!(empirical(1, one, &[symbols, channels]), Err(KernelError::Mixed));
    let refused =
        |error, wanted| matches!(error, Err(KernelError::Parameter { name, .. }) if name == wanted);
    assert!(refused(empirical(1, limit, &[channels]), "lambda"));
    assert!(refused(empirical(8, one, &[symbols]), "order"));
    let map = EmpiricalMap { order: 7, rbf: one };
    assert_eq!(map.features(&[channels], 2), Err(KernelError::NoFeatures));
    let too_many = KernelError::TooManyWords { symbols: 20, length: 8 };
    assert_eq!(map.features(&[symbols], 20), Err(too_many));
    assert_eq!(map.features(&[symbols], 3).expect("few").len(), 1);
    let latent = |model: &Hmm, rbf, nu, items: &[SamplesView<'_>]| {
        let map = LatentMap { models: from_ref(model), rbf, cliques: Cliques::All, nu };
        map.gram(items).map(|gram| gram.len())
    };
    assert!(refused(latent(&of_channels, limit, None, &[channels]), "lambda"));
    assert!(refused(latent(&of_symbols, one, Some(0.0), &[symbols]), "nu"));
    assert_eq!(latent(&of_channels, one, None, &[channels, symbols]), Err(KernelError::Mixed));
    let features =
        LatentMap { models: from_ref(&of_channels), rbf: one, cliques: Cliques::All, nu: None }
            .features(&[channels]);
    assert!(matches!(features, Err(KernelError::NotSymbols(_))), "{features:?}");
    let stuck = Hmm {
        initial: vec![1.0, 0.0],
        transition: vec![vec![1.0, 0.0], vec![0.0, 1.0]],
        emission: fishweir::runtime::Emissions::categorical(vec![vec![1.0, 0.0], vec![0.0, 1.0]]),
    };
    let impossible = Samples::Symbols(vec![Some(0), Some(1)]);
    let error = latent(&stuck, one, None, &[impossible.view()]);
    assert!(matches!(error, Err(KernelError::NoScore(NoScore { sequence: 0, .. }))), "{error:?}");
}
