//! Units of channels and of time: how they are read off names, and which convert into which.
//!
//! A unit ends a name in brackets or parentheses: `ax [g]`, `Linear Acceleration x (m/s^2)`, `t [ms]`.

use std::fmt;

use fishweir_core::contract::UNIT_LONGEST;

use super::error::DataError;
use crate::words::shorten;

/// A physical quantity, and the unit that the table below counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    /// Seconds.
    Time,
    /// Metres per second squared.
    Acceleration,
    /// Radians per second.
    TurningRate,
    /// Radians.
    Angle,
    /// Volts.
    Voltage,
    /// Amperes.
    Current,
    /// Watts.
    Power,
    /// Teslas.
    MagneticField,
    /// Pascals.
    Pressure,
    /// Kelvins.
    Temperature,
    /// Metres.
    Length,
    /// Metres per second.
    Speed,
    /// Hertz.
    Frequency,
}

/// Standard gravity, in metres per second squared.
pub const GRAVITY: f64 = 9.806_65;

/// A degree in radians.
pub const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// A unit: its spellings, its quantity, and `factor` and `offset` of `base = factor * value + offset`.
type Unit = (&'static [&'static str], Quantity, f64, f64);

use Quantity::{
    Acceleration, Angle, Current, Frequency, Length, MagneticField, Power, Pressure, Speed,
    Temperature, Time, TurningRate, Voltage,
};

/// All units with a conversion. Spellings are as [`plain`] leaves them.
const UNITS: &[Unit] = &[
    (&["s", "sec", "second", "seconds"], Time, 1.0, 0.0),
    (&["ms", "msec", "millisecond", "milliseconds"], Time, 1e-3, 0.0),
    (&["us", "usec", "microsecond", "microseconds"], Time, 1e-6, 0.0),
    (&["ns", "nanosecond", "nanoseconds"], Time, 1e-9, 0.0),
    (&["min", "minute", "minutes"], Time, 60.0, 0.0),
    (&["h", "hour", "hours"], Time, 3600.0, 0.0),
    (&["d", "day", "days"], Time, 86_400.0, 0.0),
    (&["m/s^2", "m/s2", "m/s/s", "ms^-2", "ms-2"], Acceleration, 1.0, 0.0),
    (&["ft/s^2", "ft/s2"], Acceleration, 0.3048, 0.0),
    (&["cm/s^2", "cm/s2", "Gal"], Acceleration, 1e-2, 0.0),
    (&["g", "g0", "gn"], Acceleration, GRAVITY, 0.0),
    (&["mg"], Acceleration, 1e-3 * GRAVITY, 0.0),
    (&["ug"], Acceleration, 1e-6 * GRAVITY, 0.0),
    (&["rad/s", "rad/sec", "rads^-1", "rads-1", "radians/s"], TurningRate, 1.0, 0.0),
    (&["mrad/s"], TurningRate, 1e-3, 0.0),
    (
        &["deg/s", "deg/sec", "dps", "°/s", "degs^-1", "degs-1", "degrees/s"],
        TurningRate,
        DEGREE,
        0.0,
    ),
    (&["mdeg/s", "mdps"], TurningRate, 1e-3 * DEGREE, 0.0),
    (&["rpm", "1/min"], TurningRate, 6.0 * DEGREE, 0.0),
    (&["rad"], Angle, 1.0, 0.0),
    (&["deg", "°", "degrees"], Angle, DEGREE, 0.0),
    (&["V"], Voltage, 1.0, 0.0),
    (&["mV"], Voltage, 1e-3, 0.0),
    (&["uV"], Voltage, 1e-6, 0.0),
    (&["kV"], Voltage, 1e3, 0.0),
    (&["A"], Current, 1.0, 0.0),
    (&["mA"], Current, 1e-3, 0.0),
    (&["uA"], Current, 1e-6, 0.0),
    (&["W"], Power, 1.0, 0.0),
    (&["mW"], Power, 1e-3, 0.0),
    (&["kW"], Power, 1e3, 0.0),
    (&["T"], MagneticField, 1.0, 0.0),
    (&["mT"], MagneticField, 1e-3, 0.0),
    (&["uT"], MagneticField, 1e-6, 0.0),
    (&["nT"], MagneticField, 1e-9, 0.0),
    (&["G", "Gs", "gauss", "Gauss"], MagneticField, 1e-4, 0.0),
    (&["mG", "mgauss"], MagneticField, 1e-7, 0.0),
    (&["Pa"], Pressure, 1.0, 0.0),
    (&["hPa", "mbar"], Pressure, 1e2, 0.0),
    (&["kPa"], Pressure, 1e3, 0.0),
    (&["bar"], Pressure, 1e5, 0.0),
    (&["K"], Temperature, 1.0, 0.0),
    (&["°C", "degC", "C", "Celsius", "celsius"], Temperature, 1.0, 273.15),
    (
        &["°F", "degF", "F", "Fahrenheit", "fahrenheit"],
        Temperature,
        5.0 / 9.0,
        273.15 - 32.0 * 5.0 / 9.0,
    ),
    (&["m"], Length, 1.0, 0.0),
    (&["cm"], Length, 1e-2, 0.0),
    (&["mm"], Length, 1e-3, 0.0),
    (&["um"], Length, 1e-6, 0.0),
    (&["m/s"], Speed, 1.0, 0.0),
    (&["mm/s"], Speed, 1e-3, 0.0),
    (&["km/h"], Speed, 1.0 / 3.6, 0.0),
    (&["Hz"], Frequency, 1.0, 0.0),
    (&["kHz"], Frequency, 1e3, 0.0),
];

