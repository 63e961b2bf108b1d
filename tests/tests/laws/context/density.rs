use fishweir::model::information_of_means;
use fishweir_core::context::{ContextLikelihood, ContextStatistics, Independent};
use fishweir_core::emission::{
    Gaussian, GaussianScore, Mixture, MixtureScore, Parametrisation, Width,
};
use fishweir_core::number::Real;
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::oracle::{Factored, derivative, log_sum_exp};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use crate::context::{after, assert_near, assert_positive, cases, dot};

const WIDTHS: [Width; 3] = [Width::StandardDeviation, Width::Variance, Width::LogStandardDeviation];

/// `log N(x; mean, sigma^2)`.
fn log_normal(x: f64, mean: f64, sigma: f64) -> f64 {
    let z = (x - mean) / sigma;
    -0.5 * z * z - sigma.ln() - 0.5 * std::f64::consts::TAU.ln()
}

fn gaussian(mean: f64, sigma: f64) -> Gaussian<1, f64> {
    Gaussian::new([mean], [sigma * sigma]).expect("a Gaussian")
}

/// The standard deviation at a step along a coordinate.
fn moved(sigma: f64, width: Width, step: f64) -> f64 {
    match width {
        Width::StandardDeviation => sigma + step,
        Width::Variance => (sigma * sigma + step).sqrt(),
        Width::LogStandardDeviation => sigma * step.exp(),
    }
}

