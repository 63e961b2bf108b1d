use fishweir_core::kernel::{Covariance, Measure, Normal, gaussian_log_overlap};
use fishweir_core::matrix;

use super::multinomial::excess;
use super::product::{POSITIVE, check_part, same, undefined};
use super::{BetweenError, Divergence, ProductIntegral};

/// A Gaussian of any number of channels, with its covariance matrix factorised.
///
/// RAM: `D` and `2 D^2` reals, or `2 D` of independent channels.
#[derive(Clone, Debug, PartialEq)]
pub struct Gaussian {
    mean: Vec<f64>,
    spread: Spread,
    log_determinant: f64,
}

#[derive(Clone, Debug, PartialEq)]
enum Spread {
    /// Variances, `[channel]`.
    Diagonal(Vec<f64>),
    /// `[channel][channel]` in a row, and its lower Cholesky factor.
    Full { covariance: Vec<f64>, factor: Vec<f64> },
}

impl Gaussian {
    /// Means, `[channel]`, and a covariance matrix, `[channel][channel]`, of which the lower triangle is
    /// read. Work: `D^3 / 6` multiply-adds.
    ///
    /// # Errors
    /// [`BetweenError::Model`] for what is not finite or another size, [`BetweenError::Singular`] naming
    /// the first row that depends on those before it.
    pub fn new(mean: Vec<f64>, covariance: &[Vec<f64>]) -> Result<Self, BetweenError> {
        let size = mean.len();
        check_part("mean", &mean, f64::is_finite, "finite")?;
        if covariance.len() != size || covariance.iter().any(|row| row.len() != size) {
            let why = format!("is no matrix of {size} rows of {size} entries");
            return Err(BetweenError::Model { part: "covariance".into(), why });
        }
        for (row, entries) in covariance.iter().enumerate() {
            check_part(&format!("covariance[{row}]"), entries, f64::is_finite, "finite")?;
        }
        let covariance = covariance.concat();
        let mut factor = covariance.clone();
        matrix::cholesky(&mut factor, size, |_| 0.0)
            .map_err(|row| BetweenError::Singular { part: "covariance".into(), row })?;
        let log_determinant = matrix::log_determinant(&factor, size);
        Ok(Self { mean, spread: Spread::Full { covariance, factor }, log_determinant })
    }

    /// Independent channels: means and variances, `[channel]`.
    ///
    /// # Errors
    /// [`BetweenError::Model`] for what is not finite or another size, and for a variance that is not
    /// positive.
    pub fn diagonal(mean: Vec<f64>, variance: Vec<f64>) -> Result<Self, BetweenError> {
        check_part("mean", &mean, f64::is_finite, "finite")?;
        if variance.len() != mean.len() {
            let why = format!("has {} entries where {} are needed", variance.len(), mean.len());
            return Err(BetweenError::Model { part: "variance".into(), why });
        }
        check_part("variance", &variance, POSITIVE.0, POSITIVE.1)?;
        let log_determinant = *Normal::diagonal(&mean, &variance).log_determinant();
        Ok(Self { mean, spread: Spread::Diagonal(variance), log_determinant })
    }

    /// Independent channels of one variance.
    ///
    /// # Errors
    /// As [`diagonal`](Self::diagonal).
    pub fn isotropic(mean: Vec<f64>, variance: f64) -> Result<Self, BetweenError> {
        let variance = vec![variance; mean.len()];
        Self::diagonal(mean, variance)
    }

    /// Means, `[channel]`.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    fn as_core(&self) -> Normal<'_, f64> {
        let covariance = match &self.spread {
            Spread::Diagonal(variance) => Covariance::Diagonal(variance),
            Spread::Full { covariance, .. } => Covariance::Full(covariance),
        };
        Normal::from_parts(&self.mean, covariance, self.log_determinant)
    }

    /// The lower Cholesky factor, `[channel][channel]` in a row.
    fn factor(&self) -> Vec<f64> {
        let size = self.mean.len();
        match &self.spread {
            Spread::Full { factor, .. } => factor.clone(),
            Spread::Diagonal(variance) => {
                let mut factor = vec![0.0; size * size];
                let diagonal = factor.iter_mut().step_by(size + 1);
                diagonal.zip(variance).for_each(|(entry, variance)| *entry = variance.sqrt());
                factor
            }
        }
    }
}

/// Work a pair: `D^3 / 6` multiply-adds, or `3 D` where the channels of both are independent.
impl ProductIntegral for Gaussian {
    fn log_product(&self, other: &Self, rho: f64) -> Result<f64, BetweenError> {
        let size = self.mean.len();
        same("channels", size, other.mean.len())?;
        let diagonal = |one: &Self| matches!(one.spread, Spread::Diagonal(_));
        let room = if diagonal(self) && diagonal(other) { 0 } else { size * (size + 1) };
        let (mut scratch, measure) = (vec![0.0; room], Measure::Product { rho });
        gaussian_log_overlap(&self.as_core(), &other.as_core(), measure, &mut scratch)
            .map_err(undefined)
    }
}

/// With lower factors `S = F F'` of the own and `S' = G G'` of the other covariance, `M = G^-1 F` and `d`
/// the difference of the means,
///
/// ```text
/// D(p || q) = 1/2 ( tr S'^-1 S - D + log |S'| / |S| + d' S'^-1 d )
///           = 1/2 ( sum_i [ M_ii^2 - 1 - log M_ii^2 ] + sum_{i > j} M_ij^2 + |G^-1 d|^2 )
/// ```
///
/// of which no term is negative. Work: `D^3 / 6` multiply-adds and `D` logarithms.
impl Divergence for Gaussian {
    fn divergence(&self, other: &Self) -> Result<f64, BetweenError> {
        let size = self.mean.len();
        same("channels", size, other.mean.len())?;
        let (mut ratio, lower) = (self.factor(), other.factor());
        matrix::solve_lower(&lower, size, &mut ratio);
        let mut gap: Vec<f64> = self.mean.iter().zip(&other.mean).map(|(a, b)| a - b).collect();
        matrix::solve(&lower, size, &mut gap);
        let of_entry = |(place, entry): (usize, &f64)| {
            let square = entry * entry;
            if place % (size + 1) == 0 { excess(square - 1.0) } else { square }
        };
        let spread: f64 = ratio.iter().enumerate().map(of_entry).sum();
        Ok(0.5 * (spread + gap.iter().map(|z| z * z).sum::<f64>()))
    }
}
