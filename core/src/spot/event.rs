use heapless::Vec;

use crate::number::Real;

/// A stretch of the stream that is explained by a class, not by the background.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Event<T = f32> {
    /// The class, from 0.
    pub class: u8,
    /// Its first sample, counted from 0 at the beginning of the stream; missing ones count.
    pub start: u64,
    /// The sample after its last.
    pub end: u64,
    /// Its confidence in nats, over all its samples: what the path through the class gained between
    /// `start` and `end` (entry, transitions and likelihoods, but not the exit), less what the best path
    /// of the background by itself gained over the same samples:
    ///
    /// ```text
    /// log p(z_s..e, x_s..e | z_s-1)  -  ( max log p_background(x_1..e) - max log p_background(x_1..s-1) )
    /// ```
    pub log_odds: T,
}

impl<T: Real> Event<T> {
    /// How many samples it lasts.
    pub const fn length(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// The log-odds of one of its samples, on average; zero of an event without any.
    pub fn log_odds_per_sample(&self) -> T {
        match self.length() {
            0 => T::ZERO,
            length => self.log_odds / T::from_f64(length as f64),
        }
    }

    /// Whether both are of one class and the same samples.
    pub(super) const fn is_at(&self, other: &Self) -> bool {
        self.class == other.class && self.start == other.start && self.end == other.end
    }
}

/// What one sample decided.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Spotted<T, const PENDING: usize> {
    /// Events that are now beyond doubt (or [forced](Self::forced)), in order of time.
    pub events: Vec<Event<T>, PENDING>,
    /// Whether any was decided by the lag or for want of room, before survivors agreed.
    pub forced: bool,
}

/// What the best path says of the stretch that is not decided yet: what to report when a stream ends.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Undecided<T, const PENDING: usize> {
    /// Events that have ended, in order of time.
    pub events: Vec<Event<T>, PENDING>,
    /// The event that the last sample is in.
    pub open: Option<Event<T>>,
}
