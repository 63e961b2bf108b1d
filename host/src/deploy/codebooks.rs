//! Codebooks beside a bank of models: their numbers, their stream, their source.

use std::fmt::Write as _;

use fishweir_core::ModelError;
use fishweir_core::classify::{
    CODEWORDS, CodeVectors, Coding, TAPS, add_weights, validate_codebooks,
};
use fishweir_core::number::Real;

use super::DeployError;
use crate::classifier::{BookIn, CodeRing, Codebook, Codebooks, Output};

/// Codebooks, and what their codewords weigh.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeployedCodebooks<T = f32> {
    /// Their scales are numbers of the format.
    books: Codebooks,
    /// `[codebook][codeword]`, each of them `[output]`.
    weights: Vec<Vec<T>>,
}

impl<T> DeployedCodebooks<T> {
    pub(super) fn books(&self) -> &Codebooks {
        &self.books
    }

    /// `[codebook][codeword]`, each of them `[output]`.
    pub(super) fn weights(&self) -> &[Vec<T>] {
        &self.weights
    }
}

impl<T: Real> DeployedCodebooks<T> {
    /// With the weights that outputs have.
    pub(super) fn of(books: &Codebooks, outputs: &[Output]) -> Result<Self, DeployError> {
        let weight = |output: &Output, word| {
            let weight = T::from_f64(output.codewords.get(word).copied().unwrap_or(0.0));
            match weight.is_finite() {
                true => Ok(weight),
                false => {
                    let what = format!("codeword {word} weighs more than the number format holds");
                    Err(DeployError::Models(what))
                }
            }
        };
        let weights = (0..books.codewords())
            .map(|word| outputs.iter().map(|output| weight(output, word)).collect())
            .collect::<Result<_, _>>()?;
        let books = books.rounded::<T>().ok_or_else(|| {
            DeployError::Models("a codebook's scale is more than the number format holds".into())
        })?;
        Ok(Self { books, weights })
    }
}

/// Four bytes for each word of a codebook's vectors.
const VECTOR_WORDS: usize = TAPS * CODEWORDS / 4;

/// How many words the core's `Codebooks` are: so many books, over channels, for outputs; `None` of more than there
/// are addresses.
pub(super) fn words(books: usize, channels: usize, outputs: usize) -> Option<usize> {
    let weights = outputs.checked_mul(CODEWORDS)?;
    channels.checked_add(weights)?.checked_add(1 + VECTOR_WORDS)?.checked_mul(books)
}

impl DeployedCodebooks {
    /// The bytes of the core's `Codebooks`, its fields in order.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let books = self.books.books();
        let dilations = books.iter().flat_map(|book| book.dilation.to_le_bytes());
        let scales = books.iter().flat_map(|book| &book.scale).map(|&x| x as f32);
        let vectors = books.iter().flat_map(|book| book.vectors.as_flattened()).copied();
        let weights = self.weights.iter().flatten().copied();
        dilations
            .chain(scales.flat_map(f32::to_le_bytes))
            .chain(vectors.flat_map(i8::to_le_bytes))
            .chain(weights.flat_map(f32::to_le_bytes))
            .collect()
    }

    /// From the [`words`] of such bytes.
    pub(super) fn read(
        [books, channels, outputs]: [usize; 3],
        word: &mut dyn FnMut() -> u32,
    ) -> Self {
        let mut list = |count: usize| -> Vec<u32> { (0..count).map(|_| word()).collect() };
        let (dilations, scales) = (list(books), list(books * channels));
        let vectors: Vec<i8> = list(books * VECTOR_WORDS)
            .into_iter()
            .flat_map(|word| word.to_le_bytes().map(|byte| i8::from_le_bytes([byte])))
            .collect();
        let weights = list(books * CODEWORDS * outputs);
        let book = |(index, dilation): (usize, u32)| {
            let scale = &scales[index * channels..][..channels];
            let scale = scale.iter().map(|&x| f32::from_bits(x).into()).collect();
            let at = |tap, word| vectors[(index * TAPS + tap) * CODEWORDS + word];
            let vectors: CodeVectors =
                std::array::from_fn(|tap| std::array::from_fn(|word| at(tap, word)));
            Codebook { dilation, scale, vectors }
        };
        let books = dilations.into_iter().enumerate().map(book).collect();
        let row = |row: &[u32]| row.iter().map(|&x| f32::from_bits(x)).collect();
        Self { books: Codebooks::of(books), weights: weights.chunks(outputs).map(row).collect() }
    }

    /// Checks every number as the core's `Coded` does, whose ring is of eight times this dilation.
    pub(super) fn validate(&self, largest: u32) -> Result<(), ModelError> {
        let books = self.books.books();
        let dilations = books.iter().map(|book| book.dilation);
        let numbers = books.iter().zip(self.weights.chunks(CODEWORDS)).map(|(book, weights)| {
            let scale = book.scale.iter().map(|&x| x as f32);
            scale.chain(weights.iter().flatten().copied())
        });
        validate_codebooks(largest as usize * TAPS, dilations, numbers)
    }

    /// The largest dilation.
    pub(super) fn largest(&self) -> u32 {
        self.books.books().iter().map(|book| book.dilation).max().unwrap_or(0)
    }
}

