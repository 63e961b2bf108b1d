//! From what the readers found in one file or several to a data set: classes and symbols get their
//! numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::alphabet::{Alphabet, Decoded};
use super::dataset::Clock;
use super::dataset::{Dataset, Kind, Series};
use super::error::DataError;
use super::layout::ReadOptions;
use super::part::{Body, Draft, Part, Text};
use super::place::Place;
use super::samples::Samples;
use super::source::{Finding, Findings};
use crate::words::shorten;

/// Makes one data set of the parts, which must be one or more.
pub(super) fn assemble(parts: Vec<Part>, options: &ReadOptions) -> Result<Dataset, DataError> {
    for part in &parts {
        check_fit(&parts[0], part)?;
        check_filled(part)?;
    }
    let source = parts.iter().map(|part| part.file.as_str()).collect::<Vec<_>>().join(", ");
    let columns = parts[0].columns.clone();
    let clock = Clock { named: parts.iter().all(|part| part.clocked), resampled: false };
    let mut numbering = Numbering {
        kind: kind(&parts, options)?,
        classes: options.classes.clone().unwrap_or_else(|| labels(&parts)),
        codes: BTreeMap::new(),
    };
    let mut findings = Findings::default();
    if options.kind.is_none()
        && let Kind::Symbols(alphabet) = &numbering.kind
        && let Some(what) = words(&parts, alphabet)
    {
        findings.add(Finding::Symbols, what);
    }
    let (mut series, mut units) = (Vec::new(), Vec::new());
    for mut part in parts {
        units.extend(std::mem::take(&mut part.units));
        std::mem::take(&mut part.findings)
            .0
            .into_iter()
            .for_each(|one| findings.add(one.about, one.what));
        for draft in std::mem::take(&mut part.drafts) {
            series.push(numbering.series(&part, draft)?);
        }
    }
    let Numbering { kind, classes, codes } = numbering;
    let data = Dataset::new(source, kind, classes, columns, series)?;
    if options.kind.is_none() {
        data.check_channels()?;
    }
    Ok(data.with_codes(codes).with_clock(clock).with_unit_matches(units).with_findings(findings.0))
}

/// What an observation is: as the options say, or as found.
fn kind(parts: &[Part], options: &ReadOptions) -> Result<Kind, DataError> {
    if let Some(names) = &parts[0].channels {
        return Ok(Kind::Channels(names.clone()));
    }
    if let Some(kind) = &options.kind {
        return Ok(kind.clone());
    }
    match Alphabet::infer(&count_characters(parts))? {
        Some(alphabet) => Ok(Kind::Symbols(alphabet)),
        None => Err(parts[0].empty(&parts[0].drafts[0])),
    }
}

/// The labels found, sorted.
fn labels(parts: &[Part]) -> Vec<String> {
    let drafts = parts.iter().flat_map(|part| &part.drafts);
    let labels: BTreeSet<&str> = drafts.filter_map(|draft| draft.label.as_deref()).collect();
    labels.into_iter().map(str::to_owned).collect()
}

/// Gives labels and symbols their numbers.
struct Numbering {
    kind: Kind,
    classes: Vec<String>,
    /// Characters read as missing so far.
    codes: BTreeMap<char, usize>,
}

impl Numbering {
    fn series(&mut self, part: &Part, mut draft: Draft) -> Result<Series, DataError> {
        let label =
            draft.label.as_ref().map(|label| self.class(part, &draft, label)).transpose()?;
        let body = std::mem::take(&mut draft.body);
        let samples = match (body, &self.kind) {
            (Body::Rows(rows), _) => Samples::Channels(rows),
            (Body::Text(text), Kind::Symbols(alphabet)) => {
                Samples::Symbols(encode(part, &text, alphabet, &mut self.codes)?)
            }
            (Body::Text(_), Kind::Channels(_)) => {
                return Err(wrong_kind(&part.file, "strings of symbols", "real channels"));
            }
        };
        if samples.view().observed() == 0 {
            return Err(part.empty(&draft));
        }
        let Draft { id, columns, times, line, .. } = draft;
        Ok(Series { id, label, columns, times, samples, line })
    }

    fn class(&self, part: &Part, draft: &Draft, label: &str) -> Result<usize, DataError> {
        let unknown = || DataError::UnknownLabel {
            place: part.place(draft.line, &part.label_column),
            label: shorten(label),
            classes: self.classes.join(", "),
        };
        self.classes.iter().position(|class| class == label).ok_or_else(unknown)
    }
}

impl Part {
    fn place(&self, line: u64, column: &Option<(usize, String)>) -> Box<Place> {
        Box::new(Place { column: column.clone(), ..Place::line(&self.file, line) })
    }

    fn empty(&self, draft: &Draft) -> DataError {
        let place = self.place(draft.line, &self.text_column);
        DataError::EmptySeries { place, series: shorten(&draft.id) }
    }
}

