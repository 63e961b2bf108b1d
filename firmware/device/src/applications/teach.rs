//! Classifies a stream, and is taught further classes by windows that a user shows, over the line or by a button.
//!
//! Speaks the format of [`fishweir_core::wire`] as [`classify_stream`](super::classify_stream) does, and answers
//! requests `W` beside: from [`TeachAction::Show`] on every window that begins afterwards is shown to a class; `Stop` ends that and
//! saves; `Forget` forgets a class and saves. Taught classes come after the model's own, by their places. Their
//! [record](fishweir_core::classify::teach) lies in [two slots](crate::storage): whenever the power goes, the classes before or
//! the new ones are there, whole. They belong to one model: those that another model was taught are not taken.
//!
//! RAM beside that of [`classify_stream`]: the taught classes, and a buffer of one record.

use embedded_io::{Read, Write};
use embedded_storage::nor_flash::NorFlash;
use fishweir_core::ObservationError;
use fishweir_core::classify::teach::{
    ClassName, TaughtClasses, TaughtDecision, TeachError, TeachingBasis,
};
use fishweir_core::classify::{
    AdditiveClassifier, Calibration, Decision, ScoreOutOfRange, WindowClassifier,
};
use fishweir_core::contract::Contract;
use fishweir_core::filter::Stream;
use fishweir_core::number::NumberFormat;
use fishweir_core::wire::{
    FaultKind, Report, SampleIndex, TeachAction, TeachRequest, TeachState, TeachStatus, TeachStep,
};

use super::classify_stream::classify_stream;
#[cfg(any(feature = "async", test))]
use super::classify_stream::classify_stream_async;
use crate::classifier::{ClassifierStream, Due, WireSample, of_window};
use crate::log::log;
use crate::meter::Meter;
use crate::storage::{Slots, StorageError, StoredRecord};

#[cfg(test)]
mod tests;

/// Basis of lessons: of the module that `fishweir-build` writes.
#[derive(Clone, Copy, Debug)]
pub struct Lesson<'m> {
    /// The bytes of the [`TeachingBasis`].
    pub basis: &'m [u8],
    /// Calibration of decisions, by which taught classes are rejected too.
    pub calibration: Option<Calibration<'m, f32>>,
    /// Names of the model's classes, which no taught class may have.
    pub known: &'m [&'m str],
}

/// Answers requests until the host sends `X` or the stream ends, with the classes taught before, if `flash` holds any.
///
/// `buffer` has [`TaughtClasses::RECORD_LONGEST`] bytes.
///
/// # Errors
/// When the model cannot be taught, the flash cannot hold a record, or the transport fails.
pub fn teach<
    S,
    F,
    M,
    C,
    const MODELS: usize,
    const STATES: usize,
    const MOST: usize,
    const NUMBERS: usize,
>(
    serial: &mut S,
    flash: F,
    meter: &M,
    windows: WindowClassifier<'_, &C, STATES>,
    lesson: Lesson<'_>,
    buffer: &mut [u8],
) -> Result<Report, TeachingError<S::Error>>
where
    S: Read + Write,
    F: NorFlash,
    M: Meter,
    C: AdditiveClassifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample + Sized>,
{
    let mut taught =
        TeachableClassifier::<_, _, STATES, MOST, NUMBERS>::start(flash, windows, lesson, buffer)?;
    classify_stream(serial, &mut taught, meter).map_err(TeachingError::Transport)
}

/// [`teach`] over a line that others run beside: the same bytes out. Flash that is erased or written holds them up.
///
/// # Errors
/// As [`teach`].
#[cfg(any(feature = "async", test))]
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
pub async fn teach_async<
    S,
    F,
    M,
    C,
    const MODELS: usize,
    const STATES: usize,
    const MOST: usize,
    const NUMBERS: usize,
>(
    serial: &mut S,
    flash: F,
    meter: &M,
    windows: WindowClassifier<'_, &C, STATES>,
    lesson: Lesson<'_>,
    buffer: &mut [u8],
) -> Result<Report, TeachingError<S::Error>>
where
    S: embedded_io_async::Read + embedded_io_async::Write,
    F: NorFlash,
    M: Meter,
    C: AdditiveClassifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample + Sized>,
{
    let mut taught =
        TeachableClassifier::<_, _, STATES, MOST, NUMBERS>::start(flash, windows, lesson, buffer)?;
    classify_stream_async(serial, &mut taught, meter).await.map_err(TeachingError::Transport)
}

/// Reason why nothing could be taught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum TeachingError<E> {
    /// The model has no basis, or one of another size.
    Basis(TeachError),
    /// The buffer is too short for a record, or the slots are.
    NoRoom,
    /// The transport failed.
    Transport(E),
}

