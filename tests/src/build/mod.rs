//! From plain models to the core's, padding to the sizes that are compiled: one macro, one place.
//!
//! A padded state cannot be reached and, if it were, would not be left; it emits as state 0 does. A
//! padded symbol or mixture component has probability zero. A padded channel always reads 0 and has
//! density 1 there. None of them changes a likelihood, a posterior or a real parameter's score.

mod families;
pub mod host;
pub mod kernels;
mod partial;

pub use partial::{InPart, dispatch_in_part};

use std::borrow::Borrow;

use fishweir_core::emission::{
    Bernoulli, Categorical, FullGaussian, Gaussian, Mixture, Parametrisation, Poisson,
    Probabilities, SufficientStatistics,
};
use fishweir_core::emission::{Spread as Coordinates, VectorSpace};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Real;
use fishweir_core::score::{Score, ScoreOf, StatisticsOf};

use crate::oracle::{self, Direction, Law, LawDirection, Model, Observation, Spread};

/// A core emission family that plain laws of a kind turn into, and back.
pub trait Family<T: Real>: SufficientStatistics<Weight = T, Real = T> {
    /// An owned observation.
    type Sample: Borrow<Self::Observation> + Clone;

    /// The law as a distribution of this family.
    ///
    /// # Errors
    /// A law of another kind, one that is too large, and what the family's own check says.
    fn build(law: &Law) -> Result<Self, String>;

    /// The observation as this family takes it.
    ///
    /// # Errors
    /// An observation of another kind, or with more channels than the family has.
    fn sample(x: &Observation) -> Result<Self::Sample, String>;

    /// A direction as this family takes it.
    ///
    /// # Errors
    /// A direction of another kind, or one that is too large.
    fn direction(direction: &LawDirection) -> Result<Self::Score, String>;

    /// A score as plain numbers, cut to the size of `like`.
    fn plain_score(score: &Self::Score, like: &Law, spread: Coordinates) -> LawDirection;

    /// The distribution as plain numbers, cut to the size of `like`.
    fn plain(&self, like: &Law) -> Law;

    /// Expected statistics in the observations' own units, cut to the size of `like`.
    fn plain_statistics(&self, statistics: &Self::Statistics, like: &Law) -> PlainStatistics;
}

/// Expected statistics of one state as plain numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum PlainStatistics {
    /// Expected counts, `[symbol]`.
    Counts(Vec<f64>),
    /// Expected moments.
    Moments {
        /// `E[ sum 1 ]` over the observed samples.
        occupancy: f64,
        /// `E[ sum x ]`, `[channel]`.
        sum: Vec<f64>,
        /// `E[ sum x x' ]`, `[channel][channel]`; `None` where the family does not collect it.
        square: Vec<Vec<Option<f64>>>,
    },
    /// Of another family: nothing that has a plain name here.
    Other,
}

/// What is to be done with a model once its sizes are constants.
pub trait Task<T: Real> {
    /// What comes of it.
    type Output;

    /// Does it.
    ///
    /// # Errors
    /// What went wrong, in words.
    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Self::Output, String>;
}

/// The largest sizes that a dispatch is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// States.
    pub states: usize,
    /// Symbols.
    pub symbols: usize,
    /// Channels.
    pub channels: usize,
    /// Mixture components.
    pub components: usize,
}

/// The sizes of [`dispatch`]: those of the sample models.
pub const SAMPLES: Sizes = Sizes { states: 5, symbols: 6, channels: 3, components: 3 };
/// The sizes of [`dispatch_any`] for a model that fits: those of the golden vectors.
const SMALL: Sizes = Sizes { states: 4, symbols: 16, channels: 3, components: 4 };
/// The sizes of [`dispatch_any`] for any other model.
pub const LARGEST: Sizes = Sizes { states: 16, symbols: 16, channels: 8, components: 4 };

