use std::fmt;

use crate::deploy::DeviceCost;
use crate::words::{counted, grouped, grouped_to_three_digits};

/// A plain table: first column to the left, the others to the right.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these heads.
    pub fn new<H: Into<String>>(heads: impl IntoIterator<Item = H>) -> Self {
        Self { rows: vec![heads.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row; it may have fewer cells than there are columns.
    pub fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::from(" ");
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                if column == 0 {
                    line += &format!(" {cell:<width$}");
                } else {
                    line += &format!("  {cell:>width$}");
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Table of costs on a device: names, numbers and their units.
pub(super) fn on_a_device<'a>(rows: impl IntoIterator<Item = (&'a str, usize, &'a str)>) -> Table {
    let mut table = Table::new(["on a device", ""]);
    for (name, value, unit) in rows {
        let value = format!("{} {unit}", grouped(value));
        table.row([name, value.trim_end()]);
    }
    table
}

/// Writes memory and work on a device in a line, after words on what takes it.
///
/// # Errors
/// The formatter's.
pub fn write_cost(f: &mut fmt::Formatter<'_>, what: &str, of: &DeviceCost) -> fmt::Result {
    let DeviceCost { cost, seconds_per_sample } = of;
    write!(
        f,
        "{what}: {} B of flash, {} B of RAM, {} multiply-adds and {} per sample",
        grouped(cost.model_bytes),
        grouped(cost.state_bytes),
        grouped(cost.multiply_adds_per_sample),
        counted(cost.exponentials_per_sample, "exponential")
    )?;
    match seconds_per_sample.map(|all| all.map(|seconds| grouped_to_three_digits(1e6 * seconds))) {
        Some([least, most]) => {
            writeln!(f, " ({least} to {most} \u{b5}s on a Cortex-M4F at 64 MHz)")
        }
        None => writeln!(f),
    }
}

/// Rows of the extra cost of samples that lack channels, if any.
pub(super) fn of_missing(
    multiply_adds: usize,
    logarithms: usize,
) -> impl Iterator<Item = (&'static str, usize, &'static str)> {
    [
        ("multiply-adds more of missing channels, at most", multiply_adds, ""),
        ("logarithms more of missing channels, at most", logarithms, ""),
    ]
    .into_iter()
    .filter(|(_, count, _)| *count > 0)
}

/// A share as a cell: three digits.
pub(super) fn share(share: f64) -> String {
    format!("{share:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["", "a", "long"]);
        table.row(["walk", "10", "2"]);
        table.row(["é"]);
        assert_eq!(table.to_string(), "         a  long\n  walk  10     2\n  é\n");
    }
}
