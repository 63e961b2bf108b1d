/// The symbols of a text, letters or words, and those that stand for a missing one.
///
/// | | symbols | missing | case |
/// |---|---|---|---|
/// | [`DNA`](Self::DNA) | `ACGT` | `R Y S W K M B D H V N X - . ?` | folded |
/// | [`RNA`](Self::RNA) | `ACGU` | the same | folded |
/// | [`BINARY`](Self::BINARY) | `01` | `- ?` | |
/// | [`PROTEIN`](Self::PROTEIN) | `ACDEFGHIKLMNPQRSTVWY` | `B Z J X U O * - . ?` | folded |
/// | any other | as given | `- ?` where they are no symbols | kept |
/// | words | as given, a line break between them | `NA N/A #N/A <NA> NaN nan NAN ? null NULL None` | kept |
///
/// A code for several symbols is read as missing. Words are of at most [`LONGEST_WORD`](Self::LONGEST_WORD) bytes, and
/// [separators](Self::separates) part them in a text.
///
/// ```
/// use fishweir_core::emission::{Alphabet, Letter};
///
/// let dna = Alphabet::of("ACGT");
/// assert_eq!(dna, Alphabet::DNA);
/// assert_eq!(dna.decode(b'g'), Letter::Symbol(2));
/// assert_eq!(dna.decode(b'N'), Letter::Missing);
/// assert_eq!(dna.decode(b'U'), Letter::Unknown);
/// assert_eq!(Alphabet::of("+-").decode(b'-'), Letter::Symbol(1));
///
/// let events = Alphabet::of("open\nclose\nidle");
/// assert_eq!(events.decode_word(b"close"), Letter::Symbol(1));
/// assert_eq!(events.decode_word(b"NA"), Letter::Missing);
/// assert_eq!(events.decode_word(b"clos"), Letter::Unknown);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Alphabet<'a> {
    symbols: &'a str,
    missing: &'a str,
    folds_case: bool,
}

/// Meaning of a byte or word in an [`Alphabet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Letter {
    /// A symbol, by its index.
    Symbol(usize),
    /// A gap, or a code for several symbols.
    Missing,
    /// Neither.
    Unknown,
}

const NUCLEOTIDE_CODES: &str = "RYSWKMBDHVNX-.?";
const UNNAMED_MISSING: &str = "-?";

/// Parts the words of an alphabet, which therefore is no letter of any.
const BREAK: u8 = b'\n';

impl Alphabet<'static> {
    /// Bytes of the longest word.
    pub const LONGEST_WORD: usize = 64;
    /// Words that stand for a missing one, as in tables, a line break between them.
    pub const MISSING_WORDS: &'static str =
        "NA\nN/A\nn/a\n#N/A\n<NA>\nNaN\nnan\nNAN\n?\nnull\nNULL\nNone";
    /// Nucleotides of DNA.
    pub const DNA: Self = Self::new("ACGT", NUCLEOTIDE_CODES, true);
    /// Nucleotides of RNA.
    pub const RNA: Self = Self::new("ACGU", NUCLEOTIDE_CODES, true);
    /// Zeros and ones.
    pub const BINARY: Self = Self::new("01", UNNAMED_MISSING, false);
    /// The twenty amino acids.
    pub const PROTEIN: Self = Self::new("ACDEFGHIKLMNPQRSTVWY", "BZJXUO*-.?", true);
}

impl<'a> Alphabet<'a> {
    /// An alphabet from its symbols in order, one character each, the characters that stand for a
    /// missing one, and whether lower case is read as upper case. A character that is both is a
    /// symbol. Of words both have a line break between them, and no case is folded.
    pub const fn new(symbols: &'a str, missing: &'a str, folds_case: bool) -> Self {
        Self { symbols, missing, folds_case }
    }

    /// The alphabet with these symbols: a well-known one where they are its own.
    pub fn of(symbols: &'a str) -> Self {
        let known = [Alphabet::DNA, Alphabet::RNA, Alphabet::BINARY, Alphabet::PROTEIN];
        let named = known.into_iter().find(|known| known.symbols == symbols);
        let missing = match Self::new(symbols, "", false).is_of_words() {
            true => Alphabet::MISSING_WORDS,
            false => UNNAMED_MISSING,
        };
        named.unwrap_or(Self::new(symbols, missing, false))
    }

    /// Returns whether the symbols are words.
    pub const fn is_of_words(&self) -> bool {
        let bytes = self.symbols.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at] == BREAK {
                return true;
            }
            at += 1;
        }
        false
    }

    /// The number of symbols.
    pub fn size(&self) -> usize {
        match self.is_of_words() {
            true => self.symbols.as_bytes().split(is_break).count(),
            false => self.symbols.chars().count(),
        }
    }

    /// Returns whether a byte separates words: a blank, a tab, a line end, a comma, a semicolon or a bar.
    pub const fn separates(byte: u8) -> bool {
        matches!(byte, b' ' | b'\t' | BREAK | b'\r' | b',' | b';' | b'|')
    }

    /// The symbols in order; words with a line break between them.
    pub const fn symbols(&self) -> &'a str {
        self.symbols
    }

    /// The characters, or words, that stand for a missing symbol.
    pub const fn missing(&self) -> &'a str {
        self.missing
    }

    /// Returns whether lower case is read as upper case.
    pub const fn folds_case(&self) -> bool {
        self.folds_case
    }

    /// Returns the meaning of a byte of text, for an alphabet of letters. Symbols outside ASCII are longer and never found.
    ///
    /// Work: at most two comparisons per symbol.
    pub fn decode(&self, byte: u8) -> Letter {
        let byte = if self.folds_case { byte.to_ascii_uppercase() } else { byte };
        let is_byte = |character: char| u32::from(character) == u32::from(byte);
        if !byte.is_ascii() || self.is_of_words() {
            Letter::Unknown
        } else if let Some(index) = self.symbols.chars().position(is_byte) {
            Letter::Symbol(index)
        } else if self.missing.chars().any(is_byte) {
            Letter::Missing
        } else {
            Letter::Unknown
        }
    }

    /// Returns the meaning of a word of text, for an alphabet of words.
    ///
    /// Work: at most a comparison per word of the alphabet.
    pub fn decode_word(&self, word: &[u8]) -> Letter {
        if !self.is_of_words() {
            return Letter::Unknown;
        }
        let is_word = |known: &[u8]| known == word;
        if let Some(index) = self.symbols.as_bytes().split(is_break).position(is_word) {
            Letter::Symbol(index)
        } else if self.missing.as_bytes().split(is_break).any(is_word) {
            Letter::Missing
        } else {
            Letter::Unknown
        }
    }
}

fn is_break(byte: &u8) -> bool {
    *byte == BREAK
}
