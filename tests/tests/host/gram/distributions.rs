//! Kernels between distributions, against the sums and integrals that define them.

use fishweir::kernel::between::{
    BetweenError, Bhattacharyya, DistributionKernel, Divergence, ExponentialFamily, Gamma,
    GammaProduct, HeatForm, HeatKernel, ModelKernel, Multinomial, MultinomialProduct,
    MultinomialSeries, NaturalFamily, PairError, SymmetricKl,
};
use fishweir::runtime::Distribution;
use fishweir_tests::checks::near;
use fishweir_tests::oracle::Factored;
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

const RHOS: [f64; 5] = [0.25, 0.5, 0.8, 1.0, 2.0];

fn log_factorial(n: usize) -> f64 {
    (1..=n).map(|k| (k as f64).ln()).sum()
}

/// `log k` of a pair; the same of the pair turned round.
fn log_of<K: ModelKernel>(kernel: &K, p: &K::Model, q: &K::Model) -> f64 {
    let log = kernel.log_value(p, q).expect("finite");
    let turned = kernel.log_value(q, p).expect("finite");
    near(turned, log, 1e-12);
    log
}

fn product(rho: f64, p: &Distribution, q: &Distribution) -> f64 {
    log_of(&DistributionKernel::product(rho).expect("positive"), p, q)
}

fn of_gammas(rho: f64, p: &Gamma, q: &Gamma) -> f64 {
    log_of(&GammaProduct::new(rho).expect("positive"), p, q)
}

fn full(mean: &[f64], covariance: &[Vec<f64>]) -> Distribution {
    Distribution::FullGaussian { mean: mean.to_vec(), covariance: covariance.concat() }
}

fn diagonal(mean: &[f64], variance: &[f64]) -> Distribution {
    Distribution::Gaussian { mean: mean.to_vec(), variance: variance.to_vec() }
}

/// What every matrix of a kernel must be where that is promised: cosines of one on the diagonal, none
/// above, no negative eigenvalue.
fn must_be_a_kernel<K: ModelKernel>(kernel: &K, models: &[K::Model], what: &str) {
    assert!(kernel.is_positive_semidefinite());
    let logs = kernel.log_gram(models).expect("finite");
    let cosines = logs.normalised();
    assert!(cosines.diagonal().all(|one| one == 1.0), "{what}");
    assert!(cosines.rows().flatten().all(|&cosine| cosine <= 1.0 + 1e-12), "{what}");
    for gram in [cosines, logs.scaled().0] {
        let spectrum = gram.spectrum().expect("finite");
        // Of each entry some ten roundings of its logarithm.
        let allowed = spectrum.rounding + 1e-12 * spectrum.largest;
        assert!(spectrum.smallest >= -allowed, "{what}: {spectrum:?}");
    }
}

fn gaussian(sampler: &mut Sampler, size: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    let factor: Vec<Vec<f64>> = (0..size).map(|_| sampler.row(size, -1.0, 1.0)).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut covariance: Vec<Vec<f64>> =
        factor.iter().map(|a| factor.iter().map(|b| dot(a, b)).collect()).collect();
    for (row, entries) in covariance.iter_mut().enumerate() {
        entries[row] += 0.3;
    }
    (sampler.row(size, -2.0, 2.0), covariance)
}

fn log_density(mean: &[f64], covariance: &[Vec<f64>], x: &[f64]) -> f64 {
    let factored = Factored::of(covariance);
    let gap: Vec<f64> = x.iter().zip(mean).map(|(x, m)| x - m).collect();
    let solved = factored.solve(&gap);
    let square: f64 = gap.iter().zip(&solved).map(|(a, b)| a * b).sum();
    let constant = mean.len() as f64 * std::f64::consts::TAU.ln();
    -0.5 * (constant + factored.log_determinant() + square)
}

