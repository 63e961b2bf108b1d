//! `f32` against `f64`: within what sizes and length allow.

use fishweir_tests::rounding::Rounding;
use fishweir_tests::sample::zoo;
use proptest::prelude::*;

use crate::assert_close;
use crate::likelihood::filter;

const UNIT: f64 = f32::EPSILON as f64 / 2.0;
/// What a filtered probability may lose to underflow: the least normal number, relative to a row
/// whose sum may have come down to `2^-90` before it is rescaled.
const LOST: f64 = 1.0 / (1_u64 << 36) as f64;

proptest! {
    #![proptest_config(crate::cases(24))]

    #[test]
    fn single_precision_is_double_within_the_bound(seed: u64, length in 1_usize..=400) {
        for sample in zoo(seed, length) {
            let double = filter::<f64>(&sample.model, &sample.sequence);
            let single = filter::<f32>(&sample.model, &sample.sequence);
            prop_assert!(single.possible, "{}", sample.name);
            let bound = Rounding::of(&sample.model, &sample.sequence, UNIT);
            for (single, double) in single.log.iter().zip(&double.log) {
                assert_close(*single, *double, 0.0, bound.log().absolute, sample.name);
            }
            let relative = bound.filtered().relative;
            for (single, double) in single.rows.iter().flatten().zip(double.rows.iter().flatten()) {
                assert_close(*single, *double, relative, LOST, sample.name);
            }
        }
    }
}
