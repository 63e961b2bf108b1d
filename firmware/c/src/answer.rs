//! What C asks of a model beside its being a recursion, each kind what it knows.

use fishweir_core::classify::{ChangeDetector, Classifier, Statistic};
use fishweir_core::emission::Emission;
use fishweir_core::filter::Streaming;
use fishweir_core::number::RealParameter;
use fishweir_core::spot::{Event, Spotter};

use crate::Status;
use crate::shape::{Classifies, Detects, Sizes, Spots};

/// A class and by how much it leads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Choice {
    /// The class decided for: 0 to FISHWEIR_CLASSES - 1, in the order of the model's classes.
    pub class_index: u32,
    /// Its decision value less the next best one's; not negative.
    pub margin: f32,
}

/// The `statistic` of an alarm that is none.
pub const FISHWEIR_NO_ALARM: i32 = -1;

/// Whether a stream has ceased to be what the model describes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Alarm {
    /// The statistic that is beyond its limit, by its place in fishweir_statistics(): a drift before the
    /// fit, which says less. FISHWEIR_NO_ALARM where none is.
    pub statistic: i32,
    /// Its value; 0 where there is no alarm. The sign of a drift tells which way the stream moves.
    pub value: f32,
}

/// A stretch of the stream that a class explains, not the background.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Found {
    /// Its first sample, counted from 0 at the beginning of the stream; missing and refused ones count.
    pub start: u64,
    /// The sample after its last.
    pub end: u64,
    /// The class: 0 to FISHWEIR_CLASSES - 1, in the order of the model's classes.
    pub class_index: u32,
    /// Its confidence, over all its samples: the log-odds of the class's path against the best path of
    /// the background, in nats. Divide by `end - start` to compare events.
    pub log_odds: f32,
}

impl From<&Event> for Found {
    fn from(&Event { class, start, end, log_odds }: &Event) -> Self {
        Self { start, end, class_index: class.into(), log_odds }
    }
}

/// What a model answers on one stream, or on one window of it. What its kind does not know is refused as of the wrong
/// kind.
pub(crate) trait Answering<K>: Sizes<K> {
    /// The decision on the stream so far.
    fn decide(&self, _: &Self::State) -> Result<Choice, Status> {
        Err(Status::WrongKind)
    }

    /// As many log-likelihoods or decision values as [`MODELS`](Sizes::MODELS) says.
    fn evidence(&self, _: &Self::State, _: &mut [f32]) -> Result<(), Status> {
        Err(Status::WrongKind)
    }

    /// Whether the stream of late is an alarm.
    fn detect(&self, _: &Self::State) -> Result<Alarm, Status> {
        Err(Status::WrongKind)
    }

    /// As many statistics as [`STATISTICS`](Sizes::STATISTICS) says.
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

/// As many values as there are, or as there is room for; how many.
fn fill<T>(room: &mut [T], values: impl IntoIterator<Item = T>) -> usize {
    room.iter_mut().zip(values).map(|(place, value)| *place = value).count()
}
