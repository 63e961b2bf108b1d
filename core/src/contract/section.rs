//! Tagged sections: how artefacts and the wire are extended.
//!
//! A section is a tag (two bytes), the length of its content (four bytes) and the content, little-endian, one after
//! another. A reader skips a section with an unknown tag, unless the tag is [`CRITICAL`]: that one it must refuse.
//!
//! | tag | content |
//! |---|---|
//! | 1, critical | [`Windows`]: length, hop, longest gap (four bytes each), [`Refused`], [`Partial`], two zeros |
//! | 2 | [`Period`]: nanoseconds (eight bytes), tolerance (`f32`) |
//! | 3, once for each channel | [`ChannelRange`]: centre, spread (`f32`), unit (UTF-8) |
//! | 4, critical | labels, in an artefact alone |
//! | 5 | the channels that [may be missing](Channels::may_be_missing), a byte each: 1 or 0; the artefact's shape says it too |
//! | 6 | the [basis](crate::classify::teach::TeachingBasis) that classes are taught by, in an artefact alone |
//! | 7, critical | [`Target`]: half width, coverage (`f32`), value and bytes of the unit (a byte each), unit, name (UTF-8) |

use core::fmt;

use super::{ChannelRange, Channels, Contract, Partial, Period, Refused, Source, Target, Windows};

/// The bit of a critical tag: a reader that does not know the tag must refuse the whole.
pub const CRITICAL: u16 = 0x8000;

/// Bytes of a section before its content.
pub const SECTION_HEAD: usize = 6;

/// Largest number of bytes of a unit.
pub const UNIT_LONGEST: usize = 24;

const WINDOWS: u16 = CRITICAL | 1;
const PERIOD: u16 = 2;
const CHANNEL: u16 = 3;
const MISSING: u16 = 5;
const TARGET: u16 = CRITICAL | 7;
/// The tag of an artefact's labels.
pub const LABELS: u16 = CRITICAL | 4;

/// A section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Section<'a> {
    /// The kind of its content.
    pub tag: u16,
    /// Content of the section.
    pub content: &'a [u8],
}

/// Reason why sections were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ContractError {
    /// The bytes end inside a section.
    Truncated,
    /// A critical section that this code does not know: a later version wrote it.
    Unknown(u16),
    /// A section with an invalid value.
    Invalid(u16),
    /// A section that occurs twice.
    Repeated(u16),
}

impl ContractError {
    /// Returns the stable name of the fault, in kebab-case; that of the innermost error.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Unknown(_) => "unknown-section",
            Self::Invalid(_) => "invalid-section",
            Self::Repeated(_) => "repeated-section",
        }
    }
}

impl fmt::Display for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the bytes end inside a section"),
            Self::Unknown(tag) => write!(
                f,
                "section {tag:#06x} was written by a later fishweir, and without it decisions would be wrong"
            ),
            Self::Invalid(tag) => write!(f, "section {tag:#06x} holds an invalid value"),
            Self::Repeated(tag) => write!(f, "section {tag:#06x} occurs twice"),
        }
    }
}

impl core::error::Error for ContractError {}

/// The sections in some bytes, in order.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Sections<'a>(&'a [u8]);

impl<'a> Sections<'a> {
    /// Sections in bytes that hold nothing else.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

impl<'a> Iterator for Sections<'a> {
    type Item = Result<Section<'a>, ContractError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let split = self.0.split_first_chunk().and_then(|(&[a, b, c, d, e, g], rest)| {
            let length = u32::from_le_bytes([c, d, e, g]) as usize;
            let (content, rest) = rest.split_at_checked(length)?;
            Some((Section { tag: u16::from_le_bytes([a, b]), content }, rest))
        });
        let Some((section, rest)) = split else {
            self.0 = &[];
            return Some(Err(ContractError::Truncated));
        };
        self.0 = rest;
        Some(Ok(section))
    }
}

impl<'a> Section<'a> {
    /// The bytes before the content.
    #[must_use]
    pub const fn head(&self) -> [u8; SECTION_HEAD] {
        let [a, b] = self.tag.to_le_bytes();
        let [c, d, e, f] = (self.content.len() as u32).to_le_bytes();
        [a, b, c, d, e, f]
    }

