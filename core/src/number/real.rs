use core::fmt::Debug;
use core::ops::{Add, Div, Mul, Neg, Sub};

#[cfg(feature = "micromath")]
use super::approximate::exp as expf_unbranched;
#[cfg(feature = "micromath")]
use super::approximate::{LN_ERROR as LN_ERROR_F32, exp as expf, ln as logf};
#[cfg(not(feature = "micromath"))]
use super::exponential::expf as expf_unbranched;
use super::{
    Compensated, Number, NumberFormat, Parameter, RealParameter, Scalar, exponential, logarithms,
};
#[cfg(not(feature = "micromath"))]
use libm::{expf, logf};

#[cfg(not(feature = "micromath"))]
const LN_ERROR_F32: f32 = 1.2e-7;

/// Real numbers: `f32` on the device, `f64` for fitting.
///
/// `exp` and `ln` come from a pure-Rust libm, so that every machine computes the same bits. The
/// feature `micromath` swaps those of `f32` for coarser ones; then its bits are those of machines
/// that have it on.
pub trait Real:
    RealParameter<Real = Self, Tangent = (), Number = Self>
    + Scalar<
        Weight = Self,
        Real = Self,
        LogScale = Self,
        Reading = Self,
        ScaleAccumulator = ScaleAccumulator<Self>,
    > + Copy
    + Debug
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// One half.
    const HALF: Self;
    /// Minus infinity: the logarithm of an impossible event.
    const NEG_INFINITY: Self;
    /// `log(2 pi) / 2`.
    const HALF_LN_TAU: Self;
    /// Largest deviation of a row of probabilities from the sum one.
    const SUM_TOLERANCE: Self;
    /// `log 2` in two numbers.
    const LN_2: Compensated<Self>;
    /// Bound on the error of [`ln`](Self::ln): absolute, or relative where the result is above one.
    const LN_ERROR: Self;

    /// Exponential.
    fn exp(self) -> Self;
    /// [`exp`](Self::exp), bit for bit, without a branch: loops over many are made to fill vector registers.
    /// Of one it is the slower.
    fn exp_unbranched(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The larger of two; `self` where `other` is NaN.
    fn max(self, other: Self) -> Self;
    /// `floor(log2(self))` of a positive normal number, read from its bits.
    fn exponent(self) -> i32;
    /// `2^power`, exact; the power is clamped to the normal range.
    fn power_of_two(power: i32) -> Self;
    /// The number with the second half of its significand cleared: 12 bits are left in `f32`, 26 in `f64`.
    fn leading_half(self) -> Self;
    /// Nearest number to an integer.
    fn from_count(count: u64) -> Self;
    /// Nearest number to a 32-bit integer, for which a floating-point unit has an instruction.
    fn from_u32(count: u32) -> Self;
    /// Nearest number to an integer with a sign.
    fn from_integer(integer: i64) -> Self;
    /// The whole part, of those that 64 bits hold the nearest.
    fn to_integer(self) -> i64;
    /// `exponent x log 2`: to one rounding of the result where the exponent is below `2^15` (`f32`) or
    /// `2^32` (`f64`), else to three.
    fn times_ln_2(exponent: i64) -> Self;
    /// Nearest number to a double.
    fn from_f64(x: f64) -> Self;
    /// The number as a double, exact.
    fn to_f64(self) -> f64;
}

/// Scale moved out of a row of real numbers: a power of two, and logarithms of scales.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScaleAccumulator<T> {
    exponent: i64,
    log: Compensated<T>,
}

impl<T: Real> ScaleAccumulator<T> {
    /// Nothing moved yet.
    pub(crate) const UNSCALED: Self = Self { exponent: 0, log: Compensated::ZERO };

    /// A power of two only.
    #[inline]
    pub(crate) const fn of_exponent(exponent: i64) -> Self {
        Self { exponent, log: Compensated::ZERO }
    }

