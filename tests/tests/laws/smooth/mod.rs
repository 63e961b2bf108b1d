//! Recursions that look back, against enumeration, the log domain and each other.

mod agreement;
mod draws;
mod each_other;
mod edges;
mod long;
mod streams;

use std::borrow::Borrow;

use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use fishweir_core::smooth::posteriors;
use fishweir_tests::build::Family;

type Smoothed<T, const N: usize> = (Vec<[T; N]>, [[T; N]; N], T);

fn smoothed<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    samples: &[Option<E::Sample>],
) -> Result<Smoothed<T, N>, String> {
    let mut rows = vec![[T::ZERO; N]; samples.len()];
    let mut pairs = [[T::ZERO; N]; N];
    let observations = samples.iter().map(|x| x.as_ref().map(Borrow::borrow));
    let log = posteriors(hmm, observations, &mut rows, &mut pairs).map_err(|e| e.to_string())?;
    Ok((rows, pairs, log))
}

fn close(got: f64, expected: f64, tolerance: f64, what: &str) {
    let error = (got - expected).abs();
    assert!(error <= tolerance * (1.0 + expected.abs()), "{what}: {got}, expected {expected}");
}

fn all_close(got: &[Vec<f64>], expected: &[Vec<f64>], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (t, (got, expected)) in got.iter().zip(expected).enumerate() {
        for (j, (&got, &expected)) in got.iter().zip(expected).enumerate() {
            close(got, expected, tolerance, &format!("{what}[{t}][{j}]"));
        }
    }
}
