//! Letters and words of a stream.

use std::io::BufRead;

use fishweir_core::emission::Alphabet as Letters;

use super::LiveReader;
use crate::assemble::unknown_symbol;
use crate::dataset::Kind;
use crate::dictionary::{Decoded, is_separator};
use crate::error::DataError;
use crate::marks::Marks;

impl<R: BufRead> LiveReader<R> {
    pub(super) fn next_symbol(&mut self) -> Result<bool, DataError> {
        while let Some(character) = self.next_character()? {
            let Kind::Symbols(alphabet) = &self.kind else { continue };
            match alphabet.decode(character) {
                Decoded::Symbol(symbol) => self.symbol = Some(symbol),
                Decoded::Missing => self.symbol = None,
                Decoded::Unknown if character.is_whitespace() => continue,
                Decoded::Unknown
                    if (self.line, self.character, character) == (1, 1, '\u{FEFF}') =>
                {
                    continue;
                }
                Decoded::Unknown => {
                    let (place, symbol) = (self.place(None), &character.to_string());
                    return Err(unknown_symbol(place, symbol, alphabet, &Marks::default()));
                }
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// The next word, as soon as its end has arrived.
    pub(super) fn next_word(&mut self) -> Result<bool, DataError> {
        let (mut word, mut place, mut broken) = (String::new(), None, None);
        loop {
            let character = match self.next_character() {
                Ok(Some(character)) => character,
                Ok(None) => break,
                // The rest of the word is lost with it, as on a device.
                Err(error @ DataError::NotUtf8 { .. }) => {
                    broken.get_or_insert(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let is_mark = (self.line, self.character, character) == (1, 1, '\u{FEFF}');
            match is_separator(character) || is_mark {
                true if word.is_empty() && broken.is_none() => {}
                true => break,
                false => {
                    place.get_or_insert_with(|| self.place(None));
                    // What is longer is no word either.
                    if word.len() <= Letters::LONGEST_WORD {
                        word.push(character);
                    }
                }
            }
        }
        if let Some(error) = broken {
            return Err(error);
        }
        let (Kind::Symbols(alphabet), Some(place)) = (&self.kind, place) else { return Ok(false) };
        self.symbol = match alphabet.decode_word(&word) {
            Decoded::Symbol(symbol) => Some(symbol),
            Decoded::Missing => None,
            Decoded::Unknown => {
                return Err(unknown_symbol(place, &word, alphabet, &Marks::default()));
            }
        };
        Ok(true)
    }

    /// The next character, as soon as its last byte is there; `None` at the end.
    fn next_character(&mut self) -> Result<Option<char>, DataError> {
        let (mut bytes, mut length) = ([0; 4], 0);
        loop {
            let byte = self.peek()?;
            let continues = byte.is_some_and(|byte| byte & 0xC0 == 0x80);
            match byte {
                None if length == 0 => return Ok(None),
                Some(byte) if length == 0 || continues => {
                    self.reader.consume(1);
                    (bytes[length], length) = (byte, length + 1);
                }
                // A character breaks off where another begins, or the stream ends.
                _ => return Err(DataError::NotUtf8 { place: self.place(None) }),
            }
            if length == 1 {
                if std::mem::take(&mut self.line_ended) {
                    (self.line, self.character) = (self.line + 1, 0);
                }
                self.character += 1;
                self.line_ended = bytes[0] == b'\n';
            }
            match std::str::from_utf8(&bytes[..length]) {
                Ok(text) => return Ok(text.chars().next()),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(DataError::NotUtf8 { place: self.place(None) }),
            }
        }
    }
}
