//! The contract of a model: the conditions under which its decisions are right.
//!
//! A classifier is right about streams that are cut, sampled and scaled as its training data were. Its contract says
//! how that was, and travels with the model in every form: model file, [artefact](crate::artefact), exported source,
//! C header, update, and the [answers on the wire](crate::wire).
//!
//! | part | what it fixes |
//! |---|---|
//! | [`Windows`] | length and hop of a decision in samples, the longest gap, refused samples, partly filled windows |
//! | [`Period`] | the time between two samples, and how far it may be off |
//! | [`ChannelRange`] | unit, centre and spread of each channel in training |
//! | [`Channels::may_be_missing`] | the channels that may be missing while others are present |
//! | [`Target`] | of a regression: what it estimates, its unit, and the interval around an estimate |
//!
//! Names of channels and classes, priors and calibration are stored next to it, if the classifier has them.
//!
//! A missing sample counts towards a window and is no evidence. A refused sample is missing: on the host, on a device,
//! in C and on the wire alike.

mod section;
mod target;
mod windows;

pub use section::{CRITICAL, ContractError, LABELS, SECTION_HEAD, Section, Sections, UNIT_LONGEST};
pub use target::{Target, TargetValue};
pub use windows::{Partial, Refused, WindowClock, Windows, WindowsError};

use core::fmt;

/// Contract of a model: the conditions of its training data.
///
/// ```
/// use fishweir_core::contract::{ChannelRange, Channels, Contract, Period, Windows};
///
/// static CHANNELS: [ChannelRange; 1] = [ChannelRange { unit: "g", centre: 0.1, spread: 0.7 }];
/// static CONTRACT: Contract = Contract {
///     windows: Some(Windows::of(200, 50)),
///     period: Some(Period { nanoseconds: 20_000_000, tolerance: 0.05 }),
///     channels: Channels::of(&CHANNELS),
///     target: None,
/// };
/// assert_eq!(CONTRACT.states(), 4);
/// assert_eq!(CONTRACT.channels.iter().count(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Contract<'a> {
    /// The windows of a decision; `None` where the model decides on whole series.
    pub windows: Option<Windows>,
    /// The sample period; `None` where it is unknown, or where samples have no time.
    pub period: Option<Period>,
    /// Each channel in training; empty over symbols, and if unknown.
    pub channels: Channels<'a>,
    /// Target of a regression; `None` for a classifier.
    pub target: Option<Target<'a>>,
}

impl Contract<'_> {
    /// Nothing is known: whole series, of any rate and scale.
    pub const NONE: Self =
        Self { windows: None, period: None, channels: Channels::NONE, target: None };

    /// The states that the windows take: the windows that are open at a time; one without windows.
    #[must_use]
    pub const fn states(&self) -> usize {
        match self.windows {
            Some(windows) => windows.states(),
            None => 1,
        }
    }

    /// The contract as a Rust expression with whole paths, for code generators.
    pub fn rust(&self) -> impl fmt::Display {
        Rust(self)
    }
}

struct Rust<'a>(&'a Contract<'a>);

impl fmt::Display for Rust<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Types and variants print as they are written; a number prints as the shortest that reads back to its bits.
        let Contract { windows, period, channels, target } = self.0;
        f.write_str("{\n    #[allow(unused_imports)]\n    use fishweir_core::contract::{ChannelRange, Channels, Contract, Partial::*, Period, Refused::*, Target, TargetValue::*, Windows};\n")?;
        write!(f, "    Contract {{\n        windows: {windows:?},\n        period: {period:?},\n")?;
        write!(f, "        channels: Channels::of(&{channels:?})")?;
        if channels.lacks_some() {
            write!(f, ".with_missing(&{:?})", channels.missing)?;
        }
        write!(f, ",\n        target: {target:?},\n    }}\n}}")
    }
}

/// The time between two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Period {
    /// Length of the period in nanoseconds; not zero.
    pub nanoseconds: u64,
    /// The relative error that the model bears: 0.05 for five percent.
    pub tolerance: f32,
}

/// A channel in training.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ChannelRange<'a> {
    /// The unit; empty where it is unknown. At most [`UNIT_LONGEST`] bytes.
    pub unit: &'a str,
    /// The mean, in the unit.
    pub centre: f32,
    /// The standard deviation, in the unit.
    pub spread: f32,
}

/// The channels of a contract, from a table or from an artefact's bytes.
#[derive(Clone, Copy)]
pub struct Channels<'a> {
    source: Source<'a>,
    /// Nonzero for each channel that may be missing, `[channel]`; channels past the end may not.
    missing: &'a [u8],
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Table(&'a [ChannelRange<'a>]),
    /// Sections, checked when they were read.
    Bytes(&'a [u8]),
}

impl<'a> Channels<'a> {
    /// No channel.
    pub const NONE: Self = Self::of(&[]);

    /// The channels of a table, in order.
    #[must_use]
    pub const fn of(table: &'a [ChannelRange<'a>]) -> Self {
        Self { source: Source::Table(table), missing: &[] }
    }

    /// Sets the channels that may be missing while others are present: the non-zero entries of `missing`, `[channel]`.
    #[must_use]
    pub const fn with_missing(self, missing: &'a [u8]) -> Self {
        Self { missing, ..self }
    }

    /// Returns whether a channel may be missing while others are present. If none may, a sample without one is missing.
    pub fn may_be_missing(&self, channel: usize) -> bool {
        self.missing.get(channel).is_some_and(|&one| one != 0)
    }

    /// Returns whether any channel may be missing.
    pub fn lacks_some(&self) -> bool {
        self.missing.iter().any(|&one| one != 0)
    }

    /// The channels in order.
    pub fn iter(&self) -> impl Iterator<Item = ChannelRange<'a>> + use<'a> {
        let (table, bytes): (&[_], &[u8]) = match self.source {
            Source::Table(table) => (table, &[]),
            Source::Bytes(bytes) => (&[], bytes),
        };
        let sections = Sections::new(bytes).map_while(Result::ok);
        table.iter().copied().chain(sections.filter_map(|section| section.channel()))
    }
}

impl PartialEq for Channels<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter()) && self.missing == other.missing
    }
}

impl fmt::Debug for Channels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Channels<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Channels {{ count: {=usize} }}", self.iter().count());
    }
}

#[cfg(test)]
mod tests;
