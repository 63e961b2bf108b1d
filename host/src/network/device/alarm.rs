//! An alarm on events as a device holds it, and its calibration.

use std::fmt::Write as _;

use fishweir_core::ObservationError;
use fishweir_core::filter::Memory;
use fishweir_core::network::{
    DiscrepancyReading, DiscrepancyState, DiscrepancyTables, Terms, TermsError,
};

use super::super::{NetworkError, NetworkFisher};
use super::{Lists, head, lists, numbers};
use crate::data::records::{Records, Variable};

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

/// Events drawn for a false alarm, where none are given.
const DRAWN_PER_ALARM: f64 = 50.0;

/// False alarms that the normal events must have room for.
const FEWEST_ALARMS: f64 = 10.0;

impl AlarmPlan {
    /// An alarm of a network, begun anew after every alarm, that comes once in `mean_time` normal events:
    /// `normal` ones, or 50 times as many drawn with `seed`. There is none before the effective number of
    /// events is as large as the memory is long, half of what it comes to.
    ///
    /// Cost: some 20 passes over the events, in each a reading an event.
    ///
    /// # Errors
    /// A memory below one event, a mean time below it; fewer normal events than ten false alarms take;
    /// events that do not fit or are impossible.
    pub fn calibrate(
        &self,
        fisher: &NetworkFisher,
        normal: Option<&Records>,
        seed: u64,
    ) -> Result<DeployedAlarm, NetworkError> {
        let Self { memory, mean_time } = *self;
        for (name, value, range) in [
            ("the memory", memory, "finite and 2 events at least"),
            ("the mean time", mean_time, "finite and 2 events at least"),
        ] {
            if !(value.is_finite() && value >= 2.0) {
                return Err(NetworkError::Setting { name, value, range });
            }
        }
        let network = fisher.network();
        let drawn = match normal {
            Some(_) => None,
            None => Some(network.sample((DRAWN_PER_ALARM * mean_time) as usize, seed)),
        };
        let events = match (normal, &drawn) {
            (Some(events), _) | (None, Some(events)) => events,
            (None, None) => return Err(NetworkError::NoRecords("an alarm is calibrated on some")),
        };
        network.check(events)?;
        let wanted = events.len() as f64 / mean_time;
        if wanted < FEWEST_ALARMS {
            return Err(NetworkError::Other(format!(
                "{} events in which nothing changes are too few for one false alarm in {mean_time}: {:.0} \
                 are needed at least",
                events.len(),
                FEWEST_ALARMS * mean_time
            )));
        }
        let mut alarm = DeployedAlarm {
            columns: network.variables().to_vec(),
            scopes: (0..network.shape().nodes()).map(|node| network.shape().family(node)).collect(),
            theta: network.theta().iter().map(|&theta| theta as f32).collect(),
            precision: fisher.precision().iter().map(|&inverse| inverse as f32).collect(),
            lost: (1.0 / memory) as f32,
            threshold: f32::MAX,
            least: memory as f32,
        };
        if let Some(cell) = alarm.precision.iter().position(|inverse| !inverse.is_finite()) {
            return Err(NetworkError::Other(format!(
                "cell {cell} is too improbable for single precision; fit with a larger pseudo-count"
            )));
        }
        // Between thresholds that alarm too often and often enough, by eighths.
        let (mut low, mut high) = (0.0, alarm.largest(events)?);
        for _ in 0..5 {
            let tried: Vec<f32> = (1..8).map(|k| low + (high - low) * k as f32 / 8.0).collect();
            let alarms = crate::parallel::each(tried.len(), &|index| {
                let other = DeployedAlarm { threshold: tried[index], ..alarm.clone() };
                other.alarms(events).map(|alarms| alarms.len())
            });
            for (threshold, alarms) in tried.into_iter().zip(alarms) {
                if alarms? as f64 > wanted {
                    low = threshold;
                } else {
                    high = threshold;
                    break;
                }
            }
        }
        alarm.threshold = high;
        Ok(alarm)
    }
}

impl DeployedAlarm {
    /// Bytes of flash.
    #[must_use]
    pub fn flash(&self) -> usize {
        lists(&self.columns, &self.scopes) + 8 * self.theta.len() + 12
    }

    /// Bytes of the stream's state.
    #[must_use]
    pub fn ram(&self) -> usize {
        4 * (self.theta.len() + self.columns.len() + 3)
    }

    /// Runs over events as a device does, in its numbers, begun anew after every alarm: the events, from
    /// 0, at which there is one, and the node with the largest share.
    ///
    /// # Errors
    /// An event that does not fit, or that the network makes impossible.
    pub fn alarms(&self, events: &Records) -> Result<Vec<(usize, usize)>, NetworkError> {
        let mut alarms = Vec::new();
        self.run(events, |index, reading, reset| {
            if reading.alarm {
                alarms.push((index, reading.node));
                *reset = true;
            }
        })?;
        Ok(alarms)
    }

    /// The largest statistic over events that is an alarm's, were the threshold lower.
    fn largest(&self, events: &Records) -> Result<f32, NetworkError> {
        let mut largest = 0.0_f32;
        self.run(events, |_, reading, _| {
            if reading.events >= self.least {
                largest = largest.max(reading.statistic);
            }
        })?;
        Ok(largest)
    }

    fn run(
        &self,
        events: &Records,
        mut see: impl FnMut(usize, DiscrepancyReading, &mut bool),
    ) -> Result<(), NetworkError> {
        let lists = Lists::of(&self.columns, &self.scopes);
        let wrong = |error: TermsError| NetworkError::Other(error.to_string());
        let terms = Terms::new(&lists.cards, &lists.lengths, &lists.columns).map_err(wrong)?;
        let memory = Memory::from_lost(self.lost);
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
        for (index, event) in events.rows().enumerate() {
            let node = None;
            tables.push(&mut state, event).map_err(|error| match error {
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
    #[must_use]
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
             TERMS, &THETA, &PRECISION, Memory::from_lost({lost:?}), {threshold:?}, {least:?},\n) {{\n    \
             Ok(tables) => match Discrepancy::new(tables) {{\n        Ok(model) => model,\n        \
             Err(_) => panic!(\"no alarm\"),\n    }},\n    Err(_) => panic!(\"no tables\"),\n}};\n",
            self.flash(),
            self.ram(),
        );
        text.replace(
            "use fishweir_core::network",
            "use fishweir_core::filter::Memory;\nuse fishweir_core::network",
        )
    }
}
