//! The pair kernel.

use fishweir_core::filter::Stream;
use fishweir_core::kernel::{End, KernelError, PairHmm, PairKernel, Scaled};
use fishweir_core::number::Real;
use fishweir_core::{ErrorKind, ObservationError, Part};
use fishweir_tests::build::kernels::pair;
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::oracle::{PairEnd, PairModel, log_sum_exp};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use crate::kernels::{assert_near, assert_positive, borrowed, cases, symbols};

const STATES: usize = 4;
const SYMBOLS: usize = 3;
const ROWS: usize = 16;
type Kernel<'m, T> = PairKernel<'m, PairHmm<T, STATES, SYMBOLS>, usize, [Scaled<T, STATES>; ROWS]>;
type Model<T> = PairHmm<T, STATES, SYMBOLS>;

/// A model with `end` 0 anywhere, 1 a silent final state, 2 an emitting one; `silence` is how often a
/// state emits nothing.
fn model(sampler: &mut Sampler, states: usize, end: usize, silence: f64) -> PairModel {
    let mut row = |length: usize, rest: f64| -> Vec<f64> {
        sampler.sparse_probabilities(length).iter().map(|p| p * (1.0 - rest)).collect()
    };
    let leave = if end == 1 { 0.25 } else { 0.0 };
    let initial = row(states, 0.0);
    let transition = (0..states).map(|_| row(states, leave)).collect();
    let empty: Vec<f64> = (0..states).map(|a| silence * a as f64 / states as f64).collect();
    let emission = empty.iter().map(|&empty| row(SYMBOLS, empty)).collect();
    let end = match end {
        0 => PairEnd::Anywhere,
        1 => PairEnd::Silent([0.0].into_iter().chain(vec![leave; states]).collect()),
        _ => PairEnd::Emitting(states - 1),
    };
    PairModel { initial, transition, emission, empty, end }
}

fn log_kernel<T: Real>(model: &Model<T>, s: &[usize], t: &[usize]) -> f64 {
    let mut stream = Stream::new(Kernel::of(model, s).expect("stored"));
    stream.push_block(t).expect("symbols");
    stream.read().to_f64()
}

proptest! {
    #![proptest_config(cases(40))]

    /// Every prefix of the stream, against the model from which nothing was removed, trajectory
    /// length by trajectory length; and the laws.
    #[test]
    fn laws_and_definition_at_every_prefix(
        seed: u64, states in 1_usize..=4, end in 0_usize..3, silence in 0.0..0.6_f64,
        stored in 0_usize..=5, streamed in 0_usize..=5,
    ) {
        let mut sampler = Sampler::new(seed);
        let plain = model(&mut sampler, states, end, silence);
        let model: Model<f64> = pair(&plain).expect("a model");
        let s = symbols(&mut sampler, stored, SYMBOLS);
        let t = symbols(&mut sampler, streamed, SYMBOLS);
        let kernel = Kernel::of(&model, &s).expect("stored");
        let t: Vec<_> = t.into_iter().map(Some).collect();
        let samples = borrowed(&t);
        let trial = Trial { samples: &samples, refusable: &[&SYMBOLS] };
        let refused = check(kernel, trial, |prefix, log: f64| {
            let t: Vec<usize> = prefix.iter().map(|x| *x.expect("none is missing")).collect();
            // (0.6^2)^60 of what is left out.
            let expected = plain.kernel(&s, &t, 70);
            if expected == 0.0 {
                assert_eq!(log, f64::NEG_INFINITY);
            } else {
                assert_near(log.exp(), expected, 1e-11, "kernel");
            }
        });
        prop_assert_eq!(refused, streamed + 1);
    }

    /// A missing symbol is any of the alphabet.
    #[test]
    fn missing_symbols_are_summed_over(seed: u64, end in 0_usize..3) {
        let mut sampler = Sampler::new(seed);
        let plain = model(&mut sampler, 3, end, 0.5);
        let model: Model<f64> = pair(&plain).expect("a model");
        let s = symbols(&mut sampler, 4, SYMBOLS);
        let mut stream = Stream::new(Kernel::of(&model, &s).expect("stored"));
        stream.push(&1).expect("a symbol");
        stream.push(None).expect("nothing to refuse");
        stream.push(&2).expect("a symbol");
        let sum: f64 = (0..SYMBOLS).map(|x| log_kernel(&model, &s, &[1, x, 2]).exp()).sum();
        let got = stream.read().exp();
        prop_assert!((got - sum).abs() <= 1e-12 * sum, "{got} and {sum}");
    }

    #[test]
    fn symmetric_and_positive(seed: u64, end in 0_usize..3, silence in 0.1..0.9_f64) {
        let mut sampler = Sampler::new(seed);
        let mut plain = model(&mut sampler, 3, end, silence);
        // No zeros: a string of its own probability zero has no normalised kernel.
        for row in plain.transition.iter_mut().chain([&mut plain.initial]) {
            let sum: f64 = row.iter().sum();
            *row = sampler.probabilities(3).iter().map(|p| p * sum).collect();
        }
        for row in &mut plain.emission {
            let sum: f64 = row.iter().sum();
            *row = sampler.probabilities(SYMBOLS).iter().map(|p| p * sum).collect();
        }
        let model: Model<f64> = pair(&plain).expect("a model");
        let lengths = [1, 2, 3, 4, 5, 3];
        let items: Vec<_> = lengths.map(|l| symbols(&mut sampler, l, SYMBOLS)).into();
        let row = |s: &Vec<usize>| -> Vec<f64> {
            items.iter().map(|t| log_kernel(&model, s, t)).collect()
        };
        assert_positive(&items.iter().map(row).collect::<Vec<_>>());
    }

    /// The reduced rows are distributions, with what ends in silence.
    #[test]
    fn reduced_rows_sum_to_one(seed: u64, silence in 0.0..0.99_f64) {
        let mut sampler = Sampler::new(seed);
        let plain = model(&mut sampler, 4, 1, silence);
        let model: Model<f64> = pair(&plain).expect("a model");
        for (row, end) in model.transition().iter().zip(model.end()) {
            let sum: f64 = row.iter().sum::<f64>() + end;
            prop_assert!((sum - 1.0).abs() < 1e-13, "{sum}");
        }
        let sum: f64 = model.initial().iter().sum::<f64>() + model.initial_end();
        prop_assert!((sum - 1.0).abs() < 1e-13, "{sum}");
    }
}