/// All counts of `symbols` symbols with a sum.
fn counts(symbols: usize, sum: usize) -> Vec<Vec<usize>> {
    if symbols == 1 {
        return vec![vec![sum]];
    }
    let with = |first: usize| {
        counts(symbols - 1, sum - first).into_iter().map(move |mut rest| {
            rest.push(first);
            rest
        })
    };
    (0..=sum).flat_map(with).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The trapezoid rule is exact but for `e^-many` for what falls off as a Gaussian does.
    #[test]
    fn gaussians_are_integrals(seed: u64, size in 1..3_usize, rho in 0.25..2.0_f64) {
        let sampler = &mut Sampler::new(seed);
        let [(m, s), (n, v)] = [gaussian(sampler, size), gaussian(sampler, size)];
        let step = 0.1;
        let line: Vec<f64> = (-150..=150).map(|k| step * f64::from(k)).collect();
        let value = |x: &[f64]| (rho * (log_density(&m, &s, x) + log_density(&n, &v, x))).exp();
        let sum: f64 = match size {
            1 => line.iter().map(|&x| step * value(&[x])).sum(),
            _ => {
                let coarse = || line.iter().step_by(2);
                let area = 4.0 * step * step;
                coarse().flat_map(|&x| coarse().map(move |&y| [x, y])).map(|x| area * value(&x)).sum()
            }
        };
        // Powers below one fall off more slowly.
        let off = if rho < 0.5 { 1e-4 } else { 1e-6 };
        near(product(rho, &full(&m, &s), &full(&n, &v)).exp(), sum, off);
    }

    /// Diagonal covariances, written either way, are the same Gaussians.
    #[test]
    fn independent_channels_are_a_diagonal_covariance(seed: u64, size in 1..5_usize, rho in 0.2..3.0_f64) {
        let sampler = &mut Sampler::new(seed);
        let drawn: Vec<_> =
            (0..2).map(|_| (sampler.row(size, -2.0, 2.0), sampler.row(size, 0.1, 3.0))).collect();
        let matrix = |(mean, variance): &(Vec<f64>, Vec<f64>)| {
            let row = |i: usize| (0..size).map(|j| if i == j { variance[i] } else { 0.0 }).collect();
            let covariance: Vec<Vec<f64>> = (0..size).map(row).collect();
            full(mean, &covariance)
        };
        let row = |(mean, variance): &(Vec<f64>, Vec<f64>)| diagonal(mean, variance);
        let (a, b) = (row(&drawn[0]), row(&drawn[1]));
        for other in [matrix(&drawn[1]), b.clone()] {
            near(product(rho, &matrix(&drawn[0]), &other), product(rho, &a, &b), 1e-12);
            near(a.divergence(&other).expect("same"), a.divergence(&b).expect("same"), 1e-12);
        }
    }

    #[test]
    fn yes_and_no_are_sums(seed: u64, size in 1..5_usize, rho in 0.2..3.0_f64) {
        let sampler = &mut Sampler::new(seed);
        let (p, q) = (sampler.row(size, 0.0, 1.0), sampler.row(size, 0.0, 1.0));
        let mut sum = 0.0;
        for x in 0..1_usize << size {
            let of = |p: &[f64]| -> f64 {
                let each = p.iter().enumerate();
                each.map(|(d, p)| if x >> d & 1 == 1 { *p } else { 1.0 - p }).product()
            };
            sum += (of(&p) * of(&q)).powf(rho);
        }
        let [p, q] = [p, q].map(Distribution::Bernoulli);
        near(product(rho, &p, &q), sum.ln(), 1e-11);
    }

    #[test]
    fn counts_are_sums(l in 0.0..30.0_f64, m in 0.0..30.0_f64, rho in 0.2..3.0_f64) {
        let log = |rate: f64, x: usize| {
            let power = if x == 0 { 0.0 } else { x as f64 * rate.ln() };
            power - rate - log_factorial(x)
        };
        let sum: f64 = (0..400).map(|x| (rho * (log(l, x) + log(m, x))).exp()).sum();
        let [p, q] = [l, m].map(|rate| Distribution::Poisson(vec![rate]));
        near(product(rho, &p, &q), sum.ln(), 1e-10);
        // Independent channels multiply.
        let [pp, qq] = [l, m].map(|rate| Distribution::Poisson(vec![rate, rate]));
        near(product(rho, &pp, &qq), 2.0 * sum.ln(), 1e-10);
    }

    /// By `x = e^u`, of which the integrand falls off exponentially on both sides.
    #[test]
    fn gamma_distributions_are_integrals(seed: u64, rho in 0.3..2.0_f64) {
        let sampler = &mut Sampler::new(seed);
        let [a, b] = [sampler.uniform(0.8, 6.0), sampler.uniform(0.8, 6.0)];
        let [r, s] = [sampler.uniform(0.2, 4.0), sampler.uniform(0.2, 4.0)];
        // The normaliser by the same rule: no gamma function here.
        let integral = |log: &dyn Fn(f64) -> f64| -> f64 {
            let step = 0.01;
            (-12_000..800).map(|k| {
                let u = step * f64::from(k);
                step * (log(u) + u).exp()
            }).sum()
        };
        let log = |shape: f64, scale: f64| move |u: f64| (shape - 1.0) * u - u.exp() / scale;
        let norms = [integral(&log(a, r)).ln(), integral(&log(b, s)).ln()];
        let both = |u: f64| rho * (log(a, r)(u) - norms[0] + log(b, s)(u) - norms[1]);
        let [p, q] = [Gamma::new(a, r), Gamma::new(b, s)].map(|one| one.expect("positive"));
        near(of_gammas(rho, &p, &q), integral(&both).ln(), 1e-8);
    }

    #[test]
    fn multinomials_are_sums(seed: u64, symbols in 1..5_usize, sum in 0..6_usize, rho in 0.2..3.0_f64) {
        let sampler = &mut Sampler::new(seed);
        let (p, q) = (sampler.sparse_probabilities(symbols), sampler.probabilities(symbols));
        let log = |p: &[f64], x: &[usize]| {
            let each = p.iter().zip(x).filter(|(_, x)| **x > 0);
            log_factorial(sum)
                + each.map(|(p, &x)| x as f64 * p.ln() - log_factorial(x)).sum::<f64>()
        };
        let value = |x: Vec<usize>, rho: f64| (rho * (log(&p, &x) + log(&q, &x))).exp();
        for rho in [rho, 0.5] {
            let wanted: f64 = counts(symbols, sum).into_iter().map(|x| value(x, rho)).sum();
            let [p, q] = [&p, &q].map(|p| Multinomial::new(p.clone()).expect("probabilities"));
            let kernel = MultinomialProduct::new(rho, sum).expect("positive");
            near(log_of(&kernel, &p, &q), wanted.ln(), 1e-11);
        }
    }

    #[test]
    fn the_series_is_the_sum_of_all_numbers_of_draws(seed: u64, weight in 0.05..0.95_f64) {
        let sampler = &mut Sampler::new(seed);
        let [p, q] = [0, 1].map(|_| Multinomial::new(sampler.probabilities(4)).expect("some"));
        let term = |count: usize| {
            let kernel = MultinomialProduct::new(0.5, count).expect("positive");
            weight.powi(count as i32) * log_of(&kernel, &p, &q).exp()
        };
        let sum: f64 = (0..1000).map(term).sum();
        let series = MultinomialSeries::new(weight).expect("in range");
        near(log_of(&series, &p, &q), sum.ln(), 1e-11);
    }

    /// At `rho = 1/2` a distribution's kernel with itself is one, and what the cumulant says is the kernel.
    #[test]
    fn a_half_is_the_bhattacharyya_kernel(seed: u64) {
        let sampler = &mut Sampler::new(seed);
        let cumulant = |family, theta: &[f64], other: &[f64]| {
            let kernel = Bhattacharyya(family);
            near(log_of(&kernel, &theta.to_vec(), &theta.to_vec()), 0.0, 1e-12);
            log_of(&kernel, &theta.to_vec(), &other.to_vec())
        };
        let (p, q) = (sampler.row(3, 0.05, 0.95), sampler.row(3, 0.05, 0.95));
        let (r, s) = (sampler.row(3, 0.1, 5.0), sampler.row(3, 0.1, 5.0));
        let each = |row: &[f64], f: fn(f64) -> f64| row.iter().map(|&x| f(x)).collect::<Vec<_>>();
        let unit = |mean: &[f64]| diagonal(mean, &[1.0; 3]);
        near(cumulant(NaturalFamily::GaussianMean, &r, &s), product(0.5, &unit(&r), &unit(&s)), 1e-11);
        let zero = |variance: &[f64]| diagonal(&[0.0; 3], variance);
        let natural = [&r, &s].map(|row| each(row, f64::recip));
        near(
            cumulant(NaturalFamily::GaussianPrecision, &natural[0], &natural[1]),
            product(0.5, &zero(&r), &zero(&s)),
            1e-11,
        );
        let natural = [&p, &q].map(|row| each(row, |p| (p / (1.0 - p)).ln()));
        let of = |row: &Vec<f64>| Distribution::Bernoulli(row.clone());
        near(
            cumulant(NaturalFamily::Bernoulli, &natural[0], &natural[1]),
            product(0.5, &of(&p), &of(&q)),
            1e-11,
        );
        let natural = [&r, &s].map(|row| each(row, f64::ln));
        let of = |row: &Vec<f64>| Distribution::Poisson(row.clone());
        near(
            cumulant(NaturalFamily::Poisson, &natural[0], &natural[1]),
            product(0.5, &of(&r), &of(&s)),
            1e-11,
        );
        let one = |family, theta: f64, other: f64| cumulant(family, &[theta], &[other]);
        let of = |mean| Gamma::exponential(mean).expect("positive");
        near(
            one(NaturalFamily::Exponential, -1.0 / r[0], -1.0 / s[0]),
            of_gammas(0.5, &of(r[0]), &of(s[0])),
            1e-11,
        );
        let of = |shape| Gamma::new(shape, 1.0).expect("positive");
        near(
            one(NaturalFamily::GammaShape, r[0], s[0]),
            of_gammas(0.5, &of(r[0]), &of(s[0])),
            1e-11,
        );
        let [p, q] = [sampler.sparse_probabilities(4), sampler.sparse_probabilities(4)];
        if p.iter().zip(&q).any(|(p, q)| p * q > 0.0) {
            // Natural parameters of a multinomial are up to a constant.
            let natural = [&p, &q].map(|row| each(row, |p| p.ln() + 0.7));
            let [p, q] = [p, q].map(|row| Multinomial::new(row).expect("probabilities"));
            let kernel = MultinomialProduct::new(0.5, 7).expect("positive");
            near(
                cumulant(NaturalFamily::Multinomial { count: 7 }, &natural[0], &natural[1]),
                log_of(&kernel, &p, &q),
                1e-11,
            );
        }
    }

    #[test]
    fn they_are_kernels(seed: u64, size in 1..4_usize) {
        let sampler = &mut Sampler::new(seed);
        const ITEMS: usize = 8;
        let gaussians: Vec<_> = (0..ITEMS)
            .map(|_| gaussian(sampler, size))
            .map(|(mean, covariance)| full(&mean, &covariance))
            .collect();
        let mut rows = |low: f64, high: f64| -> Vec<Vec<f64>> {
            (0..ITEMS).map(|_| sampler.row(size, low, high)).collect()
        };
        let yes: Vec<_> = rows(0.0, 1.0).into_iter().map(Distribution::Bernoulli).collect();
        let rates: Vec<_> = rows(0.0, 90.0).into_iter().map(Distribution::Poisson).collect();
        let gammas: Vec<_> = rows(1.0, 9.0)
            .iter()
            .map(|row| Gamma::new(row[0], row[row.len() - 1]).expect("positive"))
            .collect();
        let multinomials: Vec<_> = (0..ITEMS)
            .map(|_| Multinomial::new(sampler.sparse_probabilities(size + 1)).expect("some"))
            .collect();
        for rho in RHOS {
            let name = format!("rho {rho}");
            for distributions in [&gaussians, &yes, &rates] {
                let kernel = DistributionKernel::product(rho).expect("positive");
                must_be_a_kernel(&kernel, distributions, &name);
            }
            must_be_a_kernel(&GammaProduct::new(rho).expect("positive"), &gammas, &name);
            let kernel = MultinomialProduct::new(rho, 5).expect("positive");
            must_be_a_kernel(&kernel, &multinomials, &name);
        }
        must_be_a_kernel(&MultinomialSeries::new(0.9).expect("in range"), &multinomials, "series");
        for p in gaussians.iter().chain(&yes).chain(&rates) {
            near(product(0.5, p, p), 0.0, 1e-12);
        }
        for p in &gammas {
            near(of_gammas(0.5, p, p), 0.0, 1e-12);
        }
    }

    /// `H^2 = 2 - 2 b`, `d = 2 arccos b`, and what close distributions are apart by Fisher's metric.
    #[test]
    fn distances_of_multinomials(seed: u64, symbols in 2..6_usize, scale in -12.0..-4.0_f64) {
        let sampler = &mut Sampler::new(seed);
        let drawn = [0; 3].map(|_| sampler.sparse_probabilities(symbols));
        let [p, q, r] = drawn.map(|row| Multinomial::new(row).expect("probabilities"));
        let b = p.bhattacharyya(&q).expect("same");
        near(p.hellinger_squared(&q).expect("same"), 2.0 - 2.0 * b, 1e-14);
        near(p.hellinger(&q).expect("same"), (2.0 - 2.0 * b).max(0.0).sqrt(), 1e-7);
        near(p.geodesic(&q).expect("same"), 2.0 * b.min(1.0).acos(), 1e-7);
        let way = p.geodesic(&r).expect("same") + r.geodesic(&q).expect("same");
        prop_assert!(p.geodesic(&q).expect("same") <= way + 1e-12);
        prop_assert_eq!(p.geodesic(&p), Ok(0.0));
        prop_assert_eq!(p.divergence(&p), Ok(0.0));
        // A step of ten to the scale, along the simplex, away from its edges.
        let row = sampler.probabilities(symbols);
        let epsilon = 10.0_f64.powf(scale);
        let mut moved = row.clone();
        moved[0] += epsilon;
        moved[1] -= epsilon;
        let metric = epsilon * epsilon * (1.0 / row[0] + 1.0 / row[1]);
        let [p, q] = [row, moved].map(|row| Multinomial::new(row).expect("probabilities"));
        let digits = 1e-15 / epsilon + 20.0 * epsilon;
        let geodesic = p.geodesic(&q).expect("same");
        prop_assert!((geodesic / metric.sqrt() - 1.0).abs() < 10.0 * digits, "{geodesic}");
        let divergence = p.divergence(&q).expect("same");
        prop_assert!((2.0 * divergence / metric - 1.0).abs() < 100.0 * digits, "{divergence}");
    }

    /// `D(p || q)` by its definition, never negative, and its kernel.
    #[test]
    fn divergences(seed: u64, size in 1..4_usize, a in 0.1..3.0_f64, b in -2.0..2.0_f64) {
        let sampler = &mut Sampler::new(seed);
        let [p, q] = [0, 1].map(|_| sampler.probabilities(size + 1));
        let sum: f64 = p.iter().zip(&q).map(|(p, q)| p * (p / q).ln()).sum();
        let back: f64 = p.iter().zip(&q).map(|(p, q)| q * (q / p).ln()).sum();
        let [p, q] = [p, q].map(|row| Multinomial::new(row).expect("probabilities"));
        near(p.divergence(&q).expect("same"), sum, 1e-14);
        let kernel = SymmetricKl::new(a, b).expect("in range");
        near(log_of(&kernel, &p, &q), b - a * (sum + back), 1e-12);
        let [(m, s), (n, v)] = [gaussian(sampler, size), gaussian(sampler, size)];
        let factored = Factored::of(&v);
        let inverse = factored.inverse();
        let trace: f64 = (0..size)
            .map(|i| (0..size).map(|j| inverse[i][j] * s[j][i]).sum::<f64>())
            .sum();
        let gap: Vec<f64> = m.iter().zip(&n).map(|(m, n)| m - n).collect();
        let square: f64 = gap.iter().zip(factored.solve(&gap)).map(|(a, b)| a * b).sum();
        let logs = factored.log_determinant() - Factored::of(&s).log_determinant();
        let wanted = 0.5 * (trace + square - size as f64 + logs);
        let (p, q) = (full(&m, &s), full(&n, &v));
        near(p.divergence(&q).expect("same"), wanted, 1e-10);
        prop_assert!(p.divergence(&q).expect("same") >= 0.0);
        near(p.divergence(&p).expect("same"), 0.0, 1e-14);
        // Of yes and no, and of counts, by their sums.
        let (p, q) = (sampler.row(size, 0.05, 0.95), sampler.row(size, 0.05, 0.95));
        let each = p.iter().zip(&q);
        let wanted: f64 =
            each.map(|(p, q)| p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln()).sum();
        let [p, q] = [p, q].map(Distribution::Bernoulli);
        near(p.divergence(&q).expect("same"), wanted, 1e-13);
        let [l, m] = [0, 1].map(|_| sampler.uniform(0.1, 20.0));
        let log = |rate: f64, x: usize| x as f64 * rate.ln() - rate - log_factorial(x);
        let wanted: f64 = (0..200).map(|x| log(l, x).exp() * (log(l, x) - log(m, x))).sum();
        let [p, q] = [l, m].map(|rate| Distribution::Poisson(vec![rate]));
        near(p.divergence(&q).expect("same"), wanted, 1e-11);
    }
}

