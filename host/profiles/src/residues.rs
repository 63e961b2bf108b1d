//! Residues: symbols, codes that stand for several of them, and how often they are.

use super::ProfileError;

/// An alphabet of biological sequences.
#[derive(Debug, PartialEq)]
pub struct Residues {
    /// `amino`, `DNA` or `RNA`: what HMMER's files call it.
    pub name: &'static str,
    /// The residues in order.
    pub symbols: &'static str,
    /// Codes for several residues: the code, and which.
    pub codes: &'static [(char, &'static str)],
    /// Frequency of each residue under the null model, `[residue]`.
    pub background: &'static [f64],
}

const NUCLEOTIDES: &[f64] = &[0.25; 4];

/// Amino acids. Background frequencies: those of Swiss-Prot 50.8, as HMMER 3 has them.
pub static AMINO: Residues = Residues {
    name: "amino",
    symbols: "ACDEFGHIKLMNPQRSTVWY",
    codes: &[
        ('B', "DN"),
        ('J', "IL"),
        ('Z', "EQ"),
        ('O', "K"),
        ('U', "C"),
        ('X', "ACDEFGHIKLMNPQRSTVWY"),
    ],
    background: &[
        0.078_794_5,
        0.015_160_0,
        0.053_522_2,
        0.066_829_8,
        0.039_706_2,
        0.069_507_1,
        0.022_919_8,
        0.059_009_2,
        0.059_442_2,
        0.096_372_8,
        0.023_771_8,
        0.041_438_6,
        0.048_290_4,
        0.039_563_9,
        0.054_097_8,
        0.068_336_4,
        0.054_068_7,
        0.067_341_7,
        0.011_413_5,
        0.030_413_3,
    ],
};

/// Nucleotides of DNA; `U` is read as `T`.
pub static DNA: Residues = Residues {
    name: "DNA",
    symbols: "ACGT",
    codes: &[
        ('R', "AG"),
        ('Y', "CT"),
        ('M', "AC"),
        ('K', "GT"),
        ('S', "CG"),
        ('W', "AT"),
        ('H', "ACT"),
        ('B', "CGT"),
        ('V', "ACG"),
        ('D', "AGT"),
        ('N', "ACGT"),
        ('X', "ACGT"),
        ('U', "T"),
    ],
    background: NUCLEOTIDES,
};

/// Nucleotides of RNA; `T` is read as `U`.
pub static RNA: Residues = Residues {
    name: "RNA",
    symbols: "ACGU",
    codes: &[
        ('R', "AG"),
        ('Y', "CU"),
        ('M', "AC"),
        ('K', "GU"),
        ('S', "CG"),
        ('W', "AU"),
        ('H', "ACU"),
        ('B', "CGU"),
        ('V', "ACG"),
        ('D', "AGU"),
        ('N', "ACGU"),
        ('X', "ACGU"),
        ('T', "U"),
    ],
    background: NUCLEOTIDES,
};

impl Residues {
    /// The alphabet of a name, in any case; `protein` is `amino`.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = if name.eq_ignore_ascii_case("protein") { "amino" } else { name };
        [&AMINO, &DNA, &RNA].into_iter().find(|known| known.name.eq_ignore_ascii_case(name))
    }

    /// The alphabet of some characters, gaps left out: of nucleotides where all are such or codes for several of them, and
    /// the codes but `N` and `X`, of which masked sequences are full, are at most 5 % of the letters; and whether it is a
    /// guess: where there are such codes, or letters of which both nucleotides and amino acids are spelt.
    pub fn guess(text: impl Iterator<Item = char>) -> (&'static Self, bool) {
        let mut counts = [0_usize; 26];
        for letter in text.filter(char::is_ascii_alphabetic) {
            counts[usize::from(letter.to_ascii_uppercase() as u8 - b'A')] += 1;
        }
        let total: usize = counts.iter().sum();
        let found = || (b'A'..=b'Z').map(char::from).zip(counts).filter(|&(_, count)| count > 0);
        for known in [&DNA, &RNA] {
            let own = |letter: char| known.symbols.contains(letter) || matches!(letter, 'N' | 'X');
            let other = if *known == DNA { 'U' } else { 'T' };
            let codes: usize =
                found().filter(|&(letter, _)| !own(letter)).map(|(_, count)| count).sum();
            let all = found().all(|(letter, _)| letter != other && known.symbol(letter).is_some());
            if total > 0 && all && 20 * codes <= total {
                return (known, codes > 0);
            }
        }
        // What might be nucleotides with many codes.
        let maybe = found().all(|(letter, _)| DNA.symbol(letter).is_some());
        (&AMINO, total > 0 && maybe)
    }

    /// The alphabet that [`guess`](Self::guess) finds.
    pub fn of(text: impl Iterator<Item = char>) -> &'static Self {
        Self::guess(text).0
    }

    /// Number of residues.
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Never: every alphabet has residues.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    /// Number of symbols that a sequence may have: residues, then codes.
    pub fn symbols(&self) -> usize {
        self.len() + self.codes.len()
    }

    /// The symbol of a character: a residue's index, or past them a code's.
    pub fn symbol(&self, character: char) -> Option<usize> {
        let upper = character.to_ascii_uppercase();
        let code = || self.codes.iter().position(|&(code, _)| code == upper);
        self.symbols.find(upper).or_else(|| Some(self.len() + code()?))
    }

    /// The residues that a symbol stands for and their shares of it under the null model.
    pub fn shares(&self, symbol: usize) -> Vec<(usize, f64)> {
        let members: Vec<usize> = match symbol.checked_sub(self.len()) {
            None => return vec![(symbol, 1.0)],
            Some(code) => self.codes.get(code).map_or_else(Vec::new, |(_, members)| {
                members.chars().filter_map(|member| self.symbols.find(member)).collect()
            }),
        };
        let total: f64 = members.iter().map(|&member| self.background[member]).sum();
        members.iter().map(|&member| (member, self.background[member] / total)).collect()
    }

    /// The symbols of a sequence that is searched: `*`, a stop, is a symbol past all others, which no match emits.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_searched(&self, name: &str, sequence: &str) -> Result<Vec<usize>, ProfileError> {
        self.encode_with(name, sequence, Some(self.symbols()))
    }

    /// The symbols of a sequence.
    ///
    /// # Errors
    /// Names the first character that is no residue.
    pub fn encode(&self, name: &str, sequence: &str) -> Result<Vec<usize>, ProfileError> {
        self.encode_with(name, sequence, None)
    }

    fn encode_with(
        &self,
        name: &str,
        sequence: &str,
        stop: Option<usize>,
    ) -> Result<Vec<usize>, ProfileError> {
        let symbols = sequence.chars().enumerate().map(|(at, found)| {
            let symbol = self.symbol(found).or(stop.filter(|_| found == '*'));
            symbol.ok_or_else(|| ProfileError::Residue {
                name: name.to_owned(),
                position: at + 1,
                found,
                alphabet: self.name,
            })
        });
        symbols.collect()
    }
}
