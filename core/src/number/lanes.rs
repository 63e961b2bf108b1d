use super::{Ledger, Number, Real};

/// `L` real numbers side by side: one entry for each of `L` sequences that share a model.
///
/// Every lane computes exactly what the scalar recursion computes, operation by operation, so a
/// batch has the bits of its sequences taken one by one, whatever the machine's vector width.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C, align(32))]
pub struct Lanes<T, const L: usize>(
    /// One number a lane.
    pub [T; L],
);

impl<T: Real, const L: usize> Number for Lanes<T, L> {
    type Weight = T;
    type Real = T;
    type Ledger = [Ledger<T>; L];
    type LogScale = [T; L];
    type Reading = Self;

    const ZERO: Self = Self([T::ZERO; L]);
    const UNIT: Self = Self([T::ONE; L]);
    const SETTLED: Self::Ledger = [Ledger::SETTLED; L];

    #[inline(always)]
    fn lift(weight: T) -> Self {
        Self([weight; L])
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(core::array::from_fn(|l| self.0[l] + other.0[l]))
    }
    #[inline(always)]
    fn weigh(self, weight: T) -> Self {
        Self(core::array::from_fn(|l| self.0[l] * weight))
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self(core::array::from_fn(|l| self.0[l] * other.0[l]))
    }
    #[inline]
    fn is_at_least(self, power: i32) -> bool {
        let bound = T::power_of_two(power);
        self.0.iter().fold(true, |all, value| all & (*value >= bound))
    }
    #[inline]
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
            ledger.take_exponent(exponent);
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
