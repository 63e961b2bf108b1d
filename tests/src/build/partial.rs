//! Families whose observations may lack channels: NaN in a plain observation.

use fishweir_core::emission::{
    Bernoulli, FullGaussian, Gaussian, Marginal, MarginalStatistics, Mixture, Poisson,
    Spread as Coordinates,
};
use fishweir_core::number::Real;

use super::{Family, PlainStatistics, SMALL, Task, padded, past};
use crate::oracle::{Law, LawDirection, Model, Observation};

/// A family that takes plain observations in part.
pub trait InPart<T: Real>: Family<T> + MarginalStatistics {
    /// The observation, of which channels may be missing.
    ///
    /// # Errors
    /// As [`Family::sample`].
    fn sample_in_part(x: &Observation) -> Result<Self::Partial, String>;
}

/// Channels that are there, by the family's own reading of the others.
macro_rules! in_part {
    ($($family:ident of $unit:ty),*) => {$(
        impl<T: Real, const D: usize> InPart<T> for $family<D, T> {
            fn sample_in_part(x: &Observation) -> Result<[Option<$unit>; D], String> {
                let Observation::Channels(channels) = x else {
                    return Err("a symbol where channels belong".into());
                };
                let there = channels.iter().map(|&x| if x.is_nan() { 0.0 } else { x }).collect();
                let whole = Self::sample(&Observation::Channels(there))?;
                Ok(std::array::from_fn(|d| {
                    let missing = channels.get(d).is_some_and(|x| x.is_nan());
                    (!missing).then_some(whole[d])
                }))
            }
        }
    )*};
}
in_part!(Gaussian of T, FullGaussian of T, Poisson of u32, Bernoulli of bool);

impl<T: Real, E: InPart<T>> Family<T> for Marginal<E> {
    type Sample = E::Partial;

    fn build(law: &Law) -> Result<Self, String> {
        E::build(law).map(Self::new)
    }
    fn sample(x: &Observation) -> Result<E::Partial, String> {
        E::sample_in_part(x)
    }
    fn direction(direction: &LawDirection) -> Result<E::Score, String> {
        E::direction(direction)
    }
    fn plain_score(score: &E::Score, like: &Law, spread: Coordinates) -> LawDirection {
        E::plain_score(score, like, spread)
    }
    fn plain(&self, like: &Law) -> Law {
        self.distribution().plain(like)
    }
    fn plain_statistics(&self, _: &Self::Statistics, _: &Law) -> PlainStatistics {
        PlainStatistics::Other
    }
}

/// Runs a task on a plain model whose channels may be missing, padded to the sizes of the golden vectors.
///
/// # Errors
/// A model past the compiled sizes, one that the core refuses, and the task's own error.
pub fn dispatch_in_part<T: Real, K: Task<T>>(model: &Model, task: K) -> Result<K::Output, String> {
    const STATES: usize = SMALL.states;
    const CHANNELS: usize = 4;
    const COMPONENTS: usize = 2;
    if model.states() > STATES {
        return Err(past("states", model.states(), STATES));
    }
    macro_rules! run {
        ($family:ty) => {
            task.run(&padded::<T, $family, STATES>(model)?)
        };
    }
    match model.emission.first().ok_or("a model without states")? {
        Law::Gaussian { .. } => run!(Marginal<Gaussian<CHANNELS, T>>),
        Law::FullGaussian { .. } => run!(Marginal<FullGaussian<CHANNELS, T>>),
        Law::Poisson(_) => run!(Marginal<Poisson<CHANNELS, T>>),
        Law::Bernoulli(_) => run!(Marginal<Bernoulli<CHANNELS, T>>),
        Law::Mixture { component, .. } => match component.first() {
            Some(Law::Gaussian { .. }) => {
                run!(Mixture<Marginal<Gaussian<CHANNELS, T>>, COMPONENTS>)
            }
            law => Err(format!("the tests are not compiled for mixtures of {law:?} in part")),
        },
        Law::Categorical(_) => Err("a symbol has no parts".into()),
    }
}
