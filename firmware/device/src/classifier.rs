//! Traits that an application needs of a classifier, and of a sample on the wire.

use fishweir_core::ObservationError;
use fishweir_core::classify::{
    Classifier, Decision, ScoreOutOfRange, StaggeredStates, WindowClassifier,
};
use fishweir_core::contract::Contract;
use fishweir_core::emission::{ChannelQ15, count, yes_or_no};
use fishweir_core::filter::{Stream, Streaming};
use fishweir_core::number::NumberFormat;
use fishweir_core::wire::{
    F32, FaultKind, SampleIndex, SampleKind, TeachState, TeachStep, U16, UpdateProgress,
};
use zerocopy::{FromBytes, Immutable, IntoBytes, Unaligned};

/// An observation that has a form on the wire.
pub trait WireSample: Sized {
    /// Bytes of the sample on the wire.
    type Wire: FromBytes + IntoBytes + Immutable + Unaligned;
    /// Vector or symbol.
    const KIND: SampleKind;
    /// Values in a sample.
    const LENGTH: usize;

    /// The observation that the bytes stand for.
    ///
    /// # Errors
    /// Where they stand for none.
    fn from_wire(wire: Self::Wire) -> Result<Self, ObservationError>;
}

impl<const D: usize> WireSample for [f32; D] {
    type Wire = [F32; D];
    const KIND: SampleKind = SampleKind::Vector;
    const LENGTH: usize = D;

    /// The model judges its channels itself.
    fn from_wire(wire: [F32; D]) -> Result<Self, ObservationError> {
        Ok(wire.map(F32::get))
    }
}

/// Channels in fixed point: the wire carries their integers as reals. One that is no number or that 16
/// bits do not hold is refused, never brought into range.
impl<const D: usize> WireSample for [i16; D] {
    type Wire = [F32; D];
    const KIND: SampleKind = SampleKind::Vector;
    const LENGTH: usize = D;

    fn from_wire(wire: [F32; D]) -> Result<Self, ObservationError> {
        let mut channels = [0; D];
        for (channel, value) in channels.iter_mut().zip(wire) {
            *channel = ChannelQ15::integer(value.get().into())?;
        }
        Ok(channels)
    }
}

/// Counts: the wire carries them as reals. What is no count is refused, never rounded.
impl<const D: usize> WireSample for [u32; D] {
    type Wire = [F32; D];
    const KIND: SampleKind = SampleKind::Vector;
    const LENGTH: usize = D;

    fn from_wire(wire: [F32; D]) -> Result<Self, ObservationError> {
        let mut counts = [0; D];
        for (slot, value) in counts.iter_mut().zip(wire) {
            *slot = count(value.get().into())?;
        }
        Ok(counts)
    }
}

/// Yes or no: the wire carries 1 or 0, and any other value is refused.
impl<const D: usize> WireSample for [bool; D] {
    type Wire = [F32; D];
    const KIND: SampleKind = SampleKind::Vector;
    const LENGTH: usize = D;

    fn from_wire(wire: [F32; D]) -> Result<Self, ObservationError> {
        let mut answers = [false; D];
        for (answer, value) in answers.iter_mut().zip(wire) {
            *answer = yes_or_no(value.get().into())?;
        }
        Ok(answers)
    }
}

/// Channels that may be missing: NaN on the wire. One type by one: of any at once the compiler finds no end.
macro_rules! in_part {
    ($($channel:ty),*) => {$(
        impl<const D: usize> WireSample for [Option<$channel>; D] {
            type Wire = [F32; D];
            const KIND: SampleKind = SampleKind::Vector;
            const LENGTH: usize = D;

            fn from_wire(wire: [F32; D]) -> Result<Self, ObservationError> {
                let mut channels = [None; D];
                for (channel, value) in channels.iter_mut().zip(wire) {
                    if !value.get().is_nan() {
                        let [x] = <[$channel; 1]>::from_wire([value])?;
                        *channel = Some(x);
                    }
                }
                Ok(channels)
            }
        }
    )*};
}

in_part!(f32, u32, bool, i16);

impl WireSample for usize {
    type Wire = U16;
    const KIND: SampleKind = SampleKind::Symbol;
    const LENGTH: usize = 1;

    fn from_wire(wire: U16) -> Result<Self, ObservationError> {
        Ok(Self::from(wire.get()))
    }
}

/// Standing of a decision after the last sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Due {
    /// A decision is due: the sample filled a window, or the model decides on streams without windows.
    Decided,
    /// The decision is that of a partly filled window.
    SoFar,
    /// No decision: the sample is between windows, or in a gap that is too long.
    NoWindow,
}

/// A classifier in the middle of a stream: a model and its state.
pub trait ClassifierStream<const MODELS: usize> {
    /// Type of a sample.
    type Sample: WireSample;
    /// Buffer for the longest request about updates; empty if the classifier takes none.
    type Update: FromBytes + IntoBytes + Unaligned;
    /// The format of the model's numbers.
    const FORMAT: NumberFormat = NumberFormat::F32;