/// A classifier on windows that is taught further classes, and keeps them in flash.
///
/// With a button push samples here, [`between_samples`](ClassifierStream::between_samples) after each, and call
/// [`begin`](Self::begin) where the button is pressed and [`stop`](Self::stop) after a dozen windows.
pub struct TeachableClassifier<
    'm,
    F,
    C: AdditiveClassifier<Real = f32>,
    const STATES: usize,
    const MOST: usize,
    const NUMBERS: usize,
> {
    stream: Stream<WindowClassifier<'m, &'m C, STATES>>,
    basis: TeachingBasis<'m>,
    lesson: Lesson<'m>,
    taught: TaughtClasses<MOST, NUMBERS>,
    slots: Slots<F>,
    buffer: &'m mut [u8],
    /// The class that windows are shown to.
    showing: Option<ClassName>,
    /// Outcome of the last action or shown window.
    status: TeachStatus,
    /// `true` if the taught classes differ from those saved.
    changed: bool,
    /// Records saved.
    saved: u32,
}

impl<'m, F, C, const STATES: usize, const MOST: usize, const NUMBERS: usize>
    TeachableClassifier<'m, F, C, STATES, MOST, NUMBERS>
where
    F: NorFlash,
    C: AdditiveClassifier<Real = f32>,
{
    /// The classifier with the classes that `flash` holds, before its first sample.
    ///
    /// # Errors
    /// [`TeachingError::Basis`] and [`TeachingError::NoRoom`].
    pub fn start<E>(
        flash: F,
        windows: WindowClassifier<'m, &'m C, STATES>,
        lesson: Lesson<'m>,
        buffer: &'m mut [u8],
    ) -> Result<Self, TeachingError<E>> {
        let basis = TeachingBasis::read(lesson.basis).map_err(TeachingError::Basis)?;
        let none = TaughtClasses::new(&basis).map_err(TeachingError::Basis)?;
        let mut slots = Slots::new(flash);
        let longest = TaughtClasses::<MOST, NUMBERS>::RECORD_LONGEST;
        if buffer.len() < longest || slots.longest() < longest {
            return Err(TeachingError::NoRoom);
        }
        let (taught, saved) = restore(&mut slots, &basis, buffer).unwrap_or((none, 0));
        Ok(Self {
            stream: Stream::new(windows),
            basis,
            lesson,
            taught,
            slots,
            buffer,
            showing: None,
            status: TeachStatus::Done,
            changed: false,
            saved,
        })
    }

    /// The taught classes.
    pub const fn taught(&self) -> &TaughtClasses<MOST, NUMBERS> {
        &self.taught
    }

    /// The class that windows are shown to; `None` where none is taught now.
    pub const fn showing(&self) -> Option<&ClassName> {
        self.showing.as_ref()
    }

    /// Returns the name of a class of a decision.
    #[must_use]
    pub fn name(&self, class: usize) -> &str {
        match class.checked_sub(self.basis.classes()) {
            None => self.lesson.known.get(class).copied().unwrap_or(""),
            Some(place) => self.taught.get(place).map_or("", |class| class.name().as_str()),
        }
    }

    /// Shows every window that begins with the next sample to a class, until [`stop`](Self::stop).
    pub fn begin(&mut self, name: &ClassName) -> TeachStatus {
        self.status = if self.lesson.known.contains(&name.as_str()) {
            TeachStatus::KnownClass
        } else if self.taught.find(name).is_none() && self.taught.len() == MOST {
            TeachStatus::NoRoom
        } else {
            // A request that comes twice leaves the window in hand alone.
            if self.showing != Some(*name) {
                self.stream.reset();
                self.showing = Some(*name);
            }
            TeachStatus::Done
        };
        self.status
    }

    /// Shows no more windows, and saves the taught classes if they have changed.
    pub fn stop(&mut self) -> TeachStatus {
        self.showing = None;
        self.keep()
    }

    /// Forgets a class, and saves the others.
    pub fn forget(&mut self, name: &ClassName) -> TeachStatus {
        if self.showing == Some(*name) {
            self.showing = None;
        }
        match self.taught.forget(name) {
            Ok(()) => {
                self.changed = true;
                self.keep()
            }
            Err(error) => {
                self.status = error.into();
                self.status
            }
        }
    }

    /// The decision on the window that the last sample filled, or on the oldest open one, with probability and rejection.
    #[must_use]
    pub fn prediction(&self) -> TaughtDecision {
        let calibration = self.lesson.calibration.as_ref();
        of_window(self.stream.recursion(), self.stream.state(), |classifier, state| {
            self.taught.predict(&self.basis, calibration, classifier, state)
        })
    }

    /// Saves the taught classes where they have changed.
    fn keep(&mut self) -> TeachStatus {
        self.status = TeachStatus::Done;
        if self.changed {
            match self.save_now() {
                Ok(number) => {
                    log!(
                        info,
                        "saved {=u32} taught classes, record {=u32}",
                        self.taught.len() as u32,
                        number
                    );
                    self.saved = number;
                    self.changed = false;
                }
                Err(error) => {
                    log!(error, "the taught classes were not saved: {}", error.kind());
                    self.status = TeachStatus::Flash;
                }
            }
        }
        self.status
    }

    fn save_now(&mut self) -> Result<u32, StorageError<F::Error>> {
        // Room was checked at the start.
        let length = self.taught.write(self.buffer).map_err(|_| StorageError::TooLong)?;
        self.slots.save(self.buffer.get(..length).unwrap_or(&[]))
    }
}