/// There is a series, and no string is empty.
fn check_filled(part: &Part) -> Result<(), DataError> {
    if part.drafts.is_empty() {
        return Err(DataError::HeaderOnly { file: part.file.clone() });
    }
    let is_empty = |draft: &&Draft| match &draft.body {
        Body::Text(text) => text.characters().next().is_none(),
        Body::Rows(rows) => rows.view().is_empty(),
    };
    part.drafts.iter().find(is_empty).map_or(Ok(()), |draft| Err(part.empty(draft)))
}

/// The error for a file of one kind where the other is needed.
pub(super) fn wrong_kind(file: &str, found: &str, expected: &str) -> DataError {
    let file = file.to_owned();
    DataError::WrongKind { file, found: found.to_owned(), expected: expected.to_owned() }
}

/// Two parts have the same channels and columns.
fn check_fit(first: &Part, part: &Part) -> Result<(), DataError> {
    let mismatch = |what: String| {
        let (file, other) = (part.file.clone(), first.file.clone());
        Err(DataError::Mismatch { file, other, what })
    };
    if part.channels != first.channels {
        let names =
            |part: &Part| part.channels.as_ref().map_or("strings".into(), |names| names.join(", "));
        return mismatch(format!("one has {}, the other {}", names(part), names(first)));
    }
    if part.columns != first.columns {
        let (one, other) = (part.columns.join(", "), first.columns.join(", "));
        return mismatch(format!("extra columns are `{one}` in one and `{other}` in the other"));
    }
    Ok(())
}

/// What is to be said of strings that look like codes or names in a row, as `10 11 12` and `open,close`: letters are symbols, and so
/// is what separates them.
fn words(parts: &[Part], alphabet: &Alphabet) -> Option<String> {
    /// Strings that are looked at.
    const LOOKED_AT: usize = 100;
    let separator =
        [' ', ',', ';', '|'].into_iter().find(|one| alphabet.symbols().contains(one))?;
    let (mut all, mut long, mut examples) = (0, 0, Vec::new());
    for draft in parts.iter().flat_map(|part| &part.drafts).take(LOOKED_AT) {
        let Body::Text(text) = &draft.body else { continue };
        for word in text.text.split(separator).map(str::trim).filter(|word| !word.is_empty()) {
            all += 1;
            long += usize::from(word.chars().count() > 1);
            if examples.len() < 3 && !examples.contains(&word) {
                examples.push(word);
            }
        }
    }
    (2 * long >= all && long > 0).then(|| {
        format!(
            "the strings look like words ({}), and are read letter by letter, `{separator}` too: write one character for each word",
            shorten(&examples.join(", "))
        )
    })
}

/// How often each character occurs in the strings.
fn count_characters(parts: &[Part]) -> BTreeMap<char, usize> {
    // Nearly all is ASCII, and files are long: count that in an array.
    let mut ascii = [0; 128];
    let mut counts = BTreeMap::new();
    for draft in parts.iter().flat_map(|part| &part.drafts) {
        let Body::Text(text) = &draft.body else {
            continue;
        };
        for (_, one) in text.characters() {
            match ascii.get_mut(one as usize) {
                Some(count) => *count += 1,
                None => *counts.entry(one).or_default() += 1,
            }
        }
    }
    counts.extend(('\0'..).zip(ascii).filter(|&(_, count)| count > 0));
    counts
}

/// Symbols to numbers; codes for missing ones are counted.
fn encode(
    part: &Part,
    text: &Text,
    alphabet: &Alphabet,
    codes: &mut BTreeMap<char, usize>,
) -> Result<Vec<Option<u16>>, DataError> {
    let mut number = |(offset, character)| match alphabet.decode(character) {
        Decoded::Symbol(symbol) => Ok(Some(symbol)),
        Decoded::Missing => {
            *codes.entry(character).or_default() += 1;
            Ok(None)
        }
        Decoded::Unknown => {
            let (line, within) = text.locate(offset);
            let mut place = part.place(line, &part.text_column);
            place.character = Some(within);
            Err(unknown_symbol(place, character, alphabet))
        }
    };
    let mut symbols = Vec::with_capacity(text.text.len());
    for one in text.characters() {
        symbols.push(number(one)?);
    }
    Ok(symbols)
}

/// The error for a character outside an alphabet.
pub(super) fn unknown_symbol(place: Box<Place>, symbol: char, alphabet: &Alphabet) -> DataError {
    let missing = alphabet.missing().iter().map(char::to_string).collect::<Vec<_>>().join(" ");
    DataError::UnknownSymbol {
        place,
        symbol: symbol.escape_debug().to_string(),
        alphabet: shorten(&alphabet.to_string()),
        missing,
    }
}
