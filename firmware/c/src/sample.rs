//! A model's observation from what C has.

use fishweir_core::emission::{count, yes_or_no};

use crate::Status;

/// An observation that C can push.
pub(crate) trait Sample: Sized {
    /// How many channels it has, where it has channels.
    const CHANNELS: Option<usize>;

    /// From as many channels.
    fn of_channels(channels: &[f32]) -> Result<Self, Status>;

    /// From a symbol; whether the alphabet has it, the model says.
    fn of_symbol(symbol: u16) -> Result<Self, Status>;
}

impl<const D: usize> Sample for [f32; D] {
    const CHANNELS: Option<usize> = Some(D);

    fn of_channels(channels: &[f32]) -> Result<Self, Status> {
        channels.try_into().map_err(|_| Status::WrongSize)
    }

    fn of_symbol(_: u16) -> Result<Self, Status> {
        Err(Status::WrongKind)
    }
}

impl<const D: usize> Sample for [u32; D] {
    const CHANNELS: Option<usize> = Some(D);

    fn of_channels(channels: &[f32]) -> Result<Self, Status> {
        let channels: &[f32; D] = channels.try_into().map_err(|_| Status::WrongSize)?;
        let mut counts = [0; D];
        for (slot, &value) in counts.iter_mut().zip(channels) {
            *slot = count(value.into()).map_err(Status::refusing)?;
        }
        Ok(counts)
    }

    fn of_symbol(_: u16) -> Result<Self, Status> {
        Err(Status::WrongKind)
    }
}

impl<const D: usize> Sample for [bool; D] {
    const CHANNELS: Option<usize> = Some(D);

    fn of_channels(channels: &[f32]) -> Result<Self, Status> {
        let channels: &[f32; D] = channels.try_into().map_err(|_| Status::WrongSize)?;
        let mut answers = [false; D];
        for (answer, &value) in answers.iter_mut().zip(channels) {
            *answer = yes_or_no(value.into()).map_err(Status::refusing)?;
        }
        Ok(answers)
    }

    fn of_symbol(_: u16) -> Result<Self, Status> {
        Err(Status::WrongKind)
    }
}

impl Sample for usize {
    const CHANNELS: Option<usize> = None;

    fn of_channels(_: &[f32]) -> Result<Self, Status> {
        Err(Status::WrongKind)
    }

    fn of_symbol(symbol: u16) -> Result<Self, Status> {
        Ok(symbol.into())
    }
}
