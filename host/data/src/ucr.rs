//! The text of the UCR archive: a label, then the samples of a series of one channel, a series per line, no header.

use std::collections::{HashMap, HashSet};

use super::error::DataError;
use super::layout::{Layout, ReadOptions};
use super::marks::Marks;
use super::one_line::{channel_names, rows, sample, unnamed};
use super::part::{Body, Draft, Part};
use super::place::Place;
use super::table::check_name;
use super::values::finite;
use crate::words::{counted, grouped, shorten};

pub(super) static LAYOUT: Layout = Layout {
    name: "ucr",
    alias: "txt",
    about: "the text of the UCR archive (a label and numbers per line, no header)",
    of_symbols: false,
    recordings: None,
    is_one,
    read,
};

/// Numbers in a line from which on it is taken for a label and samples without being told: the shortest series of the
/// archive have fifteen. A table without a header has fewer columns.
const FEWEST_FIELDS: usize = 16;

/// Separator of the fields of a line.
#[derive(Clone, Copy)]
enum Separator {
    Character(char),
    Blanks,
}

impl Separator {
    /// Separator of this line: tabs, else commas, else blanks.
    fn of(line: &str) -> Self {
        ['\t', ',']
            .into_iter()
            .find(|one| line.contains(*one))
            .map_or(Self::Blanks, Self::Character)
    }

    /// The fields of a line, without blanks around them.
    fn fields(self, line: &str) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Self::Character(separator) => Box::new(line.split(separator).map(str::trim)),
            Self::Blanks => Box::new(line.split_whitespace()),
        }
    }
}

/// A label that is a whole number, in any form: `1`, `1.0` and `1.0000000e+00` are one class.
fn whole(label: &str) -> Option<i64> {
    /// Up to which every whole number is one in double precision.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    finite(label).filter(|one| one.fract() == 0.0 && one.abs() < LARGEST).map(|one| one as i64)
}

fn is_sample(text: &str) -> bool {
    finite(text).is_some() || text.eq_ignore_ascii_case("nan")
}

/// Returns whether every line has as many numbers, the first a whole one that comes back: the label.
fn is_one(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let Some(first) = lines.clone().next() else { return false };
    let separator = Separator::of(first);
    let count = separator.fields(first).count();
    let mut labels = HashSet::new();
    let mut comes_back = false;
    let all = count >= FEWEST_FIELDS
        && lines.all(|line| {
            let mut fields = separator.fields(line);
            let Some(label) = fields.next().and_then(whole) else { return false };
            comes_back |= !labels.insert(label);
            let (mut found, mut sound) = (1, true);
            fields.for_each(|one| (found, sound) = (found + 1, sound && is_sample(one)));
            sound && found == count
        });
    all && comes_back
}

/// The first line that keeps a text from being taken for the archive's, where at least half of its lines are such and a
/// label comes back.
pub(super) fn misfit(name: &str, text: &[u8]) -> Option<DataError> {
    let text = std::str::from_utf8(text).ok()?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let lines: Vec<(u64, &str)> = lines.collect();
    let separator = Separator::of(lines.first()?.1);
    let label = |line: &str| separator.fields(line).next().map(str::to_owned).unwrap_or_default();
    // Names in the first line are a header.
    finite(&label(lines[0].1))?;
    let (mut counts, mut labels) = (HashMap::new(), HashSet::new());
    let mut comes_back = false;
    for (_, line) in &lines {
        *counts.entry(separator.fields(line).count()).or_insert(0) += 1;
        comes_back |= whole(&label(line)).is_some_and(|label| !labels.insert(label));
    }
    let usual = counts.into_iter().max_by_key(|&(fields, lines)| (lines, fields))?.0;
    let wrong = |line: &str| {
        let fields = separator.fields(line).count();
        if fields != usual {
            let what =
                format!("has {}, but most lines have {}", counted(fields, "field"), grouped(usual));
            return Some((
                None,
                what,
                ", or name the format, which allows lines of different lengths",
            ));
        }
        let label = label(line);
        if whole(&label).is_none() {
            let what = format!("`{}` is no whole number", shorten(&label));
            return Some((Some(1), what, ", or name the format, which allows any word as a class"));
        }
        let mut samples = (2..).zip(separator.fields(line).skip(1));
        let (column, text) = samples.find(|(_, text)| !is_sample(text))?;
        let takes = match Marks::default().has(text) {
            true => ", or name the format `ucr`, where it is a missing sample",
            false => "",
        };
        let what = match text {
            "" => "is empty".to_owned(),
            text => format!("`{}` is no number", shorten(text)),
        };
        Some((Some(column), what, takes))
    };
    let mut misfits = lines.iter().filter_map(|&(number, line)| Some((number, wrong(line)?)));
    let (line, (column, what, takes)) = misfits.next()?;
    let is_near = usual >= FEWEST_FIELDS && comes_back && 2 * (1 + misfits.count()) <= lines.len();
    let column = column.map(|column| (column, String::new()));
    is_near.then(|| DataError::Layout {
        place: Box::new(Place { column, ..Place::line(name, line) }),
        what: format!(
            "{what}; most lines are text of the UCR archive, with a class and samples: correct this one{takes}"
        ),
    })
}

