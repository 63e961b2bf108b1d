//! Codebooks of a bank of models: their numbers, their stream, their source.

use std::fmt::Write as _;

use fishweir_core::ModelError;
use fishweir_core::classify::{CODEWORDS, Coding, TAPS, validate_codebooks};
use fishweir_core::number::Real;

use super::error::DeployError;
use crate::classifier::{BookIn, CodeRing, Codebook, Codebooks, CodebooksSize, Output};

/// Codebooks, and the weights of their codewords.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeployedCodebooks<T = f32> {
    /// Codebooks, whose scales and levels are numbers of the format.
    books: Codebooks,
    weighed: Weighed<T>,
}

/// Weights that codebooks add to a sample's evidence, each row `[output]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weighed<T> {
    /// Weights of codewords, `[codebook][codeword]`.
    pub(crate) words: Vec<Vec<T>>,
    /// Weights of levels exceeded, `[codebook][codeword][how many, less one]`.
    pub(crate) above: Vec<Vec<T>>,
}

impl<T> Weighed<T> {
    /// Rows of each codebook for its codewords, and for its levels.
    pub(super) fn by_book(&self) -> impl Iterator<Item = (&[Vec<T>], &[Vec<T>])> {
        let each = self.above.len() / (self.words.len() / CODEWORDS).max(1);
        let mut above = self.above.chunks(each.max(1));
        self.words.chunks(CODEWORDS).map(move |words| (words, above.next().unwrap_or_default()))
    }

    /// Every row.
    pub(super) fn rows(&self) -> impl Iterator<Item = &Vec<T>> {
        self.words.iter().chain(&self.above)
    }

    /// Applies a function to each row.
    pub(super) fn map<S>(&self, row: impl Fn(&Vec<T>) -> Vec<S>) -> Weighed<S> {
        let [words, above] = [&self.words, &self.above].map(|rows| rows.iter().map(&row).collect());
        Weighed { words, above }
    }

    /// Number of outputs.
    pub(super) fn outputs(&self) -> usize {
        self.words.first().map_or(0, Vec::len)
    }
}

impl<T> DeployedCodebooks<T> {
    pub(super) fn books(&self) -> &Codebooks {
        &self.books
    }

    pub(super) fn weighed(&self) -> &Weighed<T> {
        &self.weighed
    }
}

impl<T: Real> DeployedCodebooks<T> {
    /// Creates codebooks with the weights of the outputs.
    pub(super) fn of(books: &Codebooks, outputs: &[Output]) -> Result<Self, DeployError> {
        let number = |weight: f64, word: usize| {
            let weight = T::from_f64(weight);
            match weight.is_finite() {
                true => Ok(weight),
                false => {
                    let what = format!("codeword {word} weighs more than the number format holds");
                    Err(DeployError::Models(what))
                }
            }
        };
        let levels = books.levels();
        let of_word = |output: &Output, word: usize| {
            number(output.codewords.get(word).copied().unwrap_or(0.0), word)
        };
        // Sum of the weights of the levels up to a step.
        let of_step = |output: &Output, step: usize| {
            let word = step / levels;
            let first = output.levels.get(word * levels..=step).unwrap_or_default();
            number(first.iter().sum(), word)
        };
        let row = |of: &dyn Fn(&Output, usize) -> Result<T, DeployError>, index| {
            outputs.iter().map(|output| of(output, index)).collect::<Result<_, _>>()
        };
        let words = (0..books.codewords()).map(|word| row(&of_word, word));
        let above = (0..books.codewords() * levels).map(|step| row(&of_step, step));
        let weighed = Weighed {
            words: words.collect::<Result<_, _>>()?,
            above: above.collect::<Result<_, _>>()?,
        };
        let books = books.rounded::<T>().ok_or_else(|| {
            DeployError::Models(
                "a codebook's scale or level is more than the number format holds".into(),
            )
        })?;
        Ok(Self { books, weighed })
    }
}

/// Four bytes for each word of a codebook's vectors.
const VECTOR_WORDS: usize = TAPS * CODEWORDS / 4;

/// Number of words of the core's `Codebooks`: `books` books, over channels, for outputs, with levels.
///
/// `None` if there are more than addresses.
pub(super) fn words(books: usize, channels: usize, outputs: usize, levels: usize) -> Option<usize> {
    let rows = outputs.checked_mul(1 + levels)?.checked_add(levels)?.checked_mul(CODEWORDS)?;
    channels.checked_add(rows)?.checked_add(1 + VECTOR_WORDS)?.checked_mul(books)
}

