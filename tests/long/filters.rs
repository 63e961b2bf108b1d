//! A stream may never end: a million samples in single precision against double precision, with the
//! same numbers in both models. (`cargo run --release -p fishweir-tests --example long_stream`
//! prints the same for `10^8`.)

use fishweir_core::emission::{Categorical, VectorSpace};
use fishweir_core::filter::{
    Forgetting, ForgettingFactor, Forward, RollingLogLikelihood, Statistics, Stream,
};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::{Compensated, Dual};

use crate::Draws;

const SAMPLES: usize = 1_000_000;

// Dyadic: the same numbers in `f32` and `f64`, rows summing to one.
const INITIAL: [f64; 3] = [0.5, 0.25, 0.25];
const TRANSITION: [[f64; 3]; 3] =
    [[0.75, 0.125, 0.125], [0.0625, 0.875, 0.0625], [0.25, 0.0, 0.75]];
const LAWS: [[f64; 4]; 3] =
    [[0.5, 0.25, 0.125, 0.125], [0.0625, 0.0625, 0.75, 0.125], [0.0, 0.5, 0.25, 0.25]];

/// Of another model: the log-likelihood per sample and the tangent have no special value.
fn symbols() -> Vec<usize> {
    let (mut draws, mut state) = (Draws::new(9), 0);
    let mut symbol = |_| {
        if draws.uniform() < 0.15 {
            state = 1 - state;
        }
        let [first, second] = [draws.below(4), draws.below(4)];
        if state == 0 { first.min(second) } else { first.max(second) }
    };
    (0..SAMPLES).map(&mut symbol).collect()
}

macro_rules! dyadic_hmm {
    ($t:ty) => {{
        let row = |row: [f64; 3]| row.map(|p| p as $t);
        let chain = Chain::<$t, 3>::new(row(INITIAL), TRANSITION.map(row)).expect("a chain");
        let law = |p: [f64; 4]| Categorical::<4, $t>::new(p.map(|p| p as $t)).expect("a law");
        Hmm::new(chain, LAWS.map(law))
    }};
}

macro_rules! tangent_hmm {
    ($t:ty) => {{
        let plain = dyadic_hmm!($t);
        let chain = plain.chain().along_logits(
            &[[1.0, 0.0, -1.0]],
            &[[[1.0, -0.5, 0.25], [0.5, 0.0, -1.0], [0.0, 0.0, 1.0]]],
        );
        let slopes: [$t; 4] = [1.0, -0.5, 0.25, 0.75];
        let laws = plain.emission().map(|law| law.along_logits(&[slopes]));
        Hmm::<Categorical<4, Dual<$t, 1>>, 3>::new(chain, laws)
    }};
}

#[test]
fn likelihood_and_tangent_do_not_drift() {
    let (single, double) = (tangent_hmm!(f32), tangent_hmm!(f64));
    let recent = |n: u32| {
        (
            RollingLogLikelihood::<_, 3, 10>::of(&single, n),
            RollingLogLikelihood::<_, 3, 10>::of(&double, n),
        )
    };
    let (Ok(narrow), Ok(wide)) = recent(100) else { panic!("an interval") };
    let (mut narrow, mut wide) = (Stream::new(narrow), Stream::new(wide));
    let memory = 1e5;
    let single_memory = ForgettingFactor::samples(memory as f32).expect("a length");
    // The same factor: its complement is what single precision holds.
    let double_memory =
        ForgettingFactor::samples(1.0 / f64::from(single_memory.one_minus_lambda()))
            .expect("a length");
    let mut narrow_fading = Stream::new(Forgetting::of(&single, single_memory));
    let mut wide_fading = Stream::new(Forgetting::of(&double, double_memory));
    let mut worst_recent = 0.0_f64;
    for (t, x) in symbols().iter().enumerate() {
        narrow.push(x).expect("possible");
        wide.push(x).expect("possible");
        narrow_fading.push(x).expect("possible");
        wide_fading.push(x).expect("possible");
        if t % 9973 == 0 {
            let (got, expected) = (narrow.read().reading, wide.read().reading);
            worst_recent = worst_recent.max((f64::from(got.value) - expected.value).abs());
            worst_recent =
                worst_recent.max((f64::from(got.tangent[0]) - expected.tangent[0]).abs());
        }
    }
    let (got, expected) = (narrow.state().belief().log(), wide.state().belief().log());
    let off = (f64::from(got.value) - expected.value).abs();
    let slope_off = (f64::from(got.tangent[0]) - expected.tangent[0]).abs();
    assert!(off < 1e-6 * expected.value.abs(), "log p {expected:?}, off by {off}");
    assert!(slope_off < 2e-6 * expected.tangent[0].abs(), "{expected:?}, off by {slope_off}");
    assert!(expected.tangent[0].abs() > 1e4, "the tangent has grown: {expected:?}");
    assert!(worst_recent < 5e-3, "the last 1000 samples' are off by {worst_recent}");
    let (got, expected) = (narrow_fading.read(), wide_fading.read());
    let off = (f64::from(got.value) / expected.value - 1.0).abs();
    let slope_off = (f64::from(got.tangent[0]) / expected.tangent[0] - 1.0).abs();
    assert!(off < 2e-6 && slope_off < 2e-6, "{expected:?}, fading, off by {off}, {slope_off}");
}