/// The classes saved last and the number of their record, if there is one and it is of this model.
fn restore<F: NorFlash, const MOST: usize, const NUMBERS: usize>(
    slots: &mut Slots<F>,
    basis: &TeachingBasis<'_>,
    buffer: &mut [u8],
) -> Option<(TaughtClasses<MOST, NUMBERS>, u32)> {
    let StoredRecord { number, value } = match slots.load(buffer) {
        Ok(Some(kept)) => kept,
        Ok(None) => {
            log!(info, "no taught classes saved");
            return None;
        }
        Err(error) => {
            log!(error, "the taught classes cannot be read: {}", error.kind());
            return None;
        }
    };
    match TaughtClasses::read(basis, value) {
        Ok(taught) => {
            log!(
                info,
                "restored {=u32} taught classes, record {=u32}",
                taught.len() as u32,
                number
            );
            Some((taught, number))
        }
        Err(error) => {
            // Those of another model, say.
            log!(warn, "taught classes, record {=u32}, were refused: {}", number, error);
            None
        }
    }
}

impl<F, C, const MODELS: usize, const STATES: usize, const MOST: usize, const NUMBERS: usize>
    ClassifierStream<MODELS> for TeachableClassifier<'_, F, C, STATES, MOST, NUMBERS>
where
    F: NorFlash,
    C: AdditiveClassifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample + Sized>,
{
    type Sample = C::Observation;
    type Update = TeachRequest;
    const FORMAT: NumberFormat = C::FORMAT;

    fn push(&mut self, sample: Option<&Self::Sample>) -> Result<(), ObservationError> {
        Stream::push(&mut self.stream, sample)
    }

    fn reset(&mut self) {
        Stream::reset(&mut self.stream);
    }

    /// Shows the window that the last sample filled, while a class is taught.
    fn between_samples(&mut self) {
        let (Some(name), Some(state)) = (self.showing, self.stream.decided()) else { return };
        let classifier = *self.stream.recursion().classifier();
        match self.taught.show_state(&self.basis, &name, classifier, state) {
            Ok(_) => self.changed = true,
            Err(error) => {
                log!(warn, "a window was not shown: {}", error);
                self.status = error.into();
            }
        }
    }

    fn contract(&self) -> Contract<'_> {
        *self.stream.recursion().contract()
    }

    fn due(&self) -> Due {
        ClassifierStream::due(&self.stream)
    }

    fn decision(&self) -> Result<Decision, ScoreOutOfRange> {
        Ok(self.prediction().decision)
    }

    fn log_likelihoods(&self) -> Result<[f32; MODELS], ScoreOutOfRange> {
        ClassifierStream::log_likelihoods(&self.stream)
    }

    fn classes(&self) -> usize {
        self.basis.classes() + MOST
    }

    fn model_bytes(&self) -> usize {
        ClassifierStream::model_bytes(&self.stream)
    }

    fn state_bytes(&self) -> usize {
        ClassifierStream::state_bytes(&self.stream) + size_of_val(&self.taught)
    }

    fn save(&mut self) -> Option<u32> {
        match self.keep() {
            TeachStatus::Flash => Some(0),
            _ => Some(self.saved),
        }
    }

    fn teach(&mut self, step: &TeachStep) -> Result<TeachState, FaultKind> {
        let action = TeachAction::from_byte(step.action).ok_or(FaultKind::UnknownRequest)?;
        let name = ClassName::from_bytes(step.name);
        let status = match (action, &name) {
            (TeachAction::Ask, _) => self.status,
            (TeachAction::Stop, _) => self.stop(),
            (TeachAction::Show, Ok(name)) => self.begin(name),
            (TeachAction::Forget, Ok(name)) => self.forget(name),
            (_, Err(error)) => (*error).into(),
        };
        let place = name.ok().and_then(|name| self.taught.find(&name));
        let windows =
            place.and_then(|place| self.taught.get(place)).map_or(0, |class| class.windows());
        Ok(TeachState {
            head: SampleIndex::default().head(TeachState::TAG),
            status: status as u8,
            classes: self.taught.len() as u8,
            windows: windows.into(),
            saved: self.saved.into(),
        })
    }
}
