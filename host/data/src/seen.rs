//! Names that come back in a file, found in memory that does not grow with it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::error::DataError;

/// Words of 64 bits: 8 MiB.
const WORDS: usize = 1 << 20;
/// Bits of a name.
const BITS: u64 = 4;
/// Names that may have come back, at most.
const SUSPECTS: usize = 1 << 15;

/// Names so far: a Bloom filter (B. H. Bloom, Space/time trade-offs in hash coding with allowable errors, Communications of
/// the ACM 13, 1970). Names that it may have seen are suspects, to be compared in another reading; names that rise, as numbers
/// or as text, never come back.
pub(super) struct SeenNames {
    bits: Vec<u64>,
    suspects: BTreeMap<String, u64>,
    /// `true` if there are more suspects than are kept.
    overflows: bool,
    last: String,
    /// `true` as long as each name is above the one before, as a number and as text.
    rises: [bool; 2],
}

impl SeenNames {
    /// Creates an empty filter.
    pub(super) fn new() -> Self {
        Self {
            bits: vec![0; WORDS],
            suspects: BTreeMap::new(),
            overflows: false,
            last: String::new(),
            rises: [true; 2],
        }
    }

    /// Adds the next name.
    pub(super) fn add(&mut self, name: &str) {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let first = hasher.finish();
        BITS.hash(&mut hasher);
        let step = hasher.finish() | 1;
        let mut all = true;
        for k in 0..BITS {
            let bit = first.wrapping_add(k.wrapping_mul(step)) % (64 * WORDS as u64);
            let (word, mask) = (&mut self.bits[(bit / 64) as usize], 1 << (bit % 64));
            all &= *word & mask != 0;
            *word |= mask;
        }
        if all && self.suspects.len() < SUSPECTS {
            self.suspects.insert(name.to_owned(), 0);
        } else if all {
            self.overflows = true;
        }
        let number = |text: &str| text.parse::<u64>().ok();
        let above = number(&self.last).zip(number(name)).is_some_and(|(one, next)| one < next);
        self.rises[0] &= above || self.last.is_empty();
        self.rises[1] &= self.last.as_str().cmp(name) == Ordering::Less;
        name.clone_into(&mut self.last);
    }

    /// Names that may have come back, each with a zero; `None` if none has.
    ///
    /// # Errors
    /// [`DataError::NoChunks`] of too many of them.
    pub(super) fn suspects(self, file: &str) -> Result<Option<BTreeMap<String, u64>>, DataError> {
        if self.rises.contains(&true) || self.suspects.is_empty() {
            return Ok(None);
        }
        if self.overflows {
            let what = "there are too many series in no order to check that none comes back; sort the rows by series";
            return Err(DataError::NoChunks { file: file.to_owned(), what: what.to_owned() });
        }
        Ok(Some(self.suspects))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suspects(names: impl IntoIterator<Item = String>) -> Option<BTreeMap<String, u64>> {
        let mut seen = SeenNames::new();
        names.into_iter().for_each(|name| seen.add(&name));
        seen.suspects("x").expect("few")
    }

    #[test]
    fn names_that_come_back_are_suspects_and_few_others() {
        let numbers = |by: u64| (0..200_000_u64).map(move |k| (k * by % 200_003).to_string());
        assert_eq!(suspects(numbers(1)), None);
        let others = suspects(numbers(7)).map_or(0, |found| found.len());
        assert!(others < 20, "{others} of 200 000 are taken for others");
        let back = suspects(numbers(7).chain(["1234".to_owned()])).expect("one");
        assert!(back.contains_key("1234"));
        assert_eq!(suspects(["a", "b", "c"].map(String::from)), None);
        assert!(suspects(["10", "9", "10"].map(String::from)).is_some());
    }
}
