use super::{Autoregressive, AutoregressiveView};
use crate::emission::{
    GaussianScore, GaussianStatistics, Parametrisation, Regularisation, SufficientStatistics,
    vector_space,
};
use crate::error::ModelError;
use crate::matrix::{at, cholesky, put, solve, solve_transposed};
use crate::number::{Dual, Real};

/// Expected moments of an [`Autoregressive`]'s observations, by the one that observed them: of `z`, and of the
/// past `v_ld = u_ld rate_d` in units of the innovation's standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AutoregressiveStatistics<T, const D: usize, const L: usize> {
    /// Occupancy, and moments of `z`.
    pub innovation: GaussianStatistics<T, D>,
    /// `E[ sum_t v_ld ]`, `[lag][channel]`.
    pub past: [[T; D]; L],
    /// `E[ sum_t z_d v_ld ]`, `[lag][channel]`.
    pub cross: [[T; D]; L],
    /// `E[ sum_t v_kd v_ld ]`, `[lag][lag][channel]`: the lower triangle, zero right of the diagonal.
    pub product: [[[T; D]; L]; L],
}
vector_space! {
    impl<T; const D, const L> AutoregressiveStatistics<T, D, L> {
        innovation: GaussianStatistics<T, D>,
        past: [[T; D]; L],
        cross: [[T; D]; L],
        product: [[[T; D]; L]; L]
    }
}

/// An [`Autoregressive`]'s part of a score or a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AutoregressiveScore<T, const D: usize, const L: usize> {
    /// Score with respect to means and spreads, as a [`Gaussian`](crate::emission::Gaussian)'s.
    pub innovation: GaussianScore<T, D>,
    /// Score with respect to the coefficients, `[lag][channel]`: no unit.
    pub coefficient: [[T; D]; L],
}
vector_space! {
    impl<T; const D, const L> AutoregressiveScore<T, D, L> {
        innovation: GaussianScore<T, D>,
        coefficient: [[T; D]; L]
    }
}

/// [`AutoregressiveStatistics`] whose sizes are known at run time, in index order: the innovation's occupancy
/// and moments, and the slices `past`, `cross` and `product`.
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct AutoregressiveMoments<'a, T> {
    /// Number of observations.
    pub occupancy: &'a mut T,
    /// Sums of `z`, `[channel]`.
    pub sum: &'a mut [T],
    /// Sums of squares, `[channel]`.
    pub square: &'a mut [T],
    /// Sums of the past, `[lag][channel]`.
    pub past: &'a mut [T],
    /// Sums of `z` times the past, `[lag][channel]`.
    pub cross: &'a mut [T],
    /// Sums of products of the past, `[lag][lag][channel]`.
    pub product: &'a mut [T],
}

impl<T: Real, const D: usize, const L: usize> AutoregressiveStatistics<T, D, L> {
    /// View of the statistics with its sizes at run time.
    pub const fn view(&mut self) -> AutoregressiveMoments<'_, T> {
        AutoregressiveMoments {
            occupancy: &mut self.innovation.occupancy,
            sum: &mut self.innovation.sum,
            square: &mut self.innovation.square,
            past: self.past.as_flattened_mut(),
            cross: self.cross.as_flattened_mut(),
            product: self.product.as_flattened_mut().as_flattened_mut(),
        }
    }
}

/// `entry += more`; nothing outside the slice.
#[inline(always)]
fn add<T: Real>(sums: &mut [T], entry: usize, more: T) {
    if let Some(sum) = sums.get_mut(entry) {
        *sum = *sum + more;
    }
}

impl<T: Real> AutoregressiveMoments<'_, T> {
    /// Moves the statistics to other coefficients, `step` away, of one channel of `size`: `z' = z - sum_l step_l v_l`.
    fn step(&mut self, step: &[T], channel: usize, size: usize) {
        let lags = step.len();
        let (mut sum, mut square) = (T::ZERO, T::ZERO);
        for (l, &by) in step.iter().enumerate() {
            sum = sum - by * at(self.past, size, l, channel);
            // What z' and the past have in common is halfway between before and after.
            let before = at(self.cross, size, l, channel);
            let moved = step.iter().enumerate().fold(T::ZERO, |moved, (k, &by)| {
                let (row, column) = if k < l { (l, k) } else { (k, l) };
                moved + by * at(self.product, size, row * lags + column, channel)
            });
            square = square - by * (before + (before - moved));
            add(self.cross, l * size + channel, -moved);
        }
        add(self.sum, channel, sum);
        add(self.square, channel, square);
    }
}

