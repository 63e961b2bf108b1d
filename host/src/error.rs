//! Kinds of errors, and one error for programs that do not tell apart which room one comes from.

use fishweir_core::artefact::ArtefactError;
use fishweir_core::classify::ScoreOutOfRange;
use fishweir_core::context::ContextError;
use fishweir_core::contract::{ContractError, WindowsError};
use fishweir_core::smooth::SequenceError;
use fishweir_core::update::UpdateError;
use fishweir_core::{ModelError, ObservationError};

/// An error whose kind has a stable name, for programs that tell errors apart.
pub trait StableKind {
    /// Returns the stable name of what is wrong, in kebab-case, such as `unknown-label`: that of the innermost error.
    fn kind(&self) -> &'static str;
}

/// Gives an enum of errors a `kind`: the name of its variant, or, of variants that are listed, the kind of the error
/// inside.
#[doc(hidden)]
#[macro_export]
macro_rules! kinds {
    ($error:ident $(, $(#[$when:meta])? $variant:pat => $inner:ident)* $(,)?) => {
        impl $error {
            /// Returns the stable name of what is wrong, in kebab-case, such as `unknown-label`: that of the innermost
            /// error.
            pub fn kind(&self) -> &'static str {
                #[allow(unused_imports)]
                use $crate::StableKind as _;
                #[allow(unreachable_patterns)]
                match self {
                    $($(#[$when])? $variant => $inner.kind(),)*
                    other => other.into(),
                }
            }
        }

        impl $crate::StableKind for $error {
            fn kind(&self) -> &'static str {
                $error::kind(self)
            }
        }
    };
}

pub(crate) use kinds;

/// Gives an error of another crate a kind.
macro_rules! foreign_kinds {
    ($error:path, $self:ident => $kind:expr) => {
        impl StableKind for $error {
            fn kind(&$self) -> &'static str {
                $kind
            }
        }
    };
}

foreign_kinds!(std::io::Error, self => "io");
foreign_kinds!(csv::Error, self => "io");
foreign_kinds!(serde_json::Error, self => "io");
foreign_kinds!(ScoreOutOfRange, self => "score-out-of-range");
foreign_kinds!(ModelError, self => self.kind.kind());
// The core names its own: there the compiler asks for the name of each new error.
foreign_kinds!(ObservationError, self => Self::kind(self));
foreign_kinds!(SequenceError, self => Self::kind(self));
foreign_kinds!(ContextError, self => Self::kind(self));
foreign_kinds!(fishweir_core::kernel::KernelError, self => Self::kind(self));
foreign_kinds!(WindowsError, self => Self::kind(self));
foreign_kinds!(ContractError, self => Self::kind(self));
foreign_kinds!(ArtefactError, self => Self::kind(self));
foreign_kinds!(UpdateError, self => Self::kind(self));

/// What can fail: the errors of the library's rooms convert to it by `?`, and say what they say.
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
    /// A model that is none.
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
    /// A score that there is none of.
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
    /// What a device does not hold.
    #[error(transparent)]
    Deploy(#[from] crate::deploy::DeployError),
    /// What fixed point does not hold.
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
    /// A model of the core's that is none.
    #[error(transparent)]
    CoreModel(#[from] fishweir_core::ModelError),
    /// An observation that is none, or impossible.
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