    /// The power of two of a row's sum with all that was moved out of it, and its significand.
    ///
    /// Split anew, wherever the row was rescaled last: a filter with and one without directions, or a
    /// lane and a single sequence, read the same bits. Near one, so that a likelihood near one keeps its
    /// digits.
    #[inline]
    fn split(&self, sum: T) -> (i64, T) {
        let mut exponent = sum.exponent();
        let mut significand = sum * T::power_of_two(-exponent);
        if significand > T::ONE + T::HALF {
            significand = significand * T::HALF;
            exponent += 1;
        }
        (self.exponent + i64::from(exponent), significand)
    }

    #[inline]
    pub(crate) fn take_exponent(&mut self, exponent: i64) {
        self.exponent += exponent;
    }
}

macro_rules! real {
    ($t:ty, $bits:ty, $mantissa:literal, $bias:literal, $tolerance:literal, $ln_error:expr,
     $exp:path, $exp_unbranched:path, $ln:path, $sqrt:path, $ln2_hi:literal, $ln2_lo:literal,
     $ln2:path, $ln2_rest:literal, $half_ln_tau:literal) => {
        impl Real for $t {
            const HALF: Self = 0.5;
            const NEG_INFINITY: Self = <$t>::NEG_INFINITY;
            const HALF_LN_TAU: Self = $half_ln_tau;
            const SUM_TOLERANCE: Self = $tolerance;
            const LN_2: Compensated<Self> = Compensated::from_parts($ln2, $ln2_rest);
            const LN_ERROR: Self = $ln_error;

            #[inline]
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline(always)]
            fn exp_unbranched(self) -> Self {
                $exp_unbranched(self)
            }
            #[inline]
            fn ln(self) -> Self {
                $ln(self)
            }
            #[inline]
            fn sqrt(self) -> Self {
                $sqrt(self)
            }
            #[inline]
            fn is_finite(self) -> bool {
                <$t>::is_finite(self)
            }
            #[inline]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            #[inline]
            fn max(self, other: Self) -> Self {
                if other > self { other } else { self }
            }
            #[inline]
            fn exponent(self) -> i32 {
                (self.to_bits() >> $mantissa) as i32 - $bias
            }
            #[inline]
            fn power_of_two(power: i32) -> Self {
                <$t>::from_bits(((power.clamp(1 - $bias, $bias) + $bias) as $bits) << $mantissa)
            }
            #[inline]
            fn leading_half(self) -> Self {
                const REST: u32 = ($mantissa + 2) / 2;
                <$t>::from_bits(self.to_bits() >> REST << REST)
            }
            #[inline]
            fn from_count(count: u64) -> Self {
                count as $t
            }
            #[inline]
            fn from_u32(count: u32) -> Self {
                count as $t
            }
            #[inline]
            fn from_integer(integer: i64) -> Self {
                integer as $t
            }
            #[inline]
            fn to_integer(self) -> i64 {
                self as i64
            }
            #[inline]
            fn times_ln_2(exponent: i64) -> Self {
                let exponent = exponent as $t;
                exponent * $ln2_hi + exponent * $ln2_lo
            }
            #[inline]
            fn from_f64(x: f64) -> Self {
                x as $t
            }
            #[inline]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
        }

        impl Parameter for $t {
            type Real = $t;
            type Tangent = ();
            type Number = $t;
            type Log = $t;
            type LogScale = $t;
            const FORMAT: NumberFormat =
                if size_of::<$t>() == 4 { NumberFormat::F32 } else { NumberFormat::F64 };
            const IMPOSSIBLE: Self = Self::NEG_INFINITY;
            #[inline(always)]
            fn value(self) -> $t {
                self
            }
            #[inline(always)]
            fn tangent(self) {}
            #[inline(always)]
            fn likelihoods<const N: usize>(log: impl FnMut(usize) -> $t) -> Option<([$t; N], $t)> {
                logarithms::likelihoods(log)
            }
        }

        impl RealParameter for $t {
            #[inline(always)]
            fn new(value: $t, (): ()) -> Self {
                value
            }
        }

        impl Scalar for $t {
            #[inline(always)]
            fn value(self) -> $t {
                self
            }
            #[inline]
            fn derivative(self, _: usize) -> Option<$t> {
                None
            }
            #[inline]
            fn log_parts(sum: $t, ledger: &ScaleAccumulator<$t>) -> [$t; 2] {
                let (exponent, significand) = ledger.split(sum);
                let mut log = Compensated::of_exponent(exponent);
                log.add_sum(ledger.log);
                log.add(Real::ln(significand));
                log.parts().into()
            }
            #[inline]
            fn condition_reachable<const N: usize>(
                predicted: &[$t; N],
                log: impl FnMut(usize) -> $t,
                _ledger: &mut ScaleAccumulator<$t>,
            ) -> Option<([$t; N], $t)> {
                logarithms::condition_reachable(predicted, log)
            }
        }

        impl Number for $t {
            type Weight = $t;
            type Real = $t;
            type ScaleAccumulator = ScaleAccumulator<$t>;
            type LogScale = $t;
            type Reading = $t;

            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const UNSCALED: ScaleAccumulator<$t> = ScaleAccumulator::UNSCALED;

            #[inline(always)]
            fn lift(weight: $t) -> Self {
                weight
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn mul_weight(self, weight: $t) -> Self {
                self * weight
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn is_at_least(self, power: i32) -> bool {
                self >= <$t>::power_of_two(power)
            }
            /// One comparison, of the bits.
            #[inline(always)]
            fn is_between(self, low: i32, high: i32) -> bool {
                let (low, high) = (<$t>::power_of_two(low), <$t>::power_of_two(high));
                self.to_bits().wrapping_sub(low.to_bits()) < high.to_bits() - low.to_bits()
            }
            #[inline]
            fn rescale<const N: usize>(
                row: &mut [Self; N],
                sum: Self,
                ledger: &mut ScaleAccumulator<$t>,
            ) {
                let exponent = Real::exponent(sum);
                let factor = <$t>::power_of_two(-exponent);
                for entry in row {
                    *entry *= factor;
                }
                ledger.take_exponent(exponent.into());
            }
            #[inline]
            fn add_log_scale(ledger: &mut ScaleAccumulator<$t>, log_scale: $t) {
                ledger.log.add(log_scale);
            }
            #[inline]
            fn log(sum: Self, ledger: &ScaleAccumulator<$t>) -> Self {
                let (exponent, significand) = ledger.split(sum);
                <$t>::times_ln_2(exponent) + (ledger.log.total() + Real::ln(significand))
            }
            #[inline]
            fn log_ratio(
                sum: Self,
                ledger: &ScaleAccumulator<$t>,
                other: Self,
                other_ledger: &ScaleAccumulator<$t>,
            ) -> Self {
                let exponent = ledger.exponent - other_ledger.exponent;
                let log = ledger.log.difference(&other_ledger.log) + Real::ln(sum / other);
                // Most neighbouring rows have been scaled alike.
                if exponent == 0 { log } else { <$t>::times_ln_2(exponent) + log }
            }
        }
    };
}

// log 2 in two parts: the product of the first with an exponent below 2^15 (f32), 2^32 (f64) is exact.
real!(
    f32,
    u32,
    23,
    127,
    1e-5,
    LN_ERROR_F32,
    expf,
    expf_unbranched,
    logf,
    libm::sqrtf,
    0.693_359_4,
    -2.121_944_4e-4,
    core::f32::consts::LN_2,
    -1.904_654_3e-9,
    0.918_938_5
);
real!(
    f64,
    u64,
    52,
    1023,
    1e-9,
    2.3e-16,
    libm::exp,
    exponential::exp,
    libm::log,
    libm::sqrt,
    0.693_147_180_369_123_8,
    1.908_214_929_270_587_7e-10,
    core::f64::consts::LN_2,
    2.319_046_813_846_299_6e-17,
    0.918_938_533_204_672_8
);
