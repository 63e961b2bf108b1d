use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use super::tree::{LEAF, Summand, Sums, sum_leaves};
use crate::data::SamplesView;

/// A fingerprint: the first 16 bytes of a SHA-256.
///
/// It tells data and models apart. It hides nothing: who can guess the data can test the guess.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 16]);

impl Digest {
    /// The fingerprint of a value's JSON.
    ///
    /// # Errors
    /// Where a number has no place in JSON.
    pub fn of_value(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        let mut hasher = Hasher::new();
        hasher.update(&serde_json::to_vec(value)?);
        Ok(hasher.finish())
    }

    /// The fingerprint of a leaf: length, kind and every sample of its sequences, bit for bit. Names and times are left out.
    pub fn of_sequences(sequences: &[SamplesView<'_>]) -> Self {
        let mut hasher = Hasher::new();
        hasher.count(sequences.len());
        for sequence in sequences {
            hasher.count(sequence.len());
            match sequence {
                SamplesView::Symbols(symbols) => {
                    hasher.update(b"symbols");
                    let code = |one: &Option<u16>| one.map_or(u32::MAX, u32::from).to_le_bytes();
                    hasher.update(&symbols.iter().flat_map(code).collect::<Vec<u8>>());
                }
                SamplesView::Channels(rows) => {
                    hasher.update(b"channels");
                    hasher.count(rows.dimension());
                    let mut bytes = Vec::with_capacity(8 * rows.dimension() * rows.len());
                    for row in rows.iter_in_part() {
                        for d in 0..rows.dimension() {
                            let x = row.map_or(f64::NAN, |row| row[d]);
                            // One bit pattern for what is missing.
                            let x = if x.is_nan() { f64::NAN } else { x };
                            bytes.extend(x.to_le_bytes());
                        }
                    }
                    hasher.update(&bytes);
                }
            }
        }
        hasher.finish()
    }
}

/// The fingerprints of the leaves of sequences that begin at a leaf; their total is that of the data set.
pub fn digests_of(sequences: &[SamplesView<'_>], first_leaf: usize) -> Sums<Digest> {
    let leaves: Vec<&[SamplesView<'_>]> = sequences.chunks(LEAF).collect();
    let of_leaf = |leaf: usize| {
        Ok::<_, std::convert::Infallible>(Digest::of_sequences(leaves[leaf - first_leaf]))
    };
    match sum_leaves(first_leaf..first_leaf + leaves.len(), &of_leaf) {
        Ok(sums) => sums,
        Err(never) => match never {},
    }
}

/// The fingerprint of a node is that of its halves, in order.
impl Summand for Digest {
    fn add(&mut self, other: &Self) {
        let mut hasher = Hasher::new();
        hasher.update(&self.0);
        hasher.update(&other.0);
        *self = hasher.finish();
    }
}

/// A sum, and the fingerprint of the data that it is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Marked<S> {
    /// The fingerprint.
    pub digest: Digest,
    /// The sum.
    pub sum: S,
}

impl<S: Summand> Summand for Marked<S> {
    fn add(&mut self, other: &Self) {
        self.digest.add(&other.digest);
        self.sum.add(&other.sum);
    }
}

/// Makes a [`Digest`] of bytes.
struct Hasher(Sha256);

impl Hasher {
    fn new() -> Self {
        Self(Sha256::new())
    }

    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn count(&mut self, count: usize) {
        self.update(&(count as u64).to_le_bytes());
    }

    fn finish(self) -> Digest {
        let bytes: [u8; 32] = self.0.finalize().into();
        Digest(std::array::from_fn(|at| bytes[at]))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WANTED: &str = "a fingerprint has 32 hexadecimal digits";
        let hexadecimal = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok().filter(|_| hexadecimal);
        number.map(|number| Self(number.to_be_bytes())).ok_or(WANTED)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;

    #[test]
    fn every_sample_counts_and_so_does_where_a_sequence_ends() {
        let text = |symbols: &[Option<u16>]| Samples::Symbols(symbols.to_vec());
        let rows = |rows: &[[f64; 2]]| rows.iter().copied().collect::<Samples>();
        let sets: [&[Samples]; 8] = [
            &[],
            &[text(&[])],
            &[text(&[Some(1), None])],
            &[text(&[Some(1)]), text(&[None])],
            &[text(&[None]), text(&[Some(1)])],
            &[rows(&[[1.0, 2.0]])],
            &[rows(&[[1.0, f64::NAN]])],
            &[rows(&[[1.0, 2.000_000_000_000_000_4]])],
        ];
        let digests = sets.map(|set| {
            let views: Vec<SamplesView<'_>> = set.iter().map(Samples::view).collect();
            Digest::of_sequences(&views)
        });
        for (index, one) in digests.iter().enumerate() {
            assert!(digests[..index].iter().all(|other| other != one), "{index}");
            assert_eq!(one.to_string().parse(), Ok(*one));
        }
        for wrong in ["", "12", "+123456789012345678901234567890ab", "g".repeat(32).as_str()] {
            assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
        }
    }
}
