//! Kernel machines: at every prefix the kernel expansion written out in `f64`, from kernels in the log
//! domain and from scores by forward-backward.

use fishweir_core::classify::{
    DiagonalWhitening, FullWhitening, KernelMachine, NoNorm, Normalisation, ScoreKernel,
    StoredKernel, StoredScores, StoredSequences, Whitening, decide,
};
use fishweir_core::emission::{Categorical, Gaussian, Parametrisation, VectorSpace};
use fishweir_core::filter::{Recursion, Running};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::{
    Bank, End, FixedLength, FixedLengthNorm, HiddenBinomial, InFlash, KernelError, PairHmm,
    PairKernel, PairTable,
};
use fishweir_core::number::Real;
use fishweir_core::score::{Score, ScoreOf, StatisticsOf};
use fishweir_core::smooth::posteriors;
use fishweir_core::{Flaw, ModelError, Part};
use fishweir_tests::build::padded;
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::oracle::{Model, Observation};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use crate::aligned::{known, model, observed, slow};
use crate::{assert_near, borrowed, cases, gappy, symbols};

const STATES: usize = 3;
const SYMBOLS: usize = 4;
const STORED: usize = 3;

type Law<T> = Categorical<SYMBOLS, T>;

fn machine_parts<const O: usize>(
    sampler: &mut Sampler,
    biased: bool,
) -> ([[f64; STORED]; O], [f64; O]) {
    let mut row = |length| sampler.row(length, -1.0, 1.0);
    let coefficients = std::array::from_fn(|_| row(STORED).try_into().expect("as many"));
    let biases: [f64; O] = row(O).try_into().expect("as many");
    (coefficients, if biased { biases } else { [0.0; O] })
}

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
        let machine = KernelMachine::new(kernel, weights, offsets);
        put_through(&machine, &samples, batch, &coefficients, biases, tolerance);
    } else {
        let kernel = StoredSequences::new(kernel, NoNorm::NEW, rounded);
        let machine = KernelMachine::new(kernel, weights, offsets);
        put_through(&machine, &samples, batch, &coefficients, biases, tolerance);
    }
}

