//! Recursions that look back, against enumeration, the log domain and each other.

use std::borrow::Borrow;
use std::convert::Infallible;

use fishweir_core::ObservationError;
use fishweir_core::emission::{Categorical, Emission, Gaussian, Sample as _};
use fishweir_core::filter::{Belief, Recursion, Running};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::{Max, Real};
use fishweir_core::rand_core::TryRng;
use fishweir_core::smooth::{
    Ancestral, DecodingWindow, FixedLag, LagWindow, Lagged, OnlineViterbi, SequenceError,
    StateIndex, Survivors, Viterbi, checkpoints_for, posteriors, posteriors_checkpointed, viterbi,
};
use fishweir_tests::build::{Family, Task, dispatch, padded, samples};
use fishweir_tests::oracle::{Enumeration, Law, LogDomain, Model, Observation, Sequence};
use fishweir_tests::sample::{Sampler, TOPOLOGIES, Topology, zoo};

/// What a window in these tests holds: more than any short sequence.
const ALL: usize = 64;

/// Every recursion's answer about one sequence, after the laws that bind them were checked.
struct Answers {
    log_likelihood: f64,
    posterior: Vec<Vec<f64>>,
    pairs: Vec<Vec<f64>>,
    path: Vec<usize>,
    log_joint: f64,
}

struct Ask<'a> {
    model: &'a Model,
    sequence: &'a Sequence,
}

impl<T: Real> Task<T> for Ask<'_> {
    type Output = Answers;

    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Answers, String> {
        let samples = samples::<T, E>(self.sequence)?;
        let length = samples.len();
        let states = self.model.states();
        let observations = || samples.iter().map(|x| x.as_ref().map(Borrow::borrow));

        let (plain, pairs, log_likelihood) = smoothed(hmm, &samples)?;
        checkpointed_is_plain(hmm, &samples, &plain, &pairs, log_likelihood)?;
        full_lag_is_smoother(hmm, &samples, &plain);

        let (mut back, mut path) = (vec![[0_u8; N]; length], vec![0_u8; length]);
        let log_joint = viterbi(hmm, observations(), &mut back, &mut path)
            .map_err(|error| error.to_string())?;
        assert_eq!(stream(&Viterbi::of(hmm), observations()).read(), log_joint, "score alone");
        wide_window_decodes_the_path(hmm, &samples, &path, log_joint);
        narrow_window_emits_one_path::<T, E, N, 1>(hmm, &samples, &path);
        narrow_window_emits_one_path::<T, E, N, 3>(hmm, &samples, &path);
        // One path is no likelier than all, but for the rounding of two sums of logarithms.
        let slack = T::SUM_TOLERANCE.to_f64() * (1.0 + log_joint.to_f64().abs());
        assert!(log_joint.to_f64() <= log_likelihood.to_f64() + slack, "best path above the sum");

        let doubles = |row: &[T; N]| row[..states].iter().map(|p| p.to_f64()).collect::<Vec<_>>();
        Ok(Answers {
            log_likelihood: log_likelihood.to_f64(),
            posterior: plain.iter().map(doubles).collect(),
            pairs: pairs[..states].iter().map(doubles).collect(),
            path: path.into_iter().map(usize::from).collect(),
            log_joint: log_joint.to_f64(),
        })
    }
}

type Smoothed<T, const N: usize> = (Vec<[T; N]>, [[T; N]; N], T);

fn smoothed<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    samples: &[Option<E::Sample>],
) -> Result<Smoothed<T, N>, String> {
    let mut rows = vec![[T::ZERO; N]; samples.len()];
    let mut pairs = [[T::ZERO; N]; N];
    let observations = samples.iter().map(|x| x.as_ref().map(Borrow::borrow));
    let log = posteriors(hmm, observations, &mut rows, &mut pairs).map_err(|e| e.to_string())?;
    Ok((rows, pairs, log))
}

fn stream<'x, R: Recursion<Observation: 'x> + Copy>(
    recursion: &R,
    observations: impl IntoIterator<Item = Option<&'x R::Observation>>,
) -> Running<R> {
    let mut running = Running::new(*recursion);
    for x in observations {
        match x {
            Some(x) => running.push(x).expect("a possible observation"),
            None => running.push_missing(),
        }
    }
    running
}

