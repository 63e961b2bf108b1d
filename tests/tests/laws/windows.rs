//! Windows around every classifier: each decision is that of a fresh stream over its window, bit for bit.
//!
//! The windows come from a second schedule, written from the definition: windows begin at samples 0, `hop`, `2 hop`, ...
//! of a grid, and a given sample after more than the longest gap begins a new grid. Each classifier is put through
//! windows that follow one another, that lie apart and that overlap, over streams with missing samples, gaps and refused
//! samples.

mod machines;

use std::borrow::Borrow;
use std::fmt::Debug;

use fishweir_core::classify::{
    Codebooks, Normalisation, StaggeredStates, StreamClassifier, WindowClassifier, WithCodebooks,
};
use fishweir_core::contract::{Contract, Windows, WindowsError};
use fishweir_core::emission::{Autoregressive, Categorical, Gaussian};
use fishweir_core::filter::{Stream, Streaming};
use fishweir_core::front::{
    Cepstra, Decimate, Magnitude, Pipe, Preprocessed, Slopes, VectorQuantiser,
};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::lagged::{LagFeatures, Lookback};
use fishweir_core::number::Real;
use fishweir_tests::build::{Family, Task, coordinates, direction, dispatch, padded};
use fishweir_tests::laws::starts_as_constant;
use fishweir_tests::oracle::{self, Law, Model};
use fishweir_tests::sample::{Sampler, Topology};
use proptest::prelude::*;

use crate::filter::{codebooks, refusable};

/// What a trial saw, so that a test can insist on some of each.
#[derive(Default)]
struct Seen {
    decisions: usize,
    refused: usize,
    restarts: usize,
}

/// Takes in a sample; false where it is refused.
fn take<C: Streaming>(classifier: &C, state: &mut C::State, x: Option<&C::Observation>) -> bool {
    match x {
        Some(x) => classifier.push(state, Some(x)).is_ok(),
        None => {
            classifier.step_missing(state);
            true
        }
    }
}

/// After each sample: a fresh stream over the oldest window that is open, and whether the sample fills the window.
fn schedule<C: Streaming>(
    classifier: &C,
    windows: &Windows,
    samples: &[Option<&C::Observation>],
    seen: &mut Seen,
) -> Vec<Option<(C::State, bool)>> {
    let [length, hop, longest] =
        [windows.length, windows.hop, windows.longest_gap].map(|samples| samples as usize);
    let (mut grid, mut gap) = (0, 0);
    let mut open: Vec<(usize, C::State)> = Vec::new();
    let mut after = |(t, x): (usize, &Option<&C::Observation>)| {
        if gap > longest {
            open.clear();
            if x.is_none() {
                return None;
            }
            // Refused, it is one more missing sample of the gap.
            if !take(classifier, &mut classifier.initial_state(), *x) {
                seen.refused += 1;
                return None;
            }
            (grid, seen.restarts) = (t, seen.restarts + 1);
        }
        if (t - grid).is_multiple_of(hop) {
            open.push((t, classifier.initial_state()));
        }
        let refuses = |(_, state): &mut (usize, C::State)| !take(classifier, state, *x);
        let refused = open.iter_mut().map(refuses).filter(|refused| *refused).count();
        seen.refused += refused;
        let taken = x.is_some() && (open.is_empty() || refused < open.len());
        gap = if taken { 0 } else { gap + 1 };
        let (start, oldest) = open.first()?.clone();
        let ends = t + 1 - start == length;
        if ends {
            open.remove(0);
        }
        Some((oldest, ends))
    };
    samples.iter().enumerate().map(&mut after).collect()
}

