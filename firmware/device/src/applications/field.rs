//! Classifies a stream, and takes updates of its model over the same line.
//!
//! Speaks the format of [`fishweir_core::wire`] as [`classify_stream`](super::classify_stream) does, and answers
//! requests `U`, `C` and `V` beside. An [update](crate::update) is received between samples; its model begins with
//! the next stream, and is confirmed when it has taken in as many samples as [`Settings`] ask for. While flash is
//! erased or written nothing else happens: samples that are lost meanwhile are counted as lost.

use embedded_io::{Read, Write};
use fishweir_core::ObservationError;
use fishweir_core::artefact::StoredClassifier;
use fishweir_core::classify::{Decision, ScoreOutOfRange, StaggeredStates, WindowClassifier};
use fishweir_core::contract::Contract;
use fishweir_core::filter::Streaming;
use fishweir_core::number::NumberFormat;
use fishweir_core::wire::{
    FaultKind, Report, Request, SampleIndex, UpdateChunk, UpdatePiece, UpdateProgress, UpdateStatus,
};
use zerocopy::FromBytes;

use super::classify_stream::classify_stream;
#[cfg(any(feature = "async", test))]
use super::classify_stream::classify_stream_async;
use crate::classifier::{ClassifierStream, Due, WireSample, due, of_window};
use crate::log::log;
use crate::meter::Meter;
use crate::update::{MappedFlash, Trust, Updates};
use fishweir_core::classify::Classifier;

/// Conditions that an update has to meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Version of the model that the image was built with: only newer ones are taken.
    pub built_in: u32,
    /// Samples that a new model takes in before it is confirmed.
    pub trial: u32,
}

impl Settings {
    /// Any version is newer than the built-in model's; a trial of 16 samples.
    pub const DEFAULT: Self = Self { built_in: 0, trial: 16 };
}

/// Answers requests until the host sends `X` or the stream ends, with the newest model in `flash` or else the
/// `built_in` one.
///
/// Of what [`classify_stream`] takes, RAM grows by one request.
///
/// # Errors
/// When the flash cannot be read at the start, or when the transport fails.
pub fn field<S, F, T, M, C, const MODELS: usize, const STATES: usize>(
    serial: &mut S,
    flash: F,
    trust: T,
    meter: &M,
    built_in: WindowClassifier<'_, &C, STATES>,
    settings: &Settings,
) -> Result<Report, FieldError<S::Error, F::Error>>
where
    S: Read + Write,
    F: MappedFlash,
    T: Trust,
    M: Meter,
    C: StoredClassifier
        + Classifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample + Sized>,
{
    let mut replaceable =
        UpdatableClassifier::start(flash, trust, built_in, settings).map_err(FieldError::Flash)?;
    classify_stream(serial, &mut replaceable, meter).map_err(FieldError::Transport)
}

/// [`field`] over a line that others run beside: the same bytes out. Flash that is erased or written holds them up.
///
/// # Errors
/// As [`field`].
#[cfg(any(feature = "async", test))]
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
pub async fn field_async<S, F, T, M, C, const MODELS: usize, const STATES: usize>(
    serial: &mut S,
    flash: F,
    trust: T,
    meter: &M,
    built_in: WindowClassifier<'_, &C, STATES>,
    settings: &Settings,
) -> Result<Report, FieldError<S::Error, F::Error>>
where
    S: embedded_io_async::Read + embedded_io_async::Write,
    F: MappedFlash,
    T: Trust,
    M: Meter,
    C: StoredClassifier
        + Classifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample + Sized>,
{
    let mut replaceable =
        UpdatableClassifier::start(flash, trust, built_in, settings).map_err(FieldError::Flash)?;
    classify_stream_async(serial, &mut replaceable, meter).await.map_err(FieldError::Transport)
}

/// Reason why nothing could be classified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FieldError<S, F> {
    /// The flash could not be read.
    Flash(F),
    /// The transport failed.
    Transport(S),
}

/// A stream whose model may change at its next start, for [`field`].
///
/// For samples that do not come over the line, push them here, [`between_samples`](ClassifierStream::between_samples) after each:
/// a [session](crate::session::Session) about it takes the updates, and lends it by
/// [`classifier`](crate::session::Session::classifier).
pub struct UpdatableClassifier<
    'm,
    F,
    T,
    C: Classifier<Real = f32, Evidence = [f32; MODELS]>,
    const MODELS: usize,
    const STATES: usize,
> {
    updates: Updates<F, T, C, MODELS>,
    built_in: WindowClassifier<'m, &'m C, STATES>,
    /// Contract of the running update, without its channels.
    contract: Option<Contract<'static>>,
    state: StaggeredStates<C::State, STATES>,
    trial: u32,
    /// Samples that the model on trial has taken in.
    seen: u32,
}

impl<'m, F, T, C, const MODELS: usize, const STATES: usize>
    UpdatableClassifier<'m, F, T, C, MODELS, STATES>
