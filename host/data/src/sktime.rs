//! The `.ts` files of sktime and aeon, in which the UEA archive comes: lines with `@` that describe, `@data`, then a
//! series per line: `channel:channel:...:label`, the samples of a channel parted by commas.

use std::collections::BTreeMap;

use super::error::DataError;
use super::layout::{Layout, ReadOptions};
use super::one_line::{channel_names, rows, sample, unnamed};
use super::part::{Body, Draft, Part};
use super::place::Place;
use super::stamps::Times;
use super::table::check_name;
use crate::words::{counted, grouped, shorten};

pub(super) static LAYOUT: Layout = Layout {
    name: "sktime",
    alias: "ts",
    about: "a .ts file of sktime or aeon",
    of_symbols: false,
    recordings: None,
    is_one,
    read,
};

/// Keywords after `@`, in any case, that only repeat facts about the data: some of them are checked.
const IDLE: [&str; 8] = [
    "problemname",
    "missing",
    "univariate",
    "dimension",
    "dimensions",
    "equallength",
    "serieslength",
    "path",
];

/// The word behind `@`, in small letters.
fn keyword(line: &str) -> Option<String> {
    Some(line.strip_prefix('@')?.split_whitespace().next().unwrap_or_default().to_lowercase())
}

/// Begins, behind comments, with a word of a description.
fn is_one(text: &[u8]) -> bool {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.into_iter().find(|line| !line.is_empty() && line[0] != b'#');
    let word = first.and_then(|line| keyword(std::str::from_utf8(line).ok()?));
    let known = ["timestamps", "classlabel", "targetlabel", "data"];
    word.is_some_and(|word| known.iter().chain(&IDLE).any(|known| word == *known))
}

/// Content of the lines before `@data`.
#[derive(Default)]
struct Description {
    /// The classes, where series have labels.
    classes: Option<Vec<String>>,
    /// Value of each keyword, in lower case but for classes, and its line.
    said: Vec<(String, String, u64)>,
    begun: bool,
    /// True if the labels are numbers to estimate, and no classes.
    targets: bool,
    /// True if each sample is `(time,value)`.
    timed: bool,
    /// Reading of times, settled by the first.
    times: Option<Times>,
}

impl Description {
    /// Takes in a line that begins with `@`; an error describes its fault.
    fn take(&mut self, line: &str, number: u64) -> Result<(), String> {
        let word = keyword(line).unwrap_or_default();
        let mut values = line.split_whitespace().skip(1);
        let first = values.next().unwrap_or_default().to_lowercase();
        match (word.as_str(), first.as_str()) {
            ("data", _) => self.begun = true,
            ("classlabel", "true") => self.classes = Some(values.map(str::to_owned).collect()),
            ("classlabel" | "targetlabel" | "timestamps", "false") => {}
            ("timestamps", "true") => self.timed = true,
            ("classlabel", _) => {
                return Err("`@classLabel` says true and the classes, or false".to_owned());
            }
            ("timestamps", _) => return Err("`@timeStamps` says true or false".to_owned()),
            ("targetlabel", "true") => {
                (self.classes, self.targets) = (Some(Vec::new()), true);
            }
            ("targetlabel", _) => return Err("`@targetLabel` says true or false".to_owned()),
            (word, _) if IDLE.contains(&word) => {}
            (word, _) => {
                return Err(format!(
                    "`@{}` is not a keyword of .ts files; delete the line",
                    shorten(word)
                ));
            }
        }
        if matches!(word.as_str(), "problemname" | "path") {
            return Ok(()); // Names, of which nothing comes.
        }
        let word = if word == "dimension" { "dimensions".to_owned() } else { word };
        let mut said = line.split_whitespace();
        let name = said.next().unwrap_or_default();
        let is_class = |at: usize| word == "classlabel" && at > 0;
        let told = |(at, said): (usize, &str)| match is_class(at) {
            true => said.to_owned(),
            false => said.to_lowercase(),
        };
        let said = said.enumerate().map(told).collect::<Vec<_>>().join(" ");
        let before = self.said.iter().find(|(other, what, _)| *other == word && *what != said);
        if let Some((_, other, line)) = before {
            return Err(format!(
                "`{}` is `{}` here and `{}` in line {line}; delete the wrong one",
                shorten(name),
                shorten(&said),
                shorten(other)
            ));
        }
        self.said.push((word, said, number));
        Ok(())
    }

