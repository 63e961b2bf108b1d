//! Common parts of layouts whose files are recordings: channels by name, evenly sampled, no lines.

use super::dataset::Kind;
use super::error::DataError;
use super::layout::{Layout, ReadOptions, Recording, Recordings};
use super::one_line::{channel_names, unnamed};
use super::part::{Body, Draft, Part};
use super::quantity::{Conversion, find_channels};
use super::samples::Rows;
use super::unit_match::UnitMatch;
use crate::words::{counted, shorten};

/// The name of a file without folders and ending.
pub(super) fn stem(name: &str) -> String {
    let path = std::path::Path::new(name);
    path.file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Makes a part of recordings of the same channels; without names they are called as a model's, or `x1`, `x2`, ...
pub(super) fn part(
    name: &str,
    channels: Option<&[String]>,
    width: usize,
    recordings: Vec<Recording>,
    options: &ReadOptions,
) -> Result<Part, DataError> {
    let wrong = |what: String| DataError::Header { line: 1, file: name.to_owned(), what };
    let owned = match channels {
        Some(channels) => channels.to_vec(),
        None => channel_names(name, width, options)?,
    };
    let all: Vec<(usize, &str)> = owned.iter().map(String::as_str).enumerate().collect();
    let chosen: Option<Vec<String>> = match &options.kind {
        Some(Kind::Channels(wanted)) => Some(wanted.clone()),
        _ => None,
    };
    let found: Vec<(usize, Conversion)> = match &chosen {
        Some(wanted) => find_channels(wanted, &all).map_err(|none| none.error(name, 1, &all))?,
        None if options.source.channels.is_empty() => {
            (0..owned.len()).map(|channel| (channel, Conversion::NONE)).collect()
        }
        None => {
            let mut named = Vec::new();
            for column in &options.source.channels {
                let place = column.place(&owned).ok_or_else(|| {
                    wrong(format!("has no such channel; it has {}", shorten(&owned.join(", "))))
                })?;
                named.push((place, Conversion::NONE));
            }
            named
        }
    };
    let units = match (&chosen, channels) {
        (_, None) => unnamed(options),
        (Some(wanted), _) => UnitMatch::all(wanted, &found, &all),
        (None, _) => Vec::new(),
    };
    let clocked = !recordings.is_empty() && recordings.iter().all(|one| one.period.is_some());
    let names = chosen.unwrap_or_else(|| found.iter().map(|&(at, _)| owned[at].clone()).collect());
    let mut part = Part { channels: Some(names), clocked, units, ..Part::new(name) };
    let mut row = Vec::with_capacity(found.len());
    for (index, Recording { id, label, period, start, rows }) in recordings.into_iter().enumerate()
    {
        let mut kept = Rows::new(found.len());
        let times = period.map_or_else(Vec::new, |period| {
            (0..rows.len()).map(|t| start + t as f64 * period).collect()
        });
        for (t, values) in rows.iter().enumerate() {
            if values.len() != owned.len() {
                return Err(wrong(format!(
                    "sample {t} has {} where there are {}",
                    counted(values.len(), "number"),
                    counted(owned.len(), "channel")
                )));
            }
            row.clear();
            for &(channel, conversion) in &found {
                let value = values[channel];
                if !(value as f32).is_finite() {
                    row.push(f64::NAN);
                    continue;
                }
                let text = value.to_string();
                let place = || Box::new(super::place::Place::line(name, 0));
                row.push(options.values.check(conversion.of(value), &text, place)?);
            }
            kept.push(Some(row.as_slice()));
        }
        let id = match id.is_empty() {
            true => stem(name),
            false => id,
        };
        let (columns, line) = (Vec::new(), index as u64 + 1);
        let label = label.filter(|label| !options.source.missing.has(label));
        part.drafts.push(Draft { id, label, columns, times, line, body: Body::Rows(kept) });
    }
    Ok(part)
}

/// Reads a text by a layout of this crate or of another; the name is for messages.
pub(super) fn read_layout(
    layout: &Layout,
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<Part, DataError> {
    let Some(read) = layout.recordings else { return (layout.read)(name, bytes, options) };
    let Recordings { channels, recordings } =
        read(bytes).map_err(|what| DataError::Header { line: 1, file: name.to_owned(), what })?;
    let first = || recordings.iter().find_map(|one| one.rows.first());
    let width = channels.as_ref().map_or_else(|| first().map_or(0, Vec::len), Vec::len);
    part(name, channels.as_deref(), width, recordings, options)
}
