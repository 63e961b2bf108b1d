//! Conversion of real parameters to tables. On the host, or once: in `f64`.

use super::{FineQ15, Q15, RATE_MAX};
use crate::error::{ErrorKind, ModelError, Part};

/// A row of probabilities in units of `2^-15`, rounded so that it sums to one exactly; zeros stay
/// zero and what is possible stays possible, with at least `2^-15`.
///
/// # Errors
/// The first entry that is not finite or negative, a sum that is not one, or a row with more
/// possible entries than there are units; `part` and `row` name it.
pub fn quantise_row(
    probability: &[f64],
    table: &mut [Q15],
    part: Part,
    row: usize,
) -> Result<(), ModelError> {
    const ONE: i32 = Q15::ONE.0 as i32;
    let units = |p: f64| p * f64::from(ONE);
    crate::error::check_distribution(probability.iter().copied(), part, row)?;
    let mut left = ONE;
    for (entry, &p) in table.iter_mut().zip(probability) {
        let nearest = libm::round(units(p)) as u16;
        entry.0 = if p > 0.0 { nearest.max(1) } else { 0 };
        left -= i32::from(entry.0);
    }
    // What rounding left over goes to, or comes from, the entries that it served worst.
    while left != 0 {
        let step = left.signum();
        let error = |(entry, p): (&Q15, &f64)| {
            let free = *p > 0.0 && i32::from(entry.0) + step >= 1;
            free.then_some(f64::from(step) * (units(*p) - f64::from(entry.0)))
        };
        let mut worst: Option<(usize, f64)> = None;
        for (index, pair) in table.iter().zip(probability).enumerate() {
            if let Some(error) = error(pair)
                && worst.is_none_or(|(_, most)| error > most)
            {
                worst = Some((index, error));
            }
        }
        let Some(entry) = worst.and_then(|(index, _)| table.get_mut(index)) else {
            return Err(ModelError::new(part, ErrorKind::OutOfRange, row, 0));
        };
        entry.0 = (i32::from(entry.0) + step) as u16;
        left -= step;
    }
    Ok(())
}

/// The largest exponent of a [`FineQ15`] with which a probability and its rates, in their units, fit.
pub fn fine_exponent(probability: f64, rates: impl Iterator<Item = f64>) -> u16 {
    let largest = rates.fold(0.0, |largest, rate| libm::fmax(largest, libm::fabs(rate)));
    let most = f64::from(RATE_MAX) - 0.5;
    let fits = |&by: &u16| {
        let by = i32::from(by);
        libm::ldexp(probability, by) <= 1.0 && libm::ldexp(largest, 14 + by) <= most
    };
    if probability > 0.0 {
        (0..=FineQ15::<0>::EXPONENT_MAX).rev().find(fits).unwrap_or(0)
    } else {
        0
    }
}

/// A row of probabilities in units of `2^-15-exponent`, rounded: zeros stay zero and nonzero entries
/// stay nonzero. The largest takes what the others' rounding left over, to the next of its units,
/// so that the row sums to one within `2^-16`.
///
/// # Errors
/// The first entry that is not finite or negative, or a sum that is not one.
pub fn quantise_fine_row(
    probability: &[f64],
    exponent: &[u16],
    table: &mut [Q15],
    part: Part,
    row: usize,
) -> Result<(), ModelError> {
    crate::error::check_distribution(probability.iter().copied(), part, row)?;
    let mut sum = 0.0;
    let mut largest: Option<(&mut Q15, f64, i32)> = None;
    for ((entry, &p), &by) in table.iter_mut().zip(probability).zip(exponent) {
        let by = 15 + i32::from(by);
        let nearest = libm::round(libm::ldexp(p, by)) as u16;
        entry.0 = if p > 0.0 { nearest.max(1) } else { 0 };
        sum += libm::ldexp(f64::from(entry.0), -by);
        if largest.as_ref().is_none_or(|&(_, most, _)| p > most) {
            largest = Some((entry, p, by));
        }
    }
    if let Some((entry, _, by)) = largest {
        let rest = libm::round(libm::ldexp(1.0 - sum, by));
        entry.0 = (f64::from(entry.0) + rest).clamp(1.0, f64::from(Q15::ONE.0)) as u16;
    }
    Ok(())
}

/// The exponent of the unit, a power of two, in which rates up to `largest` fit a table.
///
/// `largest` is the largest absolute sum of a chain's row and absolute value of an emission's
/// relative rate. `None` where no `i8` will do.
pub fn rate_unit(largest: f64) -> Option<i16> {
    (-126..127_i16).find(|&unit| {
        let scaled = libm::ldexp(largest, 14 - i32::from(unit));
        // Room for the roundings of a row.
        scaled <= f64::from(RATE_MAX - 128)
    })
}

/// A row of rates of change in units of `2^(unit - 14)`, rounded. With `balanced` they still sum to
/// zero, as those of probabilities do.
///
/// # Errors
/// [`ErrorKind::OutOfRange`] of [`Part::Tangent`] and the entry where they exceed [`RATE_MAX`].
pub fn quantise_rates(
    rate: &[f64],
    unit: i16,
    balanced: bool,
    row: usize,
    mut set: impl FnMut(usize, Q15),
) -> Result<(), ModelError> {
    // Each entry is rounded so that the sum so far is: then the sum of all is, which is zero.
    let (mut exact, mut rounded, mut absolute) = (0.0, 0, 0);
    for (entry, &rate) in rate.iter().enumerate() {
        let scaled = libm::ldexp(rate, 14 - i32::from(unit));
        let out = || ModelError::new(Part::Tangent, ErrorKind::OutOfRange, row, entry);
        let limit = f64::from(RATE_MAX);
        if !(-limit..=limit).contains(&scaled) {
            return Err(out());
        }
        let value = if balanced && rate != 0.0 {
            exact += scaled;
            libm::round(exact) as i32 - rounded
        } else {
            libm::round(scaled) as i32
        };
        rounded += value;
        absolute = if balanced { absolute + value.abs() } else { value.abs() };
        if absolute > RATE_MAX {
            return Err(out());
        }
        set(entry, Q15::from_rate(value as i16));
    }
    Ok(())
}