fn checkpointed_is_plain<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    samples: &[Option<E::Sample>],
    plain: &[[T; N]],
    plain_pairs: &[[T; N]; N],
    log_likelihood: T,
) -> Result<(), String> {
    let length = samples.len();
    let root = length.isqrt().max(1);
    for rows in [1, root, root + 1, length + 3] {
        let needed = checkpoints_for(length, rows).expect("at least one row");
        let mut checkpoints = vec![Belief::NEW; needed];
        let mut rows = vec![[T::ZERO; N]; rows];
        let mut pairs = [[T::ZERO; N]; N];
        let mut expected = (0..length).rev();
        let log = posteriors_checkpointed(
            hmm,
            length,
            |time| samples[time].as_ref().map(Borrow::borrow),
            &mut checkpoints,
            &mut rows,
            &mut pairs,
            |time, posterior| {
                assert_eq!(Some(time), expected.next(), "from the last to the first");
                assert_eq!(posterior, &plain[time], "bit for bit at {time}");
            },
        )
        .map_err(|error| error.to_string())?;
        assert_eq!(expected.next(), None, "every sample is visited");
        assert_eq!((log, &pairs), (log_likelihood, plain_pairs));
    }
    Ok(())
}

fn full_lag_is_smoother<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    samples: &[Option<E::Sample>],
    plain: &[[T; N]],
) {
    if samples.is_empty() || samples.len() > ALL {
        return;
    }
    let smoother = FixedLag::<E, N, { ALL - 1 }>::of(hmm);
    let running = stream(&smoother, samples.iter().map(|x| x.as_ref().map(Borrow::borrow)));
    let mut visited = 0;
    smoother.for_each_lag(running.state(), |Lagged { lag, probability }| {
        assert_eq!(lag, visited);
        assert_eq!(probability, plain[plain.len() - 1 - lag], "lag {lag}");
        assert_eq!(smoother.at_lag(running.state(), lag), Some(probability));
        visited += 1;
    });
    assert_eq!(visited, plain.len());
    assert_eq!(smoother.at_lag(running.state(), visited), None);
    assert_eq!(running.read(), Lagged { lag: plain.len() - 1, probability: plain[0] });
}

fn wide_window_decodes_the_path<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    samples: &[Option<E::Sample>],
    path: &[u8],
    log_joint: T,
) {
    let decoder = OnlineViterbi::<E, N, 256>::of(hmm);
    let mut running = Running::new(decoder);
    let mut emitted = Vec::new();
    for x in samples {
        match x {
            Some(x) => running.push(x.borrow()).expect("a possible observation"),
            None => running.push_missing(),
        }
        let decoded = running.read();
        assert_eq!((decoded.since, decoded.forced), (emitted.len() as u64, false));
        emitted.extend_from_slice(&decoded.states);
        assert!(path.starts_with(&emitted), "emitted {emitted:?} of {path:?}");
    }
    assert_eq!(running.state().forced(), 0);
    assert_eq!(emitted.len() + running.state().undecided(), path.len());
    emitted.extend_from_slice(&decoder.undecided(running.state()));
    assert_eq!(emitted, path);
    assert_eq!(decoder.log_probability(running.state()), log_joint);
}

fn narrow_window_emits_one_path<T: Real, E: Family<T>, const N: usize, const WINDOW: usize>(
    hmm: &Hmm<E, N>,
    samples: &[Option<E::Sample>],
    path: &[u8],
) {
    let decoder = OnlineViterbi::<E, N, WINDOW, u16>::of(hmm);
    let mut running = Running::new(decoder);
    let (mut emitted, mut forced) = (Vec::<usize>::new(), 0);
    for (time, x) in samples.iter().enumerate() {
        let pushed = match x {
            Some(x) => running.push(x.borrow()),
            None => {
                running.push_missing();
                Ok(())
            }
        };
        if pushed == Err(ObservationError::Impossible) && forced > 0 {
            return; // Only a survivor that was dropped could explain it.
        }
        pushed.expect("a possible observation");
        let decoded = running.state().decoded();
        forced += u64::from(decoded.forced);
        emitted.extend(decoded.states.iter().map(|p| p.index()));
        assert!(time + 1 - emitted.len() < WINDOW, "room for the next sample");
        assert_eq!(running.state().forced(), forced);
        if forced == 0 {
            assert!(emitted.iter().zip(path).all(|(&a, &b)| a == b.index()));
        }
    }
    emitted.extend(decoder.undecided(running.state()).iter().map(|p| p.index()));
    assert_eq!(emitted.len(), samples.len());
    // What was emitted is one path of the model, and its probability is what the decoder says.
    let mut log = 0.0;
    for (time, (&state, x)) in emitted.iter().zip(samples).enumerate() {
        let step = match time.checked_sub(1) {
            None => hmm.chain().initial()[state],
            Some(before) => hmm.chain().transition()[emitted[before]][state],
        };
        let emission = x.as_ref().map(|x| hmm.emission()[state].log_likelihood(x.borrow()));
        log += step.to_f64().ln() + emission.map_or(0.0, |log| log.to_f64());
    }
    let said = decoder.log_probability(running.state()).to_f64();
    let slack = T::SUM_TOLERANCE.to_f64() * (1.0 + log.abs());
    assert!((said - log).abs() <= slack, "{said} of a path with {log}");
}

