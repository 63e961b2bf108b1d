use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{
    Compensated, Number, NumberFormat, Parameter, Real, RealParameter, Scalar, array_of, logarithms,
};

/// A dual number: a value and its rates of change along `C` directions.
///
/// `(a + a' e)(b + b' e) = ab + (a'b + ab') e` with `e^2 = 0`, direction by direction. The forward
/// recursion over dual numbers is the tangent filter: it carries
/// `d/de log p(x_1..t | model + e w)` for `C` directions `w` at once, exactly and forward only (the
/// first-order expectation semiring; Eisner 2002).
///
/// RAM: `1 + C` reals. A product costs `1 + 2C` multiplications.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Dual<T, const C: usize> {
    /// The value.
    pub value: T,
    /// Rates of change of the value.
    pub tangent: [T; C],
}

/// Ledger of a row of dual numbers: that of the values, and the accumulated derivative.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DualLedger<L, T, const C: usize> {
    values: L,
    accumulated: [Compensated<T>; C],
}

impl<T: Real, const C: usize> Parameter for Dual<T, C> {
    type Real = T;
    type Tangent = [T; C];
    type Number = Self;
    type Log = Self;
    type LogScale = T;
    const FORMAT: NumberFormat = T::FORMAT;
    const IMPOSSIBLE: Self = Self { value: T::NEG_INFINITY, tangent: [T::ZERO; C] };

    #[inline(always)]
    fn value(self) -> T {
        self.value
    }
    #[inline(always)]
    fn tangent(self) -> [T; C] {
        self.tangent
    }
    #[inline(always)]
    fn likelihoods<const N: usize>(log: impl FnMut(usize) -> Self) -> Option<([Self; N], T)> {
        logarithms::likelihoods(log)
    }
}

impl<T: Real, const C: usize> RealParameter for Dual<T, C> {
    #[inline(always)]
    fn new(value: T, tangent: [T; C]) -> Self {
        Self { value, tangent }
    }
}

impl<T: Real, const C: usize> Dual<T, C> {
    #[inline(always)]
    fn product(self, other: Self) -> Self {
        let mut tangent = [T::ZERO; C];
        for c in 0..C {
            tangent[c] = self.tangent[c] * other.value + self.value * other.tangent[c];
        }
        Self { value: self.value * other.value, tangent }
    }
}

impl<T: Real, const C: usize> Scalar for Dual<T, C> {
    #[inline(always)]
    fn value(self) -> T {
        self.value
    }
    #[inline]
    fn derivative(self, direction: usize) -> Option<T> {
        self.tangent.get(direction).copied()
    }
    #[inline]
    fn log_parts(sum: Self, ledger: &Self::ScaleAccumulator) -> [Self; 2] {
        let reciprocal = T::ONE / sum.value;
        let [value, rest] = T::log_parts(sum.value, &ledger.values);
        let (mut high, mut low) =
            (Self { value, ..Self::ZERO }, Self { value: rest, ..Self::ZERO });
        for c in 0..C {
            let mut accumulated = ledger.accumulated[c];
            accumulated.add(sum.tangent[c] * reciprocal);
            (high.tangent[c], low.tangent[c]) = accumulated.parts();
        }
        [high, low]
    }
    #[inline]
    fn condition_reachable<const N: usize>(
        predicted: &[Self; N],
        log: impl FnMut(usize) -> Self,
        _ledger: &mut Self::ScaleAccumulator,
    ) -> Option<([Self; N], T)> {
        logarithms::condition_reachable(predicted, log)
    }
}

impl<T: Real, const C: usize> Number for Dual<T, C> {
    type Weight = Self;
    type Real = T;
    type ScaleAccumulator = DualLedger<<T as Number>::ScaleAccumulator, T, C>;
    type LogScale = T;
    type Reading = Self;

    const CENTRED: bool = C > 0;
    const ZERO: Self = Self { value: T::ZERO, tangent: [T::ZERO; C] };
    const ONE: Self = Self { value: T::ONE, tangent: [T::ZERO; C] };
    const UNSCALED: Self::ScaleAccumulator =
        DualLedger { values: T::UNSCALED, accumulated: [Compensated::ZERO; C] };

    #[inline(always)]
    fn lift(weight: Self) -> Self {
        weight
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let mut tangent = self.tangent;
        for c in 0..C {
            tangent[c] = tangent[c] + other.tangent[c];
        }
        Self { value: self.value + other.value, tangent }
    }
    #[inline(always)]
    fn mul_weight(self, weight: Self) -> Self {
        self.product(weight)
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.product(other)
    }
    #[inline(always)]
    fn is_at_least(self, power: i32) -> bool {
        self.value.is_at_least(power)
    }
    #[inline(always)]
    fn is_between(self, low: i32, high: i32) -> bool {
        self.value.is_between(low, high)
    }

    /// Moves `g = sum'/sum` out of every entry, `(a + a' e)(1 - g e) = a + (a' - g a) e`, then the
    /// power of two. One division and `N` multiply-adds a direction.
    #[inline]
    fn rescale<const N: usize>(
        row: &mut [Self; N],
        sum: Self,
        ledger: &mut Self::ScaleAccumulator,
    ) {
        let exponent = sum.value.exponent();
        let factor = T::power_of_two(-exponent);
        let reciprocal = T::ONE / sum.value;
        let rate: [T; C] = array_of(T::ZERO, |c| sum.tangent[c] * reciprocal);
        let mut values: [T; N] = array_of(T::ZERO, |j| row[j].value);
        for entry in row.iter_mut() {
            for c in 0..C {
                entry.tangent[c] = (entry.tangent[c] - rate[c] * entry.value) * factor;
            }
        }
        T::rescale(&mut values, sum.value, &mut ledger.values);
        for j in 0..N {
            row[j].value = values[j];
        }
        for c in 0..C {
            ledger.accumulated[c].add(rate[c]);
        }
    }
    #[inline]
    fn add_log_scale(ledger: &mut Self::ScaleAccumulator, log_scale: T) {
        T::add_log_scale(&mut ledger.values, log_scale);
    }
    #[inline]
    fn log(sum: Self, ledger: &Self::ScaleAccumulator) -> Self {
        let reciprocal = T::ONE / sum.value;
        Self {
            value: T::log(sum.value, &ledger.values),
            tangent: array_of(T::ZERO, |c| {
                ledger.accumulated[c].total() + sum.tangent[c] * reciprocal
            }),
        }
    }
    #[inline]
    fn log_ratio(
        sum: Self,
        ledger: &Self::ScaleAccumulator,
        other: Self,
        other_ledger: &Self::ScaleAccumulator,
    ) -> Self {
        let (reciprocal, other_reciprocal) = (T::ONE / sum.value, T::ONE / other.value);
        Self {
            value: T::log_ratio(sum.value, &ledger.values, other.value, &other_ledger.values),
            tangent: array_of(T::ZERO, |c| {
                let accumulated = ledger.accumulated[c].difference(&other_ledger.accumulated[c]);
                accumulated + (sum.tangent[c] * reciprocal - other.tangent[c] * other_reciprocal)
            }),
        }
    }
}