/// Reads the archive's text; lines may have fewer samples than others.
fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Part, DataError> {
    let mut part = Part {
        channels: Some(channel_names(name, 1, options)?),
        label_column: Some((1, "label".to_owned())),
        units: unnamed(options),
        ..Part::new(name)
    };
    let mut separator = None;
    for (line, bytes) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let place = |column: usize, label: &str| {
            Box::new(Place { column: Some((column, label.to_owned())), ..Place::line(name, line) })
        };
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(DataError::NotUtf8 { place: Place::line(name, line).into() });
        };
        let text = text.trim_end_matches('\r');
        if text.trim().is_empty() {
            continue;
        }
        let mut fields = separator.get_or_insert_with(|| Separator::of(text)).fields(text);
        let label = fields.next().unwrap_or_default();
        check_name(label, |character| {
            Box::new(Place { character: Some(character), ..*place(1, "label") })
        })?;
        let mut samples = Vec::new();
        for (column, text) in (2..).zip(fields) {
            samples.push(sample(text, options, || place(column, ""))?);
        }
        if samples.is_empty() {
            let what = "has a label but no samples; separate them as in the first line, by tabs, commas or blanks";
            return Err(DataError::Layout { place: place(2, ""), what: what.to_owned() });
        }
        part.note_missing(&options.source.missing, label, "label");
        let label = whole(label).map_or_else(|| label.to_owned(), |label| label.to_string());
        part.drafts.push(Draft {
            id: (part.drafts.len() + 1).to_string(),
            label: Some(label).filter(|label| !options.source.missing.has(label)),
            columns: Vec::new(),
            times: Vec::new(),
            line,
            body: Body::Rows(rows(&[samples])),
        });
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::{DataError, Dataset, Kind, ReadOptions, layout};

    fn parse(text: &str, named: bool) -> Result<Dataset, DataError> {
        let layout = if named { layout("ucr") } else { None };
        Dataset::parse("data", text.as_bytes(), &ReadOptions { layout, ..ReadOptions::default() })
    }

    /// Lines of a label and fifteen samples or more.
    fn archive(labels: &[&str], samples: usize) -> String {
        let mut text = String::new();
        for (series, label) in labels.iter().enumerate() {
            text += label;
            for t in 0..samples {
                let _ = write!(text, "\t{}", series * 100 + t);
            }
            text.push('\n');
        }
        text
    }

    #[test]
    fn whatever_parts_its_fields_the_archives_text_is_known() {
        let text = archive(&["2", "-1", "2"], 15);
        for text in [
            text.clone(),
            text.replace('\t', ","),
            text.replace('\t', "  "),
            text.replace('\n', "\r\n"),
            text.replace("2\t0", "   2.0000000e+00   0").replace('\t', "   "),
        ] {
            let data = parse(&text, false).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(data.kind(), &Kind::Channels(vec!["x".into()]));
            assert_eq!(data.classes(), ["-1", "2"]);
            let labels: Vec<_> = data.series().iter().filter_map(|one| one.label).collect();
            assert_eq!(labels, [1, 0, 1]);
            assert_eq!(data.observations(), 45);
            let rows = data.series()[2].samples.view();
            assert_eq!(rows.rows().expect("channels").row(14), Some(&[214.0][..]));
        }
        // Lines are filled up behind shorter series; within them, samples are missing.
        let text =
            archive(&["1", "1"], 16).replace("\t15\n", "\tNaN\n").replace("\t3\t", "\tNaN\t");
        let data = parse(&text, false).expect("sound");
        let lengths: Vec<_> = data.series().iter().map(|one| one.samples.view().len()).collect();
        assert_eq!((lengths, data.missing().observations), (vec![15, 16], 1));
    }

    /// An ambiguous text is of this layout only if it is named.
    #[test]
    fn what_could_be_something_else_must_be_named() {
        for text in [
            archive(&["1", "1"], 14),
            archive(&["1", "2"], 15),
            archive(&["1"], 15),
            archive(&["1.5", "1.5"], 15),
            archive(&["up", "up"], 15),
            archive(&["1", "2", "3"], 15) + "1.5\t2\n",
            "goal".to_owned() + &archive(&["1", "1", "1"], 15)[1..],
        ] {
            let told = parse(&text, false).expect_err(&text).to_string();
            assert!(told.contains("fits no known layout"), "{told}");
            let data = parse(&text, true).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(data.series().len(), text.lines().count());
        }
        let data = parse("up,1,,3,\ndown,4\n?,5\n", true).expect("named");
        let told = |one: &crate::Series| (one.label, one.samples.view().len(), one.line);
        let told: Vec<_> = data.series().iter().map(told).collect();
        assert_eq!(told, [(Some(1), 3, 1), (Some(0), 1, 2), (None, 1, 3)]);
    }

    /// One line that is wrong among many is named, and not the first.
    #[test]
    fn the_line_that_keeps_a_text_from_being_taken_is_named() {
        let text = archive(&["1", "2", "1", "2"], 15);
        for (text, begin, advice) in [
            (
                text.replace("\t202\t", "\tx\t"),
                "data, line 3, column 4: `x` is no number",
                "correct this one",
            ),
            (text.replace("\t202\t", "\t\t"), "data, line 3, column 4: is empty", "missing sample"),
            (
                text.replace("\t202\t", "\t"),
                "data, line 3: has 15 fields, but most lines have 16",
                "lines of different lengths",
            ),
            (
                text.replace("2\t100\t", "\n2.5\t100\t"),
                "data, line 3, column 1: `2.5` is no whole",
                "any word",
            ),
            (
                text.replace('\t', " ").replace(" 1 ", " 1; "),
                "data, line 1, column 3: `1;`",
                "a class and",
            ),
        ] {
            let told = parse(&text, false).expect_err(&text).to_string();
            assert!(told.starts_with(begin) && told.contains(advice), "{told}");
            assert!(told.contains("most lines are text of the UCR archive"), "{told}");
        }
    }

    #[test]
    fn mistakes_are_told_by_place() {
        for (text, begin, advice) in [
            ("1 2 3\n1 2 x\n", "data, line 2, column 3: `x` is not a finite number", "NA"),
            ("1\t2\n\n1 2\n", "data, line 3, column 2: has a label but no samples", "tabs"),
            ("1,2,1e39\n", "data, line 1, column 3: `1e39` is beyond the range", "unit"),
            (
                "a\u{200B},2\n",
                "data, line 1, column 1 (label), character 2: has the unprintable",
                "U+200B",
            ),
            ("1,NaN,?\n", "data, line 1: `1` has no sample", "remove"),
        ] {
            let told = parse(text, true).expect_err(text).to_string();
            assert!(told.starts_with(begin) && told.contains(advice), "{text}: {told}");
        }
        let bytes = b"1,2\n\xFF,2\n";
        let options = ReadOptions { layout: layout("ucr"), ..ReadOptions::default() };
        let told = Dataset::parse("data", bytes, &options).expect_err("no text").to_string();
        assert!(told.starts_with("data, line 2: is not UTF-8"), "{told}");
    }
}
