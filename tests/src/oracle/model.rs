use super::linear::Factored;

/// A hidden Markov model as plain numbers: what the oracles compute with, and what the models under
/// test are built from. `initial[state]`, `transition[from][to]`, `emission[state]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The initial distribution, `[state]`.
    pub initial: Vec<f64>,
    /// The transition probabilities, `[from][to]`.
    pub transition: Vec<Vec<f64>>,
    /// One emission distribution per state.
    pub emission: Vec<Law>,
}

/// An emission distribution.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// `P(x = k)`, `[symbol]`.
    Categorical(Vec<f64>),
    /// Independent Gaussians, `[channel]` each.
    Gaussian {
        /// Means.
        mean: Vec<f64>,
        /// Variances.
        variance: Vec<f64>,
    },
    /// A Gaussian with a full covariance matrix.
    FullGaussian {
        /// Means, `[channel]`.
        mean: Vec<f64>,
        /// Covariances, `[channel][channel]`.
        covariance: Vec<Vec<f64>>,
    },
    /// Independent counts with these expectations, `[channel]`.
    Poisson(Vec<f64>),
    /// Independent yes (1) or no (0) with these probabilities of yes, `[channel]`.
    Bernoulli(Vec<f64>),
    /// `sum_m weight[m] component[m](x)`.
    Mixture {
        /// Weights, `[component]`.
        weight: Vec<f64>,
        /// Distributions, `[component]`.
        component: Vec<Law>,
    },
}

/// One observation.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(untagged)]
pub enum Observation {
    /// A symbol.
    Symbol(usize),
    /// Channels; one that is missing is NaN.
    Channels(Vec<f64>),
}

/// Observations in time; `None` is a missing one.
pub type Sequence = Vec<Option<Observation>>;

impl Model {
    /// How many states.
    pub fn states(&self) -> usize {
        self.initial.len()
    }

    /// `log b_j(x_t)`, `[state]`; zero for a missing observation.
    pub fn log_row(&self, x: Option<&Observation>) -> Vec<f64> {
        self.emission.iter().map(|law| x.map_or(0.0, |x| law.log_density(x))).collect()
    }

    /// `log p(z_1..T, x_1..T)` of one path.
    pub fn log_joint(&self, path: &[usize], sequence: &[Option<Observation>]) -> f64 {
        let mut log = 0.0;
        for (t, (&state, x)) in path.iter().zip(sequence).enumerate() {
            let step = match t.checked_sub(1) {
                None => self.initial[state],
                Some(before) => self.transition[path[before]][state],
            };
            log += step.ln() + x.as_ref().map_or(0.0, |x| self.emission[state].log_density(x));
        }
        log
    }
}

impl Law {
    /// `log b(x)`, natural, with respect to counting or Lebesgue measure; minus infinity where `x`
    /// is not an observation of this distribution.
    pub fn log_density(&self, x: &Observation) -> f64 {
        if let Some((law, x)) = x.marginal_of(self) {
            return law.log_density(&x);
        }
        match (self, x) {
            (Self::Categorical(p), Observation::Symbol(k)) => {
                p.get(*k).map_or(f64::NEG_INFINITY, |p| p.ln())
            }
            (Self::Gaussian { mean, variance }, Observation::Channels(x)) => {
                let channels = x.iter().zip(mean).zip(variance);
                channels
                    .map(|((x, mean), variance)| {
                        let tau = std::f64::consts::TAU;
                        -0.5 * ((tau * variance).ln() + (x - mean).powi(2) / variance)
                    })
                    .sum()
            }
            (Self::FullGaussian { mean, covariance }, Observation::Channels(x)) => {
                let deviation: Vec<f64> = x.iter().zip(mean).map(|(x, mean)| x - mean).collect();
                let factored = Factored::of(covariance);
                let square: f64 =
                    factored.solve(&deviation).iter().zip(&deviation).map(|(a, b)| a * b).sum();
                let tau = std::f64::consts::TAU;
                -0.5 * (mean.len() as f64 * tau.ln() + factored.log_determinant() + square)
            }
            (Self::Poisson(rate), Observation::Channels(x)) => {
                let channel = |(rate, x): (&f64, &f64)| {
                    let log_factorial: f64 = (1..=*x as u64).map(|k| (k as f64).ln()).sum();
                    x * rate.ln() - rate - log_factorial
                };
                rate.iter().zip(x).map(channel).sum()
            }
            (Self::Bernoulli(p), Observation::Channels(x)) => {
                let channel = |(p, x): (&f64, &f64)| if *x > 0.5 { p.ln() } else { (1.0 - p).ln() };
                p.iter().zip(x).map(channel).sum()
            }
            (Self::Mixture { weight, component }, x) => {
                let terms =
                    weight.iter().zip(component).map(|(w, law)| w.ln() + law.log_density(x));
                log_sum_exp(&terms.collect::<Vec<_>>())
            }
            _ => f64::NEG_INFINITY,
        }
    }
}

/// `log sum_i exp(terms_i)`; minus infinity of no terms, or of impossible ones only.
pub fn log_sum_exp(terms: &[f64]) -> f64 {
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln()
}
