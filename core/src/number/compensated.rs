use super::Real;

/// A double-word number: the nearest number, and the remainder of rounding. For running sums and their
/// readings at full precision.
///
/// Every addition is exact but for one rounding of the carry, and puts the carry back below half a
/// unit in the last place of the sum: `10^8` terms sum in `f32` as they would in a format of 48
/// bits. A carry that were only added up (Neumaier's sum) would itself outgrow its terms and stop,
/// at `2^25` terms of equal size.
///
/// Sources: Knuth's two-sum; Dekker 1971, "A floating-point technique for extending the available
/// precision" (fast two-sum, product); Joldes, Muller and Popescu 2017, "Tight and rigorous error
/// bounds for basic building blocks of double-word arithmetic". RAM: 2 reals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Compensated<T> {
    sum: T,
    carry: T,
}

impl<T: Real> Compensated<T> {
    /// An empty sum.
    pub const ZERO: Self = Self { sum: T::ZERO, carry: T::ZERO };

    /// `exponent log 2`, to some 44 bits in `f32` and 100 in `f64`.
    #[inline]
    pub(crate) fn of_exponent(exponent: i64) -> Self {
        let Self { sum, carry } = Self::of_integer(exponent);
        let mut product = T::LN_2.times(sum);
        product.add(T::LN_2.sum * carry);
        product
    }

    /// An integer: the nearest real and the remainder.
    #[inline]
    pub(crate) fn of_integer(integer: i64) -> Self {
        let sum = T::from_integer(integer);
        let carry = T::from_integer(integer.wrapping_sub(sum.to_integer()));
        Self { sum, carry }
    }

    /// Sum of these two parts, of which the second is below a unit in the last place of the first.
    #[inline]
    pub const fn from_parts(sum: T, carry: T) -> Self {
        Self { sum, carry }
    }

    /// The sum and its remainder.
    #[inline]
    pub fn parts(self) -> (T, T) {
        (self.sum, self.carry)
    }

    /// Adds a term. Ten additions, no branch.
    #[inline]
    pub fn add(&mut self, term: T) {
        let sum = self.sum + term;
        let from_term = sum - self.sum;
        let dropped = (self.sum - (sum - from_term)) + (term - from_term);
        let carry = self.carry + dropped;
        self.sum = sum + carry;
        self.carry = carry - (self.sum - sum);
    }

    /// Adds another sum. Twenty additions, no branch; the error is below `2^-44` (`f32`) of the larger
    /// of the two.
    #[inline]
    pub fn add_sum(&mut self, other: Self) {
        self.add(other.sum);
        self.add(other.carry);
    }

    /// The product with a real number, by Dekker's: no fused operation, so that every machine has the
    /// same bits. Finite wherever the product is.
    #[inline]
    pub fn times(self, factor: T) -> Self {
        let product = self.sum * factor;
        let (a, b) = (split(self.sum), split(factor));
        let dropped = ((a.0 * b.0 - product) + a.0 * b.1 + a.1 * b.0) + a.1 * b.1;
        let carry = dropped + self.carry * factor;
        let sum = product + carry;
        Self { sum, carry: carry - (sum - product) }
    }

    /// The total less another's, accurate even if both are large.
    #[inline]
    pub fn difference(&self, other: &Self) -> T {
        (self.sum - other.sum) + (self.carry - other.carry)
    }

    /// The total.
    #[inline]
    pub fn total(&self) -> T {
        self.sum + self.carry
    }
}

/// A number's leading half and the rest, so that a product holds all of two halves (in `f64` all but the
/// last bit of two rests). By the bits: where Veltkamp's multiplication would overflow, and sooner.
#[inline]
fn split<T: Real>(x: T) -> (T, T) {
    let high = x.leading_half();
    (high, x - high)
}
