//! A state's emission as a device holds it: the fields of the core's type, in order.

use std::any::Any;

use fishweir_core::emission::{Probabilities, move_row};
use fishweir_core::number::{Real, RealParameter, Tangent};

use super::{Family, Parts, Shape, Width};

/// A number of a deployed model: its value and its rate of change along each output's direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weight<T = f32> {
    /// Value.
    pub value: T,
    /// `[output]`; empty where the classifier uses no score.
    pub tangent: Vec<T>,
}

impl<T: Copy> Weight<T> {
    /// Calls `put` with each number, in the order of memory.
    pub(crate) fn for_each_real(&self, mut put: impl FnMut(T)) {
        put(self.value);
        self.tangent.iter().copied().for_each(put);
    }
}

/// A field of the core's type: how many numbers of which kind.
#[derive(Clone, Copy, Debug)]
pub struct FieldKind {
    /// Kind of its entries.
    pub content: Content,
    /// Number of its entries.
    pub width: Width,
}

/// Content of the entries of a field.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// Numbers that no direction moves.
    Reals,
    /// Numbers with their rates.
    Weights,
    /// Rates alone.
    Rates,
    /// Distributions of another family.
    Emissions(&'static dyn Family),
}

impl FieldKind {
    /// Creates a field with this number of entries of a kind.
    pub const fn new(content: Content, width: Width) -> Self {
        Self { content, width }
    }

    /// Number of reals in the field, with `directions` directions.
    fn reals(self, shape: Shape, directions: usize) -> usize {
        let each = match self.content {
            Content::Reals => 1,
            Content::Weights => 1 + directions,
            Content::Rates => directions,
            Content::Emissions(family) => reals(family, shape, directions),
        };
        self.width.of(shape) * each
    }
}

/// Reals of one state's emission with `directions` directions.
pub(crate) fn reals(family: &dyn Family, shape: Shape, directions: usize) -> usize {
    family.fields().iter().map(|field| field.reals(shape, directions)).sum()
}

/// The entries of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Field<T = f32> {
    /// Numbers that no direction moves.
    Reals(Vec<T>),
    /// Numbers with their rates.
    Weights(Vec<Weight<T>>),
    /// `[entry][output]`.
    Rates(Vec<Vec<T>>),
    /// Distributions of another family.
    Emissions(Vec<DeployedEmission<T>>),
}

/// The emission of one state.
#[derive(Clone, Debug, PartialEq)]
pub struct DeployedEmission<T = f32> {
    /// Family of the emission.
    pub family: &'static dyn Family,
    /// Sizes of the emission.
    pub shape: Shape,
    /// The fields of the core's type, in order.
    pub fields: Vec<Field<T>>,
}

impl<T> DeployedEmission<T> {
    /// The numbers of a field of [reals](Field::Reals); empty of another.
    pub fn reals(&self, field: usize) -> &[T] {
        match self.fields.get(field) {
            Some(Field::Reals(reals)) => reals,
            _ => &[],
        }
    }

    /// The numbers of a field of [weights](Field::Weights); empty of another.
    pub fn weights(&self, field: usize) -> &[Weight<T>] {
        match self.fields.get(field) {
            Some(Field::Weights(weights)) => weights,
            _ => &[],
        }
    }

    /// The rates of a field of [rates](Field::Rates), `[entry][output]`; empty of another.
    pub fn rates(&self, field: usize) -> &[Vec<T>] {
        match self.fields.get(field) {
            Some(Field::Rates(rates)) => rates,
            _ => &[],
        }
    }

    /// The distributions of a field of [emissions](Field::Emissions); empty of another.
    pub fn emissions(&self, field: usize) -> &[Self] {
        match self.fields.get(field) {
            Some(Field::Emissions(emissions)) => emissions,
            _ => &[],
        }
    }
}

impl<T: Copy> DeployedEmission<T> {
    /// Every number, in the order in which they lie in memory.
    pub(crate) fn for_each_real(&self, put: &mut dyn FnMut(T)) {
        for field in &self.fields {
            match field {
                Field::Reals(reals) => reals.iter().copied().for_each(&mut *put),
                Field::Weights(weights) => {
                    weights.iter().for_each(|weight| weight.for_each_real(&mut *put));
                }
                Field::Rates(rates) => rates.iter().flatten().copied().for_each(&mut *put),
                Field::Emissions(emissions) => {
                    emissions.iter().for_each(|emission| emission.for_each_real(put));
                }
            }
        }
    }
}

impl<T> DeployedEmission<T> {
    /// An emission from its numbers in that order.
    pub(crate) fn read(
        family: &'static dyn Family,
        shape: Shape,
        directions: usize,
        next: &mut dyn FnMut() -> T,
    ) -> Self {
        let fields = family.fields().iter().map(|field| {
            let count = field.width.of(shape);
            let mut reals = |count: usize| (0..count).map(|_| next()).collect::<Vec<T>>();
            match field.content {
                Content::Reals => Field::Reals(reals(count)),
                Content::Rates => Field::Rates((0..count).map(|_| reals(directions)).collect()),
                Content::Weights => Field::Weights(
                    (0..count)
                        .filter_map(|_| {
                            let value = reals(1).pop()?;
                            Some(Weight { value, tangent: reals(directions) })
                        })
                        .collect(),
                ),
                Content::Emissions(family) => Field::Emissions(
                    (0..count).map(|_| Self::read(family, shape, directions, next)).collect(),
                ),
            }
        });
        Self { family, shape, fields: fields.collect() }
    }
}