/// Writes a dispatch: a model's run-time sizes are raised to those that are compiled.
macro_rules! dispatch {
    ($model:ident, $task:ident, $most:ident) => {{
        const SYMBOLS: usize = $most.symbols;
        const COMPONENTS: usize = $most.components;
        macro_rules! with_states {
            ($family:ty) => {
                match $model.states() {
                    states if states > $most.states => Err(past("states", states, $most.states)),
                    _ => $task.run(&padded::<T, $family, { $most.states }>($model)?),
                }
            };
        }
        macro_rules! with_channels {
            ($channels_of:expr, $family:ident) => {
                match $channels_of {
                    d if d > $most.channels => Err(past("channels", d, $most.channels)),
                    _ => with_states!($family<T, { $most.channels }>),
                }
            };
        }
        match $model.emission.first().ok_or("a model without states")? {
            Law::Categorical(p) if p.len() > SYMBOLS => Err(past("symbols", p.len(), SYMBOLS)),
            Law::Categorical(_) => with_states!(Categorical<SYMBOLS, T>),
            Law::Gaussian { mean, .. } => with_channels!(mean.len(), Diagonal),
            Law::FullGaussian { mean, .. } => with_channels!(mean.len(), Full),
            Law::Poisson(rate) => with_channels!(rate.len(), Counts),
            Law::Bernoulli(p) => with_channels!(p.len(), YesNo),
            Law::Mixture { weight, .. } if weight.len() > COMPONENTS => {
                Err(past("components", weight.len(), COMPONENTS))
            }
            Law::Mixture { component, .. } => match component.first().ok_or("an empty mixture")? {
                Law::Categorical(p) if p.len() > SYMBOLS => Err(past("symbols", p.len(), SYMBOLS)),
                Law::Categorical(_) => with_states!(Mixture<Categorical<SYMBOLS, T>, COMPONENTS>),
                Law::Gaussian { mean, .. } => {
                    type Mixed<T, const D: usize> = Mixture<Gaussian<D, T>, COMPONENTS>;
                    with_channels!(mean.len(), Mixed)
                }
                Law::FullGaussian { mean, .. } => {
                    type Mixed<T, const D: usize> = Mixture<FullGaussian<D, T>, COMPONENTS>;
                    with_channels!(mean.len(), Mixed)
                }
                law => Err(format!("the tests are not compiled for mixtures of {law:?}")),
            },
        }
    }};
}

type Diagonal<T, const D: usize> = Gaussian<D, T>;
type Full<T, const D: usize> = FullGaussian<D, T>;
type Counts<T, const D: usize> = Poisson<D, T>;
type YesNo<T, const D: usize> = Bernoulli<D, T>;

fn past(what: &str, size: usize, most: usize) -> String {
    format!("{size} {what}; the tests are compiled for up to {most}")
}

/// Runs a task on a plain model of up to [`SAMPLES`]' sizes, padded: one size a family, so that a
/// test that uses it is compiled quickly.
///
/// # Errors
/// A model past the compiled sizes, one that the core refuses, and the task's own error.
pub fn dispatch<T: Real, K: Task<T>>(model: &Model, task: K) -> Result<K::Output, String> {
    dispatch!(model, task, SAMPLES)
}

/// Runs a task on a plain model of up to [`LARGEST`] sizes, padded to those or, if it fits, to [`SMALL`].
///
/// # Errors
/// A model past the compiled sizes, one that the core refuses, and the task's own error.
pub fn dispatch_any<T: Real, K: Task<T>>(model: &Model, task: K) -> Result<K::Output, String> {
    match model.states() <= SMALL.states && model.emission.iter().all(is_small) {
        true => dispatch!(model, task, SMALL),
        false => dispatch!(model, task, LARGEST),
    }
}

/// Whether a law fits [`SMALL`].
fn is_small(law: &Law) -> bool {
    match law {
        Law::Categorical(p) => p.len() <= SMALL.symbols,
        Law::Gaussian { mean, .. } | Law::FullGaussian { mean, .. } => mean.len() <= SMALL.channels,
        Law::Poisson(rate) => rate.len() <= SMALL.channels,
        Law::Bernoulli(p) => p.len() <= SMALL.channels,
        Law::Mixture { weight, component } => {
            weight.len() <= SMALL.components && component.iter().all(is_small)
        }
    }
}

/// A plain model as one of the core's, with states out of reach up to `N`.
///
/// # Errors
/// A model with more than `N` states, and what the core's own checks say.
pub fn padded<T: Real, E: Family<T>, const N: usize>(model: &Model) -> Result<Hmm<E, N>, String> {
    let states = model.states();
    if states == 0 || states > N {
        return Err(format!("{states} states do not fit {N}"));
    }
    let row_of = |row: &[f64]| -> [T; N] {
        std::array::from_fn(|j| T::from_f64(row.get(j).copied().unwrap_or(0.0)))
    };
    let stays = |i: usize| std::array::from_fn(|j| if i == j { T::ONE } else { T::ZERO });
    let transition = std::array::from_fn(|i| {
        model.transition.get(i).map_or_else(|| stays(i), |row| row_of(row))
    });
    let laws = model.emission.iter().map(E::build).collect::<Result<Vec<E>, _>>()?;
    let emission = std::array::from_fn(|j| laws.get(j).copied().unwrap_or(laws[0]));
    let hmm = Hmm::new(Chain::from_parts(row_of(&model.initial), transition), emission);
    hmm.validate().map_err(|error| error.to_string())?;
    Ok(hmm)
}

