//! Support scores: from forward-backward.

use fishweir_core::classify::{
    DiagonalWhitening, FullWhitening, KernelMachine, Normalisation, ScoreKernel, StoredScores,
    Whitening, decide,
};
use fishweir_core::emission::{Categorical, Parametrisation, VectorSpace};
use fishweir_core::filter::Streaming;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::Validate;
use fishweir_core::score::{Score, ScoreOf, StatisticsOf};
use fishweir_core::smooth::posteriors;
use fishweir_core::{ErrorKind, ModelError, ObservationError, Part};
use fishweir_tests::build::padded;
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::oracle::Model;
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

use super::{Law, SCORES, STATES, STORED, SYMBOLS, machine_parts};
use crate::kernels::aligned::model;
use crate::kernels::{assert_near, borrowed, cases, gappy};

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

/// `sign(x) sqrt(|x|)` of every entry.
fn signed_roots(row: &mut [f64]) {
    row.iter_mut().for_each(|x| *x = x.signum() * x.abs().sqrt());
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
    let roots = kernel == ScoreKernel::RootCosine;
    if roots || kernel == ScoreKernel::Cosine {
        for item in &mut stored {
            if roots {
                signed_roots(item);
            }
            let length = item.iter().map(|x| x * x).sum::<f64>().sqrt();
            item.iter_mut().for_each(|x| *x /= length);
        }
    }
    let (coefficients, biases) = machine_parts::<1>(sampler, true);
    let parametrisation = Parametrisation::SOFTMAX;
    let machine = KernelMachine::from_parts(
        StoredScores::<_, _, [[_; F]; STORED]>::from_parts(
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
    let mut state = machine.initial_state();
    let refused = check(&machine, trial, |prefix, _| {
        match prefix.last() {
            None => {}
            Some(Some(x)) => machine.step(&mut state, x).expect("a symbol"),
            Some(None) => machine.step_missing(&mut state),
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
        let mut z: Vec<f64> = rows.iter().map(|row| dot(row, &u)).collect();
        if roots {
            signed_roots(&mut z);
        }
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

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn support_scores_are_the_expansion(
        seed: u64, topology in 0_usize..4, length in 1_usize..=50, which in 0_usize..4,
        normalisation in 0_u32..3, likelihood: bool, full: bool,
    ) {
        let normalisation = Normalisation::from_code(normalisation).expect("known");
        let mut sampler = Sampler::new(seed);
        let plain = [0, 1].map(|_| model(&mut sampler, topology, STATES, false));
        let kernel = [
            ScoreKernel::Gaussian { gamma: 0.01 },
            ScoreKernel::Polynomial { degree: 3 },
            ScoreKernel::Cosine,
            ScoreKernel::RootCosine,
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

#[test]
fn kernels_on_scores_are_their_formulas() {
    let (z, stored) = ([1.0, 2.0, -2.0], [[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]);
    let log = |kernel: ScoreKernel<f64>, z: &[f64]| {
        let (mut z, mut values) = (z.to_vec(), [0.0; 2]);
        kernel.prepare(&mut z);
        let scale = kernel.evaluate(&z, stored.iter().map(|item| &item[..]), &mut values);
        values.map(|value| value * scale.exp())
    };
    // Squared distances 14 and 5, products -2 and 3, length 3.
    let gaussian = log(ScoreKernel::Gaussian { gamma: 0.25 }, &z);
    assert_near(gaussian[0], (-3.5_f64).exp(), 1e-12, "Gaussian");
    assert_near(gaussian[1], (-1.25_f64).exp(), 1e-12, "Gaussian");
    assert_eq!(log(ScoreKernel::Polynomial { degree: 3 }, &z), [-1.0, 64.0]);
    assert_eq!(log(ScoreKernel::Cosine, &z), [-2.0 / 3.0, 1.0]);
    assert_eq!(log(ScoreKernel::Cosine, &[0.0; 3]), [0.0; 2]);
    // The same numbers by their squares, with their signs.
    assert_eq!(log(ScoreKernel::RootCosine, &[1.0, 4.0, -4.0]), [-2.0 / 3.0, 1.0]);
    assert_eq!(log(ScoreKernel::RootCosine, &[0.0; 3]), [0.0; 2]);
}

/// From the least number to the farthest that a whitened score may be; `f32` is `f64` rounded.
#[test]
fn roots_keep_signs_and_are_correctly_rounded() {
    let farthest = 2.0_f32.powi(48);
    let z = [2.0, -3.0, 0.0, -0.0, farthest, -farthest, f32::MIN_POSITIVE, -f32::from_bits(1)];
    let mut roots = z;
    ScoreKernel::RootCosine.prepare(&mut roots);
    for (root, z) in roots.into_iter().zip(z.map(f64::from)) {
        // Twice the digits and two more: rounding twice is rounding once.
        assert_eq!(root, (z.signum() * z.abs().sqrt()) as f32, "{z}");
    }
    for kernel in [
        ScoreKernel::Cosine,
        ScoreKernel::Gaussian { gamma: 1.0 },
        ScoreKernel::Polynomial { degree: 2 },
    ] {
        let mut same = z;
        kernel.prepare(&mut same);
        assert_eq!(same.map(f32::to_bits), z.map(f32::to_bits), "{kernel:?}");
    }
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
    assert_eq!(odd.validate(), Err(ModelError::new(Part::Whitening, ErrorKind::NotFinite, 2, 1)));
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

/// No model has half a stream: what one of them refuses, none takes.
#[test]
fn a_sample_is_taken_by_all_models_or_by_none() {
    const SCORES: usize = 2 * (1 + 1 + 3);
    let coin = |p: [f64; 3]| {
        let law = Categorical::<3, f64>::new(p).expect("a law");
        Hmm::new(Chain::<f64, 1>::new([1.0], [[1.0]]).expect("a chain"), [law])
    };
    let kernel = StoredScores::<_, _, [[_; SCORES]; 2]>::from_parts(
        [coin([0.5, 0.25, 0.25]), coin([0.25, 0.75, 0.0])],
        Parametrisation::SOFTMAX,
        Normalisation::NONE,
        DiagonalWhitening { centre: [0.0; SCORES], rate: [1.0; SCORES] },
        ScoreKernel::Cosine,
        [[0.1; SCORES]; 2],
    );
    let mut state = kernel.initial_state();
    for x in [0, 1, 1] {
        kernel.step(&mut state, &x).expect("possible under both");
    }
    kernel.step_missing(&mut state);
    let before = state;
    assert_eq!(kernel.step(&mut state, &2), Err(ObservationError::Impossible));
    assert_eq!(state, before);
    assert_eq!(state.samples(), 4);
    let [first, second] = kernel.log_likelihoods(&state);
    assert_near(first, (0.5_f64 * 0.25 * 0.25).ln(), 1e-14, "log-likelihood");
    assert_near(second, (0.25_f64 * 0.75 * 0.75).ln(), 1e-14, "log-likelihood");
    // The models, the whitening, the stored scores, and what says how: a setting a word at most.
    let parts = size_of_val(kernel.models()) + size_of::<f64>() * SCORES * (2 + 2);
    assert!(
        (parts..=parts + 5 * size_of::<f64>()).contains(&kernel.size_bytes()),
        "{}",
        kernel.size_bytes()
    );
}
