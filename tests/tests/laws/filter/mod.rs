//! Recursions in constant memory: the laws of a stream, and every reading after every prefix against
//! the log domain, enumeration and finite differences.

mod adaptation;
mod change;
mod fixed_point;
mod lagged;
mod likelihood;
mod numbers;
mod ruled_out;
mod statistics;
mod tangents;
mod windows;

use std::borrow::Borrow;

use fishweir_core::emission::{Bernoulli, Categorical, FullGaussian, Gaussian, Mixture, Poisson};
use fishweir_core::number::Real;
use fishweir_tests::build::{Family, Task, padded};
use fishweir_tests::laws::Trial;
use fishweir_tests::oracle::{Law, Model, Observation};

/// The number of states that these tests compile, more than any sample model has: the rest is
/// padding.
const STATES: usize = 6;

/// Runs a task on a model of any family: each at one size that holds every sample model.
fn on_family<T: Real, K: Task<T>>(model: &Model, task: K) -> Result<K::Output, String> {
    macro_rules! run {
        ($family:ty) => {
            task.run(&padded::<T, $family, STATES>(model)?)
        };
    }
    match &model.emission[0] {
        Law::Categorical(_) => run!(Categorical<6, T>),
        Law::Gaussian { .. } => run!(Gaussian<3, T>),
        Law::FullGaussian { .. } => run!(FullGaussian<3, T>),
        Law::Poisson(_) => run!(Poisson<2, T>),
        Law::Bernoulli(_) => run!(Bernoulli<3, T>),
        Law::Mixture { component, .. } => match &component[0] {
            Law::Categorical(_) => run!(Mixture<Categorical<4, T>, 2>),
            Law::Gaussian { .. } => run!(Mixture<Gaussian<2, T>, 3>),
            _ => run!(Mixture<FullGaussian<2, T>, 2>),
        },
    }
}

/// Observations that a recursion may have to refuse: every symbol, one that is none, and what is no
/// number.
fn refusable<T: Real, E: Family<T>>(model: &Model) -> Result<Vec<E::Sample>, String> {
    let mut law = &model.emission[0];
    while let Law::Mixture { component, .. } = law {
        law = &component[0];
    }
    match law {
        Law::Categorical(p) => {
            (0..=p.len()).chain([1000]).map(|k| E::sample(&Observation::Symbol(k))).collect()
        }
        Law::Gaussian { mean, .. } | Law::FullGaussian { mean, .. } => {
            [f64::NAN, f64::INFINITY, 1e30]
                .into_iter()
                .map(|odd| {
                    let mut x = mean.clone();
                    x[0] = odd;
                    E::sample(&Observation::Channels(x))
                })
                .collect()
        }
        // Every count and every bit is possible.
        _ => Ok(Vec::new()),
    }
}

/// Borrows what a [`Trial`] borrows.
fn observations<T: Real, E: Family<T>>(
    samples: &[Option<E::Sample>],
) -> Vec<Option<&E::Observation>> {
    samples.iter().map(|x| x.as_ref().map(Borrow::borrow)).collect()
}

/// Runs `f` on the trial of a sequence.
fn on_trial<T: Real, E: Family<T>>(
    model: &Model,
    samples: &[Option<E::Sample>],
    f: impl FnOnce(Trial<'_, E::Observation>),
) -> Result<(), String> {
    let odd = refusable::<T, E>(model)?;
    let odd: Vec<&E::Observation> = odd.iter().map(Borrow::borrow).collect();
    f(Trial { samples: &observations::<T, E>(samples), refusable: &odd });
    Ok(())
}

#[track_caller]
fn assert_near(got: f64, expected: f64, tolerance: f64, what: impl std::fmt::Display) {
    let near = (got - expected).abs() <= tolerance * (1.0 + expected.abs());
    assert!(near || got == expected, "{what}: {got} where {expected} is right");
}