/// Trajectory by trajectory, which the other oracle is not.
#[test]
fn definition_by_enumeration() {
    let mut sampler = Sampler::new(2);
    for end in 0..3 {
        let plain = model(&mut sampler, 2, end, 0.3);
        let model: Model<f64> = pair(&plain).expect("a model");
        for (s, t) in [
            (&[][..], &[][..]),
            (&[0][..], &[][..]),
            (&[0, 1][..], &[1][..]),
            (&[2, 0][..], &[2, 2][..]),
        ] {
            let expected = plain.enumerate(s, t, 14);
            assert!((plain.kernel(s, t, 14) - expected).abs() <= 1e-13 * expected);
            assert_near(log_kernel(&model, s, t).exp(), expected, 1e-9, format!("{s:?} {t:?}"));
        }
    }
}

/// A model that ends is a probability distribution on pairs.
#[test]
fn probabilities_of_pairs_sum_to_one() {
    // Of one state, certain to end: strings of up to two symbols.
    let model = PairHmm::<f64, 2, 2>::new(
        [0.5, 0.25],
        [[0.0, 0.75], [0.0, 0.0]],
        [[0.5, 0.25], [0.125, 0.375]],
        [0.25, 0.5],
        End::Silent { initial: 0.25, state: [0.25, 1.0] },
    )
    .expect("a model");
    let strings = (0..=2).flat_map(|length| fishweir_tests::oracle::words(2, length));
    let strings: Vec<_> = strings.collect();
    let mut sum = 0.0;
    for s in &strings {
        let kernel = PairKernel::<_, _, [_; 3]>::of(&model, s).expect("stored");
        for t in &strings {
            let mut stream = Stream::new(kernel);
            stream.push_block(t).expect("symbols");
            sum += stream.read().exp();
        }
    }
    assert_near(sum, 1.0, 1e-14, "sum over all pairs");
}

/// Thousands of symbols against a short and a long stored one: neither column underflows.
#[test]
fn long_streams_do_not_underflow() {
    const LENGTH: usize = 30_000;
    // Of one state: a sum over its number of visits alone.
    let (some, none) = (0.75, 0.25);
    let end = 0.125;
    let build = |silence: f64| PairModel {
        initial: vec![1.0],
        transition: vec![vec![1.0 - end]],
        emission: vec![vec![(1.0 - silence) / 3.0; SYMBOLS]],
        empty: vec![silence],
        end: PairEnd::Silent(vec![0.0, end]),
    };
    let model: Model<f64> = pair(&build(none)).expect("a model");
    let single: Model<f32> = pair(&build(none)).expect("a model");
    let t: Vec<usize> = (0..LENGTH).map(|i| i % SYMBOLS).collect();
    // sum_n P(n) C(n, |s|) some^|s| none^(n - |s|) C(n, |t|) some^|t| none^(n - |t|) 3^-(|s| + |t|)
    let closed = |s: usize, t: usize| {
        let log_choose = |n: usize, k: usize| -> f64 {
            (0..k).map(|i| ((n - i) as f64 / (k - i) as f64).ln()).sum()
        };
        // From each n to the next by its ratio, n from |t| on.
        let n = t.max(1);
        let first = end.ln()
            + (n - 1) as f64 * f64::ln(1.0 - end)
            + log_choose(n, s)
            + (s + t) as f64 * f64::ln(some / 3.0)
            + (2 * n - s - t) as f64 * f64::ln(none);
        let mut terms = vec![first];
        for n in n..n + 30_000 {
            let n = n as f64 + 1.0;
            let ratio = (1.0 - end) * none * none * n / (n - s as f64) * n / (n - t as f64);
            terms.push(terms[terms.len() - 1] + ratio.ln());
        }
        log_sum_exp(&terms)
    };
    for stored in [0, 3, 15] {
        let s: Vec<usize> = t[..stored].to_vec();
        let expected = closed(stored, LENGTH);
        assert!(expected < -6e4, "{expected}");
        assert_near(log_kernel(&model, &s, &t), expected, 1e-10, "f64");
        assert_near(log_kernel(&single, &s, &t), expected, 1e-5, "f32");
    }
}

