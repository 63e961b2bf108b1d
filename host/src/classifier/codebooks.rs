//! Codebooks over the last samples, whose codeword counts are further evidence.

mod lanes;
#[cfg(test)]
mod tests;

use fishweir_core::artefact::Shape;
use fishweir_core::classify::{CODEWORDS, CodeVectors, Coding, Similarity, TAPS, likeness};
use fishweir_core::lagged::RingIndex;
use fishweir_core::number::Real;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use lanes::FilledSeries;

use crate::data::RowsView;
use crate::words::counted;

/// The largest dilation, in samples: a device keeps eight times as many.
const WIDEST: u32 = 32;
/// The seed of the draws.
const SEED: u64 = 1;
/// The golden ratio's inverse, of which multiples lie evenly.
const GOLDEN: f64 = 0.618_033_988_749_894_8;
/// Windows drawn at most for a code vector that is no zero.
const DRAWS: usize = 20;

/// Codebooks for each dilation at most: a sample's evidence in integers is proven for more.
pub(crate) const CODEBOOKS_MOST: usize = 256;
/// The largest number of levels of a code vector that an artefact can store.
pub(crate) const LEVELS_MOST: usize = Shape::LEVELS_MAX as usize;
/// Series at most whose likenesses levels are quantiles of.
const POOLED: usize = 50;

/// One of them: see the core's [`likeness`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Codebook {
    /// Samples between one tap and the next.
    pub dilation: u32,
    /// Factor on each channel's differences before they are summed; zero for a channel that is not read.
    pub scale: Vec<f64>,
    /// `[tap][codeword]`.
    pub vectors: CodeVectors,
    /// Levels of each codeword's likeness, rising, `[codeword][level]`; empty without levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Vec<f64>>,
}

/// Codebooks at dyadic dilations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Codebooks {
    books: Vec<Codebook>,
}