fn close(got: f64, expected: f64, tolerance: f64, what: &str) {
    let error = (got - expected).abs();
    assert!(error <= tolerance * (1.0 + expected.abs()), "{what}: {got}, expected {expected}");
}

fn all_close(got: &[Vec<f64>], expected: &[Vec<f64>], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (t, (got, expected)) in got.iter().zip(expected).enumerate() {
        for (j, (&got, &expected)) in got.iter().zip(expected).enumerate() {
            close(got, expected, tolerance, &format!("{what}[{t}][{j}]"));
        }
    }
}

/// `None` where the tests' builder does not know the family.
fn ask<T: Real>(name: &str, model: &Model, sequence: &Sequence) -> Option<Answers> {
    match dispatch::<T, _>(model, Ask { model, sequence }) {
        Err(error) if error.starts_with("no such") => None,
        answers => Some(answers.unwrap_or_else(|error| panic!("{name}: {error}"))),
    }
}

#[test]
fn short_sequences_agree_with_enumeration() {
    let mut asked = 0;
    for length in [1, 2, 3, 6] {
        for seed in 0..8 {
            for sample in zoo(seed, length) {
                let (name, model) = (sample.name, &sample.model);
                let Some(answers) = ask::<f64>(name, model, &sample.sequence) else { continue };
                let truth = Enumeration::of(model, &sample.sequence).expect("a possible sequence");
                close(answers.log_likelihood, truth.likelihood.ln(), 1e-11, name);
                all_close(&answers.posterior, &truth.posterior, 1e-11, name);
                all_close(&answers.pairs, &truth.pairs, 1e-11, name);
                close(answers.log_joint, truth.best_joint.ln(), 1e-11, name);
                let log = model.log_joint(&answers.path, &sample.sequence);
                close(log, truth.best_joint.ln(), 1e-11, name);
                asked += 1;
            }
        }
    }
    assert!(asked >= 4 * 8 * 11, "only {asked} sequences");
}

#[test]
fn longer_sequences_agree_with_the_log_domain_in_both_precisions() {
    for seed in 0..3 {
        for sample in zoo(100 + seed, 200) {
            let (name, model) = (sample.name, &sample.model);
            let truth = LogDomain::of(model, &sample.sequence);
            let (_, log_joint) = truth.viterbi().expect("a possible sequence");
            let (posterior, pairs) = (truth.posterior().unwrap(), truth.pairs().unwrap());
            let Some(double) = ask::<f64>(name, model, &sample.sequence) else { continue };
            close(double.log_likelihood, truth.log_likelihood(), 1e-11, name);
            all_close(&double.posterior, &posterior, 1e-10, name);
            all_close(&double.pairs, &pairs, 1e-10, name);
            close(double.log_joint, log_joint, 1e-11, name);
            close(model.log_joint(&double.path, &sample.sequence), log_joint, 1e-11, name);

            let single = ask::<f32>(name, model, &sample.sequence).expect("the family is known");
            close(single.log_likelihood, truth.log_likelihood(), 1e-5, name);
            // A log-density of a few hundred nats is known to some 1e-5 in f32: so are ratios.
            all_close(&single.posterior, &posterior, 2e-3, name);
            all_close(&single.pairs, &pairs, 2e-3, name);
            close(single.log_joint, log_joint, 1e-5, name);
            close(model.log_joint(&single.path, &sample.sequence), log_joint, 1e-4, name);
        }
    }
}