    /// Value of a keyword, and its line.
    fn said(&self, word: &str) -> Option<(&str, u64)> {
        let (_, what, line) = self.said.iter().find(|(other, ..)| other == word)?;
        Some((what, *line))
    }

    /// Checks a series of `channels` channels and `samples` samples; `first` are the line and samples of the first.
    fn check(&self, channels: usize, samples: usize, first: (u64, usize)) -> Result<(), String> {
        let number = |word: &str| {
            let (what, line) = self.said(word)?;
            Some((what.parse::<usize>().ok()?, line))
        };
        let is_true = |word: &str| self.said(word).filter(|&(what, _)| what == "true");
        let other = |what: String, word: &str, says: &str, line: u64| {
            Err(format!("has {what}, but line {line} has `@{word} {says}`; correct one of the two"))
        };
        let found = counted(channels, "channel");
        match (is_true("univariate"), number("dimensions")) {
            (Some((_, line)), _) if channels > 1 => {
                return other(found, "univariate", "true", line);
            }
            (_, Some((wanted, line))) if channels != wanted => {
                return other(found, "dimensions", &wanted.to_string(), line);
            }
            _ => {}
        }
        let found = format!("{} per channel", counted(samples, "sample"));
        let as_long = self.said("equallength").is_none_or(|(what, _)| what != "false");
        match (number("serieslength"), is_true("equallength")) {
            (Some((wanted, line)), _) if as_long && samples != wanted => {
                other(found, "seriesLength", &wanted.to_string(), line)
            }
            (_, Some((_, line))) if samples != first.1 => {
                let found = format!("{found} (line {} has {})", first.0, grouped(first.1));
                other(found, "equalLength", "true", line)
            }
            _ => Ok(()),
        }
    }
}

/// Reads a `.ts` file.
fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Part, DataError> {
    let mut part = Part { units: unnamed(options), ..Part::new(name) };
    let mut description = Description::default();
    // Line and samples of the first series.
    let mut first = None;
    for (line, bytes) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let place = || Box::new(Place::line(name, line));
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(DataError::NotUtf8 { place: place() });
        };
        let text = text.trim_end();
        let content = text.trim_start();
        let wrong = |what: String| DataError::Layout { place: place(), what };
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if !description.begun {
            if !content.starts_with('@') {
                return Err(wrong("expected `@data` before the first series".into()));
            }
            description.take(content, line).map_err(wrong)?;
            if description.targets && options.source.target.is_none() {
                let what = "the file is for regression: its targets are not classes; `label` names them as target";
                return Err(wrong(what.into()));
            }
            continue;
        }
        let (channels, label, times) = series(text, line, &mut description, name, options)?;
        let names = match &mut part.channels {
            Some(names) => names,
            none => none.insert(channel_names(name, channels.len(), options)?),
        };
        if names.len() != channels.len() {
            let (found, first) = (counted(channels.len(), "channel"), names.len());
            return Err(wrong(format!(
                "has {found}, but the first series has {first}; channels are separated by colons, the label is last"
            )));
        }
        let samples = channels.first().map_or(0, Vec::len);
        let first = *first.get_or_insert((line, samples));
        description.check(channels.len(), samples, first).map_err(wrong)?;
        let rows = rows(&channels);
        // What is missing at the end is no part of the series.
        let times = times.get(..rows.view().len()).unwrap_or_default().to_vec();
        part.clocked = description.times.is_some_and(Times::named);
        part.drafts.push(Draft {
            id: (part.drafts.len() + 1).to_string(),
            label,
            columns: Vec::new(),
            times,
            line,
            body: Body::Rows(rows),
        });
    }
    if part.drafts.is_empty() {
        return Err(DataError::HeaderOnly { file: name.to_owned() });
    }
    Ok(part)
}

/// The samples of a line, `[channel][time]`, its label, and its times, if they are given.
type Line = (Vec<Vec<Option<f64>>>, Option<String>, Vec<f64>);

