//! WFDB records of PhysioNet: a header (`.hea`), its signals (`.dat`) and annotations (`.atr`) in the same folder.
//!
//! Source: the WFDB applications guide, header(5), signal(5) and annot(5).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::error::DataError;
use super::layout::Recording;
use super::layout::{Layout, ReadOptions};
use super::part::{Annotation, Part};
use super::place::Place;
use super::recording::part;

pub(super) static LAYOUT: Layout = Layout {
    name: "wfdb",
    alias: "hea",
    about: "a WFDB record (.hea, with .dat and .atr in its folder)",
    of_symbols: false,
    recordings: None,
    is_one: |bytes| std::str::from_utf8(bytes).is_ok_and(|text| Header::parse(text).is_ok()),
    read,
};

/// Samples per second if the header does not give them.
const USUAL_RATE: f64 = 250.0;

/// Content of a header.
struct Header {
    name: String,
    rate: f64,
    signals: Vec<Signal>,
}

/// A signal of a record.
struct Signal {
    file: String,
    format: u16,
    /// Digital units in a physical one.
    gain: f64,
    baseline: f64,
    unit: String,
    name: String,
}

impl Header {
    /// Reads a header; an error gives the line, from 1, and its fault.
    fn parse(text: &str) -> Result<Self, (u64, String)> {
        let lines = (1..).zip(text.lines().map(str::trim));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let wrong = |line: u64, what: &str| (line, what.to_owned());
        let (at, first) = lines.next().ok_or_else(|| wrong(1, "there is no record line"))?;
        let mut words = first.split_whitespace();
        let name = words.next().unwrap_or_default().to_owned();
        if name.contains('/') {
            return Err(wrong(
                at,
                "a record of several segments is not read; name one of the segments",
            ));
        }
        let count: Option<usize> = words.next().and_then(|word| word.parse().ok());
        let count = count.filter(|count| (1..=1024).contains(count));
        let count = count.ok_or_else(|| wrong(at, "the number of signals is missing"))?;
        let rate = match words.next() {
            None => USUAL_RATE,
            Some(word) => {
                let rate = word.split(['/', '(']).next().and_then(|rate| rate.parse().ok());
                rate.filter(|rate: &f64| *rate > 0.0 && rate.is_finite())
                    .ok_or_else(|| wrong(at, "the sampling rate is no number"))?
            }
        };
        let mut signals = Vec::new();
        for (line, text) in lines.take(count) {
            signals.push(
                Signal::parse(text).ok_or_else(|| wrong(line, "this is not a line of a signal"))?,
            );
        }
        match signals.len() == count {
            true => Ok(Self { name, rate, signals }),
            false => Err(wrong(at, "there are fewer lines of signals than signals")),
        }
    }
}

impl Signal {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let file = words.next()?.to_owned();
        let format = words.next()?;
        let digits: String = format.chars().take_while(char::is_ascii_digit).collect();
        // What follows are samples per frame, skew and an offset in bytes.
        if digits.len() != format.len() && !format[digits.len()..].starts_with("x1") {
            return None;
        }
        let gain = words.next().unwrap_or("200");
        let (number, unit) = gain.split_once('/').unwrap_or((gain, "mV"));
        let (number, baseline) = match number.split_once('(') {
            Some((number, rest)) => (number, rest.strip_suffix(')')?.parse().ok()),
            None => (number, None),
        };
        let gain = number.parse().ok().filter(|gain: &f64| gain.is_finite())?;
        let _resolution = words.next();
        let zero: f64 = words.next().unwrap_or("0").parse().ok()?;
        let name: Vec<&str> = words.skip(3).collect();
        Some(Self {
            file,
            format: digits.parse().ok()?,
            gain: if gain == 0.0 { 200.0 } else { gain },
            baseline: baseline.unwrap_or(zero),
            unit: unit.to_owned(),
            name: name.join(" "),
        })
    }
}

