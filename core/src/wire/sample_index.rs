use crate::contract::Windows;

/// Lost samples that are made up for at most, one after another, where a stream has no windows. A chain that mixes has long forgotten by
/// then where it was, and a device must get back to its line. Of a longer gap the rest is left out: the
/// stream's time is then behind by as much, which the answer's count of lost samples shows.
pub const LONGEST_GAP: u16 = 1024;

/// Position of a sample: its stream, and the number of samples of the stream before it.
///
/// Both numbers wrap around. A position less than half of the range of `time` behind is in the past.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SampleIndex {
    /// Number of the stream.
    pub stream: u8,
    /// Number of the sample in it, from 0.
    pub time: u16,
}

impl SampleIndex {
    /// The index of the next sample of the stream.
    #[must_use]
    pub const fn next(self) -> Self {
        Self { time: self.time.wrapping_add(1), ..self }
    }

    /// The start of the next stream.
    #[must_use]
    pub const fn next_stream(self) -> Self {
        Self { stream: self.stream.wrapping_add(1), time: 0 }
    }

    /// Moves on to `index`, and returns the gap in between; `None`, without a move, if it is in the past.
    ///
    /// ```
    /// use fishweir_core::wire::{Gap, SampleIndex};
    ///
    /// let mut next = SampleIndex { stream: 1, time: 7 };
    /// assert_eq!(next.reach(SampleIndex { stream: 1, time: 10 }), Some(Gap { new_stream: false, lost: 3 }));
    /// assert_eq!(next.reach(SampleIndex { stream: 1, time: 8 }), None);
    /// assert_eq!(next.reach(SampleIndex { stream: 2, time: 1 }), Some(Gap { new_stream: true, lost: 1 }));
    /// ```
    pub fn reach(&mut self, index: Self) -> Option<Gap> {
        let new_stream = index.stream != self.stream;
        let lost = index.time.wrapping_sub(if new_stream { 0 } else { self.time });
        if !new_stream && lost > u16::MAX / 2 {
            return None;
        }
        *self = index;
        Some(Gap { new_stream, lost })
    }
}

/// Gap between the previous sample and this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Gap {
    /// A new stream has begun.
    pub new_stream: bool,
    /// Samples of this stream that never arrived.
    pub lost: u16,
}

impl Gap {
    /// Number of the lost samples to replace by missing ones.
    ///
    /// Without windows at most [`LONGEST_GAP`]; with windows all of them, up to a gap that is too long for these: more change
    /// nothing.
    #[must_use]
    pub fn filled(self, windows: Option<&Windows>) -> u16 {
        self.lost.min(match windows {
            None => LONGEST_GAP,
            Some(windows) => {
                u16::try_from(windows.longest_gap.saturating_add(2)).unwrap_or(u16::MAX)
            }
        })
    }
}