where
    F: MappedFlash,
    T: Trust,
    C: StoredClassifier
        + Classifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample + Sized>,
{
    /// The newest model in `flash` that may run, or else the `built_in` one, before its first sample.
    ///
    /// # Errors
    /// When the flash cannot be read.
    pub fn start(
        flash: F,
        trust: T,
        built_in: WindowClassifier<'m, &'m C, STATES>,
        settings: &Settings,
    ) -> Result<Self, F::Error> {
        let windows = built_in.contract().windows;
        let updates = Updates::start(flash, trust, settings.built_in, windows)?;
        log!(info, "model version {=u32}", updates.version());
        let contract = without_channels(updates.contract());
        let state = running(&updates, &built_in, &contract).initial_state();
        Ok(Self { updates, built_in, contract, state, trial: settings.trial, seen: 0 })
    }

    /// Returns whether a newer model waits, which runs from the next [`reset`](ClassifierStream::reset) on.
    #[must_use]
    pub fn has_newer(&self) -> bool {
        self.updates.status() == UpdateStatus::Received
    }

    /// Returns the version of the model that runs; that of [`Settings`] for the model of the image.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.updates.version()
    }

    fn running(&self) -> WindowClassifier<'_, &C, STATES> {
        running(&self.updates, &self.built_in, &self.contract)
    }
}

/// Returns the part of an update's contract that a stream keeps: channels lie in its flash.
fn without_channels(contract: Option<Contract<'_>>) -> Option<Contract<'static>> {
    contract.map(|Contract { windows, period, .. }| Contract { windows, period, ..Contract::NONE })
}

/// The model that runs, on its windows. What an update's take was checked where it was received.
fn running<'a, F, T, C, const MODELS: usize, const STATES: usize>(
    updates: &'a Updates<F, T, C, MODELS>,
    built_in: &WindowClassifier<'a, &'a C, STATES>,
    contract: &'a Option<Contract<'static>>,
) -> WindowClassifier<'a, &'a C, STATES>
where
    F: MappedFlash,
    T: Trust,
    C: StoredClassifier
        + Classifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample + Sized>,
{
    match updates.model().zip(contract.as_ref()) {
        Some((model, contract)) => WindowClassifier::from_parts(model, contract),
        None => *built_in,
    }
}

impl<F, T, C, const MODELS: usize, const STATES: usize> ClassifierStream<MODELS>
    for UpdatableClassifier<'_, F, T, C, MODELS, STATES>
where
    F: MappedFlash,
    T: Trust,
    C: StoredClassifier
        + Classifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample + Sized>,
{
    type Sample = C::Observation;
    type Update = UpdateChunk;
    const FORMAT: NumberFormat = C::FORMAT;

    fn push(&mut self, sample: Option<&Self::Sample>) -> Result<(), ObservationError> {
        let running = running(&self.updates, &self.built_in, &self.contract);
        running.push(&mut self.state, sample)?;
        self.seen = self.seen.saturating_add(sample.is_some().into());
        Ok(())
    }

    fn between_samples(&mut self) {
        if self.seen >= self.trial && self.updates.is_on_trial() {
            if self.updates.confirm().is_ok() {
                log!(info, "model version {=u32} confirmed", self.updates.version());
            } else {
                log!(error, "the model cannot be confirmed: the flash failed");
            }
        }
    }

    fn reset(&mut self) {
        match self.updates.begin_stream() {
            Ok(false) => {}
            Ok(true) => {
                self.seen = 0;
                self.contract = without_channels(self.updates.contract());
                log!(info, "model version {=u32} on trial", self.updates.version());
            }
            Err(_) => log!(error, "the new model does not begin: the flash failed"),
        }
        let running = running(&self.updates, &self.built_in, &self.contract);
        running.restart(&mut self.state);
    }

    fn contract(&self) -> Contract<'_> {
        self.updates.contract().unwrap_or(*self.built_in.contract())
    }

    fn due(&self) -> Due {
        due(&self.running(), &self.state)
    }

    fn decision(&self) -> Result<Decision, ScoreOutOfRange> {
        of_window(&self.running(), &self.state, C::decision)
    }

    fn log_likelihoods(&self) -> Result<[f32; MODELS], ScoreOutOfRange> {
        of_window(&self.running(), &self.state, C::evidence)
    }

    fn classes(&self) -> usize {
        self.running().classifier().classes()
    }

    fn model_bytes(&self) -> usize {
        self.running().classifier().size_bytes()
    }

    fn state_bytes(&self) -> usize {
        size_of_val(&self.state)
    }

    fn update(
        &mut self,
        next: SampleIndex,
        tag: u8,
        payload: &[u8],
    ) -> Result<UpdateProgress, FaultKind> {
        let status = match Request::from_tag(tag) {
            Some(Request::Offer) => {
                let header = payload.try_into().map_err(|_| FaultKind::Length)?;
                self.updates.offer(header)
            }
            Some(Request::Chunk) => {
                let piece = UpdatePiece::read_from_bytes(payload).map_err(|_| FaultKind::Length)?;
                self.updates.chunk(piece.transfer.get(), piece.offset.get(), &piece.data)
            }
            Some(Request::UpdateState) if payload.is_empty() => self.updates.status(),
            Some(Request::UpdateState) => return Err(FaultKind::Length),
            _ => return Err(FaultKind::UnknownRequest),
        };
        Ok(self.updates.progress(next, status))
    }
}

#[cfg(test)]
mod tests;
