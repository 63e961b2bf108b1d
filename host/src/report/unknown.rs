//! Classes that a model does not know.

use std::fmt;

use super::{Table, grouped};
use crate::evaluate::UnknownClass;

/// Writes a model's decisions on windows of unknown classes.
///
/// They are further rows of the confusion matrix, whose windows are in no other figure.
pub(super) fn write_unknown(f: &mut fmt::Formatter<'_>, unknown: &[UnknownClass]) -> fmt::Result {
    let Some(first) = unknown.first() else { return Ok(()) };
    writeln!(
        f,
        "  rows are classes that the model does not know, which no other figure includes; columns decisions"
    )?;
    let rejects = unknown.iter().any(|one| one.rejected.is_some());
    let undecided = unknown.iter().any(|one| one.undecided > 0);
    let shown =
        [("undecided", undecided), ("rejected", rejects), ("series", true), ("windows", true)];
    let shown = shown.into_iter().filter(|one| one.1).map(|one| one.0.to_owned());
    let mut table = Table::new(
        [String::new()]
            .into_iter()
            .chain(first.decided.iter().map(|one| one.0.clone()))
            .chain(shown),
    );
    let count = |count: usize| if count == 0 { ".".to_owned() } else { grouped(count) };
    for one in unknown {
        let mut row = vec![one.class.clone()];
        row.extend(one.decided.iter().map(|decided| count(decided.1)));
        row.extend(undecided.then(|| count(one.undecided)));
        row.extend(rejects.then(|| one.rejected.map_or_else(String::new, count)));
        row.extend([one.series, one.windows].map(grouped));
        table.row(row);
    }
    write!(f, "{table}")
}