/// The laws around a classifier, for windows that take `STATES` states.
fn on_windows<C, const STATES: usize>(
    classifier: &C,
    windows: Windows,
    samples: &[Option<&C::Observation>],
    seen: &mut Seen,
) where
    C: Streaming<State: PartialEq + Debug, Reading: Debug>,
{
    let contract = Contract { windows: Some(windows), ..Contract::NONE };
    let own = WindowClassifier::<_, STATES>::new(classifier, &contract).expect("windows");
    let schedule = schedule(classifier, &windows, samples, seen);
    let what = |t: usize| format!("after sample {t}, {windows:?}");
    if windows.longest_gap == u32::MAX {
        let last = |n: usize| n * windows.hop as usize + windows.length as usize - 1;
        let cut: Vec<usize> = (0..).map(last).take_while(|&end| end < samples.len()).collect();
        let ends = |t: &usize| schedule[*t].as_ref().is_some_and(|(_, ends)| *ends);
        assert_eq!((0..samples.len()).filter(ends).collect::<Vec<_>>(), cut, "{windows:?}");
    }
    let mut stream = Stream::new(own);
    let mut missing = 0;
    for (t, (x, oldest)) in samples.iter().zip(&schedule).enumerate() {
        missing = if x.is_some() { 0 } else { missing + 1 };
        let decision = stream.decide(*x);
        let ended = oldest.as_ref().filter(|(_, ends)| *ends).map(|(state, _)| state);
        assert_eq!(stream.decided(), ended, "{}", what(t));
        let reading = ended.map(|state| classifier.read(state));
        // Bit for bit: unlike equality, this tells zeros apart and takes what is no number as itself.
        assert_eq!(format!("{decision:?}"), format!("{reading:?}"), "{}", what(t));
        assert_eq!(stream.so_far(), oldest.as_ref().map(|(state, _)| state), "{}", what(t));
        let waits = missing > u64::from(windows.longest_gap) + 1;
        assert!(!waits || decision.is_none(), "a decision in a gap, {}", what(t));
        seen.decisions += usize::from(decision.is_some());
    }
    let end = stream.state().clone();

    stream.reset();
    assert_eq!(*stream.state(), own.initial_state(), "a reset state is not a new state");
    let parts = StaggeredStates::from_parts(std::array::from_fn(|_| classifier.initial_state()));
    assert_eq!(own.initial_state(), parts, "a new state is not made of new states");
    for cut in [3, samples.len()] {
        stream.reset();
        for run in samples.chunk_by(|a, b| a.is_some() == b.is_some()) {
            for block in run.chunks(cut) {
                let mut given: Vec<&C::Observation> = block.iter().copied().flatten().collect();
                if given.is_empty() {
                    block.iter().for_each(|_| stream.push(None).expect("nothing to refuse"));
                }
                // A block stops behind a sample that is refused: it is missing already.
                while let Err(stop) = stream.push_block(given.iter().copied()) {
                    given.drain(..=stop.at);
                }
            }
        }
        assert_eq!(*stream.state(), end, "blocks of {cut} are not their samples one by one");
    }
}

/// Without windows: a decision after each sample, as the classifier's own.
fn on_an_endless_stream<C>(classifier: &C, samples: &[Option<&C::Observation>])
where
    C: Streaming<State: PartialEq + Debug, Reading: Debug>,
{
    let mut endless = Stream::new(WindowClassifier::endless(classifier));
    let mut bare = classifier.initial_state();
    assert!(endless.read().is_none() && endless.decided().is_none() && endless.so_far().is_none());
    for x in samples {
        let decision = endless.decide(*x);
        take(classifier, &mut bare, *x);
        assert_eq!(endless.decided(), Some(&bare));
        assert_eq!(endless.so_far(), Some(&bare));
        assert_eq!(format!("{decision:?}"), format!("{:?}", Some(classifier.read(&bare))));
    }
}

/// Samples in a window that ends before the next begins, or with it; and in two and three that overlap, `[length, hop]`.
const APART: [[u32; 2]; 4] = [[1, 1], [4, 4], [3, 5], [1, 3]];
const TWO: [[u32; 2]; 3] = [[5, 3], [6, 3], [2, 1]];
const THREE: [[u32; 2]; 3] = [[7, 3], [6, 2], [3, 1]];

