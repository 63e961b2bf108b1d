use super::{FullGaussian, FullGaussianView, mirror};
use crate::emission::{
    GaussianMoments, Parametrisation, Regularisation, Spread, SufficientStatistics, VectorSpace,
    vector_space,
};
use crate::error::{ErrorKind, ModelError, Part};
use crate::matrix::{Side, at, cholesky, congruence, invert, solve, solve_lower};
use crate::number::{Dual, Real, RealParameter};

/// The readers of expected statistics, at run-time sizes.
impl<'a, T: Real> FullGaussianView<'a, T> {
    /// Adds `weight (1, z, z z')` to `(occupancy, sum, square)`, of the products the lower triangle.
    /// `z` is scratch, `[channel]`.
    pub fn observe(
        &self,
        x: &[T],
        weight: T,
        occupancy: &mut T,
        sum: &mut [T],
        square: &mut [T],
        z: &mut [T],
    ) {
        let size = self.mean.len();
        *occupancy = *occupancy + weight;
        for (d, (z, sum)) in z.iter_mut().zip(sum).enumerate().take(size) {
            *z = self.whitened(x, d);
            *sum = *sum + weight * *z;
        }
        for (d, row) in square.chunks_mut(size.max(1)).enumerate().take(size) {
            let Some(&own) = z.get(d) else { return };
            for (entry, &z) in row.iter_mut().zip(z.iter()).take(d + 1) {
                *entry = *entry + weight * own * z;
            }
        }
    }

    /// The likeliest means and factor of the covariance matrix, from moments of the statistics;
    /// where these count nothing, the view's own. The variance of a channel given those before it
    /// is at least `variance_floor`. `scratch` is as long as `factor`.
    ///
    /// # Errors
    /// The first mean that is not finite, or row in which the covariance matrix is not positive
    /// definite.
    pub fn maximise(
        &self,
        statistics: GaussianMoments<'_, T>,
        variance_floor: T,
        mean: &mut [T],
        factor: &mut [T],
        scratch: &mut [T],
    ) -> Result<(), ModelError> {
        let GaussianMoments { occupancy, sum, square } = statistics;
        let size = self.mean.len();
        for (estimate, &own) in factor.iter_mut().zip(self.factor) {
            *estimate = own;
        }
        for (estimate, &own) in mean.iter_mut().zip(self.mean) {
            *estimate = own;
        }
        if occupancy <= T::ZERO {
            return Ok(());
        }
        // The covariance of z, its factor K, and R' = K^-1 R.
        for row in 0..size {
            for column in 0..size {
                let shifts = (sum.get(row).copied(), sum.get(column).copied());
                let (Some(here), Some(there)) = shifts else { continue };
                let product = at(square, size, row, column) / occupancy;
                if let Some(entry) = scratch.get_mut(row * size + column) {
                    *entry = product - (here / occupancy) * (there / occupancy);
                }
            }
        }
        let floor = |row| {
            let rate = at(self.factor, size, row, row);
            variance_floor * rate * rate
        };
        cholesky(scratch, size, floor).map_err(|row| {
            ModelError::new(Part::Parameter("covariance"), ErrorKind::NotPositiveDefinite, 0, row)
        })?;
        solve_lower(scratch, size, factor);
        // mean' = mean + S E[z].
        let shift = scratch;
        for (shift, &sum) in shift.iter_mut().zip(sum) {
            *shift = sum / occupancy;
        }
        let shift = shift.get_mut(..size).unwrap_or_default();
        solve(self.factor, size, shift);
        for (d, (mean, &shift)) in mean.iter_mut().zip(shift.iter()).enumerate() {
            *mean = *mean + shift;
            if !mean.is_finite() {
                return Err(ModelError::new(Part::Parameter("mean"), ErrorKind::NotFinite, 0, d));
            }
        }
        let broken = factor.iter().take(size * size).position(|entry| !entry.is_finite());
        match broken {
            Some(entry) => {
                let row = entry / size.max(1);
                Err(ModelError::new(
                    Part::Parameter("covariance"),
                    ErrorKind::NotPositiveDefinite,
                    0,
                    row,
                ))
            }
            None => Ok(()),
        }
    }

