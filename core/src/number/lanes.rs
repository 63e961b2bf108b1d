use super::{Ledger, Number, Real};

/// `L` real numbers side by side: one entry for each of `L` sequences that share a model.
///
/// Every lane computes exactly what the scalar recursion computes, operation by operation, so a
/// batch has the bits of its sequences taken one by one, whatever the machine's vector width.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C, align(64))]
pub struct Lanes<T, const L: usize>(
    /// One number a lane.
    pub [T; L],
);

impl<T: Real, const L: usize> Lanes<T, L> {
    /// `f` of two rows of numbers, over lanes: of the lanes themselves where there are many states,
    /// else of one lane after the other.
    ///
    /// The results are the same. What differs is what compilers vectorise: a loop over lanes around
    /// the whole of a small recursion, whose row then stays in registers, or a loop over lanes in
    /// each operation of a large one.
    #[inline(always)]
    pub(crate) fn apply<const N: usize>(
        a: &[Self; N],
        b: &[Self; N],
        f: &impl RowFunction<T, N>,
    ) -> ([Self; N], Self) {
        if N > SMALL {
            return f.apply(a, b);
        }
        let (mut row, mut number) = (*a, Self::ZERO);
        for l in 0..L {
            let (mut left, mut right) = ([T::ZERO; N], [T::ZERO; N]);
            for (left, a) in left.iter_mut().zip(a) {
                *left = a.0[l];
            }
            for (right, b) in right.iter_mut().zip(b) {
                *right = b.0[l];
            }
            let (result, one) = f.apply(&left, &right);
            for (row, result) in row.iter_mut().zip(result) {
                row.0[l] = result;
            }
            number.0[l] = one;
        }
        (row, number)
    }
}

/// As many states as stay in vector registers.
const SMALL: usize = 8;

/// A function of two rows, a row and a number, of every number over weights of one type.
pub(crate) trait RowFunction<T: Real, const N: usize> {
    /// The function.
    fn apply<X: Quotient<Weight = T, Real = T>>(&self, a: &[X; N], b: &[X; N]) -> ([X; N], X);
}

/// Numbers that can be divided.
pub(crate) trait Quotient: Number {
    /// `self / divisor`, and zero where `self` is.
    fn over(self, divisor: Self) -> Self;
    /// The larger.
    fn or_larger(self, other: Self) -> Self;
}

impl<T: Real> Quotient for T {
    #[inline(always)]
    fn over(self, divisor: Self) -> Self {
        let quotient = self / divisor;
        if self > T::ZERO { quotient } else { T::ZERO }
    }
    #[inline(always)]
    fn or_larger(self, other: Self) -> Self {
        Real::max(self, other)
    }
}

impl<T: Real, const L: usize> Quotient for Lanes<T, L> {
    #[inline(always)]
    fn over(mut self, divisor: Self) -> Self {
        for (value, divisor) in self.0.iter_mut().zip(divisor.0) {
            *value = value.over(divisor);
        }
        self
    }
    #[inline(always)]
    fn or_larger(mut self, other: Self) -> Self {
        for (value, other) in self.0.iter_mut().zip(other.0) {
            *value = value.or_larger(other);
        }
        self
    }
}

impl<T: Real, const L: usize> Number for Lanes<T, L> {
    type Weight = T;
    type Real = T;
    type Ledger = [Ledger<T>; L];
    type LogScale = [T; L];

    const ZERO: Self = Self([T::ZERO; L]);
    const UNIT: Self = Self([T::ONE; L]);
    const SETTLED: Self::Ledger = [Ledger::SETTLED; L];

    #[inline(always)]
    fn lift(weight: T) -> Self {
        Self([weight; L])
    }
    #[inline(always)]
    fn plus(mut self, other: Self) -> Self {
        for (value, other) in self.0.iter_mut().zip(other.0) {
            *value = *value + other;
        }
        self
    }
    #[inline(always)]
    fn weigh(mut self, weight: T) -> Self {
        for value in &mut self.0 {
            *value = *value * weight;
        }
        self
    }
    #[inline(always)]
    fn times(mut self, other: Self) -> Self {
        for (value, other) in self.0.iter_mut().zip(other.0) {
            *value = *value * other;
        }
        self
    }
    #[inline(always)]
    fn is_at_least(self, power: i32) -> bool {
        let bound = T::power_of_two(power);
        self.0.iter().fold(true, |all, value| all & (*value >= bound))
    }
    #[inline(always)]
    fn is_between(self, low: i32, high: i32) -> bool {
        self.0.iter().fold(true, |all, value| all & value.is_between(low, high))
    }
    #[inline]
    fn settle<const N: usize>(row: &mut [Self; N], sum: Self, ledger: &mut Self::Ledger) {
        let exponent = sum.0.map(T::exponent);
        let factor = Self(exponent.map(|e| T::power_of_two(-e)));
        for entry in row {
            *entry = entry.times(factor);
        }
        for (ledger, exponent) in ledger.iter_mut().zip(exponent) {
            ledger.take_exponent(exponent.into());
        }
    }
    #[inline]
    fn earn(ledger: &mut Self::Ledger, log_scale: [T; L]) {
        for (ledger, log_scale) in ledger.iter_mut().zip(log_scale) {
            T::earn(ledger, log_scale);
        }
    }
    #[inline]
    fn log(sum: Self, ledger: &Self::Ledger) -> Self {
        Self(core::array::from_fn(|l| T::log(sum.0[l], &ledger[l])))
    }
    #[inline]
    fn log_ratio(
        sum: Self,
        ledger: &Self::Ledger,
        other: Self,
        other_ledger: &Self::Ledger,
    ) -> Self {
        Self(core::array::from_fn(|l| {
            T::log_ratio(sum.0[l], &ledger[l], other.0[l], &other_ledger[l])
        }))
    }
}
