use super::{Gaussian, GaussianScore, GaussianStatistics};
use crate::number::Real;

/// The second coordinate of a one-dimensional Gaussian; the first is its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Width {
    /// The standard deviation `sigma`.
    StandardDeviation,
    /// The variance `sigma^2`.
    Variance,
    /// `log sigma`. The default.
    #[default]
    LogStandardDeviation,
}

/// A Gaussian of one channel, in the coordinates of textbooks.
///
/// ```text
/// (mean, sigma)      ( z / sigma,  (z^2 - 1) / sigma )            information  1/sigma^2, 2/sigma^2
/// (mean, sigma^2)    ( z / sigma,  (z^2 - 1) / (2 sigma^2) )                   1/sigma^2, 1/(2 sigma^4)
/// (mean, log sigma)  ( z / sigma,   z^2 - 1 )                                  1/sigma^2, 2
/// ```
///
/// for a point with `z = (x - mean) / sigma`. Source: Shawe-Taylor and Cristianini, "Kernel Methods
/// for Pattern Analysis", 2004, example 12.30, whose normaliser and second score are those of
/// `sqrt(sigma)`.
impl<T: Real> Gaussian<1, T> {
    /// `d (log sigma) / d (coordinate)`.
    fn width_factor(&self, width: Width) -> T {
        let [rate] = *self.rate();
        match width {
            Width::StandardDeviation => rate,
            Width::Variance => T::HALF * rate * rate,
            Width::LogStandardDeviation => T::ONE,
        }
    }

    /// The score of the points that the statistics were collected of: of the mean and of the width.
    pub fn score_in(&self, statistics: &GaussianStatistics<T, 1>, width: Width) -> [T; 2] {
        let ([rate], [sum], [square]) = (*self.rate(), statistics.sum, statistics.square);
        [sum * rate, (square - statistics.occupancy) * self.width_factor(width)]
    }

    /// The diagonal of the Fisher information of one point; the other entries are zero.
    pub fn information_in(&self, width: Width) -> [T; 2] {
        let ([rate], factor) = (*self.rate(), self.width_factor(width));
        [rate * rate, (T::ONE + T::ONE) * factor * factor]
    }

    /// A direction in these coordinates as one of mean and log standard deviation, for
    /// [`with_directions`](crate::emission::SufficientStatistics::with_directions).
    pub fn direction_in(&self, [mean, along]: [T; 2], width: Width) -> GaussianScore<T, 1> {
        GaussianScore { mean: [mean], spread: [along * self.width_factor(width)] }
    }
}