    /// The score: of the means `R' sum`; of the spread the symmetric matrix
    /// `M = square - occupancy I`, or of the covariances `R' M R / 2`. `scratch` is as long as
    /// `spread_score`.
    pub fn score(
        &self,
        statistics: GaussianMoments<'_, T>,
        spread: Spread,
        mean_score: &mut [T],
        spread_score: &mut [T],
        scratch: &mut [T],
    ) {
        let GaussianMoments { occupancy, sum, square } = statistics;
        let size = self.mean.len();
        for (column, score) in mean_score.iter_mut().enumerate().take(size) {
            *score = sum.iter().enumerate().skip(column).fold(T::ZERO, |total, (row, &sum)| {
                total + at(self.factor, size, row, column) * sum
            });
        }
        for (entry, &square) in spread_score.iter_mut().zip(square) {
            *entry = square;
        }
        for diagonal in spread_score.iter_mut().step_by(size + 1).take(size) {
            *diagonal = *diagonal - occupancy;
        }
        mirror(spread_score, size);
        self.convert_score(spread_score, Spread::LogStandardDeviation, spread, scratch);
    }

    /// A score of the spread in other coordinates: `G = R' M R / 2`.
    pub fn convert_score(&self, score: &mut [T], from: Spread, to: Spread, scratch: &mut [T]) {
        let size = self.mean.len();
        match (from, to) {
            (Spread::LogStandardDeviation, Spread::Variance) => {
                congruence(self.factor, Side::Right, T::HALF, size, score);
            }
            (Spread::Variance, Spread::LogStandardDeviation) => {
                self.unwhiten(score, Side::Right, scratch);
            }
            _ => {}
        }
    }

    /// A direction of the spread in other coordinates: `L = R dSigma R' / 2`.
    pub fn convert_direction(
        &self,
        direction: &mut [T],
        from: Spread,
        to: Spread,
        scratch: &mut [T],
    ) {
        let size = self.mean.len();
        match (from, to) {
            (Spread::Variance, Spread::LogStandardDeviation) => {
                congruence(self.factor, Side::Left, T::HALF, size, direction);
            }
            (Spread::LogStandardDeviation, Spread::Variance) => {
                self.unwhiten(direction, Side::Left, scratch);
            }
            _ => {}
        }
    }

    /// `2 S matrix S'` or `2 S' matrix S`.
    fn unwhiten(&self, matrix: &mut [T], side: Side, scratch: &mut [T]) {
        let size = self.mean.len();
        for (entry, &factor) in scratch.iter_mut().zip(self.factor) {
            *entry = factor;
        }
        invert(scratch, size);
        congruence(scratch, side, T::ONE + T::ONE, size, matrix);
    }
}

/// Expected moments of a [`FullGaussian`]'s observations, whitened by the Gaussian that observed
/// them: `z = R (x - mean)`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FullGaussianStatistics<T, const D: usize> {
    /// `E[ sum_t 1 ]`: how many observations.
    pub occupancy: T,
    /// `E[ sum_t z ]`, `[channel]`.
    pub sum: [T; D],
    /// `E[ sum_t z z' ]`, `[channel][channel]`: the lower triangle, zero right of the diagonal.
    pub square: [[T; D]; D],
}

impl<T: Real, const D: usize> VectorSpace<T> for FullGaussianStatistics<T, D> {
    const LENGTH: usize = 1 + D + D * (D + 1) / 2;
    const ZERO: Self = Self { occupancy: T::ZERO, sum: [T::ZERO; D], square: [[T::ZERO; D]; D] };

    #[inline(always)]
    fn across<const N: usize>(columns: &mut [Self; N], f: &mut impl FnMut(&mut [T; N])) {
        macro_rules! pass {
            ($column:ident => $entry:expr) => {
                let mut vector = [T::ZERO; N];
                for (slot, $column) in vector.iter_mut().zip(columns.iter()) {
                    *slot = $entry;
                }
                f(&mut vector);
                for (slot, $column) in vector.into_iter().zip(columns.iter_mut()) {
                    $entry = slot;
                }
            };
        }
        pass!(column => column.occupancy);
        for d in 0..D {
            pass!(column => column.sum[d]);
        }
        for d in 0..D {
            for e in 0..=d {
                pass!(column => column.square[d][e]);
            }
        }
    }
}

