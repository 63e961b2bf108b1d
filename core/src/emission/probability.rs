//! Rows of probabilities over slices: the arithmetic that initial and transition distributions,
//! categorical emissions and mixture weights have in common, for sizes known at run time or not.
//!
//! Slices of a call have the same length; what lies past the shortest is left alone.

use super::Probabilities;
use crate::error::{ErrorKind, ModelError, Part};
use crate::number::{Real, shorter};

/// The row under which the counts are likeliest: `p'_j = (n_j + a) / sum_k (n_k + a)` over the
/// entries that are not zero, `a` the pseudo-count. A row that was never taken stays as it is.
///
/// `estimate` may hold anything before.
#[doc(hidden)]
pub fn maximise_row<T: Real>(probability: &[T], counts: &[T], pseudo_count: T, estimate: &mut [T]) {
    let mut total = T::ZERO;
    let entries = shorter(estimate.len(), probability.len());
    let (estimate, probability) = (&mut estimate[..entries], &probability[..entries]);
    for j in 0..shorter(entries, counts.len()) {
        estimate[j] = if probability[j] > T::ZERO { counts[j] + pseudo_count } else { T::ZERO };
        total = total + estimate[j];
    }
    let counted = total > T::ZERO;
    for j in 0..entries {
        estimate[j] = if counted { estimate[j] / total } else { probability[j] };
    }
}

/// The score of a row of probabilities from the expected counts: see [`Probabilities`].
///
/// Where a probability is exactly zero its count is, too; `counts` may hold there the limit of
/// count / probability, and the `ratio` score needs it.
#[doc(hidden)]
pub fn score_row<T: Real>(
    probability: &[T],
    counts: &[T],
    parametrisation: Probabilities,
    score: &mut [T],
) {
    let mut visits = T::ZERO;
    let entries = shorter(probability.len(), counts.len());
    let (probability, counts) = (&probability[..entries], &counts[..entries]);
    for j in 0..entries {
        if probability[j] > T::ZERO {
            visits = visits + counts[j];
        }
    }
    for j in 0..shorter(entries, score.len()) {
        let (p, count) = (probability[j], counts[j]);
        let counted = p > T::ZERO;
        score[j] = match parametrisation {
            Probabilities::Ratio if counted => count / p - visits,
            Probabilities::Ratio => count - visits,
            Probabilities::Softmax if counted => count - p * visits,
            Probabilities::Softmax => T::ZERO,
        };
    }
}

/// The rates of change of a row of probabilities along a direction: see [`Probabilities`].
#[doc(hidden)]
pub fn move_row<T: Real>(
    probability: &[T],
    direction: &[T],
    parametrisation: Probabilities,
    rate: &mut [T],
) {
    let entries = || probability.iter().zip(direction);
    let total = match parametrisation {
        Probabilities::Ratio => entries().fold(T::ZERO, |sum, (_, &w)| sum + w),
        Probabilities::Softmax => entries().fold(T::ZERO, |sum, (&p, &w)| sum + p * w),
    };
    for (rate, (&p, &w)) in rate.iter_mut().zip(entries()) {
        *rate = match parametrisation {
            Probabilities::Ratio => w - p * total,
            Probabilities::Softmax => p * (w - total),
        };
    }
}

/// A row's score in another parametrisation, in place: `softmax_j = p_j ratio_j`.
///
/// # Errors
/// From `softmax` to `ratio`: the first probability of exactly zero, whose `ratio` score no
/// `softmax` score can tell. Entries before it have been converted.
pub fn convert_row_score<T: Real>(
    probability: &[T],
    score: &mut [T],
    from: Probabilities,
    to: Probabilities,
    part: Part,
    row: usize,
) -> Result<(), ModelError> {
    for (entry, (score, &p)) in score.iter_mut().zip(probability).enumerate() {
        *score = match (from, to) {
            (Probabilities::Ratio, Probabilities::Softmax) => p * *score,
            (Probabilities::Softmax, Probabilities::Ratio) if p > T::ZERO => *score / p,
            (Probabilities::Softmax, Probabilities::Ratio) => {
                return Err(ModelError::new(part, ErrorKind::NotPositive, row, entry));
            }
            _ => *score,
        };
    }
    Ok(())
}

/// A row's direction in another parametrisation, in place: `ratio_j = p_j softmax_j`.
///
/// # Errors
/// From `ratio` to `softmax`: the first probability of exactly zero that the direction moves, for
/// no change of a logit does. Entries before it have been converted.
pub fn convert_row_direction<T: Real>(
    probability: &[T],
    direction: &mut [T],
    from: Probabilities,
    to: Probabilities,
    part: Part,
    row: usize,
) -> Result<(), ModelError> {
    for (entry, (direction, &p)) in direction.iter_mut().zip(probability).enumerate() {
        *direction = match (from, to) {
            (Probabilities::Softmax, Probabilities::Ratio) => p * *direction,
            (Probabilities::Ratio, Probabilities::Softmax) if p > T::ZERO => *direction / p,
            (Probabilities::Ratio, Probabilities::Softmax) if *direction != T::ZERO => {
                return Err(ModelError::new(part, ErrorKind::NotPositive, row, entry));
            }
            _ => *direction,
        };
    }
    Ok(())
}

/// `prior exp(log)`, never infinite: it stops at half the range of exponents (`2^63` in `f32`,
/// `2^511` in `f64`), so that sums of such limits stay numbers.
pub(super) fn relative<T: Real>(prior: T, log: T) -> T {
    let bound = T::power_of_two(T::power_of_two(i32::MAX).exponent() / 2);
    let value = prior * log.exp();
    if value < bound { value } else { bound }
}
