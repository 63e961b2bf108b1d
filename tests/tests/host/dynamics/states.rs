//! Likelihoods, smoothed states and scores of one system.

use fishweir::dynamics::SystemError;
use fishweir_tests::oracle::{System, derivative};
use fishweir_tests::sample::Sampler;

use super::{host, in_other_coordinates, near, samples, series};

#[test]
fn likelihood_and_states_are_those_of_the_dense_gaussian() {
    let mut sampler = Sampler::new(41);
    for (n, d) in [(1, 1), (2, 3), (3, 2), (5, 1)] {
        let system = sampler.system(n, d);
        for length in [0, 1, 2, 9] {
            let own = series(&mut sampler, d, length);
            let (log, states) = if length == 0 {
                (0.0, None)
            } else {
                let (log, states) = system.given(&own);
                (log, Some(states))
            };
            let mut own = samples(&own);
            if length == 0 {
                own = fishweir::data::Samples::Channels(fishweir::data::Rows::new(d));
            }
            let rows = own.view().rows().expect("channels");
            let host = host(&system);
            near(host.log_likelihood(rows).expect("a likelihood"), log, 1e-9);
            let smoothed = host.smooth(rows).expect("states");
            near(smoothed.log_likelihood, log, 1e-9);
            assert_eq!(smoothed.mean.len(), length);
            let Some(states) = states else { continue };
            for t in 0..length {
                for i in 0..n {
                    near(smoothed.mean[t][i], states.mean[t * n + i], 1e-9);
                    for j in 0..n {
                        let expected = states.covariance[t * n + i][t * n + j];
                        near(smoothed.covariance[t][i][j], expected, 1e-9);
                    }
                }
            }
        }
    }
}

/// A state that is known, one that nothing moves: no covariance is inverted.
#[test]
fn singular_covariances_are_smoothed() {
    let mut sampler = Sampler::new(42);
    let mut system = sampler.system(3, 2);
    system.covariance = vec![vec![0.0; 3]; 3];
    system.noise = vec![vec![0.0; 3]; 3];
    system.noise[1][1] = 1.0;
    let own = series(&mut sampler, 2, 8);
    let (log, states) = system.given(&own);
    let own = samples(&own);
    let smoothed = host(&system).smooth(own.view().rows().expect("channels")).expect("states");
    near(smoothed.log_likelihood, log, 1e-9);
    for (i, mean) in smoothed.mean.concat().into_iter().enumerate() {
        near(mean, states.mean[i], 1e-9);
    }
}

#[test]
fn no_likelihood_sees_the_coordinates_of_a_state() {
    let mut sampler = Sampler::new(43);
    let system = host(&sampler.system(4, 2));
    let own = samples(&series(&mut sampler, 2, 60));
    let rows = own.view().rows().expect("channels");
    let log = system.log_likelihood(rows).expect("a likelihood");
    near(in_other_coordinates(&system).log_likelihood(rows).expect("the same"), log, 1e-10);
}

/// Along each entry, a covariance's with its mirror image, by finite differences.
#[test]
fn a_score_is_the_gradient() {
    check_score(|_, _| true);
}

/// The score with missing channels is the gradient of the log-likelihood of the channels present.
#[test]
fn a_score_with_missing_channels_is_the_gradient() {
    check_score(|t, d| t % 3 != d % 3);
}