/// Splits a name into the quantity and its unit, which is empty if not given.
///
/// ```text
/// "ax [g]" -> ("ax", "g"),    "ax(m/s^2)" -> ("ax", "m/s^2"),    "ax" -> ("ax", "")
/// ```
#[must_use]
pub fn split_unit(name: &str) -> (&str, &str) {
    let name = name.trim();
    let split = [('[', ']'), ('(', ')')].into_iter().find_map(|(open, close)| {
        let (before, unit) = name.strip_suffix(close)?.rsplit_once(open)?;
        let (before, unit) = (before.trim_end(), unit.trim());
        (!before.is_empty() && unit.len() <= UNIT_LONGEST).then_some((before, unit))
    });
    split.unwrap_or((name, ""))
}

/// Returns whether a text is a unit with a conversion.
pub(super) fn is_unit(text: &str) -> bool {
    find(text).is_some()
}

/// A unit in the spelling of the table: no blanks, no raised digits, one letter for micro.
fn plain(unit: &str) -> String {
    let mut plain = String::with_capacity(unit.len());
    for one in unit.chars() {
        match one {
            one if one.is_whitespace() => {}
            '·' | '*' if !plain.ends_with('^') => plain.push('*'),
            '¹' => plain.push('1'),
            '²' => plain.push_str("^2"),
            'º' => plain.push('°'),
            '⁻' => plain.push_str("^-"),
            'µ' | 'μ' => plain.push('u'),
            one => plain.push(one),
        }
    }
    plain.replace("**", "^").replace('*', "").replace("s^-^2", "s^-2")
}

fn find(unit: &str) -> Option<&'static Unit> {
    let unit = plain(unit);
    UNITS.iter().find(|(spellings, ..)| spellings.contains(&unit.as_str()))
}

/// Returns whether a text is a unit with a conversion.
pub(super) fn is_known(unit: &str) -> bool {
    find(unit).is_some()
}

/// Conversion of numbers from one unit to another: `factor * value + offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    /// The factor.
    pub factor: f64,
    /// Term that is added.
    pub offset: f64,
}

impl Conversion {
    /// Numbers stay as they are.
    pub const NONE: Self = Self { factor: 1.0, offset: 0.0 };

    /// Conversion from one unit to another; numbers stay unchanged if one of the units is empty, or they are the same. `None` if
    /// both are there and do not convert.
    #[must_use]
    pub fn between(from: &str, to: &str) -> Option<Self> {
        if from.is_empty() || to.is_empty() || plain(from) == plain(to) {
            return Some(Self::NONE);
        }
        let ((_, quantity, factor, offset), (_, other, to_factor, to_offset)) =
            (find(from)?, find(to)?);
        let offset = (offset - to_offset) / to_factor;
        (quantity == other).then(|| Self { factor: factor / to_factor, offset })
    }

    /// The number in the other unit.
    #[must_use]
    pub fn of(&self, value: f64) -> f64 {
        // Bits stay where there is nothing to convert.
        if *self == Self::NONE { value } else { self.factor * value + self.offset }
    }
}

