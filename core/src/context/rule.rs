use core::fmt::Debug;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::error::ObservationError;

/// Rule that picks the context of the next sample, one of `C`, from the past.
pub trait ContextRule<O: ?Sized, const C: usize> {
    /// History that the rule keeps of a stream.
    type History: Copy + PartialEq + Debug;

    /// History before the first sample.
    fn start(&self) -> Self::History;

    /// The context that predicts `x`, below `C`, or `None` where the past does not determine one;
    /// and the history after `x`.
    ///
    /// # Errors
    /// What is no symbol, or comes after the last.
    fn step(
        &self,
        history: Self::History,
        x: &O,
    ) -> Result<(Option<usize>, Self::History), ObservationError>;

    /// The history after a sample that was not observed.
    fn skip(&self, history: Self::History) -> Self::History;
}

/// One context for all: samples are independent and alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Unconditional;

impl<O: ?Sized> ContextRule<O, 1> for Unconditional {
    type History = ();

    #[inline(always)]
    fn start(&self) {}
    #[inline(always)]
    fn step(&self, (): (), _: &O) -> Result<(Option<usize>, ()), ObservationError> {
        Ok((Some(0), ()))
    }
    #[inline(always)]
    fn skip(&self, (): ()) {}
}

/// A context per position: samples are independent, and the sequence has `C` of them. More are refused,
/// and missing ones past the end change nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Positions;

/// [`Positions`] whose number is known at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct PositionsView {
    /// Positions.
    pub length: usize,
}

/// Positions of the view past `C` have no distribution: nothing is predicted in them.
impl<O: ?Sized, const C: usize> ContextRule<O, C> for PositionsView {
    type History = usize;

    #[inline(always)]
    fn start(&self) -> usize {
        0
    }
    #[inline(always)]
    fn step(&self, position: usize, _: &O) -> Result<(Option<usize>, usize), ObservationError> {
        if position < self.length {
            Ok((Some(position), position + 1))
        } else {
            Err(ObservationError::PastEnd)
        }
    }
    #[inline(always)]
    fn skip(&self, position: usize) -> usize {
        if position < self.length { position + 1 } else { position }
    }
}

impl<O: ?Sized, const C: usize> ContextRule<O, C> for Positions {
    type History = usize;

    #[inline(always)]
    fn start(&self) -> usize {
        0
    }
    #[inline(always)]
    fn step(&self, position: usize, x: &O) -> Result<(Option<usize>, usize), ObservationError> {
        ContextRule::<O, C>::step(&PositionsView { length: C }, position, x)
    }
    #[inline(always)]
    fn skip(&self, position: usize) -> usize {
        ContextRule::<O, C>::skip(&PositionsView { length: C }, position)
    }
}

/// A context per position, and the last of the `C` for all that follow. A hidden Markov model each of
/// whose states has one successor, the next one, is this: its states are not hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Steps;

impl<O: ?Sized, const C: usize> ContextRule<O, C> for Steps {
    type History = usize;

    #[inline(always)]
    fn start(&self) -> usize {
        0
    }
    #[inline(always)]
    fn step(&self, position: usize, _: &O) -> Result<(Option<usize>, usize), ObservationError> {
        Ok((Some(position), ContextRule::<O, C>::skip(self, position)))
    }
    #[inline(always)]
    fn skip(&self, position: usize) -> usize {
        if position + 1 < C { position + 1 } else { position }
    }
}
