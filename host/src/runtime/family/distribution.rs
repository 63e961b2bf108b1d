use super::Emissions;
use crate::runtime::{HmmError, check};

/// One distribution by itself, out of a model or of none: what kernels between models compare.
///
/// Numbers are in the units of the channels.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Distribution of a symbol: probabilities, `[symbol]`.
    Categorical(Vec<f64>),
    /// Independent channels that are yes (1) or no (0): probabilities of yes, `[channel]`.
    Bernoulli(Vec<f64>),
    /// Independent channels of counts: rates, `[channel]`.
    Poisson(Vec<f64>),
    /// Independent real channels.
    Gaussian {
        /// Means, `[channel]`.
        mean: Vec<f64>,
        /// Variances, `[channel]`.
        variance: Vec<f64>,
    },
    /// Real channels together.
    FullGaussian {
        /// Means, `[channel]`.
        mean: Vec<f64>,
        /// Covariances, `[channel][channel]` in a row.
        covariance: Vec<f64>,
    },
    /// Several distributions over one space.
    Mixture {
        /// Weights, `[component]`.
        weight: Vec<f64>,
        /// Components.
        component: Vec<Self>,
    },
}

impl Distribution {
    /// The kernel density estimate of points, `[point][channel]`: a Gaussian of variance `bandwidth` in
    /// every channel around each.
    pub fn kernel_density(points: &[Vec<f64>], bandwidth: f64) -> Self {
        let around = |point: &Vec<f64>| Self::Gaussian {
            mean: point.clone(),
            variance: vec![bandwidth; point.len()],
        };
        Self::Mixture {
            weight: vec![(points.len() as f64).recip(); points.len()],
            component: points.iter().map(around).collect(),
        }
    }

    /// Frequencies of symbols of an alphabet of `alphabet` symbols; symbols beyond it are not counted.
    pub fn of_symbols(symbols: &[usize], alphabet: usize) -> Self {
        let mut count = vec![0.0; alphabet];
        for &symbol in symbols {
            if let Some(count) = count.get_mut(symbol) {
                *count += 1.0;
            }
        }
        let all: f64 = count.iter().sum();
        Self::Categorical(count.into_iter().map(|count| count / all).collect())
    }

    /// Channels, or symbols.
    pub fn size(&self) -> usize {
        match self {
            Self::Categorical(row) | Self::Bernoulli(row) | Self::Poisson(row) => row.len(),
            Self::Gaussian { mean, .. } | Self::FullGaussian { mean, .. } => mean.len(),
            Self::Mixture { component, .. } => component.first().map_or(0, Self::size),
        }
    }

    /// Checks sizes and numbers; whether a covariance matrix is positive definite is seen where it is
    /// factorised.
    ///
    /// # Errors
    /// [`HmmError`] naming the first part that is wrong.
    pub fn validate(&self) -> Result<(), HmmError> {
        let size = self.size();
        let row = |name, row: &Vec<f64>, length, wanted| {
            check::numbers(name, std::slice::from_ref(row), (1, length), wanted)
        };
        match self {
            Self::Categorical(p) => check::distribution("probability", p),
            Self::Bernoulli(p) => row("probability", p, size, check::SHARE),
            Self::Poisson(rate) => row("rate", rate, size, check::NOT_NEGATIVE),
            Self::Gaussian { mean, variance } => {
                row("mean", mean, size, check::FINITE)?;
                row("variance", variance, size, check::POSITIVE)
            }
            Self::FullGaussian { mean, covariance } => {
                row("mean", mean, size, check::FINITE)?;
                row("covariance", covariance, size * size, check::FINITE)
            }
            Self::Mixture { weight, component } => {
                check::length("weight", weight.len(), component.len())?;
                check::distribution("weight", weight)?;
                component.iter().try_for_each(|component| {
                    check::length("component", component.size(), size)?;
                    component.validate()
                })
            }
        }
    }
}

impl Emissions {
    /// The distributions of the states; `None` of a family that has none to be compared.
    pub fn distributions(&self) -> Option<Vec<Distribution>> {
        let of = |state| self.family().distribution(self.parts(), state);
        (0..self.parts().states()).map(of).collect()
    }
}
