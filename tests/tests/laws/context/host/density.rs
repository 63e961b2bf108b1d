use fishweir::data::{Rows, Samples};
use fishweir::fit::{BaumWelch, FitError};
use fishweir::kernel::{Information, InformationError};
use fishweir::model::{DensityModel, Scored};
use fishweir_core::context::{ContextLikelihood, ContextStatistics, Independent};
use fishweir_core::emission::{Gaussian, Mixture};
use fishweir_tests::oracle::derivative;
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use super::{
    BOTH, assert_draws_have_the_information, assert_slopes, assert_stationary, log_likelihood,
    score, views,
};
use crate::context::{after, assert_near, cases};

/// Weights, means and standard deviations.
type Parts = (Vec<f64>, Vec<Vec<f64>>, Vec<Vec<f64>>);

fn parts(sampler: &mut Sampler, components: usize, channels: usize) -> Parts {
    let mut table = |low, high| -> Vec<Vec<f64>> {
        (0..components).map(|_| sampler.row(channels, low, high)).collect()
    };
    let (mean, std) = (table(-2.0, 2.0), table(0.5, 2.0));
    (sampler.probabilities(components), mean, std)
}

fn model((weight, mean, std): Parts) -> DensityModel {
    DensityModel::new(weight, mean, std).expect("a model")
}

