use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{F32, Head, SampleIndex, U16, U64};

impl SampleIndex {
    /// Index of a sample by the number of samples before it since the device began, modulo `2^24`.
    ///
    /// A device that sends its own samples has one endless stream: [`stream`](Self::stream) has the upper byte of the number.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        Self { stream: (number >> 16) as u8, time: number as u16 }
    }

    /// Number of samples before it, modulo `2^24`: see [`from_number`](Self::from_number).
    #[must_use]
    pub const fn number(self) -> u32 {
        (self.stream as u32) << 16 | self.time as u32
    }
}

/// A sample that the device measured.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct MeasuredSample<const CHANNELS: usize> {
    /// [`MeasuredSample::TAG`], and the [number](SampleIndex::number) of the sample.
    pub head: Head,
    /// Value of each channel, in sensor units; NaN where it was not observed.
    pub values: [F32; CHANNELS],
}

impl<const CHANNELS: usize> MeasuredSample<CHANNELS> {
    /// Tag.
    pub const TAG: u8 = b'D';
}

/// Description of one channel of the samples that a device measures.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct ChannelDescription {
    /// [`ChannelDescription::TAG`], and the [number](SampleIndex::number) of the next sample.
    pub head: Head,
    /// [`VERSION`](super::VERSION).
    pub version: u8,
    /// Index of the channel, from 0.
    pub channel: U16,
    /// Number of channels in a sample.
    pub channels: U16,
    /// Intended sample period in nanoseconds; 0 where there is none.
    pub period_ns: U64,
    /// Name of the channel, with its unit in brackets where it has one: UTF-8, then zeros.
    pub name: [u8; Self::NAME_LONGEST],
}

impl ChannelDescription {
    /// Tag.
    pub const TAG: u8 = b'H';

    /// Largest number of bytes of a name.
    pub const NAME_LONGEST: usize = 48;
}