#[test]
fn a_full_window_decides_along_the_best_survivor() {
    // States that explain every symbol equally well are never told apart.
    let vague = Categorical::<2>::new([0.5, 0.5]).unwrap();
    let chain = Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]).unwrap();
    let hmm = Hmm::new(chain, [vague, vague]);
    let mut stream = Running::new(OnlineViterbi::<_, 2, 4>::of(&hmm));
    for _ in 0..3 {
        stream.push(&1).unwrap();
        assert!(stream.read().states.is_empty());
    }
    assert_eq!((stream.state().undecided(), stream.state().forced()), (3, 0));
    stream.push(&1).unwrap();
    let decoded = stream.read();
    assert!(decoded.forced);
    // With the other survivor gone the rest is known too.
    assert_eq!((decoded.since, decoded.states.as_slice()), (0, [0; 4].as_slice()));
    assert_eq!((stream.state().undecided(), stream.state().forced()), (0, 1));
    stream.push(&0).unwrap();
    assert_eq!(stream.read().since, 4);
    stream.reset();
    assert_eq!(stream.state(), &DecodingWindow::NEW);
}

#[test]
fn equals_are_broken_to_the_lowest_state() {
    let chain = Chain::<f32, 3>::new([0.25, 0.375, 0.375], [[0.25, 0.375, 0.375]; 3]).unwrap();
    let vague = Categorical::<2>::new([0.5, 0.5]).unwrap();
    let hmm = Hmm::new(chain, [vague; 3]);
    let (mut back, mut path) = ([[0_u8; 3]; 40], [9_u8; 40]);
    viterbi(&hmm, [0; 40].iter().map(Some), &mut back, &mut path).unwrap();
    assert_eq!(path, [1; 40]);
}

#[test]
fn nothing_observed_and_nothing_lent() {
    let hmm = padded::<f64, Categorical<4, f64>, 2>(&Sampler::new(1).categorical(
        Topology::Ergodic,
        2,
        3,
    ))
    .unwrap();
    let mut pairs = [[0.0; 2]; 2];
    assert_eq!(posteriors(&hmm, [], &mut [], &mut pairs), Ok(0.0));
    assert_eq!(viterbi::<_, _, u8, 2>(&hmm, [], &mut [], &mut []), Ok(0.0));
    let visit = |_, _: &[f64; 2]| panic!("nothing to visit");
    assert_eq!(
        posteriors_checkpointed(&hmm, 0, |_| None, &mut [], &mut [], &mut pairs, visit),
        Ok(0.0)
    );
    assert_eq!(
        FixedLag::<_, 2, 3>::of(&hmm).read(&LagWindow::NEW).probability,
        *hmm.chain().initial()
    );
    assert_eq!(Viterbi::of(&hmm).read(&Survivors::NEW), 0.0);
    assert!(OnlineViterbi::<_, 2, 3>::of(&hmm).undecided(&DecodingWindow::NEW).is_empty());

    let short = Err(SequenceError::BufferTooShort);
    assert_eq!(posteriors(&hmm, [None, None], &mut [[0.0; 2]], &mut pairs), short);
    let (mut back, mut path) = ([[0_u8; 2]; 2], [7_u8; 2]);
    assert_eq!(viterbi(&hmm, [None, None], &mut back[..1], &mut path), short);
    assert_eq!(viterbi(&hmm, [None, None], &mut back, &mut path[..1]), short);
    assert_eq!(path, [7; 2]);
    for (checkpoints, rows) in [(0, 0), (5, 0), (0, 4), (3, 1)] {
        let (mut checkpoints, mut rows) = (vec![Belief::NEW; checkpoints], vec![[0.0; 2]; rows]);
        let lent = (&mut checkpoints, &mut rows);
        assert_eq!(
            posteriors_checkpointed(&hmm, 5, |_| None, lent.0, lent.1, &mut pairs, visit),
            short
        );
    }
    assert_eq!(pairs, [[0.0; 2]; 2]);
}

