//! Codebooks over the last samples, whose codewords are counted beside what models say.

mod lanes;

use fishweir_core::classify::{CODEWORDS, CodeVectors, Coding, Likeness, TAPS, likeness};
use fishweir_core::lagged::RingPlace;
use fishweir_core::number::Real;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use lanes::Heard;

use crate::data::RowsView;
use crate::words::counted;

/// The largest dilation, in samples: a device keeps eight times as many.
const WIDEST: u32 = 32;
/// The seed of what is drawn.
const SEED: u64 = 1;
/// The golden ratio's inverse, of which multiples lie evenly.
const GOLDEN: f64 = 0.618_033_988_749_894_8;
/// Windows drawn at most for a code vector that is no zero.
const DRAWS: usize = 20;

/// Levels of a code vector at most: what an artefact counts.
pub(crate) const LEVELS_MOST: usize = 7;
/// Windows at most whose likenesses levels are quantiles of.
const POOLED: usize = 50;

/// One of them: see the core's [`likeness`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Codebook {
    /// Samples between one tap and the next.
    pub dilation: u32,
    /// What each channel's differences are multiplied by before they are added up; zero for one that is not heard.
    pub scale: Vec<f64>,
    /// `[tap][codeword]`.
    pub vectors: CodeVectors,
    /// Levels of each codeword's likeness, rising, `[codeword][level]`; empty where there are none.
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
    /// level and of unit length. Nothing looks at labels. None where no series reaches eight samples back.
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

    /// With so many levels of every codeword's likeness: quantiles of what it is in the series, or in some of them where
    /// there are many. Over all codewords the shares lie evenly between zero and one.
    ///
    /// Cost: that of counting the codewords of fifty to a hundred series, and of sorting. Source: biases of Dempster, Schmidt and
    /// Webb, *MiniRocket*, 2021, by the golden ratio's multiples as there.
    #[must_use]
    pub fn with_levels(mut self, series: &[RowsView<'_>], count: usize) -> Self {
        if count == 0 {
            return self;
        }
        let mut shares = (1..).map(|number| f64::from(number) * GOLDEN).map(f64::fract);
        for book in &mut self.books {
            let reach = book.dilation as usize * TAPS;
            let long: Vec<_> = series.iter().filter(|one| one.len() > reach).collect();
            let step = (long.len() / POOLED).max(1);
            let mut pooled: [Vec<f32>; CODEWORDS] = Default::default();
            for one in long.into_iter().step_by(step) {
                Heard::of(*one, book.scale.len()).pool(book, &mut pooled);
            }
            let levels = pooled.map(|mut alike| {
                let mut at: Vec<f64> = shares.by_ref().take(count).collect();
                at.sort_by(f64::total_cmp);
                let mut quantile = |share: f64| {
                    let place = (share * alike.len() as f64) as usize;
                    if place >= alike.len() {
                        return 0.0;
                    }
                    f64::from(*alike.select_nth_unstable_by(place, f32::total_cmp).1)
                };
                at.into_iter().map(&mut quantile).collect()
            });
            book.levels = levels.into();
        }
        self
    }

    /// As they were read from elsewhere.
    pub(crate) const fn of(books: Vec<Codebook>) -> Self {
        Self { books }
    }

    /// The same with scales and levels as another format holds them; `None` where it holds one of them not.
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

    /// In the reals of a device.
    pub(crate) fn in_numbers<T: Real>(&self) -> Vec<BookIn<T>> {
        let book = |book: &Codebook| BookIn {
            dilation: book.dilation,
            scale: book.scale.iter().map(|&x| T::from_f64(x)).collect(),
            vectors: book.vectors,
            levels: book.levels.iter().flatten().map(|&x| T::from_f64(x)).collect(),
        };
        self.books.iter().map(book).collect()
    }

    /// Numbers that are counted of so many codebooks for each dilation, with so many levels, at most.
    pub(crate) fn counted_at_most(each: usize, levels: usize) -> usize {
        each.saturating_mul(CODEWORDS * dilations(usize::MAX).count()).saturating_mul(1 + levels)
    }

    /// What would be drawn from series of a middle length, with so many levels; `None` for none.
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

    /// What they take on a device goes by.
    pub(crate) fn size(&self) -> CodebooksSize {
        CodebooksSize { books: self.books.len(), depth: self.depth(), levels: self.levels() }
    }

    /// What they are, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let (count, depth) = (counted(self.books.len(), "codebook"), self.depth());
        let levels = match self.levels() {
            0 => String::new(),
            levels => format!(", {} each", counted(levels, "level")),
        };
        format!("{count} of {CODEWORDS} patterns over the last {depth} samples{levels}")
    }

    /// How often each codeword occurs, `[codebook][codeword]`, and then how often the likeness of each exceeds each of its
    /// levels, `[codebook][codeword][level]`, in the arithmetic of a device. Rows may have more
    /// columns than the channels that are heard, which come first.
    #[must_use]
    pub fn counts(&self, rows: RowsView<'_>) -> Vec<f64> {
        let heard = Heard::of(rows, self.books.first().map_or(0, |book| book.scale.len()));
        let mut counts = vec![0.0; self.codewords() * (1 + self.levels())];
        let (words, levels) = counts.split_at_mut(self.codewords());
        let each = (CODEWORDS * self.levels()).max(1);
        let mut levels = levels.chunks_mut(each);
        for (book, words) in self.books.iter().zip(words.chunks_mut(CODEWORDS)) {
            heard.count(book, words, levels.next().unwrap_or_default());
        }
        counts
    }

    /// What is wrong with them over so many channels, in words.
    pub(crate) fn check(&self, channels: usize) -> Result<(), String> {
        if self.books.is_empty() {
            return Err("`codebooks` is empty".into());
        }
        for (index, book) in self.books.iter().enumerate() {
            if book.dilation == 0 || book.dilation > WIDEST {
                let dilation = book.dilation;
                return Err(format!("codebook {index} has dilation {dilation}: 1 to {WIDEST}"));
            }
            if book.scale.len() != channels || book.scale.iter().any(|x| !x.is_finite()) {
                return Err(format!("codebook {index} does not scale {channels} channels"));
            }
            let levels = self.levels();
            let [rows, each] = if levels > 0 { [CODEWORDS, levels] } else { [0, 0] };
            if book.levels.len() != rows || book.levels.iter().any(|row| row.len() != each) {
                return Err(format!("codebook {index} has not as many levels as the first"));
            }
            let rising = |row: &Vec<f64>| row.is_sorted() && row.iter().all(|x| x.is_finite());
            if levels > LEVELS_MOST || !book.levels.iter().all(rising) {
                return Err(format!(
                    "codebook {index} has levels that do not rise, or more than {LEVELS_MOST}"
                ));
            }
        }
        Ok(())
    }
}

