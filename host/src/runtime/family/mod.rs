//! Families of emissions: how a hidden state produces an observation.
//!
//! A family is one value behind [`Family`]. Its numbers are named blocks, [`Parts`], a row per state, and so
//! are its expected statistics and the rates of its parameters along a direction: files, scores,
//! directions, costs and exports read them by their names and widths, and know no family. Families over
//! channels meet the recursions as rows of likelihoods ([`RowState`]).
//!
//! # To add one
//! In another crate, over channels: a value that is a [`Family`] and [`OverRows`], made known by [`register`].
//!
//! In this crate: a file here with a value that is a [`Family`] and, over channels, [`OverRows`]. Its name is that of the
//! core's module, and the line there ([`for_each_family`]) is the line here, too. By itself, out of a model, a
//! state's emission is a [`Distribution`]: kernels between models compare these. The core has its distribution
//! ([`fishweir_core::emission`]).

mod device;
mod distribution;
mod emissions;
mod mixture;
mod moments;
mod parts;
mod rows;

use std::any::Any;
use std::fmt;
use std::sync::{PoisonError, RwLock};

use fishweir_core::emission::Parametrisation;
use fishweir_core::{artefact, for_each_family};
use rand_chacha::ChaCha8Rng;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

pub use categorical::CategoricalVec;
pub(crate) use device::reals;
pub use device::{
    Content, DeployedEmission, DoesNotFit, Field, FieldKind, Precision, Rates, Weight, lift,
    tangent, weights_along,
};
pub use distribution::Distribution;
pub use emissions::{EmissionDirection, Emissions};
pub(crate) use gaussian::GaussianFields;
pub(crate) use mixture::MOST_COMPONENTS;
pub(crate) use parts::entries;
pub use parts::{Block, Parts, Shape, Weighed, Width, excesses};
pub(crate) use rows::BLOCK;
pub use rows::{AllBanks, HostReal, HostWeight, OverRows, RowState};

use super::HmmError;
use crate::data::{Sample, Values};
use crate::elementary::Elementary;
use crate::words::counted;

macro_rules! families {
    ($($module:ident $type:ident $(= $code:literal $unit:literal $($past:ident)?)?;)*) => {
        $(mod $module;)*

        /// The families there are: the core's, and mixtures.
        pub static FAMILIES: &[&dyn Family] = &[$(&$module::$type,)* &mixture::Mixture];
    };
}
for_each_family!(families!);

/// The family of channels where none is named.
pub(crate) const OF_CHANNELS: &dyn Family = &gaussian::Gaussian;
/// Family for channels that depend on their past: the first of the table.
pub(crate) fn of_past() -> Option<&'static dyn Family> {
    FAMILIES.iter().copied().find(|family| family.has_past())
}

/// Family for symbols.
pub(crate) const OF_SYMBOLS: &dyn Family = &categorical::Categorical;

/// Families of other crates.
static ADDED: RwLock<Vec<&'static dyn Family>> = RwLock::new(Vec::new());

/// Registers a family of another crate under its name, which files keep. Registering it again changes nothing.
///
/// # Errors
/// Returns the family that has the name already, if it is another one.
pub fn register(added: &'static dyn Family) -> Result<(), &'static dyn Family> {
    let mut all = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    let known = FAMILIES.iter().chain(all.iter()).find(|known| known.name() == added.name());
    match known {
        Some(&known) if Any::type_id(known) != Any::type_id(added) => Err(known),
        Some(_) => Ok(()),
        None => {
            all.push(added);
            Ok(())
        }
    }
}

/// The families of this crate and those that were [registered](register).
pub fn known() -> Vec<&'static dyn Family> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    FAMILIES.iter().chain(added.iter()).copied().collect()
}

/// The family of that name, of this crate or [registered](register).
pub fn family(name: &str) -> Option<&'static dyn Family> {
    known().into_iter().find(|family| family.name() == name)
}

/// Kind of observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// A symbol.
    Symbol,
    /// A row of channels, of such numbers.
    Channels(Values),
}

impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Symbol => f.write_str("symbols"),
            Self::Channels(values) => values.fmt(f),
        }
    }
}

/// Constraints on estimates.
#[derive(Clone, Copy, Debug)]
pub struct Regularisation<'a> {
    /// Added to every expected count of a symbol.
    pub pseudocount: f64,
    /// Floor of standard deviations, `[channel]`; empty for symbols.
    pub floor: &'a [f64],
    /// The channels' means over the sequences fitted, `[channel]`; empty for symbols.
    pub centre: &'a [f64],
    /// Samples of the sequences fitted.
    pub samples: f64,
    /// Components of a mixture.
    pub components: usize,
    /// Rows of the sensor's channels in a row: see [`Family::has_past`].
    pub rows: usize,
}

/// An observation drawn from a state.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawn {
    /// A symbol.
    Symbol(usize),
    /// Channels.
    Row(Vec<f64>),
}

/// A family of emissions.
///
/// Blocks are `[state][entry]`, in the units of the channels.
pub trait Family: Any + fmt::Debug + Sync {
    /// Name in files and options.
    fn name(&self) -> &'static str;
    /// Description of the emissions, in a few words.
    fn about(&self) -> &'static str;
    /// Kind of observation.
    fn observes(&self) -> Observed;
    /// Returns whether rows hold a sample and its predecessors, on which its likelihood is conditioned.
    fn has_past(&self) -> bool {
        false
    }
    /// The blocks of its parameters.
    fn parts(&self) -> &'static [Block];
    /// The blocks of its expected statistics.
    fn statistics(&self) -> &'static [Block];
    /// The name of a direction along its expected statistics; `None` where the core's type cannot carry
    /// one.
    fn statistics_name(&self) -> Option<&'static str> {
        None
    }
    /// The blocks of its score, and of a direction in its parameters.
    fn score(&self) -> &'static [Block];
    /// Returns whether the entries of a block of the score are counted in units of the channels.
    fn in_units(&self, block: &Block) -> bool {
        let _ = block;
        false
    }
    /// The sizes that parameters imply.
    fn shape(&self, parts: &Parts) -> Shape {
        let [rows] = parts.rows();
        Shape { size: rows.first().map_or(0, Vec::len), components: 1 }
    }
    /// Checks the parameters of `states` states.
    ///
    /// # Errors
    /// [`HmmError`] naming the first that is wrong.
    fn validate(&self, parts: &Parts, states: usize, shape: Shape) -> Result<(), HmmError>;

    /// Standard deviations that floors are fractions of, `[channel]`, for some rows whose own are `own`.
    fn spread(&self, rows: &[&[f64]], own: Vec<f64>, held: &Regularisation<'_>) -> Vec<f64> {
        let _ = (rows, held);
        own
    }
    /// Points for every `step`th of some rows, of which k-means makes states: the rows in scaled units.
    fn points(
        &self,
        rows: &[&[f64]],
        step: usize,
        scale: &[f64],
        held: &Regularisation<'_>,
    ) -> Vec<Vec<f64>> {
        let _ = held;
        let mut points = Vec::with_capacity(rows.len() / step + 1);
        for index in (0..rows.len()).step_by(step) {
            let row = rows[index];
            let mut point = vec![0.0; row.len().min(scale.len())];
            for d in 0..point.len() {
                point[d] = row[d] / scale[d];
            }
            points.push(point);
        }
        points
    }
    /// The parameters of a state that observes some rows, block by block: where Baum-Welch starts. Without rows, `centre` is the
    /// state's position, and `scale` the channels' standard deviations.
    fn of_cluster(
        &self,
        rows: &[&[f64]],
        centre: &[f64],
        scale: &[f64],
        held: &Regularisation<'_>,
    ) -> Vec<Vec<f64>>;
    /// Adds rows, each weighed by its posterior, to expected statistics.
    fn collect(&self, parts: &Parts, samples: &[Weighed<'_>], into: &mut Parts);
    /// Adds samples of several sequences side by side, `[channel][step][lane]`, each weighed by its posterior,
    /// `[state][step][lane]`, to sums by lane, `[state][entry][lane]`, the entries those of the blocks of expected
    /// statistics: of each lane, bit for bit, what [`collect`](Self::collect) adds. Asked only of a
    /// family that has likelihoods of many samples at once.
    fn collect_lanes(
        &self,
        parts: &Parts,
        lanes: usize,
        x: &[f64],
        weights: &[f64],
        sums: &mut [f64],
    ) {
        let _ = (parts, lanes, x, weights, sums);
    }
    /// Adds an observation that a state is known to have made.
    fn count(&self, parts: &Parts, sample: Sample<'_>, state: usize, into: &mut Parts) {
        if let Sample::Row(x) = sample {
            let mut posterior = vec![0.0; parts.states()];
            posterior[state] = 1.0;
            self.collect(parts, &[(x, &posterior)], into);
        }
    }
    /// Observations expected in each state, `[state]`.
    fn occupancy(&self, statistics: &Parts) -> Vec<f64> {
        statistics.get("occupancy").unwrap_or_default().iter().flatten().copied().collect()
    }
    /// Mean and standard deviation of each channel over all observations that the statistics are of; `None` of a family that has
    /// none, or keeps none.
    fn moments(&self, parts: &Parts, statistics: &Parts) -> Option<Vec<[f64; 2]>> {
        let _ = (parts, statistics);
        None
    }
    /// The parameters that the statistics make likeliest. A state without observations keeps its own, and
    /// zeros of probabilities stay.
    fn maximise(&self, parts: &mut Parts, statistics: &Parts, held: &Regularisation<'_>);
    /// The logarithm of the prior density of which `held` are the parameters, up to a constant.
    fn log_prior(&self, parts: &Parts, held: &Regularisation<'_>) -> f64 {
        let _ = (parts, held);
        0.0
    }
    /// Returns whether standard deviations are held above a floor.
    fn has_floor(&self) -> bool {
        false
    }
    /// Number of states held at the floor, `[channel]`; empty for a family without floor.
    fn floored(&self, parts: &Parts, floor: &[f64]) -> Vec<usize> {
        let _ = (parts, floor);
        Vec::new()
    }
    /// Free parameters: see [`Hmm::free_parameters`](crate::runtime::Hmm::free_parameters).
    fn free_parameters(&self, parts: &Parts) -> usize {
        parts.states() * entries(self.parts(), self.shape(parts))
    }
    /// The distribution of a state by itself; `None` of a family that cannot be compared with another.
    fn distribution(&self, parts: &Parts, state: usize) -> Option<Distribution> {
        let _ = (parts, state);
        None
    }
    /// Draws an observation of a state.
    fn draw(&self, parts: &Parts, state: usize, rng: &mut ChaCha8Rng) -> Drawn;

    /// Draws an observation after a past, `[lag][channel]`, of which only a family with a past knows.
    fn draw_after(&self, parts: &Parts, state: usize, past: &[f64], rng: &mut ChaCha8Rng) -> Drawn {
        let _ = past;
        self.draw(parts, state, rng)
    }

    /// Appends the score, state by state and of a state block by block, from the expected statistics.
    fn push_score(
        &self,
        parts: &Parts,
        statistics: &Parts,
        parametrisation: Parametrisation,
        score: &mut Vec<f64>,
    );
    /// Returns for each entry of that score whether it moves with its parameter.
    fn moving(&self, parts: &Parts) -> Vec<bool> {
        vec![true; parts.states() * entries(self.score(), self.shape(parts))]
    }
    /// Returns for each expected statistic, in the same order, whether it can be nonzero.
    fn possible(&self, parts: &Parts) -> Vec<bool> {
        vec![true; parts.states() * entries(self.statistics(), self.shape(parts))]
    }
    /// The direction from parameters to others of the same shape; `None` where the shapes differ.
    fn towards(&self, from: &Parts, to: &Parts) -> Option<Parts>;

    /// Core types of a device's emission, the outermost last. A type of another crate by its path,
    /// `my_crate::Laplace`: what is exported as Rust source depends on that crate.
    fn core_types(&self) -> &'static [&'static str];
    /// The core's type of a device's emission over a number.
    fn core_type(&self, shape: Shape, number: &str) -> String {
        format!("{}<{}, {number}>", self.core_types().last().unwrap_or(&""), shape.size)
    }
    /// The code of the family in an artefact; `None` where artefacts have none.
    fn artefact(&self) -> Option<artefact::Family> {
        let own = self.core_types().last()?;
        artefact::Family::ALL.iter().copied().find(|family| family.name() == *own)
    }
    /// The fields of the core's type, in order.
    fn fields(&self) -> &'static [FieldKind];
    /// The fields' numbers for a state, with directions attached.
    ///
    /// # Errors
    /// A number that the format does not hold.
    fn deploy(
        &self,
        parts: &Parts,
        state: usize,
        along: &[Rates<'_>],
        precision: &Precision,
    ) -> Result<Vec<Field<f64>>, DoesNotFit>;
    /// Multiply-adds and exponentials of a state's likelihood, with `directions` directions.
    fn work(&self, shape: Shape, directions: usize) -> (usize, usize);
    /// Most multiply-adds and logarithms that missing channels (all but one) add to a state's likelihood.
    fn work_of_missing(&self, shape: Shape, directions: usize) -> (usize, usize) {
        let _ = (shape, directions);
        (0, 0)
    }
    /// Emissions over rows of channels, of these sizes; `None` over symbols.
    fn rows(&self, shape: Shape) -> Option<&'static dyn AllBanks> {
        let _ = shape;
        None
    }
}

impl dyn Family {
    /// Returns whether a state mixes components.
    #[must_use]
    pub fn has_components(&self) -> bool {
        self.parts().iter().any(|block| block.width == Width::Components)
    }

    /// Returns whether the channels of a state depend on each other.
    #[must_use]
    pub fn has_covariances(&self) -> bool {
        self.parts().iter().any(|block| block.width == Width::Square)
    }

    /// Number of components of its emissions, if they are mixtures.
    pub(crate) fn components(&self, shape: Shape) -> Option<usize> {
        self.has_components().then_some(shape.components)
    }

    /// Describes the emissions: `poisson emissions`, `mixture emissions of 2 components`.
    pub(crate) fn words(&self, shape: Shape) -> String {
        let of = self.components(shape).map(|count| format!(" of {}", counted(count, "component")));
        format!("{} emissions{}", self.name(), of.unwrap_or_default())
    }
}

impl PartialEq for dyn Family {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Family {}

impl Serialize for dyn Family {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for &'static dyn Family {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        family(&name).ok_or_else(|| D::Error::custom(format!("unknown family `{name}`")))
    }
}

/// Rates of a table's entries from one model to another; `None` where the shapes differ.
pub(crate) fn table_towards(
    from: &[Vec<f64>],
    to: &[Vec<f64>],
    rate: impl Fn(f64, f64) -> f64 + Copy,
) -> Option<Vec<Vec<f64>>> {
    let row = |(from, to): (&Vec<f64>, &Vec<f64>)| row_towards(from, to, rate);
    (from.len() == to.len()).then(|| from.iter().zip(to).map(row).collect())?
}

/// [`table_towards`] of a row.
pub(crate) fn row_towards(
    from: &[f64],
    to: &[f64],
    rate: impl Fn(f64, f64) -> f64,
) -> Option<Vec<f64>> {
    (from.len() == to.len())
        .then(|| from.iter().zip(to).map(|(&from, &to)| rate(from, to)).collect())
}

/// The rate of a logit from a probability to another; a zero in either stays where it is.
pub(crate) fn logit(from: f64, to: f64) -> f64 {
    if from > 0.0 && to > 0.0 { to.portable_ln() - from.portable_ln() } else { 0.0 }
}