impl Codebooks {
    /// Draws `each` codebooks for each dilation `1, 2, 4, ...` that series of the middle length have room for, up to 32.
    ///
    /// A codebook hears some of the channels, drawn anew, in units of their deviations, `scale`. Each of its code
    /// vectors is a run of eight differences, at the dilation, drawn from the series at a random place, less its
    /// level and of unit length. Nothing looks at labels. None where a series of the middle length does not
    /// reach eight samples back.
    ///
    /// Cost: that of `8 each` runs a dilation. Source: patterns drawn at random instead of learnt, as
    /// convolutional kernels are by Dempster, Schmidt and Webb, *Hydra*, 2023; drawn from data, as codebooks begin
    /// in Gersho and Gray, *Vector Quantization and Signal Compression*, 1992.
    #[must_use]
    pub fn draw(series: &[RowsView<'_>], scale: &[f64], each: usize) -> Option<Self> {
        let mut lengths: Vec<usize> = series.iter().map(RowsView::len).collect();
        lengths.sort_unstable();
        let middle = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let mut books = Vec::new();
        for dilation in dilations(middle) {
            let long: Vec<_> =
                series.iter().filter(|one| one.len() > dilation as usize * TAPS).copied().collect();
            for _ in 0..each {
                let scale = heard(scale, &mut rng);
                let vectors = vectors(&long, dilation, &scale, &mut rng);
                books.push(Codebook { dilation, scale, vectors, levels: Vec::new() });
            }
        }
        (!books.is_empty()).then_some(Self { books })
    }

    /// Adds `count` levels for every codeword's likeness: quantiles over the series, or over some of them if there are many.
    ///
    /// Over all codewords the shares lie evenly between zero and one. A level lies between two likenesses, so that every
    /// implementation finds the same number beyond it.
    ///
    /// Cost: that of counting the codewords of these series, four bytes for each of their likenesses of one codebook, and
    /// selecting. Source: biases of Dempster, Schmidt and Webb, *MiniRocket*, 2021, by the golden ratio's multiples as there.
    #[must_use]
    pub fn with_levels(mut self, series: &[RowsView<'_>], count: usize) -> Self {
        if count == 0 {
            return self;
        }
        let channels = self.books.first().map_or(0, |book| book.scale.len());
        let some: Vec<FilledSeries> =
            spread(series).into_iter().map(|one| FilledSeries::of(one, channels)).collect();
        let mut shares = (1..).map(|number| f64::from(number) * GOLDEN).map(f64::fract);
        for book in &mut self.books {
            let mut pooled: [Vec<f32>; CODEWORDS] = Default::default();
            some.iter().for_each(|heard| heard.pool(book, &mut pooled));
            let levels = pooled.map(|alike| {
                let mut at: Vec<f64> = shares.by_ref().take(count).collect();
                at.sort_by(f64::total_cmp);
                let mut keys: Vec<i32> = alike.into_iter().map(key).collect();
                quantiles(&mut keys, &at)
            });
            book.levels = levels.into();
        }
        self
    }

    /// Codebooks that were read from elsewhere.
    pub(crate) const fn of(books: Vec<Codebook>) -> Self {
        Self { books }
    }

    /// Rounds scales and levels to another format; `None` if it cannot hold one of them.
    pub(crate) fn rounded<T: Real>(&self) -> Option<Self> {
        let mut rounded = self.clone();
        for book in &mut rounded.books {
            for x in book.scale.iter_mut().chain(book.levels.iter_mut().flatten()) {
                *x = T::from_f64(*x).to_f64();
                if !x.is_finite() {
                    return None;
                }
            }
        }
        Some(rounded)
    }

    /// Codebooks in the reals of a device.
    pub(crate) fn in_numbers<T: Real>(&self) -> Vec<BookIn<T>> {
        let book = |book: &Codebook| BookIn {
            dilation: book.dilation,
            scale: book.scale.iter().map(|&x| T::from_f64(x)).collect(),
            vectors: book.vectors,
            levels: book.levels.iter().flatten().map(|&x| T::from_f64(x)).collect(),
        };
        self.books.iter().map(book).collect()
    }

    /// Largest number of counts, for `each` codebooks per dilation with `levels` levels.
    pub(crate) fn counted_at_most(each: usize, levels: usize) -> usize {
        each.saturating_mul(CODEWORDS * dilations(usize::MAX).count()).saturating_mul(1 + levels)
    }

    /// Size of the codebooks drawn from series of a middle length, with `levels` levels; `None` for none.
    pub(crate) fn drawn(middle: usize, each: usize, levels: usize) -> Option<CodebooksSize> {
        let all: Vec<u32> = dilations(middle).collect();
        let last = *all.last().filter(|_| each > 0)?;
        Some(CodebooksSize { books: each * all.len(), depth: last as usize * TAPS, levels })
    }

    /// The codebooks.
    #[must_use]
    pub fn books(&self) -> &[Codebook] {
        &self.books
    }

    /// Samples that are kept: eight times the largest dilation.
    #[must_use]
    pub fn depth(&self) -> usize {
        let dilations = self.books.iter().map(|book| book.dilation as usize);
        dilations.max().unwrap_or(0) * TAPS
    }

    /// Codewords of all.
    #[must_use]
    pub fn codewords(&self) -> usize {
        self.books.len() * CODEWORDS
    }

    /// Levels of each codeword.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.books.first().and_then(|book| book.levels.first()).map_or(0, Vec::len)
    }

    /// Sizes that determine the cost on a device.
    pub(crate) fn size(&self) -> CodebooksSize {
        CodebooksSize { books: self.books.len(), depth: self.depth(), levels: self.levels() }
    }

    /// Describes the codebooks.
    #[must_use]
    pub fn words(&self) -> String {
        let (count, depth) = (counted(self.books.len(), "codebook"), self.depth());
        let levels = match self.levels() {
            0 => String::new(),
            levels => format!(", {} per pattern", counted(levels, "level")),
        };
        format!("{count} of {CODEWORDS} patterns over the last {depth} samples{levels}")
    }

    /// Counts of each codeword, `[codebook][codeword]`, and then of the samples at which the likeness of each exceeds each of its
    /// levels, `[codebook][codeword][level]`, in the arithmetic of a device. Rows may have more
    /// columns than the channels that are heard, which come first.
    #[must_use]
    pub fn counts(&self, rows: RowsView<'_>) -> Vec<f64> {
        let heard = FilledSeries::of(rows, self.books.first().map_or(0, |book| book.scale.len()));
        let mut counts = vec![0.0; self.codewords() * (1 + self.levels())];
        let (words, levels) = counts.split_at_mut(self.codewords());
        let each = (CODEWORDS * self.levels()).max(1);
        let mut levels = levels.chunks_mut(each);
        for (book, words) in self.books.iter().zip(words.chunks_mut(CODEWORDS)) {
            heard.count(book, words, levels.next().unwrap_or_default());
        }
        counts
    }

    /// Describes a fault of the codebooks over `channels` channels.
    pub(crate) fn check(&self, channels: usize) -> Result<(), String> {
        if self.books.is_empty() {
            return Err("`codebooks` is empty".into());
        }
        let rows = self.books.len() * (1 + if self.levels() > 0 { CODEWORDS } else { 0 });
        if rows >= 1 << 16 {
            return Err(format!("`codebooks` are {}: too many", self.books.len()));
        }
        for (index, book) in self.books.iter().enumerate() {
            if book.dilation == 0 || book.dilation > WIDEST {
                let dilation = book.dilation;
                return Err(format!(
                    "codebook {index} has dilation {dilation}; it must be 1 to {WIDEST}"
                ));
            }
            if book.scale.len() != channels || book.scale.iter().any(|x| !x.is_finite()) {
                return Err(format!("codebook {index} does not scale {channels} channels"));
            }
            let levels = self.levels();
            let [rows, each] = if levels > 0 { [CODEWORDS, levels] } else { [0, 0] };
            if book.levels.len() != rows || book.levels.iter().any(|row| row.len() != each) {
                return Err(format!(
                    "codebook {index} has another number of levels than the first"
                ));
            }
            if levels > LEVELS_MOST {
                return Err(format!(
                    "codebook {index} has {levels} levels per pattern; at most {LEVELS_MOST} are possible"
                ));
            }
            if book.levels.iter().flatten().any(|x| !x.is_finite()) {
                return Err(format!("codebook {index} has a level that is not finite"));
            }
            if !book.levels.iter().all(|row| row.is_sorted()) {
                return Err(format!("codebook {index} has levels that do not rise"));
            }
        }
        Ok(())
    }
}

/// Selects at most [`POOLED`] series, spread over all whatever their order repeats.
fn spread<'a>(series: &[RowsView<'a>]) -> Vec<RowsView<'a>> {
    if series.len() <= POOLED {
        return series.to_vec();
    }
    let place = |number: usize| ((number as f64 * GOLDEN).fract() * series.len() as f64) as usize;
    let mut places: Vec<usize> = (1..=POOLED).map(place).collect();
    places.sort_unstable();
    places.dedup();
    places.into_iter().map(|place| series[place]).collect()
}

