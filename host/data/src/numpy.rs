//! Arrays of NumPy: one recording (time, channel) or many (series, channel, time), alone in `.npy` or named in `.npz`.
//!
//! Source: NumPy Enhancement Proposal 1, the `.npy` format.

use super::error::DataError;
use super::layout::Recording;
use super::layout::{Layout, ReadOptions};
use super::part::Part;
use super::recording::part;
use super::source::Finding;
use super::zip;
use crate::words::shorten;

const MAGIC: &[u8] = b"\x93NUMPY";

pub(super) static LAYOUT: Layout = Layout {
    name: "numpy",
    alias: "npy",
    about: "an array of NumPy (.npy: time, channel; .npz: X of series, channel, time, and labels y)",
    of_symbols: false,
    recordings: None,
    is_one: |bytes| {
        bytes.starts_with(MAGIC)
            || bytes.starts_with(b"PK\x03\x04")
                && bytes.get(26..28).zip(bytes.get(30..)).is_some_and(|(length, rest)| {
                    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
                    rest.get(..length).is_some_and(|name| name.ends_with(b".npy"))
                })
    },
    read,
};

/// An array.
struct Array {
    shape: Vec<usize>,
    values: Values,
}

enum Values {
    Numbers(Vec<f64>),
    Texts(Vec<String>),
}

/// Value of a key in the header, which is a literal of Python.
fn entry<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let (_, behind) = header.split_once(&format!("'{key}'"))?;
    Some(behind.trim_start().strip_prefix(':')?.trim_start())
}

impl Array {
    /// Reads an array; an error describes its fault.
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let early = || "ends too early".to_owned();
        let body = bytes.strip_prefix(MAGIC).ok_or("is no array of NumPy")?;
        let (length, behind) = match body {
            [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
            [2 | 3, _, a, b, c, d, rest @ ..] => {
                (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest)
            }
            _ => return Err("is of an unknown version of the format".into()),
        };
        let (header, data) = behind.split_at_checked(length).ok_or_else(early)?;
        let header = std::str::from_utf8(header).map_err(|_| "has a damaged header")?;
        let descr = entry(header, "descr").ok_or("has a damaged header")?;
        let columns_first =
            entry(header, "fortran_order").is_some_and(|one| one.starts_with("True"));
        let shape = entry(header, "shape").and_then(|one| one.strip_prefix('(')?.split(')').next());
        let shape: Option<Vec<usize>> = shape.and_then(|shape| {
            let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
            sizes.map(|size| size.parse().ok()).collect()
        });
        let shape = shape.ok_or("has a damaged header")?;
        let kind = descr.trim_start_matches(['\'', '"']);
        let kind = kind.split(['\'', '"']).next().unwrap_or_default();
        if kind.ends_with('O') {
            return Err("holds Python objects, such as arrays of different lengths; save each recording as an array \
                        of its own, or pad them with NaN to one length"
                .into());
        }
        let all = shape.iter().try_fold(1_usize, |all, &size| all.checked_mul(size));
        let all = all.ok_or("has a damaged header")?;
        let (high_first, code) = match kind.split_at_checked(1) {
            Some(("<" | "|" | "=", code)) => (false, code),
            Some((">", code)) => (true, code),
            _ => {
                return Err(format!(
                    "is of the type `{}`, which is not read; save it as float32",
                    shorten(descr)
                ));
            }
        };
        let (letter, width) = code.split_at_checked(1).ok_or("has a damaged header")?;
        let width: usize = width.parse().map_err(|_| {
            format!("is of the type `{}`, which is not read; save it as float32", shorten(kind))
        })?;
        let width = if letter == "U" { width.saturating_mul(4) } else { width };
        let wanted = all.checked_mul(width).filter(|_| width > 0).ok_or("has a damaged header")?;
        let data = data.get(..wanted).ok_or_else(early)?;
        let items = data.chunks_exact(width);
        let values = match letter {
            "U" | "S" => Values::Texts(items.map(|item| text(item, letter, high_first)).collect()),
            _ => {
                let values: Option<Vec<f64>> =
                    items.map(|item| number(item, letter, high_first)).collect();
                Values::Numbers(values.ok_or_else(|| {
                    format!(
                        "is of the type `{}`, which is not read; save it as float32",
                        shorten(kind)
                    )
                })?)
            }
        };
        let array = Self { shape, values };
        Ok(if columns_first { array.transposed() } else { array })
    }

