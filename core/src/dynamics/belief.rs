use super::Covariance;
use crate::number::{Arithmetic, Parameter, Real};

/// What is known of a state: its mean and covariance.
///
/// A sample is taken in channel by channel, each with noise of variance one, so nothing is inverted and the
/// covariance stays [factored](Covariance): an update is Bierman's (1977), a step the weighted Gram-Schmidt
/// orthogonalisation of Thornton, "Triangular Covariance Factorizations for Kalman Filtering", 1976.
///
/// RAM: `N^2 + N` numbers, of which `N (N - 1) / 2` are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GaussianBelief<X, const N: usize> {
    mean: [X; N],
    covariance: Covariance<X, N>,
}

/// What a channel said of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Innovation<X, const N: usize> {
    /// What was observed less what was expected.
    pub error: X,
    /// The reciprocal of its variance, at most one.
    pub precision: X,
    /// Its covariance with the state, `[row]`: times `error precision` by what the mean moved.
    pub gain: [X; N],
}

impl<X: Arithmetic, const N: usize> GaussianBelief<X, N> {
    /// A state of this mean and covariance.
    pub const fn new(mean: [X; N], covariance: Covariance<X, N>) -> Self {
        Self { mean, covariance }
    }

    /// The mean, `[row]`.
    pub const fn mean(&self) -> &[X; N] {
        &self.mean
    }

    /// The covariance, in factors.
    pub const fn covariance(&self) -> &Covariance<X, N> {
        &self.covariance
    }

    /// Whether all of it is a number.
    pub(super) fn is_finite(&self) -> bool {
        let rows = self.covariance.factors().iter().chain(core::iter::once(&self.mean));
        rows.flatten().all(|&entry| Parameter::value(entry).is_finite())
    }

    /// Time passes: `s' = A s + N(0, Q)`.
    ///
    /// ```text
    /// L' d' L'' = [A L, L_Q] diag(d, d_Q) [A L, L_Q]'
    /// ```
    ///
    /// Work: some `2 N^3` multiply-adds and `N` divisions.
    #[inline(always)]
    pub fn predict(&mut self, transition: &[[X; N]; N], noise: &Covariance<X, N>) {
        let (factors, noise) = (self.covariance.factors(), noise.factors());
        let mut left = *transition;
        let mut mean = [X::ZERO; N];
        for (mean, row) in mean.iter_mut().zip(&mut left) {
            *mean = inner(row, &self.mean);
            for j in 0..N {
                for i in j + 1..N {
                    row[j] = row[j].plus(row[i].times(factors[i][j]));
                }
            }
        }
        let mut right = *noise;
        for (j, row) in right.iter_mut().enumerate() {
            row[j] = X::UNIT;
        }
        let mut predicted = [[X::ZERO; N]; N];
        for j in 0..N {
            let (pivot, of_noise) = (left[j], right[j]);
            let (mut weighted, mut weighted_noise) = (pivot, of_noise);
            for k in 0..N {
                weighted[k] = pivot[k].times(factors[k][k]);
            }
            // Not `0..=j`: loops over such a range are a quarter slower in all.
            for k in 0..j + 1 {
                weighted_noise[k] = of_noise[k].times(noise[k][k]);
            }
            let mut variance = inner(&pivot, &weighted);
            for k in 0..j + 1 {
                variance = variance.plus(of_noise[k].times(weighted_noise[k]));
            }
            // Along a row that does not vary there is nothing to be told of the others.
            let varies = Parameter::value(variance) > Real::from_u32(0);
            let reciprocal = if varies { variance.reciprocal() } else { X::ZERO };
            predicted[j][j] = variance;
            for i in j + 1..N {
                let mut along = inner(&left[i], &weighted);
                for k in 0..j + 1 {
                    along = along.plus(right[i][k].times(weighted_noise[k]));
                }
                let along = along.times(reciprocal);
                for k in 0..N {
                    left[i][k] = left[i][k].minus(along.times(pivot[k]));
                }
                for k in 0..j + 1 {
                    right[i][k] = right[i][k].minus(along.times(of_noise[k]));
                }
                predicted[i][j] = along;
            }
        }
        self.mean = mean;
        self.covariance = Covariance::from_factors(predicted);
    }

    /// A channel was observed: `y = c s + N(0, 1)`.
    ///
    /// Work: some `2 N^2 + 3 N` multiply-adds and `N` divisions.
    #[inline(always)]
    pub fn observe(&mut self, channel: &[X; N], y: X) -> Innovation<X, N> {
        let error = y.minus(inner(channel, &self.mean));
        let factors = self.covariance.factors_mut();
        let mut gain = [X::ZERO; N];
        // The variance of what is expected of the rows so far, and its reciprocal.
        let (mut variance, mut precision) = (X::UNIT, X::UNIT);
        for j in (0..N).rev() {
            let mut along = channel[j];
            for i in j + 1..N {
                along = along.plus(factors[i][j].times(channel[i]));
            }
            let weighted = along.times(factors[j][j]);
            let next = variance.plus(along.times(weighted));
            let reciprocal = next.reciprocal();
            let back = along.times(precision);
            for i in j + 1..N {
                let entry = factors[i][j];
                factors[i][j] = entry.minus(gain[i].times(back));
                gain[i] = gain[i].plus(entry.times(weighted));
            }
            gain[j] = weighted;
            factors[j][j] = factors[j][j].times(variance.times(reciprocal));
            (variance, precision) = (next, reciprocal);
        }
        let step = error.times(precision);
        for (mean, gain) in self.mean.iter_mut().zip(gain) {
            *mean = mean.plus(gain.times(step));
        }
        Innovation { error, precision, gain }
    }
}

/// `sum_k a_k b_k`, in order.
#[inline(always)]
pub(super) fn inner<X: Arithmetic, const N: usize>(a: &[X; N], b: &[X; N]) -> X {
    let mut sum = X::ZERO;
    for k in 0..N {
        sum = sum.plus(a[k].times(b[k]));
    }
    sum
}
