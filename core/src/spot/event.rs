use heapless::Vec;

use crate::number::Real;

/// A stretch of the stream that is explained by a class, not by the background.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Event<T = f32> {
    /// The class, from 0.
    pub class: u8,
    /// First sample of the event, counted from 0 at the beginning of the stream; missing ones count.
    pub start: u64,
    /// The sample after its last.
    pub end: u64,
    /// Confidence of the event in nats, over all its samples.
    ///
    /// The gain of the path through the class between `start` and `end` (entry, transitions and likelihoods, but not the exit),
    /// less the gain of the best path of the background alone over the same samples:
    ///
    /// ```text
    /// log p(z_s..e, x_s..e | z_s-1)  -  ( max log p_background(x_1..e) - max log p_background(x_1..s-1) )
    /// ```
    pub log_odds: T,
}

impl<T: Real> Event<T> {
    /// Number of samples of the event.
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

    /// Returns whether both events have the same class and samples.
    pub(super) const fn is_at(&self, other: &Self) -> bool {
        self.class == other.class && self.start == other.start && self.end == other.end
    }
}

/// Events decided by one sample.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Spotted<T, const PENDING: usize> {
    /// Events that are now beyond doubt (or [forced](Self::forced)), in order of time.
    pub events: Vec<Event<T>, PENDING>,
    /// `true` if an event was decided by the lag or for lack of room, before survivors agreed.
    pub forced: bool,
}

/// Best path through the stretch that is not decided yet: what to report when a stream ends.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Undecided<T, const PENDING: usize> {
    /// Events that have ended, in order of time.
    pub events: Vec<Event<T>, PENDING>,
    /// The event that the last sample is in.
    pub open: Option<Event<T>>,
}
