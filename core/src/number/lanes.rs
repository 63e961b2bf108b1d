use super::{Number, Real, ScaleAccumulator, sum_of};

/// `L` real numbers side by side: one entry for each of `L` sequences that share a model.
///
/// Every lane computes exactly what the scalar recursion computes, operation by operation, so a
/// batch has the bits of its sequences taken one by one, whatever the machine's vector width.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C, align(64))]
#[doc(hidden)]
pub struct Lanes<T, const L: usize>(
    /// One number per lane.
    pub [T; L],
);

impl<T: Real, const L: usize> Lanes<T, L> {
    /// `row_j = f(sum_i a_i w_ij, b_j)` in every lane, summed as `sum_of` sums.
    ///
    /// What differs between few states and many is what compilers vectorise well: a loop over lanes
    /// around all states, whose row then stays in registers, or one for each state.
    #[inline(always)]
    pub(crate) fn combine<const N: usize>(
        a: &[Self; N],
        weight: impl Fn(usize, usize) -> T,
        b: &[Self; N],
        f: impl Fn(T, T) -> T,
    ) -> [Self; N] {
        let mut row = *b;
        if N <= IN_REGISTERS {
            for l in 0..L {
                let (mut left, mut result) = ([T::ZERO; N], [T::ZERO; N]);
                for i in 0..N {
                    left[i] = a[i].0[l];
                }
                for j in 0..N {
                    let sum = sum_of::<T, N>(|i| left[i] * weight(i, j));
                    result[j] = f(sum, b[j].0[l]);
                }
                for j in 0..N {
                    row[j].0[l] = result[j];
                }
            }
        } else {
            for j in 0..N {
                let mut column = [T::ZERO; N];
                for i in 0..N {
                    column[i] = weight(i, j);
                }
                for l in 0..L {
                    let sum = sum_of::<T, N>(|i| a[i].0[l] * column[i]);
                    row[j].0[l] = f(sum, b[j].0[l]);
                }
            }
        }
        row
    }

    /// The sum over states in every lane, summed as `sum_of` sums.
    #[inline(always)]
    pub(crate) fn sum<const N: usize>(row: &[Self; N]) -> Self {
        let mut sum = Self::ZERO;
        for l in 0..L {
            sum.0[l] = sum_of::<T, N>(|j| row[j].0[l]);
        }
        sum
    }
}

/// Number of states that stay in vector registers.
const IN_REGISTERS: usize = 8;

impl<T: Real, const L: usize> Number for Lanes<T, L> {
    type Weight = T;
    type Real = T;
    type ScaleAccumulator = [ScaleAccumulator<T>; L];
    type LogScale = [T; L];
    type Reading = Self;

    const ZERO: Self = Self([T::ZERO; L]);
    const ONE: Self = Self([T::ONE; L]);
    const UNSCALED: Self::ScaleAccumulator = [ScaleAccumulator::UNSCALED; L];

    #[inline(always)]
    fn lift(weight: T) -> Self {
        Self([weight; L])
    }
    #[inline(always)]
    fn plus(mut self, other: Self) -> Self {
        for l in 0..L {
            self.0[l] = self.0[l] + other.0[l];
        }
        self
    }
    #[inline(always)]
    fn mul_weight(mut self, weight: T) -> Self {
        for l in 0..L {
            self.0[l] = self.0[l] * weight;
        }
        self
    }
    #[inline(always)]
    fn times(mut self, other: Self) -> Self {
        for l in 0..L {
            self.0[l] = self.0[l] * other.0[l];
        }
        self
    }
    #[inline(always)]
    fn is_at_least(self, power: i32) -> bool {
        let bound = T::power_of_two(power);
        let mut all = true;
        for l in 0..L {
            all &= self.0[l] >= bound;
        }
        all
    }
    #[inline(always)]
    fn is_between(self, low: i32, high: i32) -> bool {
        let mut all = true;
        for l in 0..L {
            all &= self.0[l].is_between(low, high);
        }
        all
    }
    #[inline]
    fn rescale<const N: usize>(
        row: &mut [Self; N],
        sum: Self,
        ledger: &mut Self::ScaleAccumulator,
    ) {
        let mut factor = Self::ONE;
        for l in 0..L {
            let exponent = sum.0[l].exponent();
            factor.0[l] = T::power_of_two(-exponent);
            ledger[l].take_exponent(exponent.into());
        }
        for entry in row {
            *entry = entry.times(factor);
        }
    }
    #[inline]
    fn add_log_scale(ledger: &mut Self::ScaleAccumulator, log_scale: [T; L]) {
        for l in 0..L {
            T::add_log_scale(&mut ledger[l], log_scale[l]);
        }
    }
    #[inline]
    fn log(sum: Self, ledger: &Self::ScaleAccumulator) -> Self {
        let mut log = Self::ZERO;
        for l in 0..L {
            log.0[l] = T::log(sum.0[l], &ledger[l]);
        }
        log
    }
    #[inline]
    fn log_ratio(
        sum: Self,
        ledger: &Self::ScaleAccumulator,
        other: Self,
        other_ledger: &Self::ScaleAccumulator,
    ) -> Self {
        let mut log = Self::ZERO;
        for l in 0..L {
            log.0[l] = T::log_ratio(sum.0[l], &ledger[l], other.0[l], &other_ledger[l]);
        }
        log
    }
}
