use super::model::{Law, Model};

/// How a direction moves a row of probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parametrisation {
    /// `p_j = a_j / sum_k a_k`, moved in `a` at `a = p`.
    Ratio,
    /// `p_j = exp(z_j) / sum_k exp(z_k)`, moved in `z`.
    Softmax,
}

/// Rates of change of a [`Model`]'s parameters: a value of the model's shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Direction {
    /// Of the initial row, `[state]`.
    pub initial: Vec<f64>,
    /// Of the transition rows, `[from][to]`.
    pub transition: Vec<Vec<f64>>,
    /// Of the emissions, `[state]`.
    pub emission: Vec<LawDirection>,
}

/// Rates of change of a [`Law`]'s parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum LawDirection {
    /// Of the probabilities' row, `[symbol]`.
    Categorical(Vec<f64>),
    /// Of independent Gaussians.
    Gaussian {
        /// Of the means, `[channel]`.
        mean: Vec<f64>,
        /// Of the variances or log standard deviations.
        spread: Spread,
    },
    /// Of a Gaussian with full covariance.
    FullGaussian {
        /// Of the means, `[channel]`.
        mean: Vec<f64>,
        /// Of the covariance matrix, symmetric.
        covariance: Vec<Vec<f64>>,
    },
    /// Of log rates or logits, `[channel]`.
    Counting(Vec<f64>),
    /// Of a mixture.
    Mixture {
        /// Of the weights' row, `[component]`.
        weight: Vec<f64>,
        /// Of the components.
        component: Vec<LawDirection>,
    },
}

/// Rates of change of a width, `[channel]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// Of the variances.
    Variance(Vec<f64>),
    /// Of the logarithms of the standard deviations.
    LogStd(Vec<f64>),
}

impl Spread {
    /// As rates of change of the log standard deviations: `dl = dv / (2 v)`.
    pub fn log_std(&self, variance: &[f64]) -> Vec<f64> {
        match self {
            Self::LogStd(rate) => rate.clone(),
            Self::Variance(rate) => rate.iter().zip(variance).map(|(r, v)| 0.5 * r / v).collect(),
        }
    }
}

impl Parametrisation {
    /// A row of probabilities a step `e` along a direction.
    ///
    /// The ratio parametrisation leaves the simplex where a zero is moved to the negative side.
    pub fn moved(self, row: &[f64], direction: &[f64], e: f64) -> Vec<f64> {
        let unscaled = row.iter().zip(direction).map(|(p, w)| match self {
            Self::Ratio => p + e * w,
            Self::Softmax => p * (e * w).exp(),
        });
        let unscaled: Vec<f64> = unscaled.collect();
        let sum: f64 = unscaled.iter().sum();
        unscaled.iter().map(|p| p / sum).collect()
    }
}

impl Direction {
    /// `model + e direction`.
    ///
    /// # Errors
    /// A direction whose families are not the model's.
    pub fn moved(&self, model: &Model, by: Parametrisation, e: f64) -> Result<Model, &'static str> {
        let rows = model.transition.iter().zip(&self.transition);
        let laws = model.emission.iter().zip(&self.emission);
        Ok(Model {
            initial: by.moved(&model.initial, &self.initial, e),
            transition: rows.map(|(row, w)| by.moved(row, w, e)).collect(),
            emission: laws.map(|(law, w)| w.moved(law, by, e)).collect::<Result<_, _>>()?,
        })
    }
}

impl LawDirection {
    fn moved(&self, law: &Law, by: Parametrisation, e: f64) -> Result<Law, &'static str> {
        let along = |a: &[f64], w: &[f64]| -> Vec<f64> {
            a.iter().zip(w).map(|(a, w)| a + e * w).collect()
        };
        Ok(match (self, law) {
            (Self::Categorical(w), Law::Categorical(p)) => Law::Categorical(by.moved(p, w, e)),
            (Self::Gaussian { mean: w, spread }, Law::Gaussian { mean, variance }) => {
                let variance = match spread {
                    Spread::Variance(w) => along(variance, w),
                    Spread::LogStd(w) => {
                        variance.iter().zip(w).map(|(v, w)| v * (2.0 * e * w).exp()).collect()
                    }
                };
                Law::Gaussian { mean: along(mean, w), variance }
            }
            (
                Self::FullGaussian { mean: w, covariance: rates },
                Law::FullGaussian { mean, covariance },
            ) => Law::FullGaussian {
                mean: along(mean, w),
                covariance: covariance.iter().zip(rates).map(|(row, w)| along(row, w)).collect(),
            },
            (Self::Counting(w), Law::Poisson(rate)) => {
                Law::Poisson(rate.iter().zip(w).map(|(r, w)| r * (e * w).exp()).collect())
            }
            (Self::Counting(w), Law::Bernoulli(p)) => {
                let channel = |(p, w): (&f64, &f64)| {
                    let odds = p / (1.0 - p) * (e * w).exp();
                    odds / (1.0 + odds)
                };
                Law::Bernoulli(p.iter().zip(w).map(channel).collect())
            }
            (
                Self::Mixture { weight: w, component: directions },
                Law::Mixture { weight, component },
            ) => Law::Mixture {
                weight: by.moved(weight, w, e),
                component: component
                    .iter()
                    .zip(directions)
                    .map(|(law, w)| w.moved(law, by, e))
                    .collect::<Result<_, _>>()?,
            },
            _ => return Err("a direction of another family than its emission"),
        })
    }
}