impl DeployedCodebooks {
    /// The bytes of the core's `Codebooks`, its fields in order.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let books = self.books.books();
        let dilations = books.iter().flat_map(|book| book.dilation.to_le_bytes());
        let levels = books.iter().flat_map(|book| book.levels.iter().flatten()).map(|&x| x as f32);
        let scales = books.iter().flat_map(|book| &book.scale).map(|&x| x as f32);
        let vectors = books.iter().flat_map(|book| book.vectors.as_flattened()).copied();
        let weights = self.weighed.rows().flatten().copied();
        dilations
            .chain(levels.chain(scales).flat_map(f32::to_le_bytes))
            .chain(vectors.flat_map(i8::to_le_bytes))
            .chain(weights.flat_map(f32::to_le_bytes))
            .collect()
    }

    /// Reads codebooks from the [`words`] of such bytes.
    pub(super) fn read(
        [books, channels, outputs, each]: [usize; 4],
        word: &mut dyn FnMut() -> u32,
    ) -> Self {
        let mut list = |count: usize| -> Vec<u32> { (0..count).map(|_| word()).collect() };
        let (dilations, levels) = (list(books), list(books * CODEWORDS * each));
        let scales = list(books * channels);
        let vectors: Vec<i8> = list(books * VECTOR_WORDS)
            .into_iter()
            .flat_map(|word| word.to_le_bytes().map(|byte| i8::from_le_bytes([byte])))
            .collect();
        let words = list(books * CODEWORDS * outputs);
        let above = list(books * CODEWORDS * each * outputs);
        let reals = |words: &[u32]| -> Vec<f64> {
            words.iter().map(|&x| f32::from_bits(x).into()).collect()
        };
        let book = |(index, dilation): (usize, u32)| {
            let at = |tap, word| vectors[(index * TAPS + tap) * CODEWORDS + word];
            let levels = &levels[index * CODEWORDS * each..][..CODEWORDS * each];
            Codebook {
                dilation,
                scale: reals(&scales[index * channels..][..channels]),
                vectors: std::array::from_fn(|tap| std::array::from_fn(|word| at(tap, word))),
                levels: levels.chunks(each.max(1)).map(reals).collect(),
            }
        };
        let books = dilations.into_iter().enumerate().map(book).collect();
        let row = |row: &[u32]| row.iter().map(|&x| f32::from_bits(x)).collect();
        let [words, above] = [words, above].map(|rows| rows.chunks(outputs).map(row).collect());
        Self { books: Codebooks::of(books), weighed: Weighed { words, above } }
    }

    /// Checks every number as the core's `WithCodebooks` does, whose ring is of eight times this dilation.
    pub(super) fn validate(&self, largest: u32) -> Result<(), ModelError> {
        let books = self.books.books();
        let dilations = books.iter().map(|book| book.dilation);
        let numbers = books.iter().zip(self.weighed.by_book()).map(|(book, (words, above))| {
            let scale = book.scale.iter().map(|&x| x as f32);
            let weights = words.iter().chain(above).flatten().copied();
            (scale.chain(weights), book.levels.iter().flatten().map(|&x| x as f32))
        });
        validate_codebooks(largest as usize * TAPS, dilations, numbers)
    }

    /// The largest dilation.
    pub(super) fn largest(&self) -> u32 {
        self.books.books().iter().map(|book| book.dilation).max().unwrap_or(0)
    }
}

impl<T: Real> DeployedCodebooks<T> {
    /// State before the first sample of a stream.
    pub(super) fn stream(&self) -> CodeStream<T> {
        let units = vec![(); self.weighed.outputs()];
        CodeStream::new(self.books.in_numbers(), &self.weighed, units)
    }
}

/// Codebooks in the middle of a stream.
pub(super) struct CodeStream<T: Coding> {
    ring: CodeRing<T>,
    weighed: Weighed<T>,
    units: Vec<T::Unit>,
    sums: Vec<T::Total>,
    sample: Vec<T::Wide>,
}

impl<T: Coding> CodeStream<T> {
    /// State before the first sample, from the weights and their units `[output]`.
    pub(super) fn new(books: Vec<BookIn<T>>, weighed: &Weighed<T>, units: Vec<T::Unit>) -> Self {
        Self {
            ring: CodeRing::of(books),
            weighed: weighed.clone(),
            sums: vec![T::NOTHING; units.len()],
            sample: vec![T::Wide::default(); units.len()],
            units,
        }
    }

