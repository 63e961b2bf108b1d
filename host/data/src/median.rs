//! Medians, of numbers and of the steps between times.

/// The median step of some times; `None` of fewer than two steps.
pub(super) fn median_step(times: &[f64]) -> Option<f64> {
    let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    median(&mut steps).filter(|_| times.len() > 2)
}

/// The shortest and the longest step of some times; infinity and zero of fewer than two.
pub(super) fn step_range(times: &[f64]) -> [f64; 2] {
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for pair in times.windows(2) {
        let step = pair[1] - pair[0];
        (least, most) = (step.min(least), step.max(most));
    }
    [least, most]
}

/// The upper median.
pub(super) fn median(all: &mut [f64]) -> Option<f64> {
    let middle = all.len() / 2;
    (!all.is_empty()).then(|| *all.select_nth_unstable_by(middle, f64::total_cmp).1)
}
