//! Recordings of the application Sensor Logger: a folder or a zip with a table per sensor.

use std::fs;
use std::path::Path;

use super::error::DataError;
use super::layout::Recording;
use super::layout::{Layout, ReadOptions};
use super::part::{Annotation, Body, Part};
use super::recording::{part, stem};
use super::source::{Column, Finding, Source};
use super::table::{Table, has_column};
use super::{series_table, zip};

pub(super) static LAYOUT: Layout = Layout {
    name: "sensor-logger",
    alias: "zip",
    about: "a recording of Sensor Logger (zip, or its folder)",
    of_symbols: false,
    recordings: None,
    is_one: |bytes| {
        bytes.starts_with(b"PK\x03\x04")
            && zip::names(bytes).is_ok_and(|names| names.iter().any(|name| is_metadata(name)))
    },
    read: |name, bytes, options| {
        let files = zip::files(bytes, |name| name.ends_with(".csv"));
        let files =
            files.map_err(|what| DataError::Header { line: 1, file: name.to_owned(), what })?;
        join(name, files, options)
    },
};

fn is_metadata(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|name| name.eq_ignore_ascii_case("metadata.csv"))
}

/// Returns whether a folder is a recording: it has `Metadata.csv`, and a table of a sensor.
pub(super) fn is_folder(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    names.iter().any(|name| is_metadata(name))
        && names.iter().any(|name| {
            name.ends_with(".csv")
                && !is_metadata(name)
                && fs::read(folder.join(name)).is_ok_and(|bytes| is_sensor(&bytes))
        })
}

fn is_sensor(text: &[u8]) -> bool {
    has_column(text, "time") && has_column(text, "seconds_elapsed")
}

/// Reads the folder of a recording.
pub(super) fn read_folder(folder: &Path, options: &ReadOptions) -> Result<Part, DataError> {
    let name = folder.display().to_string();
    let failed = |source| DataError::Io { file: name.clone(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "csv") {
            let (file, bytes) = super::load::load(&path)?;
            files.push((file, bytes));
        }
    }
    files.sort();
    join(&name, files, options)
}