/// Points around zero, each missing with some probability.
fn points(sampler: &mut Sampler, channels: usize, length: usize, missing: f64) -> Samples {
    let mut rows = Rows::new(channels);
    for _ in 0..length {
        let row: Vec<f64> = (0..channels).map(|_| 2.0 * sampler.normal()).collect();
        rows.push((sampler.uniform(0.0, 1.0) >= missing).then_some(&row));
    }
    Samples::Channels(rows)
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn scores_are_those_of_the_stream(seed: u64, length in 0_usize..12) {
        let sampler = &mut Sampler::new(seed);
        let (weight, mean, std) = parts(sampler, 3, 2);
        let host = model((weight.clone(), mean.clone(), std.clone()));
        let components = std::array::from_fn(|m| {
            let variance = [std[m][0] * std[m][0], std[m][1] * std[m][1]];
            Gaussian::<2, f64>::new([mean[m][0], mean[m][1]], variance).expect("a Gaussian")
        });
        let mixture = Mixture::<_, 3>::new([weight[0], weight[1], weight[2]], components);
        let core = Independent::of(mixture.expect("a mixture"));
        let samples = points(sampler, 2, length, 0.2);
        let rows = samples.view().rows().expect("channels");
        let rows: Vec<Option<[f64; 2]>> =
            rows.iter().map(|row| row.map(|row| [row[0], row[1]])).collect();
        let rows: Vec<Option<&[f64; 2]>> = rows.iter().map(Option::as_ref).collect();
        let log = after(ContextLikelihood::of(&core), &rows);
        let statistics = after(ContextStatistics::of(&core), &rows);
        for by in BOTH {
            let found = score(&host, &samples, by);
            assert_near(found.log_likelihood, log, 1e-13, "log p");
            let [streamed] = core.score(&statistics, by);
            let parts = streamed.component.iter().flat_map(|one| one.mean.iter().chain(&one.spread));
            let streamed: Vec<f64> = streamed.weight.iter().chain(parts).copied().collect();
            prop_assert_eq!(found.score.len(), streamed.len());
            for (place, (got, expected)) in found.score.iter().zip(&streamed).enumerate() {
                assert_near(*got, *expected, 1e-11, format!("[{place}] {by:?}"));
            }
        }
    }

    #[test]
    fn scores_are_slopes(seed: u64, components in 1_usize..4, channels in 1_usize..3) {
        let sampler = &mut Sampler::new(seed);
        let (weight, mean, std) = parts(sampler, components, channels);
        let samples = points(sampler, channels, 6, 0.1);
        let host = model((weight.clone(), mean.clone(), std.clone()));
        let weights = if components > 1 { components } else { 0 };
        prop_assert_eq!(host.parameters(), weights + 2 * components * channels);
        if components > 1 {
            assert_slopes(std::slice::from_ref(&weight), 0, &samples, |mut table| {
                model((table.swap_remove(0), mean.clone(), std.clone()))
            });
        }
        let [by_variance, by_log_std] = BOTH.map(|by| score(&host, &samples, by).score);
        for component in 0..components {
            for channel in 0..channels {
                let slope = |change: &dyn Fn(f64, &mut f64, &mut f64)| {
                    let log = |step: f64| {
                        let (mut mean, mut std) = (mean.clone(), std.clone());
                        change(step, &mut mean[component][channel], &mut std[component][channel]);
                        log_likelihood(&model((weight.clone(), mean, std)), &samples)
                    };
                    derivative(log, 1e-3)
                };
                let of_mean = slope(&|h, mean, _| *mean += h);
                let of_log_std = slope(&|h, _, std| *std *= h.exp());
                let of_variance = slope(&|h, _, std| *std = (*std * *std + h).sqrt());
                let place = weights + 2 * component * channels + channel;
                for (got, slope) in [
                    (by_variance[place], of_mean),
                    (by_log_std[place], of_mean),
                    (by_variance[place + channels], of_variance),
                    (by_log_std[place + channels], of_log_std),
                ] {
                    assert_near(got, slope, 1e-6, format!("[{component}][{channel}]"));
                }
            }
        }
    }

    /// By quadrature, of one channel.
    #[test]
    fn the_mean_score_is_zero_and_its_square_the_information(seed: u64, components in 1_usize..4) {
        let sampler = &mut Sampler::new(seed);
        let host = model(parts(sampler, components, 1));
        for by in BOTH {
            let size = host.parameters();
            let (mut mean, mut second) = (vec![0.0; size], vec![vec![0.0; size]; size]);
            let step = 1.0 / 32.0;
            for point in -900..=900 {
                let mut rows = Rows::new(1);
                rows.push(Some(&[step * f64::from(point)]));
                let found = score(&host, &Samples::Channels(rows), by);
                let weight = step * found.log_likelihood.exp();
                for (a, g) in found.score.iter().enumerate() {
                    mean[a] += weight * g;
                    for (sum, h) in second[a].iter_mut().zip(&found.score) {
                        *sum += weight * g * h;
                    }
                }
            }
            prop_assert!(mean.iter().all(|g| g.abs() < 1e-10), "{:?}: {:?}", by, mean);
            let exact = Information::exact(&host, 5, by);
            if components > 1 {
                prop_assert_eq!(exact.err(), Some(InformationError::NotSymbols));
                continue;
            }
            let exact = exact.expect("a closed form");
            for (a, row) in second.iter().enumerate() {
                for (b, one) in row.iter().enumerate() {
                    assert_near(exact.matrix().get(a, b), 5.0 * one, 1e-10, format!("[{a}][{b}]"));
                }
            }
        }
    }

    /// A Gaussian is there after a pass: the mean and the root of the mean square.
    #[test]
    fn one_gaussian_is_fitted_by_its_moments(seed: u64) {
        let sampler = &mut Sampler::new(seed);
        let samples: Vec<Samples> = (0..4).map(|_| points(sampler, 2, 9, 0.2)).collect();
        let (fitted, _) = DensityModel::fit(&options(1), &views(&samples), &[1.0; 2], &|| ())
            .expect("points");
        assert_stationary(&fitted, &samples, 1e-10);
        let [mean, std] = ["mean", "std"].map(|name| fitted.emission().part(name).expect("Gaussians"));
        for channel in 0..2 {
            let rows = || samples.iter().flat_map(|one| one.view().rows().expect("rows").iter());
            let seen: Vec<f64> = rows().flatten().map(|row| row[channel]).collect();
            let count = seen.len() as f64;
            let centre = seen.iter().sum::<f64>() / count;
            let square = seen.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / count;
            assert_near(mean[0][channel], centre, 1e-12, "mean");
            assert_near(std[0][channel], square.sqrt(), 1e-12, "standard deviation");
        }
    }
}

/// Expectation and maximisation to the end, held to nothing.
fn options(components: usize) -> BaumWelch {
    BaumWelch {
        states: components,
        iterations: 400,
        tolerance: 0.0,
        std_floor: 1e-9,
        ..BaumWelch::default()
    }
}

