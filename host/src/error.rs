//! One error type for programs that need not distinguish between the library's modules.

use crate::kinds;

/// Error of the library: the errors of its modules convert to it by `?`, and keep their messages.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum Error {
    /// Data that cannot be read.
    #[error(transparent)]
    Data(#[from] crate::data::DataError),
    /// Folds that cannot be made.
    #[error(transparent)]
    Folds(#[from] crate::data::FoldError),
    /// An invalid model.
    #[error(transparent)]
    Model(#[from] crate::runtime::HmmError),
    /// A model that cannot be fitted.
    #[error(transparent)]
    Fit(#[from] crate::fit::FitError),
    /// A path that cannot be found.
    #[error(transparent)]
    Decode(#[from] crate::model::DecodeError),
    /// A model without hidden states.
    #[error(transparent)]
    Context(#[from] crate::model::ContextModelError),
    /// A classifier that cannot be trained.
    #[error(transparent)]
    Train(#[from] crate::learn::TrainError),
    /// A machine on kernel values that cannot be trained.
    #[error(transparent)]
    KernelLearn(#[from] crate::learn::KernelLearnError),
    /// Copies that cannot be made.
    #[error(transparent)]
    Augment(#[from] crate::learn::AugmentError),
    /// A detector that cannot be made.
    #[error(transparent)]
    Detector(#[from] crate::detect::DetectorError),
    /// A model file.
    #[error(transparent)]
    Classifier(#[from] crate::classifier::ClassifierError),
    /// Figures that cannot be computed.
    #[error(transparent)]
    Evaluate(#[from] crate::evaluate::EvaluateError),
    /// A kernel that has no value.
    #[error(transparent)]
    Kernel(#[from] crate::kernel::KernelError),
    /// An information matrix.
    #[error(transparent)]
    Information(#[from] crate::kernel::InformationError),
    /// A score that does not exist.
    #[error(transparent)]
    NoScore(#[from] crate::model::NoScore),
    /// A kernel by marginalisation.
    #[error(transparent)]
    Marginal(#[from] crate::kernel::marginal::MarginalError),
    /// A Gram matrix.
    #[error(transparent)]
    Gram(#[from] crate::kernel::GramError),
    /// A Gram matrix' file.
    #[error(transparent)]
    Format(#[from] crate::kernel::FormatError),
    /// A classifier that does not fit a device.
    #[error(transparent)]
    Deploy(#[from] crate::deploy::DeployError),
    /// A classifier that does not fit fixed point.
    #[error(transparent)]
    Quantise(#[from] crate::deploy::QuantiseError),
    /// Fixed point that decides otherwise.
    #[error(transparent)]
    Measure(#[from] crate::deploy::MeasureError),
    /// Limits that cannot be set.
    #[error(transparent)]
    Calibration(#[from] crate::deploy::CalibrationError),
    /// An artefact.
    #[error(transparent)]
    Artefact(#[from] crate::deploy::ArtefactFileError),
    /// A sample that is refused.
    #[error(transparent)]
    Push(#[from] crate::deploy::PushError),
    /// A decision that is out of range.
    #[error(transparent)]
    Range(#[from] fishweir_core::classify::ScoreOutOfRange),
    /// A sequence that a model makes impossible.
    #[error(transparent)]
    Sequence(#[from] fishweir_core::smooth::SequenceError),
    /// An invalid model of the core.
    #[error(transparent)]
    CoreModel(#[from] fishweir_core::ModelError),
    /// An observation that is invalid or impossible.
    #[error(transparent)]
    Observation(#[from] fishweir_core::ObservationError),
    /// A file that cannot be written.
    #[error(transparent)]
    File(#[from] crate::files::FileError),
    /// An emulated device.
    #[cfg(feature = "device")]
    #[error(transparent)]
    Device(#[from] crate::device::DeviceError),
}

kinds!(Error,
    Self::Data(error) => error,
    Self::Folds(error) => error,
    Self::Model(error) => error,
    Self::Fit(error) => error,
    Self::Decode(error) => error,
    Self::Context(error) => error,
    Self::Train(error) => error,
    Self::KernelLearn(error) => error,
    Self::Augment(error) => error,
    Self::Detector(error) => error,
    Self::Classifier(error) => error,
    Self::Evaluate(error) => error,
    Self::Kernel(error) => error,
    Self::Information(error) => error,
    Self::NoScore(error) => error,
    Self::Marginal(error) => error,
    Self::Gram(error) => error,
    Self::Format(error) => error,
    Self::Deploy(error) => error,
    Self::Quantise(error) => error,
    Self::Measure(error) => error,
    Self::Calibration(error) => error,
    Self::Artefact(error) => error,
    Self::Push(error) => error,
    Self::Range(error) => error,
    Self::Sequence(error) => error,
    Self::CoreModel(error) => error,
    Self::Observation(error) => error,
    Self::File(error) => error,
    #[cfg(feature = "device")] Self::Device(error) => error,
);
