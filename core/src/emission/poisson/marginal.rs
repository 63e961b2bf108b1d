use super::{Count, logs, row};
use crate::emission::marginal::{along, channel, channels};
use crate::emission::{
    CountStatistics, Emission, MarginalStatistics, Marginalise, Poisson, PoissonView,
    Regularisation, Row,
};
use crate::error::ModelError;
use crate::number::{Real, RealParameter, array_of};

impl<W: RealParameter> PoissonView<'_, W> {
    /// The log-likelihood of the channels that are there.
    pub fn log_marginal(&self, x: impl Fn(usize) -> Option<u32>) -> W {
        let ([log], common) = logs(&[*self], x);
        W::new(log.value() + common, log.tangent())
    }

    /// The row of relative likelihoods of the channels that are there.
    pub fn marginal_row<const N: usize>(
        states: &[Self; N],
        x: impl Fn(usize) -> Option<u32>,
    ) -> Option<Row<W, N>> {
        row(states, x)
    }
}

impl<const D: usize, W: RealParameter> Marginalise for Poisson<D, W> {
    channels!(any u32, D);

    fn log_marginal(&self, x: &[Option<u32>; D]) -> W {
        match Self::complete(x) {
            Some(x) => self.log_likelihood(&x),
            None => self.view().log_marginal(|d| channel(x, d)),
        }
    }

    #[inline]
    fn marginal_row<const N: usize>(states: [&Self; N], x: &[Option<u32>; D]) -> Option<Row<W, N>> {
        let views = array_of::<_, N>(states.first()?.view(), |j| states[j].view());
        match Self::complete(x) {
            Some(x) => PoissonView::row(&views, x.as_slice()),
            None => PoissonView::marginal_row(&views, |d| channel(x, d)),
        }
    }
}

/// Expectation for a missing channel: `E[x - rate] = 0`.
impl<const D: usize, T: Real> MarginalStatistics for Poisson<D, T> {
    type Missing = [T; D];
    along!();

    fn observe_partial(
        &self,
        x: &[Option<u32>; D],
        weight: T,
        statistics: &mut CountStatistics<T, D>,
        missing: &mut [T; D],
    ) {
        statistics.occupancy = statistics.occupancy + weight;
        for d in 0..D {
            match x[d] {
                Some(x) => {
                    let excess = Count::of(x).difference(self.rate()[d]);
                    statistics.sum[d] = statistics.sum[d] + weight * excess;
                }
                None => missing[d] = missing[d] + weight,
            }
        }
    }

    fn adopt_partial(
        &self,
        previous: &Self,
        statistics: &mut CountStatistics<T, D>,
        missing: &[T; D],
    ) {
        for d in 0..D {
            let count = statistics.occupancy - missing[d];
            let moved = count * (previous.rate()[d] - self.rate()[d]);
            statistics.sum[d] = statistics.sum[d] + moved;
        }
    }

    fn maximise_partial(
        &self,
        statistics: &CountStatistics<T, D>,
        missing: &[T; D],
        _: &Regularisation<T>,
    ) -> Result<Self, ModelError> {
        let (view, mut rate) = (self.view(), *self.rate());
        for d in 0..D {
            let of = PoissonView { rate: &view.rate[d..], log_rate: &view.log_rate[d..] };
            let count = statistics.occupancy - missing[d];
            of.maximise(count, &statistics.sum[d..][..1], &mut rate[d..][..1]);
        }
        Self::new(rate)
    }
}
