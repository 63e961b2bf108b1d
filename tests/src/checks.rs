//! What many tests need: numbers that are near, random cases, recursions after a sequence.

use std::borrow::Borrow;
use std::fmt::Display;

use fishweir::data::{Samples, SamplesView};
use fishweir_core::ObservationError;
use fishweir_core::filter::{Stream, Streaming};
use proptest::test_runner::{Config, RngSeed};

/// Asserts that two numbers are the same, or differ by at most `tolerance (1 + |expected|)`.
///
/// # Panics
/// Where they do not.
#[track_caller]
pub fn assert_near(got: f64, expected: f64, tolerance: f64, what: impl Display) {
    let near = (got - expected).abs() <= tolerance * (1.0 + expected.abs());
    assert!(near || got == expected, "{what}: {got} where {expected} is right");
}

/// The same of a number that the test's own place names.
///
/// # Panics
/// As [`assert_near`].
#[track_caller]
pub fn near(got: f64, expected: f64, tolerance: f64) {
    assert_near(got, expected, tolerance, "a number");
}

/// So many random cases, the same in every run unless `PROPTEST_RNG_SEED` says otherwise.
pub fn cases(cases: u32) -> Config {
    let mut config = fresh_cases(cases);
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(1);
    }
    config
}

/// So many random cases, others in every run.
pub fn fresh_cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// A recursion after samples, `None` where one is missing.
///
/// # Errors
/// The first sample that it refuses.
pub fn try_after<R: Streaming, X: Borrow<R::Observation>>(
    recursion: R,
    samples: impl IntoIterator<Item = Option<X>>,
) -> Result<Stream<R>, ObservationError> {
    let mut stream = Stream::new(recursion);
    for x in samples {
        stream.push(x.as_ref().map(Borrow::borrow))?;
    }
    Ok(stream)
}

/// The same of samples that it takes.
///
/// # Panics
/// At a sample that it refuses.
#[track_caller]
pub fn after<R: Streaming, X: Borrow<R::Observation>>(
    recursion: R,
    samples: impl IntoIterator<Item = Option<X>>,
) -> Stream<R> {
    try_after(recursion, samples)
        .unwrap_or_else(|error| panic!("a sample that is refused: {error}"))
}

/// Sequences as the library takes them.
pub fn views(samples: &[Samples]) -> Vec<SamplesView<'_>> {
    samples.iter().map(Samples::view).collect()
}
