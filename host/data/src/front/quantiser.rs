//! A vector quantiser: words of which the nearest is a sample's symbol, and how they are learnt.

use std::fmt;

use fishweir_core::front::nearest_word;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::units::centre_and_spread;

/// Largest number of rows that words are learnt from, evenly spaced: a pass over them is `2 K D` multiply-adds per row.
const ROWS: usize = 20_000;
/// Largest number of passes.
const PASSES: usize = 100;

/// The words of a [`Stage::Words`](super::Stage::Words), in `f32`: see the core's
/// [`VectorQuantiser`](fishweir_core::front::VectorQuantiser).
#[derive(Clone, Debug, PartialEq)]
pub struct VectorQuantiser {
    /// Weight of a channel's squared difference, `[channel]`.
    weights: Vec<f32>,
    /// `[symbol][channel]`.
    words: Vec<Vec<f32>>,
}

impl VectorQuantiser {
    /// The fewest words, and the most.
    pub const WORDS: std::ops::RangeInclusive<usize> = 2..=64;
    /// Names of the symbols, in order.
    pub const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    /// Words, `[symbol][channel]`, and what a channel's squared difference weighs; `None` where they are not of the same
    /// channels, weights not above zero, numbers not finite, or words too few or too many.
    #[must_use]
    pub fn new(weights: Vec<f32>, words: Vec<Vec<f32>>) -> Option<Self> {
        let sound = Self::WORDS.contains(&words.len())
            && !weights.is_empty()
            && weights.iter().all(|w| w.is_finite() && *w > 0.0)
            && words.iter().all(|row| row.len() == weights.len())
            && words.iter().flatten().all(|c| c.is_finite());
        sound.then_some(Self { weights, words })
    }

    /// Placeholder for `words` words of `channels` channels, before they are learnt.
    pub fn blank(words: usize, channels: usize) -> Self {
        Self { weights: vec![1.0; channels], words: vec![vec![0.0; channels]; words] }
    }

    /// Weight of a channel's squared difference, `[channel]`.
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The words, `[symbol][channel]`.
    #[must_use]
    pub fn words(&self) -> &[Vec<f32>] {
        &self.words
    }

    /// Learns `K` words from rows: those that `k`-means finds, channels weighed by the inverse of their variance.
    ///
    /// ```text
    /// minimise over c   sum over rows x of   min over k of   sum over d of ( x_d - c_kd )^2 / s_d^2
    /// ```
    ///
    /// The first words are rows drawn by their distance to those drawn before; then, in passes, each word is the mean of the
    /// rows that are nearest to it, and one that is nearest to none becomes the row that is farthest from its own. It
    /// ends where no row changes its word. Equal seeds give equal words.
    ///
    /// Cost: `2 K D` multiply-adds per row, of 20 000 rows at most, and pass, of 100 at most.
    ///
    /// Source: Y. Linde, A. Buzo, R. M. Gray, An Algorithm for Vector Quantizer Design (1980); the first words: D. Arthur,
    /// S. Vassilvitskii, k-means++: The Advantages of Careful Seeding (2007).
    ///
    /// # Errors
    /// How many different rows there are, where these are fewer than words.
    pub fn learn(rows: &[Vec<f64>], words: usize, seed: u64) -> Result<Self, usize> {
        let dimension = rows.first().map_or(0, Vec::len);
        let (_, spread) = centre_and_spread(dimension, || rows.iter().map(Vec::as_slice));
        // A channel that never moves parts no words.
        let weight =
            |s: f64| if s > 0.0 { ((s * s).recip() as f32).clamp(1e-30, 1e30) } else { 1.0 };
        let weights: Vec<f32> = spread.into_iter().map(weight).collect();
        let scale: Vec<f64> = weights.iter().map(|&w| w.into()).collect();
        let every = rows.len().div_ceil(ROWS).max(1);
        let rows: Vec<&[f64]> = rows.iter().step_by(every).map(Vec::as_slice).collect();
        let mut made = first_words(&scale, &rows, words, seed)?;
        let mut nearest = vec![usize::MAX; rows.len()];
        for _ in 0..PASSES {
            let mut changed = false;
            for (row, own) in rows.iter().zip(&mut nearest) {
                let word = nearest_word(&scale, made.iter().map(Vec::as_slice), row).unwrap_or(0);
                changed |= word != *own;
                *own = word;
            }
            if !changed {
                break;
            }
            move_words(&scale, &rows, &mut nearest, &mut made);
        }
        let rounded = |row: &Vec<f64>| row.iter().map(|&c| c as f32).collect();
        Ok(Self { weights, words: made.iter().map(rounded).collect() })
    }

