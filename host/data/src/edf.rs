//! EDF, EDF+ and BDF: recordings of body signals, with annotations.
//!
//! Sources: Kemp and others, "A simple format for exchange of digitized polygraphic recordings", 1992; Kemp and Olivan,
//! "European data format 'plus'", 2003.

use super::error::DataError;
use super::layout::Recording;
use super::layout::{Layout, ReadOptions};
use super::part::{Annotation, Part};
use super::recording::{part, stem};
use super::source::Finding;
use super::values::finite;

pub(super) static LAYOUT: Layout = Layout {
    name: "edf",
    alias: "bdf",
    about: "EDF, EDF+ or BDF",
    of_symbols: false,
    recordings: None,
    is_one: |bytes| {
        bytes.len() >= HEAD && (bytes.starts_with(b"0       ") || bytes.starts_with(b"\xFFBIOSEMI"))
    },
    read,
};

/// Bytes of the header, and further bytes for each signal.
const HEAD: usize = 256;

/// A signal of a file.
struct Signal {
    label: String,
    unit: String,
    /// Physical value of a digital one: `offset + gain * digital`.
    gain: f64,
    offset: f64,
    /// Samples in a record.
    samples: usize,
}

impl Signal {
    fn are_annotations(&self) -> bool {
        self.label.ends_with("Annotations")
    }
}

fn text(bytes: &[u8], at: usize, length: usize) -> String {
    let field = bytes.get(at..at + length).unwrap_or_default();
    field.iter().map(|&byte| char::from(byte)).collect::<String>().trim().to_owned()
}

fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Part, DataError> {
    let wrong =
        |what: &str| DataError::Header { line: 1, file: name.to_owned(), what: what.to_owned() };
    let number = |at: usize, length: usize| finite(&text(bytes, at, length));
    let count = number(252, 4).filter(|&count| (1.0..=4096.0).contains(&count));
    let count = count.ok_or_else(|| wrong("does not say how many signals there are"))? as usize;
    let begin = HEAD * (1 + count);
    if bytes.len() < begin {
        return Err(wrong("the file ends within its header; copy it again"));
    }
    let duration = number(244, 8).ok_or_else(|| wrong("does not say how long a record is"))?;
    let is_open =
        text(bytes, 192, 44).starts_with("EDF+D") || text(bytes, 192, 44).starts_with("BDF+D");
    // Fields lie side by side, those of one kind for all signals.
    let field =
        |from: usize, length: usize, signal: usize| (HEAD + count * from + length * signal, length);
    let of = |(at, length): (usize, usize)| text(bytes, at, length);
    let mut signals = Vec::with_capacity(count);
    for one in 0..count {
        let value = |from: usize| finite(&of(field(from, 8, one)));
        let samples = value(216).filter(|&samples| samples >= 0.0 && samples.fract() == 0.0);
        let (low, high) = (value(104), value(112));
        let (Some(samples), Some(low), Some(high), Some(least), Some(most)) =
            (samples, low, high, value(120), value(128))
        else {
            return Err(wrong(&format!(
                "has an invalid number in the header of signal {}",
                one + 1
            )));
        };
        if most <= least {
            return Err(wrong(&format!("has an empty digital range in signal {}", one + 1)));
        }
        let gain = (high - low) / (most - least);
        signals.push(Signal {
            label: of(field(0, 16, one)),
            unit: of(field(96, 8, one)),
            gain,
            offset: low - gain * least,
            samples: samples as usize,
        });
    }
    let width = if bytes[0] == 0xFF { 3 } else { 2 };
    let record = signals.iter().map(|signal| signal.samples * width).sum::<usize>();
    let most =
        signals.iter().filter(|signal| !signal.are_annotations()).map(|one| one.samples).max();
    let most = most.filter(|&most| most > 0).ok_or_else(|| wrong("has no signal"))?;
    if duration <= 0.0 {
        return Err(wrong("has records of no duration"));
    }
    let told = number(236, 8).filter(|&records| records >= 0.0).map_or(usize::MAX, |n| n as usize);
    let (mut columns, mut channels, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    let mut annotations = Vec::new();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let taken: Vec<&Signal> =
        signals.iter().filter(|signal| !signal.are_annotations() && signal.samples > 0).collect();
    for signal in &signals {
        if signal.are_annotations() {
            continue;
        }
        if signal.samples == 0 {
            findings.push(format!("`{}` has no samples and is left out", signal.label));
        } else if most % signal.samples != 0 {
            findings.push(format!(
                "`{}` has a lower rate: it is missing between its samples",
                signal.label
            ));
        } else if signal.samples != most {
            findings.push(format!("`{}` has a lower rate: each sample is held", signal.label));
        }
    }
    for signal in &taken {
        let named = match signal.unit.as_str() {
            "" => signal.label.clone(),
            unit => format!("{} [{unit}]", signal.label),
        };
        // Names come back in some files.
        let alike = columns.iter().filter(|one| **one == named).count();
        columns.push(named.clone());
        channels.push(if alike == 0 { named } else { format!("{named} {}", alike + 1) });
    }
    // Where stretches begin, in seconds and rows: records of an interrupted file say when they are.
    let mut stretches: Vec<(f64, usize)> = vec![(0.0, 0)];
    let mut expected = 0.0;
    for record in bytes[begin..].chunks_exact(record.max(1)).take(told) {
        let first = rows.len();
        rows.resize(first + most, Vec::with_capacity(taken.len()));
        if is_open {
            let start = onset(record, &signals, width).ok_or_else(|| {
                wrong("is interrupted (EDF+D), and a record does not say when it begins")
            })?;
            if first == 0 {
                stretches = vec![(start, 0)];
            } else if (start - expected).abs() > 0.5 * duration / most as f64 {
                stretches.push((start, first));
            }
            expected = start + duration;
        }
        let mut at = 0;
        for signal in &signals {
            let own = &record[at..at + signal.samples * width];
            at += own.len();
            if signal.are_annotations() {
                annotations.extend(lists(own));
                continue;
            }
            if signal.samples == 0 {
                continue;
            }
            let held = most / signal.samples;
            let is_held = most % signal.samples == 0;
            if !is_held {
                rows[first..].iter_mut().for_each(|row| row.push(f64::NAN));
            }
            for (index, item) in own.chunks_exact(width).enumerate() {
                let digital = match *item {
                    [a, b] => f64::from(i16::from_le_bytes([a, b])),
                    [a, b, c] => f64::from(i32::from_le_bytes([0, a, b, c]) >> 8),
                    _ => f64::NAN,
                };
                let value = signal.offset + signal.gain * digital;
                let own = first + index * held;
                if is_held {
                    rows[own..own + held].iter_mut().for_each(|row| row.push(value));
                } else if let Some(last) = rows[first + index * most / signal.samples].last_mut() {
                    *last = value;
                }
            }
        }
    }
    let period = Some(duration / most as f64);
    let several = stretches.len() > 1;
    let mut recordings = Vec::with_capacity(stretches.len());
    for (number, (start, first)) in stretches.into_iter().enumerate().rev() {
        let id = if several { format!("{}/{}", stem(name), number + 1) } else { String::new() };
        let rows = rows.split_off(first);
        recordings.push(Recording { id, start, period, rows, ..Recording::default() });
    }
    recordings.reverse();
    let mut part = part(name, Some(&channels), channels.len(), recordings, options)?;
    if several {
        let what = format!("the file is interrupted: {} stretches are series", part.drafts.len());
        part.findings.add(Finding::Series, what);
    }
    findings.into_iter().for_each(|what| part.findings.add(Finding::Channels, what));
    part.annotations = annotations;
    Ok(part)
}

/// Start of a record of an interrupted file, in seconds: the time of its first list of annotations.
fn onset(record: &[u8], signals: &[Signal], width: usize) -> Option<f64> {
    let mut at = 0;
    for signal in signals {
        let own = record.get(at..at + signal.samples * width)?;
        at += own.len();
        if signal.are_annotations() {
            let head = own.split(|&byte| byte == 20 || byte == 21).next()?;
            return finite(std::str::from_utf8(head).ok()?.trim_start_matches('+'));
        }
    }
    None
}

/// The annotations in a record: `+onset 21 duration 20 text 20 0`. Lists without a text only keep the time.
fn lists(bytes: &[u8]) -> Vec<Annotation> {
    let mut found = Vec::new();
    for list in bytes.split(|&byte| byte == 0).filter(|list| !list.is_empty()) {
        let mut parts =
            list.split(|&byte| byte == 20).map(|part| String::from_utf8_lossy(part).into_owned());
        let head = parts.next().unwrap_or_default();
        let (onset, duration) = head.split_once('\u{15}').unwrap_or((&head, ""));
        let Some(start) = finite(onset.trim_start_matches('+')) else { continue };
        let end = finite(duration).map_or(f64::INFINITY, |duration| start + duration);
        for label in parts.filter(|label| !label.trim().is_empty()) {
            found.push(Annotation { series: None, start, end, label: label.trim().to_owned() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::{DataError, Dataset, Kind, ReadOptions, Source};

    /// Two signals, the second at half the rate, and annotations; three records of a second.
    fn file() -> Vec<u8> {
        let padded = |text: &str, length: usize| format!("{text:<length$}");
        let mut head =
            padded("0", 8) + &padded("X", 80) + &padded("Startdate", 80) + "01.03.2510.00.00";
        head += &(padded("1024", 8)
            + &padded("EDF+C", 44)
            + &padded("3", 8)
            + &padded("1", 8)
            + &padded("3", 4));
        for (length, fields) in [
            (16, ["EEG Fpz", "Temp", "EDF Annotations"]),
            (80, ["", "", ""]),
            (8, ["uV", "degC", ""]),
            (8, ["-100", "0", "-1"]),
            (8, ["100", "100", "1"]),
            (8, ["-1000", "0", "-32768"]),
            (8, ["1000", "1000", "32767"]),
            (80, ["", "", ""]),
            (8, ["4", "2", "20"]),
            (32, ["", "", ""]),
        ] {
            fields.iter().for_each(|field| head += &padded(field, length));
        }
        let mut bytes = head.into_bytes();
        for record in 0..3_i16 {
            [0, 10, 20, 30].iter().for_each(|x| bytes.extend((100 * record + x).to_le_bytes()));
            [500_i16, 600].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
            let list = match record {
                0 => "+0\u{14}\u{14}\0+0.5\u{15}1\u{14}Sleep N2\u{14}\0",
                1 => "+1\u{14}\u{14}\0+2\u{15}0.5\u{14}Wake\u{14}\0",
                _ => "+2\u{14}\u{14}\0",
            };
            let mut list = list.as_bytes().to_vec();
            list.resize(40, 0);
            bytes.extend(list);
        }
        bytes
    }

    fn parse(bytes: &[u8], segments: bool) -> Result<Dataset, DataError> {
        let source = Source { segments, ..Source::default() };
        Dataset::parse("night.edf", bytes, &ReadOptions { source, ..ReadOptions::default() })
    }

    #[test]
    fn signals_are_physical_and_annotations_segments() {
        let data = parse(&file(), false).expect("sound");
        assert_eq!(data.kind(), &Kind::Channels(vec!["EEG Fpz [uV]".into(), "Temp [degC]".into()]));
        let rows = data.series()[0].samples.view().rows().expect("channels");
        let first: Vec<&[f64]> = rows.iter().take(4).flatten().collect();
        assert_eq!(first, [[0.0, 50.0], [1.0, 50.0], [2.0, 60.0], [3.0, 60.0]]);
        assert_eq!((rows.len(), data.series()[0].times[5], data.classes().len()), (12, 1.25, 0));
        let data = parse(&file(), true).expect("two segments");
        assert_eq!(data.classes(), ["Sleep N2", "Wake"]);
        let found: Vec<_> =
            data.series().iter().map(|one| (one.times[0], one.samples.view().len())).collect();
        assert_eq!(found, [(0.5, 4), (2.0, 2)]);
    }

    /// `with` in the place of `what`, which is as long, wherever it stands.
    fn replaced(bytes: &[u8], what: &[u8], with: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for at in 0..bytes.len().saturating_sub(what.len()) {
            if bytes[at..].starts_with(what) {
                bytes[at..at + what.len()].copy_from_slice(with);
            }
        }
        bytes
    }

    #[test]
    fn an_interrupted_file_has_a_series_per_stretch() {
        let open = replaced(&file(), b"EDF+C", b"EDF+D");
        let data = parse(&open, false).expect("no gap");
        assert_eq!(data.series().len(), 1);
        let data = parse(&replaced(&open, b"+2\x14\x14", b"+7\x14\x14"), false).expect("a gap");
        let found: Vec<_> = data
            .series()
            .iter()
            .map(|one| (one.id.as_str(), one.times[0], one.samples.view().len()))
            .collect();
        assert_eq!(found, [("night/1", 0.0, 8), ("night/2", 7.0, 4)]);
        let silent = replaced(&open, b"+1\x14\x14", b"xx\x14\x14");
        assert!(parse(&silent, false).expect_err("no time").to_string().contains("EDF+D"));
    }

    #[test]
    fn a_signal_whose_rate_is_no_part_of_the_highest_is_missing_between_its_samples() {
        let mut bytes = file();
        // Three samples a record where the first has four: one more of the second, in each record.
        let head = 1024;
        let at = 256 + 3 * (16 + 80 + 5 * 8 + 80) + 8;
        bytes[at..at + 8].copy_from_slice(b"3       ");
        let records: Vec<Vec<u8>> =
            bytes[head..].chunks(2 * 4 + 2 * 2 + 40).map(<[u8]>::to_vec).collect();
        bytes.truncate(head);
        for record in records {
            bytes.extend(&record[..12]);
            bytes.extend(700_i16.to_le_bytes());
            bytes.extend(&record[12..]);
        }
        let data = parse(&bytes, false).expect("sound");
        let rows = data.series()[0].samples.view().rows().expect("channels");
        let second: Vec<f64> = rows.iter_in_part().take(4).flatten().map(|row| row[1]).collect();
        assert_eq!(&second[..3], [50.0, 60.0, 70.0]);
        assert!(second[3].is_nan(), "{second:?}");
    }

    #[test]
    fn a_damaged_file_is_refused_or_read_as_far_as_it_goes() {
        let whole = file();
        for cut in (0..whole.len()).step_by(7) {
            let _ = parse(&whole[..cut], true);
        }
        for at in (236..1024).step_by(3) {
            let mut other = whole.clone();
            other[at] = b'x';
            let _ = parse(&other, false);
        }
    }
}
