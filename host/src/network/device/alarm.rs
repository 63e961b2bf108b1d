//! An alarm on events as a device holds it, and its calibration.

use std::fmt::Write as _;

use fishweir_core::ObservationError;
use fishweir_core::filter::ForgettingFactor;
use fishweir_core::network::{
    DiscrepancyReading, DiscrepancyState, DiscrepancyTables, Terms, TermsError,
};

use super::super::{NetworkError, NetworkFisher};
use super::{Lists, head, lists, numbers};
use crate::data::records::{Records, Variable};
use crate::parallel::each;

/// A network as a [`Discrepancy`](fishweir_core::network::Discrepancy) of a device, in its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct DeployedAlarm {
    /// The nodes.
    pub columns: Vec<Variable>,
    /// Each node's parents and the node.
    pub scopes: Vec<Vec<usize>>,
    /// By cell.
    pub theta: Vec<f32>,
    /// `1 / (P theta)` by cell.
    pub precision: Vec<f32>,
    /// `1 - lambda`.
    pub lost: f32,
    /// What the statistic must pass.
    pub threshold: f32,
    /// Effective events before there is an alarm.
    pub least: f32,
}

/// How an alarm is calibrated: on records in which nothing has changed, real ones that the network was not
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
    /// An alarm of a network that comes once in `mean_time` events while nothing changes. There is none
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
    /// A memory or a mean time below two events, or a mean time below twice the memory; fewer normal events than ten false alarms take; events
    /// that do not fit or are impossible; probabilities beyond single precision.
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
                "one false alarm in {mean_time} events is too often for a memory of {memory} events; the \
                 mean time must be twice the memory at least"
            )));
        }
        let network = fisher.network();
        let mut alarm = DeployedAlarm {
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
                        "{} events in which nothing changes are too few for one false alarm in \
                         {mean_time}: {:.0} are needed at least",
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
                "in no stream of {length} events is there an event at which an alarm with a memory of \
                 {memory} could be; take a shorter memory"
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
    /// Bytes of flash.
    pub fn flash(&self) -> usize {
        lists(&self.columns, &self.scopes) + 8 * self.theta.len() + 12
    }

    /// Bytes of the stream's state.
    pub fn ram(&self) -> usize {
        4 * (self.theta.len() + self.columns.len() + 3)
    }

    /// Runs over events as a device does, in its numbers, begun anew after every alarm: the events, from
    /// 0, at which there is one, and the node with the largest share.
    ///
    /// # Errors
    /// An event that does not fit, or that the network makes impossible.
    pub fn alarms(&self, events: &Records) -> Result<Vec<(usize, usize)>, NetworkError> {
        if events.columns() != self.columns.len() && !events.is_empty() {
            let (found, nodes) = (events.columns(), self.columns.len());
            return Err(NetworkError::Length { record: 0, found, nodes });
        }
        let mut alarms = Vec::new();
        let row = |index, event: &mut [u16]| event.copy_from_slice(events.row(index));
        self.run(events.len(), row, |index, reading, reset| {
            if reading.alarm {
                alarms.push((index, reading.node));
                *reset = true;
            }
        })?;
        Ok(alarms)
    }

    /// The peaks of the statistic where there could be an alarm; the first event has this number.
    fn peaks(
        &self,
        first: usize,
        length: usize,
        event: impl FnMut(usize, &mut [u16]),
    ) -> Result<Peaks, NetworkError> {
        let (mut peaks, mut largest) = (Vec::new(), 0.0_f32);
        let seen = self.run(length, event, |index, reading, _| {
            if reading.events >= self.least && reading.statistic > largest {
                largest = reading.statistic;
                peaks.push((index + 1, largest));
            }
        });
        match seen {
            Err(NetworkError::Impossible { record, node }) => {
                Err(NetworkError::Impossible { record: first + record, node })
            }
            seen => seen.map(|()| Peaks { peaks, length }),
        }
    }

    /// Runs over so many events, each written into one buffer when its turn comes.
    fn run(
        &self,
        length: usize,
        mut write: impl FnMut(usize, &mut [u16]),
        mut see: impl FnMut(usize, DiscrepancyReading, &mut bool),
    ) -> Result<(), NetworkError> {
        let lists = Lists::of(&self.columns, &self.scopes);
        let wrong = |error: TermsError| NetworkError::Other(error.to_string());
        let terms = Terms::new(&lists.cards, &lists.lengths, &lists.columns).map_err(wrong)?;
        let memory = ForgettingFactor::from_lost(self.lost);
        let tables = DiscrepancyTables::new(
            terms,
            &self.theta,
            &self.precision,
            memory,
            self.threshold,
            self.least,
        );
        let tables = tables.map_err(wrong)?;
        let cells = self.theta.len();
        let new = || DiscrepancyState::new(vec![0.0_f32; cells], vec![0.0_f32; self.columns.len()]);
        let mut state = new();
        let mut event = vec![0; self.columns.len()];
        for index in 0..length {
            write(index, &mut event);
            let node = None;
            tables.push(&mut state, &event).map_err(|error| match error {
                ObservationError::Impossible => NetworkError::Impossible { record: index, node },
                error => NetworkError::Other(format!("record {index}: {error}")),
            })?;
            let mut reset = false;
            see(index, tables.read(&state), &mut reset);
            if reset {
                state = new();
            }
        }
        Ok(())
    }

    /// Rust source that defines `MODEL`, a `static`, and the names of the columns.
    pub fn to_source(&self) -> String {
        let (nodes, cells) = (self.columns.len(), self.theta.len());
        let names = "Discrepancy, DiscrepancyTables";
        let mut text = head("An alarm on events", names, &self.columns, &self.scopes);
        for (name, table) in [("THETA", &self.theta), ("PRECISION", &self.precision)] {
            let table = numbers(table);
            let _ = write!(text, "#[rustfmt::skip]\nstatic {name}: [f32; {cells}] = {table};\n\n");
        }
        let [lost, threshold, least] = [self.lost, self.threshold, self.least];
        let _ = write!(
            text,
            "/// The alarm: {} B of flash, {} B of state.\n#[rustfmt::skip]\n\
             pub static MODEL: Discrepancy<'static, f32, {nodes}, {cells}> = match DiscrepancyTables::new(\n    \
             TERMS, &THETA, &PRECISION, ForgettingFactor::from_lost({lost:?}), {threshold:?}, {least:?},\n) {{\n    \
             Ok(tables) => match Discrepancy::new(tables) {{\n        Ok(model) => model,\n        \
             Err(_) => panic!(\"no alarm\"),\n    }},\n    Err(_) => panic!(\"no tables\"),\n}};\n",
            self.flash(),
            self.ram(),
        );
        text.replace(
            "use fishweir_core::network",
            "use fishweir_core::filter::ForgettingFactor;\nuse fishweir_core::network",
        )
    }
}