/// Puts a classifier through the laws on a random stream of `sample`s, some of them missing and some `odd`. Lengths and
/// hops are times `scale`.
fn laws<C, X>(
    s: &mut Sampler,
    scale: u32,
    classifier: &C,
    mut sample: impl FnMut(&mut Sampler) -> X,
    odd: &[X],
) where
    C: Streaming<State: PartialEq + Debug, Reading: Debug>,
    X: Borrow<C::Observation> + Clone,
{
    let mut samples: Vec<Option<X>> = Vec::new();
    let length = 45 * scale as usize;
    while samples.len() < length {
        match s.uniform(0.0, 14.0) as usize {
            0 => {
                let gap = s.uniform(1.0, 9.0 * f64::from(scale)) as usize;
                samples.extend(std::iter::repeat_n(None, gap));
            }
            1 if !odd.is_empty() => {
                samples.push(Some(odd[s.uniform(0.0, odd.len() as f64) as usize].clone()));
            }
            _ => samples.push(Some(sample(s))),
        }
    }
    // However the stream fell, there is a gap longer than one window, and what may be refused.
    samples.extend(std::iter::repeat_n(None, 8 * scale as usize));
    samples.extend(odd.iter().cloned().map(Some));
    samples.extend((0..8 * scale).map(|_| Some(sample(s))));
    let samples: Vec<Option<&C::Observation>> =
        samples.iter().map(|x| x.as_ref().map(Borrow::borrow)).collect();

    let mut choose = |shapes: &[[u32; 2]]| {
        let [length, hop] = shapes[s.uniform(0.0, shapes.len() as f64) as usize];
        let windows = Windows::of(length * scale, hop * scale);
        let longest_gap = [windows.longest_gap, 2, 0][s.uniform(0.0, 3.0) as usize];
        [u32::MAX, longest_gap].map(|longest_gap| Windows { longest_gap, ..windows })
    };
    let mut seen = Seen::default();
    let (apart, two, three) = (choose(&APART), choose(&TWO), choose(&THREE));
    for index in 0..2 {
        on_windows::<C, 1>(classifier, apart[index], &samples, &mut seen);
        on_windows::<C, 2>(classifier, two[index], &samples, &mut seen);
        on_windows::<C, 3>(classifier, three[index], &samples, &mut seen);
    }
    on_an_endless_stream(classifier, &samples);
    assert!(seen.decisions > 0 && seen.restarts > 0);
    assert!(odd.is_empty() || seen.refused > 0, "nothing was refused");
}

fn cases() -> ProptestConfig {
    ProptestConfig::with_cases(6)
}

/// Two models of a family, as likelihoods and with directions.
struct Families<'s> {
    s: &'s mut Sampler,
    models: [Model; 2],
}

impl<T: Real> Task<T> for Families<'_> {
    type Output = ();

    fn run<E: Family<T>, const N: usize>(self, _: &Hmm<E, N>) -> Result<(), String> {
        let Self { s, models } = self;
        let bank: [Hmm<E, N>; 2] = std::array::from_fn(|m| padded(&models[m]).expect("a model"));
        let one = |x: f64| T::from_f64(x);
        let plain = StreamClassifier::from_parts(
            bank,
            [[one(1.0), one(-1.0)]],
            [one(0.25)],
            Normalisation::NONE,
        );
        let moved = std::array::from_fn(|m| {
            let ways: [oracle::Direction; 2] = std::array::from_fn(|_| s.direction(&models[m]));
            let by = coordinates(&ways[0], oracle::Parametrisation::Softmax);
            let ways = ways.map(|way| direction::<T, E, N>(&way).expect("its shape"));
            bank[m].with_directions(&ways, by)
        });
        let weights = [[one(0.5), one(-0.25)], [one(-1.0), one(2.0)]];
        let along =
            StreamClassifier::from_parts(moved, weights, [one(0.0); 2], Normalisation::PER_SAMPLE);
        let odd = refusable::<T, E>(&models[0])?;
        let sample = |s: &mut Sampler| {
            let laws = &models[s.uniform(0.0, 2.0) as usize].emission;
            let law = &laws[s.uniform(0.0, laws.len() as f64) as usize];
            E::sample(&s.observation(law)).expect("its own")
        };
        laws::<_, E::Sample>(s, 1, &plain, sample, &odd);
        laws::<_, E::Sample>(s, 1, &along, sample, &odd);
        Ok(())
    }
}

