//! Small arithmetic on rows of numbers: rows of probabilities, and draws.

use crate::elementary::Elementary;
use fishweir_core::emission::{Parametrisation, score_row};
use fishweir_core::rand_core;
use rand::{Rng, RngCore};
use rand_chacha::ChaCha8Rng;

/// Writes counts as a distribution; without counts the old one stays.
pub(crate) fn normalise_into(row: &mut [f64], counts: &[f64], pseudocount: f64) {
    let smooth = |old: f64, count: f64| if old > 0.0 { count + pseudocount } else { count };
    let sum: f64 = row.iter().zip(counts).map(|(&old, &count)| smooth(old, count)).sum();
    if sum < 1e-300 {
        return;
    }
    for (entry, &count) in row.iter_mut().zip(counts) {
        *entry = smooth(*entry, count) / sum;
    }
    // Rounding of a long row must not make it fail the check that it sums to one.
    let sum: f64 = row.iter().sum();
    for entry in row {
        *entry /= sum;
    }
}

/// The logarithm of the prior density of which a pseudocount is the parameter (Dirichlet), up to a
/// constant, of rows of probabilities.
pub(crate) fn log_dirichlet<'p>(
    pseudocount: f64,
    rows: impl IntoIterator<Item = &'p Vec<f64>>,
) -> f64 {
    if pseudocount == 0.0 {
        return 0.0;
    }
    let allowed = rows.into_iter().flatten().filter(|p| **p > 0.0);
    pseudocount * allowed.map(|p| p.portable_ln()).sum::<f64>()
}

/// Appends the score of a row of probabilities from its counts; zero where a probability is.
pub(crate) fn push_row(
    probability: &[f64],
    counts: &[f64],
    parametrisation: Parametrisation,
    score: &mut Vec<f64>,
) {
    let from = score.len();
    score.resize(from + probability.len(), 0.0);
    score_row(probability, counts, parametrisation.probabilities, &mut score[from..]);
    for (entry, &p) in score[from..].iter_mut().zip(probability) {
        if p == 0.0 {
            *entry = 0.0;
        }
    }
}

/// An index, with these probabilities.
pub(crate) fn choose(probability: &[f64], rng: &mut ChaCha8Rng) -> usize {
    let mut left: f64 = rng.random();
    for (index, p) in probability.iter().enumerate() {
        left -= p;
        if left < 0.0 {
            return index;
        }
    }
    // Rounding leaves a trace: the last that can be.
    probability.iter().rposition(|&p| p > 0.0).unwrap_or(0)
}

/// A standard normal number (Box and Muller).
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).portable_ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).portable_cos()
}

/// The mean of a channel, and the rows in which it is there; `None` without any.
pub(crate) fn mean(rows: &[&[f64]], channel: usize) -> Option<(f64, f64)> {
    let there = || rows.iter().map(|row| row[channel]).filter(|x| !x.is_nan());
    let count = there().count() as f64;
    (count > 0.0).then(|| (there().sum::<f64>() / count, count))
}

/// A generator's bits, as the core draws with them.
pub(crate) struct Bits<'r>(pub(crate) &'r mut ChaCha8Rng);

impl rand_core::TryRng for Bits<'_> {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.0.next_u32())
    }
    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(self.0.next_u64())
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

/// Probabilities of a row that are free: those that are not zero, but one.
pub(crate) fn free_probabilities(row: &[f64]) -> usize {
    row.iter().filter(|&&p| p > 0.0).count().saturating_sub(1)
}
