//! Transition probabilities from branch lengths.

use serde::{Deserialize, Serialize};

use super::error::ModelError;
use crate::elementary::Elementary;

/// Substitution model: a Markov chain in continuous time, for the length of a branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Substitution {
    /// Two states, absent (0) and present (1):
    ///
    /// ```text
    /// P(1 | 0) = gain / (gain + loss) (1 - exp(-(gain + loss) length))
    /// P(0 | 1) = loss / (gain + loss) (1 - exp(-(gain + loss) length))
    /// ```
    ///
    /// Symmetric where `gain = loss`. Its stationary distribution is `[loss, gain] / (gain + loss)`.
    GainLoss {
        /// Gains a unit of length where absent.
        gain: f64,
        /// Losses a unit of length where present.
        loss: f64,
    },
    /// Any number `p` of states, each left at one rate for any of the others alike (Jukes and Cantor
    /// 1969; Lewis 2001):
    ///
    /// ```text
    /// P(b | a) = (1 - exp(-p rate length / (p - 1))) / p        b != a
    /// ```
    ///
    /// Its stationary distribution is uniform.
    EqualRates {
        /// Changes a unit of length.
        rate: f64,
    },
}

impl Substitution {
    pub(super) fn validate(&self, states: usize) -> Result<(), ModelError> {
        let rates: &[(&str, f64)] = match self {
            Self::GainLoss { gain, loss } => {
                if states != 2 {
                    let what = format!("is of two states, the alphabet has {states} symbols");
                    return Err(ModelError::new("substitution.gain-loss", what));
                }
                &[("gain-loss.gain", *gain), ("gain-loss.loss", *loss)]
            }
            Self::EqualRates { rate } => {
                if states < 2 {
                    let what = "needs two states or more, the alphabet has one symbol";
                    return Err(ModelError::new("substitution.equal-rates", what));
                }
                &[("equal-rates.rate", *rate)]
            }
        };
        for (entry, rate) in rates {
            if !(rate.is_finite() && *rate > 0.0) {
                let what = format!("{rate} is not a rate; write a positive number");
                return Err(ModelError::new(format!("substitution.{entry}"), what));
            }
        }
        Ok(())
    }

    /// Transition probabilities along a branch, `[from][to]`, of rates and states that were checked.
    pub fn transition(&self, length: f64, states: usize) -> Vec<Vec<f64>> {
        match *self {
            Self::GainLoss { gain, loss } => {
                let changed = -(-(gain + loss) * length).portable_exp_m1() / (gain + loss);
                let (gained, lost) = (gain * changed, loss * changed);
                vec![vec![1.0 - gained, gained], vec![lost, 1.0 - lost]]
            }
            Self::EqualRates { rate } => {
                let p = states as f64;
                let other = -(-p * rate * length / (p - 1.0)).portable_exp_m1() / p;
                let entry = |a, b| if a == b { 1.0 - (p - 1.0) * other } else { other };
                (0..states).map(|a| (0..states).map(|b| entry(a, b)).collect()).collect()
            }
        }
    }

    /// The distribution that no branch changes, `[state]`.
    pub fn stationary(&self, states: usize) -> Vec<f64> {
        match *self {
            Self::GainLoss { gain, loss } => {
                let present = gain / (gain + loss);
                vec![1.0 - present, present]
            }
            Self::EqualRates { .. } => vec![1.0 / states as f64; states],
        }
    }
}
