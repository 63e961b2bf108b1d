use core::fmt;

use crate::error::ObservationError;
use crate::number::with_local_copy;

/// A recursion: how one sample changes a state.
///
/// Model, state and recursion are three things. A recursion borrows its model and is `Copy`; the
/// state is what the past left, and all of it. A recursion implements [`step`](Self::step) and
/// [`step_missing`](Self::step_missing); its users call [`push`](Self::push). The laws, which `tests/` checks of
/// every recursion:
///
/// 1. a block is its samples pushed one by one;
/// 2. a reset state is a new state;
/// 3. on an error, [`push`](Self::push) leaves the state after a missing sample;
/// 4. after every prefix the reading is the batch computation's of that prefix.
pub trait Streaming {
    /// Observation of one sample.
    type Observation: ?Sized;
    /// State on a stream.
    type State: Clone;
    /// Reading after every sample.
    type Reading;
    /// `true` if [`step`](Self::step) leaves the state unchanged on an error.
    ///
    /// `false` behind a [front end](crate::front::Preprocessed) and on [windows](crate::classify::WindowClassifier): there a
    /// refused sample is a missing one. Any other wrapper has the value of the recursion inside. Types that undo a step, a
    /// [`Window`](crate::filter::Window) or a [`Bank`](crate::kernel::Bank), require it at compile time.
    const ROLLS_BACK: bool = true;

    /// The state before the first sample.
    fn initial_state(&self) -> Self::State;

    /// Makes a state that before the first sample; where states are large, part by part.
    #[inline]
    fn restart(&self, state: &mut Self::State) {
        *state = self.initial_state();
    }

    /// Takes in one sample.
    ///
    /// # Errors
    /// An observation that is impossible under the model, or invalid. The state is unchanged where
    /// [`ROLLS_BACK`](Self::ROLLS_BACK), else that after [`step_missing`](Self::step_missing).
    fn step(&self, state: &mut Self::State, x: &Self::Observation) -> Result<(), ObservationError>;

    /// Takes in a sample that was not observed: time passes, nothing is learnt.
    fn step_missing(&self, state: &mut Self::State);

    /// Takes in one sample, `None` for a missing one. A refused sample is missing: time passes once in any case.
    ///
    /// # Errors
    /// As [`step`](Self::step). The state is that after a missing sample.
    #[inline]
    fn push(
        &self,
        state: &mut Self::State,
        x: Option<&Self::Observation>,
    ) -> Result<(), ObservationError> {
        let Some(x) = x else {
            self.step_missing(state);
            return Ok(());
        };
        let result = self.step(state, x);
        if Self::ROLLS_BACK && result.is_err() {
            with_local_copy(state, |state| pass(self, state));
        }
        result
    }

    /// Returns the reading of the stream so far.
    fn read(&self, state: &Self::State) -> Self::Reading;
}

/// Lets one step pass. Out of line: few samples are missing.
#[cold]
#[inline(never)]
fn pass<R: Streaming + ?Sized>(recursion: &R, state: &mut R::State) {
    recursion.step_missing(state);
}

/// A recursion and its state in one value: push samples, read an answer.
///
/// ```
/// use fishweir_core::{emission::Categorical, filter::{Forward, Stream}, hmm::{Chain, Hmm}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f64, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
///     [Categorical::<2, f64>::new([0.75, 0.25])?, Categorical::<2, f64>::new([0.1, 0.9])?],
/// );
/// let mut stream = Stream::new(Forward::of(&hmm));
/// stream.push(&0)?;
/// stream.push(None)?; // a missing sample
/// stream.push(&1)?;
/// assert!((stream.read() - (-1.777_043_f64)).abs() < 1e-6); // log p(0, ?, 1)
/// stream.reset();
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Stream<R: Streaming> {
    recursion: R,
    state: R::State,
}

impl<R: Streaming> Stream<R> {
    /// A stream before its first sample.
    #[inline]
    pub fn new(recursion: R) -> Self {
        let state = recursion.initial_state();
        Self { recursion, state }
    }

    /// A stream that goes on from a state of this recursion, or of another of the same model.
    ///
    /// In a constant too, where no recursion can be asked for its first state: those of most filters
    /// and of classifiers of hidden Markov models have it as `NEW`.
    ///
    /// ```
    /// use std::sync::Mutex; // on a device that of `critical-section`, say
    /// use fishweir_core::classify::{Normalisation, StreamClassifier, StreamState};
    /// use fishweir_core::emission::Categorical;
    /// use fishweir_core::filter::Stream;
    /// use fishweir_core::hmm::{Chain, Hmm};
    ///
    /// type Coins = StreamClassifier<Hmm<Categorical<2>, 1>, 2, 1>;
    /// const fn coin(heads: f32) -> Hmm<Categorical<2>, 1> {
    ///     Hmm::new(
    ///         Chain::from_parts([1.0], [[1.0]]),
    ///         [Categorical::from_parts([heads, 1.0 - heads])],
    ///     )
    /// }
    /// static MODEL: Coins =
    ///     Coins::from_parts([coin(0.5), coin(0.75)], [[-1.0, 1.0]], [0.0], Normalisation::NONE);
    /// static STREAM: Mutex<Stream<&Coins>> =
    ///     Mutex::new(Stream::from_parts(&MODEL, StreamState::NEW));
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut stream = STREAM.lock()?;
    /// stream.push_block(&[0, 0, 1, 0])?;
    /// assert_eq!(stream.read().class, 1);
    /// # Ok(()) }
    /// ```
    #[inline]
    pub const fn from_parts(recursion: R, state: R::State) -> Self {
        Self { recursion, state }
    }

    /// Takes in one sample, `None` for a missing one. A refused sample is missing: time passes once in any case.
    ///
    /// # Errors
    /// An observation that the model makes impossible, or that is invalid. The state is that after `push(None)`.
    #[inline]
    pub fn push<'x>(
        &mut self,
        x: impl Into<Option<&'x R::Observation>>,
    ) -> Result<(), ObservationError>
    where
        R::Observation: 'x,
    {
        self.recursion.push(&mut self.state, x.into())
    }

    /// Takes in samples in order and returns how many: all of them, or those before the first that was refused, which is
    /// missing then.
    ///
    /// # Errors
    /// Which sample was refused, and why.
    pub fn push_block<'x>(
        &mut self,
        block: impl IntoIterator<Item = &'x R::Observation>,
    ) -> Result<usize, BlockError>
    where
        R::Observation: 'x,
    {
        let recursion = &self.recursion;
        with_local_copy(&mut self.state, |state| {
            let mut taken = 0;
            for x in block {
                let pushed = recursion.push(state, Some(x));
                pushed.map_err(|error| BlockError { at: taken, error })?;
                taken += 1;
            }
            Ok(taken)
        })
    }

    /// Forgets the past: the state is as new.
    #[inline]
    pub fn reset(&mut self) {
        self.recursion.restart(&mut self.state);
    }

    /// Returns the reading of the stream so far.
    #[inline]
    pub fn read(&self) -> R::Reading {
        self.recursion.read(&self.state)
    }

    /// The recursion, for readings of its own.
    pub fn recursion(&self) -> &R {
        &self.recursion
    }

    /// The state: all that the past left.
    pub fn state(&self) -> &R::State {
        &self.state
    }
}

/// Error of a block that was not taken in whole. The samples before the refused one were taken, and that one is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BlockError {
    /// The index in the block (from 0) of the refused sample: that many were taken in before it.
    pub at: usize,
    /// Reason.
    pub error: ObservationError,
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, error } = self;
        write!(f, "sample {at} of the block: {error}")
    }
}

impl core::error::Error for BlockError {}