/// Joins the sensors at the times of the one that comes most often: between its samples others are interpolated.
fn join(
    name: &str,
    files: Vec<(String, Vec<u8>)>,
    options: &ReadOptions,
) -> Result<Part, DataError> {
    let wrong =
        |what: &str| DataError::Header { line: 1, file: name.to_owned(), what: what.to_owned() };
    let mut sensors: Vec<(String, Part)> = Vec::new();
    let (mut left_out, mut annotations) = (Vec::new(), Vec::new());
    for (file, bytes) in &files {
        let sensor = stem(file);
        if is_metadata(file) {
            continue;
        }
        if sensor.eq_ignore_ascii_case("annotation") {
            // A file in an archive is named with it.
            let place = match Path::new(file).starts_with(name) {
                true => file.clone(),
                false => format!("{name}/{file}"),
            };
            annotations = notes(&place, bytes)?;
            continue;
        }
        let source = Source {
            time: Some(Column::of("seconds_elapsed")),
            label: Some(Column::None),
            series: Some(Column::None),
            missing: options.source.missing.clone(),
            ..Source::default()
        };
        let own = ReadOptions { source, ..ReadOptions::default() };
        match (series_table::LAYOUT.read)(file, bytes, &own) {
            Ok(part) if is_sensor(bytes) => sensors.push((sensor, part)),
            // A sensor that was not there, or one of places and words.
            Err(error) if is_sensor(bytes) => left_out.push(format!("{sensor} ({error})")),
            _ => left_out.push(sensor),
        }
    }
    let length = |part: &Part| part.drafts.first().map_or(0, |draft| draft.times.len());
    // Of several as fast, the first by name.
    let fastest =
        sensors.iter().rev().max_by_key(|(_, part)| length(part)).map(|(name, _)| name.clone());
    let fastest = fastest.ok_or_else(|| wrong("has no table of a sensor with samples"))?;
    let times = sensors.iter().find(|(name, _)| *name == fastest);
    let times: Vec<f64> = times.map_or_else(Vec::new, |(_, part)| part.drafts[0].times.clone());
    let (mut channels, mut columns): (Vec<String>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    for (sensor, part) in &sensors {
        let names = part.channels.as_deref().unwrap_or_default();
        // The application writes z, y, x.
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by_key(|&at| names[at].clone());
        for at in order {
            channels.push(format!("{sensor} {}", names[at]));
            columns.push(interpolated(part, at, &times));
        }
    }
    let rows: Vec<Vec<f64>> =
        (0..times.len()).map(|t| columns.iter().map(|column| column[t]).collect()).collect();
    let recording = Recording { rows, ..Recording::default() };
    let mut joined = part(name, Some(&channels), channels.len(), vec![recording], options)?;
    joined.clocked = true;
    joined.drafts.iter_mut().for_each(|draft| draft.times.clone_from(&times));
    if sensors.len() > 1 {
        joined.findings.add(
            Finding::Time,
            format!("one row per sample of {fastest}; other sensors are interpolated to its times"),
        );
    }
    if !left_out.is_empty() {
        joined.findings.add(Finding::Channels, format!("left out: {}", left_out.join(", ")));
    }
    joined.annotations = annotations;
    Ok(joined)
}

/// A channel at other times; not finite before its first sample and after its last.
fn interpolated(part: &Part, channel: usize, times: &[f64]) -> Vec<f64> {
    let Some(draft) = part.drafts.first() else { return vec![f64::NAN; times.len()] };
    let Body::Rows(rows) = &draft.body else { return vec![f64::NAN; times.len()] };
    let view = rows.view();
    let value = |t: usize| view.row_in_part(t).map_or(f64::NAN, |row| row[channel]);
    let own = &draft.times;
    let at = |&t: &f64| {
        let next = own.partition_point(|&one| one < t);
        match (next.checked_sub(1), own.get(next)) {
            (_, Some(&here)) if here == t => value(next),
            (Some(last), Some(&here)) => {
                let share = (t - own[last]) / (here - own[last]);
                value(last) * (1.0 - share) + value(next) * share
            }
            _ => f64::NAN,
        }
    };
    times.iter().map(at).collect()
}

/// The texts of `Annotation.csv`: each lasts to the next.
fn notes(name: &str, text: &[u8]) -> Result<Vec<Annotation>, DataError> {
    let Ok(mut table) = Table::open(name, text) else { return Ok(Vec::new()) };
    let (Some(time), Some(label)) = (table.column("seconds_elapsed"), table.column("text")) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    while table.next_row()? {
        let start = table.commas().number(table.field(time)?);
        let label = table.name(label)?.to_owned();
        if let Some(start) = start.filter(|_| !label.is_empty()) {
            found.push(Annotation { series: None, start, end: f64::INFINITY, label });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::{Dataset, Kind};

    fn files() -> Vec<(&'static str, String)> {
        let mut fast = "time,seconds_elapsed,z,y,x\n".to_owned();
        let mut slow = fast.clone();
        for t in 0..9_u64 {
            let _ = writeln!(
                fast,
                "{},{},{t},0,1",
                1_700_000_000_000_000_000 + 10_000_000 * t,
                t as f64 / 100.0
            );
            if t % 4 == 0 {
                let _ = writeln!(
                    slow,
                    "{},{},1,2,{t}",
                    1_700_000_000_000_000_000 + 10_000_000 * t,
                    t as f64 / 100.0
                );
            }
        }
        vec![
            ("Metadata.csv", "version,device name\n3,Phone\n".into()),
            ("Accelerometer.csv", fast),
            ("Gyroscope.csv", slow),
            ("Annotation.csv", "time,seconds_elapsed,text\n1,0.02,sit\n2,0.05,stand\n".into()),
        ]
    }

    #[test]
    fn sensors_are_joined_in_a_zip_and_in_a_folder() {
        let files = files();
        let stored: Vec<(&str, &[u8])> =
            files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
        let zipped = zip::stored(&stored);
        let data =
            Dataset::parse("walk-1.zip", &zipped, &ReadOptions::default()).expect("a recording");
        let names = [
            "Accelerometer x",
            "Accelerometer y",
            "Accelerometer z",
            "Gyroscope x",
            "Gyroscope y",
            "Gyroscope z",
        ];
        assert_eq!(data.kind(), &Kind::Channels(names.map(str::to_owned).to_vec()));
        let rows = data.series()[0].samples.view().rows().expect("channels");
        assert_eq!(rows.row(2), Some(&[1.0, 0.0, 2.0, 2.0, 2.0, 1.0][..]), "halfway between");
        assert_eq!((rows.len(), data.series()[0].times[8]), (9, 0.08));
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in &files {
            fs::write(folder.path().join(name), text).expect("written");
        }
        let same = Dataset::read(folder.path(), &ReadOptions::default()).expect("a recording");
        assert_eq!(same.series()[0].samples, data.series()[0].samples);
        let source = Source { segments: true, ..Source::default() };
        let options = ReadOptions { source, ..ReadOptions::default() };
        let data = Dataset::parse("x.zip", &zipped, &options).expect("segments");
        let found: Vec<usize> = data.series().iter().map(|one| one.samples.view().len()).collect();
        assert_eq!((data.classes(), found), (&["sit".into(), "stand".into()][..], vec![3, 4]));
    }
}
