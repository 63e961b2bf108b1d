//! Recordings in Edge Impulse's acquisition format, as JSON or CBOR, and the labels in the same folder.
//!
//! Source: Edge Impulse, "Data acquisition format": `payload` has `interval_ms`, `sensors` with names and units, and `values`, a
//! row (or a number) per sample. The label is what the file's name begins with, before its first point, or is in
//! `info.labels`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::cbor;
use super::error::DataError;
use super::layout::Recording;
use super::layout::{Layout, ReadOptions};
use super::part::Part;
use super::place::Place;
use super::recording::part;
use crate::words::shorten;

pub(super) static LAYOUT: Layout = Layout {
    name: "edge-impulse",
    alias: "cbor",
    about: "a recording of Edge Impulse (JSON or CBOR)",
    of_symbols: false,
    recordings: None,
    is_one,
    read,
};

/// The payload of a file.
#[derive(Deserialize)]
struct Payload {
    interval_ms: f64,
    sensors: Vec<Sensor>,
    values: Vec<Row>,
}

#[derive(Deserialize)]
struct Sensor {
    name: String,
    #[serde(default)]
    units: String,
}

/// A sample of several sensors, or of one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Row {
    Several(Vec<Option<f64>>),
    One(Option<f64>),
}

/// `info.labels`.
#[derive(Deserialize)]
struct Labels {
    files: Vec<LabelledFile>,
}

#[derive(Deserialize)]
struct LabelledFile {
    path: String,
    label: Label,
}

#[derive(Deserialize)]
struct Label {
    #[serde(default)]
    label: String,
}

/// The labels of files by their paths, from a text that lists them.
pub(super) fn labels(text: &[u8]) -> Option<BTreeMap<String, String>> {
    let found: Labels = serde_json::from_slice(text).ok()?;
    let pairs = found.files.into_iter().map(|one| (one.path, one.label.label));
    Some(pairs.filter(|(_, label)| !label.is_empty()).collect())
}

/// JSON, or a map of CBOR, with the names of the format.
fn is_one(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4096)];
    let has = |word: &[u8]| head.windows(word.len()).any(|one| one == word);
    let begins = match bytes.trim_ascii_start().first() {
        Some(b'{') => true,
        Some(first) => matches!(first, 0xA0..=0xBF),
        None => false,
    };
    begins && has(b"payload") && (has(b"interval_ms") || has(b"protected"))
}

fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Part, DataError> {
    let wrong = |what: String| DataError::Header { line: 1, file: name.to_owned(), what };
    let value: Value = if bytes.trim_ascii_start().starts_with(b"{") {
        serde_json::from_slice(bytes).map_err(|error| DataError::Layout {
            place: Box::new(Place {
                character: Some(error.column()),
                ..Place::line(name, error.line() as u64)
            }),
            what: format!("is no JSON that ends here: {error}"),
        })?
    } else {
        cbor::value(bytes).map_err(|(at, what)| wrong(format!("byte {at} of the CBOR: {what}")))?
    };
    let payload = value.get("payload").cloned().unwrap_or_default();
    let payload: Payload = serde_json::from_value(payload)
        .map_err(|error| wrong(format!("`payload` is no recording: {error}")))?;
    if !(payload.interval_ms > 0.0 && payload.interval_ms.is_finite()) {
        return Err(wrong(format!(
            "`interval_ms` is {}; it must be above zero",
            payload.interval_ms
        )));
    }
    let unit = |sensor: &Sensor| match sensor.units.trim() {
        "" | "N/A" | "n/a" => sensor.name.clone(),
        units => format!("{} [{units}]", sensor.name),
    };
    let channels: Vec<String> = payload.sensors.iter().map(unit).collect();
    let row = |row: Row| -> Vec<f64> {
        let values = match row {
            Row::Several(values) => values,
            Row::One(value) => vec![value],
        };
        values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect()
    };
    let rows: Vec<Vec<f64>> = payload.values.into_iter().map(row).collect();
    if channels.is_empty() || rows.is_empty() {
        let found = shorten(&channels.join(", "));
        return Err(wrong(format!("has no sample; its sensors are `{found}`")));
    }
    let recording = Recording {
        id: String::new(),
        label: label_of(name),
        period: Some(payload.interval_ms / 1000.0),
        start: 0.0,
        rows,
    };
    part(name, Some(&channels), channels.len(), vec![recording], options)
}