    /// Reorders an array so that the last index varies fastest, not the first.
    fn transposed(self) -> Self {
        let place = |mut at: usize| {
            let (mut to, mut stride) = (0, 1);
            // The index in each direction, from the last on.
            let mut index = vec![0; self.shape.len()];
            for (size, index) in self.shape.iter().zip(&mut index).rev() {
                *index = at % size;
                at /= size;
            }
            for (size, index) in self.shape.iter().zip(index) {
                to += index * stride;
                stride *= size;
            }
            to
        };
        let values = match &self.values {
            Values::Numbers(all) => {
                Values::Numbers((0..all.len()).map(|at| all[place(at)]).collect())
            }
            Values::Texts(all) => {
                Values::Texts((0..all.len()).map(|at| all[place(at)].clone()).collect())
            }
        };
        Self { values, ..self }
    }

    fn numbers(self) -> Option<(Vec<usize>, Vec<f64>)> {
        match self.values {
            Values::Numbers(numbers) => Some((self.shape, numbers)),
            Values::Texts(_) => None,
        }
    }

    /// Converts the values to labels.
    fn labels(self) -> Vec<String> {
        match self.values {
            Values::Numbers(numbers) => numbers.iter().map(f64::to_string).collect(),
            Values::Texts(texts) => texts,
        }
    }
}

fn number(item: &[u8], letter: &str, high_first: bool) -> Option<f64> {
    let mut bytes = [0; 8];
    bytes.get_mut(..item.len())?.copy_from_slice(item);
    if high_first {
        bytes[..item.len()].reverse();
    }
    let [a, b, c, d, ..] = bytes;
    Some(match (letter, item.len()) {
        ("f", 2) => half(u16::from_le_bytes([a, b])),
        ("f", 4) => f32::from_le_bytes([a, b, c, d]).into(),
        ("f", 8) => f64::from_le_bytes(bytes),
        ("i", 1) => f64::from(i8::from_le_bytes([a])),
        ("i", 2) => f64::from(i16::from_le_bytes([a, b])),
        ("i", 4) => f64::from(i32::from_le_bytes([a, b, c, d])),
        ("i", 8) => i64::from_le_bytes(bytes) as f64,
        ("u" | "b", 1) => f64::from(a),
        ("u", 2) => f64::from(u16::from_le_bytes([a, b])),
        ("u", 4) => f64::from(u32::from_le_bytes([a, b, c, d])),
        ("u", 8) => u64::from_le_bytes(bytes) as f64,
        _ => return None,
    })
}

/// A number of 16 bits (IEEE 754 binary16).
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3FF));
    let size = match exponent {
        0 => fraction * (-24_f64).exp2(),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * f64::from(exponent - 25).exp2(),
    };
    if bits >> 15 == 1 { -size } else { size }
}

fn text(item: &[u8], letter: &str, high_first: bool) -> String {
    if letter == "S" {
        return String::from_utf8_lossy(item).trim_end_matches('\0').to_owned();
    }
    let (letters, _) = item.as_chunks::<4>();
    let letter = |&four: &[u8; 4]| match high_first {
        true => u32::from_be_bytes(four),
        false => u32::from_le_bytes(four),
    };
    let letters = letters.iter().map(letter).take_while(|&letter| letter != 0);
    letters.map(|letter| char::from_u32(letter).unwrap_or('\u{FFFD}')).collect()
}

fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Part, DataError> {
    let wrong = |what: String| DataError::Header { line: 1, file: name.to_owned(), what };
    if bytes.starts_with(MAGIC) {
        let array = Array::read(bytes).map_err(&wrong)?;
        return of_arrays(name, array, None, options);
    }
    let files = zip::files(bytes, |name| name.ends_with(".npy")).map_err(&wrong)?;
    let names: Vec<String> = files.iter().map(|(name, _)| name.replace(".npy", "")).collect();
    let (mut samples, mut labels) = (None, None);
    for ((_, content), key) in files.iter().zip(&names) {
        let is_label = ["y", "label", "labels", "target", "targets", "class", "classes"]
            .contains(&key.to_lowercase().as_str());
        let array =
            Array::read(content).map_err(|what| wrong(format!("its array `{key}` {what}")))?;
        if is_label && labels.is_none() {
            labels = Some(array);
        } else if samples.is_none() && array.shape.len() > 1 {
            samples = Some(array);
        } else {
            return Err(wrong(format!(
                "holds the arrays {}; only one of samples, such as `X`, and one of labels, `y`, can be read: save \
                 only these",
                names.join(", ")
            )));
        }
    }
    let Some(samples) = samples else {
        return Err(wrong(format!("has no array of samples; it holds {}", names.join(", "))));
    };
    of_arrays(name, samples, labels, options)
}

