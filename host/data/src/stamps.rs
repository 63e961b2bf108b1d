//! Columns of times: numbers in some unit, epochs, dates.

use super::quantity::{TimeUnit, split_unit};
use super::values::finite;

/// Names of columns of times other than `t`, without case, and the unit if the name implies it; the first that exists is used.
const NAMES: [(&str, &str); 35] = [
    ("seconds_elapsed", "s"),
    ("time_s", "s"),
    ("t_s", "s"),
    ("time_sec", "s"),
    ("time_seconds", "s"),
    ("seconds", "s"),
    ("elapsed_s", "s"),
    ("time_ms", "ms"),
    ("t_ms", "ms"),
    ("timestamp_ms", "ms"),
    ("elapsed_ms", "ms"),
    ("milliseconds", "ms"),
    ("millis", "ms"),
    ("time_us", "us"),
    ("t_us", "us"),
    ("timestamp_us", "us"),
    ("microseconds", "us"),
    ("micros", "us"),
    ("time_ns", "ns"),
    ("t_ns", "ns"),
    ("timestamp_ns", "ns"),
    ("nanoseconds", "ns"),
    ("elapsed", ""),
    ("elapsed_time", ""),
    ("timestamp", ""),
    ("time_stamp", ""),
    ("time", ""),
    ("datetime", ""),
    ("date_time", ""),
    ("ts", ""),
    ("zeit", ""),
    ("uhrzeit", ""),
    ("zeitstempel", ""),
    ("date", ""),
    ("datum", ""),
];

/// A name as the lists have it: small letters, `_` for blanks.
pub(super) fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-', '.'], "_")
}

/// Rank of a name for a column of times, 0 best; `None` if it does not fit. `t` itself is found before.
pub(super) fn rank(name: &str) -> Option<usize> {
    let (base, _) = split_unit(name);
    let base = plain(base);
    if base == "t" {
        return Some(0);
    }
    let known = NAMES.iter().position(|(known, _)| *known == base).map(|at| at + 1);
    // `unix_time`, `Sensor timestamp`: what else has the word.
    let mut words = base.split(|one: char| !one.is_alphanumeric());
    let mut timely = || words.any(|word| WORDS.contains(&word));
    known.or_else(|| timely().then_some(NAMES.len() + 1))
}

/// Returns whether a column is of dates by its name, which may be days without a time.
pub(super) fn is_date(name: &str) -> bool {
    ["date", "datum"].contains(&plain(split_unit(name).0).as_str())
}

/// Words in names of times.
const WORDS: [&str; 6] = ["time", "timestamp", "datetime", "unixtime", "unix", "epoch"];

/// Reading of a column of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Times {
    /// Numbers in a unit.
    Numbers(TimeUnit),
    /// Whole units since some moment long ago, `per_second` of them per second, from this one on.
    Epoch { per_second: i64, origin: i64 },
    /// Dates with times, in nanoseconds from this one on. `other` is the origin in the other order, where the first dates fit both.
    Dates { origin: i128, order: Order, other: Option<i128> },
}

/// Part that comes first in a date with the year last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// `03/14/2025`.
    Month,
    /// `14/03/2025`.
    Day,
}

impl Order {
    fn other(self) -> Self {
        match self {
            Self::Month => Self::Day,
            Self::Day => Self::Month,
        }
    }

    /// Order in which all fields are dates, and whether the other one fits as well and gives the same steps.
    ///
    /// # Errors
    /// Both orders fit, and the dates differ.
    fn of(fields: &[&str]) -> Result<(Self, bool), String> {
        let all = |order| -> Option<Vec<i128>> {
            fields.iter().map(|field| nanoseconds_in(field, order)).collect()
        };
        let since = |times: &[i128]| times.iter().map(|t| t - times[0]).collect::<Vec<_>>();
        match (all(Self::Month), all(Self::Day)) {
            (Some(months), Some(days)) if since(&months) != since(&days) => Err(format!(
                "dates such as `{}` may begin with the day or the month; write the year first, as in 2025-03-14",
                fields.first().unwrap_or(&"")
            )),
            (None, Some(_)) => Ok((Self::Day, false)),
            (Some(months), Some(days)) => Ok((Self::Month, months != days)),
            _ => Ok((Self::Month, false)),
        }
    }
}

