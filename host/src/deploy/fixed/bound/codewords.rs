//! Bound on the effect of codewords that may change, and of levels that may be exceeded or not, on the end of a stream.
//!
//! With a window's samples and tables as they were rounded, which is known, the products of code vectors with
//! differences are off by what the differences drop alone, half of `2^11` each (see the core's
//! [`Coding`](fishweir_core::classify::Coding)):
//!
//! ```text
//! |2^11 alike_w - sum_k v_(k,w) sum_c scale_c (x_c - before_c)| <= 2^10 sum_k |v_(k,w)|
//! ```
//!
//! Whatever was dropped, the codeword is one of those that are within both errors of the largest, and its evidence is
//! off by no more than the farthest of theirs is from that of the exact codeword. So it is of how many levels a likeness
//! exceeds: between those that it exceeds whatever was dropped, and those that it may exceed.

use fishweir_core::classify::{CODEWORDS, CodeVectors, Similarity};

use crate::classifier::{BookIn, CodeRing};
use crate::data::Sample;
use crate::deploy::codebooks::DeployedCodebooks;
use crate::deploy::fixed::codebooks::{FixedCodebooks, LOWERED};
use crate::deploy::past::integers;

/// Bound on the error of the evidence of all codewords, `[output]`; `None` if 16 bits cannot hold a sample.
pub(super) fn bound(
    fixed: &FixedCodebooks,
    exact: &DeployedCodebooks<f64>,
    samples: &[Sample<'_>],
    places: &[i16],
) -> Option<Vec<f64>> {
    let mut ring = CodeRing::<f64>::of(exact.books().in_numbers());
    // What stands for each sample since the first.
    let mut held: Vec<Vec<i16>> = Vec::new();
    let units: Vec<f64> = fixed.units.iter().map(|&unit| f64::from(unit).exp2()).collect();
    let mut bound = vec![0.0; units.len()];
    for sample in samples {
        let Sample::Row(row) = sample else {
            ring.take_missing();
            held.extend(held.last().cloned());
            continue;
        };
        let own = integers(row, places).ok()?;
        let rows = fixed.weighed.by_book().zip(exact.weighed().by_book());
        for ((book, rows), (of_exact, alike)) in
            fixed.books.iter().zip(rows).zip(ring.likenesses(row))
        {
            let Some(alike) = alike else { continue };
            let before = |tap: usize| held.get(held.len() - tap * book.dilation as usize);
            let heard = ResponseBounds::of(&own, before, &book.scale, &book.vectors)?;
            for (output, (bound, unit)) in bound.iter_mut().zip(&units).enumerate() {
                *bound += of_book(rows, output, *unit, (book, of_exact), &heard, &alike);
            }
        }
        ring.take(row);
        held.push(own);
    }
    Some(bound)
}

/// Levels of each codeword, and the rows of weights for having exceeded one, two, ... of them.
fn steps<'a, L, W>(levels: &'a [L], above: &'a [W]) -> impl Iterator<Item = (&'a [L], &'a [W])> {
    let each = (levels.len() / CODEWORDS).max(1);
    levels.chunks(each).zip(above.chunks(each))
}

/// The rows of a codebook: those of its codewords, and those of its levels.
type Rows<'a, T> = (&'a [Vec<T>], &'a [Vec<T>]);

/// Bound on the error of a codebook's evidence for an output at a sample, from the exact likenesses.
fn of_book(
    ((found, found_above), (wanted, wanted_above)): (Rows<'_, i16>, Rows<'_, f64>),
    output: usize,
    unit: f64,
    (book, exact): (&BookIn<i16>, &BookIn<f64>),
    heard: &ResponseBounds,
    alike: &Similarity<f64, 1>,
) -> f64 {
    let off = |found: Option<&Vec<i16>>, wanted: Option<&Vec<f64>>| {
        let found = found.map_or(0.0, |row| f64::from(row[output]) * unit);
        (found - wanted.map_or(0.0, |row| row[output])).abs()
    };
    let [word] = alike.codewords();
    let words = (0..CODEWORDS).filter(|&word| heard.may_be_nearest(word));
    let of_words = words.map(|other| off(found.get(other), wanted.get(word))).fold(0.0, f64::max);
    let found = steps(&book.levels, found_above);
    let of_levels = found.zip(steps(&exact.levels, wanted_above)).zip(alike.alike()).enumerate();
    let of_levels = of_levels.map(|(word, (((levels, found), (exact, wanted)), [alike]))| {
        let right = exact.iter().filter(|level| alike > *level).count();
        let row = |count: usize| count.checked_sub(1);
        let wanted = row(right).and_then(|step| wanted.get(step));
        let [least, most] = heard.exceeded(word, levels);
        let counts = (least..=most).map(|count| row(count).and_then(|step| found.get(step)));
        counts.map(|found| off(found, wanted)).fold(0.0, f64::max)
    });
    of_words + of_levels.sum::<f64>()
}

/// Likenesses before anything is dropped, and how far that may move them, `[codeword]`.
struct ResponseBounds {
    alike: [i64; CODEWORDS],
    off: [i64; CODEWORDS],
}

impl ResponseBounds {
    fn of<'a>(
        x: &[i16],
        before: impl Fn(usize) -> Option<&'a Vec<i16>>,
        scale: &[i16],
        vectors: &CodeVectors,
    ) -> Option<Self> {
        let (mut alike, mut off) = ([0_i64; CODEWORDS], [0_i64; CODEWORDS]);
        for (tap, row) in vectors.iter().enumerate() {
            let before = before(tap + 1)?;
            let channels = x.iter().zip(before).zip(scale);
            let y: i64 = channels
                .map(|((&x, &before), &scale)| {
                    i64::from(scale) * (i64::from(x) - i64::from(before))
                })
                .sum();
            for ((alike, off), &v) in alike.iter_mut().zip(&mut off).zip(row) {
                *alike += i64::from(v) * y;
                *off += i64::from(v).abs() << 10;
            }
        }
        Some(Self { alike, off })
    }

    /// Returns whether a codeword may be the nearest, whatever rounding drops.
    fn may_be_nearest(&self, word: usize) -> bool {
        let least = self.alike.iter().zip(&self.off).map(|(alike, off)| alike - off).max();
        least.is_some_and(|least| self.alike[word] + self.off[word] >= least)
    }

    /// Least and largest number of levels that a codeword's likeness exceeds, whatever rounding drops.
    fn exceeded(&self, word: usize, levels: &[i32]) -> [usize; 2] {
        [-self.off[word], self.off[word]].map(|off| {
            let alike = (self.alike[word] + off) as f64 / LOWERED;
            levels.iter().filter(|&&level| alike > f64::from(level)).count()
        })
    }
}
