//! Answers of a model to C, beyond those of a recursion: each kind of model has its own.

use fishweir_core::classify::{ChangeDetector, Classifier, Statistic};
use fishweir_core::emission::Emission;
use fishweir_core::filter::Streaming;
use fishweir_core::number::RealParameter;
use fishweir_core::spot::{Event, Spotter};

use crate::Status;
use crate::shape::{Classifies, Detects, Sizes, Spots};

/// A class and its margin over the runner-up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Choice {
    /// The class decided for: 0 to FISHWEIR_CLASSES - 1, in the order of the model's classes.
    pub class_index: u32,
    /// Decision value less that of the runner-up; not negative.
    pub margin: f32,
}

/// Value of `statistic` if there is no alarm.
pub const FISHWEIR_NO_ALARM: i32 = -1;

/// Alarm: the stream no longer follows the model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Alarm {
    /// The statistic that is beyond its limit, as an index into fishweir_statistics(): a drift before the fit,
    /// which says less. FISHWEIR_NO_ALARM if there is no alarm.
    pub statistic: i32,
    /// Value of the statistic; 0 if there is no alarm. The sign of a drift shows its direction.
    pub value: f32,
}

/// A stretch of the stream that a class explains, not the background.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Found {
    /// First sample of the event, counted from 0 at the beginning of the stream; missing and refused ones count.
    pub start: u64,
    /// The sample after the last of the event.
    pub end: u64,
    /// The class: 0 to FISHWEIR_CLASSES - 1, in the order of the model's classes.
    pub class_index: u32,
    /// Confidence of the event, over all its samples: the log-odds of the class's path against the best path
    /// of the background, in nats. Divide by `end - start` to compare events.
    pub log_odds: f32,
}

impl From<&Event> for Found {
    fn from(&Event { class, start, end, log_odds }: &Event) -> Self {
        Self { start, end, class_index: class.into(), log_odds }
    }
}

/// Answers of a model on one stream, or on one window of it. A model refuses questions to other kinds as of the wrong kind.
pub(crate) trait Answering<K>: Sizes<K> {
    /// The decision on the stream so far.
    fn decide(&self, _: &Self::State) -> Result<Choice, Status> {
        Err(Status::WrongKind)
    }

    /// Writes [`MODELS`](Sizes::MODELS) log-likelihoods or decision values.
    fn evidence(&self, _: &Self::State, _: &mut [f32]) -> Result<(), Status> {
        Err(Status::WrongKind)
    }

    /// Returns the alarm of the stream, if any.
    fn detect(&self, _: &Self::State) -> Result<Alarm, Status> {
        Err(Status::WrongKind)
    }

    /// Writes [`STATISTICS`](Sizes::STATISTICS) statistics.
    fn statistics(&self, _: &Self::State, _: &mut [f32]) -> Result<(), Status> {
        Err(Status::WrongKind)
    }

    /// The events that the last sample decided, at most [`EVENTS`](Sizes::EVENTS); how many.
    fn decided(&self, _: &Self::State, _: &mut [Found]) -> Result<usize, Status> {
        Err(Status::WrongKind)
    }

    /// The events that are not decided at the end of a stream, at most [`EVENTS`](Sizes::EVENTS); how many.
    fn rest(&self, _: &Self::State, _: &mut [Found]) -> Result<usize, Status> {
        Err(Status::WrongKind)
    }
}

impl<R: Classifier<Real = f32, Evidence = [f32; MODELS]>, const MODELS: usize>
    Answering<Classifies<MODELS>> for R
{
    fn decide(&self, state: &Self::State) -> Result<Choice, Status> {
        let read = self.decision(state).map_err(|_| Status::Undecided)?;
        Ok(Choice { class_index: read.class as u32, margin: read.margin })
    }

    fn evidence(&self, state: &Self::State, values: &mut [f32]) -> Result<(), Status> {
        fill(values, Classifier::evidence(self, state).map_err(|_| Status::Undecided)?);
        Ok(())
    }
}

impl<E, const N: usize, const C: usize> Answering<Detects> for ChangeDetector<E, N, C>
where
    E: Emission<Weight: RealParameter<Real = f32>>,
{
    fn detect(&self, state: &Self::State) -> Result<Alarm, Status> {
        let reading = self.read(state);
        let Some(statistic) = reading.alarm else {
            return Ok(Alarm { statistic: FISHWEIR_NO_ALARM, value: 0.0 });
        };
        let place = match statistic {
            Statistic::Fit => 0,
            Statistic::Drift(direction) => 1 + direction as i32,
        };
        Ok(Alarm { statistic: place, value: reading.value(statistic).unwrap_or_default() })
    }

    fn statistics(&self, state: &Self::State, values: &mut [f32]) -> Result<(), Status> {
        let reading = self.read(state);
        fill(values, core::iter::once(reading.fit).chain(reading.drift));
        Ok(())
    }
}

impl<E, const S: usize, const B: usize, const PENDING: usize> Answering<Spots>
    for Spotter<E, S, B, PENDING>
where
    E: Emission<Weight = f32>,
{
    fn decided(&self, state: &Self::State, events: &mut [Found]) -> Result<usize, Status> {
        Ok(fill(events, state.spotted().events.iter().map(Found::from)))
    }

    fn rest(&self, state: &Self::State, events: &mut [Found]) -> Result<usize, Status> {
        let rest = Spotter::undecided(self, state);
        Ok(fill(events, rest.events.iter().chain(&rest.open).map(Found::from)))
    }
}

/// Copies the values for which there is room, and returns their number.
fn fill<T>(room: &mut [T], values: impl IntoIterator<Item = T>) -> usize {
    room.iter_mut().zip(values).map(|(place, value)| *place = value).count()
}
