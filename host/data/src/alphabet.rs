//! Alphabets: which characters or words are symbols, in which order, and which mean that a symbol is
//! missing.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use fishweir_core::emission::Alphabet as Letters;
use serde::{Deserialize, Serialize};

use super::dictionary::{Decoded, Dictionary};
use super::error::DataError;
use crate::words::is_hidden;

/// An ordered set of symbols, letters or words, and those that stand for a missing one.
///
/// | name | symbols | missing | case |
/// |---|---|---|---|
/// | `dna` | `ACGT` | `R Y S W K M B D H V N X - . ?` | folded |
/// | `rna` | `ACGU` | as `dna` | folded |
/// | `binary` | `01` | `- ?` | |
/// | `protein` | `ACDEFGHIKLMNPQRSTVWY` | `B Z J X U O * - . ?` | folded |
/// | any other | as given or found | `- ?` where they are no symbols | kept |
/// | words | as given or found | the usual [`Marks`](super::Marks) where they are no symbols | kept |
///
/// An ambiguity code is read as missing, not spread over its symbols; so are the rare amino acids U
/// and O.
///
/// As text (also when serialised) an alphabet is its name or its symbols in order, words with a line break between them, and
/// [`Alphabet::new`] reads that back. It is displayed with blanks between words, of many words the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Alphabet {
    /// The letters; empty of words.
    symbols: Vec<char>,
    /// The words; `None` of letters.
    dictionary: Option<Arc<Dictionary>>,
    known: Option<&'static KnownAlphabet>,
    /// Well-known alphabet that this one extends by further symbols, such as a profile's codes.
    like: Option<&'static KnownAlphabet>,
}

/// A well-known alphabet.
#[derive(Debug, PartialEq, Eq)]
struct KnownAlphabet {
    name: &'static str,
    /// Symbols and missing ones, as a device reads them.
    letters: Letters<'static>,
    /// Missing marks that may be frequent in a proper file: masked stretches and gaps.
    common: &'static [char],
    /// Number of different symbols that must occur before the alphabet is recognised.
    enough: usize,
}

const UNNAMED_MISSING: &str = "-?";

static DNA: KnownAlphabet =
    KnownAlphabet { name: "dna", letters: Letters::DNA, common: &['N', '-', '.'], enough: 4 };
static RNA: KnownAlphabet =
    KnownAlphabet { name: "rna", letters: Letters::RNA, common: &['N', '-', '.'], enough: 4 };
static BINARY: KnownAlphabet =
    KnownAlphabet { name: "binary", letters: Letters::BINARY, common: &['-', '?'], enough: 1 };
static PROTEIN: KnownAlphabet = KnownAlphabet {
    name: "protein",
    letters: Letters::PROTEIN,
    common: &['X', '-', '.'],
    enough: 15,
};
static KNOWN: [&KnownAlphabet; 4] = [&DNA, &RNA, &BINARY, &PROTEIN];

impl Alphabet {
    /// A C G T.
    pub fn dna() -> Self {
        Self::of(&DNA)
    }

    /// A C G U.
    pub fn rna() -> Self {
        Self::of(&RNA)
    }

    /// 0 1.
    pub fn binary() -> Self {
        Self::of(&BINARY)
    }

    /// The twenty amino acids, by letter.
    pub fn protein() -> Self {
        Self::of(&PROTEIN)
    }

    fn of(known: &'static KnownAlphabet) -> Self {
        let symbols = known.letters.symbols().chars().collect();
        Self { symbols, dictionary: None, known: Some(known), like: None }
    }