    pub(super) fn channel(&self) -> Option<ChannelRange<'a>> {
        let (&[a, b, c, d, e, f, g, h], unit) = self.content.split_first_chunk()?;
        let unit = core::str::from_utf8(unit).ok()?;
        let [centre, spread] = [[a, b, c, d], [e, f, g, h]].map(f32::from_le_bytes);
        let sound = self.tag == CHANNEL && centre.is_finite() && spread >= 0.0;
        let sound = sound && spread.is_finite() && unit.len() <= UNIT_LONGEST;
        (sound && !unit.contains(char::is_control)).then_some(ChannelRange { unit, centre, spread })
    }

    fn windows(&self) -> Option<Windows> {
        let &[a, b, c, d, e, f, g, h, i, j, k, l, refused, partial, 0, 0] = self.content else {
            return None;
        };
        let windows = Windows {
            length: u32::from_le_bytes([a, b, c, d]),
            hop: u32::from_le_bytes([e, f, g, h]),
            longest_gap: u32::from_le_bytes([i, j, k, l]),
            refused: (refused == Refused::Missing as u8).then_some(Refused::Missing)?,
            partial: match partial {
                0 => Partial::OnRequest,
                1 => Partial::Never,
                _ => return None,
            },
        };
        windows.check().is_ok().then_some(windows)
    }

    fn period(&self) -> Option<Period> {
        let &[a, b, c, d, e, f, g, h, ref tolerance @ ..] = self.content else { return None };
        let period = Period {
            nanoseconds: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            tolerance: f32::from_le_bytes(*tolerance.first_chunk::<4>()?),
        };
        let sound = period.nanoseconds > 0 && period.tolerance >= 0.0 && self.content.len() == 12;
        (sound && period.tolerance.is_finite()).then_some(period)
    }
}

impl<'a> Contract<'a> {
    /// Reads the sections of an artefact, or of a device's answers; labels are passed over.
    ///
    /// Cost: one pass; the channels stay where they are.
    ///
    /// # Errors
    /// [`ContractError`] naming the section.
    pub fn read(bytes: &'a [u8]) -> Result<Self, ContractError> {
        let channels = Channels { source: Source::Bytes(bytes), missing: &[] };
        let mut contract = Self { channels, ..Contract::NONE };
        let mut labels = false;
        for section in Sections::new(bytes) {
            let section = section?;
            let invalid = ContractError::Invalid(section.tag);
            let repeated = match section.tag {
                WINDOWS => contract.windows.replace(section.windows().ok_or(invalid)?).is_some(),
                PERIOD => contract.period.replace(section.period().ok_or(invalid)?).is_some(),
                CHANNEL => section.channel().ok_or(invalid).map(|_| false)?,
                MISSING => {
                    let some = section.content.contains(&1);
                    if !some || section.content.iter().any(|&one| one > 1) {
                        return Err(invalid);
                    }
                    !core::mem::replace(&mut contract.channels.missing, section.content).is_empty()
                }
                TARGET => {
                    let target = Target::read(section.content).ok_or(invalid)?;
                    contract.target.replace(target).is_some()
                }
                LABELS => core::mem::replace(&mut labels, true),
                tag if tag & CRITICAL > 0 => return Err(ContractError::Unknown(tag)),
                _ => false,
            };
            if repeated {
                return Err(ContractError::Repeated(section.tag));
            }
        }
        Ok(contract)
    }

    /// Number of sections of the contract.
    #[must_use]
    pub fn sections(&self) -> usize {
        usize::from(self.windows.is_some())
            + usize::from(self.period.is_some())
            + self.channels.iter().count()
            + usize::from(self.channels.lacks_some())
            + usize::from(self.target.is_some())
    }

    /// Hands over the bytes of a section, piece by piece; false where it has no such section.
    pub fn write_section(&self, index: usize, put: &mut impl FnMut(&[u8])) -> bool {
        let (mut number, mut found) = (0, false);
        let mut each = |tag: u16, parts: &[&[u8]]| {
            if number == index {
                let length: usize = parts.iter().map(|part| part.len()).sum();
                put(&tag.to_le_bytes());
                put(&(length as u32).to_le_bytes());
                parts.iter().for_each(|part| put(part));
                found = true;
            }
            number += 1;
        };
        if let Some(Windows { length, hop, longest_gap, refused, partial }) = self.windows {
            let [length, hop, longest_gap] = [length, hop, longest_gap].map(u32::to_le_bytes);
            let rules = [refused as u8, partial as u8, 0, 0];
            each(WINDOWS, &[&length, &hop, &longest_gap, &rules]);
        }
        if let Some(Period { nanoseconds, tolerance }) = self.period {
            each(PERIOD, &[&nanoseconds.to_le_bytes(), &tolerance.to_le_bytes()]);
        }
        for ChannelRange { unit, centre, spread } in self.channels.iter() {
            each(CHANNEL, &[&centre.to_le_bytes(), &spread.to_le_bytes(), unit.as_bytes()]);
        }
        if self.channels.lacks_some() {
            each(MISSING, &[self.channels.missing]);
        }
        if let Some(target) = &self.target {
            each(TARGET, &[&target.head(), target.unit.as_bytes(), target.name.as_bytes()]);
        }
        found
    }
}
