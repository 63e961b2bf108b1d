use crate::emission::marginal::{along, channel, channels, there};
use crate::emission::{
    Autoregressive, AutoregressiveStatistics, AutoregressiveView, Emission, MarginalStatistics,
    Marginalise, Regularisation, SufficientStatistics,
};
use crate::error::ModelError;
use crate::matrix::at;
use crate::number::{Number, Real, RealParameter, Tangent};

impl<W: RealParameter> AutoregressiveView<'_, W> {
    /// `z_d` of a row in which the channel and its past are there; `None` where one of them is not.
    #[inline]
    pub fn innovation_of_some(
        &self,
        x: &impl Fn(usize) -> Option<W::Real>,
        d: usize,
    ) -> Option<W::Real> {
        let size = self.centre.len();
        let mut left = x(d)? - at(self.innovation.mean, size, 0, d);
        for l in 0..self.lags() {
            left = left - at(self.coefficient, size, l, d) * self.past_of_some(x, l, d)?;
        }
        Some(left * at(self.innovation.rate, size, 0, d))
    }

    /// `u_ld`, where it is there.
    #[inline]
    pub fn past_of_some(
        &self,
        x: &impl Fn(usize) -> Option<W::Real>,
        l: usize,
        d: usize,
    ) -> Option<W::Real> {
        let size = self.centre.len();
        Some(x((l + 1) * size + d)? - at(self.centre, size, 0, d))
    }

    /// The log-likelihood of the channels that are there, given their past. A channel of which the past is missing is left
    /// out: what it says depends on what nobody saw.
    #[inline]
    pub fn log_marginal(&self, x: impl Fn(usize) -> Option<W::Real>) -> W {
        let innovation = &self.innovation;
        let (mut square, mut constant) = (W::Real::ZERO, innovation.constant.value());
        let mut tangent = innovation.constant.tangent();
        // A state that is out of reach has no density to be taken apart.
        if constant == W::Real::NEG_INFINITY {
            return W::constant(constant);
        }
        for (d, &rate) in innovation.rate.iter().enumerate() {
            let Some(z) = self.innovation_of_some(&x, d) else {
                constant = constant - (rate.ln() - W::Real::HALF_LN_TAU);
                if W::Tangent::DIRECTIONS > 0
                    && let Some(&expected) = innovation.quadratic.get(d)
                {
                    tangent = tangent.plus(expected);
                }
                continue;
            };
            square = square + z * z;
            if W::Tangent::DIRECTIONS > 0
                && let (Some(&linear), Some(quadratic)) =
                    (innovation.linear.get(d), innovation.quadratic.get(d))
            {
                let mut linear = linear;
                for l in 0..self.lags() {
                    if let (Some(slope), Some(past)) =
                        (self.slope.get(l * self.centre.len() + d), self.past_of_some(&x, l, d))
                    {
                        linear = linear.plus(slope.scale(past));
                    }
                }
                tangent = tangent.plus(linear.plus(quadratic.scale(z)).scale(z));
            }
        }
        W::new(constant - W::Real::HALF * square, tangent)
    }
}

impl<const E: usize, const D: usize, const L: usize, W: RealParameter> Marginalise
    for Autoregressive<E, D, L, W>
{
    channels!(finite W::Real, E);

    #[inline]
    fn log_marginal(&self, x: &[Option<W::Real>; E]) -> W {
        match Self::complete(x) {
            Some(x) => self.log_likelihood(&x),
            None => self.view().log_marginal(|d| channel(x, d)),
        }
    }
}

/// Expectations for a missing channel: `E[z] = 0`, `E[z^2] = 1`, and its past is not counted.
impl<const E: usize, const D: usize, const L: usize, T: Real> MarginalStatistics
    for Autoregressive<E, D, L, T>
{
    type Missing = [T; D];
    along!();

    fn observe_partial(
        &self,
        x: &[Option<T>; E],
        weight: T,
        statistics: &mut AutoregressiveStatistics<T, D, L>,
        missing: &mut [T; D],
    ) {
        let (view, there) = (self.view(), |d: usize| channel(x, d));
        let mut to = statistics.view();
        *to.occupancy = *to.occupancy + weight;
        for d in 0..D {
            if view.innovation_of_some(&there, d).is_some() {
                // Nothing of another channel is read.
                let mut row = [T::ZERO; E];
                for e in 0..E {
                    row[e] = x[e].unwrap_or(T::ZERO);
                }
                view.observe_channel(&row, weight, d, &mut to);
            } else {
                missing[d] = missing[d] + weight;
                if let Some(square) = to.square.get_mut(d) {
                    *square = *square + weight;
                }
            }
        }
    }

    fn adopt_partial(
        &self,
        previous: &Self,
        statistics: &mut AutoregressiveStatistics<T, D, L>,
        missing: &[T; D],
    ) {
        let occupancy = statistics.innovation.occupancy;
        statistics.without(missing);
        self.adopt(previous, statistics);
        for d in 0..D {
            if let Some(factor) = there(occupancy, missing[d]) {
                statistics.scale_channel(d, T::ONE / factor);
                let square = &mut statistics.innovation.square[d];
                *square = *square + missing[d];
            } else if missing[d] > T::ZERO {
                // A channel that never was there is what is expected of it now.
                statistics.scale_channel(d, T::ZERO);
                statistics.innovation.square[d] = occupancy;
            }
        }
    }

    fn maximise_partial(
        &self,
        statistics: &AutoregressiveStatistics<T, D, L>,
        missing: &[T; D],
        regularisation: &Regularisation<T>,
    ) -> Result<Self, ModelError> {
        let mut observed = *statistics;
        observed.without(missing);
        self.maximise(&observed, regularisation)
    }
}

impl<T: Real, const D: usize, const L: usize> AutoregressiveStatistics<T, D, L> {
    /// Makes each channel's averages those of the observations in which it was there.
    fn without(&mut self, missing: &[T; D]) {
        for d in 0..D {
            if let Some(factor) = there(self.innovation.occupancy, missing[d]) {
                self.innovation.square[d] = self.innovation.square[d] - missing[d];
                self.scale_channel(d, factor);
            }
        }
    }

    /// Multiplies a channel's sums.
    fn scale_channel(&mut self, d: usize, factor: T) {
        self.innovation.sum[d] = self.innovation.sum[d] * factor;
        self.innovation.square[d] = self.innovation.square[d] * factor;
        for l in 0..L {
            self.past[l][d] = self.past[l][d] * factor;
            self.cross[l][d] = self.cross[l][d] * factor;
            for k in 0..L {
                self.product[l][k][d] = self.product[l][k][d] * factor;
            }
        }
    }
}
