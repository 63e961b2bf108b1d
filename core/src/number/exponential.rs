//! `exp` without a branch: the bits of libm's, in a form of which loops fill vector registers.

/// One precision's: the constants of libm's algorithm (FreeBSD's `e_exp.c` and `e_expf.c`), and the ends of its
/// cases as the bits of the first number that is past them.
macro_rules! unbranched {
    ($name:ident, $t:ident, $bits:ty, $mantissa:literal, $bias:literal,
     past_half_ln2: $half_ln2:literal, past_three_halves_ln2: $three_halves_ln2:literal,
     past_tiny: $tiny:literal, least: $least:literal, largest: $largest:literal,
     ln2: $ln2_high:literal $ln2_low:literal, polynomial: $p:expr) => {
        #[inline(always)]
        pub(super) fn $name(x: $t) -> $t {
            /// Added, it leaves an integer in the last bits of the significand, rounded to nearest.
            const INTEGER: $t = 1.5 * (1 as $bits << $mantissa) as $t;
            let size = x.to_bits() << 1 >> 1;
            let one = if x < 0.0 { -1.0 } else { 1.0 };
            // The multiple of log 2 that is taken out: rounded towards zero where it is not one or none.
            let far = core::$t::consts::LOG2_E * x + 0.5 * one;
            let nearest = (far + INTEGER) - INTEGER;
            let past = if x < 0.0 { nearest < far } else { nearest > far };
            let far = if past { nearest - one } else { nearest };
            let near = if size >= $half_ln2 { one } else { 0.0 };
            let multiple = if size >= $three_halves_ln2 { far } else { near };
            let (high, low) = (x - multiple * $ln2_high, multiple * $ln2_low);
            let rest = high - low;
            let square = rest * rest;
            let polynomial: fn($t) -> $t = $p;
            let c = rest - square * polynomial(square);
            let y = 1.0 + (rest * c / (2.0 - c) - low + high);
            // The power of two in two factors: a subnormal result is rounded once, by the second.
            let biased = (multiple + INTEGER).to_bits().wrapping_sub(INTEGER.to_bits());
            let biased = biased.wrapping_add(2 * $bias);
            let half = biased >> 1;
            let power = |biased: $bits| <$t>::from_bits(biased << $mantissa);
            let y = y * power(half) * power(biased.wrapping_sub(half));
            let y = if size < $tiny { 1.0 + x } else { y };
            let y = if x > $largest { <$t>::INFINITY } else { y };
            let y = if x < $least { 0.0 } else { y };
            if x.is_nan() { x } else { y }
        }
    };
}

#[cfg(not(feature = "micromath"))]
unbranched!(
    expf, f32, u32, 23, 127,
    past_half_ln2: 0x3eb1_7219, past_three_halves_ln2: 0x3f85_1593, past_tiny: 0x3900_0001,
    least: -103.972_084, largest: 88.722_84,
    ln2: 6.931_457_5e-1 1.428_606_8e-6,
    polynomial: |x| 1.666_662_5e-1 + x * -2.766_733_3e-3
);
unbranched!(
    exp, f64, u64, 52, 1023,
    past_half_ln2: 0x3fd6_2e43_0000_0000, past_three_halves_ln2: 0x3ff0_a2b2_0000_0000,
    past_tiny: 0x3e30_0001_0000_0000, least: -745.133_219_101_941_1,
    largest: 709.782_712_893_384,
    ln2: 6.931_471_803_691_238e-1 1.908_214_929_270_587_7e-10,
    polynomial: |x| {
        1.666_666_666_666_660_2e-1
            + x * (-2.777_777_777_701_559_3e-3
                + x * (6.613_756_321_437_934e-5
                    + x * (-1.653_390_220_546_525_2e-6 + x * 4.138_136_797_057_238_5e-8)))
    }
);

#[cfg(test)]
mod tests {
    #[cfg(not(feature = "micromath"))]
    #[test]
    fn f32_has_the_bits_of_libm() {
        /// Representable numbers from one that is tried to the next: a prime, so that their last bits vary.
        const STRIDE: usize = 1_009;
        let ends = [0x3eb1_7218, 0x3f85_1592, 0x3900_0000, 0x42ae_ac50, 0x42b1_7218, 0x42cf_f1b5];
        let near = ends.into_iter().flat_map(|end| end - 3..end + 4);
        for size in (0..=0x7fff_ffff_u32).step_by(STRIDE).chain(near).chain([0x7f80_0000]) {
            for x in [f32::from_bits(size), -f32::from_bits(size)] {
                let (found, wanted) = (super::expf(x), libm::expf(x));
                assert!(
                    found.to_bits() == wanted.to_bits() || x.is_nan(),
                    "exp({x}): {found} {wanted}"
                );
                assert_eq!(found.is_nan(), x.is_nan());
            }
        }
    }

    #[test]
    fn f64_has_the_bits_of_libm() {
        /// As above.
        const STRIDE: usize = 10_000_000_000_037;
        let ends =
            [0x3fd6_2e42_u64, 0x3fd6_2e43, 0x3ff0_a2b2, 0x3e30_0000, 0x3e30_0001, 0x4086_232b];
        let ends = ends.into_iter().map(|high| high << 32);
        let limits = [709.782_712_893_384, 708.396_418_532_264_1, 745.133_219_101_941_1];
        let near = ends.chain(limits.map(f64::to_bits)).flat_map(|end| end - 3..end + 4);
        // Between a thousandth and a thousand: where it is neither one nor zero.
        let (from, to) = (1e-3_f64.to_bits(), 1e3_f64.to_bits());
        let inside = (from..to).step_by(STRIDE / 20);
        let all = (0..=0x7fff_ffff_ffff_ffff_u64).step_by(STRIDE).chain(inside).chain(near);
        for size in all.chain([f64::INFINITY.to_bits()]) {
            for x in [f64::from_bits(size), -f64::from_bits(size)] {
                let (found, wanted) = (super::exp(x), libm::exp(x));
                assert!(
                    found.to_bits() == wanted.to_bits() || x.is_nan(),
                    "exp({x}): {found} {wanted}"
                );
                assert_eq!(found.is_nan(), x.is_nan());
            }
        }
    }
}
