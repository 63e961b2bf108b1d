use super::no_parts;
use crate::number::{RESCALE_BELOW, RESCALE_FROM, Real, ScaleAccumulator, array_of, sum_of};

/// A row of numbers with a power of two of its own: `row x 2^exponent`.
///
/// Where rows of very different sizes are added, as neighbouring cells of a table are, one ledger for
/// all of them will not do. Powers of two are exact; what falls out of the range of exponents below
/// the row's sum is lost, `2^-126` of it in `f32`. No stream can overflow the exponent.
///
/// RAM: `N` reals and 8 B.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Scaled<T, const N: usize> {
    row: [T; N],
    exponent: i64,
}

impl<T: Real, const N: usize> Scaled<T, N> {
    /// Nothing at all.
    pub(super) const ZERO: Self = Self { row: [T::ZERO; N], exponent: 0 };

    /// A row, rescaled.
    #[inline(always)]
    pub(super) fn new(row: [T; N]) -> Self {
        Self { row, exponent: 0 }.rescaled()
    }

    /// The row, up to its power of two.
    pub const fn row(&self) -> &[T; N] {
        &self.row
    }

    /// The power of two.
    pub const fn exponent(&self) -> i64 {
        self.exponent
    }

    #[inline(always)]
    fn sum(&self) -> T {
        sum_of::<T, N>(|j| self.row[j])
    }

    /// Returns whether every entry is zero.
    #[inline(always)]
    pub(super) fn is_zero(&self) -> bool {
        let positive = self.sum() > T::ZERO;
        !positive
    }

    /// Rescales the numbers so that their sum is near one.
    #[inline(always)]
    fn rescaled(self) -> Self {
        let sum = self.sum();
        if sum.is_between(RESCALE_BELOW, RESCALE_FROM) { self } else { self.rescale(sum) }
    }

    /// Out of line: once in a while.
    #[cold]
    #[inline(never)]
    fn rescale(self, sum: T) -> Self {
        let positive = sum > T::ZERO;
        if !positive {
            return Self::ZERO;
        }
        let exponent = sum.exponent();
        let factor = T::power_of_two(-exponent);
        let mut row = self.row;
        for entry in &mut row {
            *entry = *entry * factor;
        }
        Self { row, exponent: self.exponent + i64::from(exponent) }
    }

    /// Another row with the same power of two.
    #[inline(always)]
    pub(super) fn map(&self, f: impl FnOnce(&[T; N]) -> [T; N]) -> Self {
        Self { row: f(&self.row), exponent: self.exponent }.rescaled()
    }

    /// Products, entry by entry.
    #[inline(always)]
    pub(super) fn mul_weight(&self, weights: &[T; N]) -> Self {
        self.map(|row| {
            let mut row = *row;
            for (entry, &weight) in row.iter_mut().zip(weights) {
                *entry = *entry * weight;
            }
            row
        })
    }

    /// Products with another such row, entry by entry.
    #[inline(always)]
    pub(super) fn times(&self, other: &Self) -> Self {
        let product = self.mul_weight(&other.row);
        Self { row: product.row, exponent: product.exponent + other.exponent }
    }

    /// Sums, entry by entry.
    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        if other.is_zero() {
            return self;
        }
        if self.is_zero() {
            return other;
        }
        let (mut larger, smaller) =
            if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let lead = larger.exponent - smaller.exponent;
        let factor = T::power_of_two(-(lead.min(i32::MAX.into()) as i32));
        // A power past the range is clamped to it: what it stood for is nothing to the sum.
        if i64::from(factor.exponent()) == -lead {
            for (entry, &term) in larger.row.iter_mut().zip(&smaller.row) {
                *entry = *entry + term * factor;
            }
        }
        larger.rescaled()
    }

    /// `log sum_j weight_j row_j`.
    pub(super) fn log_of(&self, weights: &[T; N]) -> T {
        let weighed = self.mul_weight(weights);
        log_of(weighed.sum(), weighed.exponent)
    }

    /// [`log_of`](Self::log_of) as the nearest number and what that drops.
    pub(super) fn log_parts_of(&self, weights: &[T; N]) -> [T; 2] {
        let weighed = self.mul_weight(weights);
        let sum = weighed.sum();
        if sum > T::ZERO {
            T::log_parts(sum, &ScaleAccumulator::of_exponent(weighed.exponent))
        } else {
            no_parts()
        }
    }

    /// The logarithms of the entries.
    pub(super) fn logs(&self) -> [T; N] {
        array_of(T::ZERO, |j| log_of(self.row[j], self.exponent))
    }
}

/// `log (x 2^exponent)`; minus infinity of zero.
fn log_of<T: Real>(x: T, exponent: i64) -> T {
    if x > T::ZERO { T::log(x, &ScaleAccumulator::of_exponent(exponent)) } else { T::NEG_INFINITY }
}

#[cfg(test)]
mod tests {
    use super::{Real, Scaled};

    /// A cell that is far below another for 10^8 symbols, at the edge of 32 bits.
    #[test]
    fn a_starving_row_does_not_wrap() {
        let mut starving = Scaled { row: [1.0_f32, 0.5], exponent: -(1 << 31) + 50 };
        let before = starving;
        for _ in 0..50 {
            starving = starving.mul_weight(&[1.0 / 1024.0; 2]);
        }
        let fallen = starving.exponent() + i64::from(starving.row[0].exponent());
        assert_eq!(fallen, before.exponent() - 500);
        let fed = Scaled::new([1.0_f32, 0.0]);
        assert_eq!(fed.plus(starving), fed);
        assert_eq!(starving.plus(fed), fed);
        let square = starving.times(&starving);
        let difference = square.logs()[0] / starving.logs()[0];
        assert!((difference - 2.0).abs() < 1e-6, "{difference}");
    }
}
