//! Theorems: what is true of every hidden Markov model, checked on random and on special ones.

mod artefact;
mod classifier;
mod likelihood;
mod padding;
mod posterior;
mod precision;
mod range;
mod statistics;
mod tangent;

use std::borrow::Borrow;

use fishweir_core::ObservationError;
use fishweir_core::filter::Streaming;
use fishweir_tests::checks::cases;

/// Pushes an observation or its absence; `false` where it is impossible.
fn push<R: Streaming, S: Borrow<R::Observation>>(
    recursion: &R,
    state: &mut R::State,
    x: Option<&S>,
) -> bool {
    match x.map(|x| recursion.step(state, x.borrow())) {
        None => recursion.step_missing(state),
        Some(Ok(())) => {}
        Some(Err(ObservationError::Impossible)) => return false,
        Some(Err(error)) => panic!("{error}"),
    }
    true
}

/// Asserts that two numbers differ by at most `absolute + relative |b|`.
#[track_caller]
fn assert_close(a: f64, b: f64, relative: f64, absolute: f64, what: &str) {
    let allowed = absolute + relative * b.abs();
    assert!(a == b || (a - b).abs() <= allowed, "{what}: {a} and {b}, allowed {allowed:.3e}");
}