    /// Parses the text that is displayed.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let row =
            |text: &str| text.split('/').map(str::parse).collect::<Result<Vec<f32>, _>>().ok();
        let mut rows = text.split(';').map(row).collect::<Option<Vec<_>>>()?.into_iter();
        Self::new(rows.next()?, rows.collect())
    }
}

/// Numbers parted by `/`, the weights and each word by `;`: they read back to the same bits.
impl fmt::Display for VectorQuantiser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (row, numbers) in std::iter::once(&self.weights).chain(&self.words).enumerate() {
            for (entry, number) in numbers.iter().enumerate() {
                let before = match (row, entry) {
                    (0, 0) => "",
                    (_, 0) => ";",
                    _ => "/",
                };
                write!(f, "{before}{number:?}")?;
            }
        }
        Ok(())
    }
}

fn distance(scale: &[f64], a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).zip(scale).map(|((a, b), w)| w * (a - b) * (a - b)).sum()
}

/// Rows that differ, each drawn with a chance as its squared distance to the nearest of those before.
fn first_words(
    scale: &[f64],
    rows: &[&[f64]],
    words: usize,
    seed: u64,
) -> Result<Vec<Vec<f64>>, usize> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let mut made: Vec<Vec<f64>> = Vec::new();
    let mut far = vec![f64::INFINITY; rows.len()];
    while made.len() < words {
        let next = if made.is_empty() {
            if rows.is_empty() { None } else { Some(random.random_range(0..rows.len())) }
        } else {
            let all: f64 = far.iter().sum();
            let mut left = random.random_range(0.0..1.0) * all;
            // What rounding leaves over falls to the last that is apart.
            let last = far.iter().rposition(|&far| far > 0.0);
            let drawn = far.iter().position(|&far| {
                left -= far;
                far > 0.0 && left < 0.0
            });
            drawn.or(last)
        };
        let Some(next) = next else { return Err(made.len()) };
        made.push(rows[next].to_vec());
        let nearer =
            |(far, row): (&mut f64, &&[f64])| *far = far.min(distance(scale, row, rows[next]));
        far.iter_mut().zip(rows).for_each(nearer);
    }
    Ok(made)
}

