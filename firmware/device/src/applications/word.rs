//! Words as they arrive, byte by byte.

use fishweir_core::emission::{Alphabet, Letter};

/// The word in hand, in the room of the longest there is.
pub(super) struct Word {
    bytes: [u8; Alphabet::LONGEST_WORD],
    length: usize,
}

impl Word {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; Alphabet::LONGEST_WORD], length: 0 }
    }

    /// Adds a byte, of which only the count is kept where there is no room.
    pub(super) fn push(&mut self, byte: u8) {
        if let Some(room) = self.bytes.get_mut(self.length) {
            *room = byte;
        }
        self.length = self.length.saturating_add(1);
    }

    /// Ends the word: returns its letter in an alphabet; `None` for no byte. A word that is longer than any is unknown.
    pub(super) fn end(&mut self, alphabet: &Alphabet<'_>) -> Option<Letter> {
        let length = core::mem::take(&mut self.length);
        if length == 0 {
            return None;
        }
        let word = self.bytes.get(..length);
        Some(word.map_or(Letter::Unknown, |word| alphabet.decode_word(word)))
    }
}