/// The readers of expected statistics, at run-time sizes. What lies past the shortest slice is left alone.
impl<T: Real> AutoregressiveView<'_, T> {
    /// Adds a row with a weight.
    #[inline]
    pub fn observe(&self, x: &[T], weight: T, to: &mut AutoregressiveMoments<'_, T>) {
        *to.occupancy = *to.occupancy + weight;
        for d in 0..self.channels(x) {
            self.observe_channel(x, weight, d, to);
        }
    }

    /// Adds the contribution of one channel of a row.
    #[inline(always)]
    pub fn observe_channel(
        &self,
        x: &[T],
        weight: T,
        d: usize,
        to: &mut AutoregressiveMoments<'_, T>,
    ) {
        let (size, lags) = (self.centre.len(), self.lags());
        let (z, rate) = (self.innovation(x, d), at(self.innovation.rate, size, 0, d));
        let weighed = weight * z;
        add(to.sum, d, weighed);
        add(to.square, d, weighed * z);
        for l in 0..lags {
            let v = self.past(x, l, d) * rate;
            add(to.past, l * size + d, weight * v);
            add(to.cross, l * size + d, weighed * v);
            for k in 0..=l {
                let other = self.past(x, k, d) * rate;
                add(to.product, (l * lags + k) * size + d, weight * v * other);
            }
        }
    }

    /// The likeliest coefficients, in each channel by weighted least squares, and the statistics as those of
    /// these: means and rates then follow as `GaussianView::maximise`
    /// has them. `matrix` has `lags^2` and `step` has `lags` entries to work in. Where the statistics count
    /// nothing, the view's own.
    ///
    /// With `C` the past's covariance and `c` that with `z`, coefficients move by the solution of `C step = c`.
    /// A squared pivot of `C` below a floor is raised to it, so that a past that never moves, or one that
    /// others tell, leaves its coefficient where it was: the likelihood rises none the less, for that is
    /// less than the whole step along an axis. The floor is the format's
    /// [`SUM_TOLERANCE`](Real::SUM_TOLERANCE) of the largest variance of the past, or of the innovation's.
    pub fn regress(
        &self,
        statistics: &mut AutoregressiveMoments<'_, T>,
        coefficient: &mut [T],
        (matrix, step): (&mut [T], &mut [T]),
    ) {
        let (size, lags) = (self.centre.len(), self.lags());
        coefficient.iter_mut().zip(self.coefficient).for_each(|(to, &own)| *to = own);
        let count = *statistics.occupancy;
        for d in (0..size).filter(|_| count > T::ZERO) {
            let mean_of = |l| at(statistics.past, size, l, d) / count;
            let shift = statistics.sum.get(d).map_or(T::ZERO, |&sum| sum / count);
            let mut largest = T::ONE;
            for row in 0..lags {
                for column in 0..=row {
                    let product = at(statistics.product, size, row * lags + column, d) / count;
                    put(matrix, lags, row, column, product - mean_of(row) * mean_of(column));
                }
                largest = Real::max(largest, at(matrix, lags, row, row));
                let cross = at(statistics.cross, size, row, d) / count;
                put(step, 1, row, 0, cross - mean_of(row) * shift);
            }
            let floor = T::SUM_TOLERANCE * largest;
            // What is not finite has no pivot: coefficients stay, and the moments of `z` say what is wrong.
            if cholesky(matrix, lags, |_| floor).is_err() {
                continue;
            }
            solve(matrix, lags, step);
            solve_transposed(matrix, lags, step);
            statistics.step(step, d, size);
            for (l, &by) in step.iter().enumerate() {
                add(coefficient, l * size + d, by);
            }
        }
    }
}

