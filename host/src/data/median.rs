//! Medians, of numbers and of the steps between times.

/// The median step of some times; `None` of fewer than two steps.
pub(super) fn median_step(times: &[f64]) -> Option<f64> {
    let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    median(&mut steps).filter(|_| times.len() > 2)
}

/// The upper median.
pub(super) fn median(all: &mut [f64]) -> Option<f64> {
    let middle = all.len() / 2;
    (!all.is_empty()).then(|| *all.select_nth_unstable_by(middle, f64::total_cmp).1)
}
