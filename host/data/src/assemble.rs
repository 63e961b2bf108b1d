//! Assembly of a data set from the content of one file or several: classes and symbols get their
//! numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::alphabet::Alphabet;
use super::dataset::Clock;
use super::dataset::{Dataset, Kind, Series};
use super::dictionary::{Decoded, is_separator};
use super::error::{DataError, wrong_kind};
use super::layout::ReadOptions;
use super::marks::Marks;
use super::part::{Body, Draft, Form, Part, Text};
use super::place::Place;
use super::samples::Samples;
use super::source::{Finding, Findings, Source};
use super::spelling::{self, Spelling, texts};
use crate::words::{counted, shorten};

/// Makes one data set of the parts, which must be one or more.
pub(super) fn assemble(parts: Vec<Part>, options: &ReadOptions) -> Result<Dataset, DataError> {
    for part in &parts {
        check_fit(&parts[0], part)?;
        check_filled(part, options.skips)?;
    }
    let source = parts.iter().map(|part| part.file.as_str()).collect::<Vec<_>>().join(", ");
    let columns = parts[0].columns.clone();
    let clock = Clock { named: parts.iter().all(|part| part.clocked), resampled: false };
    let mut findings = Findings::default();
    let mut parts = parts;
    let known = match &options.kind {
        Some(Kind::Symbols(alphabet)) => Some(alphabet.words()),
        _ => None,
    };
    if options.kind.as_ref().is_none_or(Kind::has_words)
        && let Some(mark) = spelling::part_at_marks(&mut parts, known)
    {
        findings.add(Finding::Symbols, format!("`{mark}` separates the words"));
    }
    let spelling = match options.source.words {
        true => Spelling::Words,
        false => Spelling::of(&parts, &options.source.missing),
    };
    let kind = kind(&parts, options, spelling, &mut findings)?;
    let mut numbering = Numbering {
        passed_over: match (&kind, &options.kind) {
            (Kind::Symbols(_), _) if spelling == Spelling::ApartLetters => is_separator,
            (Kind::Symbols(_), Some(_)) => char::is_whitespace,
            _ => |_| false,
        },
        kind,
        classes: options.classes.clone().unwrap_or_else(|| labels(&parts)),
        missing: &options.source.missing,
        codes: BTreeMap::new(),
    };
    let (mut series, mut units) = (Vec::new(), Vec::new());
    let (mut all, mut skipped, mut first) = (0, 0, None);
    for mut part in parts {
        units.extend(std::mem::take(&mut part.units));
        std::mem::take(&mut part.findings)
            .0
            .into_iter()
            .for_each(|one| findings.add(one.about, one.what));
        for draft in std::mem::take(&mut part.drafts) {
            all += 1;
            match numbering.series(&part, draft) {
                Ok(one) => series.push(one),
                Err(error) if options.skips && can_be_skipped(&error) => {
                    skipped += 1;
                    first.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
    }
    if let Some(error) = first {
        if series.is_empty() {
            return Err(error);
        }
        let what = format!("{error}: {skipped} of {} left out", counted(all, "series"));
        findings.add(Finding::Skipped, what);
    }
    let Numbering { kind, classes, codes, .. } = numbering;
    let data = Dataset::new(source, kind, classes, columns, series)?;
    if options.kind.is_none() {
        data.check_channels()?;
    }
    let data = data.with_codes(codes).with_clock(clock).with_unit_matches(units);
    Ok(data.with_findings(findings.0).with_skipped(skipped))
}

/// Returns true if an error concerns one series only.
fn can_be_skipped(error: &DataError) -> bool {
    matches!(error, DataError::UnknownSymbol { .. } | DataError::EmptySeries { .. })
}

/// Words of a dictionary that a finding names.
const SHOWN: usize = 8;

/// Kind of observation: as the options give it, or as found.
fn kind(
    parts: &[Part],
    options: &ReadOptions,
    spelling: Spelling,
    findings: &mut Findings,
) -> Result<Kind, DataError> {
    if let Some(names) = &parts[0].channels {
        if options.source.words {
            return Err(wrong_kind(&parts[0].file, "real channels", "strings of words"));
        }
        return Ok(Kind::Channels(names.clone()));
    }
    if let Some(kind) = &options.kind {
        return Ok(kind.clone());
    }
    let Source { missing, words: said, .. } = &options.source;
    let alphabet = match spelling {
        Spelling::Words => spelling::infer(parts, missing, *said)?,
        Spelling::Letters => Alphabet::infer(&count_characters(parts))?,
        Spelling::ApartLetters => {
            let mut counts = count_characters(parts);
            counts.retain(|&letter, _| !is_separator(letter));
            Alphabet::infer(&counts)?
        }
    };
    let Some(alphabet) = alphabet else { return Err(parts[0].empty(&parts[0].drafts[0])) };
    match spelling {
        Spelling::Words if !said => {
            let first: Vec<&str> =
                alphabet.words().iter().take(SHOWN).map(String::as_str).collect();
            let more = if alphabet.len() > SHOWN { ", ..." } else { "" };
            let count = counted(alphabet.len(), "word");
            let what = format!("symbols are {count}, not letters: {}{more}", first.join(", "));
            findings.add(Finding::Symbols, what);
        }
        Spelling::ApartLetters => {
            findings.add(Finding::Symbols, "the separators between the letters are not symbols");
        }
        Spelling::Letters if alphabet.symbols().iter().any(|&one| is_separator(one)) => {
            let what = "strings are read letter by letter, and separators are symbols too";
            findings.add(Finding::Symbols, what);
        }
        _ => {}
    }
    Ok(Kind::Symbols(alphabet))
}

/// The labels found, sorted.
fn labels(parts: &[Part]) -> Vec<String> {
    let drafts = parts.iter().flat_map(|part| &part.drafts);
    let labels: BTreeSet<&str> = drafts.filter_map(|draft| draft.label.as_deref()).collect();
    labels.into_iter().map(str::to_owned).collect()
}

/// Gives labels and symbols their numbers.
struct Numbering<'o> {
    kind: Kind,
    classes: Vec<String>,
    /// Returns whether a letter is no symbol and has no meaning.
    passed_over: fn(char) -> bool,
    missing: &'o Marks,
    /// Characters and words read as missing so far.
    codes: BTreeMap<String, usize>,
}

impl Numbering<'_> {
    fn series(&mut self, part: &Part, mut draft: Draft) -> Result<Series, DataError> {
        let label =
            draft.label.as_ref().map(|label| self.class(part, &draft, label)).transpose()?;
        let body = std::mem::take(&mut draft.body);
        let mut codes = BTreeMap::new();
        let samples = match (body, &self.kind) {
            (Body::Rows(rows), _) => Samples::Channels(rows),
            (Body::Text(text), Kind::Symbols(_)) => {
                Samples::Symbols(self.encode(part, &text, &mut codes)?)
            }
            (Body::Text(_), Kind::Channels(_)) => {
                return Err(wrong_kind(&part.file, "strings of symbols", "real channels"));
            }
        };
        if samples.view().observed() == 0 {
            return Err(part.empty(&draft));
        }
        codes.into_iter().for_each(|(code, count)| *self.codes.entry(code).or_default() += count);
        let Draft { id, columns, times, line, .. } = draft;
        Ok(Series { id, label, columns, times, samples, line })
    }

    /// Symbols to numbers; those that stand for missing ones are counted.
    fn encode(
        &self,
        part: &Part,
        text: &Text,
        codes: &mut BTreeMap<String, usize>,
    ) -> Result<Vec<Option<u16>>, DataError> {
        let Kind::Symbols(alphabet) = &self.kind else { return Ok(Vec::new()) };
        let of_letters = alphabet.words().is_empty() && text.form != Form::Events;
        let mut symbols = Vec::with_capacity(match of_letters {
            true => text.text.len(),
            false => text.words().count(),
        });
        let mut take = |decoded: Decoded, offset: usize, piece: &str| {
            symbols.push(match decoded {
                Decoded::Symbol(symbol) => Some(symbol),
                Decoded::Missing => {
                    match codes.get_mut(piece) {
                        Some(count) => *count += 1,
                        None => drop(codes.insert(piece.to_owned(), 1)),
                    }
                    None
                }
                Decoded::Unknown => {
                    let place = part.place_in(text, offset);
                    return Err(unknown_symbol(place, piece, alphabet, self.missing));
                }
            });
            Ok(())
        };
        if of_letters {
            for (offset, character) in text.characters() {
                match alphabet.decode(character) {
                    Decoded::Unknown if (self.passed_over)(character) => {}
                    decoded => take(decoded, offset, character.encode_utf8(&mut [0; 4]))?,
                }
            }
            return Ok(symbols);
        }
        if text.form == Form::Folded {
            return Err(wrong_kind(&part.file, "letters in FASTA", "words"));
        }
        for (offset, word) in text.words() {
            let decoded = match alphabet.decode_word(word) {
                Decoded::Symbol(symbol) => Decoded::Symbol(symbol),
                Decoded::Missing if alphabet.words().is_empty() => Decoded::Missing,
                _ if self.missing.has(word) => Decoded::Missing,
                _ => Decoded::Unknown,
            };
            take(decoded, offset, word)?;
        }
        Ok(symbols)
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

    /// The place of a symbol of a string.
    pub(super) fn place_in(&self, text: &Text, offset: usize) -> Box<Place> {
        let (line, character) = text.locate(offset);
        Box::new(Place { character, ..*self.place(line, &self.text_column) })
    }

    fn empty(&self, draft: &Draft) -> DataError {
        let place = self.place(draft.line, &self.text_column);
        DataError::EmptySeries { place, series: shorten(&draft.id) }
    }
}

/// Checks that there is a series, and that no string is empty, unless such strings are skipped.
fn check_filled(part: &Part, skips: bool) -> Result<(), DataError> {
    if part.drafts.is_empty() {
        return Err(DataError::HeaderOnly { file: part.file.clone() });
    }
    if skips {
        return Ok(());
    }
    let is_empty = |draft: &&Draft| match &draft.body {
        Body::Text(text) => text.characters().next().is_none(),
        Body::Rows(rows) => rows.view().is_empty(),
    };
    part.drafts.iter().find(is_empty).map_or(Ok(()), |draft| Err(part.empty(draft)))
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

/// Counts each character in the strings.
fn count_characters(parts: &[Part]) -> BTreeMap<char, usize> {
    // Nearly all is ASCII, and files are long: count that in an array.
    let mut ascii = [0; 128];
    let mut counts = BTreeMap::new();
    for text in texts(parts) {
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

/// The error for a character or word outside an alphabet.
pub(super) fn unknown_symbol(
    place: Box<Place>,
    symbol: &str,
    alphabet: &Alphabet,
    marks: &Marks,
) -> DataError {
    let missing = match alphabet.words().is_empty() {
        true => alphabet.missing().iter().map(char::to_string).collect::<Vec<_>>().join(" "),
        false => marks.words().join(" "),
    };
    DataError::UnknownSymbol {
        place,
        symbol: shorten(symbol),
        alphabet: shorten(&alphabet.to_string()),
        missing,
    }
}