fn put_through<T, K, const O: usize>(
    machine: &KernelMachine<K, T, STORED, O>,
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
    let mut state = machine.start();
    let refused = check(machine, trial, |prefix, decision| {
        match prefix.last() {
            None => {}
            Some(Some(x)) => machine.push(&mut state, x).expect("a symbol"),
            Some(None) => machine.push_missing(&mut state),
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

    #[test]
    fn support_scores_are_the_expansion(
        seed: u64, topology in 0_usize..4, length in 1_usize..=50, which in 0_usize..3,
        normalisation in 0_u32..3, likelihood: bool, full: bool,
    ) {
        let normalisation = Normalisation::from_code(normalisation).expect("known");
        let mut sampler = Sampler::new(seed);
        let plain = [0, 1].map(|_| model(&mut sampler, topology, STATES, false));
        let kernel = [
            ScoreKernel::Gaussian { gamma: 0.01 },
            ScoreKernel::Polynomial { degree: 3 },
            ScoreKernel::Cosine,
        ][which];
        let t = gappy(&mut sampler, length, SYMBOLS);
        match (likelihood, full) {
            (false, false) => scores::<SCORES, _>(&mut sampler, &plain, &t, normalisation, kernel, diagonal),
            (true, false) => scores::<{ SCORES + 2 }, _>(&mut sampler, &plain, &t, normalisation, kernel, diagonal),
            (false, true) => scores::<SCORES, _>(&mut sampler, &plain, &t, normalisation, kernel, mixed),
            (true, true) => scores::<{ SCORES + 2 }, _>(&mut sampler, &plain, &t, normalisation, kernel, mixed),
        }
    }
}

/// Of two models.
const SCORES: usize = 2 * (STATES + STATES * STATES + STATES * SYMBOLS);

/// A whitening, and the same as a centre and a matrix.
type Plain<W> = (W, Vec<f64>, Vec<Vec<f64>>);

fn diagonal<const F: usize>(sampler: &mut Sampler) -> Plain<DiagonalWhitening<f64, F>> {
    let (centre, rate) = (sampler.row(F, -0.5, 0.5), sampler.row(F, 0.0, 1.5));
    let row = |k| (0..F).map(|j| if j == k { rate[k] } else { 0.0 }).collect();
    let rows = (0..F).map(row).collect();
    let array = |row: &[f64]| row.try_into().expect("as many");
    (DiagonalWhitening { centre: array(&centre), rate: array(&rate) }, centre, rows)
}

fn mixed<const F: usize>(sampler: &mut Sampler) -> Plain<FullWhitening<f64, F>> {
    let centre = sampler.row(F, -0.5, 0.5);
    let rows: Vec<Vec<f64>> = (0..F).map(|_| sampler.row(F, -0.3, 0.3)).collect();
    let array = |row: &[f64]| row.try_into().expect("as many");
    let whitening =
        FullWhitening { centre: array(&centre), rows: std::array::from_fn(|k| array(&rows[k])) };
    (whitening, centre, rows)
}

/// The score of a sequence by forward-backward, and its log-likelihood.
fn batch_scores(hmm: &Hmm<Law<f64>, STATES>, t: &[Option<usize>], likelihood: bool) -> Vec<f64> {
    let mut rows = vec![[0.0; STATES]; t.len()];
    let mut expected = StatisticsOf::<Law<f64>, STATES>::ZERO;
    let log = posteriors(hmm, t.iter().map(Option::as_ref), &mut rows, &mut expected.transition)
        .expect("possible");
    if let Some(first) = rows.first() {
        expected.initial = *first;
    }
    for (row, x) in rows.iter().zip(t) {
        let Some(x) = *x else { continue };
        for (counts, weight) in expected.emission.iter_mut().zip(row) {
            counts[x] += weight;
        }
    }
    let mut flat = vec![0.0; ScoreOf::<Law<f64>, STATES>::LENGTH];
    Score::of(hmm, &expected, Parametrisation::SOFTMAX).write_to(&mut flat);
    flat.extend(likelihood.then_some(log));
    flat
}

fn scores<const F: usize, W: Whitening<f64, F>>(
    sampler: &mut Sampler,
    plain: &[Model; 2],
    t: &[Option<usize>],
    normalisation: Normalisation,
    kernel: ScoreKernel<f64>,
    whitening: impl Fn(&mut Sampler) -> Plain<W>,
) {
    let models: [Hmm<Law<f64>, STATES>; 2] =
        plain.each_ref().map(|plain| padded(plain).expect("a model"));
    let (whitening, centre, rows) = whitening(sampler);
    let mut stored: [[f64; F]; STORED] =
        std::array::from_fn(|_| sampler.row(F, -1.0, 1.0).try_into().expect("as many"));
    if kernel == ScoreKernel::Cosine {
        for item in &mut stored {
            let length = item.iter().map(|x| x * x).sum::<f64>().sqrt();
            item.iter_mut().for_each(|x| *x /= length);
        }
    }
    let (coefficients, biases) = machine_parts::<1>(sampler, true);
    let parametrisation = Parametrisation::SOFTMAX;
    let machine = KernelMachine::new(
        StoredScores::<_, _, STATES, 2, F, STORED>::new(
            models,
            parametrisation,
            normalisation,
            whitening,
            kernel,
            stored,
        ),
        coefficients,
        biases,
    );
    machine.validate().expect("finite");
    let samples = borrowed(t);
    let trial = Trial { samples: &samples, refusable: &[&SYMBOLS] };
    let mut state = machine.start();
    let refused = check(&machine, trial, |prefix, _| {
        match prefix.last() {
            None => {}
            Some(Some(x)) => machine.push(&mut state, x).expect("a symbol"),
            Some(None) => machine.push_missing(&mut state),
        }
        let prefix: Vec<_> = prefix.iter().map(|x| x.copied()).collect();
        let mut u: Vec<f64> =
            models.iter().flat_map(|hmm| batch_scores(hmm, &prefix, F > SCORES)).collect();
        let factor: f64 = normalisation.factor(prefix.len() as u64);
        u.iter_mut().for_each(|u| *u *= factor);
        for (got, u) in machine.kernel().scores(&state).iter().zip(&u) {
            assert!((got - u).abs() <= 1e-10 * (1.0 + u.abs()), "score {got} where {u} is right");
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        u.iter_mut().zip(&centre).for_each(|(u, centre)| *u -= centre);
        let z: Vec<f64> = rows.iter().map(|row| dot(row, &u)).collect();
        let values = stored.each_ref().map(|item| match kernel {
            ScoreKernel::Gaussian { gamma } => {
                let gap: f64 = z.iter().zip(item).map(|(a, b)| (a - b) * (a - b)).sum();
                (-gamma * gap).exp()
            }
            ScoreKernel::Polynomial { degree } => (1.0 + dot(&z, item)).powi(degree as i32),
            _ => match dot(&z, &z).sqrt() {
                0.0 => 0.0,
                length => dot(&z, item) / length,
            },
        });
        let got = machine.decision_values(&state).expect("in range");
        let wanted = biases[0] + dot(&coefficients[0], &values);
        let got = got.values[0] * got.log_scale.exp();
        let size: f64 = 1.0 + values.iter().map(|value| value.abs()).sum::<f64>();
        assert!((got - wanted).abs() <= 1e-9 * size, "{got} where {wanted} is right");
    });
    assert_eq!(refused, t.len() + 1);
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
    let machine =
        KernelMachine::new(StoredSequences::new(kernel, own, [-8.0; STORED]), coefficients, biases);
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
    let kernels: [PairKernel<'_, _, usize, 1, SYMBOLS, 8>; STORED] =
        std::array::from_fn(|m| PairKernel::of(&pair, &items[m][..4 + m / 2]).expect("stored"));
    let logs = kernels.map(|kernel| read_all(kernel, &t));
    let machine = KernelMachine::new(
        StoredSequences::new(Bank::new(kernels), own, [-8.0; STORED]),
        coefficients,
        biases,
    );
    machine.validate().expect("finite");
    assert_values(&machine, &t, expand(logs));
}

fn read_all<R: Recursion<Observation = usize>>(recursion: R, t: &[usize]) -> R::Reading {
    let mut stream = Running::new(recursion);
    stream.push_block(t).expect("symbols");
    stream.read()
}

fn assert_values<K>(machine: &KernelMachine<K, f64, STORED, 1>, t: &[usize], wanted: f64)
where
    K: StoredKernel<STORED, Real = f64, Observation = usize>,
{
    let mut state = machine.start();
    t.iter().for_each(|x| machine.push(&mut state, x).expect("a symbol"));
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
    let machine = KernelMachine::new(kernel, [[1.0, -1.0, 1.0]], [0.0_f32]);
    let mut state = machine.start();
    t.iter().for_each(|x| machine.push(&mut state, x).expect("a symbol"));
    let values = machine.decision_values(&state).expect("in range");
    assert!(values.log_scale < -1e5 && values.values[0] < -0.5, "{values:?}");
    assert_eq!(machine.read(&state).map(|decision| decision.class), Ok(0));
}

/// A sample that the models take may take a score out of its range: then there is no decision, until a
/// reset.
#[test]
fn a_score_out_of_range_has_no_decision() {
    const SCORES: usize = 2 + 4 + 2 * 2;
    fn read<W: Whitening<f32, SCORES> + Copy>(whitening: W, x: f32) -> Vec<Option<f32>> {
        let row = [0.5_f32; 2];
        let chain = Chain::<f32, 2>::new(row, [row, row]).expect("sums to one");
        let hmm = Hmm::new(chain, [Gaussian::<1>::new([0.0], [1.0]).expect("positive"); 2]);
        let kernels = [
            ScoreKernel::Gaussian { gamma: 1.0 },
            ScoreKernel::Polynomial { degree: 2 },
            ScoreKernel::Cosine,
        ];
        let decide = |kernel| {
            let (by, per_sample) = (Parametrisation::SOFTMAX, Normalisation::PER_SAMPLE);
            let stored = [[0.1; SCORES]];
            let kernel: StoredScores<_, _, 2, 1, SCORES, 1> =
                StoredScores::new([hmm], by, per_sample, whitening, kernel, stored);
            let machine = KernelMachine::new(kernel, [[1.0]], [0.5_f32]);
            machine.validate().expect("finite");
            let mut stream = Running::new(&machine);
            stream.push_block(&[[0.5], [x]]).expect("possible");
            let margin = stream.read().ok().map(|decision| decision.margin);
            stream.reset();
            stream.push_block(&[[0.5], [-0.5]]).expect("possible");
            // What was out of range is forgotten.
            assert!(stream.read().is_ok() || x.abs() < 1e8);
            margin
        };
        kernels.map(decide).to_vec()
    }
    let centre = [0.0; SCORES];
    let identity: [[f32; SCORES]; SCORES] =
        std::array::from_fn(|i| std::array::from_fn(|k| if i == k { 1.0 } else { 0.0 }));
    let diagonal = DiagonalWhitening { centre, rate: [1.0; SCORES] };
    let full = FullWhitening { centre, rows: identity };
    for margin in [read(diagonal, 1.0), read(full, 1.0)].concat() {
        assert!(margin.is_some_and(f32::is_finite), "{margin:?}");
    }
    // A billion standard deviations: the filter takes it, the square of it is past the range.
    assert_eq!([read(diagonal, 1e9), read(full, 1e9)].concat(), [None; 6]);
    // Infinities of both signs sum to no number.
    let mut wild = identity;
    wild[0] = std::array::from_fn(|k| if k % 2 == 0 { f32::MAX } else { -f32::MAX });
    assert_eq!(read(FullWhitening { centre, rows: wild }, 30.0), [None; 3]);
}

#[test]
fn what_is_wrong_is_named() {
    let mut sampler = Sampler::new(5);
    let hmm: Hmm<Law<f64>, STATES> =
        padded(&model(&mut sampler, 0, STATES, false)).expect("a model");
    let good: [&[u8]; STORED] = [&[0, 1], &[2, 3], &[1, 1]];
    let machine = |stored, norms, coefficients: [[f64; STORED]; 1], bias: f64| {
        let kernel = FixedLength::from_parts(&hmm, stored);
        let kernel = StoredSequences::new(kernel, FixedLengthNorm::of(&hmm, 2), norms);
        KernelMachine::new(kernel, coefficients, [bias]).validate()
    };
    let (norms, ones) = ([0.0; STORED], [[1.0; STORED]]);
    assert_eq!(machine(good, norms, ones, 0.0), Ok(()));
    let flaw = |part, row, entry| {
        Err(KernelError::Model(ModelError::new(part, Flaw::NotFinite, row, entry)))
    };
    assert_eq!(machine(good, norms, ones, f64::NAN), flaw(Part::Bias, 0, 0));
    assert_eq!(
        machine(good, norms, [[0.0, f64::INFINITY, 0.0]], 0.0),
        flaw(Part::Coefficient, 0, 1)
    );
    assert_eq!(machine(good, [0.0, 0.0, f64::NAN], ones, 0.0), flaw(Part::StoredItem, 0, 2));
    let error = fishweir_core::ObservationError::UnknownSymbol;
    assert_eq!(
        machine([&[0, 1], &[2, 9], &[1, 1]], norms, ones, 0.0),
        Err(KernelError::Stored { sequence: 1, position: 1, error })
    );
    assert_eq!(
        machine([&[0, 1], &[2, 3, 0], &[1, 1]], norms, ones, 0.0),
        Err(KernelError::Length { sequence: 1, found: 3, expected: 2 })
    );
    let scores = |kernel, entry: f64, rate| {
        StoredScores::<Law<f64>, _, STATES, 2, SCORES, 1>::new(
            [hmm; 2],
            Parametrisation::SOFTMAX,
            Normalisation::NONE,
            DiagonalWhitening { centre: [0.0; SCORES], rate: [rate; SCORES] },
            kernel,
            [[entry; SCORES]],
        )
        .check()
    };
    let gaussian = |gamma| ScoreKernel::Gaussian { gamma };
    const FARTHEST: f64 = (1_u64 << 48) as f64;
    assert_eq!(scores(gaussian(1.0), 0.5, 1.0), Ok(()));
    assert_eq!(scores(ScoreKernel::Cosine, -FARTHEST, 1.0), Ok(()));
    assert_eq!(scores(gaussian(1.0), f64::NAN, 1.0), flaw(Part::StoredItem, 0, 0));
    assert_eq!(scores(gaussian(1.0), 0.5, f64::NAN), flaw(Part::Whitening, 1, 0));
    assert_eq!(scores(gaussian(f64::NAN), 0.5, 1.0), flaw(Part::Kernel, 0, 0));
    for (kernel, entry, part, flaw) in [
        (gaussian(0.0), 0.5, Part::Kernel, Flaw::NotPositive),
        (ScoreKernel::Polynomial { degree: 0 }, 0.5, Part::Kernel, Flaw::NotInRange),
        (ScoreKernel::Cosine, FARTHEST * 1.01, Part::StoredItem, Flaw::NotInRange),
    ] {
        let error = ModelError::new(part, flaw, 0, 0);
        assert_eq!(scores(kernel, entry, 1.0), Err(KernelError::Model(error)));
    }
}

#[test]
fn kernels_on_scores_are_their_formulas() {
    let (z, stored) = ([1.0, 2.0, -2.0], [[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]);
    let log = |kernel: ScoreKernel<f64>, z: &[f64]| {
        let mut values = [0.0; 2];
        let scale = kernel.evaluate(z, stored.iter().map(|item| &item[..]), &mut values);
        values.map(|value| value * scale.exp())
    };
    // Squared distances 14 and 5, products -2 and 3, length 3.
    let gaussian = log(ScoreKernel::Gaussian { gamma: 0.25 }, &z);
    assert_near(gaussian[0], (-3.5_f64).exp(), 1e-12, "Gaussian");
    assert_near(gaussian[1], (-1.25_f64).exp(), 1e-12, "Gaussian");
    assert_eq!(log(ScoreKernel::Polynomial { degree: 3 }, &z), [-1.0, 64.0]);
    assert_eq!(log(ScoreKernel::Cosine, &z), [-2.0 / 3.0, 1.0]);
    assert_eq!(log(ScoreKernel::Cosine, &[0.0; 3]), [0.0; 2]);
}

#[test]
fn whitening_is_its_formula_up_to_its_range() {
    let centre = [1.0, -2.0];
    let diagonal = |rate, scores| DiagonalWhitening { centre, rate }.whiten(scores).ok();
    assert_eq!(diagonal([2.0, 3.0], [4.0, -1.0]), Some([6.0, 3.0]));
    let full = FullWhitening { centre, rows: [[2.0, 1.0], [0.0, -1.0]] };
    assert_eq!(full.whiten([4.0, -1.0]).ok(), Some([7.0, -1.0]));
    assert_eq!(full.validate(), Ok(()));
    let odd = FullWhitening { centre, rows: [[2.0, 1.0], [0.0, f64::NAN]] };
    assert_eq!(odd.validate(), Err(ModelError::new(Part::Whitening, Flaw::NotFinite, 2, 1)));
    // The last number in range, and the next.
    let most = 2.0_f64.powi(48);
    assert_eq!(diagonal([most; 2], [2.0, -3.0]), Some([most, -most]));
    assert_eq!(diagonal([most, most * (1.0 + f64::EPSILON)], [2.0, -3.0]), None);
}

#[test]
fn ties_go_to_the_first_class() {
    let decided = |values: &[f64]| {
        let decision = decide(values);
        (decision.class, decision.margin)
    };
    assert_eq!([decided(&[]), decided(&[0.0]), decided(&[-0.5])], [(0, 0.0), (0, 0.0), (0, 0.5)]);
    assert_eq!([decided(&[0.5]), decided(&[1.0, 1.0, 0.0])], [(1, 0.5), (0, 0.0)]);
    assert_eq!([decided(&[0.0, 3.0, 3.0]), decided(&[0.0, 1.0, 3.0])], [(1, 0.0), (2, 2.0)]);
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
    assert_eq!(sequences.bytes(), kernel.bytes() + own.bytes() + reals(STORED));
    let unnormalised = StoredSequences::new(kernel, NoNorm::<usize, f64>::NEW, [0.0; STORED]);
    assert_eq!(unnormalised.bytes(), kernel.bytes() + reals(STORED));
    let machine = KernelMachine::new(unnormalised, [[1.0; STORED]; 2], [0.0; 2]);
    assert_eq!(machine.bytes(), unnormalised.bytes() + reals(2 * STORED + 2));
}

#[test]
fn a_polynomial_of_large_scores_does_not_overflow() {
    let stored = [[1e9_f32], [-3e8]];
    let mut values = [0.0; 2];
    let kernel = ScoreKernel::Polynomial { degree: 8 };
    let log_scale = kernel.evaluate(&[2e9], stored.iter().map(|item| &item[..]), &mut values);
    for (value, [stored]) in values.iter().zip(stored) {
        let log = f64::from(value.abs()).ln() + f64::from(log_scale);
        assert_near(log, 8.0 * (1.0 + 2e9 * f64::from(stored)).abs().ln(), 1e-6, stored);
    }
}
