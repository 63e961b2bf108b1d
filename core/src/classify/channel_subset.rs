use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::StreamModel;
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::filter::{Adapter, Streaming};
use crate::number::{Channel, NumberFormat};

/// A model of `C` of the `E` numbers in a row: the models of a bank read different parts of each
/// sample.
///
/// ```text
/// log p(x_1..t) of the columns alone:  y_t = ( x_t[column_1], ..., x_t[column_C] )
/// ```
///
/// Behind [`LagFeatures`](crate::lagged::LagFeatures) a bank may hold a model a lag, which hears the channels and their
/// differences at that lag: `L` narrow models cost `L` times one.
///
/// Flash: `C` words beside the model. Work: `C` numbers copied per sample, and a row of them on the stack.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct ChannelSubset<H, const E: usize, const C: usize> {
    model: H,
    columns: [u32; C],
}

impl<H, const E: usize, const C: usize> ChannelSubset<H, E, C> {
    /// Creates a model of a row's columns `columns[channel]`, counted from 0, and checks the columns.
    ///
    /// # Errors
    /// Names the first column that is not in the row.
    pub const fn new(model: H, columns: [u32; C]) -> Result<Self, ModelError>
    where
        H: Copy,
    {
        let mut entry = 0;
        while entry < C {
            if columns[entry] as usize >= E {
                return Err(ModelError::new(Part::Column, ErrorKind::NotInRange, 0, entry));
            }
            entry += 1;
        }
        Ok(Self::from_parts(model, columns))
    }

    /// Creates the same without checks: [`validate`](StreamModel::validate) checks it.
    pub const fn from_parts(model: H, columns: [u32; C]) -> Self {
        const { assert!(C > 0 && C <= E, "C must be from 1 to E") };
        Self { model, columns }
    }

    /// The model.
    pub const fn model(&self) -> &H {
        &self.model
    }

    /// The columns that it reads.
    pub const fn columns(&self) -> &[u32; C] {
        &self.columns
    }
}

impl<T, H, const E: usize, const C: usize> StreamModel for ChannelSubset<H, E, C>
where
    T: Channel,
    H: StreamModel<Observation = [T; C]>,
{
    type Observation = [T; E];
    type Real = H::Real;
    type State = H::State;
    type Reading = H::Reading;
    const DIRECTIONS: usize = H::DIRECTIONS;
    const FORMAT: NumberFormat = H::FORMAT;

    #[inline(always)]
    fn likelihood(
        &self,
    ) -> impl Streaming<Observation = [T; E], State = H::State, Reading = H::Reading> {
        Hearing { likelihood: self.model.likelihood(), columns: &self.columns }
    }

    #[inline]
    fn log_parts(&self, state: &H::State) -> [H::Reading; 2] {
        self.model.log_parts(state)
    }

    fn validate(&self) -> Result<(), ModelError> {
        match self.columns.iter().position(|&column| column as usize >= E) {
            Some(entry) => Err(ModelError::new(Part::Column, ErrorKind::NotInRange, 0, entry)),
            None => self.model.validate(),
        }
    }
}

/// A recursion that reads some columns.
struct Hearing<'a, R, const E: usize, const C: usize> {
    likelihood: R,
    columns: &'a [u32; C],
}

impl<T, R, const E: usize, const C: usize> Adapter for Hearing<'_, R, E, C>
where
    T: Channel,
    R: Streaming<Observation = [T; C]>,
{
    type Inner = R;
    type Observation = [T; E];
    type State = R::State;

    #[inline]
    fn inner(&self) -> &R {
        &self.likelihood
    }

    #[inline]
    fn inner_state<'s>(&self, state: &'s R::State) -> &'s R::State {
        state
    }

    #[inline]
    fn outer_initial_state(&self) -> R::State {
        self.likelihood.initial_state()
    }

    #[inline]
    fn outer_step(&self, state: &mut R::State, x: &[T; E]) -> Result<(), ObservationError> {
        // No column is past the row where the model was validated; of one that was not nothing is made up.
        let mut row = [T::BLANK; C];
        for (to, &column) in row.iter_mut().zip(self.columns) {
            *to = *x.get(column as usize).ok_or(ObservationError::WrongLength)?;
        }
        self.likelihood.step(state, &row)
    }

    #[inline]
    fn outer_step_missing(&self, state: &mut R::State) {
        self.likelihood.step_missing(state);
    }
}
