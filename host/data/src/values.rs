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
    match short_decimal(text.as_bytes()) {
        None => text.parse::<f64>().ok().filter(|value| value.is_finite()),
        found => found,
    }
}

/// Powers of ten, exact.
const POWERS: [f64; 17] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16];

/// The value of a decimal of few digits without exponent, in the same bits as [`str::parse`]; `None` of any other text.
///
/// Digits up to `2^53` and a power of ten up to `10^22` are exact in binary, so that their quotient is rounded once (Clinger 1990).
#[inline]
pub(super) fn short_decimal(text: &[u8]) -> Option<f64> {
    const EXACT: u64 = 1 << 53;
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    // Sixteen digits and a point are below 2^64.
    if digits.len() > POWERS.len() {
        return None;
    }
    let (mut mantissa, mut point) = (0_u64, None);
    for (at, &byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => mantissa = 10 * mantissa + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    let decimals = point.map_or(0, |point| digits.len() - point - 1);
    if mantissa > EXACT || digits.len() == usize::from(point.is_some()) {
        return None;
    }
    let value = mantissa as f64 / POWERS[decimals];
    Some(if negative { -value } else { value })
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str) {
        let parsed = text.parse::<f64>().ok().filter(|value| value.is_finite());
        assert_eq!(finite(text).map(f64::to_bits), parsed.map(f64::to_bits), "{text}");
        if let Some(short) = short_decimal(text.as_bytes()) {
            assert_eq!(Some(short.to_bits()), parsed.map(f64::to_bits), "{text}");
        }
    }

    #[test]
    fn numbers_have_the_bits_of_the_standard_library() {
        let odd = [
            "",
            "-",
            ".",
            "-.",
            "+1",
            "--1",
            "1.",
            ".5",
            "-.5",
            "-0",
            "0.0",
            "1.2.3",
            "1e5",
            "1e400",
            "nan",
            "inf",
            "9007199254740992",
            "9007199254740993",
            "-9007199254740.993",
            "99999999999999999",
            "0.000000000000001",
            "123456789.1234567",
            "00000000000000001",
            " 1",
            "1,5",
            "1_000",
            "\u{661}",
        ];
        odd.into_iter().for_each(check);
        assert_eq!(
            short_decimal(b"-2.34567"),
            Some(-2.34567),
            "the usual case takes the short way"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn any_decimal_has_the_bits_of_the_standard_library(text in "[-+]?[0-9]{0,10}[.]?[0-9]{0,10}(e-?[0-9]{1,3})?") {
            check(&text);
        }

        #[test]
        fn any_number_as_written_has_its_bits(bits in any::<u64>(), decimals in 0_usize..12) {
            let value = f64::from_bits(bits);
            check(&value.to_string());
            let tame = (bits as i64 >> 20) as f64 * 1e-6;
            check(&format!("{tame:.decimals$}"));
        }
    }
}