    /// An alphabet by its name, or from its symbols in order (`ACGT` is `dna`), words with a line break between them.
    ///
    /// # Errors
    /// [`DataError::Alphabet`] if there is no symbol, one occurs twice, one does not show in print,
    /// or there are more than 65535; of words also as [`from_words`](Self::from_words).
    pub fn new(text: &str) -> Result<Self, DataError> {
        if text.contains('\n') {
            return Self::from_words(text.split('\n').map(str::to_owned).collect());
        }
        let named = |known: &&&'static KnownAlphabet| {
            known.name == text.to_ascii_lowercase() || known.letters.symbols() == text
        };
        if let Some(known) = KNOWN.iter().find(named) {
            return Ok(Self::of(known));
        }
        let wrong = |what: String| DataError::Alphabet { text: text.to_owned(), what };
        let symbols: Vec<char> = text.chars().collect();
        let mut sorted = symbols.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(wrong(format!("symbol `{}` occurs twice; name each once", pair[0])));
        }
        if symbols.iter().any(|&symbol| is_hidden(symbol)) {
            return Err(wrong("has an unprintable character; symbols must be printable".into()));
        }
        if symbols.is_empty() {
            return Err(wrong("has no symbol".into()));
        }
        if symbols.len() > usize::from(u16::MAX) {
            return Err(wrong(format!(
                "has {} symbols, at most 65535 are possible",
                symbols.len()
            )));
        }
        let extends = |known: &&&'static KnownAlphabet| {
            let letters = known.letters.symbols();
            // A few symbols more are an alphabet of one's own.
            known.letters.folds_case()
                && text.len() > letters.len() + 4
                && text.starts_with(letters)
                && text[letters.len()..]
                    .chars()
                    .all(|code| known.letters.missing().contains(code) || code.is_ascii_uppercase())
        };
        let like = KNOWN.iter().find(extends).copied();
        Ok(Self { symbols, dictionary: None, known: None, like })
    }

    /// An alphabet of words in their order.
    ///
    /// # Errors
    /// [`DataError::Alphabet`] if there are fewer than two words or more than 65535, or one occurs twice, is empty, has more than
    /// 64 bytes, a separator in it (a blank, a comma, a semicolon, a bar), or a character that does not show in print.
    pub fn from_words(words: Vec<String>) -> Result<Self, DataError> {
        let dictionary = Some(Arc::new(Dictionary::new(words)?));
        Ok(Self { symbols: Vec::new(), dictionary, known: None, like: None })
    }

    /// The alphabet of the characters counted: a well-known one where they speak for it, otherwise
    /// the characters found, in order of their code points, without `-`, `?` and control
    /// characters.
    ///
    /// `dna` and `rna` are recognised when all four letters occur, `protein` when fifteen of the
    /// twenty do, and when codes for several symbols are at most 5 % of the letters (the codes N
    /// and X, and gaps, do not count: files may be masked). So they are where 1 % of the letters at
    /// most are neither: a slip, which is refused where it stands, and makes no symbol of `N`.
    ///
    /// `None` if no symbol is left.
    ///
    /// # Errors
    /// [`DataError::Alphabet`] if there are too many.
    pub(super) fn infer(counts: &BTreeMap<char, usize>) -> Result<Option<Self>, DataError> {
        for one_in in [usize::MAX, 100] {
            let explains = |known: &&&'static KnownAlphabet| known.explains(counts, one_in);
            if let Some(known) = KNOWN.iter().find(explains) {
                return Ok(Some(Self::of(known)));
            }
        }
        let is_symbol = |symbol: &char| !is_hidden(*symbol) && !UNNAMED_MISSING.contains(*symbol);
        let symbols: String = counts.keys().copied().filter(is_symbol).collect();
        if symbols.is_empty() { Ok(None) } else { Self::new(&symbols).map(Some) }
    }

    /// Number of symbols.
    #[expect(clippy::len_without_is_empty, reason = "an alphabet is never empty")]
    pub fn len(&self) -> usize {
        self.symbols.len() + self.words().len()
    }

    /// The letters in order; empty for words.
    pub fn symbols(&self) -> &[char] {
        &self.symbols
    }

    /// The words in order; empty for letters.
    pub fn words(&self) -> &[String] {
        self.dictionary.as_ref().map_or(&[], |dictionary| dictionary.words())
    }

    /// The symbols in order as one text, words with a line break between them.
    pub fn text(&self) -> String {
        match &self.dictionary {
            Some(dictionary) => dictionary.words().join("\n"),
            None => self.symbols.iter().collect(),
        }
    }

    /// Symbols as they are written in data, with `?` for a missing one: letters, or words with a blank between them.
    pub fn spell(&self, symbols: &[Option<u16>]) -> String {
        let place = |symbol: &Option<u16>| symbol.map_or(usize::MAX, usize::from);
        match &self.dictionary {
            None => {
                let letter = |one| self.symbols.get(place(one)).copied().unwrap_or('?');
                symbols.iter().map(letter).collect()
            }
            Some(dictionary) => {
                let word = |one| dictionary.words().get(place(one)).map_or("?", String::as_str);
                symbols.iter().map(word).collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// The characters that stand for a missing symbol, of letters.
    pub fn missing(&self) -> Vec<char> {
        self.codes().chars().filter(|code| !self.symbols.contains(code)).collect()
    }

    /// The name of a well-known alphabet.
    pub fn name(&self) -> Option<&'static str> {
        self.known.map(|known| known.name)
    }

    /// Returns the meaning of a character in this alphabet.
    pub fn decode(&self, character: char) -> Decoded {
        let character = match self.known.or(self.like) {
            Some(known) if known.letters.folds_case() => character.to_ascii_uppercase(),
            _ => character,
        };
        if let Some(index) = self.symbols.iter().position(|&symbol| symbol == character) {
            // `new` admits no more symbols than u16 can count.
            return u16::try_from(index).map_or(Decoded::Unknown, Decoded::Symbol);
        }
        if self.codes().contains(character) { Decoded::Missing } else { Decoded::Unknown }
    }

    /// Returns the meaning of a word in this alphabet; in an alphabet of letters the word has one letter.
    pub fn decode_word(&self, word: &str) -> Decoded {
        let mut letters = word.chars();
        match (&self.dictionary, letters.next(), letters.next()) {
            (Some(dictionary), ..) => dictionary.decode(word),
            (None, Some(letter), None) => self.decode(letter),
            _ => Decoded::Unknown,
        }
    }

    fn codes(&self) -> &'static str {
        if self.dictionary.is_some() {
            return "";
        }
        self.known.or(self.like).map_or(UNNAMED_MISSING, |known| known.letters.missing())
    }
}

