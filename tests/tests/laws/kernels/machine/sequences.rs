//! Support sequences: kernels in the log domain.

use fishweir_core::classify::{KernelMachine, NoNorm, StoredKernel, StoredSequences};
use fishweir_core::filter::{Stream, Streaming};
use fishweir_core::hmm::Hmm;
use fishweir_core::kernel::{
    Bank, End, FixedLength, FixedLengthNorm, HiddenBinomial, PairHmm, PairKernel, PairTable,
    Validate,
};
use fishweir_core::number::Real;
use fishweir_tests::build::padded;
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::oracle::{Model, Observation};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use super::{Law, STATES, STORED, SYMBOLS, machine_parts};
use crate::kernels::aligned::{known, model, observed, slow};
use crate::kernels::{borrowed, cases, gappy, symbols};

/// The expansion over kernels known by their logarithms, divided by `exp(log_scale)`.
fn expansion(coefficients: &[f64], bias: f64, log_kernels: &[f64], log_scale: f64) -> f64 {
    let bias = if bias == 0.0 { 0.0 } else { bias * (-log_scale).exp() };
    let terms = coefficients.iter().zip(log_kernels).map(|(c, log)| match *log {
        f64::NEG_INFINITY => 0.0,
        log => c * (log - log_scale).exp(),
    });
    bias + terms.sum::<f64>()
}

/// A missing sample is summed over in each copy by itself: a likelihood of one.
fn log_norm(model: &Model, t: &[Option<Observation>]) -> f64 {
    slow(model, t, t)
}

#[derive(Clone, Copy)]
struct Case {
    normalised: bool,
    biased: bool,
}

/// Laws, and the expansion at every prefix, in a real format.
fn check_sequences<T: Real, const O: usize>(
    sampler: &mut Sampler,
    plain: &Model,
    length: usize,
    Case { normalised, biased }: Case,
    tolerance: f64,
) {
    let hmm: Hmm<Law<T>, STATES> = padded(plain).expect("a model");
    let items: Vec<Vec<usize>> = (0..STORED).map(|_| symbols(sampler, length, SYMBOLS)).collect();
    let bytes: Vec<Vec<u8>> =
        items.iter().map(|item| item.iter().map(|&x| x as u8).collect()).collect();
    let stored: [&[u8]; STORED] = std::array::from_fn(|m| &bytes[m][..]);
    let kernel = FixedLength::from_parts(&hmm, stored);
    let (coefficients, biases) = machine_parts::<O>(sampler, biased);
    let norm = |item: &Vec<usize>| {
        let item = known(item);
        let common = -1.4 * length as f64;
        let log = if normalised { 0.5 * log_norm(plain, &item) } else { common };
        if log.is_finite() { log } else { 0.0 }
    };
    let norms: [f64; STORED] = std::array::from_fn(|m| norm(&items[m]));
    let rounded = norms.map(T::from_f64);
    let weights = coefficients.map(|row| row.map(T::from_f64));
    let offsets = biases.map(T::from_f64);
    let t = gappy(sampler, length, SYMBOLS);
    let batch = |prefix: &[Option<&usize>]| -> (Vec<f64>, f64) {
        let t: Vec<_> = prefix.iter().map(|x| x.copied()).collect();
        let t = observed(&t);
        let own = if normalised { log_norm(plain, &t) } else { 0.0 };
        let log = |item: &Vec<usize>, norm: f64| match own {
            f64::NEG_INFINITY => own,
            own => slow(plain, &known(&item[..prefix.len()]), &t) - norm - 0.5 * own,
        };
        let logs: Vec<f64> = items.iter().zip(norms).map(|(item, norm)| log(item, norm)).collect();
        // What is subtracted was rounded at its own size.
        let terms = logs.iter().zip(norms).filter(|(log, _)| log.is_finite());
        let size = terms.fold(1.0, |size: f64, (log, norm)| {
            size.max((log + norm + 0.5 * own).abs() + norm.abs() + 0.5 * own.abs())
        });
        (logs, size)
    };
    let samples = borrowed(&t);
    if normalised {
        let own = FixedLengthNorm::of(&hmm, length);
        let kernel = StoredSequences::new(kernel, own, rounded);
        let machine = KernelMachine::from_parts(kernel, weights, offsets);
        put_through(&machine, &samples, batch, &coefficients, biases, tolerance);
    } else {
        let kernel = StoredSequences::new(kernel, NoNorm::NEW, rounded);
        let machine = KernelMachine::from_parts(kernel, weights, offsets);
        put_through(&machine, &samples, batch, &coefficients, biases, tolerance);
    }
}