/// Reading of times without a unit, and whether it was guessed.
pub(super) struct Settled {
    pub(super) times: Times,
    /// Description of the finding.
    pub(super) found: Option<String>,
}

impl Times {
    /// Determines the times of a column by its name and its first fields. An unknown unit is an error, described in words.
    ///
    /// # Errors
    /// Neither name nor fields determine the times.
    pub(super) fn of(name: &str, fields: &[&str]) -> Result<Settled, String> {
        let (base, unit) = split_unit(name);
        let base = plain(base);
        let by_name = NAMES.iter().find(|(known, _)| *known == base).map_or("", |(_, unit)| unit);
        let unit = if unit.is_empty() { by_name } else { unit };
        let Some(&first) = fields.first() else {
            return Ok(Settled { times: Self::unnamed(unit)?, found: None });
        };
        if finite(first).is_none() && finite(&first.replacen(',', ".", 1)).is_none() {
            let (order, is_open) = Order::of(fields)?;
            let origin = nanoseconds_in(first, order).ok_or_else(|| {
                format!("`{first}` in the column `{name}` is neither a number nor a date such as 2025-03-01T10:00:00.5")
            })?;
            return Ok(Settled {
                times: Self::Dates {
                    origin,
                    order,
                    other: nanoseconds_in(first, order.other()).filter(|_| is_open),
                },
                found: Some("dates".into()),
            });
        }
        if !unit.is_empty() {
            return Ok(Settled { times: Self::unnamed(unit)?, found: None });
        }
        let whole: Option<Vec<i64>> = fields.iter().map(|field| field.parse().ok()).collect();
        let epoch = |value: i64| match value {
            100_000_000_000..100_000_000_000_000 => Some((1_000, "milliseconds")),
            100_000_000_000_000..100_000_000_000_000_000 => Some((1_000_000, "microseconds")),
            100_000_000_000_000_000.. => Some((1_000_000_000, "nanoseconds")),
            _ => None,
        };
        if let Some(&[origin, ..]) = whole.as_deref()
            && let Some((per_second, words)) = epoch(origin)
        {
            let found = Some(format!("{words} since 1970"));
            return Ok(Settled { times: Self::Epoch { per_second, origin }, found });
        }
        // A counter of a device that ticks by more than one counts milliseconds.
        if let Some(whole) = whole.filter(|_| base != "t") {
            let mut steps: Vec<i64> = whole
                .windows(2)
                .map(|pair| pair[1].saturating_sub(pair[0]))
                .filter(|&step| step > 0)
                .collect();
            steps.sort_unstable();
            let usual = steps.get(steps.len() / 2).copied().unwrap_or_default();
            if (2..=1000).contains(&usual) {
                let times = Self::unnamed("ms")?;
                let found = Some(format!("milliseconds, whole numbers that rise by {usual}"));
                return Ok(Settled { times, found });
            }
        }
        Ok(Settled { times: Self::Numbers(TimeUnit::UNNAMED), found: None })
    }

    /// Numbers in a unit, which may be empty.
    fn unnamed(unit: &str) -> Result<Self, String> {
        match unit {
            "" => Ok(Self::Numbers(TimeUnit::UNNAMED)),
            unit => match TimeUnit::of(&format!("t [{unit}]")) {
                Some(found) => found.map(Self::Numbers),
                None => Ok(Self::Numbers(TimeUnit::UNNAMED)),
            },
        }
    }

    /// Returns whether the times are seconds regardless of their steps.
    pub(super) fn named(self) -> bool {
        match self {
            Self::Numbers(unit) => unit.named,
            Self::Epoch { .. } | Self::Dates { .. } => true,
        }
    }

    /// The seconds of a field; `None` also for a date that gives another time with the day first than with the month first.
    pub(super) fn seconds(self, text: &str) -> Option<f64> {
        match self {
            Self::Numbers(unit) => finite(text).map(|t| unit.seconds(t)),
            Self::Epoch { per_second, origin } => match text.parse::<i64>() {
                Ok(whole) => Some(whole.checked_sub(origin)? as f64 / per_second as f64),
                Err(_) => Some((finite(text)? - origin as f64) / per_second as f64),
            },
            Self::Dates { origin, order, other } => {
                let since = nanoseconds_in(text, order)? - origin;
                let in_other = |other| Some(nanoseconds_in(text, order.other())? - other);
                let is_certain = other.is_none_or(|other| in_other(other) == Some(since));
                is_certain.then_some(since as f64 / 1e9)
            }
        }
    }
}

