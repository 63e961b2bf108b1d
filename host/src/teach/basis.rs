//! The basis of teaching, from the windows that a classifier was trained on.

use super::TeachFailure;
use crate::classifier::Teaching;
use crate::data::Window;
use crate::deploy::Deployed;

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
    let mut sums = vec![vec![0.0; numbers]; classes];
    let mut counts = vec![0_usize; classes];
    let mut seen = Vec::with_capacity(windows.len());
    let mut stream = deployed.stream();
    for window in windows {
        let Some(label) = window.label() else { continue };
        stream.reset();
        for sample in window.samples.iter() {
            // A refused sample is missing, as on a device.
            let _ = stream.push(sample);
        }
        let Some(evidence) = stream.teaching_evidence() else { continue };
        if evidence.iter().any(|number| !number.is_finite()) {
            continue;
        }
        let evidence: Vec<f64> = evidence.into_iter().map(f64::from).collect();
        let Some(sum) = sums.get_mut(label) else { continue };
        sum.iter_mut().zip(&evidence).for_each(|(sum, number)| *sum += number);
        counts[label] += 1;
        seen.push((label, evidence));
    }
    if let Some(class) = counts.iter().position(|&count| count == 0) {
        return Err(TeachFailure::FewWindows(deployed.classes()[class].clone()));
    }
    if seen.len() <= classes {
        return Err(TeachFailure::FewWindows(deployed.classes()[0].clone()));
    }
    for (sum, &count) in sums.iter_mut().zip(&counts) {
        sum.iter_mut().for_each(|number| *number /= count as f64);
    }
    let means = sums;
    let centre: Vec<f64> = (0..numbers)
        .map(|at| means.iter().map(|mean| mean[at]).sum::<f64>() / classes as f64)
        .collect();
    let covariance = covariance(&seen, &means, &centre);
    let whitening = inverse_of_lower(&cholesky(&covariance));
    let means = means.iter().map(|mean| {
        let apart: Vec<f64> = mean.iter().zip(&centre).map(|(x, centre)| x - centre).collect();
        whitening.iter().map(|row| row.iter().zip(&apart).map(|(a, b)| a * b).sum()).collect()
    });
    Ok(Teaching { means: means.collect(), centre, whitening, windows: seen.len() })
}

/// The common covariance, shrunk, lower triangle.
fn covariance(seen: &[(usize, Vec<f64>)], means: &[Vec<f64>], centre: &[f64]) -> Vec<Vec<f64>> {
    let numbers = centre.len();
    let mut sums: Vec<Vec<f64>> = (0..numbers).map(|row| vec![0.0; row + 1]).collect();
    for (label, evidence) in seen {
        let apart: Vec<f64> =
            evidence.iter().zip(&means[*label]).map(|(x, mean)| x - mean).collect();
        for (row, sums) in sums.iter_mut().enumerate() {
            for (column, sum) in sums.iter_mut().enumerate() {
                *sum += apart[row] * apart[column];
            }
        }
    }
    let freedom = (seen.len() - means.len()) as f64;
    for (row, sums) in sums.iter_mut().enumerate() {
        for (column, sum) in sums.iter_mut().enumerate() {
            *sum *= if row == column { 1.0 } else { 1.0 - SHRINKAGE } / freedom;
        }
        // A number that never changes within a class would weigh without bound.
        let square =
            means.iter().map(|mean| mean[row] * mean[row]).sum::<f64>() / means.len() as f64;
        sums[row] = sums[row].max(CONSTANT * square).max(f64::from(f32::MIN_POSITIVE));
    }
    sums
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
    let mut inverse: Vec<Vec<f64>> = factor.iter().map(|row| vec![0.0; row.len()]).collect();
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
