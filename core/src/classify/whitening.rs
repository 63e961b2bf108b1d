use core::fmt;

use super::checks::check_finite;
use crate::error::{ModelError, Part};
use crate::number::{Real, inner_product};

/// Error of a kernel on scores without a value: an entry of the whitened score lies outside `-2^48` to `2^48`,
/// far from what any data shows, or is no number. A sample millions of standard deviations away does
/// that. The state is sound: reset, or read on where scores are means over the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScoreOutOfRange;

impl fmt::Display for ScoreOutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whitened score outside -2^48 to 2^48: a reset is wanted")
    }
}

impl core::error::Error for ScoreOutOfRange {}

/// Centring and whitening of scores before a kernel reads them.
///
/// Entries stay between `-2^48` and `2^48`, so that a kernel's sums stay finite.
pub trait Whitening<T: Real, const F: usize> {
    /// The whitened scores, `[entry]`.
    ///
    /// # Errors
    /// [`ScoreOutOfRange`].
    fn whiten(&self, scores: [T; F]) -> Result<[T; F], ScoreOutOfRange>;

    /// Checks every number.
    ///
    /// # Errors
    /// Names the first that is not finite.
    fn validate(&self) -> Result<(), ModelError>;
}

/// Each entry by itself: `z_k = rate_k (u_k - centre_k)`.
///
/// The practical kernel (rates of one), diagonal information (rates of one by the roots of its
/// diagonal), standardised features, and for kernels of inner products any whitening, folded into the
/// stored scores. A rate of zero leaves an entry out. Flash: `2 F` reals.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DiagonalWhitening<T, const F: usize> {
    /// `[entry]`.
    pub centre: [T; F],
    /// `[entry]`.
    pub rate: [T; F],
}

/// Entries mixed: `z_i = sum_k rows_ik (u_k - centre_k)`, with `rows' rows` the inverse information
/// matrix.
///
/// The invariant Fisher kernel in full, for kernels of distances and angles; those of inner products
/// need it in the stored scores alone. Flash: `F (F + 1)` reals. `F^2` multiply-adds per reading.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FullWhitening<T, const F: usize> {
    /// `[entry]`.
    pub centre: [T; F],
    /// `[whitened entry][entry]`.
    pub rows: [[T; F]; F],
}

impl<T: Real, const F: usize> Whitening<T, F> for DiagonalWhitening<T, F> {
    #[inline]
    fn whiten(&self, mut scores: [T; F]) -> Result<[T; F], ScoreOutOfRange> {
        whiten_entries(&mut scores, &self.centre, &self.rate)?;
        Ok(scores)
    }

    fn validate(&self) -> Result<(), ModelError> {
        check_finite([&self.centre[..], &self.rate[..]], Part::Whitening)
    }
}

impl<T: Real, const F: usize> Whitening<T, F> for FullWhitening<T, F> {
    #[inline]
    fn whiten(&self, mut scores: [T; F]) -> Result<[T; F], ScoreOutOfRange> {
        let mut whitened = [T::ZERO; F];
        let rows = self.rows.iter().map(|row| &row[..]);
        mix_entries(&mut scores, &self.centre, rows, &mut whitened)?;
        Ok(whitened)
    }

    fn validate(&self) -> Result<(), ModelError> {
        let rows = self.rows.iter().map(|row| &row[..]);
        check_finite([&self.centre[..]].into_iter().chain(rows), Part::Whitening)
    }
}

/// [`DiagonalWhitening`] over slices, in place.
///
/// # Errors
/// [`ScoreOutOfRange`].
#[inline]
#[doc(hidden)]
pub fn whiten_entries<T: Real>(
    scores: &mut [T],
    centre: &[T],
    rate: &[T],
) -> Result<(), ScoreOutOfRange> {
    for ((entry, &centre), &rate) in scores.iter_mut().zip(centre).zip(rate) {
        *entry = rate * (*entry - centre);
    }
    check_range(scores)
}

/// [`FullWhitening`] over slices: centres `scores` in place, and writes `whitened`, an entry per row.
///
/// # Errors
/// [`ScoreOutOfRange`].
#[inline]
#[doc(hidden)]
pub fn mix_entries<'r, T: Real>(
    scores: &mut [T],
    centre: &[T],
    rows: impl IntoIterator<Item = &'r [T]>,
    whitened: &mut [T],
) -> Result<(), ScoreOutOfRange> {
    for (entry, &centre) in scores.iter_mut().zip(centre) {
        *entry = *entry - centre;
    }
    for (entry, row) in whitened.iter_mut().zip(rows) {
        *entry = inner_product(row, scores);
    }
    check_range(whitened)
}

/// The largest power of two of an entry of whitened scores.
const FARTHEST_ENTRY: i32 = 48;

/// Refuses entries out of range, and NaN.
#[inline]
fn check_range<T: Real>(entries: &[T]) -> Result<(), ScoreOutOfRange> {
    let most = T::power_of_two(FARTHEST_ENTRY);
    if entries.iter().all(|entry| entry.abs() <= most) { Ok(()) } else { Err(ScoreOutOfRange) }
}
