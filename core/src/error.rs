//! Errors: small, `Copy`, naming the culprit.

use core::fmt;

/// Reason why an observation was refused. After [`push`](crate::filter::Streaming::push) it is missing already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ObservationError {
    /// The model gives the stream up to and including this observation probability zero.
    Impossible,
    /// A symbol at or past the size of the alphabet.
    UnknownSymbol,
    /// A NaN or an infinity among the channels.
    NotFinite,
    /// A wrong number of channels.
    WrongLength,
    /// A channel that the model's integers do not hold: below -32768 or above 32767 in its units.
    OutOfRange,
    /// A channel that the emission family gives no density: no count, neither 0 nor 1, ...
    NotInSupport,
    /// One observation more than the stored sequences have: a kernel of sequences of a fixed length has
    /// its answer: reset required.
    PastEnd,
}

impl ObservationError {
    /// Returns the stable name of the fault, in kebab-case; that of the innermost error.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Impossible => "impossible",
            Self::UnknownSymbol => "unknown-symbol",
            Self::NotFinite => "not-finite",
            Self::WrongLength => "wrong-length",
            Self::OutOfRange => "out-of-range",
            Self::NotInSupport => "not-in-support",
            Self::PastEnd => "past-end",
        }
    }
}

impl fmt::Display for ObservationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Impossible => "the model gives this observation probability zero here",
            Self::UnknownSymbol => "symbol outside the model's alphabet",
            Self::NotFinite => "observation with a NaN or an infinity",
            Self::WrongLength => "observation with a wrong number of channels",
            Self::OutOfRange => "observation outside the range of 16-bit integers",
            Self::NotInSupport => "observation with a channel outside the emission's support",
            Self::PastEnd => "observation past the end of the stored sequence: reset required",
        })
    }
}

impl core::error::Error for ObservationError {}

/// A part of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Part {
    /// The initial distribution.
    Initial,
    /// The transition matrix, `[from][to]`.
    Transition,
    /// A categorical emission's probabilities, `[symbol]`.
    Probability,
    /// A mixture's weights, `[component]`.
    MixtureWeight,
    /// Parameter of an emission family per channel, `[channel]`, by name: `mean`, `variance`, `rate`, ...
    Parameter(&'static str),
    /// A dynamical system's covariance of the first state, `Sigma`, `[row][column]`.
    InitialCovariance,
    /// A dynamical system's covariance of the noise on the state, `Q`, `[row][column]`.
    StateNoise,
    /// A dynamical system's observation matrix, `C`, `[channel][row]`.
    Observation,
    /// A dynamical system's covariance of the noise on the channels, `R`, `[channel][channel]`.
    ObservationNoise,
    /// A distribution's normaliser.
    Normaliser,
    /// The tangents that directions attach to a model.
    Tangent,
    /// A prior over models or states.
    Prior,
    /// Probabilities of emitting nothing, `[state]`.
    Empty,
    /// End of a trajectory: probabilities `[state]`, or the final state.
    End,
    /// A classifier's weights on log-likelihoods, `[output][model]`.
    LikelihoodWeight,
    /// A classifier's biases, `[output]`.
    Bias,
    /// A kernel machine's coefficients, `[output][item]`.
    Coefficient,
    /// A kernel machine's stored items: their norms `[item]`, or their scores `[item][entry]`.
    StoredItem,
    /// Centring and whitening of scores: the centre, then the factors by rows.
    Whitening,
    /// The parameter of a kernel on scores.
    Kernel,
    /// A classifier's length normalisation.
    Normalisation,
    /// Forgetting factor of a detector.
    Memory,
    /// A detector's limits, `[statistic][mean, threshold]`.
    Limit,
    /// The lags of differences, `[lag]`.
    Lag,
    /// Codebooks, `[codebook]`: the dilation, the scales of the channels, or the weights of the codewords.
    Codebook,
    /// The columns of a row that a model reads, `[column]`.
    Column,
    /// A front end's settings, or tables: the hop, then the window, the bands' triangles, `[bin]`, the cosines,
    /// and the bands that bins are between; or a group's channels.
    Front,
    /// A spotter's classes of its states, `[state]`.
    StateClass,
    /// Calibration of decisions: `[scale, least margin]`, then limits of likelihood, `[class]`.
    Calibration,
}

/// Fault of a number in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ErrorKind {
    /// NaN or infinite.
    NotFinite,
    /// Below zero.
    Negative,
    /// Zero or below.
    NotPositive,
    /// Above one.
    AboveOne,
    /// A row of probabilities that does not sum to one.
    SumNotOne,
    /// A matrix that is not symmetric positive definite.
    NotPositiveDefinite,
    /// A matrix that is not symmetric.
    NotSymmetric,
    /// A covariance that is not positive semidefinite.
    NotPositiveSemidefinite,
    /// A number that contradicts the other parameters.
    Inconsistent,
    /// Outside the range that it may have.
    NotInRange,
    /// An absorbing silent state: sums over trajectories do not end.
    Endless,
    /// An unknown code.
    Unknown,
    /// More than the number format holds.
    OutOfRange,
}

impl ErrorKind {
    /// Returns the stable name of the fault, in kebab-case; that of the innermost error.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::NotFinite => "not-finite",
            Self::Negative => "negative",
            Self::NotPositive => "not-positive",
            Self::AboveOne => "above-one",
            Self::SumNotOne => "sum-not-one",
            Self::NotPositiveDefinite => "not-positive-definite",
            Self::NotSymmetric => "not-symmetric",
            Self::NotPositiveSemidefinite => "not-positive-semidefinite",
            Self::Inconsistent => "inconsistent",
            Self::NotInRange => "not-in-range",
            Self::Endless => "endless",
            Self::Unknown => "unknown-code",
            Self::OutOfRange => "out-of-range",
        }
    }
}