/// The nanoseconds since 1970 of a date with a time as ISO 8601 has it, or with dots as in Germany; of a time of the day alone
/// those since midnight. Offsets from UTC are looked at.
pub(super) fn nanoseconds(text: &str) -> Option<i128> {
    nanoseconds_in(text, Order::Month).or_else(|| nanoseconds_in(text, Order::Day))
}

/// [`nanoseconds`], with a known order of dates that have the year last. Hours may be of half a day: `1:30 PM`.
fn nanoseconds_in(text: &str, order: Order) -> Option<i128> {
    let (text, half) = match half_of_day(text.trim()) {
        Some((text, half)) => (text, Some(half)),
        None => (text.trim(), None),
    };
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (days(date.trim_end_matches(','), order)?, time.trim()),
        None if text.contains(':') => (0, text),
        None => (days(text, order)?, "0:00"),
    };
    let time = time.trim_end_matches(['Z', 'z']).trim_end();
    let (clock, offset) = match time.rfind(['+', '-']) {
        Some(at) => {
            let sign = if time[at..].starts_with('-') { -1 } else { 1 };
            let (hours, minutes) = match time[at + 1..].split_once(':') {
                Some((hours, minutes)) => (hours, minutes),
                None => time[at + 1..].split_at_checked(2)?,
            };
            let minutes = if minutes.is_empty() { "0" } else { minutes };
            (&time[..at], sign * (60 * number(hours)? + number(minutes)?))
        }
        None => (time, 0),
    };
    // Minutes and seconds with a fraction, as spreadsheets shorten it.
    let short = clock.matches(':').count() == 1 && clock.contains(['.', ',']);
    let mut parts = short.then_some("0").into_iter().chain(clock.trim().split(':'));
    let (mut hours, minutes) = (number(parts.next()?)?, number(parts.next()?)?);
    if let Some(half) = half {
        if !(1..=12).contains(&hours) {
            return None;
        }
        hours = hours % 12 + half;
    }
    let seconds = parts.next().unwrap_or("0");
    let (whole, part) = seconds.split_once(['.', ',']).unwrap_or((seconds, ""));
    let whole = number(whole)?;
    if parts.next().is_some() || hours > 24 || minutes > 59 || whole > 60 || part.len() > 18 {
        return None;
    }
    let mut nanoseconds: i128 = 0;
    if !part.is_empty() {
        let digits: String = part.chars().chain("000000000".chars()).take(9).collect();
        number(part)?;
        nanoseconds = number(&digits)?;
    }
    let minutes = (24 * date + hours) * 60 + minutes - offset;
    Some((minutes * 60 + whole) * 1_000_000_000 + nanoseconds)
}

/// Splits off `AM` or `PM`; returns the time without it and the hours that it adds.
fn half_of_day(text: &str) -> Option<(&str, i128)> {
    let at = text.len().checked_sub(2).filter(|&at| text.is_char_boundary(at))?;
    let (before, half) = text.split_at(at);
    let hours = match half {
        "AM" | "am" => 0,
        "PM" | "pm" => 12,
        _ => return None,
    };
    Some((before.trim_end(), hours))
}

