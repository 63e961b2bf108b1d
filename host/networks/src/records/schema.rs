//! Numbering of the states in the fields of a table.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::bins::{Binning, Cutting, description_length, equal_frequency};
use super::text::{ABSENT, TextColumn, TextTable, number};
use super::{MISSING, Records, Variable, check_name};
use fishweir::data::DataError;
use fishweir::internals::shorten;
use fishweir::report::short;

/// A column of records: its states and, if they are bins of numbers, where these are cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Name and states.
    #[serde(flatten)]
    pub variable: Variable,
    /// Rising; a number is in the bin of the cuts below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuts: Option<Vec<f64>>,
}

/// Treatment of a state that a model's column does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unseen {
    /// An error.
    #[default]
    Refused,
    /// A missing field.
    Missing,
}

/// The columns of records, which a model keeps: later tables are read by it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schema {
    columns: Vec<Column>,
}

/// The state of a missing field, if that is a state.
const UNKNOWN: &str = "?";

impl Schema {
    /// Learns the columns of a table: the states are those that the file declares, or those found in it,
    /// in order, equal numbers being one; numbers are cut by some of the rows alone. `class` is the column
    /// whose states description length looks at; it is never cut, and has the states that are found alone,
    /// for of another nothing is learnt.
    ///
    /// # Errors
    /// A column without a field that is there, or with more than 65 534 states; description length
    /// without a class.
    pub fn learn(
        table: &TextTable,
        rows: &[usize],
        class: Option<usize>,
        binning: &Binning,
    ) -> Result<Self, DataError> {
        let columns = table.columns.iter().enumerate().map(|(index, column)| {
            let is_class = Some(index) == class;
            let mut states = match &column.declared {
                Some(states) => states.clone(),
                None => sorted(column),
            };
            if is_class {
                states.retain(|state| column.fields.contains(state));
            }
            let many = states.len() > binning.most_states;
            let numeric = !is_class && table.is_numeric(column, binning.most_states)?;
            let mut learnt = if numeric && many {
                cut(table, column, rows, class, binning.cutting)?
            } else {
                Column { variable: Variable { name: column.name.clone(), states }, cuts: None }
            };
            let states = &mut learnt.variable.states;
            let known = states.iter().any(|state| state == UNKNOWN);
            if binning.missing_is_a_state && !is_class && !known && column.rows.contains(&ABSENT) {
                states.push(UNKNOWN.into());
            }
            if states.is_empty() || states.len() >= usize::from(MISSING) {
                let what = format!("column `{}` has {} states", column.name, states.len());
                return Err(DataError::Header { line: 1, file: table.source().to_owned(), what });
            }
            Ok(learnt)
        });
        Ok(Self { columns: columns.collect::<Result<_, _>>()? })
    }

