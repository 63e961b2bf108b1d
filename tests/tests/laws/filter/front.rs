//! Front ends: the laws of a stream, and after every prefix what the recursion reads of rows that are written down by
//! definition.

use fishweir_core::ObservationError;
use fishweir_core::emission::{Categorical, Gaussian};
use fishweir_core::filter::{Forward, Stream, Streaming};
use fishweir_core::front::{
    Decimate, Front, Magnitude, Pipe, Preprocessed, Slopes, SlopesState, VectorQuantiser,
};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_tests::checks::after;
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::sample::Sampler;
use proptest::prelude::*;

const GROUP: [bool; 4] = [false, true, true, false];

fn hmm() -> Hmm<Gaussian<3, f64>, 2> {
    let state = |mean: f64, spread: f64| Gaussian::new([mean; 3], [spread; 3]).expect("a state");
    Hmm::new(
        Chain::<f64, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]]).expect("a chain"),
        [state(0.0, 1.0), state(0.5, 2.0)],
    )
}

fn norms(x: &[f64; 4]) -> [f64; 3] {
    [x[0], x[1].hypot(x[2]), x[3]]
}

/// Means of those observed of each so many; what does not fill a row is none.
fn means<const D: usize>(samples: &[Option<[f64; D]>], every: usize) -> Vec<Option<[f64; D]>> {
    let mean = |row: &[Option<[f64; D]>]| {
        let there: Vec<&[f64; D]> = row.iter().flatten().collect();
        let sum = |d: usize| there.iter().map(|x| x[d]).sum::<f64>();
        (!there.is_empty()).then(|| std::array::from_fn(|d| sum(d) / there.len() as f64))
    };
    samples.chunks_exact(every).map(mean).collect()
}

fn laws<F>(
    front: F,
    samples: &[Option<[f64; 4]>],
    rows: impl Fn(&[Option<[f64; 4]>]) -> Vec<Option<[f64; 3]>>,
) where
    F: Front<[f64; 3], Sample = [f64; 4], State: PartialEq + std::fmt::Debug> + Copy,
{
    let hmm = hmm();
    let fronted = Preprocessed::new(front, Forward::of(&hmm));
    let read = |prefix: &[Option<[f64; 4]>]| after(Forward::of(&hmm), rows(prefix)).read();
    let near = |read: f64, wanted: f64| {
        assert!((read - wanted).abs() <= 1e-12 * wanted.abs().max(1.0), "{read} {wanted}");
    };
    let all: Vec<Option<&[f64; 4]>> = samples.iter().map(Option::as_ref).collect();
    let odd = [[f64::NAN, 0.0, 0.0, 0.0], [0.0, 0.0, f64::INFINITY, 0.0]];
    let refused =
        check(&fronted, Trial { samples: &all, refusable: &[&odd[0], &odd[1]] }, |prefix, now| {
            near(now, read(&prefix.iter().map(|x| x.copied()).collect::<Vec<_>>()));
        });
    assert_eq!(refused, 2 * (samples.len() + 1), "every odd sample is refused");
    // What is no sample is refused, and missing.
    let mut stream = Stream::new(&fronted);
    let mut taken = Vec::new();
    for (t, x) in samples.iter().enumerate() {
        if t % 3 == 1 {
            let odd = [[f64::NAN, 0.0, 0.0, 0.0], [0.0, 0.0, f64::INFINITY, 0.0]][t % 2];
            assert_eq!(stream.push(&odd), Err(ObservationError::NotFinite));
            taken.push(None);
        } else {
            taken.push(*x);
            match x {
                Some(x) => stream.push(x).expect("a sample"),
                None => stream.push(None).expect("a sample"),
            }
        }
        near(stream.read(), read(&taken));
    }
}

