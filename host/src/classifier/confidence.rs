use std::fmt;

use fishweir_core::classify;
use serde::{Deserialize, Serialize};

use crate::words::to_three_digits;

/// What was learnt about a classifier's decisions on windows of the training data that were held back: the core's
/// [`Confidence`](classify::Confidence), in `f64`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confidence {
    /// What decision values are multiplied by: one over the temperature.
    pub scale: f64,
    /// When decisions had better not be taken; null where all are.
    pub rejection: Option<Rejection>,
    /// Windows held back that it was learnt from.
    pub windows: usize,
}

/// Thresholds of rejection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejection {
    /// The share of windows of known classes that was to be rejected.
    pub rate: f64,
    /// The least margin that is no close call.
    pub least_margin: f64,
    /// The least and the most log-likelihood under the likeliest model, in nats a sample; null where no model has
    /// any.
    pub likelihood: Option<[f64; 2]>,
}

impl Confidence {
    /// As a device holds it.
    #[must_use]
    pub fn rounded(&self) -> classify::Confidence {
        let scale = self.scale as f32;
        let all = || classify::Confidence::of_scale(scale);
        self.rejection.map_or_else(all, |rejection| rejection.with_scale(scale))
    }

    /// Whether its numbers are any; else what is wrong, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.rounded().validate().map_err(|error| error.to_string())
    }
}

impl Rejection {
    /// As a device holds it, beside no temperature.
    #[must_use]
    pub fn rounded(&self) -> classify::Confidence {
        self.with_scale(1.0)
    }

    fn with_scale(&self, scale: f32) -> classify::Confidence {
        let [least, most] = self.likelihood.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        classify::Confidence {
            scale,
            least_margin: self.least_margin as f32,
            least_likelihood: least as f32,
            most_likelihood: most as f32,
        }
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "probabilities, exp({} value) over their sum", to_three_digits(self.scale))?;
        if let Some(rejection) = &self.rejection {
            write!(f, "; {rejection}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rejected below a margin of {}", to_three_digits(self.least_margin))?;
        match self.likelihood {
            None => Ok(()),
            Some([least, most]) => write!(
                f,
                ", or outside {} to {} nats a sample under the likeliest model",
                to_three_digits(least),
                to_three_digits(most)
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
        assert_eq!(good.check(), Ok(()));
        for scale in [0.0, -1.0, f64::NAN, 1e300] {
            assert!(Confidence { scale, ..good.clone() }.check().is_err(), "{scale}");
        }
        let rejection = |likelihood| {
            let rejection = Rejection { rate: 0.05, least_margin: 0.1, likelihood };
            Confidence { rejection: Some(rejection), ..good.clone() }.check()
        };
        assert_eq!(rejection(Some([-3.0, 1.0])), Ok(()));
        assert_eq!(rejection(None), Ok(()));
        assert!(rejection(Some([1.0, -3.0])).is_err());
        assert!(rejection(Some([f64::NAN, 1.0])).is_err());
    }
}
