use fishweir_core::kernel::Affinity;
use serde::{Deserialize, Serialize};

use super::compared::wrong;
use super::{BetweenError, HmmKernel, ModelKernel, PairError};
use crate::kernel::LogGram;
use crate::parallel::each;
use crate::runtime::{Emissions, Hmm, STATE_SIZES, check, family};

/// A factorial hidden Markov model: several independent hidden chains, and one Gaussian around the sum of their states'
/// contributions.
///
/// ```text
/// p(x, z) = prod_c initial_c[z_0^c] prod_t transition_c[z_t-1^c][z_t^c]  prod_t N(x_t; sum_c mean_c[z_t^c], S)
/// ```
///
/// Source: Ghahramani and Jordan, "Factorial Hidden Markov Models", 1997.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactorialHmm {
    /// Initial distributions, `[chain][state]`.
    pub initial: Vec<Vec<f64>>,
    /// Transition probabilities, `[chain][from][to]`.
    pub transition: Vec<Vec<Vec<f64>>>,
    /// Contribution of a state to the mean, `[chain][state][channel]`.
    pub mean: Vec<Vec<Vec<f64>>>,
    /// The covariance of the observations, `[channel][channel]`.
    pub covariance: Vec<Vec<f64>>,
}

impl FactorialHmm {
    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.covariance.len()
    }

    /// States of all chains together: the product of their numbers.
    pub fn joint_states(&self) -> usize {
        self.initial.iter().fold(1, |all, chain| all.saturating_mul(chain.len()))
    }

    /// Checks sizes and numbers; whether the covariance is positive definite is seen where it is factorised.
    ///
    /// # Errors
    /// [`BetweenError::Model`] naming the first part that is wrong.
    pub fn validate(&self) -> Result<(), BetweenError> {
        let (chains, channels) = (self.initial.len(), self.channels());
        let refuse = |part: String| move |error| wrong(&part, &error);
        check::length("initial", chains, chains.max(1)).map_err(refuse("chains".into()))?;
        check::length("transition", self.transition.len(), chains)
            .map_err(refuse("chains".into()))?;
        check::length("mean", self.mean.len(), chains).map_err(refuse("chains".into()))?;
        for (chain, initial) in self.initial.iter().enumerate() {
            let states = initial.len();
            let part = format!("chain {chain}");
            let size = (states, channels);
            check::distribution("initial", initial)
                .and_then(|()| {
                    check::distributions("transition", &self.transition[chain], states, states)
                })
                .and_then(|()| check::numbers("mean", &self.mean[chain], size, check::FINITE))
                .map_err(refuse(part))?;
        }
        let size = (channels.max(1), channels.max(1));
        check::numbers("covariance", &self.covariance, size, check::FINITE)
            .map_err(refuse("observations".into()))
    }

    /// Returns the equivalent single chain.
    ///
    /// Its states are the combinations of the chains' states, the last chain's varying fastest: the Kronecker product of the
    /// chains.
    ///
    /// # Errors
    /// [`BetweenError::Model`] where a part is wrong, or there are more than 64 states together.
    pub fn joint(&self) -> Result<Hmm, BetweenError> {
        self.validate()?;
        let (most, states) = (STATE_SIZES[STATE_SIZES.len() - 1], self.joint_states());
        if states > most {
            let why = format!(
                "{states} joint states are too many to enumerate (at most {most}); use the mean field"
            );
            return Err(BetweenError::Model { part: "chains".into(), why });
        }
        let (mut initial, mut transition) = (vec![1.0], vec![vec![1.0]]);
        let mut mean = vec![vec![0.0; self.channels()]];
        for (chain, own) in self.initial.iter().enumerate() {
            initial = pairs(&initial, own, |a, b| a * b);
            transition =
                pairs(&transition, &self.transition[chain], |a, b| pairs(a, b, |a, b| a * b));
            mean = pairs(&mean, &self.mean[chain], |a, b| {
                a.iter().zip(b).map(|(a, b)| a + b).collect()
            });
        }
        let covariance = vec![self.covariance.concat(); states];
        let Some(full) = family("full-gaussian") else {
            let why = "no family of full Gaussians".to_owned();
            return Err(BetweenError::Model { part: "observations".into(), why });
        };
        Ok(Hmm { initial, transition, emission: Emissions::new(full, [mean, covariance]) })
    }
}

/// `f` of all pairs, the second varying fastest.
fn pairs<A, B, C>(a: &[A], b: &[B], f: impl Fn(&A, &B) -> C) -> Vec<C> {
    a.iter().flat_map(|a| b.iter().map(|b| f(a, b)).collect::<Vec<_>>()).collect()
}

/// The exact kernel between factorial hidden Markov models: that of the chains' products, over `steps`
/// transitions.
///
/// Time: that of [`HmmKernel`] of as many states as the chains have together. For more than 64
/// [`MeanField`](super::MeanField) bounds it from below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactorialKernel(HmmKernel);

impl FactorialKernel {
    /// The kernel by a measure, over `steps` transitions.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] where the measure's parameter is out of range.
    pub fn new(measure: Affinity<f64>, steps: usize) -> Result<Self, BetweenError> {
        HmmKernel::new(measure, steps).map(Self)
    }
}

impl ModelKernel for FactorialKernel {
    type Model = FactorialHmm;

    fn log_value(&self, a: &FactorialHmm, b: &FactorialHmm) -> Result<f64, BetweenError> {
        self.0.log_value(&a.joint()?, &b.joint()?)
    }

    fn log_gram(&self, models: &[FactorialHmm]) -> Result<LogGram, PairError> {
        let joint = each(models.len(), &|model| {
            models[model].joint().map_err(|why| PairError { row: model, column: model, why })
        });
        self.0.log_gram(&joint.into_iter().collect::<Result<Vec<_>, _>>()?)
    }
}