/// A whole number of digits alone.
fn number(text: &str) -> Option<i128> {
    let digits =
        !text.is_empty() && text.len() <= 18 && text.bytes().all(|one| one.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// Days since 1970 of `2025-03-01`, `2025/03/01`, `01.03.2025`, or `03/01/2025` in an order.
fn days(date: &str, order: Order) -> Option<i128> {
    let by = ['-', '/', '.'].into_iter().find(|&one| date.contains(one))?;
    let parts: Vec<&str> = date.split(by).collect();
    let [a, b, c] = parts[..] else { return None };
    let (year, month, day) = match by {
        '.' if c.len() == 4 => (c, b, a),
        _ if a.len() == 4 => (a, b, c),
        _ if c.len() == 4 && order == Order::Month => (c, a, b),
        _ if c.len() == 4 => (c, b, a),
        _ => return None,
    };
    let (year, month, day) = (number(year)?, number(month)?, number(day)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years from March on: a leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_nanoseconds() {
        let day = 86_400_000_000_000;
        for (text, wanted) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-02 00:00:00.5", day + 500_000_000),
            ("2000-03-01", 11_017 * day),
            ("01.03.2000 00:00:01", 11_017 * day + 1_000_000_000),
            ("2000/02/29 24:00", 11_017 * day),
            ("1970-01-01T02:00:00+02:00", 0),
            ("1970-01-01T02:00:00+0200", 0),
            ("1970-01-01T00:00:00,001-01:00", 3_600_001_000_000),
            ("00:00:01.000000001", 1_000_000_001),
            ("01/02/1970 00:00:01", day + 1_000_000_000),
            ("1970-01-01 12:00:01 AM", 1_000_000_000),
            ("1/1/1970 1:30 PM", 48_600_000_000_000),
        ] {
            assert_eq!(nanoseconds(text), Some(wanted), "{text}");
        }
        for text in [
            "",
            "x",
            "2025",
            "1.5",
            "13/13/2025",
            "1970-01-01 13:00 PM",
            "2025-13-01",
            "10:99",
            "2025-03-01T1",
            "1:2:3:4",
            "é-é-éT+é",
        ] {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }

    fn read(name: &str, fields: &[&str]) -> (Vec<f64>, bool, bool) {
        let settled = Times::of(name, fields).expect("times");
        let seconds = fields.iter().map(|one| settled.times.seconds(one).expect("a time"));
        (seconds.collect(), settled.times.named(), settled.found.is_some())
    }

    #[test]
    fn units_come_from_names_or_from_numbers() {
        assert_eq!(read("t", &["0", "1"]), (vec![0.0, 1.0], false, false));
        assert_eq!(read("t", &["0", "20"]), (vec![0.0, 20.0], false, false));
        assert_eq!(read("Time (s)", &["0.5", "1"]), (vec![0.5, 1.0], true, false));
        assert_eq!(read("Time [ms]", &["20", "40"]), (vec![0.02, 0.04], true, false));
        assert_eq!(read("time_us", &["20", "40"]), (vec![0.00002, 0.00004], true, false));
        assert_eq!(read("seconds_elapsed", &["-0.5", "1"]), (vec![-0.5, 1.0], true, false));
        assert_eq!(read("timestamp", &["0", "16"]), (vec![0.0, 0.016], true, true));
        assert!(rank("unix_time").is_some() && rank("Sensor Timestamp (ns)").is_some());
        assert!(rank("runtime").is_none() && rank("timer").is_none());
        let epoch = ["1700000000000000000", "1700000000020000001"];
        assert_eq!(read("time", &epoch), (vec![0.0, 0.020_000_001], true, true));
        assert_eq!(read("time", &["1700000000000", "1700000000020"]).0, [0.0, 0.02]);
        let dates = ["2025-03-01T10:00:00.000", "2025-03-01T10:00:00.010"];
        assert_eq!(read("timestamp", &dates), (vec![0.0, 0.01], true, true));
        let american = ["03/14/2025 10:00:00", "03/14/2025 10:00:01", "03/15/2025 10:00:00"];
        assert_eq!(read("time", &american).0, [0.0, 1.0, 86_400.0]);
        let british = ["14/03/2025 10:00:00", "15/03/2025 10:00:00"];
        assert_eq!(read("time", &british).0, [0.0, 86_400.0]);
        assert_eq!(read("time", &["03/04/2025 10:00:00", "03/04/2025 10:00:02"]).0, [0.0, 2.0]);
        assert!(Times::of("time", &["03/04/2025 10:00:00", "04/04/2025 10:00:00"]).is_err());
        // One day fits both orders, and the next one tells them apart.
        let day =
            Times::of("time", &["03/04/2025 23:59:58", "03/04/2025 23:59:59"]).expect("dates");
        assert_eq!(day.times.seconds("03/04/2025 23:59:59"), Some(1.0));
        assert_eq!(day.times.seconds("04/04/2025 00:00:00"), None);
        assert_eq!(day.times.seconds("13/04/2025 00:00:00"), None);
        assert!(Times::of("time", &["soon"]).is_err() && Times::of("time [m]", &["1"]).is_err());
    }
}