/// Samples of two groups: each pass is likelier than the one before, the last is where the score is
/// zero, and it is near the mixture that they were drawn from.
#[test]
fn a_mixture_is_fitted_by_expectation_and_maximisation() {
    let truth = model((vec![0.3, 0.7], vec![vec![-2.0], vec![3.0]], vec![vec![0.5], vec![1.0]]));
    let samples: Vec<Samples> = (0..20).map(|seed| truth.draw(50, seed)).collect();
    let (fitted, fit) =
        DensityModel::fit(&options(2), &views(&samples), &[2.5], &|| ()).expect("points");
    let rises = fit.log_likelihood.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9 * pair[0].abs());
    assert!(rises && fit.log_likelihood.len() > 2, "{:?}", fit.log_likelihood);
    assert_stationary(&fitted, &samples, 1e-6);
    let total: f64 = samples.iter().map(|one| log_likelihood(&fitted, one)).sum();
    assert_near(total, fit.last(), 1e-12, "log-likelihood");
    let [mean, std] = ["mean", "std"].map(|name| fitted.emission().part(name).expect("Gaussians"));
    let first = usize::from(mean[1][0] < mean[0][0]);
    for (component, (weight, centre, spread)) in
        [(first, (0.3, -2.0, 0.5)), (1 - first, (0.7, 3.0, 1.0))]
    {
        let got = (fitted.weight()[component], mean[component][0], std[component][0]);
        let near = [(got.0, weight), (got.1, centre), (got.2, spread)];
        // Five standard errors of a thousand samples.
        assert!(near.iter().all(|(got, truth)| (got - truth).abs() < 0.15), "{got:?}");
    }
}

#[test]
fn drawn_samples_have_the_information_of_the_closed_form() {
    let gaussian = model((vec![1.0], vec![vec![2.0, -1.0]], vec![vec![0.5, 3.0]]));
    assert_draws_have_the_information(&gaussian, 4);
}

#[test]
fn bad_numbers_and_bad_options_are_named() {
    let new = |weight: &[f64], mean: &[&[f64]], std: &[&[f64]]| {
        let table = |rows: &[&[f64]]| rows.iter().map(|row| row.to_vec()).collect();
        DensityModel::new(weight.to_vec(), table(mean), table(std))
            .expect_err("refused")
            .to_string()
    };
    for (found, part) in [
        (new(&[], &[], &[]), "weight has 0 entries"),
        (new(&[0.5, 0.4], &[&[0.0], &[1.0]], &[&[1.0], &[1.0]]), "weight is no probability"),
        (new(&[1.0], &[&[0.0], &[1.0]], &[&[1.0]]), "mean has 2 entries, and 1"),
        (new(&[1.0], &[&[0.0, 1.0]], &[&[1.0]]), "std[0] has 1 entries, and 2"),
        (new(&[1.0], &[&[f64::NAN]], &[&[1.0]]), "mean[0][0] must be finite"),
        (new(&[1.0], &[&[0.0]], &[&[0.0]]), "std[0][0] must be finite and positive"),
        (new(&[1.0], &[&[]], &[&[]]), "mean[0]"),
        (new(&[1.0 / 65.0; 65], &[&[0.0]], &[&[1.0]]), "weight has 65 entries, and 64"),
    ] {
        assert!(found.contains(part), "{found}");
    }
    let text = r#"{"weight":[1.0],"mean":[[0.0]],"std":[[-1.0]]}"#;
    let error = serde_json::from_str::<DensityModel>(text).expect_err("refused").to_string();
    assert!(error.contains("std[0][0]"), "{error}");

    let fit = |options: &BaumWelch, samples: &[Samples]| {
        DensityModel::fit(options, &views(samples), &[1.0], &|| ()).expect_err("refused")
    };
    let missing = points(&mut Sampler::new(1), 1, 3, 1.1);
    let nothing = fit(&options(2), &[missing]).to_string();
    assert_eq!(nothing, FitError::NoData.to_string());
    assert!(fit(&options(0), &[]).to_string().contains("states is 0"));
}
