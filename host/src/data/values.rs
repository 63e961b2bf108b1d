//! Sets of numbers that channels may take.

use std::fmt;

use super::error::DataError;
use super::place::Place;
use crate::words::shorten;

/// Set of numbers that a series' channels may take: some models emit counts, or yes and no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// Any finite numbers.
    #[default]
    Reals,
    /// Numbers to which an emission family gives a density; its file has them.
    Only(&'static Support),
}

/// The numbers that an emission family gives a density, where these are not all.
#[derive(Debug)]
pub struct Support {
    /// Channels of such numbers, in words: `channels of counts`.
    pub channels: &'static str,
    /// Returns whether a finite number belongs to the set.
    pub holds: fn(f64) -> bool,
    /// Message for a number outside the set: `... is {unlike}`.
    pub unlike: &'static str,
    /// `true` if they have a unit: whether a channel may be rescaled, and amplified in copies.
    pub has_unit: bool,
}

/// Supports are unique by kind.
impl PartialEq for Support {
    fn eq(&self, other: &Self) -> bool {
        self.channels == other.channels
    }
}

impl Eq for Support {}

/// A finite number, or `None`. Rust reads `nan` and `inf` as numbers; data may not hold them.
#[inline]
pub(super) fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

impl Values {
    /// Channels that hold such numbers, in words.
    #[must_use]
    pub fn channels(self) -> &'static str {
        match self {
            Self::Reals => "real channels",
            Self::Only(support) => support.channels,
        }
    }

    /// Returns whether they have a unit, which may be another.
    #[must_use]
    pub fn have_unit(self) -> bool {
        match self {
            Self::Reals => true,
            Self::Only(support) => support.has_unit,
        }
    }

    /// The number, where it may be one.
    #[inline]
    pub(super) fn check(
        self,
        value: f64,
        text: &str,
        place: impl FnOnce() -> Box<Place>,
    ) -> Result<f64, DataError> {
        match self {
            Self::Only(support) if !(support.holds)(value) => Err(support.refuse(text, place())),
            _ => Ok(value),
        }
    }
}

impl Support {
    /// Error for a field that holds no such number.
    pub(super) fn refuse(&self, text: &str, place: Box<Place>) -> DataError {
        DataError::NotInSupport { place, text: shorten(text), unlike: self.unlike }
    }
}

impl fmt::Display for Values {
    /// Channels that hold such numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.channels())
    }
}
