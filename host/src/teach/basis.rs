//! The basis of teaching, from the windows that a classifier was trained on.

use fishweir_core::classify::teach::TeachingBasis;

use super::TeachFailure;
use crate::classifier::Teaching;
use crate::data::Window;
use crate::deploy::{Deployed, Stream};

/// Weight of the diagonal in the common covariance. Of 0.1, 0.3 and 0.5 none was ahead of another by more than 0.01 on any of
/// five sets.
pub const SHRINKAGE: f64 = 0.3;

/// Variance of a number, relative to its mean square, below which it is taken to be constant.
const CONSTANT: f64 = 1e-10;

/// Learns the basis of a classifier from labelled windows, those of its training.
///
/// With evidence `e_w` of window `w` and class means `m_c`, over `W` windows of `C` classes:
///
/// ```text
/// S       = sum_w (e_w - m_c(w)) (e_w - m_c(w))' / (W - C)
/// S*      = 0.7 S + 0.3 diag(S) = K K'           Cholesky
/// L       = K^-1,   centre = mean of the m_c,   mean_c = L (m_c - centre)
/// ```
///
/// Sources: a common covariance, Fisher, *The use of multiple measurements in taxonomic problems*, 1936; its shrinkage, Friedman,
/// *Regularized discriminant analysis*, 1989, equation 18 with the diagonal in place of the identity.
///
/// Cost: a decision per window, and `W E^2 + E^3` multiply-adds.
///
/// # Errors
/// [`TeachFailure::Kind`] for a kernel machine, [`TeachFailure::TooLarge`], and [`TeachFailure::FewWindows`] where a class has none
/// that decides or there are no more windows than classes.
pub fn learn(deployed: &Deployed, windows: &[Window<'_>]) -> Result<Teaching, TeachFailure> {
    let (classes, numbers) = (deployed.classes().len(), super::taught::numbers_of(deployed)?);
    let mut means = vec![vec![0.0; numbers]; classes];
    let mut counts = vec![0_usize; classes];
    let mut labels = Vec::with_capacity(windows.len());
    let mut seen = Vec::with_capacity(windows.len());
    let mut stream = deployed.stream();
    for window in windows {
        let Some(label) = window.label().filter(|&label| label < classes) else { continue };
        stream.reset();
        for sample in window.samples.iter() {
            // A refused sample is missing, as on a device.
            let _ = stream.push(sample);
        }
        let Some(evidence) = stream.teaching_evidence() else { continue };
        let mut row = vec![0.0; numbers];
        let mut is_finite = true;
        for (at, &number) in evidence.iter().enumerate() {
            row[at] = f64::from(number);
            is_finite &= number.is_finite();
        }
        if is_finite {
            for at in 0..numbers {
                means[label][at] += row[at];
            }
            counts[label] += 1;
            labels.push(label);
            seen.push(row);
        }
    }
    // No more windows than classes leave no spread within a class.
    let least = counts.iter().position(|&count| count == 0);
    if let Some(class) = least.or_else(|| (seen.len() <= classes).then_some(0)) {
        return Err(TeachFailure::FewWindows(deployed.classes()[class].clone()));
    }
    let mut centre = vec![0.0; numbers];
    for class in 0..classes {
        for at in 0..numbers {
            means[class][at] /= counts[class] as f64;
            centre[at] += means[class][at] / classes as f64;
        }
    }
    let whitening = inverse_of_lower(&cholesky(&covariance(&seen, &labels, &means)));
    let mut rows = Vec::with_capacity(1 + numbers + classes);
    rows.push(centre);
    rows.extend_from_slice(&whitening);
    for mean in &means {
        let mut whitened = vec![0.0; numbers];
        for (row, factors) in whitening.iter().enumerate() {
            for (at, factor) in factors.iter().enumerate() {
                whitened[row] += factor * (mean[at] - rows[0][at]);
            }
        }
        rows.push(whitened);
    }
    Ok(Teaching { rows })
}

/// The whitened evidence of what a stream has taken in, `z = L (e - centre)`, in a device's bits: features of a window.
///
/// `None` before the first sample, where a model is ruled out, and of a model that cannot be taught.
#[must_use]
pub fn whitened(deployed: &Deployed, stream: &Stream) -> Option<Vec<f32>> {
    let basis = TeachingBasis::read(deployed.teaching()?).ok()?;
    let mut evidence = stream.teaching_evidence()?;
    basis.whiten(&mut evidence).ok()?;
    Some(evidence)
}

/// The common covariance, shrunk, lower triangle.
fn covariance(seen: &[Vec<f64>], labels: &[usize], means: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let numbers = means[0].len();
    let mut sums = lower(numbers);
    for (evidence, &label) in seen.iter().zip(labels) {
        let mean = &means[label];
        for row in 0..numbers {
            for column in 0..=row {
                let apart = (evidence[row] - mean[row]) * (evidence[column] - mean[column]);
                sums[row][column] += apart;
            }
        }
    }
    let freedom = (seen.len() - means.len()) as f64;
    for row in 0..numbers {
        let mut square = 0.0;
        for mean in means {
            square += mean[row] * mean[row] / means.len() as f64;
        }
        for column in 0..=row {
            let kept = if row == column { 1.0 } else { 1.0 - SHRINKAGE };
            sums[row][column] *= kept / freedom;
        }
        // A number that never changes within a class would weigh without bound.
        sums[row][row] = sums[row][row].max(CONSTANT * square).max(f64::from(f32::MIN_POSITIVE));
    }
    sums
}

/// A lower triangle of zeros.
fn lower(size: usize) -> Vec<Vec<f64>> {
    let mut rows = Vec::with_capacity(size);
    for row in 0..size {
        rows.push(vec![0.0; row + 1]);
    }
    rows
}

/// The lower triangular `K` of a positive definite `K K'`.
fn cholesky(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut factor: Vec<Vec<f64>> = matrix.to_vec();
    for row in 0..matrix.len() {
        for column in 0..=row {
            let mut rest = matrix[row][column];
            for at in 0..column {
                rest -= factor[row][at] * factor[column][at];
            }
            factor[row][column] = match row == column {
                // The diagonal's share keeps it positive; rounding may not.
                true => rest.max(CONSTANT * matrix[row][row]).sqrt(),
                false => rest / factor[column][column],
            };
        }
    }
    factor
}

/// The inverse of a lower triangular matrix.
fn inverse_of_lower(factor: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut inverse = lower(factor.len());
    for row in 0..factor.len() {
        for column in 0..=row {
            let mut sum = f64::from(u8::from(row == column));
            for at in column..row {
                sum -= factor[row][at] * inverse[at][column];
            }
            inverse[row][column] = sum / factor[row][row];
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whitening_is_the_inverse_root_of_the_covariance() {
        let matrix = [vec![4.0], vec![1.0, 3.0], vec![-0.5, 0.25, 2.0]];
        let inverse = inverse_of_lower(&cholesky(&matrix));
        let full = |row: usize, column: usize| matrix[row.max(column)][row.min(column)];
        // L S L' is the identity.
        for (i, left) in inverse.iter().enumerate() {
            for (j, right) in inverse.iter().enumerate() {
                let mut sum = 0.0;
                for (a, x) in left.iter().enumerate() {
                    for (b, y) in right.iter().enumerate() {
                        sum += x * full(a, b) * y;
                    }
                }
                assert!((sum - f64::from(u8::from(i == j))).abs() < 1e-12, "{i} {j}: {sum}");
            }
        }
    }
}
