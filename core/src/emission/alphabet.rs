/// The letters of a text of symbols: which byte is which symbol, and which stand for a missing one.
///
/// | | symbols | missing | case |
/// |---|---|---|---|
/// | [`DNA`](Self::DNA) | `ACGT` | `R Y S W K M B D H V N X - . ?` | folded |
/// | [`RNA`](Self::RNA) | `ACGU` | the same | folded |
/// | [`BINARY`](Self::BINARY) | `01` | `- ?` | |
/// | [`PROTEIN`](Self::PROTEIN) | `ACDEFGHIKLMNPQRSTVWY` | `B Z J X U O * - . ?` | folded |
/// | any other | as given | `- ?` where they are no symbols | kept |
///
/// A code for several symbols is read as missing.
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
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Alphabet<'a> {
    symbols: &'a str,
    missing: &'a str,
    folds_case: bool,
}

/// What a byte is in an [`Alphabet`].
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

impl Alphabet<'static> {
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
    /// symbol.
    pub const fn new(symbols: &'a str, missing: &'a str, folds_case: bool) -> Self {
        Self { symbols, missing, folds_case }
    }

    /// The alphabet with these symbols: a well-known one where they are its own.
    pub fn of(symbols: &'a str) -> Self {
        let known = [Alphabet::DNA, Alphabet::RNA, Alphabet::BINARY, Alphabet::PROTEIN];
        let named = known.into_iter().find(|known| known.symbols == symbols);
        named.unwrap_or(Self::new(symbols, UNNAMED_MISSING, false))
    }

    /// The symbols in order.
    pub const fn symbols(&self) -> &'a str {
        self.symbols
    }

    /// The characters that stand for a missing symbol.
    pub const fn missing(&self) -> &'a str {
        self.missing
    }

    /// Whether lower case is read as upper case.
    pub const fn folds_case(&self) -> bool {
        self.folds_case
    }

    /// What a byte of text is. Symbols outside ASCII are more than a byte, and never found.
    ///
    /// Work: at most a comparison a symbol.
    pub fn decode(&self, byte: u8) -> Letter {
        let byte = if self.folds_case { byte.to_ascii_uppercase() } else { byte };
        let is_byte = |character: char| u32::from(character) == u32::from(byte);
        if !byte.is_ascii() {
            Letter::Unknown
        } else if let Some(index) = self.symbols.chars().position(is_byte) {
            Letter::Symbol(index)
        } else if self.missing.chars().any(is_byte) {
            Letter::Missing
        } else {
            Letter::Unknown
        }
    }
}