#[test]
fn what_is_impossible_for_one_has_a_kernel_of_zero() {
    let [p, q] =
        [vec![0.5, 0.5, 0.0], vec![0.0, 0.0, 1.0]].map(|p| Multinomial::new(p).expect("some"));
    let kernel = SymmetricKl::new(1.0, 3.0).expect("in range");
    assert_eq!(kernel.log_value(&p, &q), Ok(f64::NEG_INFINITY));
    assert_eq!(p.divergence(&q), Ok(f64::INFINITY));
    for rho in RHOS {
        let kernel = MultinomialProduct::new(rho, 3).expect("positive");
        assert_eq!(kernel.log_value(&p, &q), Ok(f64::NEG_INFINITY));
        assert_eq!(
            kernel.log_gram(&[p.clone(), q.clone()]).expect("finite").normalised().get(0, 1),
            0.0
        );
        // Nothing drawn is the same of all.
        let none = MultinomialProduct::new(rho, 0).expect("positive");
        assert_eq!(none.log_value(&p, &q), Ok(0.0));
    }
    near(p.geodesic(&q).expect("same"), std::f64::consts::PI, 1e-15);
    let [never, always] = [0.0, 1.0].map(|p| Distribution::Bernoulli(vec![p]));
    assert_eq!(product(1.0, &never, &always), f64::NEG_INFINITY);
    let [none, some] = [0.0, 2.0].map(|rate| Distribution::Poisson(vec![rate]));
    near(product(1.0, &none, &some), -2.0, 1e-14);
}

