use super::Real;

/// A running sum that carries what rounding dropped (Neumaier's variant of Kahan's sum).
///
/// After `n` additions the total is off by about one rounding of the result plus `n` roundings of
/// second order, instead of `n` of first order: `10^8` terms sum in `f32` as they would in a format
/// of 48 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Compensated<T> {
    sum: T,
    carry: T,
}

impl<T: Real> Compensated<T> {
    /// An empty sum.
    pub const ZERO: Self = Self { sum: T::ZERO, carry: T::ZERO };

    /// Adds a term. Six additions, no branch (Knuth's two-sum).
    #[inline]
    pub fn add(&mut self, term: T) {
        let sum = self.sum + term;
        let from_term = sum - self.sum;
        let dropped = (self.sum - (sum - from_term)) + (term - from_term);
        self.sum = sum;
        self.carry = self.carry + dropped;
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
