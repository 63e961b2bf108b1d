//! The target of a regression.

use super::UNIT_LONGEST;

/// The number that a regression estimates per window.
///
/// A regression is a classifier with one output whose value is the estimate, in the target's unit:
/// [`Decision::value`](crate::classify::Decision::value). Its two classes are named after the sign.
///
/// ```
/// use fishweir_core::contract::{Target, TargetValue};
///
/// let force = Target { name: "force", unit: "N", of: TargetValue::Mean, half_width: 2.5, coverage: 0.9 };
/// assert_eq!(force.interval(10.0), Some([7.5, 12.5])); // covers 0.9 of the true values
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Target<'a> {
    /// The name; at most [`NAME_LONGEST`](Self::NAME_LONGEST) bytes, not empty.
    pub name: &'a str,
    /// The unit; empty where it is unknown. At most [`UNIT_LONGEST`] bytes.
    pub unit: &'a str,
    /// The part of a window that the target is of.
    pub of: TargetValue,
    /// Half the width of the interval around an estimate, in the unit; not negative.
    pub half_width: f32,
    /// Share of the true values that the interval covers, below one; 0 without an interval.
    pub coverage: f32,
}

/// The part of a window that a target is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum TargetValue {
    /// The mean over the window.
    Mean = 0,
    /// The value at the last sample.
    Last = 1,
}

impl<'a> Target<'a> {
    /// Largest number of bytes of a name.
    pub const NAME_LONGEST: usize = 64;

    /// The interval around an estimate; `None` if none was learnt.
    #[must_use]
    pub fn interval(&self, estimate: f32) -> Option<[f32; 2]> {
        let (low, high) = (estimate - self.half_width, estimate + self.half_width);
        (self.coverage > 0.0).then_some([low, high])
    }

    /// Returns whether names and numbers are in range.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let short = !self.name.is_empty() && self.name.len() <= Self::NAME_LONGEST;
        let printed =
            !self.name.contains(char::is_control) && !self.unit.contains(char::is_control);
        let interval = self.half_width >= 0.0
            && self.half_width.is_finite()
            && (0.0..1.0).contains(&self.coverage);
        short && printed && interval && self.unit.len() <= UNIT_LONGEST
    }

    /// Reads the content of a section: half width, coverage (`f32`), value (0 or 1), bytes of the unit, unit, name.
    pub(super) fn read(content: &'a [u8]) -> Option<Self> {
        let (&[a, b, c, d, e, f, g, h, of, unit], text) = content.split_first_chunk()?;
        let (unit, name) = text.split_at_checked(unit.into())?;
        let target = Self {
            name: core::str::from_utf8(name).ok()?,
            unit: core::str::from_utf8(unit).ok()?,
            of: match of {
                0 => TargetValue::Mean,
                1 => TargetValue::Last,
                _ => return None,
            },
            half_width: f32::from_le_bytes([a, b, c, d]),
            coverage: f32::from_le_bytes([e, f, g, h]),
        };
        target.is_valid().then_some(target)
    }

    /// The numbers before the texts.
    pub(super) fn head(&self) -> [u8; 10] {
        let ([a, b, c, d], [e, f, g, h]) =
            (self.half_width.to_le_bytes(), self.coverage.to_le_bytes());
        [a, b, c, d, e, f, g, h, self.of as u8, self.unit.len() as u8]
    }
}