fn families(seed: u64, law: impl Fn(&mut Sampler) -> Law) {
    let mut s = Sampler::new(seed);
    let models = std::array::from_fn(|_| s.model(Topology::Ergodic, 2, &law));
    let first = models[0].clone();
    let put = Families { s: &mut s, models };
    dispatch::<f32, _>(&first, put).expect("a family");
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn of_symbols(seed: u64) {
        families(seed, |s| Law::Categorical(s.sparse_probabilities(5)));
        families(seed, |s| s.mixture_law(2, |s| Law::Categorical(s.probabilities(4))));
    }

    #[test]
    fn of_channels(seed: u64) {
        families(seed, |s| s.gaussian_law(2, 2.0));
        families(seed, |s| s.full_gaussian_law(2));
        families(seed, |s| s.mixture_law(2, |s| s.gaussian_law(2, 2.0)));
    }

    #[test]
    fn of_counts(seed: u64) {
        families(seed, |s| Law::Poisson(s.row(2, 0.5, 4.0)));
        families(seed, |s| Law::Bernoulli(s.row(2, 0.1, 0.9)));
    }
}

fn chain<T: Real>() -> Chain<T, 2> {
    let row = |p: f64| [T::from_f64(p), T::from_f64(1.0 - p)];
    Chain::from_parts(row(0.5), [row(0.9), row(0.3)])
}

/// A bank of two models of `D` channels, with weights for two outputs.
fn bank<const D: usize>() -> StreamClassifier<Hmm<Gaussian<D>, 2>, 2, 2> {
    let model = |level: f32| {
        let state =
            |sign: f32| Gaussian::new([sign * level; D], [1.0 + level; D]).expect("a state");
        Hmm::new(chain(), [state(1.0), state(-1.0)])
    };
    let weights = [[1.0, -0.5], [-0.25, 1.0]];
    StreamClassifier::from_parts(
        [model(0.25), model(1.5)],
        weights,
        [0.5, 0.0],
        Normalisation::PER_SAMPLE,
    )
}

fn row<const D: usize>(s: &mut Sampler) -> [f32; D] {
    std::array::from_fn(|_| 2.0 * s.normal() as f32)
}

fn odd<const D: usize>() -> [[f32; D]; 3] {
    let first = |x: f32| std::array::from_fn(|d| if d == 0 { x } else { 0.5 });
    [first(f32::NAN), first(f32::INFINITY), first(-1e30)]
}

type Books<const O: usize> = Codebooks<[[f32; 2]; 2], O>;

/// Codebooks of two channels, over the last 16 samples.
fn books(s: &mut Sampler) -> Books<2> {
    let [first, second, _] = codebooks::vectors(s);
    let weights = std::array::from_fn(|_| {
        std::array::from_fn(|_| std::array::from_fn(|_| s.normal() as f32))
    });
    Codebooks::from_parts([1, 2], [[1.0, 0.0], [0.5, 0.25]], [first, second], weights)
}

