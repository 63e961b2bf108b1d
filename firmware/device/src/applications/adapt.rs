//! Adapts a model to the stream, in RAM, and keeps the result in flash.
//!
//! Online EM over the first model of the bank that the image was built with, or over the model saved
//! before, if there is one. Speaks the format of [`fishweir_core::wire`] as
//! [`classify_stream`](super::classify_stream) does; here the class is the likeliest state, the margin how much
//! likelier it is than the next, and the log-likelihood that of each sample under the model of its
//! time. Request `K` saves the model as an artefact of one model, in [two slots](crate::storage); so do
//! every few samples, a setting. A new stream, like a reset, begins with the model as it is by then and
//! collects its statistics anew.
//!
//! With [`Settings::COUNTS`] the model stays, and request `N` is answered by the expected counts of the stream so far: what a
//! pass of Baum-Welch sums. A host adds those of many devices, and no sample leaves one.

use embedded_io::{Read, Write};
use embedded_storage::nor_flash::NorFlash;
use fishweir_core::ObservationError;
use fishweir_core::artefact::{self, Stored};
use fishweir_core::classify::{Decision, Normalisation, ScoreOutOfRange, StreamClassifier, decide};
use fishweir_core::emission::{
    Categorical, Emission, Gaussian, Regularisation, SufficientStatistics, VectorSpace,
};
use fishweir_core::filter::{
    Adapting, Belief, Forward, OnlineEm, SettingError, Statistics, StatisticsState, StepSize,
    Streaming,
};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::{Parameter, RealParameter};
use fishweir_core::wire::Report;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::classify_stream::classify_stream;
#[cfg(any(feature = "async", test))]
use super::classify_stream::classify_stream_async;
use crate::classifier::{ClassifierStream, WireSample};
use crate::log::log;
use crate::meter::Meter;
use crate::storage::{Slots, StoredRecord};

/// Settings of the adaptation, and of saving.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Step size, by which the model follows the stream.
    pub step_size: StepSize,
    /// Samples of a stream before its statistics are trusted.
    pub warm_up: u64,
    /// Constraints that keep the estimates valid.
    pub regularisation: Regularisation,
    /// Samples of a stream between two saves, counted anew after a reset; 0 to save only when asked.
    pub save_every: u64,
    /// Keep the model as it is, and collect the expected counts of each stream under it, for a host that asks for them.
    pub counts: bool,
}

impl Settings {
    /// A memory of 200 samples, trusted after 50; variances and counts barely held; saved when asked.
    pub const DEFAULT: Self = Self {
        step_size: StepSize::Constant(0.005),
        warm_up: 50,
        regularisation: Regularisation { variance_floor: 1e-4, pseudo_count: 0.1 },
        save_every: 0,
        counts: false,
    };

    /// Nothing adapts: the counts of each stream are collected for a host, which makes a model of those of many devices.
    pub const COUNTS: Self = Self { counts: true, ..Self::DEFAULT };
}

/// Reason why nothing could be adapted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum AdaptError<E> {
    /// A setting is out of range.
    Setting(SettingError),
    /// The buffer is too short for the model's artefact, or the slots are.
    NoRoom,
    /// The transport failed.
    Transport(E),
}

/// An emission that can be adapted, once its directions are left out.
pub trait Adaptable: Emission<Weight: RealParameter<Real = f32>> {
    /// Type of the model without directions.
    type Plain: SufficientStatistics<Weight = f32, Real = f32, Observation: WireSample + Sized>
        + Stored
        + Copy;

    /// Returns the model without directions.
    fn plain(&self) -> Self::Plain;
}

impl<const K: usize, W: RealParameter<Real = f32>> Adaptable for Categorical<K, W> {
    type Plain = Categorical<K>;

    fn plain(&self) -> Self::Plain {
        Categorical::from_parts(self.probability().map(|p| p.value()))
    }
}

impl<const D: usize, W: RealParameter<Real = f32>> Adaptable for Gaussian<D, W> {
    type Plain = Gaussian<D>;

    fn plain(&self) -> Self::Plain {
        let constant = self.view().constant.value();
        Gaussian::from_parts(*self.mean(), *self.rate(), constant, [(); D], [(); D])
    }
}

/// A bank whose first model can be adapted.
pub trait Bank {
    /// Words of eight bytes that the artefact of the adapted model takes.
    const BUFFER_WORDS: usize;
}

impl<E: Adaptable, const N: usize, const M: usize, const O: usize> Bank
    for StreamClassifier<Hmm<E, N>, M, O>
{
    const BUFFER_WORDS: usize = artefact::length_of::<Hmm<E::Plain, N>, 1, 1>(0).div_ceil(8);
}

