use crate::emission::marginal::{along, channel, channels, there};
use crate::emission::{
    Emission, Gaussian, GaussianStatistics, GaussianView, MarginalStatistics, Marginalise,
    Regularisation, SufficientStatistics,
};
use crate::error::ModelError;
use crate::number::{Number, Real, RealParameter, Tangent, shorter};

impl<W: RealParameter> GaussianView<'_, W> {
    /// The log-likelihood of the channels that are there. Of a missing one, `log rate_d - log(2 pi) / 2` is taken out of
    /// the constant.
    #[inline]
    pub fn log_marginal(&self, x: impl Fn(usize) -> Option<W::Real>) -> W {
        let (mut square, mut constant) = (W::Real::ZERO, self.constant.value());
        let mut tangent = self.constant.tangent();
        let channels = shorter(self.mean.len(), self.rate.len());
        // A state that is out of reach has no density to be taken apart.
        if constant == W::Real::NEG_INFINITY {
            return W::constant(constant);
        }
        let (mean, rate) = (&self.mean[..channels], &self.rate[..channels]);
        for d in 0..channels {
            match x(d) {
                Some(x) => {
                    let z = (x - mean[d]) * rate[d];
                    square = square + z * z;
                    if W::Tangent::DIRECTIONS > 0 {
                        tangent = tangent.plus(self.slope(d, z).scale(z));
                    }
                }
                None => {
                    constant = constant - (rate[d].ln() - W::Real::HALF_LN_TAU);
                    if W::Tangent::DIRECTIONS > 0
                        && let Some(&expected) = self.quadratic.get(d)
                    {
                        tangent = tangent.plus(expected);
                    }
                }
            }
        }
        W::new(constant - W::Real::HALF * square, tangent)
    }

    /// `linear_d + quadratic_d z`.
    #[inline(always)]
    fn slope(&self, d: usize, z: W::Real) -> W::Tangent {
        match (self.linear.get(d), self.quadratic.get(d)) {
            (Some(linear), Some(quadratic)) => linear.plus(quadratic.scale(z)),
            _ => W::Tangent::ZERO,
        }
    }
}

impl<const D: usize, W: RealParameter> Marginalise for Gaussian<D, W> {
    channels!(finite W::Real, D);

    #[inline]
    fn log_marginal(&self, x: &[Option<W::Real>; D]) -> W {
        match Self::complete(x) {
            Some(x) => self.log_likelihood(&x),
            None if Self::is_empty(x) => W::constant(W::Real::ZERO),
            None => self.view().log_marginal(|d| channel(x, d)),
        }
    }
}

/// Expectations for a missing channel: `E[z] = 0` and `E[z^2] = 1`.
impl<const D: usize, T: Real> MarginalStatistics for Gaussian<D, T> {
    type Missing = [T; D];
    along!();

    fn observe_partial(
        &self,
        x: &[Option<T>; D],
        weight: T,
        statistics: &mut GaussianStatistics<T, D>,
        missing: &mut [T; D],
    ) {
        statistics.occupancy = statistics.occupancy + weight;
        for d in 0..D {
            let square = match x[d] {
                Some(x) => {
                    let z = (x - self.mean()[d]) * self.rate()[d];
                    statistics.sum[d] = statistics.sum[d] + weight * z;
                    weight * z * z
                }
                None => {
                    missing[d] = missing[d] + weight;
                    weight
                }
            };
            statistics.square[d] = statistics.square[d] + square;
        }
    }

    fn adopt_partial(
        &self,
        previous: &Self,
        statistics: &mut GaussianStatistics<T, D>,
        missing: &[T; D],
    ) {
        for d in 0..D {
            statistics.square[d] = statistics.square[d] - missing[d];
        }
        for d in 0..D {
            let count = statistics.occupancy - missing[d];
            let (sum, square) = (&mut statistics.sum[d..][..1], &mut statistics.square[d..][..1]);
            self.view().channel(d).adopt(&previous.view().channel(d), count, sum, square);
            statistics.square[d] = statistics.square[d] + missing[d];
        }
    }

    fn maximise_partial(
        &self,
        statistics: &GaussianStatistics<T, D>,
        missing: &[T; D],
        regularisation: &Regularisation<T>,
    ) -> Result<Self, ModelError> {
        let mut observed = *statistics;
        observed.without(missing);
        self.maximise(&observed, regularisation)
    }
}

impl<'a, W: RealParameter> GaussianView<'a, W> {
    /// One channel alone; its normaliser is not used.
    fn channel(&self, d: usize) -> Self {
        let (mean, rate) = (self.mean.get(d..).unwrap_or_default(), self.rate.get(d..));
        Self { mean, rate: rate.unwrap_or_default(), ..*self }
    }
}

impl<T: Real, const D: usize> GaussianStatistics<T, D> {
    /// Makes each channel's averages those of the observations in which it was there. One that never was stays as it
    /// was completed: its estimate is what it was.
    pub(super) fn without(&mut self, missing: &[T; D]) {
        for d in 0..D {
            if let Some(factor) = there(self.occupancy, missing[d]) {
                self.sum[d] = self.sum[d] * factor;
                self.square[d] = (self.square[d] - missing[d]) * factor;
            }
        }
    }
}
