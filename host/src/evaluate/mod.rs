//! Evaluation: decisions on labelled windows, cross-validation, and the figures that sum them up.

mod calibration;
mod cross_validation;
mod figures;
mod interval;
mod judge;
mod kernel;
mod latency;
mod rejection;
mod roc;
mod tally;
mod thresholds;
mod unknown;

pub use calibration::{Calibration, ReliabilityBin};
pub use cross_validation::{
    CrossValidation, CrossValidationOptions, Floor, FoldFigures, JudgedFold, check, cross_validate,
    join_folds, judge_folds,
};
pub use figures::{ClassFigures, Figures};
pub use interval::{Interval, Units};
pub use judge::{Judged, judge, rejected};
pub use kernel::cross_validate_kernel;
pub use latency::Latency;
pub use rejection::{confidence, learn_confidence, leave_classes_out};
pub use roc::Roc;
pub use tally::Tally;
pub use thresholds::{RejectionFigures, Unseen, thresholds};
pub use unknown::UnknownClass;

use crate::classifier::Classifier;
use crate::data::{Dataset, Windowing};
use crate::deploy::{DeployError, Deployed};
use crate::learn::{ClassifierKind, TrainError};

/// Reason why an evaluation failed.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum EvaluateError {
    /// A series that is longer than the windows that the classifier was trained on.
    #[error(
        "a series of {length} samples is longer than the windows of {window} that the classifier decides on: \
         `predict_windows` decides on each"
    )]
    LongerThanWindow {
        /// Number of samples of the series.
        length: usize,
        /// Number of samples of a window.
        window: usize,
    },
    /// Training failed.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A classifier does not fit in `f32`, or on a device.
    #[error(transparent)]
    Deploy(#[from] DeployError),
    /// A machine on kernel values could not be trained.
    #[error(transparent)]
    Kernel(#[from] crate::learn::KernelLearnError),
    /// The data could not be used.
    #[error(transparent)]
    Data(#[from] crate::data::DataError),
    /// Data of another kind than the classifier's.
    #[error("{file}: has {found}, and the classifier observes {wanted}")]
    #[strum(serialize = "wrong-observations")]
    Observes {
        /// The data.
        file: String,
        /// Observations of the data.
        found: String,
        /// Observations of the classifier.
        wanted: String,
    },
    /// No labelled window.
    #[error("{0}: no window to evaluate on; shorten the window or keep short series")]
    NoWindows(String),
    /// Too few windows to learn confidence from.
    #[error(
        "{0}: fewer than two folds have a labelled window, so calibration has no held-out windows"
    )]
    NothingHeldBack(String),
    /// A class that was to be left out could not be.
    #[error("with class `{class}` left out: {source}")]
    LeftOut {
        /// The class.
        class: String,
        /// Error without it.
        source: Box<EvaluateError>,
    },
    /// Confidence of a classifier without it.
    #[error(
        "a model of {0} is a kernel machine, without calibration and rejection; linear classifiers such as fisher \
         have both"
    )]
    KeepsNoConfidence(ClassifierKind),
    /// An invalid share to reject.
    #[error("a rate of rejection of {0}; it must be above 0 and below 0.5")]
    #[strum(serialize = "bad-rate")]
    Rate(f64),
}

crate::kinds!(EvaluateError,
    Self::Train(error) => error,
    Self::Deploy(error) => error,
    Self::Kernel(error) => error,
    Self::Data(error) => error,
    Self::LeftOut { source: error, .. } => error,
);

/// Evaluates a trained classifier on a labelled data set read with its classes and observations.
///
/// # Errors
/// [`EvaluateError::NoWindows`], or [`EvaluateError::Data`] for the first series without a label, and for data at another
/// rate than that of the training.
pub fn evaluate(
    deployed: &Deployed,
    data: &Dataset,
    windowing: Option<&Windowing>,
) -> Result<(Figures, Vec<Judged>), EvaluateError> {
    if let Some(contract) = deployed.contract() {
        contract.check_rate(data)?;
    }
    data.labels()?;
    let windows = data.windows(windowing);
    let judged = judge(deployed, windows.all());
    if judged.is_empty() {
        return Err(EvaluateError::NoWindows(data.source().to_owned()));
    }
    Ok((Figures::of(deployed.classes(), &judged), judged))
}

/// The windowing that a classifier was trained with, unless another is asked for.
pub fn windowing_of(classifier: &Classifier, asked: Option<Windowing>) -> Option<Windowing> {
    asked.or(classifier.provenance.windowing)
}