/// Where a kernel of one with itself diverges there is no cosine, and the pair is named.
#[test]
fn what_diverges_says_so() {
    let [steep, round] = [0.6, 4.0].map(|shape| Gamma::new(shape, 1.0).expect("positive"));
    let kernel = GammaProduct::new(2.0).expect("positive");
    let diverges = |value| matches!(value, Err(BetweenError::Diverges(_)));
    assert!(diverges(kernel.log_value(&steep, &steep)));
    assert!(kernel.log_value(&steep, &round).is_ok() && kernel.log_value(&round, &round).is_ok());
    let error = kernel.log_gram(&[round, steep]).expect_err("diverges");
    assert!(
        matches!(error, PairError { row: 1, column: 1, why: BetweenError::Diverges(_) }),
        "{error}"
    );
    let series = MultinomialSeries::new(1.0).expect("in range");
    let p = Multinomial::new(vec![0.25, 0.75]).expect("probabilities");
    assert!(diverges(series.log_value(&p, &p)));
}

#[test]
fn nothing_is_promised_that_is_not_so() {
    let time = |form| HeatKernel::new(0.5, form).expect("positive");
    assert!(!time(HeatForm::Unnormalised).is_positive_semidefinite());
    assert!(!time(HeatForm::Leading).is_positive_semidefinite());
    assert!(
        !SymmetricKl::<Distribution>::new(1.0, 0.0).expect("in range").is_positive_semidefinite()
    );
}

