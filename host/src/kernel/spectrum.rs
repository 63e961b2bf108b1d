//! Spectrum and mismatch kernels: words of strings.

use std::ops::AddAssign;

use super::{Gram, Kernel, KernelError};
use crate::data::SamplesView;
use crate::parallel::each;

/// The spectrum kernel of words of `length` symbols, and the mismatch kernel, in which a word counts for all
/// that differ from it in `mismatches` places at most. [`Gram::normalised`] gives their cosines.
///
/// ```text
/// phi_w(x) = number of words v of x with d(v, w) <= mismatches
/// K(x, y)  = phi(x) . phi(y)
/// ```
///
/// Words with a missing symbol are not counted; a string without any has a kernel of zero with all others.
///
/// Sources: C. Leslie, E. Eskin and W. S. Noble, The spectrum kernel: a string kernel for SVM protein
/// classification, 2002; C. Leslie, E. Eskin, A. Cohen, J. Weston and W. S. Noble, Mismatch string kernels for
/// discriminative protein classification, Bioinformatics 20, 2004. RAM: eight bytes a word of the alphabet, and
/// eight a word of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpectrumKernel {
    /// Symbols of a word.
    pub length: usize,
    /// Number of places in which words may differ: 0 or 1.
    pub mismatches: usize,
}

/// Largest number of words of the alphabet.
const WORDS: usize = 1 << 26;

/// The words of many strings, and which strings each word is in: a row of the kernel matrix is a sum over the
/// strings that share words.
#[derive(Clone, Debug)]
pub struct WordIndex {
    kernel: SpectrumKernel,
    /// Symbols of the alphabet.
    size: usize,
    /// Each string's words, in order.
    strings: Vec<Vec<u32>>,
    /// `1 / |phi|`, `[string]`; zero of a string without words.
    scale: Vec<f32>,
    /// Start of the strings with a word, `[word]`, and their end, `[word + 1]`.
    starts: Vec<u32>,
    /// Strings, one for each time that they have the word.
    with: Vec<u32>,
}

/// Numbers of few of all words.
struct Sparse {
    /// `[word]`.
    values: Vec<f32>,
    /// Words whose number may be other than zero.
    words: Vec<u32>,
}

impl Sparse {
    fn add(&mut self, word: u32, value: f32) {
        let entry = &mut self.values[word as usize];
        if *entry == 0.0 {
            self.words.push(word);
        }
        *entry += value;
    }
}

impl SpectrumKernel {
    /// The words of strings over an alphabet of `size` symbols.
    ///
    /// # Errors
    /// [`KernelError::Parameter`] for words of no symbol, or so long that there are more than `2^26`, or with more
    /// mismatches than one.
    pub fn index<S: AsRef<[Option<u16>]> + Sync>(
        &self,
        strings: &[S],
        size: usize,
    ) -> Result<WordIndex, KernelError> {
        let size = size.max(2);
        let words = u32::try_from(self.length).ok().and_then(|length| size.checked_pow(length));
        let Some(words) = words.filter(|&words| self.length > 0 && words <= WORDS) else {
            let (value, range) = (self.length as f64, "1 or more, with 2^26 words at most");
            return Err(KernelError::Parameter { name: "order", value, range });
        };
        if self.mismatches > 1 {
            let (value, range) = (self.mismatches as f64, "0 or 1");
            return Err(KernelError::Parameter { name: "mismatches", value, range });
        }
        let of = |string: &S| -> Vec<u32> {
            let windows = string.as_ref().windows(self.length);
            windows.filter_map(|window| number(window, size)).collect()
        };
        let strings: Vec<Vec<u32>> = strings.iter().map(of).collect();
        let mut starts = vec![0_u32; words + 1];
        for &word in strings.iter().flatten() {
            starts[word as usize + 1] += 1;
        }
        for word in 0..words {
            starts[word + 1] += starts[word];
        }
        let (mut next, mut with) = (starts.clone(), vec![0; strings.iter().map(Vec::len).sum()]);
        for (string, words) in (0..).zip(&strings) {
            for &word in words {
                with[next[word as usize] as usize] = string;
                next[word as usize] += 1;
            }
        }
        let mut index = WordIndex { kernel: *self, size, scale: Vec::new(), strings, starts, with };
        let scale = |string: usize| {
            let phi = index.features(string);
            let square: f32 = phi.words.iter().map(|&w| phi.values[w as usize].powi(2)).sum();
            if square > 0.0 { square.sqrt().recip() } else { 0.0 }
        };
        index.scale = each(index.strings.len(), &scale);
        Ok(index)
    }
}

