//! `f32` against `f64`: within what sizes and length allow.

use fishweir_tests::oracle::{Model, Sequence, log_sum_exp};
use fishweir_tests::rounding::Rounding;
use fishweir_tests::sample::zoo;
use proptest::prelude::*;

use crate::assert_close;
use crate::likelihood::filter;

const UNIT: f64 = f32::EPSILON as f64 / 2.0;
/// What a filtered probability may lose to underflow: the least normal number, relative to a row
/// whose sum may have come down to `2^-90` before it is rescaled.
const LOST: f64 = 1.0 / (1_u64 << 36) as f64;

/// The filter in `f64`, of which every state below `LOST` is dropped after every sample: the most
/// that underflow can do. `f32` lies between this and the exact filter.
fn without_what_may_be_lost(model: &Model, sequence: &Sequence) -> Vec<(f64, Vec<f64>)> {
    let mut row: Vec<f64> = Vec::new();
    let mut log = 0.0;
    let step = |(t, x): (usize, &Option<_>)| {
        let predicted = |j: usize| match t {
            0 => model.initial[j],
            _ => row.iter().zip(&model.transition).map(|(p, a)| p * a[j]).sum(),
        };
        let emission = model.log_row(x.as_ref());
        let joint: Vec<f64> =
            emission.iter().enumerate().map(|(j, b)| predicted(j).ln() + b).collect();
        let total = log_sum_exp(&joint);
        log += total;
        row = joint.iter().map(|l| (l - total).exp()).collect();
        for p in row.iter_mut().filter(|p| **p < LOST) {
            *p = 0.0;
        }
        (log, row.clone())
    };
    sequence.iter().enumerate().map(step).collect()
}

proptest! {
    #![proptest_config(crate::cases(24))]

    #[test]
    fn single_precision_is_double_within_the_bound(seed: u64, length in 1_usize..=400) {
        for sample in zoo(seed, length) {
            let double = filter::<f64>(&sample.model, &sample.sequence);
            let single = filter::<f32>(&sample.model, &sample.sequence);
            prop_assert!(single.possible, "{}", sample.name);
            let bound = Rounding::of(&sample.model, &sample.sequence, UNIT);
            let (log, filtered) = (bound.log().absolute, bound.filtered());
            let kept = without_what_may_be_lost(&sample.model, &sample.sequence);
            for (t, (least, rows)) in kept.iter().enumerate() {
                let (exact, got) = (double.log[t], single.log[t]);
                let within = least.min(exact) - log <= got && got <= exact + log;
                prop_assert!(within, "{}: {least} <= {got} <= {exact}, {log:e}", sample.name);
                for (j, exact) in double.rows[t].iter().enumerate() {
                    let kept = rows.get(j).copied().unwrap_or(0.0);
                    let slack = LOST + filtered.absolute + 2.0 * (exact - kept).abs();
                    assert_close(single.rows[t][j], *exact, filtered.relative, slack, sample.name);
                }
            }
        }
    }
}