#[test]
fn impossible_observations_are_errors_that_change_nothing() {
    // Left to right: symbol 0, then symbol 1 for ever.
    let chain = Chain::<f32, 2>::new([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]]).unwrap();
    let certain = |p| Categorical::<3>::new(p).unwrap();
    let hmm = Hmm::new(chain, [certain([1.0, 0.0, 0.0]), certain([0.0, 1.0, 0.0])]);
    refuses(&FixedLag::<_, 2, 2>::of(&hmm));
    refuses(&Viterbi::of(&hmm));
    refuses(&OnlineViterbi::<_, 2, 3>::of(&hmm));

    for (last, error) in [(0, ObservationError::Impossible), (3, ObservationError::UnknownSymbol)] {
        let sequence = [0, 0, 1, last, 1];
        let observations = || sequence.iter().map(Some);
        let expected = Err(SequenceError::Observation { time: 3, error });
        let mut pairs = [[0.25; 2]; 2];
        assert_eq!(posteriors(&hmm, observations(), &mut [[0.0; 2]; 5], &mut pairs), expected);
        let (mut back, mut path) = ([[0_u8; 2]; 5], [7_u8; 5]);
        assert_eq!(viterbi(&hmm, observations(), &mut back, &mut path), expected);
        assert_eq!(path, [7; 5]);
        let refused = posteriors_checkpointed(
            &hmm,
            5,
            |time| sequence.get(time),
            &mut [Belief::NEW; 2],
            &mut [[0.0; 2]; 2],
            &mut pairs,
            |_, _| panic!("nothing to visit"),
        );
        assert_eq!(refused, expected);
        assert_eq!(pairs, [[0.25; 2]; 2]);
    }
}

fn refuses<R: Recursion<Observation = usize, State: PartialEq + std::fmt::Debug>>(recursion: &R) {
    let mut state = recursion.start();
    for x in [0, 0, 1, 1, 1] {
        for wrong in [2, 3] {
            let before = state.clone();
            let error = recursion.push(&mut state, &wrong).unwrap_err();
            let impossible = wrong == 2;
            assert_eq!(error == ObservationError::Impossible, impossible);
            assert_eq!(error == ObservationError::UnknownSymbol, !impossible);
            assert_eq!(state, before);
        }
        recursion.push(&mut state, &x).unwrap();
    }
    let before = state.clone();
    assert_eq!(recursion.push(&mut state, &0), Err(ObservationError::Impossible));
    assert_eq!(state, before);
}

#[test]
fn observations_that_are_none_are_refused() {
    let gaussian = |mean| Gaussian::<2>::new([mean, 0.0], [1.0, 1.0]).unwrap();
    let chain = Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]).unwrap();
    let hmm = Hmm::new(chain, [gaussian(0.0), gaussian(1.0)]);
    let mut stream = Running::new(Viterbi::of(&hmm));
    for wrong in [[f32::NAN, 0.0], [0.0, f32::INFINITY], [f32::NEG_INFINITY, f32::NAN]] {
        assert_eq!(stream.push(&wrong), Err(ObservationError::NotFinite));
        assert_eq!(stream.state(), &Survivors::NEW);
    }
    stream.push(&[0.0, 0.0]).unwrap();
}

/// The state that explains an observation can hardly be reached, in `f32` almost beyond its range.
#[test]
fn a_state_that_nothing_foresaw_has_its_posterior() {
    for rare in [1e-12_f64, 1e-25, 1e-30, 1e-38, 1e-42] {
        let rare = f64::from(rare as f32);
        let transition = vec![
            vec![1.0 - rare, 0.0, rare],
            vec![0.0, 1.0 - 2.0 * rare, 2.0 * rare],
            vec![0.0, 0.0, 1.0],
        ];
        let emission =
            [-0.5, 0.5, 300.0].map(|mean| Law::Gaussian { mean: vec![mean], variance: vec![1.0] });
        let model = Model { initial: vec![0.5, 0.5, 0.0], transition, emission: emission.to_vec() };
        let sequence: Sequence = [0.25, -0.25, 299.0, 300.0, 301.0]
            .map(|x| Some(Observation::Channels(vec![x])))
            .to_vec();
        let truth = LogDomain::of(&model, &sequence);
        let (posterior, pairs) = (truth.posterior().unwrap(), truth.pairs().unwrap());
        for (answers, tolerance) in [
            (ask::<f64>("rare", &model, &sequence).unwrap(), 1e-10),
            (ask::<f32>("rare", &model, &sequence).unwrap(), 1e-3),
        ] {
            // A transition of 1e-42 is itself rounded to 0.1 per cent in f32.
            close(answers.log_likelihood, truth.log_likelihood(), tolerance, "log-likelihood");
            all_close(&answers.posterior, &posterior, tolerance, "posterior");
            all_close(&answers.pairs, &pairs, tolerance, "pairs");
            assert_eq!(answers.path, truth.viterbi().unwrap().0);
        }
    }
}