impl<T: Real> DeployedCodebooks<T> {
    /// Before the first sample of a stream.
    pub(super) fn stream(&self) -> CodeStream<T> {
        let outputs = self.weights.first().map_or(0, Vec::len);
        CodeStream::new(self.books.in_numbers(), &self.weights, vec![(); outputs])
    }
}

/// Codebooks in the middle of a stream.
pub(super) struct CodeStream<T: Coding> {
    ring: CodeRing<T>,
    weights: Vec<Vec<T>>,
    units: Vec<T::Unit>,
    sums: Vec<T::Total>,
    sample: Vec<T::Wide>,
}

impl<T: Coding> CodeStream<T> {
    /// Before the first sample, from the weights `[codebook][codeword]`, each `[output]`, and units `[output]`.
    pub(super) fn new(books: Vec<BookIn<T>>, weights: &[Vec<T>], units: Vec<T::Unit>) -> Self {
        Self {
            ring: CodeRing::of(books),
            weights: weights.to_vec(),
            sums: vec![T::NOTHING; units.len()],
            sample: vec![T::Wide::default(); units.len()],
            units,
        }
    }

    /// As the core's `Coded` does.
    pub(super) fn push(&mut self, x: &[T]) {
        self.sample.fill(T::Wide::default());
        for (word, weights) in self.ring.codewords(x).zip(self.weights.chunks(CODEWORDS)) {
            if let Some(word) = word {
                add_weights(&mut self.sample, &weights[word]);
            }
        }
        self.sums.iter_mut().zip(&self.sample).for_each(|(sum, &term)| T::add_sample(sum, term));
        self.ring.take(x);
    }

    pub(super) fn push_missing(&mut self) {
        self.ring.take_missing();
    }

    pub(super) fn reset(&mut self) {
        self.ring.reset();
        self.sums.fill(T::NOTHING);
    }

    /// What has been counted for each output, not normalised yet: the nearest real and what that drops.
    pub(super) fn parts(&self) -> impl Iterator<Item = [T::Real; 2]> {
        self.sums.iter().zip(&self.units).map(|(sum, &unit)| T::parts(sum, unit))
    }
}

impl DeployedCodebooks {
    /// A source whose classifier has them beside what is already in it.
    pub(super) fn beside(&self, text: &str) -> String {
        beside_codebooks(text, "f32", (&self.books.in_numbers::<f32>(), &self.weights), None)
    }
}

/// A source whose classifier has codebooks beside what is already in it: their numbers, what their codewords
/// weigh, and the units of that where it has any.
pub(super) fn beside_codebooks<T: std::fmt::Debug>(
    text: &str,
    number: &str,
    (books, weights): (&[BookIn<T>], &[Vec<T>]),
    units: Option<&[i16]>,
) -> String {
    let channels = books.first().map_or(0, |(_, scale, _)| scale.len());
    let outputs = weights.first().map_or(0, Vec::len);
    let dilations: Vec<u32> = books.iter().map(|&(dilation, ..)| dilation).collect();
    let (count, depth) =
        (books.len(), dilations.iter().max().map_or(0, |&most| most as usize * TAPS));
    // Debug prints the shortest text that reads back to the same number.
    let list = |rows: &mut dyn Iterator<Item = String>| {
        rows.fold(String::new(), |mut text, row| {
            let _ = writeln!(text, "        {row},");
            text
        })
    };
    let (new, units) = match units {
        Some(units) => ("in_units", format!("\n    {units:?},")),
        None => ("new", String::new()),
    };
    let types = format!(
        "/// The same, with {count} codebooks over the last {depth} samples counted beside it.\n\
         pub type Model =\n    fishweir_core::classify::Coded<Bank, {number}, {channels}, {count}, {depth}, {outputs}>;\n\n\
         /// The codebooks, and what their codewords weigh.\n\
         #[rustfmt::skip]\n\
         #[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]\n\
         const CODEBOOKS: fishweir_core::classify::Codebooks<{number}, {channels}, {count}, {outputs}> = \
         fishweir_core::classify::Codebooks::{new}(\n    {dilations:?},\n    [\n{}    ],\n    [\n{}    ],\n    [\n{}    ],{units}\n);\n\n\
         /// The classifier, in flash.",
        list(&mut books.iter().map(|(_, scale, _)| format!("{scale:?}"))),
        list(&mut books.iter().map(|(_, _, vectors)| format!("{vectors:?}"))),
        list(&mut weights.chunks(CODEWORDS).map(|words| format!("{words:?}"))),
    );
    let text = text
        .replacen("pub type Model = ", "pub type Bank = ", 1)
        .replacen("MODEL: Model = Model::new(", "MODEL: Model = Bank::new(", 1)
        .replacen("MODEL: Model = ", "MODEL: Model = Model::new(", 1)
        .replacen("/// The classifier, in flash.", &types, 1);
    // What a source ends with.
    text.strip_suffix(");\n").map_or_else(String::new, |text| format!("{text}), CODEBOOKS);\n"))
}