#[test]
fn statistics_do_not_drift() {
    let (single, double) = (dyadic_hmm!(f32), dyadic_hmm!(f64));
    let mut narrow = Stream::new(Statistics::of(&single));
    let mut wide = Stream::new(Statistics::of(&double));
    for x in &symbols() {
        narrow.push(x).expect("possible");
        wide.push(x).expect("possible");
    }
    let mut got = Vec::new();
    narrow.read().for_each(|entry| got.push(f64::from(entry)));
    let mut expected = Vec::new();
    wide.read().for_each(|entry| expected.push(entry));
    for (entry, (got, expected)) in got.iter().zip(&expected).enumerate() {
        let off = (got - expected).abs();
        assert!(off <= 1e-6 * expected.abs(), "entry {entry}: {got} where {expected} is right");
    }
    let transitions: f64 = expected[3..12].iter().sum();
    assert!((transitions - (SAMPLES as f64 - 1.0)).abs() < 1e-3, "{transitions}");
    assert_eq!(got[3 + 7], 0.0, "a transition that cannot be is never counted");
}

/// Rows that sum to a little more than one let a filter's row grow where every likelihood is one.
#[test]
fn rows_above_one_do_not_overflow() {
    let chain = Chain::<f32, 1>::new([1.0], [[1.000_009]]).expect("within the tolerance");
    let hmm = Hmm::new(chain, [Categorical::<1, f32>::new([1.0]).expect("a law")]);
    let mut stream = Stream::new(Forward::of(&hmm));
    for _ in 0..20_000_000 {
        stream.push(&0).expect("possible");
    }
    let expected = 2e7 * f64::from(1.000_009_f32).ln();
    assert!((f64::from(stream.read()) / expected - 1.0).abs() < 1e-2, "{}", stream.read());
}

/// In double words, of any size.
#[test]
fn compensated_products_are_right_wherever_they_are_finite() {
    let parts = |sum: f32, carry: f32, factor: f32| {
        let got = Compensated::from_parts(sum, carry).times(factor).parts();
        let exact = (f64::from(sum) + f64::from(carry)) * f64::from(factor);
        let got = f64::from(got.0) + f64::from(got.1);
        assert!(
            (got - exact).abs() <= 2f64.powi(-44) * exact.abs(),
            "{sum} {factor}: {got}, {exact}"
        );
    };
    let significands = [1.0, 1.234_567_9, 1.333_333_4, 1.999_999_9];
    for (a, b) in significands.into_iter().flat_map(|a| significands.map(|b| (a, b))) {
        for power in -40..127 {
            for other in -40..127 - power {
                let (x, y): (f32, f32) = (a * 2f32.powi(power), -b * 2f32.powi(other));
                if (x * y).is_finite() {
                    parts(x, x * 3e-8, y);
                }
            }
        }
    }
}

#[test]
fn compensated_sums_do_not_stop() {
    // A plain f32 sum stops at 2^24, one with a plain carry at 2^25.
    let mut sum = Compensated::<f32>::ZERO;
    for _ in 0..1 << 26 {
        sum.add(1.0);
    }
    assert_eq!(sum.total(), (1 << 26) as f32);
    let mut sum = Compensated::<f32>::ZERO;
    let mut exact = 0.0_f64;
    for t in 0..10_000_000_u32 {
        let term = -1.1 - (t % 1000) as f32 * 1e-4;
        sum.add(term);
        exact += f64::from(term);
    }
    assert!((f64::from(sum.total()) / exact - 1.0).abs() < 1e-7, "{} for {exact}", sum.total());
}