/// A column whose ends are `f32`'s whole range apart, many times over.
#[test]
fn cells_scale_by_themselves() {
    const STORED: usize = 600;
    let model = PairHmm::<f32, 1, 4>::new(
        [1.0],
        [[0.75]],
        [[0.125, 0.125, 0.125, 0.125]],
        [0.5],
        End::Silent { initial: 0.0, state: [0.25] },
    )
    .expect("a model");
    let wide = PairHmm::<f64, 1, 4>::new(
        [1.0],
        [[0.75]],
        [[0.125, 0.125, 0.125, 0.125]],
        [0.5],
        End::Silent { initial: 0.0, state: [0.25] },
    )
    .expect("a model");
    let s = [0_u8; STORED];
    let kernel = PairKernel::<_, _, [_; STORED + 1]>::of(&model, &s).expect("stored");
    let reference = PairKernel::<_, _, [_; STORED + 1]>::of(&wide, &s).expect("stored");
    let (mut stream, mut reference) = (Stream::new(kernel), Stream::new(reference));
    for t in 0..50 {
        let (got, expected) = (f64::from(stream.read()), reference.read());
        assert!(expected < -700.0 && (got / expected - 1.0).abs() < 1e-5, "{t}: {got} {expected}");
        stream.push(&1).expect("a symbol");
        reference.push(&1).expect("a symbol");
    }
}

#[test]
fn models_and_strings_are_checked() {
    let new = |transition: f64, symbol: f64, empty: f64, end: End<f64, 1>| {
        PairHmm::<f64, 1, 1>::new([1.0], [[transition]], [[symbol]], [empty], end)
    };
    let kind = |result: Result<PairHmm<f64, 1, 1>, fishweir_core::ModelError>| {
        let error = result.expect_err("a flaw");
        (error.part, error.kind)
    };
    let silent = |p: f64| End::Silent { initial: 0.0, state: [p] };
    assert!(new(1.0, 0.5, 0.5, End::Anywhere).is_ok());
    assert_eq!(kind(new(0.5, 0.5, 0.5, End::Anywhere)), (Part::Transition, ErrorKind::SumNotOne));
    assert_eq!(kind(new(1.0, 0.5, 0.25, End::Anywhere)), (Part::Probability, ErrorKind::SumNotOne));
    assert_eq!(kind(new(1.0, 0.0, 1.0, End::Anywhere)), (Part::Empty, ErrorKind::Endless));
    assert_eq!(kind(new(1.0, 0.5, 0.5, End::Emitting(1))), (Part::End, ErrorKind::Unknown));
    assert_eq!(kind(new(0.5, 0.5, 0.5, silent(0.25))), (Part::Transition, ErrorKind::SumNotOne));
    assert_eq!(kind(new(1.5, 0.5, 0.5, silent(-0.5))), (Part::End, ErrorKind::Negative));
    assert_eq!(kind(new(0.5, 0.5, 0.5, silent(f64::NAN))), (Part::End, ErrorKind::NotFinite));
    // A state that emits nothing, but is left.
    assert!(new(0.5, 0.0, 1.0, silent(0.5)).is_ok());

    let model = new(1.0, 0.5, 0.5, End::Anywhere).expect("a model");
    let of = |s: &[u8]| PairKernel::<_, _, [_; 3]>::of(&model, s).map(|_| ());
    assert_eq!(of(&[0, 0]), Ok(()));
    assert_eq!(of(&[0, 0, 0]), Err(KernelError::Capacity { needed: 4, available: 3 }));
    let error = ObservationError::UnknownSymbol;
    assert_eq!(of(&[0, 1]), Err(KernelError::Stored { sequence: 0, position: 1, error }));
}