/// The dilations that series of a middle length have room for.
fn dilations(middle: usize) -> impl Iterator<Item = u32> {
    let all = (0..).map(|power| 1_u32 << power).take_while(|&one| one <= WIDEST);
    all.take_while(move |&one| one as usize * TAPS < middle)
}

/// The scale of the channels that a codebook hears: as many as two to a power drawn evenly.
fn heard(scale: &[f64], rng: &mut ChaCha8Rng) -> Vec<f64> {
    let all = scale.len();
    let most = ((all + 1) as f64).log2();
    let count = ((rng.random::<f64>() * most).exp2() as usize).clamp(1, all.max(1));
    let mut order: Vec<usize> = (0..all).collect();
    for place in 0..count.min(all) {
        order.swap(place, rng.random_range(place..all));
    }
    let mut heard = vec![0.0; all];
    for &channel in order.iter().take(count) {
        heard[channel] = if scale[channel] > 0.0 { scale[channel].recip() } else { 0.0 };
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

/// What codebooks take on a device goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodebooksSize {
    pub(crate) books: usize,
    /// Samples that they look back.
    pub(crate) depth: usize,
    /// Of each codeword.
    pub(crate) levels: usize,
}

/// A codebook in the numbers of a device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BookIn<T: Coding> {
    pub(crate) dilation: u32,
    /// What channels are multiplied by.
    pub(crate) scale: Vec<T>,
    pub(crate) vectors: CodeVectors,
    /// `[codeword][level]`, one after the other.
    pub(crate) levels: Vec<T::Wide>,
}