fn put_through<T, K, const O: usize>(
    machine: &KernelMachine<K, [[T; STORED]; O]>,
    samples: &[Option<&usize>],
    batch: impl Fn(&[Option<&usize>]) -> (Vec<f64>, f64),
    coefficients: &[[f64; STORED]; O],
    biases: [f64; O],
    tolerance: f64,
) where
    T: Real,
    K: StoredKernel<STORED, Real = T, Observation = usize>,
    K::State: PartialEq + std::fmt::Debug,
{
    machine.validate().expect("finite");
    let trial = Trial { samples, refusable: &[&SYMBOLS, &1000] };
    let mut state = machine.initial_state();
    let refused = check(machine, trial, |prefix, decision| {
        match prefix.last() {
            None => {}
            Some(Some(x)) => machine.step(&mut state, x).expect("a symbol"),
            Some(None) => machine.step_missing(&mut state),
        }
        let decision = decision.expect("in range");
        let got = machine.decision_values(&state).expect("in range");
        let (logs, size) = batch(prefix);
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let biased = biases.iter().any(|&bias| bias != 0.0);
        let log_scale = if biased { largest.max(0.0) } else { largest };
        let wanted: Vec<f64> = coefficients
            .iter()
            .zip(biases)
            .map(|(row, bias)| expansion(row, bias, &logs, log_scale))
            .collect();
        let bound = tolerance * size;
        let scale = got.log_scale.to_f64();
        assert!(
            scale == log_scale || (scale - log_scale).abs() <= bound,
            "scale {scale} where {log_scale} is right"
        );
        for (got, wanted) in got.values.iter().zip(&wanted) {
            assert!(
                (got.to_f64() - wanted).abs() <= bound * 4.0,
                "{got:?} where {wanted} is right"
            );
        }
        let margin = decision.margin.to_f64();
        let class = if O == 1 {
            usize::from(wanted[0] > 0.0)
        } else {
            (0..O).rev().max_by(|&a, &b| wanted[a].total_cmp(&wanted[b])).expect("an output")
        };
        assert!(decision.class == class || margin <= bound * 8.0, "class at {}", prefix.len());
    });
    assert_eq!(refused, 2 * (samples.len() + 1));
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn support_sequences_are_the_expansion(
        seed: u64, topology in 0_usize..4, length in 1_usize..=40, zeros: bool,
        normalised: bool, biased: bool, several: bool,
    ) {
        let mut sampler = Sampler::new(seed);
        let plain = model(&mut sampler, topology, STATES, zeros);
        let case = Case { normalised, biased };
        if several {
            check_sequences::<f64, 4>(&mut sampler, &plain, length, case, 1e-12);
            check_sequences::<f32, 4>(&mut sampler, &plain, length, case, 1e-6);
        } else {
            check_sequences::<f64, 1>(&mut sampler, &plain, length, case, 1e-12);
            check_sequences::<f32, 1>(&mut sampler, &plain, length, case, 1e-6);
        }
    }
}

