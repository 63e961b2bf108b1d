use std::collections::BTreeMap;
use std::path::Path;

use super::ContextModelError;
use super::error::MOST_CONTEXTS;
use super::rows::digits;
use crate::data::internals::is_separator;
use crate::data::{Alphabet, Decoded, SamplesView};
use crate::files;

/// Contexts of a string that a model distinguishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContextSet {
    /// All strings of this number of symbols. The first symbols of a string, as many, are not predicted.
    Order(usize),
    /// As [`Order`](Self::Order), with the shorter beginnings of a string after start markers: every symbol is predicted.
    Padded(usize),
    /// Chosen from sequences: the strings of at most `longest` symbols that something follows at least
    /// `at_least` times, and the empty one.
    ///
    /// A suffix or prefix of a string is at least as frequent as the string, so the context is always the longest chosen
    /// suffix of the whole past. "Neither too frequent nor too rare" (Shawe-Taylor
    /// and Cristianini, "Kernel Methods for Pattern Analysis", 2004, remark 12.33): `at_least`
    /// excludes rare strings, `longest` frequent ones.
    Frequent {
        /// Length of the longest.
        longest: usize,
        /// Least number of occurrences.
        at_least: usize,
    },
    /// These contexts, each the symbols that were seen last in the order they came, and the empty one.
    Listed(Vec<Vec<u16>>),
}

impl ContextSet {
    /// The contexts in a file, a line each, as symbols of an alphabet, words with blanks between them; blank lines are skipped.
    ///
    /// # Errors
    /// [`ContextModelError`] naming the file, and the line where it is about one.
    pub fn read(path: &Path, alphabet: &Alphabet) -> Result<Self, ContextModelError> {
        let text = String::from_utf8_lossy(&files::read(path)?).into_owned();
        Self::parse(&path.display().to_string(), &text, alphabet)
    }

    /// The contexts in the text of a `file`, which is for messages.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(file: &str, text: &str, alphabet: &Alphabet) -> Result<Self, ContextModelError> {
        let mut lines: BTreeMap<Vec<u16>, usize> = BTreeMap::new();
        let mut listed = Vec::new();
        for (line, string) in (1..).zip(text.lines()) {
            let wrong = |why: String| ContextModelError::Line { file: file.to_owned(), line, why };
            let symbol = |piece: &str| match alphabet.decode_word(piece) {
                Decoded::Symbol(symbol) => Ok(symbol),
                _ => Err(wrong(format!("`{piece}` is not a symbol of the alphabet {alphabet}"))),
            };
            let pieces: Vec<&str> = match alphabet.words().is_empty() {
                true => string.trim().split("").collect(),
                false => string.split(is_separator).collect(),
            };
            let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
            let context: Vec<u16> = pieces.map(symbol).collect::<Result<_, _>>()?;
            if context.is_empty() {
                continue;
            }
            if let Some(earlier) = lines.insert(context.clone(), line) {
                return Err(wrong(format!("the context of line {earlier} occurs again")));
            }
            listed.push(context);
        }
        Ok(Self::Listed(listed))
    }

    /// The contexts, `[context]`: shorter ones first, those of one length in lexicographic order;
    /// listed ones as listed, after the empty one. A start marker is the symbol past the last.
    ///
    /// `sequences` are what a frequent context is frequent in; the end of a string follows its last
    /// symbols too where it is an event.
    ///
    /// # Errors
    /// [`ContextModelError::TooMany`].
    pub fn strings(
        &self,
        symbols: usize,
        end: bool,
        sequences: &[SamplesView<'_>],
    ) -> Result<Vec<Vec<u16>>, ContextModelError> {
        let found = match self {
            Self::Order(order) => words(symbols, *order)?,
            Self::Padded(order) => {
                let mut contexts = Vec::new();
                for length in 0..=*order {
                    let markers = vec![symbols as u16; order - length];
                    let padded = |word: Vec<u16>| [markers.as_slice(), &word].concat();
                    contexts.extend(words(symbols, length)?.into_iter().map(padded));
                }
                contexts
            }
            Self::Frequent { longest, at_least } => frequent(*longest, *at_least, end, sequences),
            Self::Listed(listed) => {
                let others = listed.iter().filter(|context| !context.is_empty()).cloned();
                std::iter::once(Vec::new()).chain(others).collect()
            }
        };
        if found.len() > MOST_CONTEXTS {
            let longest = found.iter().map(Vec::len).max().unwrap_or(0);
            return Err(ContextModelError::TooMany { symbols, longest });
        }
        Ok(found)
    }
}

/// All strings of a length in lexicographic order.
fn words(symbols: usize, length: usize) -> Result<Vec<Vec<u16>>, ContextModelError> {
    let too_many = ContextModelError::TooMany { symbols, longest: length };
    let count = u32::try_from(length)
        .ok()
        .and_then(|length| symbols.checked_pow(length))
        .filter(|&count| count <= MOST_CONTEXTS && symbols <= MOST_CONTEXTS);
    let Some(count) = count else { return Err(too_many) };
    Ok((0..count).map(|number| digits(number, symbols, length)).collect())
}

/// The frequent contexts, length by length: a string is counted only where its longest suffix is
/// frequent, so no more are counted than `symbols` times those that were found.
fn frequent(
    longest: usize,
    at_least: usize,
    end: bool,
    sequences: &[SamplesView<'_>],
) -> Vec<Vec<u16>> {
    let mut found: Vec<Vec<u16>> = vec![Vec::new()];
    let mut shorter: BTreeMap<Vec<u16>, usize> = BTreeMap::from([(Vec::new(), 0)]);
    for length in 1..=longest {
        let mut counts: BTreeMap<Vec<u16>, usize> = BTreeMap::new();
        for symbols in sequences.iter().filter_map(SamplesView::symbols) {
            for (first, past) in symbols.windows(length).enumerate() {
                let follows = match symbols.get(first + length) {
                    Some(next) => next.is_some(),
                    None => end,
                };
                let Some(past) = past.iter().copied().collect::<Option<Vec<u16>>>() else {
                    continue;
                };
                if follows && shorter.contains_key(&past[1..]) {
                    *counts.entry(past).or_default() += 1;
                }
            }
        }
        counts.retain(|_, count| *count >= at_least);
        if counts.is_empty() || found.len() > MOST_CONTEXTS {
            break;
        }
        found.extend(counts.keys().cloned());
        shorter = counts;
    }
    found
}