impl KnownAlphabet {
    /// Returns whether characters with these counts are a text in this alphabet, except for one in `one_in` at most.
    fn explains(&self, counts: &BTreeMap<char, usize>, one_in: usize) -> bool {
        let (mut symbols, mut codes, mut strangers) = (0, 0, 0);
        let mut seen = Vec::new();
        for (&character, &count) in counts {
            let character =
                if self.letters.folds_case() { character.to_ascii_uppercase() } else { character };
            if self.letters.symbols().contains(character) {
                symbols += count;
                if !seen.contains(&character) {
                    seen.push(character);
                }
            } else if !self.letters.missing().contains(character) {
                strangers += count;
            } else if !self.common.contains(&character) {
                codes += count;
            }
        }
        seen.len() >= self.enough
            && codes * 20 <= symbols + codes
            && strangers.saturating_mul(one_in) <= symbols
    }
}

impl fmt::Display for Alphabet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => f.write_str(&in_one_line(&self.text())),
        }
    }
}

impl FromStr for Alphabet {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        Self::new(text)
    }
}

impl TryFrom<String> for Alphabet {
    type Error = DataError;

    fn try_from(text: String) -> Result<Self, DataError> {
        Self::new(&text)
    }
}

impl From<Alphabet> for String {
    fn from(alphabet: Alphabet) -> Self {
        alphabet.name().map_or_else(|| alphabet.text(), str::to_owned)
    }
}

/// The text of an alphabet for people: blanks between words, of many the first.
pub fn in_one_line(text: &str) -> String {
    const SHOWN: usize = 20;
    let words: Vec<&str> = text.splitn(SHOWN + 1, '\n').collect();
    let more = if words.len() > SHOWN { " ..." } else { "" };
    words.into_iter().take(SHOWN).collect::<Vec<_>>().join(" ") + more
}

