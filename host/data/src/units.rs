//! The channels' own units.

use super::samples::is_partial;
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
pub fn centre_and_scale_of(kind: &Kind, samples: &[SamplesView<'_>]) -> (Vec<f64>, Vec<f64>) {
    let Some(dimension) = kind.dimension() else { return Default::default() };
    let rows = || {
        samples.iter().filter_map(SamplesView::rows).flat_map(|rows| rows.iter_in_part().flatten())
    };
    let (centre, spread) = centre_and_spread(dimension, rows);
    // A channel that never moves carries nothing; any scale will do but zero.
    (centre, spread.into_iter().map(|std| if std > 0.0 { std } else { 1.0 }).collect())
}

/// Times the deviation that all but a hundredth of the samples keep to, at which wild ones are held.
const HELD_AT: f64 = 3.0;
/// Divisor of the number of samples for the wild ones: at least one may be wild.
const ONE_OF: usize = 100;

/// Mean and standard deviation of each channel over some rows as [`centre_and_spread`], with wild samples held at three
/// times the deviation from the median that the others keep to: a hundredth of the samples, one at least, moves neither
/// far. Zero spread where all others are one number.
///
/// Winsorised: tails that belong to the data stay, where leaving them out would not.
pub fn robust_centre_and_spread<'x, I: Iterator<Item = &'x [f64]>>(
    dimension: usize,
    rows: impl Fn() -> I,
) -> (Vec<f64>, Vec<f64>) {
    let (mut centre, mut spread) = (vec![0.0; dimension], vec![0.0; dimension]);
    for d in 0..dimension {
        let mut values: Vec<f64> = rows().map(|row| row[d]).filter(|x| !x.is_nan()).collect();
        if values.is_empty() {
            continue;
        }
        let middle = values.len() / 2;
        let median = *values.select_nth_unstable_by(middle, f64::total_cmp).1;
        let bound = HELD_AT * usual_deviation(&values, median);
        let count = values.len() as f64;
        for value in &mut values {
            *value = (*value - median).clamp(-bound, bound);
        }
        let shift = values.iter().map(|x| x / count).sum::<f64>();
        let square = values.iter().map(|x| (x - shift).powi(2) / count).sum::<f64>();
        (centre[d], spread[d]) = (median + shift, square.sqrt());
    }
    (centre, spread)
}

/// The largest deviation from the median of all but the samples that may be wild; but one where more leave nothing.
pub fn usual_deviation(values: &[f64], median: f64) -> f64 {
    let mut far: Vec<f64> = values.iter().map(|x| (x - median).abs()).collect();
    let mut all_but = |wild: usize| {
        let at = far.len().saturating_sub(1 + wild);
        *far.select_nth_unstable_by(at, f64::total_cmp).1
    };
    match all_but(values.len().div_ceil(ONE_OF)) {
        0.0 => all_but(1),
        usual => usual,
    }
}

/// Mean and standard deviation of each channel over some rows; zero and zero without rows, and a
/// deviation of exactly zero for a channel that never moves.
///
/// Sums are of differences from the first row: no offset costs precision. A channel that is missing in a row is NaN, and
/// left out.
pub fn centre_and_spread<'x, I: Iterator<Item = &'x [f64]>>(
    dimension: usize,
    rows: impl Fn() -> I,
) -> (Vec<f64>, Vec<f64>) {
    let Some(first) = rows().next() else { return (vec![0.0; dimension], vec![0.0; dimension]) };
    if rows().any(is_partial) {
        return of_partial_rows(dimension, rows);
    }
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

/// [`centre_and_spread`] channel by channel, of what is there.
fn of_partial_rows<'x, I: Iterator<Item = &'x [f64]>>(
    dimension: usize,
    rows: impl Fn() -> I,
) -> (Vec<f64>, Vec<f64>) {
    let of = |d: usize| {
        let there = || rows().map(move |row| row[d]).filter(|x| !x.is_nan());
        let Some(first) = there().next() else { return (0.0, 0.0) };
        let count = there().count() as f64;
        let shift: f64 = there().map(|x| (x - first) / count).sum();
        let square: f64 = there().map(|x| (x - first - shift).powi(2) / count).sum();
        (first + shift, square.sqrt())
    };
    (0..dimension).map(of).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn robust(values: &[f64]) -> [f64; 2] {
        let (centre, spread) = robust_centre_and_spread(1, || values.chunks(1));
        [centre[0], spread[0]]
    }

    fn plain(values: &[f64]) -> [f64; 2] {
        let (centre, spread) = centre_and_spread(1, || values.chunks(1));
        [centre[0], spread[0]]
    }

    #[test]
    fn wild_samples_move_neither_mean_nor_deviation_far() {
        for count in [20_u32, 100, 500, 3000] {
            let mut values: Vec<f64> =
                (0..count).map(|t| 5.0 + (0.3 * f64::from(t)).sin()).collect();
            let [centre, spread] = plain(&values);
            let [same, alike] = robust(&values);
            assert!((same - centre).abs() < 1e-9 && (alike - spread).abs() < 1e-9, "{count}");
            for wild in [1e30, -1e30, 100.0] {
                for at in 0..(count as usize).div_ceil(ONE_OF) {
                    values[at * 7] = wild;
                }
                let [near, about] = robust(&values);
                assert!((near - centre).abs() < 0.4 * spread, "{count}, {wild}: {near}");
                assert!((0.9..1.7).contains(&(about / spread)), "{count}, {wild}: {about}");
            }
        }
    }

    #[test]
    fn what_rests_or_is_hardly_there_has_its_own_deviation() {
        assert_eq!(robust(&[]), [0.0, 0.0]);
        assert_eq!(robust(&[3.0]), [3.0, 0.0]);
        assert_eq!(robust(&[3.0; 40]), [3.0, 0.0]);
        // One spike over what rests is no deviation; a few are events.
        let mut values = [3.0; 400];
        values[7] = 1e30;
        assert_eq!(robust(&values), [3.0, 0.0]);
        values[7] = 4.0;
        values[9] = 4.0;
        let ([centre, spread], [mean, deviation]) = (robust(&values), plain(&values));
        assert!((centre - mean).abs() < 1e-12 && (spread / deviation - 1.0).abs() < 1e-12);
    }
}
