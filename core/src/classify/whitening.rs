use super::machine::check_finite;
use crate::error::{ModelError, Part};
use crate::number::{Real, inner_product};

/// How scores are centred and whitened before a kernel sees them.
///
/// An entry that leaves `-2^48` to `2^48` is held there, far outside what any data shows, so that a
/// kernel's sums stay finite.
pub trait Whitening<T: Real, const F: usize> {
    /// The whitened scores, `[entry]`.
    fn whiten(&self, scores: [T; F]) -> [T; F];

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
/// need it in the stored scores alone. Flash: `F (F + 1)` reals. `F^2` multiply-adds a reading.
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
    fn whiten(&self, mut scores: [T; F]) -> [T; F] {
        whiten_entries(&mut scores, &self.centre, &self.rate);
        scores
    }

    fn validate(&self) -> Result<(), ModelError> {
        check_finite([&self.centre[..], &self.rate[..]], Part::Whitening)
    }
}

impl<T: Real, const F: usize> Whitening<T, F> for FullWhitening<T, F> {
    #[inline]
    fn whiten(&self, mut scores: [T; F]) -> [T; F] {
        let mut whitened = [T::ZERO; F];
        let rows = self.rows.iter().map(|row| &row[..]);
        mix_entries(&mut scores, &self.centre, rows, &mut whitened);
        whitened
    }

    fn validate(&self) -> Result<(), ModelError> {
        let rows = self.rows.iter().map(|row| &row[..]);
        check_finite([&self.centre[..]].into_iter().chain(rows), Part::Whitening)
    }
}

/// [`DiagonalWhitening`] over slices, in place.
#[inline]
pub fn whiten_entries<T: Real>(scores: &mut [T], centre: &[T], rate: &[T]) {
    for ((entry, &centre), &rate) in scores.iter_mut().zip(centre).zip(rate) {
        *entry = held(rate * (*entry - centre));
    }
}

/// [`FullWhitening`] over slices: centres `scores` in place, and writes `whitened`, an entry a row.
#[inline]
pub fn mix_entries<'r, T: Real>(
    scores: &mut [T],
    centre: &[T],
    rows: impl IntoIterator<Item = &'r [T]>,
    whitened: &mut [T],
) {
    for (entry, &centre) in scores.iter_mut().zip(centre) {
        *entry = held(*entry - centre);
    }
    for (entry, row) in whitened.iter_mut().zip(rows) {
        *entry = held(inner_product(row, scores));
    }
}

/// Where entries of whitened scores are held.
const FARTHEST_ENTRY: i32 = 48;

/// An entry, held in its range; zero where it is no number.
#[inline]
fn held<T: Real>(entry: T) -> T {
    let most = T::power_of_two(FARTHEST_ENTRY);
    if entry > most {
        most
    } else if entry < -most {
        -most
    } else if entry >= -most {
        entry
    } else {
        T::ZERO
    }
}