proptest! {
    #![proptest_config(cases())]

    /// Differences at lags, the past of an autoregression, codebooks, and these around each other.
    #[test]
    fn of_the_past(seed: u64) {
        let mut s = Sampler::new(seed);
        let lagged = LagFeatures::<_, Lookback<2, 3>, 2>::from_parts(bank::<6>(), [1, 3]);
        laws(&mut s, 1, &lagged, row, &odd::<2>());
        starts_as_constant(&lagged);

        let states = |sign: f32| {
            let innovation = Gaussian::new([sign, 0.5], [1.0, 2.0]).expect("a state");
            let told = [[0.5 * sign, -0.25], [0.125, 0.0]];
            Autoregressive::<6, 2, 2>::new(innovation, [sign, 0.0], told).expect("a state")
        };
        let models = [1.0, 2.0].map(|x| Hmm::new(chain::<f32>(), [states(x), states(-0.5 * x)]));
        let bank_of = StreamClassifier::from_parts(models, [[1.0, -1.0]], [0.0], Normalisation::NONE);
        let past = LagFeatures::<_, Lookback<2, 3, true>, 2>::from_parts(bank_of, [1, 3]);
        laws(&mut s, 1, &past, row, &odd::<2>());
        starts_as_constant(&past);

        let coded = WithCodebooks::<_, Codebooks<[[f32; 2]; 2], 2>, 16>::from_parts(bank::<2>(), books(&mut s));
        laws(&mut s, 5, &coded, row, &odd::<2>());
        starts_as_constant(&coded);
        let both = WithCodebooks::<_, Codebooks<[[f32; 2]; 2], 2>, 16>::from_parts(lagged, books(&mut s));
        laws(&mut s, 5, &both, row, &odd::<2>());
        starts_as_constant(&both);
        let behind = Preprocessed::new(Decimate::<2>::new(2), both);
        laws(&mut s, 8, &behind, row, &odd::<2>());
        starts_as_constant(&behind);

        // Levels besides, in `f64`.
        let (vectors, weights) = (codebooks::vectors(&mut s), codebooks::weights(&mut s));
        let (levels, above) = codebooks::steps(&mut s);
        let books = Codebooks::from_parts(codebooks::DILATIONS, codebooks::SCALES, vectors, weights);
        let levelled = codebooks::Classifier::from_parts(codebooks::bank(), books.with_levels(levels, above));
        let wide = |s: &mut Sampler| [s.normal(), 3.0 * s.normal()];
        laws(&mut s, 6, &levelled, wide, &[[f64::NAN, 0.0], [0.0, f64::INFINITY]]);
        starts_as_constant(&levelled);
    }

    #[test]
    fn behind_front_ends(seed: u64) {
        let mut s = Sampler::new(seed);
        let decimated = Preprocessed::new(Decimate::<2>::new(3), bank::<2>());
        laws(&mut s, 2, &decimated, row, &odd::<2>());
        starts_as_constant(&decimated);
        let norms = Preprocessed::new(Magnitude::<3, 2>::new([true, true, false]), bank::<2>());
        laws(&mut s, 1, &norms, row, &odd::<3>()[..2]);
        starts_as_constant(&norms);
        let slopes = Preprocessed::new(Slopes::<1, 3>::new(), bank::<2>());
        laws(&mut s, 1, &slopes, row, &odd::<1>()[..2]);
        starts_as_constant(&slopes);
        let lagged = LagFeatures::<_, Lookback<2, 3>, 2>::from_parts(bank::<6>(), [1, 2]);
        let both = Pipe::new(Magnitude::<3, 2>::new([true, true, false]), Decimate::<2>::new(2));
        laws(&mut s, 2, &Preprocessed::new(both, lagged), row, &odd::<3>()[..2]);

        let words = VectorQuantiser::<2, 4>::new(
            [1.0, 0.5],
            [[0.0, 0.0], [1.0, 1.0], [-2.0, 0.0], [0.0, 3.0]],
        );
        let law = |p: [f32; 4]| Categorical::<4>::from_parts(p);
        let model = |p| Hmm::new(chain::<f32>(), [law(p), law([0.25; 4])]);
        let models = [model([0.5, 0.25, 0.25, 0.0]), model([0.125, 0.125, 0.25, 0.5])];
        let symbols = StreamClassifier::from_parts(models, [[1.0, -1.0]], [0.0], Normalisation::NONE);
        let quantised = Preprocessed::new(words.expect("words"), symbols);
        laws(&mut s, 1, &quantised, row, &odd::<2>()[..2]);
        starts_as_constant(&quantised);
    }
}

/// Frames of 128 samples in windows of 40 to 280.
#[test]
fn behind_cepstra() {
    let mut s = Sampler::new(5);
    let front = Cepstra::<64, 10, 4>::new(32, 8000.0).expect("settings");
    let cepstra = Preprocessed::new(front, bank::<4>());
    laws(&mut s, 40, &cepstra, row, &odd::<1>()[..2]);
}

#[test]
fn states_are_those_that_the_windows_take() {
    let fixed = bank::<1>();
    let contract = Contract { windows: Some(Windows::of(7, 3)), ..Contract::NONE };
    let error = WindowClassifier::<_, 2>::new(&fixed, &contract).expect_err("one too few");
    assert_eq!(error, WindowsError::States { wanted: 3, found: 2 });
    let error = WindowClassifier::<_, 2>::new(&fixed, &Contract::NONE).expect_err("one too many");
    assert_eq!(error, WindowsError::States { wanted: 1, found: 2 });
    for (length, hop, error) in
        [(0, 1, WindowsError::Length), (1, 0, WindowsError::Hop), (1, u32::MAX, WindowsError::Hop)]
    {
        let contract = Contract { windows: Some(Windows::of(length, hop)), ..Contract::NONE };
        assert_eq!(WindowClassifier::<_, 1>::new(&fixed, &contract).expect_err("refused"), error);
    }
}