#[test]
fn what_is_wrong_is_named() {
    let part = |error: Option<BetweenError>| match error {
        Some(BetweenError::Model { part, .. }) => part,
        other => panic!("{other:?}"),
    };
    assert_eq!(part(Multinomial::new(vec![0.5, f64::NAN]).err()), "probability[1]");
    assert_eq!(part(Multinomial::new(vec![0.5, 0.4]).err()), "probability");
    let mixture = Distribution::kernel_density(&[vec![0.0]], 1.0);
    assert_eq!(part(mixture.divergence(&mixture).err()), "distributions");
    let [yes, count] = [Distribution::Bernoulli(vec![0.5]), Distribution::Poisson(vec![0.5])];
    assert_eq!(part(yes.divergence(&count).err()), "distributions");
    let none = diagonal(&[0.0], &[0.0]);
    assert_eq!(part(none.divergence(&none).err()), "distribution");
    assert_eq!(part(Gamma::new(1.0, 0.0).err()), "scale[0]");
    let theta = NaturalFamily::Exponential.cumulant(&[-1.0, 0.5]);
    assert_eq!(part(theta.err()), "theta[1]");
    let nothing = NaturalFamily::Multinomial { count: 2 }.cumulant(&[f64::NEG_INFINITY; 2]);
    assert_eq!(part(nothing.err()), "theta");
    // The third is the sum of the first two.
    let singular = [vec![1.0, 0.0, 1.0], vec![0.0, 1.0, 1.0], vec![1.0, 1.0, 2.0]];
    let singular = full(&[0.0; 3], &singular);
    let error = singular.divergence(&singular);
    assert_eq!(error, Err(BetweenError::Singular { part: "covariance".into(), row: 2 }));
    for rho in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = [GammaProduct::new(rho).err(), MultinomialProduct::new(rho, 1).err()];
        for error in refused {
            assert!(
                matches!(error, Some(BetweenError::Parameter { name: "rho", .. })),
                "{error:?}"
            );
        }
    }
    let [one, two] = [1, 2].map(|size| Distribution::Poisson(vec![1.0; size]));
    let error = one.divergence(&two);
    assert_eq!(error, Err(BetweenError::Shapes { what: "channels", first: 1, second: 2 }));
    let [one, two] = [vec![1.0], vec![0.5; 2]].map(|p| Multinomial::new(p).expect("probabilities"));
    let error = MultinomialProduct::new(1.0, 2).expect("positive").log_value(&one, &two);
    assert_eq!(error, Err(BetweenError::Shapes { what: "symbols", first: 1, second: 2 }));
}
