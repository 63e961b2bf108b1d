//! Linear dynamical systems, those that switch, and networks: against dense Gaussians, and against each
//! other.

mod fitting;
mod kernels;
mod sampled;
mod states;
mod switching;

use fishweir::data::{Rows, Samples};
use fishweir::dynamics::{LinearSystem, Matrix};
use fishweir_tests::checks::near;
use fishweir_tests::oracle::System;
use fishweir_tests::sample::Sampler;

fn host(system: &System) -> LinearSystem {
    LinearSystem {
        initial_mean: system.mean.clone(),
        initial_covariance: system.covariance.clone(),
        transition: system.transition.clone(),
        state_noise: system.noise.clone(),
        observation: system.observation.clone(),
        observation_noise: system.observation_noise.clone(),
    }
}

/// A series of which every fifth sample is missing.
fn series(sampler: &mut Sampler, channels: usize, length: usize) -> Vec<Option<Vec<f64>>> {
    let mut sample = || (0..channels).map(|_| 2.0 * sampler.normal()).collect();
    (0..length).map(|t| if t % 5 == 3 { None } else { Some(sample()) }).collect()
}

fn samples(series: &[Option<Vec<f64>>]) -> Samples {
    let channels = series.iter().flatten().next().map_or(1, Vec::len);
    let mut rows = Rows::new(channels);
    series.iter().for_each(|x| rows.push(x.as_deref()));
    Samples::Channels(rows)
}

fn product(a: &[Vec<f64>], b: &[Vec<f64>]) -> Matrix {
    let entry = |row: &[f64], j: usize| row.iter().zip(b).map(|(a, b)| a * b[j]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|j| entry(row, j)).collect()).collect()
}

fn transposed(a: &[Vec<f64>]) -> Matrix {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

/// The same system in other coordinates of the state, `s' = T s` with a `T` of ones on its diagonal and
/// one number left of it.
fn in_other_coordinates(system: &LinearSystem) -> LinearSystem {
    let n = system.states();
    let unit = |shear: f64| -> Matrix {
        let entry = |i: usize, j: usize| match (i, j) {
            _ if i == j => 1.0,
            (1, 0) => shear,
            _ => 0.0,
        };
        (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
    };
    let (to, back) = (unit(0.75), unit(-0.75));
    let around = |matrix: &Matrix| product(&product(&to, matrix), &transposed(&to));
    let column: Matrix = system.initial_mean.iter().map(|&x| vec![x]).collect();
    LinearSystem {
        initial_mean: product(&to, &column).concat(),
        initial_covariance: around(&system.initial_covariance),
        transition: product(&product(&to, &system.transition), &back),
        state_noise: around(&system.state_noise),
        observation: product(&system.observation, &back),
        observation_noise: system.observation_noise.clone(),
    }
}
