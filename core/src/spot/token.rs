use heapless::Vec;

use super::event::Event;
use crate::filter::Evidence;
use crate::number::{Max, Real};

/// Entry of a path into its current class, and its score before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entered<T: Real> {
    pub start: u64,
    pub score: Evidence<Max<T>>,
    pub reference: Evidence<Max<T>>,
}

/// Memory of the survivor in a state.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token<T: Real, const PENDING: usize> {
    pub entered: Entered<T>,
    /// Events on the path that are not decided, oldest first.
    pub events: Vec<Event<T>, PENDING>,
}

impl<T: Real> Entered<T> {
    pub(super) const NEVER: Self =
        Self { start: 0, score: Evidence::NONE, reference: Evidence::NONE };

    /// The event that ends here, before sample `end`.
    pub(super) fn until(&self, class: u8, end: u64, now: [&Evidence<Max<T>>; 2]) -> Event<T> {
        let [score, reference] = now;
        let gained = score.difference(&self.score).0 - reference.difference(&self.reference).0;
        Event { class, start: self.start, end, log_odds: gained }
    }
}

impl<T: Real, const PENDING: usize> Token<T, PENDING> {
    pub(super) const NEW: Self = Self { entered: Entered::NEVER, events: Vec::new() };
}
