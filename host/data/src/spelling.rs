//! Spelling of strings: letters or words, and which words there are.

use std::collections::{BTreeMap, BTreeSet};

use super::alphabet::Alphabet;
use super::dictionary::{check, is_separator};
use super::error::{DataError, wrong_kind};
use super::marks::Marks;
use super::part::{Body, Form, Part, Text};
use crate::words::grouped;

/// Largest number of different words for which a dictionary is inferred.
const MOST_WORDS: usize = 1000;

/// Different words of which few may occur once alone.
const ENOUGH_WORDS: usize = 20;

/// Spelling of the symbols of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// Letters, one after another.
    Letters,
    /// Letters, with separators between them.
    ApartLetters,
    /// Words, with separators between them.
    Words,
}

impl Spelling {
    /// Detects the spelling from the first strings: they are words if at least half of them have a separator and at least half of
    /// the pieces are longer than a letter, or all are whole numbers.
    pub(super) fn of(parts: &[Part], marks: &Marks) -> Self {
        const LOOKED_AT: usize = 1000;
        let (mut strings, mut parted, mut pieces, mut long) = (0, 0, 0, 0);
        // Zeros and ones are letters whatever parts them.
        let (mut are_codes, mut are_binary) = (true, true);
        for text in texts(parts).take(LOOKED_AT) {
            match text.form {
                Form::Folded => return Self::Letters,
                Form::Events => return Self::Words,
                Form::Line => {}
            }
            strings += 1;
            parted += usize::from(text.text.contains(is_separator));
            for word in text.words().map(|(_, word)| word) {
                pieces += 1;
                long += usize::from(word.chars().count() > 1);
                let is_mark = marks.has(word);
                are_codes = are_codes && (is_mark || word.parse::<i64>().is_ok());
                are_binary = are_binary && (is_mark || word == "0" || word == "1");
            }
        }
        match (2 * parted >= strings && parted > 0, long) {
            (true, _) if are_codes && !are_binary => Self::Words,
            (true, 0) => Self::ApartLetters,
            (true, long) if 2 * long >= pieces => Self::Words,
            _ => Self::Letters,
        }
    }
}

/// Puts blanks for the dots or slashes between words, where nothing else separates them and the words come back; returns which
/// mark it was. Gaps of aligned letters part what hardly comes back. Words of a known dictionary need not come back, but must not
/// have the mark in them.
pub(super) fn part_at_marks(parts: &mut [Part], known: Option<&[String]>) -> Option<char> {
    if let Some(words) = known {
        let has = |mark: char| words.iter().any(|word| word.contains(mark));
        return part_at(parts, |parts, mark| !has(mark) && are_words(parts, mark, false));
    }
    part_at(parts, |parts, mark| are_words(parts, mark, true))
}

/// Returns whether strings are words between marks; if asked, words that come back.
fn are_words(parts: &[Part], mark: char, come_back: bool) -> bool {
    const LOOKED_AT: usize = 1000;
    let (mut strings, mut parted, mut pieces, mut long) = (0, 0, 0, 0);
    let mut words = BTreeSet::new();
    for text in texts(parts).take(LOOKED_AT) {
        if text.form != Form::Line || text.text.contains(is_separator) {
            return false;
        }
        strings += 1;
        parted += usize::from(text.text.contains(mark));
        for piece in text.text.split(mark).filter(|piece| !piece.is_empty()) {
            pieces += 1;
            long += usize::from(piece.chars().count() > 1);
            words.insert(piece);
        }
    }
    let are_known = !come_back || 2 * words.len() <= pieces;
    2 * parted >= strings && parted > 0 && 2 * long >= pieces && are_known
}

fn part_at(parts: &mut [Part], is_mark: impl Fn(&[Part], char) -> bool) -> Option<char> {
    let mark = ['.', '/'].into_iter().find(|&mark| is_mark(parts, mark))?;
    for draft in parts.iter_mut().flat_map(|part| &mut part.drafts) {
        if let Body::Text(text) = &mut draft.body {
            text.text = text.text.replace(mark, " ");
        }
    }
    Some(mark)
}

/// The strings of all parts.
pub(super) fn texts(parts: &[Part]) -> impl Iterator<Item = &Text> {
    parts.iter().flat_map(|part| &part.drafts).filter_map(|draft| match &draft.body {
        Body::Text(text) => Some(text),
        Body::Rows(_) => None,
    })
}

/// The alphabet of the words there are: whole numbers by size, others in the order of their letters. `None` if nothing but marks
/// of missing values is there.
///
/// # Errors
/// [`DataError::Words`] if these are hardly a dictionary, unless it was `said` that they are; [`DataError::Layout`] of a word
/// that is no symbol.
pub(super) fn infer(
    parts: &[Part],
    marks: &Marks,
    said: bool,
) -> Result<Option<Alphabet>, DataError> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for part in parts {
        for text in texts(std::slice::from_ref(part)) {
            if text.form == Form::Folded {
                return Err(wrong_kind(&part.file, "letters in FASTA", "words"));
            }
            for (offset, word) in text.words().filter(|(_, word)| !marks.has(word)) {
                let count = counts.entry(word).or_default();
                *count += 1;
                if let (1, Err(what)) = (*count, check(word)) {
                    return Err(DataError::Layout { place: part.place_in(text, offset), what });
                }
            }
        }
    }
    let wrong = |what: String| DataError::Words { file: parts[0].file.clone(), what };
    let once = counts.values().filter(|&&count| count == 1).count();
    let why = if counts.len() > MOST_WORDS {
        format!("at most {} can be symbols", grouped(MOST_WORDS))
    } else if counts.len() >= ENOUGH_WORDS && 10 * once >= 9 * counts.len() {
        "nearly all of them occur only once".to_owned()
    } else {
        String::new()
    };
    if !(said || why.is_empty()) {
        return Err(wrong(format!(
            "there are {} words, and {why}; replace rare words by one word, remove parts that are unique, or name \
             the symbols",
            grouped(counts.len())
        )));
    }
    let mut words: Vec<&str> = counts.into_keys().collect();
    if let Some(mut codes) = words
        .iter()
        .map(|&word| Some((word.parse::<i64>().ok()?, word)))
        .collect::<Option<Vec<_>>>()
    {
        codes.sort_unstable();
        words = codes.into_iter().map(|(_, word)| word).collect();
    }
    match words.as_slice() {
        [] => Ok(None),
        [word] => Err(wrong(format!("the only word is `{word}`; a model needs two or more"))),
        _ => Alphabet::from_words(words.into_iter().map(str::to_owned).collect()).map(Some),
    }
}