proptest! {
    #[test]
    fn laws_and_definitions_at_every_prefix(
        seed: u64, length in 0_usize..=24, gaps in 0_u64..4, every in 1_u32..6
    ) {
        let mut s = Sampler::new(seed);
        let samples: Vec<Option<[f64; 4]>> = (0..length)
            .map(|_| {
                let x = std::array::from_fn(|d| (1.0 + d as f64) * s.normal());
                (gaps == 0 || s.normal() < 1.0 - gaps as f64 / 2.0).then_some(x)
            })
            .collect();
        let several = every as usize;
        laws(Magnitude::<4, 3, f64>::new(GROUP), &samples, |prefix| {
            prefix.iter().map(|x| x.as_ref().map(norms)).collect()
        });
        let both = Pipe::new(Magnitude::<4, 3, f64>::new(GROUP), Decimate::<3, f64>::new(every));
        laws(both, &samples, |prefix| {
            let norms: Vec<_> = prefix.iter().map(|x| x.as_ref().map(norms)).collect();
            means(&norms, several)
        });
        let other = Pipe::new(Decimate::<4, f64>::new(every), Magnitude::<4, 3, f64>::new(GROUP));
        laws(other, &samples, |prefix| {
            means(prefix, several).iter().map(|x| x.as_ref().map(norms)).collect()
        });
    }
}

/// What refuses every row that is there.
struct Refusing;

impl Streaming for Refusing {
    type Observation = [f64; 1];
    type State = u32;
    type Reading = u32;

    fn initial_state(&self) -> u32 {
        0
    }

    fn step(&self, _: &mut u32, _: &[f64; 1]) -> Result<(), ObservationError> {
        Err(ObservationError::Impossible)
    }

    fn step_missing(&self, missing: &mut u32) {
        *missing += 1;
    }

    fn read(&self, missing: &u32) -> u32 {
        *missing
    }
}

#[test]
fn a_refused_row_is_missing_and_does_not_come_again() {
    let fronted = Preprocessed::new(Decimate::<1, f64>::new(2), Refusing);
    let mut state = fronted.initial_state();
    for missing in 1..=3 {
        fronted.step(&mut state, &[1.0]).expect("no row yet");
        assert_eq!(fronted.step(&mut state, &[2.0]), Err(ObservationError::Impossible));
        assert_eq!(fronted.read(&state), missing);
    }
    fronted.step(&mut state, &[3.0]).expect("no row yet");
    fronted.step_missing(&mut state);
    assert_eq!(fronted.read(&state), 4);
}

/// Time passes once at a refused sample, before a front end as behind it.
#[test]
fn what_is_pushed_or_missing_is_missing_once() {
    let fronted = Preprocessed::new(Decimate::<1, f64>::new(1), Refusing);
    let (mut behind, mut before) = (Stream::new(&fronted), Stream::new(Refusing));
    for missing in 1..=3 {
        for told in [behind.push(&[1.0]), before.push(&[1.0])] {
            assert_eq!(told, Err(ObservationError::Impossible));
        }
        assert_eq!((behind.read(), before.read()), (missing, missing));
    }
}

/// One sample that no norm is finite of spoils its mean alone, wherever it is in it.
#[test]
fn a_bad_sample_spoils_one_row() {
    let hmm = Hmm::new(
        Chain::<f64, 1>::new([1.0], [[1.0]]).expect("a chain"),
        [Gaussian::<1, f64>::new([0.0], [1.0]).expect("a state")],
    );
    let front = Pipe::new(Decimate::<2, f64>::new(3), Magnitude::<2, 1, f64>::new([true; 2]));
    let fronted = Preprocessed::new(front, Forward::of(&hmm));
    for bad in 0..3 {
        let mut state = fronted.initial_state();
        let samples = (0..9).map(|t| if t == 3 + bad { [1e200; 2] } else { [3.0, 4.0] });
        let refused: Vec<usize> = samples
            .enumerate()
            .filter_map(|(t, x)| fronted.step(&mut state, &x).is_err().then_some(t))
            .collect();
        assert_eq!(refused, [5]);
        let rows = after(Forward::of(&hmm), [Some([5.0]), None, Some([5.0])]);
        assert_eq!(fronted.read(&state), rows.read());
    }
}

#[test]
fn a_sum_past_the_largest_number_is_refused_before_it_is_kept() {
    let hmm = Hmm::new(
        Chain::<f32, 1>::new([1.0], [[1.0]]).expect("a chain"),
        [Gaussian::<1, f32>::new([0.0], [1.0]).expect("a state")],
    );
    let fronted = Preprocessed::new(Decimate::<1>::new(3), Forward::of(&hmm));
    let mut state = fronted.initial_state();
    fronted.step(&mut state, &[3e38]).expect("finite");
    assert_eq!(fronted.step(&mut state, &[3e38]), Err(ObservationError::NotFinite));
    // The second is missing: a mean of two.
    fronted.step(&mut state, &[4.0 - 3e38]).expect("a row");
    let rows = after(Forward::of(&hmm), [Some([0.5 * (3e38 + (4.0 - 3e38))])]);
    assert_eq!(fronted.read(&state), rows.read());
}