/// The first model of a bank, without directions.
fn first_model<E: Adaptable, const N: usize, const M: usize, const O: usize>(
    bank: &StreamClassifier<Hmm<E, N>, M, O>,
) -> Option<Hmm<E::Plain, N>> {
    let model = bank.models().first()?;
    let chain = model.chain();
    Some(Hmm::new(
        Chain::from_parts(
            chain.initial().map(|p| p.value()),
            chain.transition().map(|row| row.map(|p| p.value())),
        ),
        model.emission().each_ref().map(Adaptable::plain),
    ))
}

/// Adapts the first model of `bank`, or the one saved in `flash`, until the host sends `X` or the stream
/// ends. `buffer` has [`Bank::BUFFER_WORDS`].
///
/// RAM: two models and the state of [`OnlineEm`], on the stack, and the buffer.
///
/// # Errors
/// When a setting is out of range, when an artefact does not fit, or when the transport fails.
pub fn adapt<S, F, M, E, const N: usize, const MODELS: usize, const OUTPUTS: usize>(
    serial: &mut S,
    flash: F,
    meter: &M,
    bank: &StreamClassifier<Hmm<E, N>, MODELS, OUTPUTS>,
    settings: &Settings,
    buffer: &mut [u64],
) -> Result<Report, AdaptError<S::Error>>
where
    S: Read + Write,
    F: NorFlash,
    M: Meter,
    E: Adaptable,
    StreamClassifier<Hmm<E::Plain, N>, 1, 1>: FromBytes + Immutable + KnownLayout,
{
    let mut learner = learner(flash, bank, settings, buffer)?;
    classify_stream(serial, &mut learner, meter).map_err(AdaptError::Transport)
}

/// [`adapt`] over a line that others run beside: the same bytes out. Flash that is erased or written holds them up.
///
/// # Errors
/// As [`adapt`].
#[cfg(any(feature = "async", test))]
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
pub async fn adapt_async<S, F, M, E, const N: usize, const MODELS: usize, const OUTPUTS: usize>(
    serial: &mut S,
    flash: F,
    meter: &M,
    bank: &StreamClassifier<Hmm<E, N>, MODELS, OUTPUTS>,
    settings: &Settings,
    buffer: &mut [u64],
) -> Result<Report, AdaptError<S::Error>>
where
    S: embedded_io_async::Read + embedded_io_async::Write,
    F: NorFlash,
    M: Meter,
    E: Adaptable,
    StreamClassifier<Hmm<E::Plain, N>, 1, 1>: FromBytes + Immutable + KnownLayout,
{
    let mut learner = learner(flash, bank, settings, buffer)?;
    classify_stream_async(serial, &mut learner, meter).await.map_err(AdaptError::Transport)
}

/// The model to begin with, before its first sample.
fn learner<'a, F, E, T, const N: usize, const MODELS: usize, const OUTPUTS: usize>(
    flash: F,
    bank: &StreamClassifier<Hmm<E, N>, MODELS, OUTPUTS>,
    settings: &'a Settings,
    buffer: &'a mut [u64],
) -> Result<LearnerOf<'a, E::Plain, F, N>, AdaptError<T>>
where
    F: NorFlash,
    E: Adaptable,
    StreamClassifier<Hmm<E::Plain, N>, 1, 1>: FromBytes + Immutable + KnownLayout,
{
    let mut slots = Slots::new(flash);
    let shipped = first_model(bank).ok_or(AdaptError::NoRoom)?;
    let length = artefact::length_of::<Hmm<E::Plain, N>, 1, 1>(0);
    if size_of_val(buffer) < length || slots.longest() < length {
        return Err(AdaptError::NoRoom);
    }
    let first = restore(&mut slots, buffer).unwrap_or(shipped);
    let state = online(&first, settings).map_err(AdaptError::Setting)?.initial_state();
    let counts = settings.counts.then(|| Statistics::of(&first).initial_state());
    Ok(Learner { first, state, counts, seen: 0, settings, slots, buffer })
}

/// The model saved last, if there is one and it is sound.
fn restore<F, E, const N: usize>(slots: &mut Slots<F>, buffer: &mut [u64]) -> Option<Hmm<E, N>>
where
    F: NorFlash,
    E: Stored<Weight = f32> + Copy,
    StreamClassifier<Hmm<E, N>, 1, 1>: FromBytes + Immutable + KnownLayout,
{
    let StoredRecord { number, value } = match slots.load(buffer.as_mut_bytes()) {
        Ok(Some(kept)) => kept,
        Ok(None) => {
            log!(info, "no model saved: beginning with the one that was built in");
            return None;
        }
        Err(error) => {
            log!(error, "the saved model cannot be read: {}", error.kind());
            return None;
        }
    };
    match artefact::read::<StreamClassifier<Hmm<E, N>, 1, 1>>(value) {
        Ok(saved) => {
            log!(info, "restored model {=u32}", number);
            saved.models().first().copied()
        }
        Err(error) => {
            // That of another image, say.
            log!(warn, "saved model {=u32} was refused: {}", number, error);
            None
        }
    }
}