/// Reads a line of data.
fn series(
    text: &str,
    line: u64,
    description: &mut Description,
    file: &str,
    options: &ReadOptions,
) -> Result<Line, DataError> {
    // The place of a byte, in characters.
    let place = |at: usize| {
        let character = Some(text[..at].chars().count() + 1);
        Box::new(Place { character, ..Place::line(file, line) })
    };
    let wrong = |at: usize, what: String| DataError::Layout { place: place(at), what };
    let (body, label) = match &description.classes {
        None => (text, None),
        Some(classes) => {
            let Some((body, label)) = text.rsplit_once(':') else {
                let what = "has no `:` and label after its samples, but `@classLabel` is true";
                return Err(wrong(0, what.to_owned()));
            };
            let (at, label) = (body.len() + 1, label.trim());
            check_name(label, |character| {
                let place = place(at);
                let before = place.character.unwrap_or_default() - 1;
                Box::new(Place { character: Some(before + character), ..*place })
            })?;
            if label != "?" && !description.targets && !classes.iter().any(|class| class == label) {
                let (label, known) = (shorten(label), classes.join(", "));
                let what = format!(
                    "class `{label}` is not among those of `@classLabel` ({known}); add it there"
                );
                return Err(wrong(at, what));
            }
            (body, Some(label.to_owned()).filter(|label| label != "?"))
        }
    };
    if description.timed {
        let (channels, times) = timed(body, description, options, &place)?;
        return Ok((channels, label, times));
    }
    let mut channels: Vec<Vec<Option<f64>>> = Vec::new();
    let mut at = 0;
    for channel in body.split(':') {
        let begin = at;
        let mut samples = Vec::new();
        for field in channel.split(',') {
            let value = sample(field.trim(), options, || place(at));
            samples.push(value.map_err(|error| match error {
                DataError::NotANumber { text, .. } if description.classes.is_none() => {
                    let what = format!(
                        "`{text}` is neither a finite number nor missing (`?`); if labels are last, write \
                        `@classLabel true` and the classes before `@data`"
                    );
                    wrong(at, what)
                }
                error => error,
            })?);
            at += field.len() + 1;
        }
        if let Some(first) = channels.first().filter(|first| first.len() != samples.len()) {
            let (found, first) = (counted(samples.len(), "sample"), first.len());
            let what = format!(
                "channel {} has {found}, but the first has {first}; write `?` for missing ones",
                channels.len() + 1
            );
            return Err(wrong(begin, what));
        }
        channels.push(samples);
    }
    Ok((channels, label, Vec::new()))
}

/// Samples, `[channel][time]`, and their times.
type Timed = (Vec<Vec<Option<f64>>>, Vec<f64>);

