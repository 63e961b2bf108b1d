//! Powers and logarithms to base 2, by tables of 64 intervals and straight lines between.

/// `2^15 2^(-i/64)`.
const POWERS: [u16; 65] = [
    32_768, 32_415, 32_066, 31_720, 31_379, 31_041, 30_706, 30_376, 30_048, 29_725, 29_405, 29_088,
    28_774, 28_464, 28_158, 27_855, 27_554, 27_258, 26_964, 26_674, 26_386, 26_102, 25_821, 25_543,
    25_268, 24_995, 24_726, 24_460, 24_196, 23_936, 23_678, 23_423, 23_170, 22_921, 22_674, 22_430,
    22_188, 21_949, 21_713, 21_479, 21_247, 21_019, 20_792, 20_568, 20_347, 20_127, 19_911, 19_696,
    19_484, 19_274, 19_066, 18_861, 18_658, 18_457, 18_258, 18_061, 17_867, 17_674, 17_484, 17_296,
    17_109, 16_925, 16_743, 16_562, 16_384,
];

/// `2^16 log2(1 + i/64)`.
const LOGARITHMS: [u32; 65] = [
    0, 1466, 2909, 4331, 5732, 7112, 8473, 9814, 11_136, 12_440, 13_727, 14_996, 16_248, 17_484,
    18_704, 19_909, 21_098, 22_272, 23_433, 24_579, 25_711, 26_830, 27_936, 29_029, 30_109, 31_178,
    32_234, 33_279, 34_312, 35_334, 36_346, 37_346, 38_336, 39_316, 40_286, 41_246, 42_196, 43_137,
    44_068, 44_990, 45_904, 46_809, 47_705, 48_593, 49_472, 50_344, 51_207, 52_063, 52_911, 53_751,
    54_584, 55_410, 56_229, 57_040, 57_845, 58_643, 59_434, 60_219, 60_997, 61_769, 62_534, 63_294,
    64_047, 64_794, 65_536,
];

/// A table at `64 x 2^-16 place`, rounded; `place < 2^16`.
#[inline(always)]
fn between<T: Copy + Into<u32>>(table: &[T; 65], place: u32) -> u32 {
    let (index, part) = ((place >> 10 & 63) as usize, place & 0x3ff);
    let (from, to) = (table[index].into() as i32, table[index + 1].into() as i32);
    (from + (((to - from) * part as i32 + 512) >> 10)) as u32
}

/// `2^15 2^(-x)` of `x 2^-16`: off by 1.4 units of `2^-15` at most. From 17 on it is zero.
#[inline]
pub(super) fn exp2_of_negative(x: u32) -> u32 {
    let whole = x >> 16;
    if whole > 16 {
        return 0;
    }
    (between(&POWERS, x & 0xffff) + (1 << whole >> 1)) >> whole
}

/// `2^16 log2 v` of a positive integer: off by 5 units of `2^-16` at most.
#[inline]
pub(crate) fn log2(v: u32) -> i32 {
    let v = v.max(1);
    let zeros = v.leading_zeros();
    let place = (v << zeros & 0x7fff_ffff) >> 15;
    ((31 - zeros) << 16) as i32 + between(&LOGARITHMS, place) as i32
}

#[cfg(test)]
mod tests {
    use super::{exp2_of_negative, log2};

    #[test]
    fn powers_keep_their_bound() {
        let mut worst = 0.0_f64;
        for x in (0..20 << 16).step_by(3) {
            let wanted = libm::exp2(15.0 - f64::from(x) / 65536.0);
            worst = worst.max((f64::from(exp2_of_negative(x)) - wanted).abs());
        }
        assert!(worst < 1.4, "{worst}");
        assert!(worst > 0.7, "the bound is loose: {worst}");
        assert_eq!((exp2_of_negative(0), exp2_of_negative(u32::MAX)), (1 << 15, 0));
        assert_eq!((exp2_of_negative(16 << 16), exp2_of_negative(17 << 16)), (1, 0));
    }

    #[test]
    fn logarithms_keep_their_bound() {
        let mut worst = 0.0_f64;
        for v in (1..1 << 17).chain((1 << 17..u32::MAX).step_by(12_289)) {
            let wanted = 65536.0 * libm::log2(f64::from(v));
            worst = worst.max((f64::from(log2(v)) - wanted).abs());
        }
        assert!(worst < 5.0, "{worst}");
        assert!(worst > 2.5, "the bound is loose: {worst}");
        assert_eq!((log2(1), log2(1 << 15), log2(1 << 31)), (0, 15 << 16, 31 << 16));
    }
}