/// The digital samples of a file, one after another; `None` of a format that is not read. What is missing is not finite.
fn digital(format: u16, bytes: &[u8]) -> Option<Vec<f64>> {
    let value =
        |value: i32, missing: i32| if value == missing { f64::NAN } else { f64::from(value) };
    Some(match format {
        16 => bytes
            .chunks_exact(2)
            .map(|x| value(i16::from_le_bytes([x[0], x[1]]).into(), -32_768))
            .collect(),
        24 => (bytes.chunks_exact(3))
            .map(|x| value(i32::from_le_bytes([0, x[0], x[1], x[2]]) >> 8, -8_388_608))
            .collect(),
        32 => (bytes.chunks_exact(4))
            .map(|x| value(i32::from_le_bytes([x[0], x[1], x[2], x[3]]), i32::MIN))
            .collect(),
        80 => bytes.iter().map(|&x| value(i32::from(x) - 128, -128)).collect(),
        212 => {
            let signed = |x: i32| if x > 2047 { x - 4096 } else { x };
            let pair = |x: &[u8]| {
                let [a, b, c] = [x[0], x[1], x[2]].map(i32::from);
                [signed(a | (b & 15) << 8), signed(c | (b >> 4) << 8)].map(|x| value(x, -2048))
            };
            bytes.chunks_exact(3).flat_map(pair).collect()
        }
        _ => return None,
    })
}

fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Part, DataError> {
    let text = String::from_utf8_lossy(bytes);
    let wrong = |what: String| DataError::Header { line: 1, file: name.to_owned(), what };
    let header = Header::parse(&text).map_err(|(line, what)| DataError::Layout {
        place: Box::new(Place::line(name, line)),
        what,
    })?;
    let beside = |file: &str| Path::new(name).with_file_name(file);
    let mut files: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for signal in &header.signals {
        if signal.file.contains(['/', '\\']) {
            return Err(wrong(format!(
                "names the file `{}`, which is not in its folder",
                signal.file
            )));
        }
        if !files.contains_key(signal.file.as_str()) {
            let path = beside(&signal.file);
            let content = fs::read(&path).map_err(|error| {
                wrong(format!("needs `{}` in its folder: {error}", signal.file))
            })?;
            let samples = digital(signal.format, &content).ok_or_else(|| {
                wrong(format!(
                    "has signals in format {}; 16, 24, 32, 80 and 212 are read",
                    signal.format
                ))
            })?;
            files.insert(&signal.file, samples);
        }
    }
    // Samples of the signals of one file take turns.
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (number, signal) in header.signals.iter().enumerate() {
        let own: Vec<usize> = (0..header.signals.len())
            .filter(|&one| header.signals[one].file == signal.file)
            .collect();
        let turn = own.iter().position(|&one| one == number).unwrap_or_default();
        let samples = files.get(signal.file.as_str()).map_or(&[][..], Vec::as_slice);
        let physical = |&x: &f64| (x - signal.baseline) / signal.gain;
        columns.push(samples.iter().skip(turn).step_by(own.len()).map(physical).collect());
        let called = if signal.name.is_empty() {
            format!("signal{}", number + 1)
        } else {
            signal.name.clone()
        };
        let called = format!("{called} [{}]", signal.unit);
        let alike = names.iter().filter(|one| one.starts_with(&called)).count();
        names.push(if alike == 0 { called } else { format!("{called} {}", alike + 1) });
    }
    let length = columns.iter().map(Vec::len).min().unwrap_or_default();
    let rows = (0..length).map(|t| columns.iter().map(|column| column[t]).collect()).collect();
    let (id, period) = (header.name.clone(), Some(1.0 / header.rate));
    let recording = Recording { id, period, rows, ..Recording::default() };
    let mut part = part(name, Some(&names), names.len(), vec![recording], options)?;
    if let Ok(content) = fs::read(beside(&format!("{}.atr", header.name))) {
        part.annotations = annotations(&content, header.rate);
    }
    Ok(part)
}

