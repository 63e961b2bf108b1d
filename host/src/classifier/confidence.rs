use std::fmt;

use fishweir_core::classify;
use serde::{Deserialize, Serialize};

use crate::words::to_three_digits;

/// Calibration of a classifier's decisions on held-out windows of the training data: the core's
/// [`Confidence`](classify::Calibration), in `f64`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confidence {
    /// Factor on decision values: the reciprocal of the temperature.
    pub scale: f64,
    /// Thresholds of rejection; null if every decision is accepted.
    pub rejection: Option<Rejection>,
    /// Windows held back that it was learnt from.
    pub windows: usize,
}

/// Thresholds of rejection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejection {
    /// The share of windows of known classes that was to be rejected.
    pub rate: f64,
    /// The least margin that is no close call.
    pub least_margin: f64,
    /// The least and the most log-likelihood under the likeliest model, in nats per sample, of what is decided for a
    /// class, `[class]`; empty where no model has any.
    pub likelihoods: Vec<[f64; 2]>,
}

/// Confidence in the numbers of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeployedConfidence {
    pub(crate) scale: f32,
    pub(crate) least_margin: f32,
    pub(crate) likelihoods: Vec<[f32; 2]>,
}

impl DeployedConfidence {
    /// Borrows it in the core's form.
    #[must_use]
    pub fn of_core(&self) -> classify::Calibration<'_> {
        let Self { scale, least_margin, ref likelihoods } = *self;
        classify::Calibration { scale, least_margin, likelihoods }
    }

    /// All numbers in order.
    pub(crate) fn reals(&self) -> impl Iterator<Item = f32> {
        let likelihoods = self.likelihoods.as_flattened().iter().copied();
        [self.scale, self.least_margin].into_iter().chain(likelihoods)
    }
}

impl Confidence {
    /// Rounds it to the numbers of a device.
    #[must_use]
    pub fn rounded(&self) -> DeployedConfidence {
        let scale = self.scale as f32;
        match &self.rejection {
            Some(rejection) => DeployedConfidence { scale, ..rejection.rounded() },
            None => DeployedConfidence { scale, least_margin: 0.0, likelihoods: Vec::new() },
        }
    }

    /// Checks the numbers, for `classes` classes; an error describes the fault.
    pub(crate) fn check(&self, classes: usize) -> Result<(), String> {
        let limits = self.rejection.as_ref().map_or(0, |rejection| rejection.likelihoods.len());
        if ![0, classes].contains(&limits) {
            return Err(format!("limits of likelihood for {limits} of {classes} classes"));
        }
        let rate = self.rejection.as_ref().map_or(0.25, |rejection| rejection.rate);
        if !(rate > 0.0 && rate < 0.5) {
            return Err(format!(
                "a rate of rejection of {rate}, which must be above 0 and below 0.5"
            ));
        }
        self.rounded().of_core().validate().map_err(|error| error.to_string())
    }
}

impl Rejection {
    /// Rounds it to the numbers of a device, at a temperature of one.
    #[must_use]
    pub fn rounded(&self) -> DeployedConfidence {
        DeployedConfidence {
            scale: 1.0,
            least_margin: self.least_margin as f32,
            likelihoods: self.likelihoods.iter().map(|both| both.map(|x| x as f32)).collect(),
        }
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "probabilities by the softmax of {} times the decision values",
            to_three_digits(self.scale)
        )?;
        if let Some(rejection) = &self.rejection {
            write!(f, "; {rejection}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rejected if the margin is below {}", to_three_digits(self.least_margin))?;
        let ends = |end: fn(f64, f64) -> f64, of: usize| {
            self.likelihoods.iter().map(|both| both[of]).reduce(end).map(to_three_digits)
        };
        match ends(f64::min, 0).zip(ends(f64::max, 1)) {
            None => Ok(()),
            Some((least, most)) => write!(
                f,
                ", or if the log-likelihood per sample is outside the class's limits, {least} to {most} nats over all classes"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_are_refused() {
        let good = Confidence { scale: 2.0, rejection: None, windows: 3 };
        assert_eq!(good.check(2), Ok(()));
        for scale in [0.0, -1.0, f64::NAN, 1e300] {
            assert!(Confidence { scale, ..good.clone() }.check(2).is_err(), "{scale}");
        }
        let rejection = |likelihoods: &[[f64; 2]]| {
            let likelihoods = likelihoods.to_vec();
            let rejection = Rejection { rate: 0.05, least_margin: 0.1, likelihoods };
            Confidence { rejection: Some(rejection), ..good.clone() }.check(2)
        };
        assert_eq!(rejection(&[[-3.0, 1.0]; 2]), Ok(()));
        assert_eq!(rejection(&[]), Ok(()));
        assert!(rejection(&[[-3.0, 1.0]]).is_err());
        assert!(rejection(&[[-3.0, 1.0], [1.0, -3.0]]).is_err());
        assert!(rejection(&[[f64::NAN, 1.0]; 2]).is_err());
    }
}