impl Field<f64> {
    /// Converts to another format; returns itself if that is the same.
    pub(crate) fn into_rounded<T: Real>(self) -> Field<T> {
        let mut field = Some(self);
        if let Some(same) = (&mut field as &mut dyn Any).downcast_mut::<Option<Field<T>>>() {
            return same.take().unwrap_or(Field::Reals(Vec::new()));
        }
        field.as_ref().map_or(Field::Reals(Vec::new()), Self::rounded)
    }

    fn rounded<T: Real>(&self) -> Field<T> {
        let row = |row: &[f64]| {
            let mut rounded = vec![T::ZERO; row.len()];
            for k in 0..row.len() {
                rounded[k] = T::from_f64(row[k]);
            }
            rounded
        };
        match self {
            Self::Reals(reals) => Field::Reals(row(reals)),
            Self::Weights(weights) => Field::Weights(weights.iter().map(Weight::rounded).collect()),
            Self::Rates(rates) => Field::Rates(rates.iter().map(|rates| row(rates)).collect()),
            Self::Emissions(emissions) => {
                Field::Emissions(emissions.iter().map(DeployedEmission::rounded).collect())
            }
        }
    }
}

impl DeployedEmission<f64> {
    fn rounded<T: Real>(&self) -> DeployedEmission<T> {
        let fields = self.fields.iter().map(Field::rounded).collect();
        DeployedEmission { family: self.family, shape: self.shape, fields }
    }
}

impl Weight<f64> {
    pub(crate) fn rounded<T: Real>(&self) -> Weight<T> {
        Weight {
            value: T::from_f64(self.value),
            tangent: self.tangent.iter().copied().map(T::from_f64).collect(),
        }
    }
}

/// A direction's part for the emissions: along the score, or along the logarithms of factors, whose
/// derivatives are expected statistics.
#[derive(Clone, Copy, Debug)]
pub enum Rates<'a> {
    /// Along the score: blocks of [`Family::score`].
    Score(&'a Parts),
    /// Along logarithms of factors: blocks of [`Family::statistics`].
    Statistics(&'a Parts),
}

impl<'a> Rates<'a> {
    /// Numbers of the blocks.
    pub fn parts(self) -> &'a Parts {
        match self {
            Self::Score(parts) | Self::Statistics(parts) => parts,
        }
    }
}

/// The number format that emissions are made for.
#[derive(Clone, Copy, Debug)]
pub struct Precision {
    /// The nearest number of the format.
    pub(crate) round: fn(f64) -> f64,
    /// The least positive number with all its digits.
    smallest: f64,
    /// `true` if a number that the format cannot hold is refused.
    strict: bool,
}

/// A number that the format does not hold, and of which part and channel it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoesNotFit {
    /// The part, in words.
    pub part: &'static str,
    /// The channel.
    pub channel: usize,
    /// The number.
    pub value: f64,
}

impl Precision {
    pub(crate) fn of<T: Real>() -> Self {
        let smallest = T::power_of_two(i32::MIN).to_f64();
        Self { round: |x| T::from_f64(x).to_f64(), smallest, strict: true }
    }

    /// Accepts all numbers as rounded: samples will be refused instead.
    pub(crate) fn lenient(self) -> Self {
        Self { strict: false, ..self }
    }

    /// The nearest number, which must be finite and keep its digits.
    ///
    /// # Errors
    /// [`DoesNotFit`] of a number that overflows or loses its digits, unless the precision is lenient.
    pub fn narrow(
        &self,
        part: &'static str,
        channel: usize,
        value: f64,
    ) -> Result<f64, DoesNotFit> {
        let narrowed = (self.round)(value);
        let lost = !narrowed.is_finite() || (value != 0.0 && narrowed.abs() < self.smallest);
        if lost && self.strict { Err(DoesNotFit { part, channel, value }) } else { Ok(narrowed) }
    }
}

/// Probabilities with their rates of change along directions whose part for this row is given, with
/// whether it weighs statistics: then it is the rates of the probabilities' logarithms.
pub fn weights_along(row: &[f64], along: &[(bool, &[f64])]) -> Vec<Weight<f64>> {
    let rates: Vec<Vec<f64>> = along
        .iter()
        .map(|&(weighs_statistics, part)| {
            if weighs_statistics {
                return row.iter().zip(part).map(|(p, w)| p * w).collect();
            }
            let mut rate = vec![0.0; row.len()];
            move_row(row, part, Probabilities::Softmax, &mut rate);
            rate
        })
        .collect();
    row.iter()
        .enumerate()
        .map(|(k, &value)| Weight { value, tangent: rates.iter().map(|rate| rate[k]).collect() })
        .collect()
}

/// The rates of a block of directions, from the `first` on.
pub fn tangent<T: Real, W: RealParameter<Real = T>>(rates: &[T], first: usize) -> W::Tangent {
    W::Tangent::from_fn(|c| rates.get(first + c).copied().unwrap_or(T::ZERO))
}

/// Returns a weight with a block of its directions; zero for `None`.
pub fn lift<T: Real, W: RealParameter<Real = T>>(weight: Option<&Weight<T>>, first: usize) -> W {
    weight.map_or(W::constant(T::ZERO), |weight| {
        W::new(weight.value, tangent::<T, W>(&weight.tangent, first))
    })
}