/// Changes of rhythm, and other notes in words, as labels that last to the next.
fn annotations(bytes: &[u8], rate: f64) -> Vec<Annotation> {
    const SKIP: u16 = 59;
    const TEXT: u16 = 63;
    let (mut at, mut time, mut found) = (0, 0_i64, Vec::new());
    while let Some(&[low, high]) = bytes.get(at..at + 2).and_then(|two| two.first_chunk()) {
        let word = u16::from_le_bytes([low, high]);
        let (kind, step) = (word >> 10, word & 1023);
        at += 2;
        match kind {
            0 if step == 0 => break,
            SKIP => {
                let Some(&[a, b, c, d]) = bytes.get(at..at + 4).and_then(|four| four.first_chunk())
                else {
                    break;
                };
                // The high half comes first.
                time = time.saturating_add(i32::from_le_bytes([c, d, a, b]).into());
                at += 4;
            }
            TEXT => {
                let length = usize::from(step);
                let text = bytes.get(at..at + length).unwrap_or_default();
                let text = String::from_utf8_lossy(text);
                let label = text.trim_matches(['\0', ' ']).trim_start_matches('(').to_owned();
                if !label.is_empty() {
                    let start = time as f64 / rate;
                    found.push(Annotation { series: None, start, end: f64::INFINITY, label });
                }
                at += length + length % 2;
            }
            60..=62 => {}
            _ => time = time.saturating_add(step.into()),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, Kind, Source};

    #[test]
    fn a_record_has_its_signals_and_rhythms_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, content).expect("written");
            path
        };
        let path = put(
            "r1.hea",
            b"# by hand\nr1 2 100 4\nr1.dat 212 200(0)/mV 11 0 0 0 0 MLII\nr1.dat 212 100/mV 11 -10 0 0 0 V5\n",
        );
        // 200, -10; -200, 90; 0, -10; missing, -10.
        let words = [(200_i32, -10_i32), (-200, 90), (0, -10), (-2048, -10)];
        let mut dat = Vec::new();
        for (a, b) in words {
            let (a, b) = ((a & 4095) as u16, (b & 4095) as u16);
            dat.extend([a as u8, (a >> 8) as u8 | ((b >> 8) as u8) << 4, b as u8]);
        }
        put("r1.dat", &dat);
        let word = |kind: u16, step: u16| (kind << 10 | step).to_le_bytes();
        let mut atr = Vec::new();
        atr.extend(word(28, 0));
        atr.extend(word(63, 2));
        atr.extend(b"(N");
        atr.extend(word(28, 2));
        atr.extend(word(63, 5));
        atr.extend(b"(AFIB\0");
        atr.extend(word(0, 0));
        put("r1.atr", &atr);
        let data = Dataset::read(&path, &ReadOptions::default()).expect("a record");
        assert_eq!(data.kind(), &Kind::Channels(vec!["MLII [mV]".into(), "V5 [mV]".into()]));
        let rows = data.series()[0].samples.view().rows().expect("channels");
        let found: Vec<Option<&[f64]>> = rows.iter().collect();
        assert_eq!(found, [Some(&[1.0, 0.0][..]), Some(&[-1.0, 1.0]), Some(&[0.0, 0.0]), None]);
        let source = Source { segments: true, ..Source::default() };
        let data = Dataset::read(&path, &ReadOptions { source, ..ReadOptions::default() })
            .expect("segments");
        assert_eq!(data.classes(), ["AFIB", "N"]);
        assert_eq!(data.series()[1].times, [0.02, 0.03]);
    }

    #[test]
    fn what_is_no_header_is_none() {
        for text in [
            "",
            "t,x\n0,1\n",
            "r 1\n",
            "r 1 x\nr.dat 16\n",
            "r/2 1 100\nr.dat 16\n",
            "r 1 100\nr.dat 16x2\n",
        ] {
            assert!(Header::parse(text).is_err(), "{text}");
        }
        assert!(digital(8, &[0]).is_none());
    }
}