impl<const E: usize, const D: usize, const L: usize, T: Real> SufficientStatistics
    for Autoregressive<E, D, L, T>
{
    type Real = T;
    type Statistics = AutoregressiveStatistics<T, D, L>;
    type Score = AutoregressiveScore<T, D, L>;
    type WithDirections<const C: usize> = Autoregressive<E, D, L, Dual<T, C>>;

    #[inline]
    fn observe(&self, x: &[T; E], weight: T, statistics: &mut AutoregressiveStatistics<T, D, L>) {
        self.view().observe(x, weight, &mut statistics.view());
    }

    /// Coefficients first; then `z' = a z + sum_l a'_l s + b` and `v' = a v + s`, where
    /// `a = sigma / sigma'` and the past is counted from `s` standard deviations below.
    fn adopt(&self, previous: &Self, statistics: &mut AutoregressiveStatistics<T, D, L>) {
        let count = statistics.innovation.occupancy;
        let (rates, old_rates) = (self.innovation.rate(), previous.innovation.rate());
        let (means, old_means) = (self.innovation.mean(), previous.innovation.mean());
        for d in 0..D {
            let mut step = [T::ZERO; L];
            let rows = self.coefficient.iter().zip(&previous.coefficient);
            for (step, (own, before)) in step.iter_mut().zip(rows) {
                *step = own[d] - before[d];
            }
            statistics.view().step(&step, d, D);
            let (a, s) =
                (rates[d] / old_rates[d], (previous.centre[d] - self.centre[d]) * rates[d]);
            let told = self.coefficient.iter().fold(T::ZERO, |sum, row| sum + row[d] * s);
            let b = (old_means[d] - means[d]) * rates[d] - told;
            let (sum, square) = (statistics.innovation.sum[d], statistics.innovation.square[d]);
            statistics.innovation.square[d] = a * a * square + b * (a * (sum + sum) + b * count);
            let moved = a * sum + b * count;
            statistics.innovation.sum[d] = moved;
            let past = statistics.past;
            for ((row, products), lags) in past.iter().zip(&mut statistics.product).zip(1..) {
                for (column, product) in past.iter().zip(products).take(lags) {
                    let both = row[d] + column[d];
                    product[d] = a * a * product[d] + s * (a * both + s * count);
                }
            }
            for (past, cross) in statistics.past.iter_mut().zip(&mut statistics.cross) {
                cross[d] = a * (a * cross[d] + b * past[d]) + s * moved;
                past[d] = a * past[d] + s * count;
            }
        }
    }

    fn maximise(
        &self,
        statistics: &AutoregressiveStatistics<T, D, L>,
        regularisation: &Regularisation<T>,
    ) -> Result<Self, ModelError> {
        let (mut coefficient, mut statistics) = ([[T::ZERO; D]; L], *statistics);
        let (mut matrix, mut step) = ([[T::ZERO; L]; L], [T::ZERO; L]);
        self.view().regress(
            &mut statistics.view(),
            coefficient.as_flattened_mut(),
            (matrix.as_flattened_mut(), &mut step),
        );
        let innovation = self.innovation.maximise(&statistics.innovation, regularisation)?;
        Ok(Self { innovation, coefficient, ..*self })
    }

    /// Score: that of a coefficient is `cross`, that of the other parameters is as for a Gaussian.
    fn score(
        &self,
        statistics: &AutoregressiveStatistics<T, D, L>,
        parametrisation: Parametrisation,
    ) -> AutoregressiveScore<T, D, L> {
        AutoregressiveScore {
            innovation: self.innovation.score(&statistics.innovation, parametrisation),
            coefficient: statistics.cross,
        }
    }

    fn with_directions<const C: usize>(
        &self,
        directions: &[AutoregressiveScore<T, D, L>; C],
        parametrisation: Parametrisation,
    ) -> Autoregressive<E, D, L, Dual<T, C>> {
        let of_gaussian = directions.map(|direction| direction.innovation);
        let mut slope = [[[T::ZERO; C]; D]; L];
        for (c, direction) in directions.iter().enumerate() {
            for (row, moved) in slope.iter_mut().zip(&direction.coefficient) {
                let channels = row.iter_mut().zip(moved).zip(self.innovation.rate());
                for ((slope, &moved), &rate) in channels {
                    if let Some(slope) = slope.get_mut(c) {
                        *slope = moved * rate;
                    }
                }
            }
        }
        let innovation = self.innovation.with_directions(&of_gaussian, parametrisation);
        Autoregressive::from_fields(innovation, self.centre, self.coefficient, slope)
    }

    fn convert_score(
        &self,
        score: &AutoregressiveScore<T, D, L>,
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<AutoregressiveScore<T, D, L>, ModelError> {
        let innovation = self.innovation.convert_score(&score.innovation, from, to)?;
        Ok(AutoregressiveScore { innovation, ..*score })
    }

    fn convert_direction(
        &self,
        direction: &AutoregressiveScore<T, D, L>,
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<AutoregressiveScore<T, D, L>, ModelError> {
        let innovation = self.innovation.convert_direction(&direction.innovation, from, to)?;
        Ok(AutoregressiveScore { innovation, ..*direction })
    }
}
