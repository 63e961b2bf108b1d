//! The channels' own units.

use super::{Dataset, Kind, SamplesView};

/// Mean and standard deviation of each channel over the series; empty for symbols.
///
/// # Panics
/// If there is no such series.
pub fn centre_and_scale(data: &Dataset, series: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let views = series.iter().map(|&index| data.series()[index].samples.view());
    centre_and_scale_of(data.kind(), &views.collect::<Vec<_>>())
}

/// Standard deviation of each channel over parts of series; empty for symbols.
pub fn scale_of(kind: &Kind, samples: &[SamplesView<'_>]) -> Vec<f64> {
    centre_and_scale_of(kind, samples).1
}

/// Mean and standard deviation of each channel over some samples; empty for symbols.
pub(crate) fn centre_and_scale_of(
    kind: &Kind,
    samples: &[SamplesView<'_>],
) -> (Vec<f64>, Vec<f64>) {
    let Some(dimension) = kind.dimension() else { return Default::default() };
    let rows =
        || samples.iter().filter_map(SamplesView::rows).flat_map(|rows| rows.iter().flatten());
    let (centre, spread) = centre_and_spread(dimension, rows);
    // A channel that never moves carries nothing; any scale will do but zero.
    (centre, spread.into_iter().map(|std| if std > 0.0 { std } else { 1.0 }).collect())
}

/// Mean and standard deviation of each channel over some rows; zero and zero without rows, and a
/// deviation of exactly zero for a channel that never moves.
///
/// Sums are of differences from the first row: no offset costs precision.
pub(crate) fn centre_and_spread<'x, I: Iterator<Item = &'x [f64]>>(
    dimension: usize,
    rows: impl Fn() -> I,
) -> (Vec<f64>, Vec<f64>) {
    let Some(first) = rows().next() else { return (vec![0.0; dimension], vec![0.0; dimension]) };
    let count = rows().count() as f64;
    let mut shift = vec![0.0; dimension];
    let first = &first[..dimension];
    for row in rows() {
        let row = &row[..dimension];
        for d in 0..dimension {
            shift[d] += (row[d] - first[d]) / count;
        }
    }
    let mut spread = vec![0.0; dimension];
    for row in rows() {
        let row = &row[..dimension];
        for d in 0..dimension {
            spread[d] += (row[d] - first[d] - shift[d]).powi(2) / count;
        }
    }
    let centre = shift.iter().zip(first).map(|(shift, first)| first + shift).collect();
    (centre, spread.into_iter().map(f64::sqrt).collect())
}
