//! An alarm on events as a device holds it, and its calibration.

use std::fmt::Write as _;

use fishweir_core::ObservationError;
use fishweir_core::filter::ForgettingFactor;
use fishweir_core::network::{DiscrepancyReading, DiscrepancyState, DiscrepancyTables};

use super::super::{NetworkError, NetworkFisher};
use super::{Lists, check_columns, head, lists, numbers, unfit};
use crate::records::{Records, Variable};
use fishweir::internals::each;

/// A network as a [`Discrepancy`](fishweir_core::network::Discrepancy) of a device, in its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct DeployedAlarm {
    /// The nodes.
    pub columns: Vec<Variable>,
    /// Each node's parents and the node.
    pub scopes: Vec<Vec<usize>>,
    /// Probability of each cell.
    pub theta: Vec<f32>,
    /// `1 / (P theta)` by cell.
    pub precision: Vec<f32>,
    /// `1 - lambda`.
    pub lost: f32,
    /// Threshold of the statistic.
    pub threshold: f32,
    /// Effective events before there is an alarm.
    pub least: f32,
}

/// Plan for the calibration of an alarm: on records in which nothing has changed, real ones that the network was not
/// fitted to, or drawn from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlarmPlan {
    /// Length of the memory in events.
    pub memory: f64,
    /// Mean time between false alarms, in events.
    pub mean_time: f64,
}

/// Streams drawn where no events are given, and the length of a stream in mean times.
const STREAMS: usize = 200;
const LENGTH: f64 = 2.0;

/// False alarms that the normal events must have room for.
const FEWEST_ALARMS: f64 = 10.0;

impl AlarmPlan {
    /// An alarm of a network that comes once in `mean_time` events while nothing changes. No alarm is raised
    /// before the effective number of events is as large as the memory is long, half of what it comes to.
    ///
    /// Streams twice as long as the mean time, cut from `normal` events or, 200 of them, drawn with
    /// `seed`, are run once each without an alarm. A threshold's rate of alarms is the number of streams in
    /// which the statistic passes it, by the events up to there or to the stream's end: right where the time
    /// to an alarm is exponential, to a fraction of some `1 / sqrt(170)` for 200 streams.
    ///
    /// Cost: a push and a reading an event.
    ///
    /// # Errors
    /// A memory or a mean time below two events, or a mean time below twice the memory; fewer normal events
    /// than ten false alarms take; events that do not fit or are impossible; what [`DeployedAlarm::silent`]
    /// refuses.
    pub fn calibrate(
        &self,
        fisher: &NetworkFisher,
        normal: Option<&Records>,
        seed: u64,
    ) -> Result<DeployedAlarm, NetworkError> {
        let Self { memory, mean_time } = *self;
        // Of a longer memory single precision keeps all.
        if !(2.0..=1e6).contains(&memory) {
            let (name, range) = ("the memory", "2 to 1 000 000 events");
            return Err(NetworkError::Setting { name, value: memory, range });
        }
        if !(2.0..=1e9).contains(&mean_time) {
            let (name, range) = ("the mean time", "2 to 1 000 000 000 events");
            return Err(NetworkError::Setting { name, value: mean_time, range });
        }
        if mean_time < 2.0 * memory {
            return Err(NetworkError::Other(format!(
                "one false alarm in {mean_time} events is too frequent for a memory of {memory} events; the mean \
                 time must be at least twice the memory"
            )));
        }
        let network = fisher.network();
        let mut alarm = DeployedAlarm::silent(fisher, memory)?;
        let length = (LENGTH * mean_time) as usize;
        let peaks = match normal {
            None => each(STREAMS, &|stream| {
                let mut draws = network.draws(seed.wrapping_add(stream as u64));
                alarm.peaks(0, length, |_, event| draws.next_into(event))
            }),
            Some(events) => {
                network.check(events)?;
                let wanted = events.len() as f64 / mean_time;
                if wanted < FEWEST_ALARMS {
                    return Err(NetworkError::Other(format!(
                        "{} events without a change are too few for one false alarm in {mean_time}: at least {:.0} \
                        are needed",
                        events.len(),
                        FEWEST_ALARMS * mean_time
                    )));
                }
                each(events.len().div_ceil(length), &|stream| {
                    let first = stream * length;
                    let part = length.min(events.len() - first);
                    alarm.peaks(first, part, |index, event| {
                        event.copy_from_slice(events.row(first + index));
                    })
                })
            }
        };
        let peaks: Vec<Peaks> = peaks.into_iter().collect::<Result<_, _>>()?;
        alarm.threshold = threshold(&peaks, mean_time).ok_or_else(|| {
            NetworkError::Other(format!(
                "streams of {length} events are too short for an alarm with a memory of {memory}; take a shorter \
                 memory"
            ))
        })?;
        Ok(alarm)
    }
}

