//! Front ends: they turn a sensor's samples into the rows that a model reads, sample by sample.
//!
//! A [`Front`] takes samples and, whenever enough of them have come, hands on a row; [`Pipe`] chains two of them, and
//! [`Preprocessed`] puts one before any recursion. What each does to a row is written on slices, so that a host at run-time
//! sizes runs the same arithmetic in the same order, and has the same bits.
//!
//! | front end | a row is |
//! |---|---|
//! | [`Decimate`] | the mean of a number of samples |
//! | [`Magnitude`] | a sample with some channels replaced by their Euclidean norm |
//! | [`Slopes`] | a sample and the slopes of its channels over the last samples |
//! | [`VectorQuantiser`] | the index of the nearest of some stored rows: a symbol |
#![cfg_attr(
    feature = "microfft",
    doc = "| [`Cepstra`] | the mel cepstrum, or the mel bands' log energies, of the last samples of a sound |"
)]

#[cfg(feature = "microfft")]
mod cepstra;
mod decimate;
mod magnitude;
#[cfg(feature = "microfft")]
pub mod mel;
mod quantiser;
mod slopes;

#[cfg(feature = "microfft")]
pub use cepstra::{Cepstra, CepstraState, FrameState, MelTables};
pub use decimate::{Decimate, DecimateState, MeanState};
pub use magnitude::{Magnitude, norm_of_group};
pub use quantiser::{VectorQuantiser, nearest_word};
pub use slopes::{LONGEST_SLOPE, Slopes, SlopesState};

use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::error::{ModelError, ObservationError};
use crate::filter::{Adapter, Streaming};

/// Effect of a sample on the row under construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Step {
    /// More samples are wanted.
    Within,
    /// The row is whole.
    Row,
    /// The row is complete, and all of it is missing.
    Missing,
}

/// Front end: turns samples into rows, in fixed memory. `Row` is the type that the recursion behind it takes.
pub trait Front<Row> {
    /// Sample that is taken in.
    type Sample;
    /// State on a stream.
    type State: Clone;

    /// The state before the first sample.
    fn initial_state(&self) -> Self::State;

    /// Takes in one sample, `None` for one that was not observed, and calls `emit` once a row is complete, with `None` for a row
    /// that is missing.
    ///
    /// A refused sample is missing: a sum or a frame with one bad sample in it would refuse all that follow.
    ///
    /// # Errors
    /// An invalid sample.
    fn step(
        &self,
        state: &mut Self::State,
        x: Option<&Self::Sample>,
        emit: impl FnOnce(Option<&Row>),
    ) -> Result<(), ObservationError>;

    /// Checks every setting and every number.
    ///
    /// # Errors
    /// Names the first invalid one.
    fn validate(&self) -> Result<(), ModelError> {
        Ok(())
    }
}

/// Takes a step with a sample, or with a missing one if the sample is refused.
///
/// Returns the sample as taken, the step, and the error of a refused sample.
#[inline]
#[doc(hidden)]
pub fn or_missing<X: Copy>(
    x: Option<X>,
    mut step: impl FnMut(Option<X>) -> Result<Step, ObservationError>,
) -> (Option<X>, Step, Result<(), ObservationError>) {
    match step(x) {
        Ok(step) => (x, step, Ok(())),
        Err(error) => (None, step(None).unwrap_or(Step::Missing), Err(error)),
    }
}

/// One front end after another: the rows of the first are the samples of the second.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Pipe<A, B> {
    /// The first.
    pub first: A,
    /// The second.
    pub second: B,
}

impl<A, B> Pipe<A, B> {
    /// The first, then the second.
    pub const fn new(first: A, second: B) -> Self {
        Self { first, second }
    }
}

impl<Row, A: Front<B::Sample>, B: Front<Row>> Front<Row> for Pipe<A, B> {
    type Sample = A::Sample;
    type State = (A::State, B::State);

    #[inline]
    fn initial_state(&self) -> Self::State {
        (self.first.initial_state(), self.second.initial_state())
    }

