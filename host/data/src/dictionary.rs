//! Words as symbols, and the place of each.

use std::collections::HashMap;

use fishweir_core::emission::Alphabet as Letters;

use super::error::DataError;
use super::marks::Marks;
use crate::words::{is_hidden, shorten};

/// Meaning of a character or a word in an alphabet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A symbol, by its index.
    Symbol(u16),
    /// A gap or a code for several symbols: a missing observation.
    Missing,
    /// Neither.
    Unknown,
}

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
            return wrong("has only one word; a model needs two or more".into());
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
pub(super) fn check(word: &str) -> Result<(), String> {
    let most = Letters::LONGEST_WORD;
    if word.is_empty() {
        return Err("an empty word is no symbol; remove it".into());
    }
    let shown = shorten(word);
    if word.contains(is_separator) {
        return Err(format!("`{shown}` has a separator in it; write `_` there"));
    }
    if word.contains(|one: char| is_hidden(one) || one.is_whitespace()) {
        return Err(format!("`{shown}` has an unprintable character; remove it"));
    }
    match word.len() > most {
        true => Err(format!("`{shown}` has more than {most} bytes; shorten it")),
        false => Ok(()),
    }
}

/// Returns whether a character separates words, on a device too.
pub fn is_separator(character: char) -> bool {
    u8::try_from(character).is_ok_and(Letters::separates)
}
