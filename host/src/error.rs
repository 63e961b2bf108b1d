//! One error for programs that do not tell apart which room one comes from.

macro_rules! errors {
    ($($variant:ident($error:ty), $what:literal;)*) => {
        /// Whatever can fail: every error of the library converts to it by `?`, and says what it says.
        #[derive(Debug, thiserror::Error)]
        #[non_exhaustive]
        pub enum Error {
            $(
                #[doc = $what]
                #[error(transparent)]
                $variant(#[from] $error),
            )*
        }
    };
}

errors! {
    Data(crate::data::DataError), "Data that cannot be read.";
    Folds(crate::data::FoldError), "Folds that cannot be made.";
    Model(crate::runtime::HmmError), "A model that is none.";
    Fit(crate::fit::FitError), "A model that cannot be fitted.";
    Decode(crate::fit::DecodeError), "A path that cannot be found.";
    Context(crate::context::ContextModelError), "A model without hidden states.";
    Train(crate::learn::TrainError), "A classifier that cannot be trained.";
    Trial(crate::learn::TrialError), "A detector that cannot be made.";
    Classifier(crate::classifier::ClassifierError), "A model file.";
    Evaluate(crate::evaluate::EvaluateError), "Figures that cannot be computed.";
    Kernel(crate::kernel::KernelError), "A kernel that has no value.";
    Marginal(crate::kernel::marginal::MarginalError), "A kernel by marginalisation.";
    Gram(crate::kernel::GramError), "A Gram matrix.";
    Format(crate::kernel::FormatError), "A Gram matrix' file.";
    Deploy(crate::deploy::ExpansionError), "What a device does not hold.";
    Compile(crate::deploy::CompileError), "What does not compile to a stream.";
    Quantise(crate::deploy::QuantiseError), "What fixed point does not hold.";
    Measure(crate::deploy::MeasureError), "Fixed point that decides otherwise.";
    Calibration(crate::deploy::CalibrationError), "Limits that cannot be set.";
    Artefact(crate::deploy::ArtefactFileError), "An artefact.";
    Push(crate::deploy::PushError), "A sample that is refused.";
    Range(fishweir_core::classify::ScoreOutOfRange), "A decision that is out of range.";
    Sequence(fishweir_core::smooth::SequenceError), "A sequence that a model makes impossible.";
    File(crate::files::FileError), "A file that cannot be written.";
}
