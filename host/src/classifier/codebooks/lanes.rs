//! Counts of codebooks over a whole series, many samples side by side.

use fishweir_core::classify::{CODEWORDS, CodeVectors, Similarity, TAPS};
use multiversion::multiversion;

use super::Codebook;
use crate::data::RowsView;

/// Samples side by side.
const LANES: usize = 8;

/// A series by channels, from its first observed sample on. Where one is missing, the last that was observed stands for
/// it, as in a device's ring.
pub(super) struct FilledSeries {
    /// `[channel][sample]`, with as many zeros at the end as lanes may read beyond.
    channels: Vec<Vec<f32>>,
    observed: Vec<bool>,
}

impl FilledSeries {
    /// Takes the first `channels` columns of rows.
    pub(super) fn of(rows: RowsView<'_>, channels: usize) -> Self {
        let begun = || rows.iter().skip_while(Option::is_none);
        let channel = |channel: usize| {
            let mut last = 0.0;
            let mut values = Vec::with_capacity(rows.len() + LANES);
            for row in begun() {
                last = row.map_or(last, |row| row[channel] as f32);
                values.push(last);
            }
            values.extend_from_slice(&[0.0; LANES]);
            values
        };
        Self {
            channels: (0..channels).map(channel).collect(),
            observed: begun().map(|row| row.is_some()).collect(),
        }
    }

    /// Factors of a codebook and the channels they multiply; channels that it does not read would add zero.
    fn of_book(&self, book: &Codebook) -> Vec<(f32, &[f32])> {
        let scale = book.scale.iter().map(|&scale| scale as f32);
        let heard = scale.zip(&self.channels).filter(|(scale, _)| *scale != 0.0);
        heard.map(|(scale, x)| (scale, x.as_slice())).collect()
    }

    /// Adds how often each codeword of a codebook occurs, and its likeness exceeds each of its levels, `[codeword][level]`:
    /// what [`likeness`](fishweir_core::classify::likeness) tells sample by sample, by the same arithmetic, where no
    /// difference of two samples overflows.
    ///
    /// Cost: `8 c + 64` multiply-adds per sample, of the `c` channels that the codebook hears, and as many comparisons as there
    /// are levels.
    pub(super) fn count(&self, book: &Codebook, words: &mut [f64], above: &mut [f64]) {
        let levels: Vec<f32> = book.levels.iter().flatten().map(|&level| level as f32).collect();
        let mut exceeded = vec![0; levels.len()];
        let mut counts = [0; CODEWORDS];
        count(
            book.dilation as usize,
            &self.of_book(book),
            &book.vectors,
            &self.observed,
            (&mut counts, &levels, &mut exceeded),
        );
        words.iter_mut().zip(counts).for_each(|(word, count)| *word += f64::from(count));
        above.iter_mut().zip(exceeded).for_each(|(above, count)| *above += f64::from(count));
    }

    /// Adds the likenesses of each codeword of a codebook to others of it.
    pub(super) fn pool(&self, book: &Codebook, pooled: &mut [Vec<f32>; CODEWORDS]) {
        let heard = self.of_book(book);
        pool(book.dilation as usize, &heard, &book.vectors, &self.observed, pooled);
    }
}

/// Computes the likenesses of several samples together, and which of these are observed.
#[inline(always)]
fn hear<'a>(
    dilation: usize,
    heard: &[(f32, &'a [f32])],
    vectors: &CodeVectors,
    observed: &[bool],
    mut tell: impl FnMut(&Similarity<f32, LANES>, &[bool]),
) {
    let reach = dilation * TAPS;
    for (number, observed) in observed.get(reach..).unwrap_or_default().chunks(LANES).enumerate() {
        let at = reach + number * LANES;
        let mut likeness = Similarity::<f32, LANES>::default();
        for (tap, row) in (1..).zip(vectors) {
            // As many zeros lie past a channel's end as lanes read beyond it.
            let lanes = |x: &'a [f32], from: usize| {
                let lanes = x[from..].first_chunk();
                lanes.unwrap_or_else(|| unreachable!("lanes past the end"))
            };
            likeness.accumulate(row, heard.len(), |d| {
                let (scale, x) = heard[d];
                (scale, lanes(x, at), lanes(x, at - tap * dilation))
            });
        }
        tell(&likeness, observed);
    }
}

/// Codewords that occur, and of levels how often each is exceeded.
type Counts<'a> = (&'a mut [u32; CODEWORDS], &'a [f32], &'a mut [u32]);

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn count(
    dilation: usize,
    heard: &[(f32, &[f32])],
    vectors: &CodeVectors,
    observed: &[bool],
    (counts, levels, exceeded): Counts<'_>,
) {
    let each = (levels.len() / CODEWORDS).max(1);
    hear(dilation, heard, vectors, observed, |likeness, observed| {
        let (words, mut there) = (likeness.codewords(), [0; LANES]);
        for lane in 0..observed.len().min(LANES) {
            there[lane] = u32::from(observed[lane]);
            counts[words[lane]] += there[lane];
        }
        for word in 0..CODEWORDS.min(levels.len() / each) {
            let (levels, alike) = (&levels[word * each..][..each], &likeness.alike()[word]);
            let exceeded = &mut exceeded[word * each..][..each];
            for level in 0..each {
                let mut count = 0;
                for lane in 0..LANES {
                    count += u32::from(alike[lane] > levels[level]) & there[lane];
                }
                exceeded[level] += count;
            }
        }
    });
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn pool(
    dilation: usize,
    heard: &[(f32, &[f32])],
    vectors: &CodeVectors,
    observed: &[bool],
    pooled: &mut [Vec<f32>; CODEWORDS],
) {
    hear(dilation, heard, vectors, observed, |likeness, observed| {
        let whole = observed.len() == LANES && !observed.contains(&false);
        for word in 0..CODEWORDS {
            let alike = &likeness.alike()[word];
            if whole {
                pooled[word].extend_from_slice(alike);
                continue;
            }
            for lane in 0..observed.len().min(LANES) {
                if observed[lane] {
                    pooled[word].push(alike[lane]);
                }
            }
        }
    });
}
