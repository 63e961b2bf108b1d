//! Recursions in constant memory: the laws of a stream, and every reading after every prefix against
//! the log domain, enumeration and finite differences.

mod adaptation;
mod cepstra;
mod change;
pub(crate) mod codebooks;
pub(crate) mod fixed_point;
mod front;
pub(crate) mod integers;
mod lagged;
mod likelihood;
mod numbers;
mod ruled_out;
mod statistics;
mod tangents;
mod windows;

use std::borrow::Borrow;

use fishweir_core::number::Real;
use fishweir_tests::build::Family;
use fishweir_tests::checks::assert_near;
use fishweir_tests::laws::Trial;
use fishweir_tests::oracle::{Law, Model, Observation};

/// Observations that a recursion may have to refuse: every symbol, one that is none, and what is no
/// number.
pub(crate) fn refusable<T: Real, E: Family<T>>(model: &Model) -> Result<Vec<E::Sample>, String> {
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