/// Reads the samples of a line whose channels are `(time,value),(time,value),...`. A channel that has no sample at a time of
/// another lacks it.
fn timed(
    body: &str,
    description: &mut Description,
    options: &ReadOptions,
    place: &dyn Fn(usize) -> Box<Place>,
) -> Result<Timed, DataError> {
    let mut rows: BTreeMap<u64, (f64, Vec<Option<f64>>)> = BTreeMap::new();
    let (mut channel, mut rest) = (0, body);
    loop {
        let at = body.len() - rest.len();
        let wrong = |what: &str| Err(DataError::Layout { place: place(at), what: what.to_owned() });
        rest = rest.trim_start_matches([' ', ',']);
        if let Some(next) = rest.strip_prefix(':') {
            (channel, rest) = (channel + 1, next);
            continue;
        }
        if rest.is_empty() {
            break;
        }
        let Some((pair, behind)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'))
        else {
            return wrong("a sample with a time is `(time,value)`");
        };
        let Some((time, value)) = pair.rsplit_once(',') else {
            return wrong("a sample with a time is `(time,value)`");
        };
        let time = time.trim();
        let times = match description.times {
            Some(times) => times,
            None => match Times::of("t", &[time]) {
                Ok(settled) => *description.times.insert(settled.times),
                Err(what) => return wrong(&what),
            },
        };
        let Some(t) = times.seconds(time) else {
            return Err(DataError::TimeNotANumber { place: place(at), text: shorten(time) });
        };
        let value = sample(value.trim(), options, || place(at))?;
        // Keys that are ordered as the numbers are.
        let bits = (t + 0.0).to_bits();
        let key = if t.is_sign_negative() { !bits } else { bits | 1 << 63 };
        let (_, row) = rows.entry(key).or_insert((t, Vec::new()));
        // Channels come in order.
        if row.len() > channel {
            return wrong("two samples of a channel have this time");
        }
        row.resize(channel + 1, None);
        row[channel] = value;
        rest = behind;
    }
    let times = rows.values().map(|(t, _)| *t).collect();
    let at = |channel: usize| {
        rows.values().map(|(_, row)| row.get(channel).copied().flatten()).collect()
    };
    Ok(((0..=channel).map(at).collect(), times))
}

#[cfg(test)]
mod tests {
    use crate::{DataError, Dataset, Kind, ReadOptions, Series};

    fn parse(text: &str) -> Result<Dataset, DataError> {
        Dataset::parse("data", text.as_bytes(), &ReadOptions::default())
    }

    const MOTIONS: &str = "\
# Two channels, said the watch.
@problemName Motions
@timeStamps false
@missing true
@univariate false
@dimensions 2
@equalLength false
@classLabel true Rest Run
@data
1,2,3:10,?,30:Run
4, 5:40,50:Rest
# of nobody
6,7,?:60,70,?:?
";

    #[test]
    fn samples_may_have_times() {
        let head = "@problemName x\n@timeStamps true\n@classLabel true a b\n@data\n";
        let text = format!("{head}(0.0,1),(0.5,2),(1.0,?),(1.5,4):(0.0,5),(1.0,7),(1.5,8):a\n");
        let data = parse(&text).expect("sound");
        let one = &data.series()[0];
        assert_eq!(one.times, [0.0, 0.5, 1.0, 1.5]);
        let rows: Vec<Option<Vec<f64>>> = one
            .samples
            .view()
            .rows()
            .expect("channels")
            .iter_in_part()
            .map(|row| row.map(<[f64]>::to_vec))
            .collect();
        assert_eq!(rows[0], Some(vec![1.0, 5.0]));
        assert!(rows[1].as_ref().is_some_and(|row| row[0] == 2.0 && row[1].is_nan()));
        assert!(rows[2].as_ref().is_some_and(|row| row[0].is_nan() && row[1] == 7.0));
        let dates = "(2025-03-01 10:00:00,1),(2025-03-01 10:00:02,2):b\n";
        let data = parse(&format!("{head}{dates}")).expect("dates");
        assert_eq!(data.series()[0].times, [0.0, 2.0]);
        for (wrong, told) in [("(0,1,2:a\n", "(time,value)"), ("(soon,1):a\n", "soon")] {
            let error = parse(&format!("{head}{wrong}")).expect_err(wrong).to_string();
            assert!(error.contains("line 5") && error.contains(told), "{error}");
        }
    }

    #[test]
    fn channels_are_parted_by_colons_and_the_label_is_last() {
        for text in [MOTIONS.to_owned(), MOTIONS.replace('\n', "\r\n"), MOTIONS.replace("@d", "@D")]
        {
            let data = parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let table = "series,label,t,x1,x2\n1,Run,0,1,10\n1,Run,1,2,\n1,Run,2,3,30\n\
                         2,Rest,0,4,40\n2,Rest,1,5,50\n3,,0,6,60\n3,,1,7,70\n";
            let table = parse(table).expect("sound");
            assert_eq!((data.kind(), data.classes()), (table.kind(), table.classes()));
            assert_eq!(data.missing(), table.missing());
            let of = |one: &Series| (one.id.clone(), one.label, one.samples.clone());
            let all = |data: &Dataset| data.series().iter().map(of).collect::<Vec<_>>();
            assert_eq!(all(&data), all(&table));
            assert_eq!(data.series()[2].line, 13);
        }
        // Said twice, or of series of any length, what is so is no contradiction.
        for said in [
            "@dimensions 2",
            "@equalLength false\n@seriesLength 9",
            "@Univariate FALSE",
            "@ClassLabel TRUE Rest Run",
            "@problemName Other\n@path a\n@path b",
        ] {
            assert!(parse(&MOTIONS.replace("@missing true", said)).is_ok(), "{said}");
        }
        let one = parse("@problemName One\n@classLabel false\n@data\n1,2,3\n").expect("sound");
        assert_eq!(one.kind(), &Kind::Channels(vec!["x".into()]));
        assert_eq!((one.series()[0].label, one.observations()), (None, 3));
        let kind = Some(Kind::Channels(vec!["ax".into(), "ay".into()]));
        let options = ReadOptions { kind: kind.clone(), ..ReadOptions::default() };
        let data = Dataset::parse("data", MOTIONS.as_bytes(), &options).expect("as many");
        assert_eq!(Some(data.kind()), kind.as_ref());
    }

    #[test]
    fn mistakes_are_told_by_place() {
        let with = |line: &str| MOTIONS.replace("4, 5:40,50:Rest", line);
        let says = |line: &str| MOTIONS.replace("@missing true", line);
        for (text, begin, advice) in [
            (with("4,five:40,50:Rest"), "data, line 11, character 3: `five` is not", "write NA"),
            (with("4,5:40,1e39:Rest"), "data, line 11, character 8: `1e39` is beyond", "unit"),
            (
                with("4,5:40:Rest"),
                "data, line 11, character 5: channel 2 has 1 sample",
                "write `?`",
            ),
            (with("4,5:Rest"), "data, line 11: has 1 channel, but the first series", "colons"),
            (with("4,5:40,50:Walk"), "data, line 11, character 11: class `Walk`", "(Rest, Run)"),
            (with("4,5"), "data, line 11, character 1: has no `:` and label", "@classLabel"),
            (
                with("4,5:40,50:Re\u{200B}st"),
                "data, line 11, character 13: has the unprintable",
                "U+200B",
            ),
            (with("?,?:?,?:Rest"), "data, line 11: `2` has no sample", "remove"),
            (says("@classLabel"), "data, line 4: `@classLabel` says true", "or false"),
            (says("@targetLabel true"), "data, line 4: the file is for regression", "classes"),
            (
                says("@attribute x real"),
                "data, line 4: `@attribute` is not a keyword",
                "delete the line",
            ),
            (
                says("@dimension 3"),
                "data, line 6: `@dimensions` is `2` here and `3` in line 4",
                "delete",
            ),
            (
                MOTIONS.replace("@univariate false", "@univariate true"),
                "data, line 10: has 2 channels, but line 5 has `@univariate true`",
                "correct one",
            ),
            (
                MOTIONS.replace("@dimensions 2", "@dimensions 3"),
                "data, line 10: has 2 channels, but line 6 has `@dimensions 3`",
                "correct one",
            ),
            (
                MOTIONS.replace("@equalLength false", "@equalLength TRUE"),
                "data, line 11: has 2 samples per channel (line 10 has 3), but line 7 has `@equalLength true`",
                "correct one",
            ),
            (
                MOTIONS.replace("@equalLength false", "@seriesLength 4"),
                "data, line 10: has 3 samples per channel, but line 7 has `@seriesLength 4`",
                "correct one",
            ),
            (
                says("@classLabel true rest Run"),
                "data, line 8: `@classLabel` is `true Rest Run` here and `true rest Run` in line 4",
                "delete",
            ),
            (says("1,2:3,4:Run"), "data, line 4: expected `@data`", "before the first series"),
            (
                "@problemName A\n@data\n1,2:up\n".into(),
                "data, line 3, character 5: `up` is neither a finite number",
                "`@classLabel true` and the classes",
            ),
            ("@problemName A\n@data\n".into(), "data: has a header but no data", "below"),
            ("@relation a\n@data\n1\n".into(), "data: this is ARFF", ".ts"),
        ] {
            let told = parse(&text).expect_err(&text).to_string();
            assert!(told.starts_with(begin) && told.contains(advice), "{told} where {begin}");
        }
        let told = Dataset::parse("data", b"@data\n1,\xFF\n", &ReadOptions::default());
        assert!(told.expect_err("no text").to_string().starts_with("data, line 2: is not UTF-8"));
    }
}