impl<T: Real, const D: usize> FullGaussianStatistics<T, D> {
    /// View of the statistics with its size at run time.
    pub const fn view(&self) -> GaussianMoments<'_, T> {
        let square = self.square.as_flattened();
        GaussianMoments { occupancy: self.occupancy, sum: &self.sum, square }
    }
}

/// A [`FullGaussian`]'s part of a score or a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FullGaussianScore<T, const D: usize> {
    /// Score with respect to the means, `[channel]`.
    pub mean: [T; D],
    /// Score with respect to the covariances or their logarithm ([`Spread`]), `[channel][channel]`:
    /// symmetric, `d log p = sum_ab spread_ab dSigma_ab`. Of a direction the symmetric part counts.
    pub spread: [[T; D]; D],
}
vector_space! {
    impl<T; const D> FullGaussianScore<T, D> { mean: [T; D], spread: [[T; D]; D] }
}

impl<const D: usize, T: Real> FullGaussian<D, T> {
    /// The expected sums of the observations in the sensor's units, `[channel]`: `E[ sum_t x ]`.
    pub fn sum_x(&self, statistics: &FullGaussianStatistics<T, D>) -> [T; D] {
        let mut sum = statistics.sum;
        solve(self.factor.as_flattened(), D, &mut sum);
        for (sum, &mean) in sum.iter_mut().zip(&self.mean) {
            *sum = *sum + mean * statistics.occupancy;
        }
        sum
    }

    /// The expected sums of products in the sensor's units, `[channel][channel]`:
    /// `E[ sum_t x x' ]`.
    pub fn sum_xx(&self, statistics: &FullGaussianStatistics<T, D>) -> [[T; D]; D] {
        let (mut products, mut inverse) = (statistics.square, self.factor);
        mirror(products.as_flattened_mut(), D);
        invert(inverse.as_flattened_mut(), D);
        let inverse = inverse.as_flattened();
        congruence(inverse, Side::Left, T::ONE, D, products.as_flattened_mut());
        // x = u + mean with u = S z: xx' = uu' + u mean' + mean u' + mean mean'.
        let sum = self.sum_x(statistics);
        for (d, row) in products.iter_mut().enumerate() {
            for (e, entry) in row.iter_mut().enumerate() {
                let (here, there) = (self.mean[d], self.mean[e]);
                let centred = sum[e] - there * statistics.occupancy;
                *entry = *entry + (here * centred + there * sum[d]);
            }
        }
        products
    }
}

impl<const D: usize, T: Real> SufficientStatistics for FullGaussian<D, T> {
    type Real = T;
    type Statistics = FullGaussianStatistics<T, D>;
    type Score = FullGaussianScore<T, D>;
    type WithDirections<const C: usize> = FullGaussian<D, Dual<T, C>>;

    #[inline]
    fn observe(&self, x: &[T; D], weight: T, statistics: &mut FullGaussianStatistics<T, D>) {
        let z = self.whitened(x);
        statistics.occupancy = statistics.occupancy + weight;
        let sums = statistics.sum.iter_mut().zip(&mut statistics.square);
        for (d, ((sum, row), &own)) in sums.zip(&z).enumerate() {
            let weighed = weight * own;
            *sum = *sum + weighed;
            for (entry, &z) in row.iter_mut().zip(&z).take(d + 1) {
                *entry = *entry + weighed * z;
            }
        }
    }

    /// `z' = A z + b` with `A = R' S` and `b = R' (mean - mean')`.
    fn adopt(&self, previous: &Self, statistics: &mut FullGaussianStatistics<T, D>) {
        let mut map = self.factor;
        let mut inverse = previous.factor;
        invert(inverse.as_flattened_mut(), D);
        for (d, row) in map.iter_mut().enumerate() {
            let factor = *row;
            for (e, entry) in row.iter_mut().enumerate() {
                // R' S, both lower triangular: columns e..=d of the row.
                *entry = (e..=d).fold(T::ZERO, |sum, k| sum + factor[k] * inverse[k][e]);
            }
        }
        let shift = self.whitened(&previous.mean);
        let (occupancy, sum) = (statistics.occupancy, statistics.sum);
        let mut mapped = [T::ZERO; D];
        for (mapped, row) in mapped.iter_mut().zip(&map) {
            for (&entry, &sum) in row.iter().zip(&sum) {
                *mapped = *mapped + entry * sum;
            }
        }
        let mut square = statistics.square;
        mirror(square.as_flattened_mut(), D);
        congruence(map.as_flattened(), Side::Left, T::ONE, D, square.as_flattened_mut());
        let rows = statistics.square.iter_mut().zip(&square).enumerate();
        for (d, (row, square)) in rows {
            for (e, (entry, &square)) in row.iter_mut().zip(square).enumerate().take(d + 1) {
                let cross = mapped[d] * shift[e] + shift[d] * mapped[e];
                *entry = square + (cross + occupancy * shift[d] * shift[e]);
            }
        }
        for (sum, (&mapped, &shift)) in statistics.sum.iter_mut().zip(mapped.iter().zip(&shift)) {
            *sum = mapped + occupancy * shift;
        }
    }

