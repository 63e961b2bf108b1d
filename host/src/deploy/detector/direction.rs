//! Directions in which a stream may change.

use crate::classifier::{Direction, EmissionDirection};
use crate::runtime::{Emissions, Hmm};

impl Direction {
    /// No direction at all: every rate zero.
    #[must_use]
    fn zero(model: &Hmm) -> Self {
        let table = |rows: &[Vec<f64>]| rows.iter().map(|row| vec![0.0; row.len()]).collect();
        Self {
            initial: vec![0.0; model.states()],
            transition: table(&model.transition),
            emission: match &model.emission {
                Emissions::Categorical { probability } => {
                    EmissionDirection::Categorical { logits: table(probability) }
                }
                Emissions::Gaussian { mean, std } => {
                    EmissionDirection::Gaussian { mean: table(mean), log_std: table(std) }
                }
            },
        }
    }

    /// The direction in which a channel's means move, in all states alike: an offset of the sensor, a
    /// mount that slips. `None` for symbols, or where there is no such channel.
    #[must_use]
    pub fn offset(model: &Hmm, channel: usize) -> Option<Self> {
        let mut direction = Self::zero(model);
        let EmissionDirection::Gaussian { mean, .. } = &mut direction.emission else { return None };
        for row in mean {
            *row.get_mut(channel)? = 1.0;
        }
        Some(direction)
    }

    /// The direction from a model to another of the same shape: the differences of means, of log
    /// standard deviations, and of the logits of probabilities. `None` where the shapes differ.
    ///
    /// States must mean the same in both: fit the second on changed data, starting from the first
    /// ([`fit`](crate::fit::fit)). A probability that is zero in either stays where it is.
    #[must_use]
    pub fn towards(from: &Hmm, to: &Hmm) -> Option<Self> {
        let mut direction = Self::zero(from);
        let logit = |from: f64, to: f64| {
            if from > 0.0 && to > 0.0 { to.ln() - from.ln() } else { 0.0 }
        };
        let difference = |from: f64, to: f64| to - from;
        let log_ratio = |from: f64, to: f64| to.ln() - from.ln();
        row(&mut direction.initial, &from.initial, &to.initial, logit)?;
        table(&mut direction.transition, &from.transition, &to.transition, logit)?;
        match (&mut direction.emission, &from.emission, &to.emission) {
            (
                EmissionDirection::Categorical { logits },
                Emissions::Categorical { probability: from },
                Emissions::Categorical { probability: to },
            ) => table(logits, from, to, logit)?,
            (
                EmissionDirection::Gaussian { mean, log_std },
                Emissions::Gaussian { mean: from_mean, std: from_std },
                Emissions::Gaussian { mean: to_mean, std: to_std },
            ) => {
                table(mean, from_mean, to_mean, difference)?;
                table(log_std, from_std, to_std, log_ratio)?;
            }
            _ => return None,
        }
        Some(direction)
    }
}

fn row(rates: &mut [f64], from: &[f64], to: &[f64], rate: impl Fn(f64, f64) -> f64) -> Option<()> {
    if from.len() != to.len() {
        return None;
    }
    for ((slot, &from), &to) in rates.iter_mut().zip(from).zip(to) {
        *slot = rate(from, to);
    }
    Some(())
}

fn table(
    rates: &mut [Vec<f64>],
    from: &[Vec<f64>],
    to: &[Vec<f64>],
    rate: impl Fn(f64, f64) -> f64 + Copy,
) -> Option<()> {
    if from.len() != to.len() {
        return None;
    }
    rates
        .iter_mut()
        .zip(from.iter().zip(to))
        .try_for_each(|(slot, (from, to))| row(slot, from, to, rate))
}
