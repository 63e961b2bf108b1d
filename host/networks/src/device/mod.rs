//! Networks on a device: a classifier of events, an alarm, and a coreset.

mod alarm;
mod coreset;
mod events;
mod sum;
mod watcher;

use std::fmt::Write as _;

pub use alarm::{AlarmPlan, DeployedAlarm};
pub use coreset::KeptRecords;
pub use events::{DeployedEvents, EventCost};
use fishweir_core::network::{FactorLayout, TermsError};
pub use sum::DeployedSum;

use super::NetworkError;
use crate::records::{MISSING, Records, Variable};

/// The lists of [`FactorLayout`].
struct Lists {
    cards: Vec<u16>,
    lengths: Vec<u16>,
    columns: Vec<u16>,
}

impl Lists {
    fn of(columns: &[Variable], scopes: &[Vec<usize>]) -> Self {
        let narrow = |value: usize| u16::try_from(value).unwrap_or(MISSING);
        Self {
            cards: columns.iter().map(|column| narrow(column.card())).collect(),
            lengths: scopes.iter().map(|scope| narrow(scope.len())).collect(),
            columns: scopes.iter().flatten().map(|&column| narrow(column)).collect(),
        }
    }

    /// The terms, as a device checks them.
    fn terms(&self, columns: &[Variable]) -> Result<FactorLayout<'_>, NetworkError> {
        let terms = FactorLayout::new(&self.cards, &self.lengths, &self.columns);
        terms.map_err(|error| match error {
            TermsError::States { column } => NetworkError::Other(format!(
                "node `{}` has {} states; a device can have 1 to 65534",
                columns[column].name,
                columns[column].card()
            )),
            error => unfit(error),
        })
    }
}

/// Error for a network that does not fit a device.
fn unfit(error: impl std::fmt::Display) -> NetworkError {
    NetworkError::Other(format!("a device cannot represent it: {error}"))
}

/// Refuses events of another length.
fn check_columns(columns: &[Variable], events: &Records) -> Result<(), NetworkError> {
    let (found, nodes) = (events.columns(), columns.len());
    if found != nodes && !events.is_empty() {
        return Err(NetworkError::Length { record: 0, found, nodes });
    }
    Ok(())
}

fn lists(columns: &[Variable], scopes: &[Vec<usize>]) -> usize {
    2 * (columns.len() + scopes.len() + scopes.iter().map(Vec::len).sum::<usize>())
}

fn numbers(table: &[f32]) -> String {
    format!("{table:?}")
}

/// The source up to the tables: imports, the type of the model, the names of columns, states and classes, the terms.
fn head(
    [what, uses, model]: [&str; 3],
    columns: &[Variable],
    classes: &[String],
    scopes: &[Vec<usize>],
) -> String {
    let Lists { cards, lengths, columns: listed } = Lists::of(columns, scopes);
    let mut text = format!(
        "// {what}, exported by fishweir {}. Change the model, not this file.\n\n\
         {uses}\n\n\
         /// The type of [`MODEL`].\n#[rustfmt::skip]\npub type Model = {model};\n\n",
        env!("CARGO_PKG_VERSION")
    );
    let called: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let states = columns.iter().map(|column| format!("    &{:?},\n", column.states));
    let _ = write!(
        text,
        "/// The names of the columns, by index.\n#[rustfmt::skip]\n\
         pub static COLUMNS: [&str; {count}] = {called:?};\n\
         /// The names of their states, by column and index.\n#[rustfmt::skip]\n\
         pub static STATES: [&[&str]; {count}] = [\n{states}];\n\
         /// The names of the classes, by index.\n#[rustfmt::skip]\n\
         pub static CLASSES: [&str; {}] = {classes:?};\n\n\
         #[rustfmt::skip]\nconst TERMS: FactorLayout<'static> = match FactorLayout::new(\n    \
         &{cards:?},\n    &{lengths:?},\n    &{listed:?},\n) {{\n    \
         Ok(terms) => terms,\n    Err(_) => panic!(\"no terms\"),\n}};\n\n",
        classes.len(),
        count = columns.len(),
        states = states.collect::<String>(),
    );
    text
}