/// The last samples, and the codebooks that hear them, at run-time sizes: the core's `Coded` over vectors.
#[derive(Clone, Debug)]
pub(crate) struct CodeRing<T: Coding> {
    books: Vec<BookIn<T>>,
    past: Vec<Vec<T>>,
    place: RingPlace,
}

impl<T: Coding> CodeRing<T> {
    /// Before the first sample.
    pub(crate) fn of(books: Vec<BookIn<T>>) -> Self {
        let channels = books.first().map_or(0, |book| book.scale.len());
        let largest = books.iter().map(|book| book.dilation).max().unwrap_or(0);
        let past = vec![vec![T::BLANK; channels]; largest as usize * TAPS];
        Self { books, past, place: RingPlace::NEW }
    }

    /// Each codebook, and how alike its code vectors are at a sample that has not been taken in yet.
    pub(crate) fn likenesses<'a>(
        &'a self,
        x: &'a [T],
    ) -> impl Iterator<Item = (&'a BookIn<T>, Option<Likeness<T, 1>>)> {
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
        let word = |alike: Likeness<T, 1>| alike.codewords()[0];
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
        self.place = RingPlace::NEW;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    fn wave(length: usize, gain: f64, level: f64) -> Rows {
        let mut rows = Rows::new(2);
        for t in 0..length {
            let x = (0.37 * t as f64).sin();
            rows.push(Some(&[gain * x + level, gain * (x * x) - level]));
        }
        rows
    }

    /// A codeword is that of the sample's own pattern: level and strength do not matter, and each codebook counts
    /// a codeword for every sample that has its eight predecessors.
    #[test]
    fn codewords_know_no_level_and_no_gain() {
        let (plain, other) = (wave(100, 1.0, 0.0), wave(100, 8.0, 32.0));
        let books = Codebooks::draw(&[plain.view()], &[0.7, 0.4], 3).expect("long enough");
        assert_eq!(books.books().len(), 3 * 4, "dilations 1, 2, 4, 8");
        assert_eq!(books.depth(), 64);
        let counts = books.counts(plain.view());
        for (book, counts) in books.books().iter().zip(counts.chunks(CODEWORDS)) {
            assert_eq!(counts.iter().sum::<f64>(), 100.0 - 8.0 * f64::from(book.dilation));
        }
        // Powers of two round nothing but the level: the few ties and near ties may fall elsewhere.
        let moved: f64 =
            books.counts(other.view()).iter().zip(&counts).map(|(a, b)| (a - b).abs()).sum();
        assert!(moved <= 12.0, "{moved}");
        assert_eq!(books, Codebooks::draw(&[plain.view()], &[0.7, 0.4], 3).expect("the same"));
    }

    /// By the definition, against each code vector, but for what rounding leaves open between near ones; and only
    /// once eight taps have come.
    #[test]
    fn a_codeword_is_the_most_alike() {
        let rows = wave(40, 1.0, 0.5);
        let view = rows.view();
        let books = Codebooks::draw(&[view], &[1.0, 1.0], 2).expect("long enough");
        let (mut ring, mut compared) = (CodeRing::<f64>::of(books.in_numbers()), 0);
        for (t, row) in view.iter().enumerate() {
            let x = row.expect("observed");
            for (book, word) in books.books().iter().zip(ring.codewords(x)) {
                let step = book.dilation as usize;
                assert_eq!(word.is_some(), t >= TAPS * step);
                let Some(word) = word else { continue };
                let sum = |t: usize| -> f64 {
                    let row = view.row(t).expect("observed");
                    row.iter().zip(&book.scale).map(|(x, scale)| x * scale).sum()
                };
                let alike: Vec<f64> = (0..CODEWORDS)
                    .map(|word| {
                        let term = |k: usize| {
                            f64::from(book.vectors[k - 1][word]) * (sum(t) - sum(t - k * step))
                        };
                        (1..=TAPS).map(term).sum()
                    })
                    .collect();
                let most = alike.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                assert!(alike[word] >= most - 1e-9, "{t}: {word} of {alike:?}");
                compared += 1;
            }
            ring.take(x);
        }
        // Dilations 1, 2 and 4, two codebooks each.
        assert_eq!(compared, 2 * (32 + 24 + 8));
    }

    /// Side by side as one after the other, gaps at the beginning and within included, whatever the length.
    #[test]
    fn codewords_are_counted_as_a_device_tells_them() {
        let drawn_from = wave(80, 1.0, 0.5);
        let drawn = Codebooks::draw(&[drawn_from.view()], &[1.0, 0.3], 3).expect("long enough");
        let drawn = drawn.with_levels(&[drawn_from.view()], 3);
        drawn.check(2).expect("rising");
        for length in [0, 7, 8, 9, 16, 63, 80] {
            let mut rows = Rows::new(3);
            for (t, row) in wave(length, 2.0, 0.1).view().iter().flatten().enumerate() {
                rows.push((t > 2 && t % 11 != 5).then_some(&[row[0], row[1], 7.0][..]));
            }
            let mut told = vec![0.0; drawn.codewords() * (1 + 3)];
            let mut ring = CodeRing::<f32>::of(drawn.in_numbers());
            for row in rows.view().iter() {
                let Some(row) = row else {
                    ring.take_missing();
                    continue;
                };
                let x = [row[0] as f32, row[1] as f32];
                for (book, (of, alike)) in ring.likenesses(&x).enumerate() {
                    let Some(alike) = alike else { continue };
                    let (words, levels) = told.split_at_mut(drawn.codewords());
                    words[book * CODEWORDS + alike.codewords()[0]] += 1.0;
                    let levels = levels[book * CODEWORDS * 3..].iter_mut().zip(&of.levels);
                    for (place, (told, level)) in levels.enumerate() {
                        *told += f64::from(u8::from(alike.alike()[place / 3][0] > *level));
                    }
                }
                ring.take(&x);
            }
            assert_eq!(drawn.counts(rows.view()), told, "{length}");
            assert_eq!(told.iter().any(|&count| count > 0.0), length > 11);
        }
    }

    /// Each level is as often exceeded in what it was taken from as its share says, and the shares lie evenly.
    #[test]
    fn levels_are_quantiles() {
        let rows = wave(400, 1.0, 0.5);
        let drawn = Codebooks::draw(&[rows.view()], &[1.0, 0.3], 2).expect("long enough");
        let levelled = drawn.clone().with_levels(&[rows.view()], 2);
        assert_eq!((levelled.levels(), drawn.clone().with_levels(&[rows.view()], 0)), (2, drawn));
        let counts = levelled.counts(rows.view());
        let mut shares = Vec::new();
        let levels = counts[levelled.codewords()..].chunks(2 * CODEWORDS);
        for (book, levels) in levelled.books().iter().zip(levels) {
            let windows = 400.0 - 8.0 * f64::from(book.dilation);
            shares.extend(levels.iter().map(|count| count / windows));
        }
        shares.sort_by(f64::total_cmp);
        let count = shares.len() as f64;
        // Samples that are as alike as the level do not exceed it.
        let even = (1..).map(|place| f64::from(place) / count);
        let off = shares.iter().zip(even).map(|(share, even)| (share - even).abs());
        assert!(off.fold(0.0, f64::max) < 0.05, "{shares:?}");
    }

    #[test]
    fn short_and_constant_series_are_no_trouble() {
        assert_eq!(Codebooks::draw(&[wave(8, 1.0, 0.0).view()], &[1.0, 1.0], 2), None);
        let mut still = Rows::new(1);
        (0..20).for_each(|t| still.push((t != 7).then_some(&[3.0][..])));
        let books = Codebooks::draw(&[still.view()], &[0.0], 1).expect("long enough");
        assert_eq!(books.counts(still.view()).iter().sum::<f64>(), 12.0 + 4.0, "dilations 1 and 2");
        books.check(1).expect("valid");
        books.check(2).expect_err("of one channel");
        let levelled = books.with_levels(&[still.view()], 1);
        assert_eq!(levelled.counts(still.view()).iter().sum::<f64>(), 12.0 + 4.0, "never exceeded");
        let spoilt = |change: &dyn Fn(&mut Vec<Vec<f64>>)| {
            let mut books = levelled.clone();
            change(&mut books.books[1].levels);
            books.check(1).expect_err("refused")
        };
        assert!(spoilt(&|levels| levels.clear()).contains("codebook 1 has not as many levels"));
        assert!(spoilt(&|levels| levels[3].push(1.0)).contains("not as many"));
        assert!(spoilt(&|levels| levels[3][0] = f64::NAN).contains("do not rise"));
    }
}
