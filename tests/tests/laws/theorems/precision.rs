//! `f32` against `f64`: within what sizes and length allow.

use fishweir_tests::oracle::{Model, Sequence, log_sum_exp};
use fishweir_tests::rounding::Rounding;
use fishweir_tests::sample::zoo;
use proptest::prelude::*;

use crate::theorems::assert_close;
use crate::theorems::likelihood::filter;
use crate::theorems::range::{KEPT_FROM, Ranged};

const UNIT: f64 = f32::EPSILON as f64 / 2.0;
/// `log p(x_1..t)` and the filtered row of what reaches each state by way of states in range: `f32` lies
/// between this and the exact filter.
fn in_range(model: &Model, sequence: &Sequence) -> Vec<(f64, Vec<f64>)> {
    let mut ranged = Ranged::from(KEPT_FROM, log_sum_exp);
    let step = |x: &Option<_>| {
        ranged.push(model, x.as_ref());
        let total = log_sum_exp(&ranged.kept);
        (total, ranged.kept.iter().map(|log| (log - total).exp()).collect())
    };
    sequence.iter().map(step).collect()
}

proptest! {
    #![proptest_config(crate::theorems::cases(24))]

    #[test]
    fn single_precision_is_double_within_the_bound(seed: u64, length in 1_usize..=400) {
        for sample in zoo(seed, length) {
            let double = filter::<f64>(&sample.model, &sample.sequence);
            let single = filter::<f32>(&sample.model, &sample.sequence);
            prop_assert!(single.possible, "{}", sample.name);
            let bound = Rounding::of(&sample.model, &sample.sequence, UNIT);
            let (log, filtered) = (bound.log().absolute, bound.filtered());
            let kept = in_range(&sample.model, &sample.sequence);
            for (t, (least, rows)) in kept.iter().enumerate() {
                let (exact, got) = (double.log[t], single.log[t]);
                let within = least.min(exact) - log <= got && got <= exact + log;
                prop_assert!(within, "{}: {least} <= {got} <= {exact}, {log:e}", sample.name);
                for (j, exact) in double.rows[t].iter().enumerate() {
                    let kept = rows.get(j).copied().unwrap_or(0.0);
                    let slack = KEPT_FROM + filtered.absolute + 2.0 * (exact - kept).abs();
                    assert_close(single.rows[t][j], *exact, filtered.relative, slack, sample.name);
                }
            }
        }
    }
}