    #[inline]
    fn step(
        &self,
        (first, second): &mut Self::State,
        x: Option<&A::Sample>,
        emit: impl FnOnce(Option<&Row>),
    ) -> Result<(), ObservationError> {
        let mut pushed = Ok(());
        self.first.step(first, x, |row| pushed = self.second.step(second, row, emit)).and(pushed)
    }

    fn validate(&self) -> Result<(), ModelError> {
        self.first.validate()?;
        self.second.validate()
    }
}

/// A recursion behind a front end: it receives a row whenever one is complete, and nothing in between.
///
/// Its reading is the recursion's, which counts rows, not samples. What is refused is missing, and the error says so: a
/// sample to the front end, a row to the recursion, of which the sample is pushed that made it whole.
///
/// Flash: the front end's tables beside the recursion. RAM: its state beside the recursion's.
///
/// ```
/// use fishweir_core::emission::Gaussian;
/// use fishweir_core::filter::{Forward, Stream};
/// use fishweir_core::front::{Decimate, Preprocessed, Magnitude, Pipe};
/// use fishweir_core::hmm::{Chain, Hmm};
///
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// let strength = Gaussian::<1, f64>::new([5.0], [1.0])?;
/// let hmm = Hmm::new(Chain::<f64, 1>::new([1.0], [[1.0]])?, [strength]);
/// // Two channels become their norm, and two norms their mean.
/// let front = Pipe::new(Magnitude::<2, 1, f64>::new([true, true]), Decimate::<1, f64>::new(2));
/// let fronted = Preprocessed::new(front, Forward::of(&hmm));
/// let mut stream = Stream::new(&fronted);
/// stream.push(&[3.0, 4.0])?;
/// assert_eq!(stream.read(), 0.0); // no row yet
/// stream.push(&[-5.0, 0.0])?;
/// let mut rows = Stream::new(Forward::of(&hmm));
/// rows.push(&[5.0])?;
/// assert_eq!(stream.read(), rows.read());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Preprocessed<F, R> {
    front: F,
    recursion: R,
}

/// State of a [`Preprocessed`]: those of the front end and of the recursion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PreprocessedState<F, R> {
    front: F,
    inner: R,
}

impl<F, R> PreprocessedState<F, R> {
    /// Creates the state from those of both, before the first sample; usable in constants.
    pub const fn from_parts(front: F, inner: R) -> Self {
        Self { front, inner }
    }

    /// The recursion's state.
    pub const fn inner(&self) -> &R {
        &self.inner
    }
}

impl<F, R> Preprocessed<F, R> {
    /// A front end before a recursion.
    pub const fn new(front: F, recursion: R) -> Self {
        Self { front, recursion }
    }

    /// The front end.
    pub const fn front(&self) -> &F {
        &self.front
    }

    /// The recursion that receives rows.
    pub const fn recursion(&self) -> &R {
        &self.recursion
    }
}

impl<F: Front<R::Observation>, R: Streaming<Observation: Sized>> Adapter for Preprocessed<F, R> {
    type Inner = R;
    type Observation = F::Sample;
    type State = PreprocessedState<F::State, R::State>;
    const ROLLS_BACK: bool = false;

    #[inline]
    fn inner(&self) -> &R {
        &self.recursion
    }
    #[inline]
    fn inner_state<'s>(&self, state: &'s Self::State) -> &'s R::State {
        &state.inner
    }
    #[inline]
    fn outer_initial_state(&self) -> Self::State {
        PreprocessedState {
            front: self.front.initial_state(),
            inner: self.recursion.initial_state(),
        }
    }

    fn outer_step(&self, state: &mut Self::State, x: &F::Sample) -> Result<(), ObservationError> {
        let PreprocessedState { front, inner } = state;
        let mut pushed = Ok(());
        self.front.step(front, Some(x), |row| pushed = self.recursion.push(inner, row)).and(pushed)
    }

    fn outer_step_missing(&self, state: &mut Self::State) {
        let PreprocessedState { front, inner } = state;
        // No caller is left to receive the error of a refused row.
        let _ = self.front.step(front, None, |row| {
            let _ = self.recursion.push(inner, row);
        });
    }

    fn validate_own(&self) -> Result<(), ModelError> {
        self.front.validate()
    }
    fn own_bytes(&self) -> usize {
        size_of_val(&self.front)
    }
}
