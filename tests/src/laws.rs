//! The laws of a stream: what every recursion promises, whatever it computes.
//!
//! 1. a block is its samples pushed one by one;
//! 2. a reset state is a new state;
//! 3. on an error, `push` leaves the state after a missing sample; `step` does too, or where the recursion rolls back
//!    leaves the state unchanged;
//! 4. after every prefix the reading is the batch computation's of that prefix.

use std::fmt::Debug;

use fishweir_core::classify::ConstStart;
use fishweir_core::filter::{BlockError, Stream, Streaming};

/// What to put a recursion through.
#[derive(Debug)]
pub struct Trial<'x, X: ?Sized> {
    /// Samples that the recursion takes, `None` where one is missing.
    pub samples: &'x [Option<&'x X>],
    /// Observations some of which it must refuse wherever they come: impossible ones, and what is no
    /// observation at all.
    pub refusable: &'x [&'x X],
}

impl<X: ?Sized> Clone for Trial<'_, X> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<X: ?Sized> Copy for Trial<'_, X> {}

/// A state that is known before there is a model is the model's own.
///
/// # Panics
/// Where it is another.
pub fn starts_as_constant<R>(recursion: &R)
where
    R: Streaming<State: ConstStart + PartialEq + Debug>,
{
    assert_eq!(recursion.initial_state(), R::State::START);
}

/// Checks the four laws of a recursion on a trial.
///
/// `batch` gets every prefix, the empty one first, and the recursion's reading after it, and panics
/// where they disagree. The first three laws are checked of the whole state, bit for bit.
///
/// Returns how many observations were refused, so that a test can insist on some.
///
/// # Panics
/// Where a law is broken, or a sample of the trial is refused.
pub fn check<R>(
    recursion: R,
    trial: Trial<'_, R::Observation>,
    mut batch: impl FnMut(&[Option<&R::Observation>], R::Reading),
) -> usize
where
    R: Streaming<State: PartialEq + Debug> + Copy,
{
    let mut refusals = 0;
    let mut stream = Stream::new(recursion);
    for t in 0..=trial.samples.len() {
        batch(&trial.samples[..t], stream.read());
        refusals += refused_samples_are_missing(&recursion, stream.state(), trial.refusable, t);
        if let Some(&x) = trial.samples.get(t) {
            stream.push(x).unwrap_or_else(|error| panic!("sample {t} refused: {error}"));
        }
    }
    let end = stream.state().clone();

    stream.reset();
    assert_eq!(*stream.state(), recursion.initial_state(), "a reset state is not a new state");
    for cut in [1, 2, 3, 7, trial.samples.len().max(1)] {
        stream.reset();
        push_in_blocks(&mut stream, trial.samples, cut);
        assert_eq!(*stream.state(), end, "blocks of {cut} are not their samples one by one");
    }
    block_stops_at_refusal(recursion, trial);
    refusals
}

/// Law 3, after `t` samples.
fn refused_samples_are_missing<R>(
    recursion: &R,
    state: &R::State,
    refusable: &[&R::Observation],
    t: usize,
) -> usize
where
    R: Streaming<State: PartialEq + Debug>,
{
    let refused = |x: &&&R::Observation| {
        let mut trying = state.clone();
        let refused = recursion.step(&mut trying, x).is_err();
        let (mut missing, mut passed) = (state.clone(), state.clone());
        recursion.step_missing(&mut missing);
        let expected = if R::ROLLS_BACK { state } else { &missing };
        assert!(!refused || trying == *expected, "after {t} samples an error changed {state:?}");
        let again = recursion.push(&mut passed, Some(x)).is_err();
        assert_eq!(again, refused, "after {t} samples");
        assert!(!refused || passed == missing, "after {t} samples a refused one is not missing");
        refused
    };
    refusable.iter().filter(refused).count()
}

/// Law 1: runs of observed samples as blocks of at most `cut`.
fn push_in_blocks<R: Streaming>(
    stream: &mut Stream<R>,
    samples: &[Option<&R::Observation>],
    cut: usize,
) {
    for run in samples.chunk_by(|a, b| a.is_some() == b.is_some()) {
        for block in run.chunks(cut) {
            if block[0].is_none() {
                block.iter().for_each(|_| stream.push(None).expect("nothing to refuse"));
                continue;
            }
            let taken = stream.push_block(block.iter().copied().flatten());
            assert_eq!(taken, Ok(block.len()), "a block is taken whole");
        }
    }
}

/// Laws 1 and 3 together: a block with a refusable sample in it stops there.
fn block_stops_at_refusal<R>(recursion: R, trial: Trial<'_, R::Observation>)
where
    R: Streaming<State: PartialEq + Debug> + Copy,
{
    let observed: Vec<_> = trial.samples.iter().copied().flatten().collect();
    for &odd in trial.refusable {
        let block = observed.iter().copied().chain([odd]).chain(observed.iter().copied());
        let mut whole = Stream::new(recursion);
        let answer = whole.push_block(block.clone());
        let mut single = Stream::new(recursion);
        let mut refused = None;
        for (at, x) in block.enumerate() {
            if let Err(error) = single.push(x) {
                refused = Some(BlockError { at, error });
                break;
            }
        }
        assert_eq!(answer.err(), refused, "a block stops where a sample is refused");
        assert_eq!(whole.state(), single.state(), "a block that stops keeps what it took");
    }
}