    fn maximise(
        &self,
        statistics: &FullGaussianStatistics<T, D>,
        regularisation: &Regularisation<T>,
    ) -> Result<Self, ModelError> {
        let mut mean = [T::ZERO; D];
        let (mut factor, mut scratch) = ([[T::ZERO; D]; D], [[T::ZERO; D]; D]);
        self.view().maximise(
            statistics.view(),
            regularisation.variance_floor,
            &mut mean,
            factor.as_flattened_mut(),
            scratch.as_flattened_mut(),
        )?;
        Ok(Self::from_factor(mean, factor))
    }

    fn score(
        &self,
        statistics: &FullGaussianStatistics<T, D>,
        parametrisation: Parametrisation,
    ) -> FullGaussianScore<T, D> {
        let mut score = FullGaussianScore::ZERO;
        let mut scratch = [[T::ZERO; D]; D];
        self.view().score(
            statistics.view(),
            parametrisation.spread,
            &mut score.mean,
            score.spread.as_flattened_mut(),
            scratch.as_flattened_mut(),
        );
        score
    }

    fn with_directions<const C: usize>(
        &self,
        directions: &[FullGaussianScore<T, D>; C],
        parametrisation: Parametrisation,
    ) -> FullGaussian<D, Dual<T, C>> {
        let mut along = FullGaussian {
            mean: self.mean,
            factor: self.factor,
            constant: Dual::<T, C>::constant(self.constant),
            linear: [[T::ZERO; C]; D],
            quadratic: [[[T::ZERO; C]; D]; D],
        };
        for (c, direction) in directions.iter().enumerate() {
            let (mut log_std, mut scratch) = (direction.spread, [[T::ZERO; D]; D]);
            self.view().convert_direction(
                log_std.as_flattened_mut(),
                parametrisation.spread,
                Spread::LogStandardDeviation,
                scratch.as_flattened_mut(),
            );
            let rows = self.factor.iter().zip(&log_std).enumerate();
            for (d, (factor, rates)) in rows {
                let moved = factor.iter().zip(&direction.mean);
                along.linear[d][c] = moved.fold(T::ZERO, |sum, (&r, &rate)| sum + r * rate);
                along.quadratic[d][d][c] = rates[d];
                along.constant.tangent[c] = along.constant.tangent[c] - rates[d];
                for (e, &rate) in rates.iter().enumerate().take(d) {
                    along.quadratic[d][e][c] = rate + log_std[e][d];
                }
            }
        }
        along
    }

    fn convert_score(
        &self,
        score: &FullGaussianScore<T, D>,
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<FullGaussianScore<T, D>, ModelError> {
        let (mut score, mut scratch) = (*score, [[T::ZERO; D]; D]);
        let (matrix, scratch) = (score.spread.as_flattened_mut(), scratch.as_flattened_mut());
        self.view().convert_score(matrix, from.spread, to.spread, scratch);
        Ok(score)
    }

    fn convert_direction(
        &self,
        direction: &FullGaussianScore<T, D>,
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<FullGaussianScore<T, D>, ModelError> {
        let (mut direction, mut scratch) = (*direction, [[T::ZERO; D]; D]);
        let (matrix, scratch) = (direction.spread.as_flattened_mut(), scratch.as_flattened_mut());
        self.view().convert_direction(matrix, from.spread, to.spread, scratch);
        Ok(direction)
    }
}