    /// Pushes a sample, as the core's `WithCodebooks` does.
    pub(super) fn push(&mut self, x: &[T]) {
        self.sample.fill(T::Wide::default());
        let Weighed { words, above } = &self.weighed;
        let each = above.len() / words.len().max(1);
        for (index, (book, alike)) in self.ring.likenesses(x).enumerate() {
            if let Some(alike) = alike {
                let first = index * CODEWORDS;
                let step = |word: usize| {
                    let levels = &book.levels[word * each..][..each];
                    (levels, &above[(first + word) * each..][..each])
                };
                alike.weigh(&mut self.sample, &words[first..][..CODEWORDS], step);
            }
        }
        for output in 0..self.sums.len() {
            T::add_sample(&mut self.sums[output], self.sample[output]);
        }
        self.ring.take(x);
    }

    pub(super) fn push_missing(&mut self) {
        self.ring.take_missing();
    }

    pub(super) fn reset(&mut self) {
        self.ring.reset();
        self.sums.fill(T::NOTHING);
    }

    /// Evidence for each output, not normalised yet: the nearest real and the remainder of rounding.
    pub(super) fn parts(&self) -> impl Iterator<Item = [T::Real; 2]> {
        self.sums.iter().zip(&self.units).map(|(sum, &unit)| T::parts(sum, unit))
    }
}

impl DeployedCodebooks {
    /// Adds the codebooks to a source.
    pub(super) fn beside(&self, text: &str) -> String {
        let books = self.books.in_numbers::<f32>();
        with_codebooks(text, "f32", (&books, &self.weighed), None)
    }
}

/// A source whose classifier has codebooks beside what is already in it: their numbers, what their codewords and levels
/// weigh, and the units of that where it has any.
pub(super) fn with_codebooks<T: Coding>(
    text: &str,
    number: &str,
    (books, weighed): (&[BookIn<T>], &Weighed<T>),
    units: Option<&[i16]>,
) -> String {
    let CodebooksSize { books: count, depth, levels } = CodebooksSize::of(books);
    let (channels, outputs) = (books.first().map_or(0, |book| book.scale.len()), weighed.outputs());
    let dilations: Vec<u32> = books.iter().map(|book| book.dilation).collect();
    // Debug prints the shortest text that reads back to the same number.
    let list = |rows: &mut dyn Iterator<Item = String>| {
        let rows = rows.fold(String::new(), |mut text, row| {
            let _ = writeln!(text, "        {row},");
            text
        });
        format!("[\n{rows}    ]")
    };
    let (new, units) = match units {
        Some(units) => ("in_units", format!("\n    {units:?},")),
        None => ("from_parts", String::new()),
    };
    // Without levels, types do not mention them: sources are the same as before levels were introduced.
    let (of_levels, with_levels) = match levels {
        0 => (String::new(), String::new()),
        _ => {
            let of_book =
                |book: &BookIn<T>| format!("{:?}", book.levels.chunks(levels).collect::<Vec<_>>());
            let above = |(_, above): (_, &[Vec<T>])| {
                format!("{:?}", above.chunks(levels).collect::<Vec<_>>())
            };
            let of_books = list(&mut books.iter().map(of_book));
            let above = list(&mut weighed.by_book().map(above));
            let with = format!("\n.with_levels(\n    {of_books},\n    {above},\n)");
            (format!(", {levels}"), with)
        }
    };
    let types = format!(
        "/// The classifier, with {count} codebooks over the last {depth} samples.\n\
         pub type Model = fishweir_core::classify::WithCodebooks<Bank, fishweir_core::classify::Codebooks<[[{number}; {channels}]; {count}], {outputs}{of_levels}>, {depth}>;\n\n\
         /// The codebooks, and the weights of their codewords.\n\
         #[rustfmt::skip]\n\
         #[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]\n\
         const CODEBOOKS: fishweir_core::classify::Codebooks<[[{number}; {channels}]; {count}], {outputs}{of_levels}> = \
         fishweir_core::classify::Codebooks::{new}(\n    {dilations:?},\n    {},\n    {},\n    {},{units}\n){with_levels};\n\n\
         /// The classifier, in flash.",
        list(&mut books.iter().map(|book| format!("{:?}", book.scale))),
        list(&mut books.iter().map(|book| format!("{:?}", book.vectors))),
        list(&mut weighed.by_book().map(|(words, _)| format!("{words:?}"))),
    );
    let text = text
        .replacen("pub type Model = ", "pub type Bank = ", 1)
        .replacen("MODEL: Model = Model::from_parts(", "MODEL: Model = Bank::from_parts(", 1)
        .replacen("MODEL: Model = ", "MODEL: Model = Model::from_parts(", 1)
        .replacen("/// The classifier, in flash.", &types, 1);
    // What a source ends with.
    format!("{}), CODEBOOKS);\n", text.strip_suffix(");\n").unwrap_or(&text))
}