fn score(density: &Independent<Gaussian<1, f64>>, points: &[f64], width: Width) -> [f64; 2] {
    let points: Vec<[f64; 1]> = points.iter().map(|&x| [x]).collect();
    let samples: Vec<_> = points.iter().map(Some).collect();
    let [statistics] = after(ContextStatistics::of(density), &samples);
    density.emission()[0].score_in(&statistics, width)
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn the_score_is_the_slope_of_the_log_density(
        mean in -3.0..3.0_f64, sigma in 0.2..3.0_f64, points in prop::collection::vec(-4.0..4.0_f64, 1..6),
        w in prop::array::uniform2(-1.0..1.0_f64),
    ) {
        let density = Independent::of(gaussian(mean, sigma));
        let log = |mean: f64, sigma: f64| points.iter().map(|&x| log_normal(x, mean, sigma)).sum::<f64>();
        let held: Vec<[f64; 1]> = points.iter().map(|&x| [x]).collect();
        let samples: Vec<_> = held.iter().map(Some).collect();
        assert_near(after(ContextLikelihood::of(&density), &samples), log(mean, sigma), 1e-12, "log p");
        for width in WIDTHS {
            let [of_mean, of_width] = score(&density, &points, width);
            let step = 1e-3 * sigma.min(sigma * sigma);
            let slope = derivative(|e| log(mean + e, sigma), step);
            assert_near(of_mean, slope, 1e-6, "mean");
            let slope = derivative(|e| log(mean, moved(sigma, width, e)), step);
            assert_near(of_width, slope, 1e-6, format!("{width:?}"));
            // A linear classifier on the score is one derivative of the stream.
            let direction = density.emission()[0].direction_in(w, width);
            let along = density.with_directions(&[[direction]], Parametrisation::SOFTMAX);
            let reading = after(ContextLikelihood::of(&along), &samples);
            assert_near(reading.tangent[0], dot(&w, &[of_mean, of_width]), 1e-12, "direction");
        }
    }

    #[test]
    fn the_mean_score_is_zero_and_its_square_the_information(mean in -3.0..3.0_f64, sigma in 0.2..3.0_f64) {
        let density = Independent::of(gaussian(mean, sigma));
        for width in WIDTHS {
            let (mut total, mut square) = ([0.0; 2], [[0.0; 2]; 2]);
            let step = sigma / 16.0;
            for point in -200..=200 {
                let x = mean + f64::from(point) * step;
                let weight = step * log_normal(x, mean, sigma).exp();
                let g = score(&density, &[x], width);
                for i in 0..2 {
                    total[i] += weight * g[i];
                    for j in 0..2 {
                        square[i][j] += weight * g[i] * g[j];
                    }
                }
            }
            let information = density.emission()[0].information_in(width);
            for i in 0..2 {
                let unit = information[i].sqrt();
                prop_assert!(total[i].abs() < 1e-12 * unit, "{width:?}: mean score {total:?}");
                prop_assert!((square[i][i] / information[i] - 1.0).abs() < 1e-12);
            }
            let unit = (information[0] * information[1]).sqrt();
            prop_assert!(square[0][1].abs() < 1e-12 * unit);
        }
    }

    #[test]
    fn the_invariant_kernel_is_the_same_in_every_width(
        mean in -3.0..3.0_f64, sigma in 0.2..3.0_f64, points in prop::collection::vec(-4.0..4.0_f64, 2..7),
    ) {
        let density = Independent::of(gaussian(mean, sigma));
        let gram = |width| -> Vec<Vec<f64>> {
            let information = density.emission()[0].information_in(width);
            let scores: Vec<_> = points.iter().map(|&x| score(&density, &[x], width)).collect();
            let kernel = |a: &[f64; 2], b: &[f64; 2]| {
                a[0] * b[0] / information[0] + a[1] * b[1] / information[1]
            };
            scores.iter().map(|a| scores.iter().map(|b| kernel(a, b)).collect()).collect()
        };
        let grams = WIDTHS.map(gram);
        assert_positive(&grams[0]);
        for (i, row) in grams[0].iter().enumerate() {
            for (j, &kernel) in row.iter().enumerate() {
                let z = [points[i], points[j]].map(|x| (x - mean) / sigma);
                let textbook = z[0] * z[1] + 0.5 * (z[0] * z[0] - 1.0) * (z[1] * z[1] - 1.0);
                assert_near(kernel, textbook, 1e-11, "kernel");
                assert_near(grams[1][i][j], textbook, 1e-11, "by variance");
                assert_near(grams[2][i][j], textbook, 1e-11, "by logarithm");
            }
        }
    }

    #[test]
    fn densities_keep_the_laws(seed: u64, length in 0_usize..40) {
        let mut sampler = Sampler::new(seed);
        let density = Independent::of(two(&mut sampler).0);
        let drawn: Vec<Option<[f64; 1]>> = (0..length)
            .map(|_| (sampler.uniform(0.0, 1.0) < 0.8).then(|| [3.0 * sampler.normal()]))
            .collect();
        let samples: Vec<_> = drawn.iter().map(Option::as_ref).collect();
        let trial = Trial { samples: &samples, refusable: &[&[f64::NAN], &[f64::INFINITY], &[1e200]] };
        let observed = |prefix: &[Option<&[f64; 1]>]| -> Vec<[f64; 1]> {
            prefix.iter().flatten().map(|x| **x).collect()
        };
        let refused = check(ContextLikelihood::of(&density), trial, |prefix, log: f64| {
            let mixture = &density.emission()[0];
            let slow: f64 = observed(prefix)
                .iter()
                .map(|x| {
                    let terms: Vec<f64> = (0..2)
                        .map(|m| {
                            let part = &mixture.component()[m];
                            mixture.weight()[m].ln()
                                + log_normal(x[0], part.mean()[0], 1.0 / part.rate()[0])
                        })
                        .collect();
                    log_sum_exp(&terms)
                })
                .sum();
            assert_near(log, slow, 1e-11, "log p");
        });
        prop_assert_eq!(refused, 3 * (length + 1));
        check(ContextStatistics::of(&density), trial, |prefix, [statistics]| {
            let mixture = &density.emission()[0];
            let parts = observed(prefix);
            let shares: Vec<_> =
                parts.iter().map(|x| mixture.responsibilities(x).expect("possible")).collect();
            for m in 0..2 {
                let slow: f64 = shares.iter().map(|share| share[m]).sum();
                assert_near(statistics.weight[m], slow, 1e-12, "posteriors");
            }
        });
    }

    #[test]
    fn the_score_of_two_gaussians_is_the_slope(seed: u64, x in -6.0..6.0_f64) {
        let mut sampler = Sampler::new(seed);
        let (mixture, weight, mean, sigma) = two(&mut sampler);
        let density = Independent::of(mixture);
        let log = |mean: [f64; 2], logits: [f64; 2]| {
            let total = log_sum_exp(&[weight.ln() + logits[0], (1.0 - weight).ln() + logits[1]]);
            let terms = [
                weight.ln() + logits[0] - total + log_normal(x, mean[0], sigma),
                (1.0 - weight).ln() + logits[1] - total + log_normal(x, mean[1], sigma),
            ];
            log_sum_exp(&terms)
        };
        let point = [x];
        let statistics = after(ContextStatistics::of(&density), &[Some(&point)]);
        let [score] = density.score(&statistics, Parametrisation::SOFTMAX);
        for m in 0..2 {
            let shift = |e: f64| std::array::from_fn(|i| mean[i] + if i == m { e } else { 0.0 });
            let slope = derivative(|e| log(shift(e), [0.0; 2]), 1e-3);
            assert_near(score.component[m].mean[0], slope, 1e-8, "mean");
            let slope = derivative(
                |e| log(mean, std::array::from_fn(|i| if i == m { e } else { 0.0 })), 1e-3,
            );
            assert_near(score.weight[m], slope, 1e-8, "weight");
        }
        let w = MixtureScore {
            weight: [0.5, -0.25],
            component: [
                GaussianScore { mean: [1.0], spread: [0.0] }, GaussianScore { mean: [-2.0], spread: [0.5] },
            ],
        };
        let along = density.with_directions(&[[w]], Parametrisation::SOFTMAX);
        let reading = after(ContextLikelihood::of(&along), &[Some(&point)]);
        let inner = 0.5 * score.weight[0] - 0.25 * score.weight[1] + score.component[0].mean[0]
            - 2.0 * score.component[1].mean[0] + 0.5 * score.component[1].spread[0];
        assert_near(reading.tangent[0], inner, 1e-12, "direction");
    }

    /// By a rule that shares no points with the one under test; and what it is where it is known.
    #[test]
    fn the_information_of_two_gaussians_is_the_mean_square_of_the_score(seed: u64) {
        let mut sampler = Sampler::new(seed);
        let (mixture, weight, mean, sigma) = two(&mut sampler);
        let information = information_of_means(&mixture);
        let mut slow = [[0.0; 3]; 3];
        let step = sigma / 64.0;
        for point in -2000..=2000 {
            let x = mean[0] + (f64::from(point) + 0.31) * step;
            let [a, b] = [weight * log_normal(x, mean[0], sigma).exp(),
                (1.0 - weight) * log_normal(x, mean[1], sigma).exp()];
            let density = a + b;
            if density == 0.0 { continue; }
            let (ra, rb) = (a / density, b / density);
            let v = sigma * sigma;
            let g = [ra * (x - mean[0]) / v, rb * (x - mean[1]) / v, ra - weight];
            for i in 0..3 {
                for j in 0..3 {
                    slow[i][j] += step * density * g[i] * g[j];
                }
            }
        }
        for i in 0..3 {
            for j in 0..3 {
                assert_near(information[i][j], slow[i][j], 1e-12, format!("[{i}][{j}]"));
            }
        }
        let rows: Vec<Vec<f64>> = information.iter().map(|row| row.to_vec()).collect();
        assert_positive(&rows);
        prop_assert!(Factored::of(&rows).log_determinant().is_finite());
    }
}

