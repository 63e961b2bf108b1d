use crate::error::{ErrorKind, ModelError, Part};
use crate::number::Real;

/// Checks rows of reals: finite, and at most `2^48` in absolute value, so that no product with a
/// stream's state overflows.
///
/// # Errors
/// Names the first entry that is not.
pub(super) fn check_range<'r, T: Real>(
    rows: impl IntoIterator<Item = &'r [T]>,
    part: Part,
) -> Result<(), ModelError> {
    let most = T::power_of_two(48);
    for (row, entries) in rows.into_iter().enumerate() {
        check_finite([entries], part).map_err(|error| ModelError { row, ..error })?;
        if let Some(entry) = entries.iter().position(|entry| entry.abs() > most) {
            return Err(ModelError::new(part, ErrorKind::NotInRange, row, entry));
        }
    }
    Ok(())
}

/// Checks rows of reals.
pub(super) fn check_finite<'r, T: Real>(
    rows: impl IntoIterator<Item = &'r [T]>,
    part: Part,
) -> Result<(), ModelError> {
    for (row, entries) in rows.into_iter().enumerate() {
        if let Some(entry) = entries.iter().position(|entry| !entry.is_finite()) {
            return Err(ModelError::new(part, ErrorKind::NotFinite, row, entry));
        }
    }
    Ok(())
}