/// An integer in the order of [`f32::total_cmp`]: selecting among integers takes half the time.
const fn key(x: f32) -> i32 {
    let bits = x.to_bits().cast_signed();
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

/// The number of a key.
const fn of_key(key: i32) -> f32 {
    let bits = key ^ ((key >> 31).cast_unsigned() >> 1).cast_signed();
    f32::from_bits(bits.cast_unsigned())
}

/// Quantiles of some numbers, given by their keys, at rising shares: each midway to the next greater number. Zero without numbers.
fn quantiles(of: &mut [i32], shares: &[f64]) -> Vec<f64> {
    let all = of.len() as f64;
    // What lies below a quantile lies below the next.
    let (mut rest, mut below) = (of, 0);
    let mut found = Vec::with_capacity(shares.len());
    for share in shares {
        let place = (share * all) as usize - below;
        if place >= rest.len() {
            found.push(0.0);
            continue;
        }
        let (_, &mut at, above) = rest.select_nth_unstable(place);
        // The two zeros have a key each, and neither is greater.
        let least = if at == key(-0.0) { key(0.0) } else { at };
        let mut greater = i32::MAX;
        for &key in &*above {
            if key > least && key < greater {
                greater = key;
            }
        }
        let (at, next) = (of_key(at), of_key(greater));
        found.push(f64::midpoint(at.into(), if next > at { next.into() } else { at.into() }));
        rest = &mut rest[place..];
        below += place;
    }
    found
}

/// The dilations that series of a middle length have room for.
fn dilations(middle: usize) -> impl Iterator<Item = u32> {
    let all = (0..).map(|power| 1_u32 << power).take_while(|&one| one <= WIDEST);
    all.take_while(move |&one| one as usize * TAPS < middle)
}

/// The scale of the channels that a codebook reads: a power of two of them, drawn evenly, among those that move.
fn heard(scale: &[f64], rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut order: Vec<usize> = (0..scale.len()).filter(|&channel| scale[channel] > 0.0).collect();
    let all = order.len();
    let most = ((all + 1) as f64).log2();
    let count = ((rng.random::<f64>() * most).exp2() as usize).clamp(1, all.max(1));
    for place in 0..count.min(all) {
        order.swap(place, rng.random_range(place..all));
    }
    let mut heard = vec![0.0; scale.len()];
    for &channel in order.iter().take(count) {
        heard[channel] = scale[channel].recip();
    }
    heard
}

/// Code vectors from runs of series, each of which is longer than a run.
fn vectors(
    series: &[RowsView<'_>],
    dilation: u32,
    scale: &[f64],
    rng: &mut ChaCha8Rng,
) -> CodeVectors {
    let mut vectors = [[0.0; CODEWORDS]; TAPS];
    for word in 0..CODEWORDS {
        let mut run = None;
        for _ in 0..DRAWS {
            run = differences(series, dilation, scale, rng);
            if run.is_some() {
                break;
            }
        }
        // Of signals that do not move: any direction will do.
        let run = run.unwrap_or_else(|| std::array::from_fn(|_| rng.random::<f64>() - 0.5));
        vectors.iter_mut().zip(run).for_each(|(row, x)| row[word] = x);
    }
    let largest = vectors.as_flattened().iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let unit = 127.0 / largest.max(f64::MIN_POSITIVE);
    vectors.map(|row| row.map(|x| (x * unit).round() as i8))
}

/// A run at a random place as weights on differences: the nine samples less their mean, of unit length, which sum
/// to zero, so that their product with nine samples is one with eight differences.
fn differences(
    series: &[RowsView<'_>],
    dilation: u32,
    scale: &[f64],
    rng: &mut ChaCha8Rng,
) -> Option<[f64; TAPS]> {
    let one = series[rng.random_range(..series.len())];
    let (step, reach) = (dilation as usize, dilation as usize * TAPS);
    let end = rng.random_range(reach..one.len());
    let mut run = [0.0; TAPS + 1];
    for (tap, x) in run.iter_mut().enumerate() {
        let row = one.row(end - tap * step)?;
        *x = scale.iter().zip(row).map(|(scale, x)| scale * x).sum();
    }
    let mean = run.iter().sum::<f64>() / run.len() as f64;
    run.iter_mut().for_each(|x| *x -= mean);
    let norm = run.iter().map(|x| x * x).sum::<f64>().sqrt();
    // sum_k u_k x_(t - k d) = - sum_k u_k ( x_t - x_(t - k d) ), for the u_k sum to zero.
    (norm > 1e-9).then(|| std::array::from_fn(|k| -run[k + 1] / norm))
}

/// Sizes that determine the cost of codebooks on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodebooksSize {
    pub(crate) books: usize,
    /// Samples that they look back.
    pub(crate) depth: usize,
    /// Number of levels of each codeword.
    pub(crate) levels: usize,
}

impl CodebooksSize {
    /// Sizes of codebooks in the numbers of a device.
    pub(crate) fn of<T: Coding>(books: &[BookIn<T>]) -> Self {
        let largest = books.iter().map(|book| book.dilation).max().unwrap_or(0);
        let levels = books.first().map_or(0, |book| book.levels.len() / CODEWORDS);
        Self { books: books.len(), depth: largest as usize * TAPS, levels }
    }
}

/// A codebook in the numbers of a device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BookIn<T: Coding> {
    pub(crate) dilation: u32,
    /// Factors on the channels.
    pub(crate) scale: Vec<T>,
    pub(crate) vectors: CodeVectors,
    /// `[codeword][level]`, one after the other.
    pub(crate) levels: Vec<T::Wide>,
}

/// The last samples, and the codebooks that read them, at run-time sizes: the core's `Coded` over vectors.
#[derive(Clone, Debug)]
pub(crate) struct CodeRing<T: Coding> {
    books: Vec<BookIn<T>>,
    past: Vec<Vec<T>>,
    place: RingIndex,
}

impl<T: Coding> CodeRing<T> {
    /// State before the first sample.
    pub(crate) fn of(books: Vec<BookIn<T>>) -> Self {
        let channels = books.first().map_or(0, |book| book.scale.len());
        let past = vec![vec![T::BLANK; channels]; CodebooksSize::of(&books).depth];
        Self { books, past, place: RingIndex::NEW }
    }

    /// Each codebook, and how alike its code vectors are at a sample that has not been taken in yet.
    pub(crate) fn likenesses<'a>(
        &'a self,
        x: &'a [T],
    ) -> impl Iterator<Item = (&'a BookIn<T>, Option<Similarity<T, 1>>)> {
        self.books.iter().map(move |book| {
            let BookIn { dilation, scale, vectors, .. } = book;
            (book, likeness(self.place, &self.past, x, *dilation, scale, vectors))
        })
    }

    /// The codeword of each codebook there.
    pub(crate) fn codewords<'a>(
        &'a self,
        x: &'a [T],
    ) -> impl Iterator<Item = Option<usize>> + use<'a, T> {
        let word = |alike: Similarity<T, 1>| alike.codewords()[0];
        self.likenesses(x).map(move |(_, alike)| alike.map(word))
    }

    /// Takes in a sample.
    pub(crate) fn take(&mut self, x: &[T]) {
        self.place.take(&mut self.past, x);
    }

    /// Takes in one that was not observed.
    pub(crate) fn take_missing(&mut self) {
        self.place.take_missing(&mut self.past);
    }

    /// Forgets the past.
    pub(crate) fn reset(&mut self) {
        self.place = RingIndex::NEW;
    }
}
