use fishweir_core::hmm::{Chain, Hmm as CoreHmm};
use serde::{Deserialize, Serialize};

use super::{CategoricalVec, GaussianVec, STATE_SIZES, check, padded_states};

/// A hidden Markov model with run-time sizes, in `f64`, as fitting makes it.
///
/// `initial[state]`, `transition[from][to]`; Gaussians are in the sensor's own units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hmm {
    /// Initial distribution, `[state]`.
    pub initial: Vec<f64>,
    /// Transition probabilities, `[from][to]`.
    pub transition: Vec<Vec<f64>>,
    /// Emission distributions.
    pub emission: Emissions,
}

/// The emission distributions of a model, all of one family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Emissions {
    /// Categorical: `probability[state][symbol]`.
    Categorical {
        /// Probabilities, `[state][symbol]`.
        probability: Vec<Vec<f64>>,
    },
    /// Gaussian with diagonal covariance.
    Gaussian {
        /// Means, `[state][channel]`.
        mean: Vec<Vec<f64>>,
        /// Standard deviations, `[state][channel]`.
        std: Vec<Vec<f64>>,
    },
}

/// Why a model was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HmmError {
    /// A number of states that no recursion is compiled for.
    #[error("{0} states: a model needs between 1 and {largest}", largest = STATE_SIZES[STATE_SIZES.len() - 1])]
    States(usize),
    /// Rows or columns that do not fit the number of states.
    #[error("{part} has {found} entries where {wanted} are needed")]
    Shape {
        /// Which part.
        part: String,
        /// Entries found.
        found: usize,
        /// Entries needed.
        wanted: usize,
    },
    /// A probability that is none, or a row that does not sum to one.
    #[error("{part} is no probability distribution")]
    Distribution {
        /// Which row.
        part: String,
    },
    /// A mean or a standard deviation out of range.
    #[error("{part} must be finite{}", if *.positive { " and positive" } else { "" })]
    Parameter {
        /// Which one.
        part: String,
        /// Whether it must be positive as well.
        positive: bool,
    },
}

impl Hmm {
    /// Number of states.
    #[must_use]
    pub fn states(&self) -> usize {
        self.initial.len()
    }

    /// Number of symbols or of channels.
    #[must_use]
    pub fn size(&self) -> usize {
        match &self.emission {
            Emissions::Categorical { probability: rows }
            | Emissions::Gaussian { mean: rows, .. } => rows.first().map_or(0, Vec::len),
        }
    }

    /// Checks shapes and numbers.
    ///
    /// # Errors
    /// [`HmmError`] naming the first part that is wrong.
    pub fn validate(&self) -> Result<(), HmmError> {
        let states = self.states();
        if padded_states(states).is_none() {
            return Err(HmmError::States(states));
        }
        check::distribution("initial", &self.initial)?;
        check::distributions("transition", &self.transition, states, states)?;
        match &self.emission {
            Emissions::Categorical { probability } => {
                check::distributions("probability", probability, states, self.size())?;
            }
            Emissions::Gaussian { mean, std } => check::gaussians(mean, std, states, self.size())?,
        }
        if self.size() == 0 {
            return Err(HmmError::Shape { part: "emission".into(), found: 0, wanted: 1 });
        }
        Ok(())
    }

    fn chain<const N: usize>(&self) -> Chain<f64, N> {
        let states = self.states();
        Chain::from_parts(
            std::array::from_fn(|j| self.initial.get(j).copied().unwrap_or(0.0)),
            std::array::from_fn(|i| {
                std::array::from_fn(|j| match self.transition.get(i) {
                    Some(row) => row.get(j).copied().unwrap_or(0.0),
                    // A state out of reach stays where it is.
                    None => f64::from(i == j && i >= states),
                })
            }),
        )
    }

    /// The core's model with `N` states, the last of them out of reach, over symbols.
    ///
    /// `None` if the emissions are of another family.
    #[must_use]
    pub fn categorical<const N: usize>(&self) -> Option<CoreHmm<CategoricalVec<f64>, N>> {
        let Emissions::Categorical { probability } = &self.emission else { return None };
        let emission = std::array::from_fn(|j| CategoricalVec {
            probability: probability.get(j).cloned().unwrap_or_else(|| vec![0.0; self.size()]),
        });
        Some(CoreHmm::new(self.chain(), emission))
    }

    /// The core's model with `N` states, the last of them out of reach, over channels.
    ///
    /// `None` if the emissions are of another family.
    #[must_use]
    pub fn gaussian<const N: usize>(&self) -> Option<CoreHmm<GaussianVec<f64>, N>> {
        let Emissions::Gaussian { mean, std } = &self.emission else { return None };
        let size = self.size();
        let emission = std::array::from_fn(|j| match (mean.get(j), std.get(j)) {
            (Some(mean), Some(std)) => {
                let rate: Vec<f64> = std.iter().map(|std| 1.0 / std).collect();
                GaussianVec {
                    mean: mean.clone(),
                    constant: fishweir_core::emission::log_normaliser(&rate),
                    rate,
                    linear: vec![(); size],
                    quadratic: vec![(); size],
                }
            }
            _ => GaussianVec {
                mean: vec![0.0; size],
                rate: vec![0.0; size],
                constant: f64::NEG_INFINITY,
                linear: vec![(); size],
                quadratic: vec![(); size],
            },
        });
        Some(CoreHmm::new(self.chain(), emission))
    }
}
