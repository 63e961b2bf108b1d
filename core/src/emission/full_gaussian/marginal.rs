use crate::emission::marginal::{along, channel, channels};
use crate::emission::{
    Emission, FullGaussian, FullGaussianStatistics, FullGaussianView, MarginalStatistics,
    Marginalise, Regularisation, SufficientStatistics,
};
use crate::error::ModelError;
use crate::matrix::at;
use crate::number::{Number, Real, RealParameter, Tangent, shorter};

/// Completes the missing channels: with `u = x - mean`, the columns `R_m` of the missing channels and `Q` an orthonormal basis of
/// their span,
///
/// ```text
/// min over u_m of |R u|^2 = |z|^2,          z = (I - Q Q') R_o u_o
/// log b(x_o) = constant - 1/2 z'z + sum_m ( log(2 pi) / 2 - log |r_m| )
/// E[z] = z,      Cov[z] = Q Q'              given the channels that are there
/// ```
///
/// where `r_m` are the columns of `R_m` less their parts along those before. That is the Cholesky factor of the missing
/// channels' precision, `R_m' R_m`, without forming the product.
impl<W: RealParameter> FullGaussianView<'_, W> {
    /// Fills `z`, `[channel]`, and the basis, a row per missing channel, `[channel][channel]`. Returns the term to add to the
    /// constant, and the number of missing channels.
    pub fn complete(
        &self,
        x: impl Fn(usize) -> Option<W::Real>,
        z: &mut [W::Real],
        basis: &mut [W::Real],
    ) -> (W::Real, usize) {
        let size = self.mean.len();
        for (d, z) in z.iter_mut().enumerate().take(size) {
            *z = W::Real::ZERO;
            for e in 0..=d {
                if let (Some(x), Some(&mean)) = (x(e), self.mean.get(e)) {
                    *z = *z + at(self.factor, size, d, e) * (x - mean);
                }
            }
        }
        let (mut constant, mut count) = (W::Real::ZERO, 0);
        for m in (0..size).filter(|&m| x(m).is_none()) {
            let (before, rest) = basis.split_at_mut((count * size).min(basis.len()));
            let row = rest.get_mut(..size).unwrap_or_default();
            for (d, entry) in row.iter_mut().enumerate() {
                *entry = at(self.factor, size, d, m);
            }
            // Twice is enough: what rounding leaves of a part is taken out, too.
            for _ in 0..2 {
                for other in before.chunks(size.max(1)) {
                    take_out(row, other);
                }
            }
            let norm = dot(row, row).sqrt();
            constant = constant + (W::Real::HALF_LN_TAU - norm.ln());
            for entry in row.iter_mut() {
                *entry = *entry / norm;
            }
            take_out(z, row);
            count += 1;
        }
        (constant, count)
    }

    /// The log-likelihood of the channels that are there. `z` and `basis` are scratch, `[channel]` and
    /// `[channel][channel]`.
    pub fn log_marginal(
        &self,
        x: impl Fn(usize) -> Option<W::Real>,
        z: &mut [W::Real],
        basis: &mut [W::Real],
    ) -> W {
        let size = self.mean.len();
        let mut constant = self.constant.value();
        // A state that is out of reach has no density to be taken apart.
        if constant == W::Real::NEG_INFINITY {
            return W::constant(constant);
        }
        let (more, count) = self.complete(x, z, basis);
        constant = constant + more;
        let mut tangent = self.constant.tangent();
        if W::Tangent::DIRECTIONS > 0 {
            for (d, (&own, &linear)) in z.iter().zip(self.linear).enumerate().take(size) {
                tangent = tangent.plus(linear.scale(own));
                let row = self.quadratic.get(d * size..).unwrap_or_default();
                for (e, (slope, &other)) in row.iter().zip(z.iter()).enumerate().take(d + 1) {
                    let product = own * other + covariance(basis, size, count, d, e);
                    tangent = tangent.plus(slope.scale(product));
                }
            }
        }
        W::new(constant - W::Real::HALF * dot(z, z), tangent)
    }
}

