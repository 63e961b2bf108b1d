//! Content of the firmware's application `events`, its input and its expected answers.

use fishweir_core::classify::Decision;
use fishweir_core::network::DiscrepancyReading;
use serde::Serialize;

use super::{DeployedAlarm, DeployedSum};
use crate::NetworkError;
use crate::records::{Records, Variable};

/// A model of the firmware's application `events`.
#[derive(Clone, Debug, PartialEq)]
pub enum DeployedEvents {
    /// A classifier.
    Sum(DeployedSum),
    /// An alarm.
    Alarm(DeployedAlarm),
}

/// Cost of an event on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EventCost {
    /// Bytes of flash: lists and tables, without names and code.
    pub model_bytes: usize,
    /// Bytes of the stream's state.
    pub state_bytes: usize,
    /// Integer multiply-adds that find the cells of an event.
    pub look_ups: usize,
    /// Operation counted below: multiply-adds, or additions in double words, which are ten each.
    pub operation: &'static str,
    /// Operations on reals of a push,
    pub push_operations: usize,
    /// and of a reading.
    pub reading_operations: usize,
}

impl DeployedEvents {
    /// The columns of an event.
    #[must_use]
    pub fn columns(&self) -> &[Variable] {
        match self {
            Self::Sum(sum) => &sum.columns,
            Self::Alarm(alarm) => &alarm.columns,
        }
    }

    /// Rust source that defines `MODEL`, a `static`, its type, and the names of columns, states and classes.
    #[must_use]
    pub fn to_source(&self) -> String {
        match self {
            Self::Sum(sum) => sum.to_source(),
            Self::Alarm(alarm) => alarm.to_source(),
        }
    }

    /// Cost for events without missing fields.
    ///
    /// A classifier takes one addition per table and output, and one per output to read. An alarm takes two operations per state
    /// of each node and two more per node, and two per node to read.
    #[must_use]
    pub fn cost(&self) -> EventCost {
        let listed = |scopes: &[Vec<usize>]| scopes.iter().map(Vec::len).sum();
        match self {
            Self::Sum(sum) => EventCost {
                model_bytes: sum.flash(),
                state_bytes: sum.ram(),
                look_ups: listed(&sum.scopes),
                operation: "double-word additions",
                push_operations: sum.scopes.len() * sum.tables.len(),
                reading_operations: sum.tables.len(),
            },
            Self::Alarm(alarm) => EventCost {
                model_bytes: alarm.flash(),
                state_bytes: alarm.ram(),
                look_ups: listed(&alarm.scopes),
                operation: "multiply-adds",
                push_operations: alarm.columns.iter().map(|node| 2 * node.card() + 2).sum(),
                reading_operations: 2 * alarm.columns.len(),
            },
        }
    }

    /// Events as the application takes them: a line each.
    #[must_use]
    pub fn lines(&self, events: &Records) -> String {
        let line = |event: &[u16]| {
            let fields =
                self.columns().iter().zip(event).map(|(column, &state)| column.field(state));
            fields.collect::<Vec<_>>().join(",") + "\n"
        };
        events.rows().map(line).collect()
    }

    /// Returns the application's answers to these lines, bit for bit: a decision each, or the statistic of recent events, reset
    /// after an alarm.
    ///
    /// # Errors
    /// Events that do not fit.
    pub fn answers(&self, events: &Records) -> Result<Vec<String>, NetworkError> {
        match self {
            Self::Sum(sum) => {
                let decision = |(event, Decision { class, margin }): (usize, Decision)| {
                    let (line, class) = (event + 1, &sum.classes[class]);
                    format!("decision {line} {:08x} {class}", margin.to_bits())
                };
                Ok(sum.decisions(events)?.into_iter().enumerate().map(decision).collect())
            }
            Self::Alarm(alarm) => {
                let mut answers = Vec::with_capacity(events.len());
                alarm.watch(events, |event, reading| {
                    let line = event + 1;
                    answers.push(match reading {
                        Ok(DiscrepancyReading { statistic, node, share, alarm: is, .. }) => {
                            let name = if is { "alarm" } else { "normal" };
                            let [statistic, share] = [statistic, share].map(f32::to_bits);
                            let column = &alarm.columns[node].name;
                            format!("{name} {line} {statistic:08x} {share:08x} {column}")
                        }
                        Err(NetworkError::Impossible { .. }) => {
                            format!("refused {line} impossible")
                        }
                        Err(error) => return Err(error),
                    });
                    Ok(())
                })?;
                Ok(answers)
            }
        }
    }
}
