//! Codewords of a whole series, many samples side by side.

use fishweir_core::classify::{CODEWORDS, CodeVectors, Likeness, TAPS};
use multiversion::multiversion;

use super::Codebook;
use crate::data::RowsView;

/// Samples side by side.
const LANES: usize = 8;

/// A series by channels, from its first observed sample on. Where one is missing, the last that was observed stands for
/// it, as in a device's ring.
pub(super) struct Heard {
    /// `[channel][sample]`, with as many zeros at the end as lanes may read beyond.
    channels: Vec<Vec<f32>>,
    observed: Vec<bool>,
}

impl Heard {
    /// The first so many columns of rows.
    pub(super) fn of(rows: RowsView<'_>, channels: usize) -> Self {
        let begun = || rows.iter().skip_while(Option::is_none);
        let channel = |channel: usize| {
            let mut last = 0.0;
            let values = begun().map(|row| {
                last = row.map_or(last, |row| row[channel] as f32);
                last
            });
            values.chain([0.0; LANES]).collect()
        };
        Self {
            channels: (0..channels).map(channel).collect(),
            observed: begun().map(|row| row.is_some()).collect(),
        }
    }

    /// How often each codeword of a codebook occurs: those that [`codeword`](fishweir_core::classify::codeword) tells
    /// sample by sample, by the same arithmetic, where no difference of two samples overflows.
    ///
    /// Cost: `8 c + 64` multiply-adds a sample, of the `c` channels that the codebook hears.
    pub(super) fn counts(&self, book: &Codebook) -> [u32; CODEWORDS] {
        let scale = book.scale.iter().map(|&scale| scale as f32);
        // A channel that is not heard adds a zero.
        let heard = scale.zip(&self.channels).filter(|(scale, _)| *scale != 0.0);
        let heard: Vec<(f32, &[f32])> = heard.map(|(scale, x)| (scale, x.as_slice())).collect();
        let mut counts = [0; CODEWORDS];
        count(book.dilation as usize, &heard, &book.vectors, &self.observed, &mut counts);
        counts
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn count(
    dilation: usize,
    heard: &[(f32, &[f32])],
    vectors: &CodeVectors,
    observed: &[bool],
    counts: &mut [u32; CODEWORDS],
) {
    let reach = dilation * TAPS;
    for (number, observed) in observed.get(reach..).unwrap_or_default().chunks(LANES).enumerate() {
        let at = reach + number * LANES;
        let mut likeness = Likeness::<f32, LANES>::default();
        for (tap, row) in (1..).zip(vectors) {
            let channels = heard.iter().filter_map(|&(scale, x)| {
                let before = x[at - tap * dilation..].first_chunk()?;
                Some((scale, x[at..].first_chunk()?, before))
            });
            likeness.hear(row, channels);
        }
        let words = likeness.codewords().into_iter().zip(observed);
        words.filter(|(_, observed)| **observed).for_each(|(word, _)| counts[word] += 1);
    }
}
