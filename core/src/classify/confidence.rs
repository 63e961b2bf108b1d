//! How far a decision is to be believed, and whether it is to be taken at all.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::{Decision, Output, decide_exactly};
use crate::error::{ErrorKind, ModelError, Part};
use crate::number::Real;

/// Why a decision had better not be taken: the reject option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
#[non_exhaustive]
pub enum Doubt {
    /// The class leads by less than nearly all decisions in training did.
    CloseCall = 1,
    /// The stream is less likely a sample, under the likeliest model, than nearly all in training: nothing like
    /// it was there.
    Unlikely = 2,
    /// It is more likely a sample than nearly all in training: a sensor that rests, or has come off.
    TooLikely = 3,
}

/// A decision, and how far it is to be believed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Believed<T = f32> {
    /// The decision.
    pub decision: Decision<T>,
    /// The probability of the class decided for, were it one of those that are known.
    pub probability: T,
    /// Why it had better not be taken; `None` where it may be.
    pub doubt: Option<Doubt>,
}

/// What was learnt about a classifier's decisions on streams that it had not seen: a temperature, and thresholds
/// of rejection.
///
/// ```text
/// p(class | x_1..t) = exp(scale v_class) / sum over classes of exp(scale v)
/// rejected where      v_first - v_second < least margin, or
///                     max_m log p_m(x_1..t) / t  is outside  least likelihood ..= most likelihood
/// ```
///
/// of decision values `v`. Both are of streams as long as those they were learnt on: shorter ones are decided by
/// less, and their likelihood a sample varies more. Probabilities are between the known classes; what is none
/// of them is for the thresholds to find.
///
/// Flash: 4 reals. Cost of a [reading](super::StreamClassifier::believed): that of a decision, an exponential a
/// class, a division.
///
/// Sources: one temperature, Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, 2017; of
/// two classes Platt, Probabilistic outputs for support vector machines, 1999, without a bias. Rejection: Chow, On
/// optimum recognition error and reject tradeoff, 1970; by likelihood, Bishop, Novelty detection and neural
/// network validation, 1994.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Confidence<T = f32> {
    /// What decision values are multiplied by: one over the temperature. Positive.
    pub scale: T,
    /// The least margin that is no close call.
    pub least_margin: T,
    /// In nats a sample; minus infinity where nothing is too unlikely.
    pub least_likelihood: T,
    /// The same; infinite where nothing is too likely.
    pub most_likelihood: T,
}

impl<T: Real> Confidence<T> {
    /// Probabilities alone: nothing is rejected.
    pub fn of_scale(scale: T) -> Self {
        let least_likelihood = T::NEG_INFINITY;
        let most_likelihood = -least_likelihood;
        Self { scale, least_margin: T::ZERO, least_likelihood, most_likelihood }
    }

    /// Whether any decision may be doubted.
    pub fn rejects(&self) -> bool {
        *self != Self::of_scale(self.scale)
    }

    /// Checks every number.
    ///
    /// # Errors
    /// Names the first that is wrong, `[scale, least margin, least likelihood, most likelihood]`.
    pub fn validate(&self) -> Result<(), ModelError> {
        let wrong = |kind, entry| Err(ModelError::new(Part::Confidence, kind, 0, entry));
        if !self.scale.is_finite() {
            return wrong(ErrorKind::NotFinite, 0);
        }
        if !(self.scale > T::ZERO) {
            return wrong(ErrorKind::NotPositive, 0);
        }
        if !self.least_margin.is_finite() {
            return wrong(ErrorKind::NotFinite, 1);
        }
        // Neither may be no number: no comparison with one holds.
        if !(self.least_likelihood <= self.most_likelihood) {
            return wrong(ErrorKind::NotInRange, 2);
        }
        Ok(())
    }

    /// The probability of the class that leads, from how far each class is behind it, itself among them: zero for
    /// it, negative for others.
    pub fn probability(&self, behind: impl IntoIterator<Item = T>) -> T {
        let odds = |behind: T| (self.scale * behind).exp();
        let sum = behind.into_iter().fold(T::ZERO, |sum, behind| sum + odds(behind));
        if sum > T::ZERO { T::ONE / sum } else { T::ONE }
    }

    /// Why a decision by this margin, after `samples` with these log-likelihoods, `[model]`, had better not be
    /// taken. Before the first sample nothing is likely or not.
    pub fn doubt(
        &self,
        margin: T,
        log_likelihoods: impl IntoIterator<Item = T>,
        samples: u64,
    ) -> Option<Doubt> {
        let likelihood = likelihood_a_sample(log_likelihoods, samples);
        match likelihood {
            Some(likelihood) if likelihood < self.least_likelihood => Some(Doubt::Unlikely),
            Some(likelihood) if likelihood > self.most_likelihood => Some(Doubt::TooLikely),
            _ if margin < self.least_margin => Some(Doubt::CloseCall),
            _ => None,
        }
    }

    /// A decision from outputs that are not rounded yet, and how far it is to be believed.
    pub fn believe(
        &self,
        outputs: &[Output<T>],
        log_likelihoods: impl IntoIterator<Item = T>,
        samples: u64,
    ) -> Believed<T> {
        let decision = decide_exactly(outputs);
        let probability = match (outputs, outputs.get(decision.class)) {
            // One output is of two classes: its margin is how far the other one is behind.
            ([_], _) | (_, None) => self.probability([T::ZERO, -decision.margin]),
            (all, Some(best)) => self.probability(all.iter().map(|output| output.less(best))),
        };
        let doubt = self.doubt(decision.margin, log_likelihoods, samples);
        Believed { decision, probability, doubt }
    }
}

/// The largest log-likelihood of several models in nats a sample, missing ones counted; `None` before the first
/// sample, or of no model.
pub fn likelihood_a_sample<T: Real>(
    log_likelihoods: impl IntoIterator<Item = T>,
    samples: u64,
) -> Option<T> {
    let largest = |most: T, log: T| if log > most { log } else { most };
    let most = log_likelihoods.into_iter().reduce(largest)?;
    (samples > 0).then(|| most / T::from_count(samples))
}
