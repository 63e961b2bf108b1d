//! Observations of which channels are missing (NaN): laws and directions of those that are there.

use super::direction::{LawDirection, Spread};
use super::model::{Law, Observation};

/// The channels of an observation that are there, where some are not.
fn there(x: &Observation) -> Option<Vec<usize>> {
    let Observation::Channels(x) = x else { return None };
    let there: Vec<usize> = (0..x.len()).filter(|&d| !x[d].is_nan()).collect();
    (there.len() < x.len()).then_some(there)
}

fn pick<A: Clone>(row: &[A], of: &[usize]) -> Vec<A> {
    of.iter().map(|&d| row[d].clone()).collect()
}

fn block(matrix: &[Vec<f64>], of: &[usize]) -> Vec<Vec<f64>> {
    of.iter().map(|&d| pick(&matrix[d], of)).collect()
}

impl Observation {
    /// A law's marginal over the channels that are there, and these alone; `None` of a whole observation.
    pub fn marginal_of(&self, law: &Law) -> Option<(Law, Self)> {
        let Self::Channels(x) = self else { return None };
        let of = there(self)?;
        Some((law.marginal(&of), Self::Channels(pick(x, &of))))
    }

    /// With the law's mean, or its first component's, in place of what is missing.
    pub fn filled(&self, law: &Law) -> Self {
        let Self::Channels(x) = self else { return self.clone() };
        let mean = law.middle();
        let filled = x.iter().zip(mean).map(|(&x, mean)| if x.is_nan() { mean } else { x });
        Self::Channels(filled.collect())
    }

    /// The same of a direction.
    pub fn marginal_of_direction(&self, direction: &LawDirection) -> Option<LawDirection> {
        Some(direction.marginal(&there(self)?))
    }
}

impl Law {
    fn middle(&self) -> Vec<f64> {
        match self {
            Self::Categorical(_) => Vec::new(),
            Self::Gaussian { mean, .. } | Self::FullGaussian { mean, .. } => mean.clone(),
            Self::Poisson(rate) => rate.iter().map(|rate| rate.round()).collect(),
            Self::Bernoulli(p) => p.iter().map(|p| p.round()).collect(),
            Self::Mixture { component, .. } => component.first().map_or(Vec::new(), Self::middle),
        }
    }

    /// The marginal over some channels.
    fn marginal(&self, of: &[usize]) -> Self {
        match self {
            Self::Categorical(p) => Self::Categorical(p.clone()),
            Self::Gaussian { mean, variance } => {
                Self::Gaussian { mean: pick(mean, of), variance: pick(variance, of) }
            }
            Self::FullGaussian { mean, covariance } => {
                Self::FullGaussian { mean: pick(mean, of), covariance: block(covariance, of) }
            }
            Self::Poisson(rate) => Self::Poisson(pick(rate, of)),
            Self::Bernoulli(p) => Self::Bernoulli(pick(p, of)),
            Self::Mixture { weight, component } => Self::Mixture {
                weight: weight.clone(),
                component: component.iter().map(|law| law.marginal(of)).collect(),
            },
        }
    }
}

impl LawDirection {
    fn marginal(&self, of: &[usize]) -> Self {
        match self {
            Self::Categorical(w) => Self::Categorical(w.clone()),
            Self::Gaussian { mean, spread } => Self::Gaussian {
                mean: pick(mean, of),
                spread: match spread {
                    Spread::Variance(w) => Spread::Variance(pick(w, of)),
                    Spread::LogStd(w) => Spread::LogStd(pick(w, of)),
                },
            },
            Self::FullGaussian { mean, covariance } => {
                Self::FullGaussian { mean: pick(mean, of), covariance: block(covariance, of) }
            }
            Self::Counting(w) => Self::Counting(pick(w, of)),
            Self::Mixture { weight, component } => Self::Mixture {
                weight: weight.clone(),
                component: component.iter().map(|law| law.marginal(of)).collect(),
            },
        }
    }
}