/// Each word to the mean of its rows; one without any to the row that is farthest from its own.
fn move_words(scale: &[f64], rows: &[&[f64]], nearest: &mut [usize], words: &mut [Vec<f64>]) {
    let mut counts = vec![0_usize; words.len()];
    let mut sums = vec![vec![0.0; scale.len()]; words.len()];
    for (row, &word) in rows.iter().zip(nearest.iter()) {
        counts[word] += 1;
        sums[word].iter_mut().zip(*row).for_each(|(sum, x)| *sum += x);
    }
    for ((word, sum), &count) in words.iter_mut().zip(&sums).zip(&counts) {
        if count > 0 {
            word.iter_mut().zip(sum).for_each(|(c, sum)| *c = sum / count as f64);
        }
    }
    for empty in (0..words.len()).filter(|&word| counts[word] == 0) {
        let far = |row: usize| distance(scale, rows[row], &words[nearest[row]]);
        let farthest = (0..rows.len()).max_by(|&a, &b| far(a).total_cmp(&far(b)));
        if let Some(row) = farthest {
            words[empty] = rows[row].to_vec();
            nearest[row] = empty;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four clouds of an uneven number of rows, channels of very different units.
    fn clouds() -> Vec<Vec<f64>> {
        let cloud = |n: usize| {
            let (x, y) = [(0.0, 0.0), (0.0, 5_000.0), (8.0, 0.0), (8.0, 5_000.0)][n % 7 % 4];
            let noise = |by: usize| ((n * by) % 101) as f64 / 101.0 - 0.5;
            vec![100.0 + x + noise(37), y + 400.0 * noise(61)]
        };
        (0..700).map(cloud).collect()
    }

    #[test]
    fn words_are_where_rows_are() {
        let rows = clouds();
        for seed in 0..8 {
            let quantiser = VectorQuantiser::learn(&rows, 4, seed).expect("enough");
            assert_eq!(quantiser, VectorQuantiser::learn(&rows, 4, seed).expect("enough"));
            let mut words = quantiser.words().to_vec();
            words.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
            // Those of the lower and the higher cloud are sorted by their first channel, which is near the same.
            let near = |x: f32, y: f32| {
                words.iter().any(|c| (c[0] - x).abs() < 0.3 && (c[1] - y).abs() < 120.0)
            };
            for (x, y) in [(100.0, 0.0), (100.0, 5_000.0), (108.0, 0.0), (108.0, 5_000.0)] {
                assert!(near(x, y), "seed {seed}: {words:?}");
            }
        }
    }

    /// Passes never make the rows' distances larger, and every word has a row.
    #[test]
    fn every_word_is_the_nearest_of_some_row() {
        let rows = clouds();
        let spread = |quantiser: &VectorQuantiser| -> (f64, usize) {
            let scale: Vec<f64> = quantiser.weights().iter().map(|&w| w.into()).collect();
            let words: Vec<Vec<f64>> = quantiser
                .words()
                .iter()
                .map(|row| row.iter().map(|&c| c.into()).collect())
                .collect();
            let mut used = vec![false; words.len()];
            let mut all = 0.0;
            for row in &rows {
                let word =
                    nearest_word(&scale, words.iter().map(Vec::as_slice), row).expect("finite");
                used[word] = true;
                all += distance(&scale, row, &words[word]);
            }
            (all, used.into_iter().filter(|used| *used).count())
        };
        let mut last = f64::INFINITY;
        for words in [2, 4, 8, 16, 64] {
            let (all, used) = spread(&VectorQuantiser::learn(&rows, words, 1).expect("enough"));
            assert_eq!(used, words);
            assert!(all < last, "{words} words: {all} after {last}");
            last = all;
        }
    }

    #[test]
    fn too_few_different_rows_are_counted() {
        let rows: Vec<Vec<f64>> = (0..30).map(|n| vec![f64::from(n % 3), 1.0]).collect();
        assert_eq!(VectorQuantiser::learn(&rows, 4, 1), Err(3));
        assert_eq!(VectorQuantiser::learn(&[], 4, 1), Err(0));
        let three = VectorQuantiser::learn(&rows, 3, 1).expect("three");
        assert_eq!(three.weights()[1], 1.0);
    }

    #[test]
    fn words_read_back_to_the_same_bits() {
        let quantiser = VectorQuantiser::learn(&clouds(), 5, 3).expect("enough");
        assert_eq!(VectorQuantiser::parse(&quantiser.to_string()), Some(quantiser));
        for bad in
            ["1", "1;2", "0;1;2", "-1;1;2", "1/1;1;2", "1;1;NaN", "1;1;inf", "1;1;", ";1;2", "x"]
        {
            assert_eq!(VectorQuantiser::parse(bad), None, "{bad}");
        }
        assert!(VectorQuantiser::LETTERS.len() == *VectorQuantiser::WORDS.end());
    }
}