/// Any kernel that reads a logarithm can be a machine's: hidden binomials, a bank of pair kernels.
#[test]
fn other_kernels_are_the_expansion() {
    let mut sampler = Sampler::new(3);
    let items: Vec<Vec<usize>> = (0..STORED).map(|_| symbols(&mut sampler, 6, SYMBOLS)).collect();
    let t = symbols(&mut sampler, 6, SYMBOLS);
    let (coefficients, biases) = machine_parts::<1>(&mut sampler, true);
    let expand = |logs: [f64; STORED]| {
        let terms = coefficients[0].iter().zip(logs).map(|(c, log)| c * (log + 8.0).exp());
        biases[0] + terms.sum::<f64>()
    };

    let emission: [[f64; SYMBOLS]; STATES] =
        std::array::from_fn(|_| sampler.probabilities(SYMBOLS).try_into().expect("as many"));
    let prior = sampler.probabilities(STATES).try_into().expect("as many");
    let table = PairTable::new(&prior, &emission).expect("a table");
    let stored: [&[usize]; STORED] = std::array::from_fn(|m| &items[m][..]);
    let kernel = HiddenBinomial::shared(&table, stored).expect("stored");
    let logs = read_all(kernel, &t);
    let own = NoNorm::NEW;
    let machine = KernelMachine::from_parts(
        StoredSequences::new(kernel, own, [-8.0; STORED]),
        coefficients,
        biases,
    );
    machine.validate().expect("finite");
    assert_values(&machine, &t, expand(logs));

    let pair = PairHmm::<f64, 1, SYMBOLS>::new(
        [1.0],
        [[1.0]],
        [[0.25, 0.125, 0.25, 0.25]],
        [0.125],
        End::Anywhere,
    )
    .expect("a model");
    let kernels: [PairKernel<'_, _, usize, [_; 8]>; STORED] =
        std::array::from_fn(|m| PairKernel::of(&pair, &items[m][..4 + m / 2]).expect("stored"));
    let logs = kernels.map(|kernel| read_all(kernel, &t));
    let machine = KernelMachine::from_parts(
        StoredSequences::new(Bank::new(kernels), own, [-8.0; STORED]),
        coefficients,
        biases,
    );
    machine.validate().expect("finite");
    assert_values(&machine, &t, expand(logs));
}

fn read_all<R: Streaming<Observation = usize>>(recursion: R, t: &[usize]) -> R::Reading {
    let mut stream = Stream::new(recursion);
    stream.push_block(t).expect("symbols");
    stream.read()
}

fn assert_values<K>(machine: &KernelMachine<K, [[f64; STORED]; 1]>, t: &[usize], wanted: f64)
where
    K: StoredKernel<STORED, Real = f64, Observation = usize>,
{
    let mut state = machine.initial_state();
    t.iter().for_each(|x| machine.step(&mut state, x).expect("a symbol"));
    let got = machine.decision_values(&state).expect("in range");
    let got = got.values[0] * got.log_scale.exp();
    assert!((got - wanted).abs() < 1e-12 * (1.0 + wanted.abs()), "{got} where {wanted} is right");
}

/// `10^5` symbols, kernels of `10^-100000`: nothing underflows, in `f32`.
#[test]
fn long_support_sequences_do_not_underflow() {
    const LENGTH: usize = 100_000;
    let mut sampler = Sampler::new(11);
    let plain = model(&mut sampler, 0, STATES, false);
    let items: Vec<Vec<u8>> = (0..STORED)
        .map(|_| symbols(&mut sampler, LENGTH, SYMBOLS).iter().map(|&x| x as u8).collect())
        .collect();
    let t: Vec<usize> = items[1].iter().map(|&x| usize::from(x)).collect();
    let stored: [&[u8]; STORED] = std::array::from_fn(|m| &items[m][..]);
    let hmm: Hmm<Law<f32>, STATES> = padded(&plain).expect("a model");
    let kernel =
        StoredSequences::new(FixedLength::from_parts(&hmm, stored), NoNorm::NEW, [0.0; STORED]);
    // Without a bias the sign is that of the item that is the stream itself.
    let machine = KernelMachine::from_parts(kernel, [[1.0, -1.0, 1.0]], [0.0_f32]);
    let mut state = machine.initial_state();
    t.iter().for_each(|x| machine.step(&mut state, x).expect("a symbol"));
    let values = machine.decision_values(&state).expect("in range");
    assert!(values.log_scale < -1e5 && values.values[0] < -0.5, "{values:?}");
    assert_eq!(machine.read(&state).map(|decision| decision.class), Ok(0));
}

#[test]
fn flash_is_counted_part_by_part() {
    let mut sampler = Sampler::new(6);
    let hmm: Hmm<Law<f64>, STATES> =
        padded(&model(&mut sampler, 0, STATES, false)).expect("a model");
    let stored: [&[u8]; STORED] = [&[0, 1], &[2, 3], &[1, 1]];
    let (kernel, own) = (FixedLength::from_parts(&hmm, stored), FixedLengthNorm::of(&hmm, 2));
    let reals = |count: usize| count * size_of::<f64>();
    let sequences = StoredSequences::new(kernel, own, [0.0; STORED]);
    assert_eq!(sequences.size_bytes(), kernel.size_bytes() + own.size_bytes() + reals(STORED));
    let unnormalised = StoredSequences::new(kernel, NoNorm::<usize, f64>::NEW, [0.0; STORED]);
    assert_eq!(unnormalised.size_bytes(), kernel.size_bytes() + reals(STORED));
    let machine = KernelMachine::from_parts(unnormalised, [[1.0; STORED]; 2], [0.0; 2]);
    assert_eq!(machine.size_bytes(), unnormalised.size_bytes() + reals(2 * STORED + 2));
}