/// The statistics of a stream that were larger than all before, with the events up to each; and its length.
struct Peaks {
    peaks: Vec<(usize, f32)>,
    length: usize,
}

/// The least of the peaks that, as a threshold, is passed no oftener than once in the mean time; `None`
/// where there is no peak.
fn threshold(streams: &[Peaks], mean_time: f64) -> Option<f32> {
    let too_often = |threshold: f32| {
        let (mut alarms, mut events) = (0_usize, 0_usize);
        for Peaks { peaks, length } in streams {
            let first = peaks.iter().find(|(_, peak)| *peak > threshold);
            alarms += usize::from(first.is_some());
            events += first.map_or(*length, |(event, _)| *event);
        }
        alarms as f64 * mean_time > events as f64
    };
    let mut tried: Vec<f32> =
        streams.iter().flat_map(|stream| stream.peaks.iter().map(|(_, peak)| *peak)).collect();
    tried.sort_by(f32::total_cmp);
    let at = tried.partition_point(|&threshold| too_often(threshold));
    tried.get(at).copied()
}

impl DeployedAlarm {
    /// The tables of a network, with a memory of `memory` events and a threshold that nothing passes.
    ///
    /// # Errors
    /// Probabilities beyond single precision, more states or entries than a device numbers.
    pub fn silent(fisher: &NetworkFisher, memory: f64) -> Result<Self, NetworkError> {
        let network = fisher.network();
        let alarm = Self {
            columns: network.variables().to_vec(),
            scopes: (0..network.shape().nodes()).map(|node| network.shape().family(node)).collect(),
            theta: network.theta().iter().map(|&theta| theta as f32).collect(),
            precision: fisher.precision().iter().map(|&inverse| inverse as f32).collect(),
            lost: (1.0 / memory) as f32,
            threshold: f32::MAX,
            least: memory as f32,
        };
        if alarm.precision.iter().any(|inverse| !inverse.is_finite()) {
            return Err(NetworkError::Other(
                "some states are too improbable for single precision; fit with a larger pseudo-count"
                    .into(),
            ));
        }
        Lists::of(&alarm.columns, &alarm.scopes).terms(&alarm.columns)?;
        Ok(alarm)
    }

    /// Bytes of flash.
    pub fn flash(&self) -> usize {
        lists(&self.columns, &self.scopes) + 8 * self.theta.len() + 12
    }

    /// Bytes of the stream's state.
    pub fn ram(&self) -> usize {
        4 * (self.theta.len() + 2 * self.columns.len() + 3)
    }

    /// Runs over events as a device does, in its numbers, begun anew after every alarm: the events, from
    /// 0, at which there is one, and the node with the largest share.
    ///
    /// # Errors
    /// An event that does not fit, or that the network makes impossible.
    pub fn alarms(&self, events: &Records) -> Result<Vec<(usize, usize)>, NetworkError> {
        let mut alarms = Vec::new();
        self.watch(events, |index, reading| {
            let reading = reading?;
            alarms.extend(reading.alarm.then_some((index, reading.node)));
            Ok(())
        })?;
        Ok(alarms)
    }

    /// Runs over events, begun anew after every alarm, and shows what is read after each. One that is
    /// impossible is not observed, where that is no error to who sees it.
    pub(super) fn watch(
        &self,
        events: &Records,
        mut see: impl FnMut(usize, Result<DiscrepancyReading, NetworkError>) -> Result<(), NetworkError>,
    ) -> Result<(), NetworkError> {
        check_columns(&self.columns, events)?;
        let row = |index, event: &mut [u16]| event.copy_from_slice(events.row(index));
        self.run(events.len(), row, |index, reading| {
            let alarm = reading.as_ref().is_ok_and(|reading| reading.alarm);
            see(index, reading).map(|()| alarm)
        })
    }

