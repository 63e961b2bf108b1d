//! Codewords that may fall otherwise, and what that may do to the end of a stream.
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
//! off by no more than the farthest of theirs is from that of the exact codeword.

use fishweir_core::classify::{CODEWORDS, CodeVectors};

use crate::classifier::CodeRing;
use crate::data::Sample;
use crate::deploy::codebooks::DeployedCodebooks;
use crate::deploy::fixed::codebooks::FixedCodebooks;
use crate::deploy::fixed::integers;

/// How far the evidence of all codewords may be off, `[output]`; `None` where 16 bits do not hold a sample.
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
        let weights = fixed.weights.chunks(CODEWORDS).zip(exact.weights().chunks(CODEWORDS));
        let books = fixed.books.iter().zip(weights).zip(ring.codewords(row));
        for (((dilation, scale, vectors), (found, wanted)), word) in books {
            let Some(word) = word else { continue };
            let before = |tap: usize| held.get(held.len() - tap * *dilation as usize);
            let possible = possible(&own, before, scale, vectors)?;
            for (output, (bound, unit)) in bound.iter_mut().zip(&units).enumerate() {
                let of_word = |weights: &Vec<i16>| {
                    (f64::from(weights[output]) * unit - wanted[word][output]).abs()
                };
                let words = found.iter().zip(possible).filter(|(_, possible)| *possible);
                *bound += words.map(|(weights, _)| of_word(weights)).fold(0.0, f64::max);
            }
        }
        ring.take(row);
        held.push(own);
    }
    Some(bound)
}

/// Which codewords may be heard, whatever is dropped.
fn possible<'a>(
    x: &[i16],
    before: impl Fn(usize) -> Option<&'a Vec<i16>>,
    scale: &[i16],
    vectors: &CodeVectors,
) -> Option<[bool; CODEWORDS]> {
    let (mut alike, mut off) = ([0_i64; CODEWORDS], [0_i64; CODEWORDS]);
    for (tap, row) in vectors.iter().enumerate() {
        let before = before(tap + 1)?;
        let channels = x.iter().zip(before).zip(scale);
        let y: i64 = channels
            .map(|((&x, &before), &scale)| i64::from(scale) * (i64::from(x) - i64::from(before)))
            .sum();
        for ((alike, off), &v) in alike.iter_mut().zip(&mut off).zip(row) {
            *alike += i64::from(v) * y;
            *off += i64::from(v).abs() << 10;
        }
    }
    let least = alike.iter().zip(&off).map(|(alike, off)| alike - off).max()?;
    Some(std::array::from_fn(|word| alike[word] + off[word] >= least))
}