fn check_score(is_there: impl Fn(usize, usize) -> bool) {
    let mut sampler = Sampler::new(44);
    let (n, d) = (2, 3);
    let system = sampler.system(n, d);
    let own = series(&mut sampler, d, 7);
    let hidden = |(t, x): (usize, &Option<Vec<f64>>)| {
        let of = |(d, &x): (usize, &f64)| if is_there(t, d) { x } else { f64::NAN };
        x.as_ref().map(|x| x.iter().enumerate().map(of).collect::<Vec<f64>>())
    };
    let own: Vec<Option<Vec<f64>>> = own.iter().enumerate().map(hidden).collect();
    let given = samples(&own);
    let parts: Vec<Vec<Option<f64>>> = own
        .iter()
        .map(|x| match x {
            Some(x) => x.iter().map(|&x| (!x.is_nan()).then_some(x)).collect(),
            None => vec![None; d],
        })
        .collect();
    let score = host(&system).score(given.view().rows().expect("channels")).expect("a score");
    type Part = fn(&mut System) -> &mut Vec<Vec<f64>>;
    let check = |symmetric: bool, part: Part, rows: usize, columns: usize, got: &[Vec<f64>]| {
        for (i, row) in got.iter().enumerate().take(rows) {
            for (j, &own_slope) in row.iter().enumerate().take(columns) {
                let log = |step: f64| {
                    let mut moved = system.clone();
                    part(&mut moved)[i][j] += step;
                    if symmetric && i != j {
                        part(&mut moved)[j][i] += step;
                    }
                    moved.given_in_part(&parts).0
                };
                let mirrored = if symmetric && i != j { got[j][i] } else { 0.0 };
                near(own_slope + mirrored, derivative(log, 1e-3), 1e-7);
            }
        }
    };
    check(true, |s| &mut s.covariance, n, n, &score.initial_covariance);
    check(false, |s| &mut s.transition, n, n, &score.transition);
    check(true, |s| &mut s.noise, n, n, &score.state_noise);
    check(false, |s| &mut s.observation, d, n, &score.observation);
    check(true, |s| &mut s.observation_noise, d, d, &score.observation_noise);
    for i in 0..n {
        let log = |step: f64| {
            let mut moved = system.clone();
            moved.mean[i] += step;
            moved.given_in_part(&parts).0
        };
        near(score.initial_mean[i], derivative(log, 1e-3), 1e-7);
    }
    assert_eq!(score.entries().len(), n + 3 * n * n + d * n + d * d);
}

#[test]
fn a_drawn_series_has_the_system_s_moments() {
    let system = host(&Sampler::new(45).system(2, 2));
    let moments = system.joint(3).expect("moments");
    let draws = 4000;
    let mut sums = (vec![0.0; 6], vec![vec![0.0; 6]; 6]);
    for seed in 0..draws {
        let drawn = system.simulate(3, seed).expect("a series");
        let rows = drawn.view().rows().expect("channels");
        let x: Vec<f64> = rows.iter().flatten().flatten().copied().collect();
        for i in 0..6 {
            sums.0[i] += x[i];
            for j in 0..6 {
                sums.1[i][j] += (x[i] - moments.mean[i]) * (x[j] - moments.mean[j]);
            }
        }
    }
    let count = draws as f64;
    for i in 0..6 {
        let deviation = (moments.covariance[i][i] / count).sqrt();
        assert!((sums.0[i] / count - moments.mean[i]).abs() < 4.5 * deviation);
        for j in 0..6 {
            let (own, other) = (moments.covariance[i][i], moments.covariance[j][j]);
            let spread = ((own * other + moments.covariance[i][j].powi(2)) / count).sqrt();
            assert!((sums.1[i][j] / count - moments.covariance[i][j]).abs() < 4.5 * spread);
        }
    }
    assert_eq!(system.simulate(5, 7), system.simulate(5, 7));
}

#[test]
fn what_is_wrong_is_named() {
    let good = host(&Sampler::new(46).system(2, 2));
    let refused = |change: fn(&mut fishweir::dynamics::LinearSystem), words: &str| {
        let mut system = good.clone();
        change(&mut system);
        let error = system.validate().expect_err("refused").to_string();
        assert!(error.contains(words), "`{error}` does not say `{words}`");
    };
    refused(|s| s.transition[1].truncate(1), "transition[1] has 1 entries, and 2 are needed");
    refused(|s| s.initial_mean[1] = f64::NAN, "initial_mean");
    refused(|s| s.state_noise[1][1] = -1.0, "row 1 of state_noise");
    refused(|s| s.initial_covariance[0][1] += 1.0, "row 1 of initial_covariance");
    refused(|s| s.observation_noise = vec![vec![1.0; 2]; 2], "row 1 of observation_noise");
    refused(|s| s.observation.clear(), "without channels");
    refused(|s| *s = wide(65), "65 numbers");
    let series = samples(&[Some(vec![1.0; 3])]);
    let refused = good.log_likelihood(series.view().rows().expect("channels"));
    assert_eq!(refused, Err(SystemError::Channels(2)));
    let series = samples(&[Some(vec![1.0; 2]), Some(vec![f64::INFINITY; 2])]);
    let refused = good.log_likelihood(series.view().rows().expect("channels"));
    assert!(matches!(refused, Err(SystemError::Sample { sample: 1, .. })));
}

fn wide(n: usize) -> fishweir::dynamics::LinearSystem {
    let zeros = vec![vec![0.0; n]; n];
    fishweir::dynamics::LinearSystem {
        initial_mean: vec![0.0; n],
        initial_covariance: zeros.clone(),
        transition: zeros.clone(),
        state_noise: zeros,
        observation: vec![vec![0.0; n]],
        observation_noise: vec![vec![1.0]],
    }
}
