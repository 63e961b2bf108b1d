//! The Kalman filter against the dense Gaussian that a system is, and against itself in `f64`.

mod bank;
mod missing;
mod refusals;
mod stream;
mod tangents;

use fishweir_core::dynamics::{Dynamics, Parameters};
use fishweir_core::number::Real;
use fishweir_tests::oracle::System;

/// A matrix of so many rows and columns, the rest zero.
fn matrix<T: Real, const R: usize, const C: usize>(rows: &[Vec<f64>]) -> [[T; C]; R] {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            T::from_f64(rows.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0.0))
        })
    })
}

/// The parameters of a system, in the numbers of the core.
fn parameters<T: Real, const N: usize, const D: usize>(system: &System) -> Parameters<T, N, D> {
    Parameters {
        initial_mean: std::array::from_fn(|i| T::from_f64(system.mean[i])),
        initial_covariance: matrix(&system.covariance),
        transition: matrix(&system.transition),
        state_noise: matrix(&system.noise),
        observation: matrix(&system.observation),
        observation_noise: matrix(&system.observation_noise),
    }
}

pub(crate) fn dynamics<T: Real, const N: usize, const D: usize>(
    system: &System,
) -> Dynamics<N, D, T> {
    Dynamics::new(&parameters(system)).expect("a system")
}

/// Samples, some of them missing, as a stream brings them.
fn sequence<const D: usize>(
    sampler: &mut fishweir_tests::sample::Sampler,
    length: usize,
) -> Vec<Option<[f64; D]>> {
    let mut sample = || std::array::from_fn(|_| 2.0 * sampler.normal());
    (0..length).map(|t| if t % 5 == 3 { None } else { Some(sample()) }).collect()
}

fn dense<const D: usize>(samples: &[Option<&[f64; D]>]) -> Vec<Option<Vec<f64>>> {
    samples.iter().map(|x| x.map(|x| x.to_vec())).collect()
}
