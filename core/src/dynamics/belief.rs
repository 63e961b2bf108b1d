use super::Covariance;
use crate::number::{Arithmetic, Parameter, Real};

/// Up to which size loops over triangles are written out. Where floating point is in software a pass is dear
/// anyway, and code takes flash.
const WRITTEN_OUT: usize =
    if cfg!(any(target_abi = "eabi", target_arch = "riscv32")) { 0 } else { 4 };

/// A loop over some of `0..N`, in order. Of small systems its passes are written out: compilers take loops over
/// triangles for loops of unknown length, and keep in memory what would fit in registers.
macro_rules! each {
    ($k:ident in $range:expr, $n:ident, $body:block) => {{
        let range = $range;
        if const { $n > WRITTEN_OUT } {
            for $k in range $body
        } else {
            each!($k, range, $n, $body, 0, 1, 2, 3);
        }
    }};
    ($k:ident, $range:ident, $n:ident, $body:block, $($value:literal),*) => {$(
        if $n > $value && $range.start <= $value && $value < $range.end {
            let $k: usize = $value;
            $body
        }
    )*};
}

/// Gaussian distribution of a state: its mean and covariance.
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

/// Result of comparing a channel with its expected value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Innovation<X, const N: usize> {
    /// Observed value less the expected one.
    pub error: X,
    /// The reciprocal of its variance, at most one.
    pub precision: X,
    /// Covariance with the state, `[row]`: the mean moves by `error precision` times this.
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

    /// Returns whether all entries are finite.
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
        each!(i in 0..N, N, {
            mean[i] = inner(&left[i], &self.mean);
            times_factors(&mut left[i], factors);
        });
        let mut right = *noise;
        let mut predicted = [[X::ZERO; N]; N];
        each!(j in 0..N, N, {
            eliminate(j, factors, noise, &mut left, &mut right, &mut predicted);
        });
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
        let mut seen =
            ChannelPrediction { variance: X::ONE, precision: X::ONE, gain: [X::ZERO; N] };
        each!(j in 0..N, N, {
            take_row(N - 1 - j, channel, factors, &mut seen);
        });
        let ChannelPrediction { precision, gain, .. } = seen;
        let step = error.times(precision);
        for (mean, gain) in self.mean.iter_mut().zip(gain) {
            *mean = mean.plus(gain.times(step));
        }
        Innovation { error, precision, gain }
    }
}

/// `row L`.
#[inline(always)]
fn times_factors<X: Arithmetic, const N: usize>(row: &mut [X; N], factors: &[[X; N]; N]) {
    each!(j in 0..N, N, {
        each!(i in j + 1..N, N, {
            row[j] = row[j].plus(row[i].times(factors[i][j]));
        });
    });
}

/// Computes the row `j` of the new factors, and removes its part from the rows after it. Of the noise's own
/// factors a row ends with a one, which is not stored.
#[inline(always)]
fn eliminate<X: Arithmetic, const N: usize>(
    j: usize,
    factors: &[[X; N]; N],
    noise: &[[X; N]; N],
    left: &mut [[X; N]; N],
    right: &mut [[X; N]; N],
    predicted: &mut [[X; N]; N],
) {
    let (pivot, of_noise) = (left[j], right[j]);
    let (mut weighted, mut weighted_noise) = (pivot, of_noise);
    each!(k in 0..N, N, {
        weighted[k] = pivot[k].times(factors[k][k]);
    });
    each!(k in 0..j, N, {
        weighted_noise[k] = of_noise[k].times(noise[k][k]);
    });
    let own = noise[j][j];
    let mut variance = inner(&pivot, &weighted);
    each!(k in 0..j, N, {
        variance = variance.plus(of_noise[k].times(weighted_noise[k]));
    });
    let variance = variance.plus(own);
    // A row that does not vary holds no information about the others.
    let varies = Parameter::value(variance) > Real::from_u32(0);
    let reciprocal = if varies { variance.reciprocal() } else { X::ZERO };
    predicted[j][j] = variance;
    each!(i in j + 1..N, N, {
        let mut along = inner(&left[i], &weighted);
        each!(k in 0..j, N, {
            along = along.plus(right[i][k].times(weighted_noise[k]));
        });
        let along = along.plus(right[i][j].times(own)).times(reciprocal);
        each!(k in 0..N, N, {
            left[i][k] = left[i][k].minus(along.times(pivot[k]));
        });
        each!(k in 0..j, N, {
            right[i][k] = right[i][k].minus(along.times(of_noise[k]));
        });
        right[i][j] = right[i][j].minus(along);
        predicted[i][j] = along;
    });
}

/// Prediction of a channel from the rows of the state from some index on.
struct ChannelPrediction<X, const N: usize> {
    /// Variance of the expected value of the channel.
    variance: X,
    /// Reciprocal of the variance.
    precision: X,
    gain: [X; N],
}

/// Removes what a channel sees of the row `j`: the factors from there on are those of the remainder.
#[inline(always)]
fn take_row<X: Arithmetic, const N: usize>(
    j: usize,
    channel: &[X; N],
    factors: &mut [[X; N]; N],
    ChannelPrediction { variance, precision, gain }: &mut ChannelPrediction<X, N>,
) {
    let mut along = channel[j];
    each!(i in j + 1..N, N, {
        along = along.plus(factors[i][j].times(channel[i]));
    });
    let weighted = along.times(factors[j][j]);
    let next = variance.plus(along.times(weighted));
    let reciprocal = next.reciprocal();
    let back = along.times(*precision);
    each!(i in j + 1..N, N, {
        let entry = factors[i][j];
        factors[i][j] = entry.minus(gain[i].times(back));
        gain[i] = gain[i].plus(entry.times(weighted));
    });
    gain[j] = weighted;
    factors[j][j] = factors[j][j].times(variance.times(reciprocal));
    (*variance, *precision) = (next, reciprocal);
}

/// `sum_k a_k b_k`, in order.
#[inline(always)]
pub(super) fn inner<X: Arithmetic, const N: usize>(a: &[X; N], b: &[X; N]) -> X {
    let mut sum = a[0].times(b[0]);
    for k in 1..N {
        sum = sum.plus(a[k].times(b[k]));
    }
    sum
}
