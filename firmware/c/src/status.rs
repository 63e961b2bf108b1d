use fishweir_core::ObservationError;

/// Outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// The sample is impossible under all models left: it is missing.
    Impossible = 1,
    /// A channel is NaN that may not be missing, infinite or no integer of the model's range, or the symbol is
    /// outside the alphabet: the sample is missing.
    Invalid = 2,
    /// A pointer is null.
    NullPointer = 3,
    /// A pointer is not aligned as its type is.
    Misaligned = 4,
    /// A size or a count is not this model's: the header belongs to another library.
    WrongSize = 5,
    /// fishweir_init() has not been called on this stream.
    NotStarted = 6,
    /// Channels for a model over symbols, or a symbol for one over channels; or a question for another kind of model:
    /// answers: a decision, asked of a change detector.
    WrongKind = 7,
    /// The artefact that was compiled in is damaged.
    BadModel = 8,
    /// One sample more than the model has positions: the sample is missing, and so is every later one until
    /// the next window begins, or fishweir_reset().
    PastEnd = 9,
    /// The scores of a kernel machine are out of the range of its numbers: nothing is decided until
    /// later samples bring them back, the next window begins, or fishweir_reset().
    Undecided = 10,
    /// No decision is due: the last sample filled no window. Of fishweir_decide_so_far(): no window is open,
    /// or partly filled ones do not decide.
    NoDecision = 11,
}

impl Status {
    /// The status of some work.
    pub(crate) fn of(work: impl FnOnce() -> Result<(), Self>) -> Self {
        work().err().unwrap_or(Self::Ok)
    }

    /// Returns the status for a refused sample.
    pub(crate) const fn refusing(error: ObservationError) -> Self {
        match error {
            ObservationError::Impossible => Self::Impossible,
            ObservationError::PastEnd => Self::PastEnd,
            _ => Self::Invalid,
        }
    }
}