proptest! {
    /// Symbols by definition, in numbers of their own; what is no sample is refused, and a missing symbol.
    #[test]
    fn words_are_the_nearest_at_every_prefix(
        seed: u64, length in 0_usize..=24, every in 1_u32..4
    ) {
        let mut s = Sampler::new(seed);
        let words: [[f64; 2]; 5] = std::array::from_fn(|_| std::array::from_fn(|_| 3.0 * s.normal()));
        let weights = [1.0, 0.25];
        let nearest = |x: &[f64; 2]| -> usize {
            let far = |word: &[f64; 2]| {
                weights.iter().zip(x.iter().zip(word)).map(|(w, (x, c))| w * (x - c).powi(2)).sum()
            };
            let distances: Vec<f64> = words.iter().map(far).collect();
            (0..5).min_by(|&a, &b| distances[a].total_cmp(&distances[b])).expect("words")
        };
        let row = |s: &mut Sampler| {
            Categorical::<5, f64>::new(s.probabilities(5).try_into().expect("five")).expect("a state")
        };
        let hmm = Hmm::new(
            Chain::<f64, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]]).expect("a chain"),
            [row(&mut s), row(&mut s)],
        );
        let samples: Vec<Option<[f64; 2]>> = (0..length)
            .map(|t| (t % 5 != 3).then(|| std::array::from_fn(|_| 3.0 * s.normal())))
            .collect();
        let quantiser = VectorQuantiser::<2, 5, f64>::new(weights, words).expect("words");
        let means_first = Pipe::new(Decimate::<2, f64>::new(every), quantiser);
        let fronted = Preprocessed::new(means_first, Forward::of(&hmm));
        let wanted = |prefix: &[Option<[f64; 2]>]| {
            let rows = means(prefix, every as usize);
            after(Forward::of(&hmm), rows.iter().map(|row| row.as_ref().map(nearest))).read()
        };
        let all: Vec<Option<&[f64; 2]>> = samples.iter().map(Option::as_ref).collect();
        let odd = [[f64::NAN, 0.0], [0.0, f64::NEG_INFINITY]];
        let trial = Trial { samples: &all, refusable: &[&odd[0], &odd[1]] };
        let refused = check(&fronted, trial, |prefix, now| {
            let prefix: Vec<_> = prefix.iter().map(|x| x.copied()).collect();
            assert_eq!(now, wanted(&prefix));
        });
        assert_eq!(refused, 2 * (samples.len() + 1), "every odd sample is refused");
        let alone = Preprocessed::new(quantiser, Forward::of(&hmm));
        let mut stream = Stream::new(&alone);
        for bad in [[f64::NAN, 0.0], [0.0, f64::INFINITY], [1e200, 0.0]] {
            assert_eq!(stream.push(&bad), Err(ObservationError::NotFinite));
        }
        assert_eq!(stream.read(), after(Forward::of(&hmm), [None::<usize>, None, None]).read());
    }
}

/// The first of words as near, and none that is no number: the checks name what is wrong.
#[test]
fn equally_near_words_are_the_first_and_bad_ones_are_named() {
    use fishweir_core::front::nearest_word;
    let words: [&[f32]; 3] = [&[2.0], &[0.0], &[2.0]];
    assert_eq!(nearest_word(&[1.0], words.into_iter(), &[1.0]), Ok(0));
    assert_eq!(nearest_word(&[1.0], words.into_iter(), &[5.0]), Ok(0));
    assert_eq!(nearest_word(&[1.0], words.into_iter(), &[0.5]), Ok(1));
    assert_eq!(
        nearest_word(&[1.0], words.into_iter(), &[f32::MAX]),
        Err(ObservationError::NotFinite)
    );
    let wrong = |weights, words| VectorQuantiser::<2, 2>::new(weights, words).expect_err("refused");
    let error = wrong([1.0, 0.0], [[0.0; 2]; 2]);
    assert_eq!((error.row, error.entry), (0, 1));
    let error = wrong([1.0, 1.0], [[0.0; 2], [f32::NAN, 0.0]]);
    assert_eq!((error.row, error.entry), (2, 0));
}

