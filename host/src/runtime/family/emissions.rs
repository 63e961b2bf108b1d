//! The emissions of a model, and the part that a direction has for them.

use std::fmt;

use fishweir_core::number::Real;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::parts::Reading;
use super::{
    Block, DeployedEmission, DoesNotFit, Family, Field, Observed, Parts, Precision, Rates, Shape,
    known,
};

/// The emission distributions of a model, all of one family.
#[derive(Clone, Debug, PartialEq)]
pub struct Emissions {
    family: &'static dyn Family,
    parts: Parts,
}

impl Emissions {
    /// Distributions from the blocks of their parameters, in the family's order: `[block][state][entry]`.
    pub fn new(
        family: &'static dyn Family,
        parts: impl IntoIterator<Item = Vec<Vec<f64>>>,
    ) -> Self {
        Self { family, parts: Parts::new(family.parts(), parts) }
    }

    /// Categorical: probabilities, `[state][symbol]`.
    pub fn categorical(probability: Vec<Vec<f64>>) -> Self {
        Self::new(&super::categorical::Categorical, [probability])
    }

    /// Gaussian with diagonal covariance: means and standard deviations, `[state][channel]`.
    pub fn gaussian(mean: Vec<Vec<f64>>, std: Vec<Vec<f64>>) -> Self {
        Self::new(&super::gaussian::Gaussian, [mean, std])
    }

    /// The family.
    pub fn family(&self) -> &'static dyn Family {
        self.family
    }

    /// The parameters.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The parameters, to be changed; the model is to be validated then.
    pub fn parts_mut(&mut self) -> &mut Parts {
        &mut self.parts
    }

    /// A block of the parameters by name, `[state][entry]`: `probability`, `mean`, `std`, ...
    pub fn part(&self, name: &str) -> Option<&[Vec<f64>]> {
        self.parts.get(name)
    }

    /// Borrows a part to change it.
    pub fn part_mut(&mut self, name: &str) -> Option<&mut Vec<Vec<f64>>> {
        self.parts.get_mut(name)
    }

    /// Probabilities of symbols, `[state][symbol]`; `None` over channels.
    pub fn symbols(&self) -> Option<&[Vec<f64>]> {
        if self.is_over_symbols() { self.part("probability") } else { None }
    }

    /// Borrows the probabilities of symbols to change them.
    pub fn symbols_mut(&mut self) -> Option<&mut Vec<Vec<f64>>> {
        if self.is_over_symbols() { self.part_mut("probability") } else { None }
    }

    /// Returns whether an observation is a symbol.
    pub fn is_over_symbols(&self) -> bool {
        self.family.observes() == Observed::Symbol
    }

    /// The sizes of the blocks.
    pub fn shape(&self) -> Shape {
        self.family.shape(&self.parts)
    }

    /// The distributions of the channels that are `kept`, whatever the others are; `None` where states emit several
    /// channels jointly, or symbols.
    pub(crate) fn of_channels(&self, kept: impl Fn(usize) -> bool) -> Option<Self> {
        let parts = self.parts.of_channels(self.shape().size, kept);
        parts.filter(|_| !self.is_over_symbols()).map(|parts| Self { parts, ..*self })
    }

    /// The distribution of one state.
    pub(crate) fn of_state(&self, state: usize) -> Self {
        let blocks = self.family.parts();
        let row = |block: &Block| {
            let rows = self.parts.get(block.name).unwrap_or_default();
            rows.get(state).into_iter().cloned().collect()
        };
        Self::new(self.family, blocks.iter().map(row))
    }

    /// Differences between these emissions and a bank's first, in words; `None` if family and sizes are the
    /// same, as all of a bank must be: a device has one type for them.
    pub(crate) fn difference(&self, first: &Self) -> Option<String> {
        let same = self.family == first.family && self.shape() == first.shape();
        let (own, others) = (self.family.words(self.shape()), first.family.words(first.shape()));
        (!same).then(|| {
            format!("has {own}, and model 0 has {others}: all models of a file must have the same")
        })
    }

    /// A state's emission in the numbers of a device, with directions attached.
    pub(crate) fn deploy<T: Real>(
        &self,
        state: usize,
        along: &[Rates<'_>],
    ) -> Result<DeployedEmission<T>, DoesNotFit> {
        self.deploy_in(state, along, &Precision::of::<T>())
    }

    /// All states without directions, whatever the format makes of their numbers.
    pub(crate) fn plain<T: Real>(&self) -> Vec<DeployedEmission<T>> {
        let precision = Precision::of::<T>().lenient();
        let states = (0..self.parts.states()).map(|state| self.deploy_in(state, &[], &precision));
        states.filter_map(Result::ok).collect()
    }

    fn deploy_in<T: Real>(
        &self,
        state: usize,
        along: &[Rates<'_>],
        precision: &Precision,
    ) -> Result<DeployedEmission<T>, DoesNotFit> {
        let fields = self.family.deploy(&self.parts, state, along, precision)?;
        let fields = fields.into_iter().map(Field::into_rounded).collect();
        Ok(DeployedEmission { family: self.family, shape: self.shape(), fields })
    }
}

impl Serialize for Emissions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.family.name(), &self.parts)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Emissions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tag = |&family: &&'static dyn Family| Tag {
            name: family.name(),
            family,
            blocks: family.parts(),
        };
        let tags: Vec<Tag> = known().iter().map(tag).collect();
        let (tag, parts) = deserializer.deserialize_map(Tagged(&tags))?;
        Ok(Self { family: tag.family, parts })
    }
}

