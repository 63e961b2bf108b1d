//! `exp` and `ln` of `f32` by micromath: the feature `micromath`.
//!
//! Not quicker on every core, and wrong by more than a rounding: see [`EXP_ERROR`] and
//! [`LN_ERROR`]. What must be exact is: `exp(-inf)` is zero, `exp(0)` and `ln(1)` are, and nothing
//! is NaN but what was. Host and device agree bit for bit if both have the feature on.

use micromath::F32;

/// Bound on the relative error of `exp` where its result is normal: 2.4 in a thousand. Smaller
/// results are zero.
pub const EXP_ERROR: f32 = 2.4e-3;

/// Bound on the error of `ln`: absolute, or relative to the result where that is above one. 6.2 in a
/// hundred thousand.
pub const LN_ERROR: f32 = 6.2e-5;

/// The largest number whose exponential is finite, and the least whose exponential is normal.
const EXP_RANGE: (f32, f32) = (-87.336_54, 88.722_8);

#[inline]
pub(super) fn exp(x: f32) -> f32 {
    if x > EXP_RANGE.1 {
        f32::INFINITY
    } else if x >= EXP_RANGE.0 {
        F32(x).exp().0
    } else if x.is_nan() {
        x
    } else {
        0.0
    }
}

/// micromath's, of the mantissa alone: it inverts a number below one to one digit.
#[inline]
pub(super) fn ln(x: f32) -> f32 {
    const SUBNORMAL: i32 = 24;
    if !(x > 0.0 && x < f32::INFINITY) {
        return match x {
            0.0 => f32::NEG_INFINITY,
            f32::INFINITY => x,
            _ => f32::NAN,
        };
    }
    let normal = x >= f32::MIN_POSITIVE;
    let (x, shift) = if normal { (x, 0) } else { (x * (1 << SUBNORMAL) as f32, SUBNORMAL) };
    let bits = x.to_bits();
    let exponent = (bits >> 23) as i32 - 127 - shift;
    let mantissa = f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000);
    exponent as f32 * core::f32::consts::LN_2 + F32(mantissa).ln().0
}

#[cfg(test)]
mod tests {
    use super::{EXP_ERROR, EXP_RANGE, LN_ERROR, exp, ln};

    /// A prime number of representable numbers apart: a third of a million of each function.
    const STRIDE: usize = 12_289;

    #[test]
    fn exp_keeps_its_bound() {
        let mut worst = 0.0_f64;
        for bits in (0..=u32::MAX).step_by(STRIDE) {
            let x = f32::from_bits(bits);
            let (found, wanted) = (exp(x), libm::exp(f64::from(x)));
            assert_eq!(found.is_nan(), x.is_nan(), "exp({x})");
            if x < EXP_RANGE.0 {
                assert_eq!(found, 0.0, "exp({x})");
            } else if x > EXP_RANGE.1 {
                assert_eq!(found, f32::INFINITY, "exp({x})");
            } else if !x.is_nan() {
                worst = worst.max((f64::from(found) / wanted - 1.0).abs());
            }
        }
        assert!(worst < f64::from(EXP_ERROR), "{worst}");
        assert!(worst > f64::from(EXP_ERROR) / 2.0, "the bound is loose: {worst}");
        assert_eq!((exp(0.0), exp(f32::NEG_INFINITY)), (1.0, 0.0));
    }

    #[test]
    fn ln_keeps_its_bound() {
        let mut worst = 0.0_f64;
        for bits in (1..f32::INFINITY.to_bits()).step_by(STRIDE) {
            let x = f32::from_bits(bits);
            let wanted = libm::log(f64::from(x));
            let error = (f64::from(ln(x)) - wanted).abs() / wanted.abs().max(1.0);
            assert!(!error.is_nan(), "ln({x})");
            worst = worst.max(error);
        }
        assert!(worst < f64::from(LN_ERROR), "{worst}");
        assert!(worst > f64::from(LN_ERROR) / 2.0, "the bound is loose: {worst}");
        assert_eq!((ln(1.0), ln(0.0)), (0.0, f32::NEG_INFINITY));
        assert_eq!(ln(f32::INFINITY), f32::INFINITY);
        assert!(ln(-1.0).is_nan() && ln(f32::NAN).is_nan());
    }
}