/// The line of least squares through the last samples, by its normal equations; a missing sample is as the one before
/// it, those before the first as the first.
fn slopes_by_definition<const K: usize>(prefix: &[Option<[f64; 1]>]) -> Vec<Option<[f64; 3]>> {
    let Some(first) = prefix.iter().flatten().next() else { return vec![None; prefix.len()] };
    let mut last = *first;
    let there: Vec<[f64; 1]> =
        prefix.iter().map(|x| *x.as_ref().inspect(|x| last = **x).unwrap_or(&last)).collect();
    let n = (K + 1) as f64;
    let row = |t: usize| {
        let back = |k: usize| t.checked_sub(k).map_or(first[0], |at| there[at][0]);
        let line: Vec<(f64, f64)> = (0..=K).map(|k| (-(k as f64), back(k))).collect();
        let sum = |f: &dyn Fn(f64, f64) -> f64| line.iter().map(|&(at, x)| f(at, x)).sum::<f64>();
        let (at, x) = (sum(&|at, _| at) / n, sum(&|_, x| x) / n);
        let slope = sum(&|a, b| (a - at) * (b - x)) / sum(&|a, _| (a - at) * (a - at));
        [there[t][0], slope, 0.0]
    };
    prefix.iter().enumerate().map(|(t, x)| x.as_ref().map(|_| row(t))).collect()
}

/// A channel and its slope, and a third that stays.
#[derive(Clone, Copy)]
struct First<F>(F);

impl<F: Front<[f64; 2], Sample = [f64; 1]>> Front<[f64; 3]> for First<F> {
    type Sample = [f64; 4];
    type State = F::State;

    fn initial_state(&self) -> F::State {
        self.0.initial_state()
    }

    fn step(
        &self,
        state: &mut F::State,
        x: Option<&[f64; 4]>,
        hear: impl FnOnce(Option<&[f64; 3]>),
    ) -> Result<(), ObservationError> {
        // What is no number in any channel is none in the first.
        let first = x.map(|x| [x.iter().fold(x[0], |first, x| first + 0.0 * x)]);
        self.0.step(state, first.as_ref(), |row| {
            hear(row.map(|&[level, slope]| [level, slope, 0.0]).as_ref());
        })
    }
}

proptest! {
    #[test]
    fn slopes_are_those_of_least_squares_at_every_prefix(
        seed: u64, length in 0_usize..=24, gaps in 0_u64..4
    ) {
        let mut s = Sampler::new(seed);
        let samples: Vec<Option<[f64; 4]>> = (0..length)
            .map(|_| (gaps == 0 || s.normal() < 1.0 - gaps as f64 / 2.0).then(|| [s.normal(); 4]))
            .collect();
        let first = |prefix: &[Option<[f64; 4]>]| -> Vec<Option<[f64; 1]>> {
            prefix.iter().map(|x| x.map(|x| [x[0]])).collect()
        };
        laws(First(Slopes::<1, 1, f64>::new()), &samples, |prefix| {
            slopes_by_definition::<1>(&first(prefix))
        });
        laws(First(Slopes::<1, 6, f64>::new()), &samples, |prefix| {
            slopes_by_definition::<6>(&first(prefix))
        });
    }
}

/// A level far above what varies takes nothing from a slope, and one past the largest number is refused.
#[test]
fn a_slope_sees_no_level_and_no_number_too_large() {
    let slopes = Slopes::<1, 4>::new();
    let mut state = SlopesState::NEW;
    let mut last = [0.0; 2];
    for t in 0..6_i16 {
        let x = [16_777_216.0 + 2.0 * f32::from(t)];
        slopes
            .step(&mut state, Some(&x), |row: Option<&[f32; 2]>| last = *row.expect("a row"))
            .expect("finite");
    }
    assert_eq!(last[1], 2.0);
    let mut heard = false;
    let told =
        slopes.step(&mut state, Some(&[-3e38]), |row: Option<&[f32; 2]>| heard = row.is_some());
    assert_eq!((told, heard), (Err(ObservationError::NotFinite), false));
    // It was as a missing one: the last before it stands for it, the row after it is whole.
    slopes.step(&mut state, None, |row: Option<&[f32; 2]>| heard = row.is_some()).expect("missing");
    assert!(!heard);
    slopes
        .step(&mut state, Some(&[16_777_226.0]), |row: Option<&[f32; 2]>| {
            last = *row.expect("a row")
        })
        .expect("one");
    assert_eq!(last, [16_777_226.0, 0.4]);
}
