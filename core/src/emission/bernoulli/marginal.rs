use crate::emission::marginal::{along, channel, channels};
use crate::emission::{
    Bernoulli, BernoulliView, CountStatistics, Emission, MarginalStatistics, Marginalise,
    Regularisation, Row,
};
use crate::error::ModelError;
use crate::number::{Number, Real, RealParameter, Tangent, array_of, shorter};

impl<W: RealParameter> BernoulliView<'_, W> {
    /// The factor of the likelihood that a channel is, as it is there.
    fn factor_of(&self, x: bool, d: usize) -> Option<W> {
        if x { self.yes.get(d) } else { self.no.get(d) }.copied()
    }

    /// The log-likelihood of the channels that are there.
    pub fn log_marginal(&self, x: impl Fn(usize) -> Option<bool>) -> W {
        let (mut value, mut tangent) = (W::Real::ZERO, W::Tangent::ZERO);
        for d in 0..shorter(self.yes.len(), self.no.len()) {
            let Some(factor) = x(d).and_then(|x| self.factor_of(x, d)) else { continue };
            if factor.value() <= W::Real::ZERO {
                return W::constant(W::Real::NEG_INFINITY);
            }
            value = value + factor.value().ln();
            tangent = tangent.plus(factor.tangent().scale(W::Real::ONE / factor.value()));
        }
        W::new(value, tangent)
    }

    /// The likelihood of the channels that are there, with its tangent.
    fn marginal_likelihood(&self, x: impl Fn(usize) -> Option<bool>) -> W {
        let (mut value, mut tangent) = (W::Real::ONE, W::Tangent::ZERO);
        for d in 0..shorter(self.yes.len(), self.no.len()) {
            let Some(factor) = x(d).and_then(|x| self.factor_of(x, d)) else { continue };
            tangent = tangent.scale(factor.value()).plus(factor.tangent().scale(value));
            value = value * factor.value();
        }
        W::new(value, tangent)
    }

    /// The row of likelihoods of the channels that are there.
    pub fn marginal_row<const N: usize>(
        states: &[Self; N],
        x: impl Fn(usize) -> Option<bool>,
    ) -> Row<W, N> {
        let mut likelihood = [W::constant(W::Real::ZERO); N];
        for j in 0..N {
            likelihood[j] = states[j].marginal_likelihood(&x);
        }
        Row { likelihood, log_scale: W::Real::ZERO }
    }
}

impl<const D: usize, W: RealParameter> Marginalise for Bernoulli<D, W> {
    channels!(any bool, D);

    fn log_marginal(&self, x: &[Option<bool>; D]) -> W {
        self.view().log_marginal(|d| channel(x, d))
    }

    #[inline]
    fn marginal_row<const N: usize>(
        states: [&Self; N],
        x: &[Option<bool>; D],
    ) -> Option<Row<W, N>> {
        let views = array_of::<_, N>(states.first()?.view(), |j| states[j].view());
        Some(BernoulliView::marginal_row(&views, |d| channel(x, d)))
    }
}

/// Expectation for a missing channel: `E[x] = p`.
impl<const D: usize, T: Real> MarginalStatistics for Bernoulli<D, T> {
    type Missing = [T; D];
    along!();

    fn observe_partial(
        &self,
        x: &[Option<bool>; D],
        weight: T,
        statistics: &mut CountStatistics<T, D>,
        missing: &mut [T; D],
    ) {
        statistics.occupancy = statistics.occupancy + weight;
        for d in 0..D {
            let expected = match x[d] {
                Some(true) => weight,
                Some(false) => T::ZERO,
                None => {
                    missing[d] = missing[d] + weight;
                    weight * self.probability()[d]
                }
            };
            statistics.sum[d] = statistics.sum[d] + expected;
        }
    }

    /// Replaces the expectations for missing channels by those of the current parameters.
    fn adopt_partial(
        &self,
        previous: &Self,
        statistics: &mut CountStatistics<T, D>,
        missing: &[T; D],
    ) {
        for d in 0..D {
            let moved = missing[d] * (self.probability()[d] - previous.probability()[d]);
            statistics.sum[d] = statistics.sum[d] + moved;
        }
    }

    fn maximise_partial(
        &self,
        statistics: &CountStatistics<T, D>,
        missing: &[T; D],
        regularisation: &Regularisation<T>,
    ) -> Result<Self, ModelError> {
        let (view, mut yes) = (self.view(), *self.probability());
        for d in 0..D {
            let of = BernoulliView { yes: &view.yes[d..], no: &view.no[d..] };
            let count = statistics.occupancy - missing[d];
            let sum = Real::max(statistics.sum[d] - missing[d] * view.yes[d], T::ZERO);
            of.maximise(count, &[sum], regularisation.pseudo_count, &mut yes[d..][..1]);
        }
        let mut no = yes;
        for d in 0..D {
            no[d] = T::ONE - yes[d];
        }
        let estimate = Self::from_parts(yes, no);
        estimate.validate()?;
        Ok(estimate)
    }
}
