//! Networks on a device: a classifier of events, and an alarm.

mod alarm;
mod sum;

use std::fmt::Write as _;

pub use alarm::{AlarmPlan, DeployedAlarm};
pub use sum::DeployedSum;

use crate::data::records::{MISSING, Variable};

/// The lists of [`Terms`](fishweir_core::network::Terms).
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
}

fn lists(columns: &[Variable], scopes: &[Vec<usize>]) -> usize {
    2 * (columns.len() + scopes.len() + scopes.iter().map(Vec::len).sum::<usize>())
}

fn numbers(table: &[f32]) -> String {
    format!("{table:?}")
}

/// The source up to the tables.
fn head(what: &str, names: &str, columns: &[Variable], scopes: &[Vec<usize>]) -> String {
    let Lists { cards, lengths, columns: listed } = Lists::of(columns, scopes);
    let mut text = format!(
        "// {what}, exported by fishweir {}. Change the model, not this file.\n//\n",
        env!("CARGO_PKG_VERSION")
    );
    for (index, Variable { name, states }) in columns.iter().enumerate() {
        let _ = writeln!(text, "// Column {index}: {name:?}, states {states:?}.");
    }
    let called: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let _ = write!(
        text,
        "\nuse fishweir_core::network::{{{names}, Terms}};\n\n\
         /// The names of the columns, by index.\n#[rustfmt::skip]\n\
         pub static COLUMNS: [&str; {}] = {called:?};\n\n\
         #[rustfmt::skip]\nconst TERMS: Terms<'static> = match Terms::new(\n    \
         &{cards:?},\n    &{lengths:?},\n    &{listed:?},\n) {{\n    \
         Ok(terms) => terms,\n    Err(_) => panic!(\"no terms\"),\n}};\n\n",
        columns.len(),
    );
    text
}
