use super::Real;

/// The product of many positive numbers, of which the logarithm is wanted: one logarithm for all, where
/// their own would be one each.
///
/// The product is kept within reach of one by exact powers of two. A factor of zero makes it zero.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LogProduct<T> {
    significand: T,
    exponent: i64,
}

/// The power of two within which, and within whose reciprocal, the significand stays.
const WITHIN: i32 = 32;

impl<T: Real> LogProduct<T> {
    /// Product of no factors.
    pub const ONE: Self = Self { significand: T::ONE, exponent: 0 };

    /// The product with one factor more, which is not negative.
    #[inline(always)]
    #[must_use]
    pub fn times(self, factor: T) -> Self {
        let significand = self.significand * factor;
        if significand.is_between(-WITHIN, WITHIN) {
            return Self { significand, ..self };
        }
        self.times_split(factor)
    }

    #[cold]
    #[inline(never)]
    fn times_split(self, factor: T) -> Self {
        let (mut significand, mut exponent) = (T::ONE, self.exponent);
        for factor in [self.significand, factor] {
            // A number at the end of the range is brought nearer in two steps.
            let mut rest = factor;
            for _ in 0..2 {
                if rest > T::ZERO && rest.is_finite() {
                    let power = rest.exponent();
                    rest = rest * T::power_of_two(-power);
                    // What was clamped was not moved.
                    exponent -= i64::from(T::power_of_two(-power).exponent());
                }
            }
            significand = significand * rest;
        }
        Self { significand, exponent }
    }

    /// The product's logarithm; minus infinity of zero.
    #[inline]
    pub fn log(self) -> T {
        if self.significand > T::ZERO {
            let log = self.significand.ln();
            if self.exponent == 0 { log } else { T::times_ln_2(self.exponent) + log }
        } else {
            T::NEG_INFINITY
        }
    }
}
