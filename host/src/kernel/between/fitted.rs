//! Kernels between fitted models of any kind: the kernel of that kind.

use super::{
    Affinity, BetweenError, DistributionKernel, DynamicsKernel, HeatForm, HeatKernel, HmmKernel,
    MarkovKernel, ModelKernel, Multinomial, PairError, SampledPaths, SampledSwitchingKernel,
    SymmetricKl,
};
use crate::dynamics::{LinearSystem, SwitchingSystem};
use crate::kernel::LogGram;
use crate::model::{FittedModel, MarkovModel, Model};
use crate::parallel;
use crate::runtime::{Distribution, Hmm};

/// Models that can be compared with each other, by kind.
enum Alike {
    HiddenMarkov(Vec<Hmm>),
    /// Of some order above zero.
    Markov(Vec<MarkovModel>),
    /// One distribution per model.
    Distributions(Vec<Distribution>),
    LinearSystems(Vec<LinearSystem>),
    SwitchingSystems(Vec<SwitchingSystem>),
    /// One a position.
    Positions(Vec<Vec<Distribution>>),
}

impl Alike {
    /// # Errors
    /// [`PairError`] naming the first that is of another kind than the first.
    fn of(models: &[FittedModel]) -> Result<Self, PairError> {
        match models.first() {
            Some(FittedModel::HiddenMarkov(_)) => {
                each(models, |model| model.hidden_markov().cloned()).map(Self::HiddenMarkov)
            }
            Some(FittedModel::Markov(_))
                if models.iter().any(|one| distribution(one).is_none()) =>
            {
                each(models, |model| match model {
                    FittedModel::Markov(model) => Some(model.clone()),
                    _ => None,
                })
                .map(Self::Markov)
            }
            Some(FittedModel::LinearSystem(_)) => each(models, |model| match model {
                FittedModel::LinearSystem(model) => Some(model.with_stationary_start().with_mean()),
                _ => None,
            })
            .map(Self::LinearSystems),
            Some(FittedModel::SwitchingSystem(_)) => each(models, |model| match model {
                FittedModel::SwitchingSystem(model) => Some(model.with_mean()),
                _ => None,
            })
            .map(Self::SwitchingSystems),
            Some(FittedModel::Positions(_)) => each(models, |model| match model {
                FittedModel::Positions(model) => {
                    let rows = model.probability().iter();
                    Some(rows.map(|row| Distribution::Categorical(row.clone())).collect())
                }
                _ => None,
            })
            .map(Self::Positions),
            _ => each(models, distribution).map(Self::Distributions),
        }
    }
}

/// Distribution of one sample of a model without a past.
fn distribution(model: &FittedModel) -> Option<Distribution> {
    match model {
        FittedModel::Density(model) => Some(match model.distribution() {
            // Of one component there is a divergence too.
            Distribution::Mixture { component, .. } if component.len() == 1 => component[0].clone(),
            mixture => mixture,
        }),
        FittedModel::KernelDensity(model) => Some(model.distribution()),
        FittedModel::Markov(_) => multinomial_row(model).map(Distribution::Categorical),
        _ => None,
    }
}

/// The probabilities of symbols that do not depend on those before.
fn multinomial_row(model: &FittedModel) -> Option<Vec<f64>> {
    let FittedModel::Markov(model) = model else { return None };
    match model.probability() {
        [row] if row.len() == Model::size(model) => Some(row.clone()),
        _ => None,
    }
}

/// Applies a function to each model; an error names the first without a result.
fn each<T>(
    models: &[FittedModel],
    of: impl Fn(&FittedModel) -> Option<T>,
) -> Result<Vec<T>, PairError> {
    let part = |(row, model): (usize, &FittedModel)| of(model).ok_or_else(|| unlike(models, row));
    models.iter().enumerate().map(part).collect()
}

fn unlike(models: &[FittedModel], row: usize) -> PairError {
    let (first, other) = (models[0].any().noun(), models[row].any().noun());
    let why = if first == other {
        match models[row] {
            FittedModel::Markov(_) => {
                "this kernel compares no such models; of strings those without a context (order 0)"
            }
            _ => "there is no such kernel between models of this kind",
        }
        .to_owned()
    } else {
        format!("one is a {first}, the other a {other}: compare models of one kind")
    };
    PairError { row: 0, column: row, why: BetweenError::Model { part: format!("a {other}"), why } }
}