/// The number of a word; `None` where a symbol is missing.
fn number(word: &[Option<u16>], size: usize) -> Option<u32> {
    word.iter().try_fold(0, |number, symbol| {
        let symbol = symbol.map(usize::from).filter(|&symbol| symbol < size)?;
        u32::try_from(number as usize * size + symbol).ok()
    })
}

impl WordIndex {
    /// Number of strings.
    pub fn len(&self) -> usize {
        self.strings.len()
    }

    /// Returns whether there is no string.
    pub fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }

    /// `phi` of a string.
    fn features(&self, string: usize) -> Sparse {
        let mut counts = Sparse { values: vec![0.0; self.starts.len() - 1], words: Vec::new() };
        for &word in &self.strings[string] {
            counts.add(word, 1.0);
        }
        self.near(counts)
    }

    /// Sums the counts of the words near each word.
    fn near(&self, counts: Sparse) -> Sparse {
        if self.kernel.mismatches == 0 {
            return counts;
        }
        let mut near = Sparse { values: vec![0.0; counts.values.len()], words: Vec::new() };
        for &word in &counts.words {
            let value = counts.values[word as usize];
            near.add(word, value);
            let mut place = 1;
            for _ in 0..self.kernel.length {
                let symbol = word as usize / place % self.size;
                let without = word as usize - symbol * place;
                for other in (0..self.size).filter(|&other| other != symbol) {
                    near.add((without + other * place) as u32, value);
                }
                place *= self.size;
            }
        }
        near
    }

    /// The cosine `phi(x) . phi(y) / |phi(x)| |phi(y)|` of a string with all strings: the product is a sum over the words that are near to a
    /// neighbour of a word of `x`, so that only one side is spread. Work: the words within twice the mismatches.
    ///
    /// # Panics
    /// If there is no such string.
    pub fn row(&self, string: usize) -> Vec<f32> {
        let mut row = self.sums(string, |value| value * self.scale[string]);
        row.iter_mut().zip(&self.scale).for_each(|(entry, scale)| *entry *= scale);
        row
    }

    /// The inner products `phi(x) . phi(y)` of a string with all strings: counts, exact up to `2^53`.
    ///
    /// # Panics
    /// If there is no such string.
    pub fn products(&self, string: usize) -> Vec<f64> {
        self.sums(string, f64::from)
    }

    /// Sums over the words that strings share with those near to a string's.
    fn sums<T: AddAssign + Copy + Default>(&self, string: usize, of: impl Fn(f32) -> T) -> Vec<T> {
        let spread = self.near(self.features(string));
        let mut row = vec![T::default(); self.strings.len()];
        for &word in &spread.words {
            let value = of(spread.values[word as usize]);
            let bounds =
                self.starts[word as usize] as usize..self.starts[word as usize + 1] as usize;
            for &other in &self.with[bounds] {
                row[other as usize] += value;
            }
        }
        row
    }
}

impl Kernel for SpectrumKernel {
    fn gram(&self, sequences: &[SamplesView<'_>]) -> Result<Gram, KernelError> {
        let strings: Option<Vec<&[Option<u16>]>> =
            sequences.iter().map(SamplesView::symbols).collect();
        let strings = strings.ok_or(KernelError::NoFeatures)?;
        let largest = strings.iter().flat_map(|string| string.iter().flatten()).max();
        let index = self.index(&strings, largest.map_or(1, |&symbol| usize::from(symbol) + 1))?;
        let rows = each(strings.len(), &|string| index.products(string));
        Ok(Gram::from_fn(strings.len(), |i, j| rows[i][j]))
    }
}
