use core::marker::PhantomData;

use super::Front;
use crate::error::ObservationError;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Magnitude<const D: usize, const E: usize, T = f32> {
    group: [bool; D],
    number: PhantomData<T>,
}

impl<const D: usize, const E: usize, T> Magnitude<D, E, T> {
    /// The norm of the channels that are `true`, `[channel]`; as many are as leave `E`.
    pub const fn new(group: [bool; D]) -> Self {
        const { assert!(E > 0 && E <= D, "a norm, and the channels that pass") };
        Self { group, number: PhantomData }
    }

    /// Which channels are of the norm.
    pub const fn group(&self) -> &[bool; D] {
        &self.group
    }
}

impl<const D: usize, const E: usize, T: Real> Front for Magnitude<D, E, T> {
    type Sample = [T; D];
    type Row = [T; E];
    type State = ();

    #[inline]
    fn start(&self) {}

    #[inline]
    fn push(
        &self,
        (): &mut (),
        x: Option<&[T; D]>,
        hear: impl FnOnce(Option<&[T; E]>),
    ) -> Result<(), ObservationError> {
        let mut row = [T::ZERO; E];
        let told = x.map_or(Ok(()), |x| norm_of_group(&self.group, x, &mut row));
        hear(if x.is_some() && told.is_ok() { Some(&row) } else { None });
        told
    }
}

/// Writes a sample with the channels of a group replaced by their norm: see [`Magnitude`].
///
/// # Errors
/// [`ObservationError::NotFinite`]: a channel, or the norm's square, is not.
#[inline]
pub fn norm_of_group<T: Real>(
    group: &[bool],
    x: &[T],
    row: &mut [T],
) -> Result<(), ObservationError> {
    let mut to = row.iter_mut();
    let (mut norm, mut square) = (None, T::ZERO);
    for (&x, &of_group) in x.iter().zip(group) {
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
