//! Common parts of layouts with one series per line and without names of channels.

use super::dataset::Kind;
use super::dialect::Commas;
use super::error::{DataError, wrong_kind};
use super::layout::ReadOptions;
use super::place::Place;
use super::samples::Rows;
use super::table::number;
use super::unit_match::UnitMatch;
use crate::words::counted;

/// Names of channels that a file does not name: those of a fitted model in their order, where it has as many; else
/// `x`, and of several `x1`, `x2`, ...
pub(super) fn channel_names(
    file: &str,
    count: usize,
    options: &ReadOptions,
) -> Result<Vec<String>, DataError> {
    match &options.kind {
        Some(Kind::Channels(names)) if names.len() == count => Ok(names.clone()),
        Some(Kind::Channels(names)) => {
            let found = format!("{} without a name", counted(count, "channel"));
            Err(wrong_kind(file, &found, &names.join(", ")))
        }
        _ if count == 1 => Ok(vec!["x".to_owned()]),
        _ => Ok((1..=count).map(|number| format!("x{number}")).collect()),
    }
}

/// The units of wanted channels, with which those of a file that names no channels are not compared.
pub(super) fn unnamed(options: &ReadOptions) -> Vec<UnitMatch> {
    match &options.kind {
        Some(Kind::Channels(names)) => UnitMatch::unnamed(names),
        _ => Vec::new(),
    }
}

/// A sample of a text whose numbers have points.
pub(super) fn sample(
    text: &str,
    options: &ReadOptions,
    place: impl Fn() -> Box<Place>,
) -> Result<Option<f64>, DataError> {
    if options.source.missing.has(text) {
        return Ok(None);
    }
    let values = options.values;
    values.check(number(text, values, Commas::Unknown, &place)?, text, &place).map(Some)
}

/// The rows of a series whose channels have equally many samples, `[channel][time]`. Samples at the end that are missing in all
/// channels are dropped: they are padding.
pub(super) fn rows(channels: &[Vec<Option<f64>>]) -> Rows {
    let last = |samples: &Vec<Option<f64>>| samples.iter().rposition(Option::is_some);
    let length = channels.iter().filter_map(last).max().map_or(0, |last| last + 1);
    let mut rows = Rows::new(channels.len());
    let mut row = Vec::with_capacity(channels.len());
    for t in 0..length {
        row.clear();
        let at = |samples: &Vec<Option<f64>>| samples.get(t).copied().flatten();
        row.extend(channels.iter().map(|samples| at(samples).unwrap_or(f64::NAN)));
        rows.push(Some(&row));
    }
    rows
}
