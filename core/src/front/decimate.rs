use core::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{Front, Step, or_missing};
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::number::Real;

/// Mean of a fixed number of consecutive samples of `D` channels.
///
/// ```text
/// row_n = ( sum over observed t of x_t ) / ( observed t ),      t = M n, ..., M n + M - 1
/// ```
///
/// A sample that is missing is left out of its mean; a row of which every sample is missing is missing.
///
/// Flash: 4 bytes. RAM: `D` numbers and 8 bytes. Work: `D` additions per sample, `D` divisions per row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Decimate<const D: usize, T = f32> {
    every: u32,
    number: PhantomData<T>,
}

/// The sums of a [`Decimate`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DecimateState<T, const D: usize> {
    sum: [T; D],
    place: MeanState,
}

impl<T: Real, const D: usize> DecimateState<T, D> {
    /// State before the first sample.
    pub const NEW: Self = Self { sum: [T::ZERO; D], place: MeanState::NEW };
}

impl<const D: usize, T> Decimate<D, T> {
    /// Creates rows of `every` samples each; 0 counts as 1.
    pub const fn new(every: u32) -> Self {
        Self { every: if every == 0 { 1 } else { every }, number: PhantomData }
    }

    /// Samples per row.
    pub const fn every(&self) -> u32 {
        self.every
    }
}

impl<const D: usize, T: Real> Front<[T; D]> for Decimate<D, T> {
    type Sample = [T; D];
    type State = DecimateState<T, D>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        DecimateState::NEW
    }

    #[inline]
    fn step(
        &self,
        state: &mut Self::State,
        x: Option<&[T; D]>,
        emit: impl FnOnce(Option<&[T; D]>),
    ) -> Result<(), ObservationError> {
        let x = x.map(<[T; D]>::as_slice);
        let mut row = [T::ZERO; D];
        let mean = |x: Option<&[T]>| state.place.mean(self.every, &state.sum, x, &mut row);
        let (x, step, result) = or_missing(x, mean);
        match step {
            Step::Within => {}
            Step::Row => emit(Some(&row)),
            Step::Missing => emit(None),
        }
        state.place.take(self.every, &mut state.sum, x);
        result
    }

    fn validate(&self) -> Result<(), ModelError> {
        match self.every {
            0 => Err(ModelError::new(Part::Front, ErrorKind::NotInRange, 0, 0)),
            _ => Ok(()),
        }
    }
}

/// Position of a [`Decimate`] in its mean. The sums are the caller's: an array on a device, a vector on the host.
///
/// RAM: 8 bytes beside the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MeanState {
    /// Samples of this row so far.
    samples: u32,
    /// Number of observed samples among them.
    observed: u32,
}

impl MeanState {
    /// State before a row's first sample.
    pub const NEW: Self = Self { samples: 0, observed: 0 };

    #[inline]
    const fn ends(self, every: u32) -> bool {
        self.samples.saturating_add(1) >= every
    }

    /// Writes the mean with a sample, `None` for a missing one, where the row is whole by it. `row` is as long as
    /// `sum`, and holds something else where it is not whole.
    ///
    /// # Errors
    /// [`ObservationError::NotFinite`]: a channel, or its sum, is not. No sum is ever taken in that is not finite.
    #[inline]
    pub fn mean<T: Real>(
        self,
        every: u32,
        sum: &[T],
        x: Option<&[T]>,
        row: &mut [T],
    ) -> Result<Step, ObservationError> {
        row.iter_mut().zip(sum).for_each(|(to, &sum)| *to = sum);
        if let Some(x) = x {
            row.iter_mut().zip(x).for_each(|(to, &x)| *to = *to + x);
            if !row.iter().all(|sum| sum.is_finite()) {
                return Err(ObservationError::NotFinite);
            }
        }
        if !self.ends(every) {
            return Ok(Step::Within);
        }
        let observed = self.observed.saturating_add(u32::from(x.is_some()));
        if observed == 0 {
            return Ok(Step::Missing);
        }
        let count = T::from_u32(observed);
        row.iter_mut().for_each(|to| *to = *to / count);
        Ok(Step::Row)
    }

    /// Takes a sample into the sums, `None` for a missing one; a row that is whole by it leaves them at zero.
    #[inline]
    pub fn take<T: Real>(&mut self, every: u32, sum: &mut [T], x: Option<&[T]>) {
        if self.ends(every) {
            *self = Self::NEW;
            sum.iter_mut().for_each(|sum| *sum = T::ZERO);
            return;
        }
        self.samples = self.samples.saturating_add(1);
        if let Some(x) = x {
            self.observed = self.observed.saturating_add(1);
            sum.iter_mut().zip(x).for_each(|(sum, &x)| *sum = *sum + x);
        }
    }
}
