//! Codebooks in integers: their numbers, and their agreement with those in `f64`.

use fishweir_core::classify::Coding;
use serde::Serialize;

use super::error::QuantiseError;
use crate::classifier::{BookIn, CodeRing, CodebooksSize};
use crate::data::Sample;
use crate::deploy::codebooks::{CodeStream, DeployedCodebooks, Weighed, with_codebooks};
use crate::deploy::past::integers;
use crate::elementary::Elementary;

/// Codewords of the samples of all windows, of each codebook that has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Codewords {
    /// Number that are the same in fixed point as in `f64`.
    pub equal: u64,
    /// All.
    pub all: u64,
}

/// Divisor of likenesses in integers: see the core's [`Coding`].
pub(super) const LOWERED: f64 = 2048.0;

/// Codebooks, and the weights of their codewords: the fields of the core's `Codebooks` over `i16`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FixedCodebooks {
    pub(crate) books: Vec<BookIn<i16>>,
    pub(crate) weighed: Weighed<i16>,
    /// Exponents of the weights' units, `[output]`.
    pub(crate) units: Vec<i16>,
}

impl FixedCodebooks {
    /// Rounds codebooks to units of channels with `places` binary places.
    ///
    /// A codeword does not depend on a common factor of all channels: each codebook takes as large a factor as the core's
    /// arithmetic [allows for](Coding). Its levels are in the same units, rounded down, which changes no comparison of integers
    /// with them. Weights of codewords and levels for an output are rounded to sixteen bits of the largest of them.
    pub(super) fn of(
        codebooks: &DeployedCodebooks<f64>,
        places: &[i16],
    ) -> Result<Self, QuantiseError> {
        let books = codebooks.books().books().iter().map(|book| {
            let of_units = book.scale.iter().zip(places);
            let of_units: Vec<f64> =
                of_units.map(|(scale, &places)| scale * f64::from(-places).exp2()).collect();
            let all: f64 = of_units.iter().map(|scale| scale.abs()).sum();
            // Less what rounding may add.
            let room = f64::from(i16::MAX) - of_units.len() as f64 / 2.0;
            let factor = if all > 0.0 { room.max(0.0) / all } else { 0.0 };
            let scale = of_units.iter().map(|scale| (scale * factor).round() as i16).collect();
            let levels = book.levels.iter().flatten();
            let levels = levels.map(|level| (level * factor / LOWERED).floor() as i32).collect();
            BookIn { dilation: book.dilation, scale, vectors: book.vectors, levels }
        });
        let exact = codebooks.weighed();
        let unit = |output: usize| {
            let largest = exact.rows().map(|weights| weights[output].abs()).fold(0.0, f64::max);
            let unit = if largest > 0.0 {
                (largest / f64::from(i16::MAX)).portable_log2().ceil()
            } else {
                0.0
            };
            // Past sixteen bits the cast would be another number, which is no unit either.
            let unit = unit.clamp(f64::from(i16::MIN), f64::from(i16::MAX)) as i16;
            i16::is_unit(unit).then_some(unit).ok_or(QuantiseError::Output(output))
        };
        let units: Vec<i16> = (0..exact.outputs()).map(unit).collect::<Result<_, _>>()?;
        let weighed = exact.map(|weights| {
            let rounded = weights
                .iter()
                .zip(&units)
                .map(|(weight, &unit)| (weight * f64::from(-unit).exp2()).round() as i16);
            rounded.collect()
        });
        Ok(Self { books: books.collect(), weighed, units })
    }

    /// State before the first sample of a stream.
    pub(super) fn stream(&self) -> CodeStream<i16> {
        CodeStream::new(self.books.clone(), &self.weighed, self.units.clone())
    }

    /// Sizes that determine the cost on a device.
    pub(super) fn size(&self) -> CodebooksSize {
        CodebooksSize::of(&self.books)
    }

    /// Adds the codebooks to a source.
    pub(super) fn beside(&self, text: &str) -> String {
        with_codebooks(text, "i16", (&self.books, &self.weighed), Some(&self.units))
    }

    /// The codewords that samples have, against those in `f64`.
    pub(super) fn equal_codewords(
        &self,
        exact: &DeployedCodebooks<f64>,
        samples: &[Sample<'_>],
        places: &[i16],
    ) -> Codewords {
        let mut exact = CodeRing::<f64>::of(exact.books().in_numbers());
        let mut fixed = CodeRing::of(self.books.clone());
        let mut count = Codewords::default();
        for sample in samples {
            let integers = match sample {
                Sample::Row(row) => integers(row, places).ok().map(|own| (*row, own)),
                _ => None,
            };
            let Some((row, integers)) = integers else {
                exact.take_missing();
                fixed.take_missing();
                continue;
            };
            for (exact, fixed) in exact.codewords(row).zip(fixed.codewords(&integers)) {
                count.equal += u64::from(exact.is_some() && exact == fixed);
                count.all += u64::from(exact.is_some());
            }
            exact.take(row);
            fixed.take(&integers);
        }
        count
    }
}