/// The recordings of an array, which has the index of the series first where it has three.
fn of_arrays(
    name: &str,
    samples: Array,
    labels: Option<Array>,
    options: &ReadOptions,
) -> Result<Part, DataError> {
    let wrong = |what: String| DataError::Header { line: 1, file: name.to_owned(), what };
    let Some((shape, numbers)) = samples.numbers() else {
        return Err(wrong("holds texts where samples belong".into()));
    };
    let numbers = numbers.as_slice();
    let mut finding = None;
    // A few numbers per sample and many samples, as neural networks take them.
    let times_first =
        matches!(*shape.as_slice(), [_, times, channels] if channels < 16 && times > 2 * channels);
    // [series][time][channel]
    let at: Box<dyn Fn(usize, usize, usize) -> f64 + '_> = match *shape.as_slice() {
        [_] => Box::new(move |_, t, _| numbers[t]),
        [_, channels] => Box::new(move |_, t, channel| numbers[t * channels + channel]),
        [_, times, channels] if times_first => {
            Box::new(move |series, t, channel| numbers[(series * times + t) * channels + channel])
        }
        [_, channels, times] => {
            Box::new(move |series, t, channel| numbers[(series * channels + channel) * times + t])
        }
        _ => {
            return Err(wrong(format!(
                "has {} dimensions; write series, channel, time",
                shape.len()
            )));
        }
    };
    let (series, times, channels) = match *shape.as_slice() {
        [times] => (1, times, 1),
        // With a label per row, rows are series of one channel.
        [rows, columns]
            if labels.as_ref().is_some_and(|labels| labels.shape.first() == Some(&rows)) =>
        {
            (rows, columns, 1)
        }
        [times, channels] => {
            finding = Some("rows are samples, and columns channels");
            (1, times, channels)
        }
        [series, times, channels] if times_first => {
            finding = Some("the array is of series, time, channel");
            (series, times, channels)
        }
        [series, channels, times] => {
            finding = Some("the array is of series, channel, time");
            (series, times, channels)
        }
        _ => (0, 0, 0),
    };
    let wide = channels == 1 && series > 1 && shape.len() == 2;
    if series == 0 || times == 0 || channels == 0 {
        return Err(wrong("has no sample".into()));
    }
    let labels = labels.map(Array::labels);
    if let Some(labels) = labels.as_ref().filter(|labels| labels.len() != series) {
        return Err(wrong(format!("has {} labels for {series} series", labels.len())));
    }
    let value = |one: usize, t: usize, channel: usize| match wide {
        true => at(0, one, t),
        false => at(one, t, channel),
    };
    let recordings = (0..series).map(|one| {
        let mut rows: Vec<Vec<f64>> = (0..times)
            .map(|t| (0..channels).map(|channel| value(one, t, channel)).collect())
            .collect();
        // Shorter series are filled up.
        let last = rows.iter().rposition(|row| row.iter().any(|value| value.is_finite()));
        rows.truncate(last.map_or(0, |last| last + 1));
        let id = if series > 1 { (one + 1).to_string() } else { String::new() };
        let label = labels.as_ref().map(|labels| labels[one].clone());
        Recording { id, label, rows, ..Recording::default() }
    });
    let mut part = part(name, None, channels, recordings.collect(), options)?;
    if let Some(finding) = finding {
        part.findings.add(Finding::Channels, finding);
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::zip::stored;
    use crate::{Dataset, Kind, ReadOptions};

    fn npy(descr: &str, shape: &str, columns_first: &str, data: &[u8]) -> Vec<u8> {
        let header =
            format!("{{'descr': {descr}, 'fortran_order': {columns_first}, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
    }

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn rows(data: &Dataset, series: usize) -> Vec<Vec<f64>> {
        let rows = data.series()[series].samples.view().rows().expect("channels");
        rows.iter().flatten().map(<[f64]>::to_vec).collect()
    }

    fn parse(bytes: &[u8]) -> Dataset {
        Dataset::parse("a/lunge.npy", bytes, &ReadOptions::default()).expect("sound")
    }

    #[test]
    fn arrays_are_recordings_whatever_their_order_and_type() {
        let data =
            parse(&npy("'<f4'", "(3, 2)", "False", &floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])));
        assert_eq!(data.kind(), &Kind::Channels(vec!["x1".into(), "x2".into()]));
        let wanted = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        assert_eq!(
            (rows(&data, 0), data.series()[0].id.as_str()),
            (wanted.map(Vec::from).to_vec(), "lunge")
        );
        let turned = npy("'<f4'", "(3, 2)", "True", &floats(&[1.0, 3.0, 5.0, 2.0, 4.0, 6.0]));
        assert_eq!(rows(&parse(&turned), 0), wanted);
        let short: Vec<u8> = [1_i16, -2].iter().flat_map(|x| x.to_be_bytes()).collect();
        assert_eq!(rows(&parse(&npy("'>i2'", "(2,)", "False", &short)), 0), [[1.0], [-2.0]]);
    }

    #[test]
    fn an_archive_has_samples_and_labels() {
        let x = npy(
            "'<f4'",
            "(2, 2, 3)",
            "False",
            &floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, f32::NAN, 9.0, 10.0, f32::NAN]),
        );
        let letters: Vec<u8> = "ab".chars().flat_map(|one| u32::from(one).to_le_bytes()).collect();
        let y = npy("'<U1'", "(2,)", "False", &letters);
        let data = parse(&stored(&[("X.npy", &x), ("y.npy", &y)]));
        assert_eq!(data.classes(), ["a", "b"]);
        assert_eq!(rows(&data, 0), [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]);
        assert_eq!(rows(&data, 1), [[7.0, 9.0], [8.0, 10.0]], "filled up behind");
    }

    #[test]
    fn what_is_no_array_of_recordings_is_refused_with_what_to_do() {
        for (bytes, told) in [
            (npy("'|O'", "(2,)", "False", b""), "different lengths"),
            (npy("'<f4'", "(3, 2)", "False", &floats(&[1.0])), "too early"),
            (npy("'<c8'", "(1,)", "False", &[0; 8]), "not read"),
            (npy("'<f4'", "(1, 1, 1, 1)", "False", &floats(&[1.0])), "dimensions"),
            (npy("'<f4'", "(0, 2)", "False", b""), "no sample"),
        ] {
            let error =
                Dataset::parse("x", &bytes, &ReadOptions::default()).expect_err(told).to_string();
            assert!(error.contains(told), "{error}");
        }
        let whole = npy("'<f4'", "(1,)", "False", &floats(&[1.0]));
        for cut in 0..whole.len() {
            let _ = Dataset::parse("x", &whole[..cut], &ReadOptions::default());
        }
    }

    #[test]
    fn numbers_of_16_bits_and_arrays_with_time_first_are_read() {
        let halves: [u16; 6] = [0x3C00, 0xC100, 0x0001, 0x7BFF, 0x8000, 0x3555];
        let bytes: Vec<u8> = halves.iter().flat_map(|one| one.to_le_bytes()).collect();
        let file = npy("'<f2'", "(6,)", "False", &bytes);
        let data = Dataset::parse("x", &file, &ReadOptions::default()).expect("halves");
        let view = data.series()[0].samples.view();
        let rows = view.rows().expect("channels");
        let found: Vec<f64> = rows.iter().flatten().map(|row| row[0]).collect();
        assert_eq!(found, [1.0, -2.5, (-24_f64).exp2(), 65_504.0, -0.0, 0.333_251_953_125]);
        let numbers: Vec<u8> =
            (0..2 * 9 * 3).flat_map(|one| f64::from(one).to_le_bytes()).collect();
        let file = npy("'<f8'", "(2, 9, 3)", "False", &numbers);
        let data = Dataset::parse("x", &file, &ReadOptions::default()).expect("time first");
        let view = data.series()[1].samples.view();
        let rows = view.rows().expect("channels");
        assert_eq!((rows.len(), rows.row(1)), (9, Some(&[30.0, 31.0, 32.0][..])));
    }
}