    /// The peaks of the statistic where there could be an alarm; the first event has this number.
    fn peaks(
        &self,
        first: usize,
        length: usize,
        event: impl FnMut(usize, &mut [u16]),
    ) -> Result<Peaks, NetworkError> {
        let (mut peaks, mut largest) = (Vec::new(), 0.0_f32);
        let seen = self.run(length, event, |index, reading| {
            let reading = reading?;
            if reading.events >= self.least && reading.statistic > largest {
                largest = reading.statistic;
                peaks.push((index + 1, largest));
            }
            Ok(false)
        });
        seen.map_err(|error| error.at_record(|record| first + record))?;
        Ok(Peaks { peaks, length })
    }

    /// Runs over `length` events, each written into one buffer when its turn comes; resets if the caller asks for it after a
    /// reading.
    fn run(
        &self,
        length: usize,
        mut write: impl FnMut(usize, &mut [u16]),
        mut see: impl FnMut(
            usize,
            Result<DiscrepancyReading, NetworkError>,
        ) -> Result<bool, NetworkError>,
    ) -> Result<(), NetworkError> {
        let lists = Lists::of(&self.columns, &self.scopes);
        let (theta, precision) = (&self.theta, &self.precision);
        let memory = ForgettingFactor::from_one_minus_lambda(self.lost);
        let (terms, threshold) = (lists.terms(&self.columns)?, self.threshold);
        let tables = DiscrepancyTables::new(terms, theta, precision, memory, threshold, self.least);
        let tables = tables.map_err(unfit)?;
        let cells = self.theta.len();
        let nodes = self.columns.len();
        let new = || DiscrepancyState::new(vec![0.0_f32; cells], vec![[0.0_f32; 2]; nodes]);
        let mut state = new();
        let (mut event, mut room) = (vec![0; nodes], vec![0; nodes]);
        for record in 0..length {
            write(record, &mut event);
            let reading = match tables.step(&mut state, &event, &mut room) {
                Ok(()) => Ok(tables.read(&state)),
                Err(ObservationError::Impossible) => {
                    tables.step_missing(&mut state);
                    Err(NetworkError::Impossible { record, node: None })
                }
                Err(error) => Err(NetworkError::Other(format!("record {record}: {error}"))),
            };
            if see(record, reading)? {
                state = new();
            }
        }
        Ok(())
    }

    /// Rust source that defines `MODEL`, a `static`, its type, and the names of columns
    /// and states.
    pub fn to_source(&self) -> String {
        let (nodes, cells) = (self.columns.len(), self.theta.len());
        let model = format!("Discrepancy<'static, f32, {nodes}, {cells}>");
        let uses = "use fishweir_core::filter::ForgettingFactor;\n\
                    use fishweir_core::network::{Discrepancy, DiscrepancyTables, FactorLayout};";
        let mut text = head(["An alarm on events", uses, &model], &self.columns, &[], &self.scopes);
        for (name, table) in [("THETA", &self.theta), ("PRECISION", &self.precision)] {
            let table = numbers(table);
            let _ = write!(text, "#[rustfmt::skip]\nstatic {name}: [f32; {cells}] = {table};\n\n");
        }
        let [lost, threshold, least] = [self.lost, self.threshold, self.least];
        let _ = write!(
            text,
            "/// The alarm: {} B of flash, {} B of state.\n#[rustfmt::skip]\n\
             pub static MODEL: Model = match DiscrepancyTables::new(\n    \
             TERMS, &THETA, &PRECISION, ForgettingFactor::from_one_minus_lambda({lost:?}), {threshold:?}, {least:?},\n) {{\n    \
             Ok(tables) => match Discrepancy::new(tables) {{\n        Ok(model) => model,\n        \
             Err(_) => panic!(\"no alarm\"),\n    }},\n    Err(_) => panic!(\"no tables\"),\n}};\n",
            self.flash(),
            self.ram(),
        );
        text
    }
}