/// Label from the name of a file: the part before its first point, if more than the ending follows it.
///
/// For `walk.2k3f.json` it is `walk`.
pub(super) fn label_of(name: &str) -> Option<String> {
    let file = Path::new(name).file_name()?.to_string_lossy().into_owned();
    let label = file.split('.').next()?.to_owned();
    (file.matches('.').count() > 1 && !label.is_empty()).then_some(label)
}

#[cfg(test)]
mod tests {
    use crate::{DataError, Dataset, Kind, ReadOptions};

    const JSON: &str = r#"{"protected":{"ver":"v1","alg":"none","iat":1},"signature":"00","payload":{"device_type":"ESP32",
        "interval_ms":16,"sensors":[{"name":"accX","units":"m/s2"},{"name":"temp"}],"values":[[1,2.5],[null,3],[-4,5]]}}"#;

    fn parse(name: &str, bytes: &[u8]) -> Result<Dataset, DataError> {
        Dataset::parse(name, bytes, &ReadOptions::default())
    }

    #[test]
    fn json_and_cbor_are_one_recording() {
        let read = parse("walk.1a2b.json", JSON.as_bytes()).expect("sound");
        assert_eq!(read.kind(), &Kind::Channels(vec!["accX [m/s2]".into(), "temp".into()]));
        assert_eq!((read.classes(), read.missing().partial), (&["walk".into()][..], 1));
        assert_eq!(read.series()[0].times, [0.0, 0.016, 0.032]);
        // The same as its recorders write it: texts, maps without end, halves and doubles.
        let mut cbor = vec![0xBF];
        let text = |text: &str| [&[0x60 | text.len() as u8], text.as_bytes()].concat();
        for (key, value) in [("protected", vec![0xA0]), ("signature", text("00"))] {
            cbor.extend(text(key));
            cbor.extend(value);
        }
        cbor.extend(text("payload"));
        cbor.push(0xA3);
        cbor.extend(text("interval_ms"));
        cbor.push(16);
        cbor.extend(text("sensors"));
        cbor.push(0x82);
        for (name, unit) in [("accX", "m/s2"), ("temp", "N/A")] {
            cbor.push(0xA2);
            [("name", name), ("units", unit)].iter().for_each(|(key, value)| {
                cbor.extend(text(key));
                cbor.extend(text(value));
            });
        }
        cbor.extend(text("values"));
        cbor.extend([0x9F, 0x82, 1, 0xF9, 0x41, 0x00, 0x82, 0xF6, 3, 0x82, 0x23, 0xFB]);
        cbor.extend(5.0_f64.to_be_bytes());
        cbor.extend([0xFF, 0xFF]);
        let same = parse("walk.1a2b.cbor", &cbor).expect("sound");
        assert_eq!(
            (same.series()[0].samples.clone(), same.kind()),
            (read.series()[0].samples.clone(), read.kind())
        );
        for cut in 0..cbor.len() {
            let _ = parse("x", &cbor[..cut]);
        }
    }

    #[test]
    fn what_is_no_recording_is_refused() {
        for (from, to) in
            [("16", "0"), ("[1,2.5]", "[1]"), ("\"values\"", "\"value\""), ("]]}}", "]]}")]
        {
            let text = JSON.replacen(from, to, 1);
            let error = parse("x.json", text.as_bytes()).expect_err(&text).to_string();
            assert!(error.starts_with("x.json"), "{error}");
        }
    }

    #[test]
    fn labels_may_lie_beside_the_files() {
        let text = br#"{"version":1,"files":[{"path":"training/a.json","category":"training","label":{"type":"label","label":"walk"}}]}"#;
        assert_eq!(super::labels(text).expect("labels")["training/a.json"], "walk");
        assert!(super::labels(b"{}").is_none());
    }
}
