//! Kernels by marginalisation: the laws of a stream, every prefix against sums over all hidden models,
//! Gram matrices without negative eigenvalues, invariances, long sequences.

mod aligned;
mod between;
mod long_sequences;
mod machine;
mod pair;
mod set;
mod tree;

use fishweir_tests::checks::fresh_cases as cases;
use fishweir_tests::oracle::least_eigenvalue;
use fishweir_tests::sample::Sampler;

#[track_caller]
fn assert_near(got: f64, expected: f64, tolerance: f64, what: impl std::fmt::Display) {
    let near = (got - expected).abs() <= tolerance * expected.abs();
    assert!(near, "{what}: {got} where {expected} is right");
}

/// That a Gram matrix of kernels, given by their logarithms, is symmetric and has no negative
/// eigenvalue but for rounding.
#[track_caller]
fn assert_positive(log_gram: &[Vec<f64>]) {
    let n = log_gram.len();
    for i in 0..n {
        for j in 0..n {
            let (a, b) = (log_gram[i][j], log_gram[j][i]);
            assert!(a == b || (a - b).abs() <= 1e-11 * (1.0 + a.abs()), "{a} and {b}");
        }
    }
    // Normalised: an eigenvalue can then be told from rounding.
    let normal = |i: usize, j: usize| {
        let log = log_gram[i][j] - 0.5 * (log_gram[i][i] + log_gram[j][j]);
        if log_gram[i][j] == f64::NEG_INFINITY { 0.0 } else { log.exp() }
    };
    let gram: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| normal(i, j)).collect()).collect();
    let least = least_eigenvalue(&gram);
    assert!(least > -1e-10, "eigenvalue {least} of {gram:?}");
    assert!(least <= 1.0 + 1e-10, "eigenvalues sum to the trace: {least}");
}

/// Symbols below a bound.
fn symbols(sampler: &mut Sampler, length: usize, bound: usize) -> Vec<usize> {
    (0..length).map(|_| sampler.uniform(0.0, bound as f64) as usize).collect()
}

/// Symbols with some missing.
fn gappy(sampler: &mut Sampler, length: usize, bound: usize) -> Vec<Option<usize>> {
    let symbols = symbols(sampler, length, bound);
    symbols.into_iter().map(|x| (sampler.uniform(0.0, 1.0) < 0.8).then_some(x)).collect()
}

fn borrowed(symbols: &[Option<usize>]) -> Vec<Option<&usize>> {
    symbols.iter().map(Option::as_ref).collect()
}
