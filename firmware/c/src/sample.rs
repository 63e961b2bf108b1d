//! Conversion of C's values to a model's observation.

use fishweir_core::emission::{ChannelQ15, count, yes_or_no};

use crate::Status;

/// An observation that C can push. What it cannot be made of is refused as of the wrong kind.
pub(crate) trait Sample: Sized {
    /// Number of channels, for samples of channels.
    const CHANNELS: Option<usize> = None;
    /// Number of channels in fixed point.
    const INTEGERS: Option<usize> = None;

    /// Creates a sample from its channels.
    fn of_channels(_: &[f32]) -> Result<Self, Status> {
        Err(Status::WrongKind)
    }

    /// Creates a sample from its channels in fixed point.
    fn of_integers(_: &[i16]) -> Result<Self, Status> {
        Err(Status::WrongKind)
    }

    /// Creates a sample from a symbol; the model checks whether the alphabet has it.
    fn of_symbol(_: u16) -> Result<Self, Status> {
        Err(Status::WrongKind)
    }
}

/// Makes one value per channel by a function.
fn each<T: Copy + Default, const D: usize>(
    channels: &[f32],
    make: impl Fn(f64) -> Result<T, fishweir_core::ObservationError>,
) -> Result<[T; D], Status> {
    let channels: &[f32; D] = channels.try_into().map_err(|_| Status::WrongSize)?;
    let mut values = [T::default(); D];
    for (slot, &value) in values.iter_mut().zip(channels) {
        *slot = make(value.into()).map_err(Status::refusing)?;
    }
    Ok(values)
}

impl<const D: usize> Sample for [f32; D] {
    const CHANNELS: Option<usize> = Some(D);

    fn of_channels(channels: &[f32]) -> Result<Self, Status> {
        channels.try_into().map_err(|_| Status::WrongSize)
    }
}

/// Fixed point: floats must be integers of 16 bits; nothing is clamped.
impl<const D: usize> Sample for [i16; D] {
    const CHANNELS: Option<usize> = Some(D);
    const INTEGERS: Option<usize> = Some(D);

    fn of_channels(channels: &[f32]) -> Result<Self, Status> {
        each(channels, ChannelQ15::integer)
    }

    fn of_integers(channels: &[i16]) -> Result<Self, Status> {
        channels.try_into().map_err(|_| Status::WrongSize)
    }
}

impl<const D: usize> Sample for [u32; D] {
    const CHANNELS: Option<usize> = Some(D);

    fn of_channels(channels: &[f32]) -> Result<Self, Status> {
        each(channels, count)
    }
}

/// Channels that may be missing: NaN in C. One type by one: of any at once the compiler finds no end.
macro_rules! in_part {
    ($($channel:ty),*) => {$(
        impl<const D: usize> Sample for [Option<$channel>; D] {
            const CHANNELS: Option<usize> = Some(D);

            fn of_channels(channels: &[f32]) -> Result<Self, Status> {
                let channels: &[f32; D] = channels.try_into().map_err(|_| Status::WrongSize)?;
                let mut values = [None; D];
                for (slot, value) in values.iter_mut().zip(channels) {
                    if !value.is_nan() {
                        let [x] = <[$channel; 1]>::of_channels(core::slice::from_ref(value))?;
                        *slot = Some(x);
                    }
                }
                Ok(values)
            }
        }
    )*};
}

in_part!(f32, u32, bool);

/// Fixed point whose channels may be missing: NaN among floats, the least among integers.
impl<const D: usize> Sample for [Option<i16>; D] {
    const CHANNELS: Option<usize> = Some(D);
    const INTEGERS: Option<usize> = Some(D);

    fn of_channels(channels: &[f32]) -> Result<Self, Status> {
        let channels: &[f32; D] = channels.try_into().map_err(|_| Status::WrongSize)?;
        let mut values = [None; D];
        for (slot, value) in values.iter_mut().zip(channels) {
            if !value.is_nan() {
                *slot = Some(ChannelQ15::integer((*value).into()).map_err(Status::refusing)?);
            }
        }
        Ok(values)
    }

    fn of_integers(channels: &[i16]) -> Result<Self, Status> {
        let channels: &[i16; D] = channels.try_into().map_err(|_| Status::WrongSize)?;
        let mut values = [None; D];
        for (slot, &value) in values.iter_mut().zip(channels) {
            *slot = (value != i16::MIN).then_some(value);
        }
        Ok(values)
    }
}

impl<const D: usize> Sample for [bool; D] {
    const CHANNELS: Option<usize> = Some(D);

    fn of_channels(channels: &[f32]) -> Result<Self, Status> {
        each(channels, yes_or_no)
    }
}

impl Sample for usize {
    fn of_symbol(symbol: u16) -> Result<Self, Status> {
        Ok(symbol.into())
    }
}