/// Reason why a model was refused: the number at fault, its part, and the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ModelError {
    /// The part of the model.
    pub part: Part,
    /// Fault of the number.
    pub kind: ErrorKind,
    /// The row: the state for a transition or an emission, the output for a classifier's weights.
    pub row: usize,
    /// The entry within the row.
    pub entry: usize,
}

impl ModelError {
    /// A flaw of one number.
    pub const fn new(part: Part, kind: ErrorKind, row: usize, entry: usize) -> Self {
        Self { part, kind, row, entry }
    }

    /// Moves the error to the emission of the given state.
    pub const fn of_state(self, state: usize) -> Self {
        Self { row: state, ..self }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = match self.part {
            Part::Initial => "initial distribution",
            Part::Transition => "transition",
            Part::Probability => "emission probability",
            Part::MixtureWeight => "mixture weight",
            Part::Parameter(name) => name,
            Part::InitialCovariance => "initial covariance",
            Part::StateNoise => "state noise",
            Part::Observation => "observation matrix",
            Part::ObservationNoise => "observation noise",
            Part::Normaliser => "normaliser",
            Part::Tangent => "tangent",
            Part::Prior => "prior",
            Part::Empty => "probability of emitting nothing",
            Part::End => "end",
            Part::LikelihoodWeight => "log-likelihood weight",
            Part::Bias => "bias",
            Part::Coefficient => "kernel machine's coefficient",
            Part::StoredItem => "stored item",
            Part::Whitening => "whitening",
            Part::Kernel => "kernel's parameter",
            Part::Normalisation => "length normalisation",
            Part::Memory => "memory",
            Part::Limit => "limit",
            Part::Codebook => "codebook",
            Part::Lag => "lag",
            Part::Column => "column",
            Part::Front => "front end",
            Part::StateClass => "class of a state",
            Part::Calibration => "calibration",
        };
        let kind = match self.kind {
            ErrorKind::NotFinite => "is not finite",
            ErrorKind::Negative => "is negative",
            ErrorKind::NotPositive => "is not positive",
            ErrorKind::AboveOne => "is above one",
            ErrorKind::SumNotOne => "does not sum to one",
            ErrorKind::NotPositiveDefinite => "is not symmetric positive definite",
            ErrorKind::NotSymmetric => "is not symmetric",
            ErrorKind::NotPositiveSemidefinite => "is not positive semi-definite",
            ErrorKind::Inconsistent => "disagrees with the other parameters",
            ErrorKind::NotInRange => "is out of range",
            ErrorKind::Endless => "is an absorbing silent state",
            ErrorKind::Unknown => "is not a known code",
            ErrorKind::OutOfRange => "is out of the number format's range",
        };
        write!(f, "{part} [{}][{}] {kind}", self.row, self.entry)
    }
}

impl core::error::Error for ModelError {}

/// Checks the number of channels.
///
/// # Errors
/// [`ObservationError::WrongLength`].
#[inline]
pub(crate) const fn check_length(found: usize, expected: usize) -> Result<(), ObservationError> {
    if found == expected { Ok(()) } else { Err(ObservationError::WrongLength) }
}

/// Checks that a symbol belongs to an alphabet of `size` symbols.
///
/// # Errors
/// [`ObservationError::UnknownSymbol`].
#[inline]
pub(crate) const fn check_symbol(symbol: usize, size: usize) -> Result<(), ObservationError> {
    if symbol < size { Ok(()) } else { Err(ObservationError::UnknownSymbol) }
}

/// Checks that rates of change are finite.
///
/// # Errors
/// Names the first entry with one that is not, in row 0.
pub(crate) fn check_tangents<T: crate::number::Real, G: crate::number::Tangent<T>>(
    tangents: impl Iterator<Item = G>,
) -> Result<(), ModelError> {
    for (entry, tangent) in tangents.enumerate() {
        if !tangent.is_finite() {
            return Err(ModelError::new(Part::Tangent, ErrorKind::NotFinite, 0, entry));
        }
    }
    Ok(())
}

/// Checks a row of probabilities: finite, not negative, summing to one.
///
/// # Errors
/// Names the first entry that is wrong, or the row.
pub(crate) fn check_distribution<T: crate::number::Real>(
    probabilities: impl Iterator<Item = T>,
    part: Part,
    row: usize,
) -> Result<(), ModelError> {
    check_distribution_within(T::SUM_TOLERANCE, probabilities, part, row)
}

/// [`check_distribution`] with a tolerance of the sum.
///
/// # Errors
/// As there.
pub(crate) fn check_distribution_within<T: crate::number::Real>(
    tolerance: T,
    probabilities: impl Iterator<Item = T>,
    part: Part,
    row: usize,
) -> Result<(), ModelError> {
    let mut sum = T::ZERO;
    for (entry, p) in probabilities.enumerate() {
        if !p.is_finite() {
            return Err(ModelError::new(part, ErrorKind::NotFinite, row, entry));
        }
        if p < T::ZERO {
            return Err(ModelError::new(part, ErrorKind::Negative, row, entry));
        }
        sum = sum + p;
    }
    let close = (sum - T::ONE).abs() <= tolerance;
    if !close {
        return Err(ModelError::new(part, ErrorKind::SumNotOne, row, 0));
    }
    Ok(())
}
