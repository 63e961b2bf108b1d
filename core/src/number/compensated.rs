use super::Real;

/// A running sum in two numbers: what fits the first, and what rounding dropped from it.
///
/// Every addition is exact but for one rounding of the carry, and puts the carry back below half a
/// unit in the last place of the sum: `10^8` terms sum in `f32` as they would in a format of 48
/// bits. A carry that were only added up (Neumaier's sum) would itself outgrow its terms and stop,
/// at `2^25` terms of equal size.
///
/// Sources: Knuth's two-sum and Dekker's fast two-sum (Dekker 1971). RAM: 2 reals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Compensated<T> {
    sum: T,
    carry: T,
}

impl<T: Real> Compensated<T> {
    /// An empty sum.
    pub const ZERO: Self = Self { sum: T::ZERO, carry: T::ZERO };

    /// The running sum of these two parts.
    #[inline]
    pub(crate) fn from_parts(sum: T, carry: T) -> Self {
        Self { sum, carry }
    }

    /// The sum and what it could not hold.
    #[inline]
    pub(crate) fn parts(self) -> (T, T) {
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

    /// The total less another's, where the two share what is large.
    #[inline]
    pub fn less(&self, other: &Self) -> T {
        (self.sum - other.sum) + (self.carry - other.carry)
    }

    /// Multiplies the sum and its carry (exponential forgetting).
    #[inline]
    pub fn scale(&mut self, factor: T) {
        self.sum = self.sum * factor;
        self.carry = self.carry * factor;
    }

    /// The total.
    #[inline]
    pub fn total(&self) -> T {
        self.sum + self.carry
    }
}