/// The observations of a sequence as a family takes them.
///
/// # Errors
/// The first observation that is none of the family's.
pub fn samples<T: Real, E: Family<T>>(
    sequence: &[Option<Observation>],
) -> Result<Vec<Option<E::Sample>>, String> {
    sequence.iter().map(|x| x.as_ref().map(E::sample).transpose()).collect()
}

pub(crate) fn filled<T: Real, const L: usize>(values: &[f64], rest: f64) -> Result<[T; L], String> {
    if values.len() > L {
        return Err(format!("{} entries do not fit {L}", values.len()));
    }
    Ok(std::array::from_fn(|i| T::from_f64(values.get(i).copied().unwrap_or(rest))))
}

/// What a model's direction and a parametrisation of its rows mean to the core.
pub fn coordinates(direction: &Direction, by: oracle::Parametrisation) -> Parametrisation {
    fn spread(direction: &LawDirection) -> Coordinates {
        match direction {
            LawDirection::Gaussian { spread: Spread::LogStd(_), .. } => {
                Coordinates::LogStandardDeviation
            }
            LawDirection::Mixture { component, .. } => {
                component.first().map_or(Coordinates::Variance, spread)
            }
            _ => Coordinates::Variance,
        }
    }
    let probabilities = match by {
        oracle::Parametrisation::Ratio => Probabilities::Ratio,
        oracle::Parametrisation::Softmax => Probabilities::Softmax,
    };
    let spread = direction.emission.first().map_or(Coordinates::Variance, spread);
    Parametrisation { probabilities, spread }
}

/// A direction of a model's size; states past the direction's do not move.
///
/// # Errors
/// A direction that does not fit.
pub fn direction<T: Real, E: Family<T>, const N: usize>(
    plain: &Direction,
) -> Result<ScoreOf<E, N>, String> {
    let mut direction = ScoreOf::<E, N>::ZERO;
    direction.initial = filled(&plain.initial, 0.0)?;
    for (row, plain) in direction.transition.iter_mut().zip(&plain.transition) {
        *row = filled(plain, 0.0)?;
    }
    for (entry, plain) in direction.emission.iter_mut().zip(&plain.emission) {
        *entry = E::direction(plain)?;
    }
    Ok(direction)
}

/// A model with one direction attached.
///
/// # Errors
/// A direction that does not fit the model.
pub fn with_directions<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    plain: &Direction,
    by: oracle::Parametrisation,
) -> Result<Hmm<E::WithDirections<1>, N>, String> {
    Ok(hmm.with_directions(&[direction::<T, E, N>(plain)?], coordinates(plain, by)))
}

/// The score that expected statistics stand for, as plain numbers cut to the sizes of `like`.
pub fn score<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    expected: &StatisticsOf<E, N>,
    by: Parametrisation,
    like: &Model,
) -> Direction {
    let states = like.states();
    let score = Score::of(hmm, expected, by);
    let emissions = score.emission.iter().zip(&like.emission);
    Direction {
        initial: doubles(&score.initial, states),
        transition: score.transition.iter().take(states).map(|r| doubles(r, states)).collect(),
        emission: emissions.map(|(s, like)| E::plain_score(s, like, by.spread)).collect(),
    }
}

/// The model as plain numbers, cut to the sizes of `like`.
pub fn plain<T: Real, E: Family<T>, const N: usize>(hmm: &Hmm<E, N>, like: &Model) -> Model {
    let states = like.states();
    let row = |row: &[T; N]| row[..states].iter().map(|p| p.to_f64()).collect();
    let emissions = hmm.emission().iter().zip(&like.emission);
    Model {
        initial: row(hmm.chain().initial()),
        transition: hmm.chain().transition()[..states].iter().map(row).collect(),
        emission: emissions.map(|(emission, like)| emission.plain(like)).collect(),
    }
}

pub(crate) fn doubles<T: Real>(row: &[T], like: usize) -> Vec<f64> {
    row.iter().take(like).map(|x| x.to_f64()).collect()
}
