//! A model's observation from what C has.

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

impl Sample for usize {
    const CHANNELS: Option<usize> = None;

    fn of_channels(_: &[f32]) -> Result<Self, Status> {
        Err(Status::WrongKind)
    }

    fn of_symbol(symbol: u16) -> Result<Self, Status> {
        Ok(symbol.into())
    }
}
