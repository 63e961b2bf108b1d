//! Counts and answers in channels of reals, as tables and the wire carry them.

use crate::error::ObservationError;

/// The count that a channel holds.
///
/// Host and device read counts here: nothing is rounded, nothing clamped.
///
/// # Errors
/// [`NotFinite`](ObservationError::NotFinite); [`NotInSupport`](ObservationError::NotInSupport) of a value
/// below zero, with a fraction, or above `u32::MAX`.
pub fn count(value: f64) -> Result<u32, ObservationError> {
    if !value.is_finite() {
        return Err(ObservationError::NotFinite);
    }
    // The cast ends at the limits, and drops a fraction.
    let count = value as u32;
    if f64::from(count) == value { Ok(count) } else { Err(ObservationError::NotInSupport) }
}

/// The answer that a channel holds: 1 is yes, 0 no.
///
/// # Errors
/// [`NotFinite`](ObservationError::NotFinite); [`NotInSupport`](ObservationError::NotInSupport) of any
/// other number.
pub fn yes_or_no(value: f64) -> Result<bool, ObservationError> {
    match count(value) {
        Ok(0) => Ok(false),
        Ok(1) => Ok(true),
        Err(ObservationError::NotFinite) => Err(ObservationError::NotFinite),
        _ => Err(ObservationError::NotInSupport),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_and_answers_one_or_zero() {
        let largest = f64::from(u32::MAX);
        for (value, expected) in [(0.0, 0), (-0.0, 0), (7.0, 7), (largest, u32::MAX)] {
            assert_eq!(count(value), Ok(expected));
        }
        for value in [-1.0, 0.5, largest + 1.0, 1e300, f64::MIN_POSITIVE] {
            assert_eq!(count(value), Err(ObservationError::NotInSupport), "{value}");
        }
        assert_eq!((yes_or_no(0.0), yes_or_no(1.0)), (Ok(false), Ok(true)));
        for value in [2.0, 0.5, -1.0] {
            assert_eq!(yes_or_no(value), Err(ObservationError::NotInSupport), "{value}");
        }
        for value in [f64::NAN, f64::INFINITY] {
            assert_eq!(count(value), Err(ObservationError::NotFinite));
            assert_eq!(yes_or_no(value), Err(ObservationError::NotFinite));
        }
    }
}