#[test]
fn a_long_gap_does_not_underflow() {
    const N: usize = 16;
    let chain = Chain::<f32, N>::new([1.0 / 16.0; N], [[1.0 / 16.0; N]; N]).unwrap();
    let hmm = Hmm::new(chain, [Categorical::<2>::new([0.5, 0.5]).unwrap(); N]);
    let mut state = Survivors::NEW;
    for gap in 1..=3000_u32 {
        Viterbi::of(&hmm).push_missing(&mut state);
        let expected = -f64::from(gap) * 16_f64.ln();
        close(state.log().into(), expected, 1e-6, "log-probability of one of 16^t paths");
    }
}

/// The largest difference of two numbers that are not far apart in size.
fn largest_difference<const N: usize>(single: &[[f32; N]], double: &[[f64; N]]) -> f64 {
    let pairs = single.iter().flatten().zip(double.iter().flatten());
    pairs.map(|(&s, &d)| (f64::from(s) - d).abs()).fold(0.0, f64::max)
}

#[test]
fn long_sequences_in_single_precision() {
    const T: usize = 100_000;
    for topology in [Topology::Ergodic, Topology::Sparse] {
        let mut sampler = Sampler::new(7);
        let model = sampler.categorical(topology, 4, 4);
        let sequence = sampler.sequence(&model, T, 0.01);
        let single = padded::<f32, Categorical<4, f32>, 4>(&model).unwrap();
        let double = padded::<f64, Categorical<4, f64>, 4>(&model).unwrap();
        let symbols = samples::<f32, Categorical<4, f32>>(&sequence).unwrap();

        let (rows, pairs, log) = smoothed(&single, &symbols).unwrap();
        let (rows64, pairs64, log64) = smoothed(&double, &symbols).unwrap();
        close(log.into(), log64, 1e-6, "log-likelihood");
        let error = largest_difference(&rows, &rows64);
        assert!(error < 3e-6, "posteriors off by {error:e}");
        for row in &rows {
            let sum: f64 = row.iter().map(|&p| f64::from(p)).sum();
            assert!((sum - 1.0).abs() < 3e-6, "a posterior that sums to {sum}");
        }
        let error = largest_difference(&pairs, &pairs64) / T as f64;
        assert!(error < 1e-6, "pairs off by {error:e} a sample");
        let total: f64 = pairs.iter().flatten().map(|&p| f64::from(p)).sum();
        close(total, (T - 1) as f64, 1e-5, "all pairs");
        checkpointed_is_plain(&single, &symbols, &rows, &pairs, log).unwrap();

        let observations = || symbols.iter().map(Option::as_ref);
        let (mut back, mut path) = (vec![[0_u8; 4]; T], vec![0_u8; T]);
        let log = viterbi(&single, observations(), &mut back, &mut path).unwrap();
        let mut path64 = vec![0_u8; T];
        let log64 = viterbi(&double, observations(), &mut back, &mut path64).unwrap();
        close(log.into(), log64, 1e-6, "log-probability of the best path");
        let states: Vec<usize> = path.iter().copied().map(usize::from).collect();
        close(model.log_joint(&states, &sequence), log64, 1e-6, "the path has the probability");
        wide_window_decodes_the_path(&single, &symbols, &path, log);
    }
}

/// SplitMix64: enough of a generator, and any that implements the trait will do.
struct SplitMix(u64);

impl TryRng for SplitMix {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|bits| (bits >> 32) as u32)
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok(bits ^ (bits >> 31))
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let bits = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&bits[..chunk.len()]);
        }
        Ok(())
    }
}

/// Counts of `draws` independent events of probability `p` lie within five standard deviations.
fn counted(count: usize, draws: usize, p: f64, what: &str) {
    let (draws, count) = (draws as f64, count as f64);
    let spread = (draws * p * (1.0 - p)).sqrt();
    assert!((count - draws * p).abs() <= 5.0 * spread, "{what}: {count} of {draws}, expected {p}");
}