/// Describes the operation on a number: `times 9.80665`, `times 0.555556, minus 17.7778`.
impl fmt::Display for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let six_digits = |number: f64| format!("{number:.5e}").parse().unwrap_or(number);
        let factor: f64 = six_digits(self.factor);
        write!(f, "times {factor}")?;
        let offset: f64 = six_digits(self.offset);
        match offset {
            offset if offset > 0.0 => write!(f, ", plus {offset}"),
            offset if offset < 0.0 => write!(f, ", minus {}", -offset),
            _ => Ok(()),
        }
    }
}

/// Conversion of numbers in a unit of time to seconds; `None` without a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimeUnit {
    factor: f64,
    /// `true` if the header has the unit; otherwise the numbers are seconds, or count samples.
    pub(super) named: bool,
}

impl TimeUnit {
    /// Seconds, if no unit is given.
    pub(super) const UNNAMED: Self = Self { factor: 1.0, named: false };

    /// Parses a column's name, if it is that of the time: `t`, `t [ms]`. An unknown unit is an error, described in words.
    pub(super) fn of(name: &str) -> Option<Result<Self, String>> {
        let (base, unit) = split_unit(name);
        if base != "t" {
            return None;
        }
        if unit.is_empty() {
            return Some(Ok(Self::UNNAMED));
        }
        Some(match find(unit) {
            Some(&(_, Time, factor, _)) => Ok(Self { factor, named: true }),
            _ => Err(format!(
                "the unit of the column `{name}` is unknown; write t [s], t [ms], t [us], t [ns], t [min], t [h] or \
                 t [d]"
            )),
        })
    }

    /// The seconds.
    pub(super) fn seconds(&self, t: f64) -> f64 {
        // A thousandth of 20 is the 0.02 that would have been written, where 20 times 0.001 need not be.
        if self.factor < 1.0 { t / self.factor.recip().round() } else { t * self.factor }
    }
}

/// The column of each wanted channel among some names, and how its numbers are converted. A channel is found by its whole
/// name; else by its name without the unit, where one name alone has that.
///
/// # Errors
/// The wanted name that is not there, or whose unit does not convert.
pub(super) fn find_channels(
    wanted: &[String],
    names: &[(usize, &str)],
) -> Result<Vec<(usize, Conversion)>, NoChannel> {
    let mut found = Vec::with_capacity(wanted.len());
    for name in wanted {
        if let Some(&(column, _)) = names.iter().find(|(_, one)| one == name) {
            found.push((column, Conversion::NONE));
            continue;
        }
        let (base, unit) = split_unit(name);
        // What stands in brackets is a unit on one side if it is one on the other, or known.
        let alike = |one: &&(usize, &str)| {
            let (other, its) = split_unit(one.1);
            let sure = |unit: &str| unit.is_empty() || is_known(unit);
            base == other && (sure(unit) || sure(its))
        };
        let mut alike = names.iter().filter(alike);
        let (Some(&(column, other)), None) = (alike.next(), alike.next()) else {
            return Err(NoChannel { name: name.clone(), other: None });
        };
        match Conversion::between(split_unit(other).1, unit) {
            Some(conversion) => found.push((column, conversion)),
            None => {
                return Err(NoChannel { name: name.clone(), other: Some(other.to_owned()) });
            }
        }
    }
    Ok(found)
}

/// A wanted channel that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NoChannel {
    /// The wanted name.
    pub(super) name: String,
    /// Name of the channel in a unit that does not convert.
    pub(super) other: Option<String>,
}

