use core::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::Front;
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::number::Real;

/// Some of `D` channels become their Euclidean norm, the others pass: `E` numbers, `D` less all but one of the group.
///
/// ```text
/// row_t = ( ..., |x_t| = sqrt( sum over d in the group of x_td^2 ), ... )
/// ```
///
/// The norm stands where the group's first channel stood. What a sensor's axes measure together then no longer
/// depends on how the sensor is held. Sums run in the channels' order and the root is correctly rounded, so that
/// every machine forms the same bits.
///
/// Flash: `D` bytes. RAM: nothing but a row of `E` numbers on the stack. Work: a multiply-add a channel of the group
/// and a square root, a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Magnitude<const D: usize, const E: usize, T = f32> {
    /// A one for each channel of the group, so that any bytes may be read as this.
    group: [u8; D],
    number: PhantomData<T>,
}

impl<const D: usize, const E: usize, T> Magnitude<D, E, T> {
    /// Asserts that the sizes agree.
    pub(crate) const SIZES: () = assert!(E > 0 && E <= D, "E must be from 1 to D");

    /// The norm of the channels that are `true`, `[channel]`; their number must leave rows of `E` numbers.
    pub const fn new(group: [bool; D]) -> Self {
        const { Self::SIZES };
        let (mut ones, mut channel) = ([0; D], 0);
        while channel < D {
            ones[channel] = group[channel] as u8;
            channel += 1;
        }
        Self { group: ones, number: PhantomData }
    }

    /// Channels that belong to the norm.
    pub fn group(&self) -> [bool; D] {
        self.group.map(|one| one > 0)
    }

    /// Checks the flags of the group, and that rows of `E` numbers are left.
    ///
    /// # Errors
    /// Names the first channel that is wrong.
    pub fn validate(&self) -> Result<(), ModelError> {
        if let Some(entry) = self.group.iter().position(|&one| one > 1) {
            return Err(ModelError::new(Part::Front, ErrorKind::NotInRange, 0, entry));
        }
        let pass = self.group.iter().filter(|&&one| one == 0).count();
        if pass + 1 == E {
            return Ok(());
        }
        Err(ModelError::new(Part::Front, ErrorKind::Inconsistent, 0, 0))
    }
}

impl<const D: usize, const E: usize, T: Real> Front<[T; E]> for Magnitude<D, E, T> {
    type Sample = [T; D];
    type State = ();

    #[inline]
    fn initial_state(&self) {}

    #[inline]
    fn step(
        &self,
        (): &mut (),
        x: Option<&[T; D]>,
        emit: impl FnOnce(Option<&[T; E]>),
    ) -> Result<(), ObservationError> {
        let mut row = [T::ZERO; E];
        let result =
            x.map_or(Ok(()), |x| norm_of_group(self.group.iter().map(|&one| one > 0), x, &mut row));
        emit(if x.is_some() && result.is_ok() { Some(&row) } else { None });
        result
    }

    fn validate(&self) -> Result<(), ModelError> {
        Self::validate(self)
    }
}

/// Writes a sample with the channels of a group replaced by their norm: see [`Magnitude`].
///
/// # Errors
/// [`ObservationError::NotFinite`]: a channel, or the norm's square, is not.
#[inline]
#[doc(hidden)]
pub fn norm_of_group<T: Real>(
    group: impl IntoIterator<Item = bool>,
    x: &[T],
    row: &mut [T],
) -> Result<(), ObservationError> {
    let mut to = row.iter_mut();
    let (mut norm, mut square) = (None, T::ZERO);
    for (&x, of_group) in x.iter().zip(group) {
        if of_group {
            if norm.is_none() {
                norm = to.next();
            }
            square = square + x * x;
        } else if let Some(to) = to.next() {
            *to = x;
        }
    }
    if let Some(norm) = norm {
        *norm = square.sqrt();
    }
    let finite = row.iter().all(|x| x.is_finite());
    if finite { Ok(()) } else { Err(ObservationError::NotFinite) }
}