#[test]
fn draws_have_the_frequencies_of_the_model() {
    for (seed, topology) in TOPOLOGIES.into_iter().enumerate() {
        let model = Sampler::new(seed as u64).categorical(topology, 3, 4);
        let hmm = padded::<f32, Categorical<4, f32>, 4>(&model).unwrap();
        let mut transitions = [[0_usize; 4]; 4];
        let mut emissions = [[0_usize; 4]; 4];
        let mut initial = [0_usize; 4];
        let mut rng = SplitMix(seed as u64);
        for _ in 0..2_000 {
            let mut before = None;
            for draw in Ancestral::of(&hmm, &mut rng).take(20) {
                match before {
                    None => initial[draw.state] += 1,
                    Some(before) => transitions[before][draw.state] += 1,
                }
                emissions[draw.state][draw.observation] += 1;
                before = Some(draw.state);
            }
        }
        for (state, &count) in initial.iter().take(3).enumerate() {
            counted(count, 2_000, model.initial[state], "initial");
        }
        for from in 0..3 {
            let draws: usize = transitions[from].iter().sum();
            for to in 0..3 {
                counted(transitions[from][to], draws, model.transition[from][to], "transition");
            }
            let draws: usize = emissions[from].iter().sum();
            let law = hmm.emission()[from].probability();
            for (symbol, &p) in law.iter().enumerate() {
                counted(emissions[from][symbol], draws, p.into(), "emission");
            }
        }
        assert_eq!(initial[3] + transitions.iter().map(|row| row[3]).sum::<usize>(), 0, "padding");
    }
}

#[test]
fn normal_draws_are_normal() {
    const DRAWS: usize = 40_000;
    let (mean, variance) = ([3.0, -20.0, 0.5], [4.0, 0.25, 1.0]);
    let gaussian = Gaussian::<3, f64>::new(mean, variance).unwrap();
    let mut rng = SplitMix(3);
    let drawn: Vec<[f64; 3]> = (0..DRAWS).map(|_| gaussian.sample(&mut rng)).collect();
    let z = |x: &[f64; 3], d: usize| (x[d] - mean[d]) / variance[d].sqrt();
    for d in 0..3 {
        // The normal distribution at -2, -1, ..., 2.
        for (at, p) in
            [(-2.0, 0.022_750), (-1.0, 0.158_655), (0.0, 0.5), (1.0, 0.841_345), (2.0, 0.977_250)]
        {
            counted(drawn.iter().filter(|x| z(x, d) < at).count(), DRAWS, p, "quantile");
        }
        for e in 0..d {
            let correlation: f64 =
                drawn.iter().map(|x| z(x, d) * z(x, e)).sum::<f64>() / DRAWS as f64;
            assert!(correlation.abs() < 5.0 / (DRAWS as f64).sqrt(), "{correlation}");
        }
    }
}

#[test]
fn a_drawn_path_scores_no_more_than_the_best() {
    let model = Sampler::new(9).model(Topology::Ergodic, 3, |s| s.gaussian_law(2, 2.0));
    let hmm = padded::<f64, Gaussian<3, f64>, 4>(&model).unwrap();
    let mut rng = SplitMix(11);
    for _ in 0..50 {
        let draws: Vec<_> = Ancestral::of(&hmm, &mut rng).take(30).collect();
        let (mut back, mut path) = (vec![[0_u8; 4]; 30], vec![0_u8; 30]);
        let observations = draws.iter().map(|draw| Some(&draw.observation));
        let best = viterbi(&hmm, observations, &mut back, &mut path).unwrap();
        let sequence: Sequence = draws
            .iter()
            .map(|draw| {
                let channels = draw.observation[..2].to_vec();
                Some(Observation::Channels(channels))
            })
            .collect();
        let states: Vec<usize> = draws.iter().map(|draw| draw.state).collect();
        // The padded third channel is drawn, and has its own density in `best`.
        let padding: f64 =
            draws.iter().map(|draw| std::f64::consts::PI * draw.observation[2].powi(2)).sum();
        assert!(model.log_joint(&states, &sequence) - padding <= best + 1e-9);
    }
}

#[test]
fn the_forward_recursion_over_max_is_viterbis() {
    let model = Sampler::new(5).categorical(Topology::Ergodic, 4, 4);
    let hmm = padded::<f64, Categorical<4, f64>, 4>(&model).unwrap();
    let mut viterbi = Running::new(Viterbi::of(&hmm));
    let mut belief: [Max<f64>; 4] = hmm.chain().begin();
    for (time, x) in [2, 0, 1, 3, 3, 0, 1].into_iter().enumerate() {
        if time > 0 {
            belief = hmm.chain().predict(&belief);
        }
        for (entry, law) in belief.iter_mut().zip(hmm.emission()) {
            entry.0 *= law.probability()[x];
        }
        viterbi.push(&x).unwrap();
        assert_eq!(viterbi.state().row(), &belief);
    }
}
