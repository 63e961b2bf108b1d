//! The tables of mel cepstra, by a pure-Rust libm in double precision: every machine makes the same ones.

use core::f64::consts::{PI, TAU};

use libm::{cos, log1p, sqrt};

use crate::error::{ErrorKind, ModelError, Part};

/// Writes Hamming's window, symmetric.
pub fn hamming(window: &mut [f32]) {
    let last = window.len().saturating_sub(1).max(1) as f64;
    let weights = window.iter_mut().enumerate();
    weights.for_each(|(n, to)| *to = (0.54 - 0.46 * cos(TAU * n as f64 / last)) as f32);
}

/// The mel scale.
fn mel(frequency: f64) -> f64 {
    1127.0 * log1p(frequency / 700.0)
}

/// Writes the bands' triangles, `[bin]`: which band rises there, and how much of it; see
/// [`MelTables`](super::MelTables). Bins are half a frame's.
///
/// # Errors
/// A sampling rate that is not above zero and finite; a band, the row, over whose triangle there is no bin.
#[doc(hidden)]
pub fn triangles(
    rate: f64,
    bands: usize,
    rises: &mut [f32],
    segments: &mut [u8],
) -> Result<(), ModelError> {
    if !(rate.is_finite() && rate > 0.0) {
        return Err(ModelError::new(Part::Front, ErrorKind::NotPositive, 0, 0));
    }
    let bins = rises.len() as f64;
    // Centres are at 1, 2, ... of as many parts of the scale as there are bands, and one.
    let parts = (bands as f64 + 1.0) / mel(rate / 2.0);
    let table = rises.iter_mut().zip(segments.iter_mut()).enumerate();
    table.for_each(|(bin, (rise, segment))| {
        let place = mel(bin as f64 * rate / (2.0 * bins)) * parts;
        let whole = place as u8;
        (*rise, *segment) = ((place - f64::from(whole)) as f32, whole);
    });
    for band in 0..bands {
        let mut bins = rises.iter().zip(segments.iter()).skip(1);
        let over = |(&rise, &segment): (&f32, &u8)| {
            let segment = usize::from(segment);
            segment == band && rise > 0.0 || segment == band.saturating_add(1)
        };
        if !bins.any(over) {
            return Err(ModelError::new(Part::Front, ErrorKind::Inconsistent, band, 0));
        }
    }
    Ok(())
}

/// Writes a row of cosines, `[band]`, those of cepstrum `q`.
pub fn cosines(q: usize, row: &mut [f32]) {
    let bands = row.len().max(1) as f64;
    let scale = sqrt(2.0 / bands);
    row.iter_mut().enumerate().for_each(|(band, to)| {
        *to = (scale * cos(PI * q as f64 * (band as f64 + 0.5) / bands)) as f32;
    });
}