fn two(sampler: &mut Sampler) -> (Mixture<Gaussian<1, f64>, 2>, f64, [f64; 2], f64) {
    let (weight, sigma) = (sampler.uniform(0.1, 0.9), sampler.uniform(0.5, 2.0));
    let mean = [sampler.uniform(-2.0, 2.0), sampler.uniform(-2.0, 2.0)];
    let parts = mean.map(|mean| gaussian(mean, sigma));
    (Mixture::new([weight, 1.0 - weight], parts).expect("a mixture"), weight, mean, sigma)
}

/// Far apart the mixture tells its parts, and each mean has the information of its share.
#[test]
fn far_apart_each_mean_has_its_share_of_the_information() {
    let parts = [gaussian(0.0, 0.5), gaussian(20.0, 0.5)];
    let mixture = Mixture::new([0.25, 0.75], parts).expect("a mixture");
    let information = information_of_means(&mixture);
    assert_near(information[0][0], 0.25 / 0.25, 1e-12, "first mean");
    assert_near(information[1][1], 0.75 / 0.25, 1e-12, "second mean");
    assert_near(information[2][2], 0.25 * 0.75, 1e-12, "weight");
    assert!(information[0][1].abs() < 1e-12);
}

/// A point forty standard deviations out has a score in `f32`, too.
#[test]
fn far_points_have_scores_in_single_precision() {
    let parts = [[0.0_f32], [1.0]].map(|mean| Gaussian::new(mean, [1.0]).expect("a Gaussian"));
    let density = Independent::of(Mixture::new([0.5, 0.5], parts).expect("a mixture"));
    let statistics = after(ContextStatistics::of(&density), &[Some(&[40.0])]);
    let [score] = density.score(&statistics, Parametrisation::SOFTMAX);
    assert_near(score.component[1].mean[0].to_f64(), 39.0, 1e-6, "the nearer mean");
    assert!(score.component[0].mean[0].abs() < 1e-12);
}
