//! Calibration of decisions, and rejection of unreliable ones.

use super::{Decision, Output, decide_exactly};
use crate::error::{ErrorKind, ModelError, Part};
use crate::number::Real;

/// Reason for rejecting a decision: the reject option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
#[non_exhaustive]
pub enum RejectionReason {
    /// The margin of the class is less than that of nearly all decisions in training.
    LowMargin = 1,
    /// The stream is less likely per sample, under the likeliest model, than nearly all that were decided so in
    /// training: nothing like it was there.
    LowLikelihood = 2,
    /// The likelihood per sample is above nearly all of them: a sensor that rests, or has come off.
    HighLikelihood = 3,
}

/// A decision, and how far it is to be believed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Prediction<T = f32> {
    /// The decision.
    pub decision: Decision<T>,
    /// The probability of the class decided for, were it one of those that are known.
    pub probability: T,
    /// Reason for rejecting the decision; `None` if it is accepted.
    pub rejection: Option<RejectionReason>,
}

/// Calibration of a classifier on streams that it had not seen in training: a temperature and thresholds of rejection.
///
/// ```text
/// p(class | x_1..t) = exp(scale v_class) / sum over classes of exp(scale v)
/// rejected where      v_first - v_second < least margin, or
///                     max_m log p_m(x_1..t) / t  is outside the limits of the class decided for
/// ```
///
/// of decision values `v`. Both hold for streams as long as those of the calibration: the evidence of a shorter stream is weaker,
/// and its likelihood per sample varies more. Probabilities are relative to the known classes; the thresholds find samples of no
/// known class. Limits are per class, because a class of much motion is less likely per sample than one at rest, and an unknown
/// class may lie in between.
///
/// A missing sample counts as a sample and adds nothing: a stream of which much is missing seems likelier than those
/// that were learnt from, and where these have none missing it is [too likely](RejectionReason::HighLikelihood).
///
/// Flash: 2 reals and 2 a class. Cost of a [prediction](super::AdditiveClassifier::predict): that of a decision, an
/// exponential per class, two divisions.
///
/// Sources: one temperature, Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, 2017; of
/// two classes Platt, Probabilistic outputs for support vector machines, 1999, without a bias. Rejection: Chow, On
/// optimum recognition error and reject tradeoff, 1970; by likelihood, Bishop, Novelty detection and neural
/// network validation, 1994.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Calibration<'a, T = f32> {
    /// Factor on decision values: the reciprocal of the temperature. Positive.
    pub scale: T,
    /// The least margin that is no close call.
    pub least_margin: T,
    /// Lower and upper limits of the likelihood for decisions on a class, in nats per sample, `[class]`; empty if
    /// decisions on it are never rejected.
    pub likelihoods: &'a [[T; 2]],
}

impl<T: Real> Calibration<'_, T> {
    /// Probabilities alone, without rejection.
    pub const fn of_scale(scale: T) -> Self {
        Self { scale, least_margin: T::ZERO, likelihoods: &[] }
    }

    /// Returns whether any decision may be rejected.
    pub fn rejects(&self) -> bool {
        self.least_margin > T::ZERO || !self.likelihoods.is_empty()
    }

    /// Checks every number.
    ///
    /// # Errors
    /// Names the first that is wrong: of row 0 the scale and the least margin, then `[class]` its limits.
    pub fn validate(&self) -> Result<(), ModelError> {
        let wrong = |kind, row, entry| Err(ModelError::new(Part::Calibration, kind, row, entry));
        if !self.scale.is_finite() {
            return wrong(ErrorKind::NotFinite, 0, 0);
        }
        if self.scale <= T::ZERO {
            return wrong(ErrorKind::NotPositive, 0, 0);
        }
        if !self.least_margin.is_finite() {
            return wrong(ErrorKind::NotFinite, 0, 1);
        }
        for (class, limits) in self.likelihoods.iter().enumerate() {
            if let Some(entry) = limits.iter().position(|limit| !limit.is_finite()) {
                return wrong(ErrorKind::NotFinite, 1 + class, entry);
            }
            if limits[0] > limits[1] {
                return wrong(ErrorKind::NotInRange, 1 + class, 0);
            }
        }
        Ok(())
    }

    /// The probability of the decided class, from the deficit of each class, itself included: zero for
    /// it, negative for others.
    pub fn probability(&self, behind: impl IntoIterator<Item = T>) -> T {
        let odds = |behind: T| (self.scale * behind).exp();
        let sum = behind.into_iter().fold(T::ZERO, |sum, behind| sum + odds(behind));
        // The class itself adds one: a sum that is no number is of scores out of range, and so is the probability.
        T::ONE / sum
    }

    /// Returns the reason for rejecting a decision after `samples` samples with log-likelihoods `[model]`, or `None`.
    ///
    /// Before the first sample no likelihood is too low or too high.
    pub fn rejection(
        &self,
        decision: &Decision<T>,
        log_likelihoods: impl IntoIterator<Item = T>,
        samples: u64,
    ) -> Option<RejectionReason> {
        let likelihood = likelihood_a_sample(log_likelihoods, samples);
        let limits = self.likelihoods.get(decision.class);
        match likelihood.zip(limits) {
            Some((likelihood, [least, _])) if likelihood < *least => {
                Some(RejectionReason::LowLikelihood)
            }
            Some((likelihood, [_, most])) if likelihood > *most => {
                Some(RejectionReason::HighLikelihood)
            }
            _ if decision.margin >= self.least_margin => None,
            // A margin that is no number decides nothing.
            _ => Some(RejectionReason::LowMargin),
        }
    }

    /// A decision from outputs that are not rounded yet, and how far it is to be believed.
    pub fn believe(
        &self,
        outputs: &[Output<T>],
        log_likelihoods: impl IntoIterator<Item = T>,
        samples: u64,
    ) -> Prediction<T> {
        let decision = decide_exactly(outputs);
        let probability = match (outputs, outputs.get(decision.class)) {
            // One output is of two classes: its margin is how far the other one is behind.
            ([_], _) | (_, None) => self.probability([T::ZERO, -decision.margin]),
            (all, Some(best)) => self.probability(all.iter().map(|output| output.difference(best))),
        };
        let rejection = self.rejection(&decision, log_likelihoods, samples);
        Prediction { decision, probability, rejection }
    }
}

/// The largest log-likelihood of several models in nats per sample, missing ones counted; `None` before the first
/// sample, or of no model.
#[doc(hidden)]
pub fn likelihood_a_sample<T: Real>(
    log_likelihoods: impl IntoIterator<Item = T>,
    samples: u64,
) -> Option<T> {
    let largest = |most: T, log: T| if log > most { log } else { most };
    let most = log_likelihoods.into_iter().reduce(largest)?;
    (samples > 0).then(|| most / T::from_count(samples))
}
