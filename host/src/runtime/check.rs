//! Checks of models with sizes at run time, part by part.

use super::HmmError;

/// Checks the number of entries of a part.
pub(crate) fn length(part: impl Into<String>, found: usize, wanted: usize) -> Result<(), HmmError> {
    if found == wanted { Ok(()) } else { Err(HmmError::Shape { part: part.into(), found, wanted }) }
}

/// Checks that a row consists of probabilities.
pub(crate) fn distribution(part: impl Into<String>, row: &[f64]) -> Result<(), HmmError> {
    let good = row.iter().all(|p| p.is_finite() && *p >= 0.0)
        && (row.iter().sum::<f64>() - 1.0).abs() < 1e-9;
    if good { Ok(()) } else { Err(HmmError::Distribution { part: part.into() }) }
}

/// Checks that a table has `rows` rows of probabilities, all of one length.
pub(crate) fn distributions(
    name: &str,
    table: &[Vec<f64>],
    rows: usize,
    columns: usize,
) -> Result<(), HmmError> {
    length(name, table.len(), rows)?;
    for (index, row) in table.iter().enumerate() {
        let part = format!("{name}[{index}]");
        length(&part, row.len(), columns)?;
        distribution(part, row)?;
    }
    Ok(())
}

/// Condition on the numbers of a part, and its description.
pub(crate) type Wanted = (fn(f64) -> bool, &'static str);

pub(crate) const FINITE: Wanted = (|_| true, "a finite number");
pub(crate) const NOT_NEGATIVE: Wanted = (|x| x >= 0.0, "a finite number, and not negative");
pub(crate) const POSITIVE: Wanted = (|x| x > 0.0, "a finite number above zero");
pub(crate) const SHARE: Wanted = (|x| (0.0..=1.0).contains(&x), "a probability from 0 to 1");

/// Checks that a table has the given rows and columns, and that each number satisfies a condition.
pub(crate) fn numbers(
    name: &str,
    table: &[Vec<f64>],
    (rows, columns): (usize, usize),
    (good, wanted): Wanted,
) -> Result<(), HmmError> {
    length(name, table.len(), rows)?;
    for (index, row) in table.iter().enumerate() {
        length(format!("{name}[{index}]"), row.len(), columns)?;
        if let Some(entry) = row.iter().position(|x| !(x.is_finite() && good(*x))) {
            return Err(HmmError::Range { part: format!("{name}[{index}][{entry}]"), wanted });
        }
    }
    Ok(())
}

/// Checks `count` Gaussians of one number of channels, and the range of their numbers.
pub(crate) fn gaussians(
    mean: &[Vec<f64>],
    std: &[Vec<f64>],
    count: usize,
    channels: usize,
) -> Result<(), HmmError> {
    length("mean", mean.len(), count)?;
    length("std", std.len(), count)?;
    for (name, rows, positive) in [("mean", mean, false), ("std", std, true)] {
        for (index, row) in rows.iter().enumerate() {
            length(format!("{name}[{index}]"), row.len(), channels)?;
            for (channel, &value) in row.iter().enumerate() {
                if !value.is_finite() || (positive && value <= 0.0) {
                    let part = format!("{name}[{index}][{channel}]");
                    return Err(HmmError::Parameter { part, positive });
                }
            }
        }
    }
    Ok(())
}