/// The emission part of a [`Direction`](crate::classifier::Direction): rates of a family's parameters, or
/// weights on its expected statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct EmissionDirection {
    family: &'static dyn Family,
    weighs_statistics: bool,
    parts: Parts,
}

impl EmissionDirection {
    /// Rates of a family's parameters, in the order of its score's blocks, `[block][state][entry]`: logits
    /// of symbols; means, in the sensor's units, and log standard deviations.
    pub fn new(
        family: &'static dyn Family,
        parts: impl IntoIterator<Item = Vec<Vec<f64>>>,
    ) -> Self {
        Self { family, weighs_statistics: false, parts: Parts::new(family.score(), parts) }
    }

    /// Logits of the symbols, `[state][symbol]`.
    pub fn categorical(logits: Vec<Vec<f64>>) -> Self {
        Self::new(&super::categorical::Categorical, [logits])
    }

    /// Means, in the sensor's units, and log standard deviations, `[state][channel]`.
    pub fn gaussian(mean: Vec<Vec<f64>>, log_std: Vec<Vec<f64>>) -> Self {
        Self::new(&super::gaussian::Gaussian, [mean, log_std])
    }

    pub(crate) fn of_score(family: &'static dyn Family, parts: Parts) -> Self {
        Self { family, weighs_statistics: false, parts }
    }

    /// Weights on a family's expected statistics: rates of the logarithms of its factors.
    pub(crate) fn of_statistics(family: &'static dyn Family, parts: Parts) -> Self {
        Self { family, weighs_statistics: true, parts }
    }

    /// Returns whether the direction weighs expected statistics, not the score.
    pub(crate) fn weighs_statistics(&self) -> bool {
        self.weighs_statistics
    }

    /// The rates.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Rates of the channels that are `kept`, of `size` channels; `None` if a rate belongs to several.
    pub(crate) fn of_channels(&self, size: usize, kept: impl Fn(usize) -> bool) -> Option<Self> {
        self.parts.of_channels(size, kept).map(|parts| Self { parts, ..*self })
    }

    /// The rates, to be changed.
    pub fn parts_mut(&mut self) -> &mut Parts {
        &mut self.parts
    }

    /// Rates of a model's emissions; `None` if they are of another family.
    pub(crate) fn of_family(&self, emission: &Emissions) -> Option<Rates<'_>> {
        (self.family == emission.family).then_some(match self.weighs_statistics {
            true => Rates::Statistics(&self.parts),
            false => Rates::Score(&self.parts),
        })
    }

    pub(crate) fn fits(&self, emission: &Emissions, states: usize) -> bool {
        let family = self.family;
        let blocks = if self.weighs_statistics { family.statistics() } else { family.score() };
        family == emission.family && self.parts.fits(blocks, states, emission.shape())
    }

    fn name(&self) -> &'static str {
        let of_statistics = self.family.statistics_name().filter(|_| self.weighs_statistics);
        of_statistics.unwrap_or(self.family.name())
    }
}

impl Serialize for EmissionDirection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.name(), &self.parts)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for EmissionDirection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let of = |&family: &&'static dyn Family| {
            let tag = |name, blocks| Tag { name, family, blocks };
            let statistics = family.statistics_name().map(|name| tag(name, family.statistics()));
            std::iter::once(tag(family.name(), family.score())).chain(statistics)
        };
        let tags: Vec<Tag> = known().iter().flat_map(of).collect();
        let (tag, parts) = deserializer.deserialize_map(Tagged(&tags))?;
        let weighs_statistics = tag.name != tag.family.name();
        Ok(Self { family: tag.family, weighs_statistics, parts })
    }
}

/// A name in a file, and the blocks under it.
#[derive(Clone, Copy)]
struct Tag {
    name: &'static str,
    family: &'static dyn Family,
    blocks: &'static [Block],
}

/// Reads one name and its blocks.
struct Tagged<'t>(&'t [Tag]);

impl<'de> Visitor<'de> for Tagged<'_> {
    type Value = (Tag, Parts);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of the families {}", self.names())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(Tag, Parts), A::Error> {
        let name: String =
            map.next_key()?.ok_or_else(|| A::Error::custom("no family of emissions"))?;
        let tag = *self.0.iter().find(|tag| tag.name == name).ok_or_else(|| {
            A::Error::custom(format!("unknown variant `{name}`, expected {}", self.names()))
        })?;
        let parts = map.next_value_seed(Reading(tag.blocks))?;
        match map.next_key::<String>()? {
            None => Ok((tag, parts)),
            Some(other) => Err(A::Error::custom(format!("`{other}` beside `{name}`: one family"))),
        }
    }
}

impl Tagged<'_> {
    fn names(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|tag| format!("`{}`", tag.name)).collect();
        names.join(" or ")
    }
}