    /// The columns of variables whose states are written as they are named.
    pub fn of_variables(variables: &[Variable]) -> Self {
        let column = |variable: &Variable| Column { variable: variable.clone(), cuts: None };
        Self { columns: variables.iter().map(column).collect() }
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Names and states of the columns.
    pub fn variables(&self) -> Vec<Variable> {
        self.columns.iter().map(|column| column.variable.clone()).collect()
    }

    /// Checks names, cuts and states.
    ///
    /// # Errors
    /// Which column, and what is wrong.
    pub fn validate(&self) -> Result<(), String> {
        for Column { variable: Variable { name, states }, cuts } in &self.columns {
            [name].into_iter().chain(states).try_for_each(|name| check_name(name))?;
            let Some(cuts) = cuts else { continue };
            let bins = states.len() - usize::from(states.last().is_some_and(|one| one == UNKNOWN));
            let rising = cuts.windows(2).all(|pair| pair[0] < pair[1]);
            if bins != cuts.len() + 1 || !rising || cuts.iter().any(|cut| !cut.is_finite()) {
                return Err(format!("column `{name}`: its cuts do not separate its states"));
            }
        }
        Ok(())
    }

    /// Describes how each column was read: numbers that are cut, or states.
    #[must_use]
    pub fn in_words(&self) -> String {
        let (mut numbers, mut states) = (Vec::new(), Vec::new());
        for Column { variable, cuts } in &self.columns {
            let list = if cuts.is_some() { &mut numbers } else { &mut states };
            list.push(format!("{} ({})", variable.name, variable.card()));
        }
        let numbered =
            (!numbers.is_empty()).then(|| format!("numbers in bins: {}", numbers.join(", ")));
        let stated = (!states.is_empty()).then(|| format!("categories: {}", states.join(", ")));
        [numbered, stated].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// The rows of a table as records: its columns are found by name, and those that it lacks are missing in every record. A
    /// missing field is the state `?` of a column that has it, as a device reads it.
    ///
    /// # Errors
    /// A column that is missing, or a field that is no state, by file, line and column.
    pub fn records(&self, table: &TextTable) -> Result<Records, DataError> {
        Ok(self.records_with(table, Unseen::Refused)?.0)
    }

    /// Reads records in which unknown states may be missing, and returns the row of each such field.
    ///
    /// # Errors
    /// As [`records`](Self::records).
    pub fn records_with(
        &self,
        table: &TextTable,
        unseen: Unseen,
    ) -> Result<(Records, Vec<usize>), DataError> {
        let mut unknown = Vec::new();
        let mut at = vec![None; self.columns.len()];
        for column in &table.columns {
            let known = self.columns.iter().position(|one| one.variable.name == column.name);
            let Some(known) = known else {
                let names = self.columns.iter().map(|one| one.variable.name.as_str());
                return Err(DataError::ExtraColumn {
                    place: column.place(table.source(), column.line),
                    column: column.name.clone(),
                    known: names.collect::<Vec<_>>().join(", "),
                });
            };
            at[known] = Some((column, self.states(known, column, table, unseen)?));
        }
        let absent = |column: &Column| column.variable.state(UNKNOWN).unwrap_or(MISSING);
        let absent: Vec<u16> = self.columns.iter().map(absent).collect();
        let mut records = Records::new(self.columns.len());
        let mut record = vec![MISSING; self.columns.len()];
        for row in 0..table.len() {
            for ((value, column), &absent) in record.iter_mut().zip(&at).zip(&absent) {
                *value = match column {
                    Some((column, states)) if column.rows[row] != ABSENT => {
                        states[column.rows[row] as usize].unwrap_or_else(|| {
                            unknown.push(row);
                            absent
                        })
                    }
                    _ => absent,
                };
            }
            records.push(&record);
        }
        Ok((records, unknown))
    }

    /// The state of each of a column's different fields.
    fn states(
        &self,
        known: usize,
        column: &TextColumn,
        table: &TextTable,
        unseen: Unseen,
    ) -> Result<Vec<Option<u16>>, DataError> {
        let Column { variable, cuts } = &self.columns[known];
        let first = |field: usize| {
            let row = column.rows.iter().position(|&number| number as usize == field);
            table.place(row.unwrap_or(0), column)
        };
        // A number is a state however it is written.
        let states = (0..).zip(&variable.states);
        let mut numbers: HashMap<&str, u16> =
            states.clone().map(|(state, name)| (name.as_str(), state)).collect();
        let written: Vec<(u16, String)> =
            states.filter_map(|(state, name)| Some((state, canonical(name)?))).collect();
        for (state, name) in &written {
            numbers.entry(name).or_insert(*state);
        }
        let state = |field: &String| {
            let known = numbers.get(field.as_str());
            known.or_else(|| numbers.get(canonical(field)?.as_str())).copied()
        };
        let of_field = |(index, field): (usize, &String)| match cuts {
            Some(cuts) => match number(field) {
                Some(value) => Ok(Some(cuts.iter().filter(|&&cut| cut < value).count() as u16)),
                None => Err(DataError::NotANumber { place: first(index), text: shorten(field) }),
            },
            None => match (state(field), unseen) {
                (None, Unseen::Refused) => Err(DataError::UnknownCategory {
                    place: first(index),
                    text: shorten(field),
                    column: variable.name.clone(),
                    states: variable.states.join(", "),
                }),
                (state, _) => Ok(state),
            },
        };
        column.fields.iter().enumerate().map(of_field).collect()
    }
}

/// The different fields of a column: numbers by size, text by the alphabet. Of one number the spelling that
/// comes first.
fn sorted(column: &TextColumn) -> Vec<String> {
    let mut states = column.fields.clone();
    if column.has_numbers_alone() {
        let value = |state: &String| number(state).unwrap_or(f64::NAN);
        states.sort_by(|a, b| {
            value(a).total_cmp(&value(b)).then_with(|| canonical(a).cmp(&canonical(b)))
        });
        states.dedup_by(|a, b| canonical(a) == canonical(b));
    } else {
        states.sort();
    }
    states
}

/// A number as it is written shortest.
fn canonical(text: &str) -> Option<String> {
    let value = number(text)?;
    let digits = text.trim_start_matches(['+', '-']);
    if value != 0.0 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        // A whole number may have more digits than an `f64` keeps apart.
        let sign = if value < 0.0 { "-" } else { "" };
        return Some(format!("{sign}{}", digits.trim_start_matches('0')));
    }
    // Minus zero is zero.
    Some((value + 0.0).to_string())
}

fn cut(
    table: &TextTable,
    column: &TextColumn,
    rows: &[usize],
    class: Option<usize>,
    cutting: Cutting,
) -> Result<Column, DataError> {
    let there = rows.iter().filter(|&&row| column.rows[row] != ABSENT);
    let value = |row: usize| number(&column.fields[column.rows[row] as usize]).unwrap_or_default();
    let cuts = match (cutting, class.map(|class| &table.columns[class])) {
        (Cutting::EqualFrequency(bins), _) => {
            equal_frequency(there.map(|&row| value(row)).collect(), bins)
        }
        (Cutting::DescriptionLength, Some(class)) => {
            let labelled = there.filter(|&&row| class.rows[row] != ABSENT);
            let labelled = labelled.map(|&row| (value(row), class.rows[row] as usize));
            description_length(labelled.collect(), class.fields.len())
        }
        (Cutting::DescriptionLength, None) => {
            let what = "cutting by description length needs a class; name its column, or cut by equal frequency";
            let file = table.source().to_owned();
            return Err(DataError::Header { line: 1, file, what: what.into() });
        }
    };
    let bound = |cut: f64| short(cut);
    let mut states = Vec::with_capacity(cuts.len() + 1);
    match (cuts.first(), cuts.last()) {
        (Some(&first), Some(&last)) => {
            states.push(format!("<={}", bound(first)));
            let inner = cuts.windows(2);
            states.extend(inner.map(|pair| format!("{}..{}", bound(pair[0]), bound(pair[1]))));
            states.push(format!(">{}", bound(last)));
        }
        _ => states.push("any".into()),
    }
    Ok(Column { variable: Variable { name: column.name.clone(), states }, cuts: Some(cuts) })
}