/// The number of symbols in the text of an alphabet.
pub fn size_of(text: &str) -> usize {
    Letters::of(text).size()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Marks;

    fn inferred(text: &str) -> String {
        let mut counts = BTreeMap::new();
        text.chars().for_each(|one| *counts.entry(one).or_default() += 1);
        Alphabet::infer(&counts).expect("few").expect("symbols").to_string()
    }

    #[test]
    fn well_known_alphabets_are_recognised() {
        let letters = "ACGTACGTACGTACGTACGT";
        assert_eq!(inferred(letters), "dna");
        assert_eq!(inferred(&letters.to_lowercase()), "dna");
        assert_eq!(inferred(&format!("{letters}R")), "dna");
        assert_eq!(inferred(&format!("{letters}NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN--")), "dna");
        assert_eq!(inferred(&letters.replace('T', "U")), "rna");
        assert_eq!(inferred("0110-?"), "binary");
        assert_eq!(inferred("MTEYKLVVVGAGGVGKSALTIQLIQNHFVDEYDPTIEDSYRKQ*"), "protein");
    }

    #[test]
    fn other_texts_keep_their_own_symbols() {
        assert_eq!(inferred("ACGTACGTACGTACGTRY"), "ACGRTY", "too many codes for DNA");
        assert_eq!(inferred("ABAB"), "AB");
        assert_eq!(inferred("ANAN"), "AN", "N is a symbol where nothing speaks for DNA");
        assert_eq!(inferred("hello world?"), " dehlorw");
        assert_eq!(inferred("HTTH"), "HT");
    }

    #[test]
    fn codes_are_missing_and_strangers_unknown() {
        let dna = Alphabet::dna();
        assert_eq!(dna.decode('g'), Decoded::Symbol(2));
        assert_eq!(dna.decode('n'), Decoded::Missing);
        assert_eq!(dna.decode('U'), Decoded::Unknown);
        let signs = Alphabet::new("+-").expect("two signs");
        assert_eq!(signs.decode('-'), Decoded::Symbol(1));
        assert_eq!(signs.missing(), ['?']);
    }

    #[test]
    fn text_and_json_round_trip() {
        for text in ["dna", "rna", "binary", "protein", "xyz", "+-", " ab", "open\nclose\nidle"] {
            let alphabet = Alphabet::new(text).expect("valid");
            assert_eq!(String::from(alphabet.clone()), text);
            let json = serde_json::to_string(&alphabet).expect("serialises");
            assert_eq!(serde_json::from_str::<Alphabet>(&json).expect("valid"), alphabet);
        }
        assert_eq!(Alphabet::new("ACGT").expect("valid"), Alphabet::dna());
        assert!(serde_json::from_str::<Alphabet>("\"AA\"").is_err());
    }

    #[test]
    fn words_are_symbols_on_host_and_device_alike() {
        let events = Alphabet::new("open\nclose\nN/A").expect("three words");
        assert_eq!((events.len(), events.to_string()), (3, "open close N/A".to_owned()));
        assert_eq!(events.spell(&[Some(1), None, Some(0)]), "close ? open");
        assert!(events.symbols().is_empty() && events.missing().is_empty());
        let text = events.text();
        let device = Letters::of(&text);
        let mut words = vec!["open", "close", "N/A", "clos", "-", "\u{e4}"];
        let marks = Marks::default();
        words.extend(marks.words());
        for word in words {
            let decoded = match device.decode_word(word.as_bytes()) {
                fishweir_core::emission::Letter::Symbol(symbol) => {
                    Decoded::Symbol(u16::try_from(symbol).expect("few"))
                }
                fishweir_core::emission::Letter::Missing => Decoded::Missing,
                fishweir_core::emission::Letter::Unknown => Decoded::Unknown,
            };
            assert_eq!(events.decode_word(word), decoded, "{word}");
        }
        assert_eq!(events.decode('o'), Decoded::Unknown);
        assert_eq!(Alphabet::dna().decode_word("g"), Decoded::Symbol(2));
        assert_eq!(Alphabet::dna().decode_word("gg"), Decoded::Unknown);
    }

    #[test]
    fn bad_alphabets_are_refused() {
        for (text, expected) in [
            ("", "no symbol"),
            ("ABA", "`A` occurs twice"),
            ("A\t", "unprintable"),
            ("open\n", "empty word"),
            ("open\nopen", "`open` occurs twice"),
            ("open\nclose,d", "`close,d` has a separator"),
            ("open\nclose\u{200B}", "unprintable"),
            ("open\nclosed\u{A0}", "unprintable"),
            (&("open\n".to_owned() + &"x".repeat(65)), "more than 64 bytes"),
            ("A\u{200B}", "unprintable"),
        ] {
            let message = Alphabet::new(text).expect_err("refused").to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
