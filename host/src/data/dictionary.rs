//! Words as symbols: how strings are spelt, and which words there are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fishweir_core::emission::Alphabet as Letters;

use super::alphabet::{Alphabet, Decoded};
use super::assemble::wrong_kind;
use super::error::DataError;
use super::marks::Marks;
use super::part::{Body, Form, Part, Text};
use crate::words::{grouped, is_hidden, shorten};

/// Largest number of different words for which a dictionary is inferred.
const MOST_WORDS: usize = 1000;

/// Different words of which few may occur once alone.
const ENOUGH_WORDS: usize = 20;

/// The words of an alphabet, and the place of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dictionary {
    words: Vec<String>,
    places: HashMap<String, u16>,
}

impl Dictionary {
    pub(super) fn new(words: Vec<String>) -> Result<Self, DataError> {
        let wrong = |what: String| {
            let text = shorten(&words.join(" "));
            Err(DataError::Alphabet { text, what })
        };
        if words.len() < 2 {
            return wrong("has one word; a model needs two or more".into());
        }
        if words.len() > usize::from(u16::MAX) {
            return wrong(format!("has {} words, at most 65535 are possible", words.len()));
        }
        let mut places = HashMap::with_capacity(words.len());
        for (word, place) in words.iter().zip(0..) {
            if let Err(what) = check(word) {
                return wrong(what);
            }
            if places.insert(word.clone(), place).is_some() {
                return wrong(format!("`{word}` occurs twice; name each once"));
            }
        }
        Ok(Self { words, places })
    }

    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    pub(super) fn decode(&self, word: &str) -> Decoded {
        match self.places.get(word) {
            Some(&place) => Decoded::Symbol(place),
            None if Marks::default().has(word) => Decoded::Missing,
            None => Decoded::Unknown,
        }
    }
}

/// Refuses a word that is no symbol, in words.
fn check(word: &str) -> Result<(), String> {
    let most = Letters::LONGEST_WORD;
    if word.is_empty() {
        return Err("an empty word is no symbol; remove it".into());
    }
    let shown = shorten(word);
    if word.contains(is_separator) {
        return Err(format!("`{shown}` has a separator in it; write `_` there"));
    }
    if word.contains(|one: char| is_hidden(one) || one.is_whitespace()) {
        return Err(format!("`{shown}` has a character that does not show in print; remove it"));
    }
    match word.len() > most {
        true => Err(format!("`{shown}` has more than {most} bytes; shorten it")),
        false => Ok(()),
    }
}

/// Returns whether a character separates words, on a device too.
pub(crate) fn is_separator(character: char) -> bool {
    u8::try_from(character).is_ok_and(Letters::separates)
}

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
        format!("at most {} are taken for symbols", grouped(MOST_WORDS))
    } else if counts.len() >= ENOUGH_WORDS && 10 * once >= 9 * counts.len() {
        "nearly all of them occur once".to_owned()
    } else {
        String::new()
    };
    if !(said || why.is_empty()) {
        return Err(wrong(format!(
            "{} differ, and {why}; write rare words as one, take out what differs each time, or name the symbols",
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
        [word] => Err(wrong(format!("all are `{word}`; a model needs two or more"))),
        _ => Alphabet::from_words(words.into_iter().map(str::to_owned).collect()).map(Some),
    }
}
