//! Models whose past is seen: scores against differences of the likelihood, the laws of a stream, means
//! of scores, kernels; and the same of the host's, whose sizes are for run time.

mod density;
mod host;
mod markov;
mod positions;

use fishweir_core::filter::Streaming;
use fishweir_tests::checks::{self, assert_near, fresh_cases as cases};
use fishweir_tests::oracle::least_eigenvalue;

/// The reading after samples, `None` where one is missing.
#[track_caller]
fn after<R: Streaming<Observation: Sized>>(
    recursion: R,
    samples: &[Option<&R::Observation>],
) -> R::Reading {
    checks::after(recursion, samples.iter().copied()).read()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// That inner products of scores, under a metric or without one, make no negative eigenvalue.
#[track_caller]
fn assert_positive(gram: &[Vec<f64>]) {
    let trace: f64 = (0..gram.len()).map(|i| gram[i][i]).sum();
    let least = least_eigenvalue(gram);
    assert!(least > -1e-12 * (1.0 + trace), "eigenvalue {least} of trace {trace}");
}