/// Number of paths of modes that are drawn from a switching system: as in Jebara, Kondor and Howard.
pub const PATHS: usize = 50;

/// Seed of all systems' paths.
const SEED: u64 = 1;

/// `log k` of all pairs by the probability product or the mean map: over `steps + 1` samples of hidden
/// Markov models ([`HmmKernel`]), of Markov chains of an order above zero ([`MarkovKernel`]), of linear dynamical systems ([`DynamicsKernel`], from a stationary start if they have one) and of those that switch,
/// by [`PATHS`] paths of each ([`SampledSwitchingKernel`]), drawn by common random numbers, so that systems that are alike have
/// likeness one; over one sample of densities, and of symbols
/// without a past ([`DistributionKernel`]); of positions the product over them.
///
/// # Errors
/// [`PairError`] naming a pair that cannot be compared.
pub fn log_gram_of_fitted(
    models: &[FittedModel],
    measure: Affinity<f64>,
    steps: usize,
) -> Result<LogGram, PairError> {
    let of_kernel = |why| PairError { row: 0, column: 0, why };
    match Alike::of(models)? {
        Alike::HiddenMarkov(models) => {
            HmmKernel::new(measure, steps).map_err(of_kernel)?.log_gram(&models)
        }
        Alike::Markov(models) => {
            MarkovKernel::new(measure, steps + 1).map_err(of_kernel)?.log_gram(&models)
        }
        Alike::LinearSystems(models) => {
            DynamicsKernel::new(steps + 1, measure).map_err(of_kernel)?.log_gram(&models)
        }
        Alike::SwitchingSystems(systems) => {
            let kernel = SampledSwitchingKernel::new(measure).map_err(of_kernel)?;
            let draw = |row: usize| {
                // One seed for all: systems that are alike draw like paths, whatever the order of the items.
                SampledPaths::draw(systems[row].clone(), steps + 1, PATHS, SEED)
                    .map_err(|why| PairError { row, column: row, why })
            };
            let drawn: Vec<SampledPaths> =
                parallel::each(systems.len(), &draw).into_iter().collect::<Result<_, _>>()?;
            kernel.log_gram(&drawn)
        }
        Alike::Distributions(models) => {
            DistributionKernel::new(measure).map_err(of_kernel)?.log_gram(&models)
        }
        Alike::Positions(models) => {
            let kernel = DistributionKernel::new(measure).map_err(of_kernel)?;
            LogGram::try_from_fn(models.len(), |row, column| {
                let (a, b) = (&models[row], &models[column]);
                let pair = |why| PairError { row, column, why };
                if a.len() != b.len() {
                    let (first, second) = (a.len(), b.len());
                    return Err(pair(BetweenError::Shapes { what: "positions", first, second }));
                }
                let logs = a.iter().zip(b).map(|(a, b)| kernel.log_value(a, b));
                logs.sum::<Result<f64, _>>().map_err(pair)
            })
        }
    }
}

/// `log k` of all pairs by the [heat kernel](HeatKernel) of multinomials: of strings without a context.
///
/// # Errors
/// As [`log_gram_of_fitted`].
pub fn heat_of_fitted(models: &[FittedModel], time: f64) -> Result<LogGram, PairError> {
    let kernel = HeatKernel::new(time, HeatForm::Unnormalised);
    kernel.map_err(|why| PairError { row: 0, column: 0, why })?.log_gram(&multinomials(models)?)
}

/// `log k` of all pairs by the exponential of minus the [symmetrised divergence](SymmetricKl): of single
/// Gaussians, and of strings without a context.
///
/// # Errors
/// As [`log_gram_of_fitted`].
pub fn divergence_of_fitted(models: &[FittedModel], rate: f64) -> Result<LogGram, PairError> {
    let of_kernel = |why| PairError { row: 0, column: 0, why };
    SymmetricKl::new(rate, 0.0).map_err(of_kernel)?.log_gram(&each(models, distribution)?)
}

fn multinomials(models: &[FittedModel]) -> Result<Vec<Multinomial>, PairError> {
    each(models, |model| Multinomial::new(multinomial_row(model)?).ok())
}
