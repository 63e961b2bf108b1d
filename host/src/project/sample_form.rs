//! Samples as values of the core, in the text of a Rust source.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::classifier::Observations;
use crate::data::{Rows, Sample, Samples, Values};
use crate::deploy::FixedPoint;

/// Type of a number in the core.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reals,
    Counts,
    Answers,
    Symbols,
    /// Channels in fixed point.
    Integers,
}

/// How a model's samples are written.
pub(super) struct SampleForm<'a> {
    kind: Kind,
    /// Channels, or symbols of the alphabet.
    size: usize,
    /// `true` if channels may be missing while others are present.
    in_part: bool,
    fixed: Option<&'a FixedPoint>,
}

impl<'a> SampleForm<'a> {
    /// The form of a model's observations; `fixed` is the model if it is in fixed point.
    pub(super) fn new(
        observations: &Observations,
        values: Values,
        in_part: bool,
        fixed: Option<&'a FixedPoint>,
    ) -> Self {
        let kind = match (observations, values) {
            (Observations::Symbols(_), _) => Kind::Symbols,
            _ if fixed.is_some() => Kind::Integers,
            (_, Values::Reals) => Kind::Reals,
            (_, Values::Only(support)) if (support.holds)(2.0) => Kind::Counts,
            _ => Kind::Answers,
        };
        Self { kind, size: observations.size(), in_part, fixed }
    }

    /// Rust's name of the type of a sample.
    pub(super) fn type_name(&self) -> String {
        let number = match self.kind {
            Kind::Reals => "f32",
            Kind::Counts => "u32",
            Kind::Answers => "bool",
            Kind::Symbols => return "usize".into(),
            Kind::Integers => "i16",
        };
        let size = self.size;
        match self.in_part {
            true => format!("[Option<{number}>; {size}]"),
            false => format!("[{number}; {size}]"),
        }
    }

    /// Bytes of an optional sample, at the most.
    pub(super) fn bytes(&self) -> usize {
        match (self.kind, self.in_part) {
            (Kind::Symbols, _) => 8,
            (Kind::Integers, true) => 4 * self.size,
            (Kind::Integers, false) => (2 + 2 * self.size).next_multiple_of(4),
            (_, true) => 8 * self.size,
            (_, false) => 4 + 4 * self.size,
        }
    }

    /// A sample as the stream takes it: one that lacks a channel is missing, unless channels may be.
    pub(super) fn taken<'s>(&self, sample: Sample<'s>) -> Sample<'s> {
        if self.in_part { sample } else { sample.if_whole() }
    }

    /// The text of an optional sample.
    pub(super) fn text(&self, sample: Sample<'_>) -> String {
        let text = match self.taken(sample) {
            Sample::Row(row) => self.row(row),
            Sample::Symbol(symbol) => Some(symbol.to_string()),
            Sample::Missing => None,
        };
        text.map_or_else(|| "None".into(), |text| format!("Some({text})"))
    }

    /// A row as a value, or nothing where integers of 16 bits do not hold it.
    fn row(&self, row: &[f64]) -> Option<String> {
        if let Some(fixed) = self.fixed {
            let row = fixed.integers(row).ok()?;
            if self.in_part {
                return Some(format!("{row:?}"));
            }
            return row.into_iter().collect::<Option<Vec<i16>>>().map(|row| format!("{row:?}"));
        }
        let number = |x: &f64| {
            let number = match self.kind {
                _ if x.is_nan() => return "None".to_owned(),
                Kind::Counts => format!("{}", *x as u32),
                Kind::Answers => format!("{}", *x != 0.0),
                _ => format!("{:?}", *x as f32),
            };
            if self.in_part { format!("Some({number})") } else { number }
        };
        Some(format!("[{}]", row.iter().map(number).collect::<Vec<_>>().join(", ")))
    }

    /// Two streams of noise of this kind, for want of recordings.
    pub(super) fn noise(&self, length: usize) -> Vec<Samples> {
        let random = &mut ChaCha8Rng::seed_from_u64(1);
        let number = |random: &mut ChaCha8Rng| match self.kind {
            Kind::Counts => f64::from(random.random_range(0..5_u8)),
            Kind::Answers => f64::from(random.random_range(0..2_u8)),
            _ => random.random_range(-2.0..2.0),
        };
        let stream = |_| match self.kind {
            Kind::Symbols => Samples::Symbols(
                (0..length)
                    .map(|_| Some(random.random_range(0..self.size.max(1)) as u16))
                    .collect(),
            ),
            _ => {
                let mut rows = Rows::new(self.size);
                for _ in 0..length {
                    let row: Vec<f64> = (0..self.size).map(|_| number(random)).collect();
                    rows.push(Some(&row));
                }
                Samples::Channels(rows)
            }
        };
        (0..2).map(stream).collect()
    }
}