impl<T: Real> FullGaussianView<'_, T> {
    /// Adds the expectation of an observation, given the present channels: `weight (1, z, z z' + Q Q')` to
    /// `(occupancy, sum, square)`, of the products the lower triangle.
    pub fn observe_partial(
        &self,
        x: impl Fn(usize) -> Option<T>,
        weight: T,
        (occupancy, sum, square): (&mut T, &mut [T], &mut [T]),
        (z, basis): (&mut [T], &mut [T]),
    ) {
        let size = self.mean.len();
        let (_, count) = self.complete(x, z, basis);
        *occupancy = *occupancy + weight;
        for (sum, &z) in sum.iter_mut().zip(z.iter()) {
            *sum = *sum + weight * z;
        }
        for (d, (row, &own)) in square.chunks_mut(size.max(1)).zip(z.iter()).enumerate() {
            for (e, (entry, &other)) in row.iter_mut().zip(z.iter()).enumerate().take(d + 1) {
                *entry = *entry + weight * (own * other + covariance(basis, size, count, d, e));
            }
        }
    }
}

fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let length = shorter(a.len(), b.len());
    let (a, b) = (&a[..length], &b[..length]);
    let mut sum = T::ZERO;
    for d in 0..length {
        sum = sum + a[d] * b[d];
    }
    sum
}

/// Takes the part along a vector of norm one out of another.
fn take_out<T: Real>(from: &mut [T], along: &[T]) {
    let (part, length) = (dot(from, along), shorter(from.len(), along.len()));
    let (from, along) = (&mut from[..length], &along[..length]);
    for d in 0..length {
        from[d] = from[d] - part * along[d];
    }
}

/// An entry of `Q Q'`.
fn covariance<T: Real>(basis: &[T], size: usize, count: usize, d: usize, e: usize) -> T {
    let mut sum = T::ZERO;
    for k in 0..count {
        sum = sum + at(basis, size, k, d) * at(basis, size, k, e);
    }
    sum
}

impl<const D: usize, W: RealParameter> Marginalise for FullGaussian<D, W> {
    channels!(finite W::Real, D);

    fn log_marginal(&self, x: &[Option<W::Real>; D]) -> W {
        match Self::complete(x) {
            Some(x) => self.log_likelihood(&x),
            None if Self::is_empty(x) => W::constant(W::Real::ZERO),
            None => {
                let (mut z, mut basis) = ([W::Real::ZERO; D], [[W::Real::ZERO; D]; D]);
                let basis = basis.as_flattened_mut();
                self.view().log_marginal(|d| channel(x, d), &mut z, basis)
            }
        }
    }
}

/// Missing channels are hidden: their conditional mean and covariance, under the distribution that observes, complete
/// the statistics, and the estimate is that of complete ones.
impl<const D: usize, T: Real> MarginalStatistics for FullGaussian<D, T> {
    type Missing = [T; 0];
    along!();

    fn observe_partial(
        &self,
        x: &[Option<T>; D],
        weight: T,
        statistics: &mut FullGaussianStatistics<T, D>,
        _: &mut [T; 0],
    ) {
        let (mut z, mut basis) = ([T::ZERO; D], [[T::ZERO; D]; D]);
        let FullGaussianStatistics { occupancy, sum, square } = statistics;
        let to = (occupancy, sum.as_mut_slice(), square.as_flattened_mut());
        let scratch = (z.as_mut_slice(), basis.as_flattened_mut());
        self.view().observe_partial(|d| channel(x, d), weight, to, scratch);
    }

    fn adopt_partial(
        &self,
        previous: &Self,
        statistics: &mut FullGaussianStatistics<T, D>,
        _: &[T; 0],
    ) {
        self.adopt(previous, statistics);
    }

    fn maximise_partial(
        &self,
        statistics: &FullGaussianStatistics<T, D>,
        _: &[T; 0],
        regularisation: &Regularisation<T>,
    ) -> Result<Self, ModelError> {
        self.maximise(statistics, regularisation)
    }
}
