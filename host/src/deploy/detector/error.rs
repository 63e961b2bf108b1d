//! Errors of detectors.

use super::super::error::DeployError;
use crate::runtime::HmmError;

/// False alarms that the normal streams must have room for.
pub(super) const FEWEST_ALARMS: usize = 10;

/// Reason why a detector was not calibrated.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum CalibrationError {
    /// A setting out of range.
    #[error("{setting} is {value}; it must be {wanted}")]
    #[strum(serialize = "bad-setting")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// Value of the setting.
        value: f64,
        /// Valid range.
        wanted: &'static str,
    },
    /// An invalid model.
    #[error(transparent)]
    Model(#[from] HmmError),
    /// A number that a device cannot hold, or a direction of another family than the model.
    #[error(transparent)]
    Compile(#[from] DeployError),
    /// A direction of another shape, or an observation of another size, than the model's.
    #[error("{0} does not fit the model")]
    #[strum(serialize = "wrong-shape")]
    Shape(&'static str),
    /// Too few samples to estimate the rate of alarms.
    #[error(
        "{observed} samples without a change are too few for one false alarm in {mean_time}: at least {:.0} are \
         needed; with these the mean time can be at most {:.0}",
        FEWEST_ALARMS as f64 * mean_time, (*observed as f64 / FEWEST_ALARMS as f64).floor()
    )]
    #[strum(serialize = "too-few-samples")]
    TooFew {
        /// Samples that the model takes.
        observed: usize,
        /// Requested mean time.
        mean_time: f64,
    },
}

crate::kinds!(CalibrationError,
    Self::Model(error) => error,
    Self::Compile(error) => error,
);