    /// Takes in one sample, `None` for a missing one. A refused sample is missing: time passes once in any case.
    ///
    /// # Errors
    /// Why it was refused.
    fn push(&mut self, sample: Option<&Self::Sample>) -> Result<(), ObservationError>;
    /// Starts a new stream.
    fn reset(&mut self);
    /// Contract of the training data, which the stream keeps to.
    fn contract(&self) -> Contract<'_> {
        Contract::NONE
    }
    /// Returns whether a decision is due after the last sample.
    fn due(&self) -> Due {
        Due::Decided
    }
    /// The decision: that of the window which the last sample filled, or that of the oldest open window so far. Before
    /// the first sample, and in no window, that of a new stream.
    ///
    /// # Errors
    /// [`ScoreOutOfRange`], of a kernel machine on scores.
    fn decision(&self) -> Result<Decision, ScoreOutOfRange>;
    /// The log-likelihood of the same samples, `[model]`; for a kernel machine, which has none to show,
    /// its decision values, `[output]`.
    ///
    /// # Errors
    /// As [`decision`](Self::decision).
    fn log_likelihoods(&self) -> Result<[f32; MODELS], ScoreOutOfRange>;
    /// Number of classes.
    fn classes(&self) -> usize;
    /// Bytes of the model.
    fn model_bytes(&self) -> usize;
    /// Bytes of the state.
    fn state_bytes(&self) -> usize;

    /// Does the work that is due between two samples, however long it takes: called after each, and not measured.
    fn between_samples(&mut self) {}

    /// Saves the learnt model and returns the number of models saved; `None` if the classifier does not learn.
    fn save(&mut self) -> Option<u32> {
        None
    }

    /// Hands over the expected counts of the stream so far, its log-likelihood first, and returns the
    /// [checksum](fishweir_core::artefact::model_checksum) of their model; `None` if the classifier counts nothing.
    fn counts(&self, each: &mut dyn FnMut(f32)) -> Option<u32> {
        let _ = each;
        None
    }

    /// Does a step about [taught classes](fishweir_core::classify::teach), and says how it went; the index of the state is
    /// the caller's to set.
    ///
    /// # Errors
    /// If there is no such step, or the classifier cannot be taught.
    fn teach(&mut self, step: &TeachStep) -> Result<TeachState, FaultKind> {
        let _ = step;
        Err(FaultKind::UnknownRequest)
    }

    /// Answers a request about an [update](crate::update) of the model; `next` is where the next sample is
    /// expected.
    ///
    /// # Errors
    /// If the request is invalid, or the classifier takes no updates.
    fn update(
        &mut self,
        next: SampleIndex,
        tag: u8,
        payload: &[u8],
    ) -> Result<UpdateProgress, FaultKind> {
        let _ = (next, tag, payload);
        Err(FaultKind::UnknownRequest)
    }
}

/// Stream that never ends, whatever the model was trained on.
impl<R, const MODELS: usize> ClassifierStream<MODELS> for Stream<&R>
where
    R: Classifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample + Sized>,
{
    type Sample = R::Observation;
    type Update = [u8; 0];
    const FORMAT: NumberFormat = R::FORMAT;

    fn push(&mut self, sample: Option<&Self::Sample>) -> Result<(), ObservationError> {
        Stream::push(self, sample)
    }

    fn reset(&mut self) {
        Stream::reset(self);
    }

    fn decision(&self) -> Result<Decision, ScoreOutOfRange> {
        self.recursion().decision(self.state())
    }

    fn log_likelihoods(&self) -> Result<[f32; MODELS], ScoreOutOfRange> {
        self.recursion().evidence(self.state())
    }

    fn classes(&self) -> usize {
        self.recursion().classes()
    }

    fn model_bytes(&self) -> usize {
        self.recursion().size_bytes()
    }

    fn state_bytes(&self) -> usize {
        size_of_val(self.state())
    }
}

/// Stream on the windows that the model was trained on.
impl<R, const MODELS: usize, const STATES: usize> ClassifierStream<MODELS>
    for Stream<WindowClassifier<'_, &R, STATES>>
where
    R: Classifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample + Sized>,
{
    type Sample = R::Observation;
    type Update = [u8; 0];
    const FORMAT: NumberFormat = R::FORMAT;

    fn push(&mut self, sample: Option<&Self::Sample>) -> Result<(), ObservationError> {
        Stream::push(self, sample)
    }

    fn reset(&mut self) {
        Stream::reset(self);
    }

    fn contract(&self) -> Contract<'_> {
        *self.recursion().contract()
    }

    fn due(&self) -> Due {
        due(self.recursion(), self.state())
    }

    fn decision(&self) -> Result<Decision, ScoreOutOfRange> {
        of_window(self.recursion(), self.state(), R::decision)
    }

    fn log_likelihoods(&self) -> Result<[f32; MODELS], ScoreOutOfRange> {
        of_window(self.recursion(), self.state(), R::evidence)
    }

    fn classes(&self) -> usize {
        self.recursion().classifier().classes()
    }

    fn model_bytes(&self) -> usize {
        self.recursion().classifier().size_bytes()
    }

    fn state_bytes(&self) -> usize {
        size_of_val(self.state())
    }
}

/// Returns the standing of a decision in a state of windows.
pub(crate) fn due<R: Streaming, const STATES: usize>(
    windows: &WindowClassifier<'_, &R, STATES>,
    state: &StaggeredStates<R::State, STATES>,
) -> Due {
    match (windows.decided(state), windows.open(state)) {
        (Some(_), _) => Due::Decided,
        (None, Some(_)) => Due::SoFar,
        (None, None) => Due::NoWindow,
    }
}

/// Reads the window that was filled, or the oldest that is open; a new stream if no window is open.
pub fn of_window<R: Streaming, T, const STATES: usize>(
    windows: &WindowClassifier<'_, &R, STATES>,
    state: &StaggeredStates<R::State, STATES>,
    read: impl FnOnce(&R, &R::State) -> T,
) -> T {
    let classifier = *windows.classifier();
    match windows.open(state) {
        Some(state) => read(classifier, state),
        None => of_new(classifier, read),
    }
}

/// Out of line: a state for itself lies on its stack.
#[cold]
#[inline(never)]
fn of_new<R: Streaming, T>(classifier: &R, read: impl FnOnce(&R, &R::State) -> T) -> T {
    read(classifier, &classifier.initial_state())
}