impl NoChannel {
    /// Converts to the error of a file whose header, on that line, has these channels.
    pub(super) fn error(self, file: &str, line: u64, names: &[(usize, &str)]) -> DataError {
        let file = file.to_owned();
        match self.other {
            Some(found) => DataError::OtherUnit { file, found, wanted: self.name },
            None => {
                let names: Vec<&str> = names.iter().map(|&(_, name)| name).collect();
                let what = format!(
                    "has no channel `{}`, which is needed; it has {}",
                    self.name,
                    shorten(&names.join(", "))
                );
                DataError::Header { file, line, what }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_ends_the_name() {
        for (name, base, unit) in [
            ("ax [g]", "ax", "g"),
            ("ax(m/s^2)", "ax", "m/s^2"),
            ("Linear Acceleration x (m/s^2)", "Linear Acceleration x", "m/s^2"),
            ("ax", "ax", ""),
            ("(g)", "(g)", ""),
            ("x [g] raw", "x [g] raw", ""),
            ("x [a far too long unit of a channel]", "x [a far too long unit of a channel]", ""),
        ] {
            assert_eq!(split_unit(name), (base, unit), "{name}");
        }
    }

    #[test]
    fn units_of_one_quantity_convert_and_others_do_not() {
        let factor = |from: &str, to: &str| Conversion::between(from, to).map(|one| one.factor);
        let near = |from: &str, to: &str, wanted: f64| {
            let found = factor(from, to).unwrap_or_else(|| panic!("{from} to {to}"));
            assert!((found / wanted - 1.0).abs() < 1e-12, "{from} to {to}: {found}");
        };
        near("g", "m/s^2", GRAVITY);
        near("m/s²", "g", 1.0 / GRAVITY);
        near("m s⁻²", "m / s^2", 1.0);
        near("m·s^-2", "m*s**-2", 1.0);
        near("mg", "g", 1e-3);
        near("dps", "rad/s", DEGREE);
        near("rad/s", "°/s", 1.0 / DEGREE);
        for unit in ["deg s^-1", "º/s", "degrees/s", "deg·s⁻¹"] {
            near(unit, "rad s-1", DEGREE);
        }
        near("µg", "g", 1e-6);
        near("mV", "V", 1e-3);
        near("µT", "mT", 1e-3);
        near("G", "uT", 100.0);
        for (from, to) in [("g", "rad/s"), ("V", "A"), ("counts", "g"), ("mV", "furlong")] {
            assert_eq!(factor(from, to), None, "{from} to {to}");
        }
        assert_eq!(Conversion::between("counts", "counts"), Some(Conversion::NONE));
        assert_eq!(Conversion::between("", "g"), Some(Conversion::NONE));
        let freezing = Conversion::between("°F", "°C").expect("temperatures").of(32.0);
        assert!(freezing.abs() < 1e-9, "{freezing}");
    }

    #[test]
    fn every_spelling_is_of_one_unit() {
        let all: Vec<&str> = UNITS.iter().flat_map(|(spellings, ..)| *spellings).copied().collect();
        for (index, spelling) in all.iter().enumerate() {
            assert_eq!(plain(spelling), *spelling);
            assert!(!all[..index].contains(spelling), "{spelling}");
        }
    }

    #[test]
    fn times_are_the_decimals_that_seconds_would_be() {
        let unit = |name: &str| TimeUnit::of(name).expect("the time").expect("known");
        for ms in 0..5000 {
            let wanted: f64 = format!("{}.{:03}", ms / 1000, ms % 1000).parse().expect("a number");
            assert_eq!(unit("t [ms]").seconds(f64::from(ms)), wanted);
        }
        assert_eq!(unit("t(min)").seconds(0.5), 30.0);
        assert!(!unit("t").named && unit("t (s)").named);
        assert!(TimeUnit::of("time [ms]").is_none());
        assert!(TimeUnit::of("t [g]").expect("the time").is_err());
    }

    #[test]
    fn channels_are_found_by_name_whatever_their_unit() {
        let wanted = |names: &[&str]| names.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
        let find = |names: &[&str], there: &[&str]| {
            let there: Vec<(usize, &str)> = there.iter().copied().enumerate().collect();
            find_channels(&wanted(names), &there)
        };
        let columns = |found: Result<Vec<(usize, Conversion)>, NoChannel>| {
            found.expect("found").iter().map(|one| one.0).collect::<Vec<_>>()
        };
        assert_eq!(columns(find(&["b", "a"], &["a", "b"])), [1, 0]);
        let found = find(&["ax [g]"], &["ay [g]", "ax (m/s^2)"]).expect("converted");
        assert!(found[0].0 == 1 && (found[0].1.factor * GRAVITY - 1.0).abs() < 1e-12);
        assert_eq!(find(&["ax [g]"], &["ax"]), Ok(vec![(0, Conversion::NONE)]));
        assert_eq!(find(&["ax"], &["ax [g]"]), Ok(vec![(0, Conversion::NONE)]));
        let other = find(&["ax [g]"], &["ax [V]"]).expect_err("no conversion").other;
        assert_eq!(other.as_deref(), Some("ax [V]"));
        // The whole name has priority, and no two channels have one name.
        assert_eq!(columns(find(&["ax [g]"], &["ax [V]", "ax [g]"])), [1]);
        assert!(find(&["ax [mg]"], &["ax [g]", "ax (m/s^2)"]).is_err());
        assert!(find(&["t (left)"], &["t (right)"]).is_err());
    }
}
