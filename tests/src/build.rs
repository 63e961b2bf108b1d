//! From plain models to the core's, padding to the sizes that are compiled: one macro, one place.
//!
//! A padded state cannot be reached and, if it were, would not be left; it emits as state 0 does. A
//! padded symbol or mixture component has probability zero. A padded channel always reads 0 and has
//! density 1 there. None of them changes a likelihood, a posterior or a real parameter's score.

use std::borrow::Borrow;

use fishweir_core::emission::{Categorical, Emission, Gaussian};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Real;

use crate::oracle::{Law, Model, Observation};

/// A core emission family that plain laws of a kind turn into.
pub trait Family<T: Real>: Emission<Weight = T> + Copy + 'static {
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

/// The largest number of states that is compiled.
pub const MOST_STATES: usize = 16;
/// The largest alphabet that is compiled.
pub const MOST_SYMBOLS: usize = 16;
/// The largest number of channels that is compiled.
pub const MOST_CHANNELS: usize = 8;
/// The largest number of mixture components that is compiled.
pub const MOST_COMPONENTS: usize = 4;

/// Runs a task on a plain model: the one place where run-time sizes become constants.
///
/// # Errors
/// A model past the compiled sizes, one that the core refuses, and the task's own error.
pub fn dispatch<T: Real, K: Task<T>>(model: &Model, task: K) -> Result<K::Output, String> {
    let first = model.emission.first().ok_or("a model without states")?;
    let states = model.states();
    if states > MOST_STATES {
        return Err(format!("{states} states; the tests are compiled for up to {MOST_STATES}"));
    }
    macro_rules! with_states {
        ($family:ty) => {
            match states {
                0..=2 => task.run(&padded::<T, $family, 2>(model)?),
                3..=4 => task.run(&padded::<T, $family, 4>(model)?),
                _ => task.run(&padded::<T, $family, MOST_STATES>(model)?),
            }
        };
    }
    macro_rules! with_size {
        ($what:literal, $size:expr, $most:expr, $($least:pat => $family:ty),+) => {
            match $size {
                $($least => with_states!($family),)+
                size => Err(format!("{size} {}; the tests are compiled for up to {}", $what, $most)),
            }
        };
    }
    match first {
        Law::Categorical(p) => with_size!(
            "symbols", p.len(), MOST_SYMBOLS,
            1..=4 => Categorical<4, T>, 5..=MOST_SYMBOLS => Categorical<MOST_SYMBOLS, T>
        ),
        Law::Gaussian { mean, .. } => with_size!(
            "channels", mean.len(), MOST_CHANNELS,
            1 => Gaussian<1, T>, 2..=3 => Gaussian<3, T>,
            4..=MOST_CHANNELS => Gaussian<MOST_CHANNELS, T>
        ),
        _ => Err("no such emission family".into()),
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

fn filled<T: Real, const L: usize>(values: &[f64], rest: f64) -> Result<[T; L], String> {
    if values.len() > L {
        return Err(format!("{} entries do not fit {L}", values.len()));
    }
    Ok(std::array::from_fn(|i| T::from_f64(values.get(i).copied().unwrap_or(rest))))
}

fn channels<T: Real, const D: usize>(x: &Observation) -> Result<[T; D], String> {
    match x {
        Observation::Channels(x) => filled(x, 0.0),
        Observation::Symbol(_) => Err("a symbol where channels belong".into()),
    }
}

/// The variance at which a Gaussian's density at its mean is 1.
const NEUTRAL_VARIANCE: f64 = 1.0 / std::f64::consts::TAU;

impl<T: Real, const K: usize> Family<T> for Categorical<K, T> {
    type Sample = usize;

    fn build(law: &Law) -> Result<Self, String> {
        match law {
            Law::Categorical(p) => Ok(Self::from_parts(filled(p, 0.0)?)),
            _ => Err("not a categorical law".into()),
        }
    }

    fn sample(x: &Observation) -> Result<usize, String> {
        match x {
            Observation::Symbol(symbol) => Ok(*symbol),
            Observation::Channels(_) => Err("channels where a symbol belongs".into()),
        }
    }
}

impl<T: Real, const D: usize> Family<T> for Gaussian<D, T> {
    type Sample = [T; D];

    fn build(law: &Law) -> Result<Self, String> {
        match law {
            Law::Gaussian { mean, variance } => {
                Self::new(filled(mean, 0.0)?, filled(variance, NEUTRAL_VARIANCE)?)
                    .map_err(|error| error.to_string())
            }
            _ => Err("not a Gaussian law with diagonal covariance".into()),
        }
    }

    fn sample(x: &Observation) -> Result<[T; D], String> {
        channels(x)
    }
}