fn online<'m, E: SufficientStatistics<Real = f32>, const N: usize>(
    first: &'m Hmm<E, N>,
    settings: &Settings,
) -> Result<OnlineEm<'m, E, N>, SettingError> {
    OnlineEm::from(first, settings.step_size, settings.warm_up, settings.regularisation)
}

/// A learner whose statistics are those of its emissions.
type LearnerOf<'a, E, F, const N: usize> =
    Learner<'a, E, <E as SufficientStatistics>::Statistics, F, N>;

/// A model that learns, its initial state, and its storage.
///
/// Statistics are a parameter: rustdoc of Rust 1.95 fails on a field whose type is a projection of `E`.
struct Learner<'a, E: SufficientStatistics, S, F, const N: usize> {
    first: Hmm<E, N>,
    state: Adapting<E, N>,
    /// Expected counts of the stream under the first model, where these are asked for.
    counts: Option<StatisticsState<S, f32, N>>,
    /// Samples when it was last asked whether to save.
    seen: u64,
    settings: &'a Settings,
    slots: Slots<F>,
    buffer: &'a mut [u64],
}

impl<E, F, const N: usize> LearnerOf<'_, E, F, N>
where
    E: SufficientStatistics<Weight = f32, Real = f32> + Stored + Copy,
    F: NorFlash,
{
    /// The belief about the state, and its model.
    fn belief(&self) -> (&Belief<f32, N>, &Hmm<E, N>) {
        match &self.counts {
            Some(counts) => (counts.belief(), &self.first),
            None => (self.state.belief(), self.state.hmm()),
        }
    }

    /// The number of the model saved; 0 where it was not.
    fn save_now(&mut self) -> u32 {
        let alone = StreamClassifier::from_parts(
            [*self.state.hmm()],
            [[1.0]],
            [0.0],
            Normalisation::PER_SAMPLE,
        );
        // Room was checked at the start.
        let Some(bytes) = artefact::write(&alone, "", self.buffer.as_mut_bytes()) else { return 0 };
        match self.slots.save(bytes) {
            Ok(number) => {
                log!(info, "saved model {=u32}", number);
                number
            }
            Err(error) => {
                log!(error, "the model was not saved: {}", error.kind());
                0
            }
        }
    }
}

impl<E, F, const N: usize> ClassifierStream<1> for LearnerOf<'_, E, F, N>
where
    E: SufficientStatistics<Weight = f32, Real = f32, Observation: WireSample + Sized>
        + Stored
        + Copy,
    F: NorFlash,
{
    type Sample = E::Observation;
    type Update = [u8; 0];

    fn push(&mut self, sample: Option<&Self::Sample>) -> Result<(), ObservationError> {
        if let Some(counts) = &mut self.counts {
            return Statistics::of(&self.first).push(counts, sample);
        }
        // The settings were checked at the start.
        match online(&self.first, self.settings) {
            Ok(online) => online.push(&mut self.state, sample),
            Err(_) => Ok(()),
        }
    }

    /// Saves when it is due: an erased page takes longer than many samples.
    fn between_samples(&mut self) {
        let (every, samples) = (self.settings.save_every, self.state.samples());
        if every > 0 && samples != self.seen && samples.is_multiple_of(every) {
            self.save_now();
        }
        self.seen = samples;
    }

    fn reset(&mut self) {
        if let Some(counts) = &mut self.counts {
            *counts = Statistics::of(&self.first).initial_state();
            return;
        }
        self.first = *self.state.hmm();
        if let Ok(online) = online(&self.first, self.settings) {
            self.state = online.initial_state();
        }
    }

    fn decision(&self) -> Result<Decision, ScoreOutOfRange> {
        let (belief, hmm) = self.belief();
        Ok(match Forward::of(hmm).filtered(belief) {
            filtered if N > 1 => decide(&filtered),
            _ => Decision { class: 0, margin: 1.0 },
        })
    }

    fn log_likelihoods(&self) -> Result<[f32; 1], ScoreOutOfRange> {
        Ok([self.belief().0.log()])
    }

    fn classes(&self) -> usize {
        N
    }

    fn model_bytes(&self) -> usize {
        size_of_val(&self.first)
    }

    fn state_bytes(&self) -> usize {
        size_of_val(&self.state)
    }

    fn save(&mut self) -> Option<u32> {
        Some(self.save_now())
    }

    fn counts(&self, each: &mut dyn FnMut(f32)) -> Option<u32> {
        let counts = self.counts.as_ref()?;
        each(counts.belief().log());
        Statistics::of(&self.first).read(counts).for_each(each);
        Some(artefact::model_checksum(&self.first))
    }
}

#[cfg(test)]
mod tests;
