//! Mean and standard deviation of channels.

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
    for row in rows() {
        let channels = shift.iter_mut().zip(row.iter().zip(first));
        channels.for_each(|(sum, (x, first))| *sum += (x - first) / count);
    }
    let mut spread = vec![0.0; dimension];
    for row in rows() {
        let channels = spread.iter_mut().zip(row.iter().zip(first).zip(&shift));
        channels.for_each(|(sum, ((x, first), shift))| {
            *sum += (x - first - shift).powi(2) / count;
        });
    }
    let centre = shift.iter().zip(first).map(|(shift, first)| first + shift).collect();
    (centre, spread.into_iter().map(f64::sqrt).collect())
}
