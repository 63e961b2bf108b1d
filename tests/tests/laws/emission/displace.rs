//! Distributions moved along a direction by definition: what derivatives are differences of.

use fishweir_core::emission::{
    Autoregressive, AutoregressiveScore, Bernoulli, Categorical, FullGaussian, FullGaussianScore,
    Gaussian, GaussianScore, Marginal, MarginalStatistics, Mixture, MixtureScore, Parametrisation,
    Poisson, Probabilities, Spread, SufficientStatistics,
};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::score::ScoreOf;

use super::models::Bits;

/// A family that the tests can move.
pub(crate) trait Displace: SufficientStatistics<Real = f64> {
    /// The distribution at `parameters + step direction`, in the parametrisation's coordinates.
    fn displaced(&self, direction: &Self::Score, step: f64, coordinates: Parametrisation) -> Self;

    /// An observation as a sensor with dropouts gives it: whole, where the family takes no other.
    fn in_part(x: Self::Observation, _: &mut Bits) -> Self::Observation
    where
        Self::Observation: Sized,
    {
        x
    }
}

/// Channels of which about a third get lost, never all.
pub(crate) trait Lose: Sized {
    /// None of them.
    const NOTHING: Self;

    fn lose(self, bits: &mut Bits) -> Self;
}

impl<X: Copy, const D: usize> Lose for [Option<X>; D] {
    const NOTHING: Self = [None; D];

    fn lose(self, bits: &mut Bits) -> Self {
        let kept = bits.uniform(0.0, D as f64) as usize;
        let mut left = self;
        for (d, x) in left.iter_mut().enumerate() {
            if d != kept && bits.uniform(0.0, 1.0) < 0.4 {
                *x = None;
            }
        }
        left
    }
}

impl<E: Displace + MarginalStatistics<Partial: Lose>> Displace for Marginal<E> {
    fn displaced(&self, w: &E::Score, step: f64, coordinates: Parametrisation) -> Self {
        Self::new(self.distribution().displaced(w, step, coordinates))
    }

    fn in_part(x: E::Partial, bits: &mut Bits) -> E::Partial {
        x.lose(bits)
    }
}

/// A row of probabilities, moved.
pub(crate) fn moved_row<const K: usize>(
    p: &[f64; K],
    w: &[f64; K],
    step: f64,
    coordinates: Probabilities,
) -> [f64; K] {
    let free: [f64; K] = std::array::from_fn(|k| match coordinates {
        Probabilities::Ratio => p[k] + step * w[k],
        Probabilities::Softmax => p[k] * (step * w[k]).exp(),
    });
    let total: f64 = free.iter().sum();
    free.map(|a| a / total)
}

impl<const K: usize> Displace for Categorical<K, f64> {
    fn displaced(&self, w: &[f64; K], step: f64, coordinates: Parametrisation) -> Self {
        Self::from_parts(moved_row(self.probability(), w, step, coordinates.probabilities))
    }
}

impl<const D: usize> Displace for Gaussian<D, f64> {
    fn displaced(&self, w: &GaussianScore<f64, D>, step: f64, at: Parametrisation) -> Self {
        let mean = std::array::from_fn(|d| self.mean()[d] + step * w.mean[d]);
        let old = self.variance();
        let variance = std::array::from_fn(|d| match at.spread {
            Spread::Variance => old[d] + step * w.spread[d],
            Spread::LogStandardDeviation => old[d] * (2.0 * step * w.spread[d]).exp(),
        });
        Self::new(mean, variance).expect("a small step leaves a variance positive")
    }
}

impl<const E: usize, const D: usize, const L: usize> Displace for Autoregressive<E, D, L, f64> {
    fn displaced(
        &self,
        w: &AutoregressiveScore<f64, D, L>,
        step: f64,
        at: Parametrisation,
    ) -> Self {
        let innovation = self.innovation().displaced(&w.innovation, step, at);
        let coefficient = std::array::from_fn(|l| {
            std::array::from_fn(|d| self.coefficient()[l][d] + step * w.coefficient[l][d])
        });
        Self::new(innovation, *self.centre(), coefficient).expect("numbers")
    }
}

type Square<const D: usize> = [[f64; D]; D];

fn product<const D: usize>(a: &Square<D>, b: &Square<D>) -> Square<D> {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..D).map(|k| a[i][k] * b[k][j]).sum()))
}

fn transposed<const D: usize>(a: &Square<D>) -> Square<D> {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

/// `exp(a)` by its series; `a` is small.
fn exponential<const D: usize>(a: &Square<D>) -> Square<D> {
    let mut term: Square<D> =
        std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 1.0 } else { 0.0 }));
    let mut sum = term;
    for n in 1..12 {
        term = product(&term, a).map(|row| row.map(|entry| entry / f64::from(n)));
        for (sum, term) in sum.iter_mut().flatten().zip(term.iter().flatten()) {
            *sum += term;
        }
    }
    sum
}

/// The lower Cholesky factor, by the textbook.
fn lower_factor<const D: usize>(a: &Square<D>) -> Square<D> {
    let mut s = [[0.0; D]; D];
    for i in 0..D {
        for j in 0..=i {
            let rest = a[i][j] - (0..j).map(|k| s[i][k] * s[j][k]).sum::<f64>();
            s[i][j] = if i == j { rest.sqrt() } else { rest / s[j][j] };
        }
    }
    s
}

impl<const D: usize> Displace for FullGaussian<D, f64> {
    fn displaced(&self, w: &FullGaussianScore<f64, D>, step: f64, at: Parametrisation) -> Self {
        let mean = std::array::from_fn(|d| self.mean()[d] + step * w.mean[d]);
        let old = self.covariance();
        let symmetric: Square<D> = std::array::from_fn(|i| {
            std::array::from_fn(|j| step * (w.spread[i][j] + w.spread[j][i]) / 2.0)
        });
        let moved = match at.spread {
            Spread::Variance => {
                std::array::from_fn(|i| std::array::from_fn(|j| old[i][j] + symmetric[i][j]))
            }
            Spread::LogStandardDeviation => {
                let s = lower_factor(&old);
                let stretched = exponential(&symmetric.map(|row| row.map(|entry| 2.0 * entry)));
                let moved = product(&product(&s, &stretched), &transposed(&s));
                // Symmetric but for rounding.
                std::array::from_fn(|i| std::array::from_fn(|j| (moved[i][j] + moved[j][i]) / 2.0))
            }
        };
        Self::new(mean, moved).expect("a small step leaves a covariance positive definite")
    }
}

impl<const D: usize> Displace for Poisson<D, f64> {
    fn displaced(&self, w: &[f64; D], step: f64, _: Parametrisation) -> Self {
        Self::new(std::array::from_fn(|d| self.rate()[d] * (step * w[d]).exp()))
            .expect("a rate times an exponential")
    }
}

impl<const D: usize> Displace for Bernoulli<D, f64> {
    fn displaced(&self, w: &[f64; D], step: f64, _: Parametrisation) -> Self {
        let moved = std::array::from_fn(|d| {
            let p = self.probability()[d];
            let odds = p * (step * w[d]).exp();
            odds / (odds + (1.0 - p))
        });
        Self::new(moved).expect("odds of a probability")
    }
}

impl<E: Displace, const M: usize> Displace for Mixture<E, M> {
    fn displaced(
        &self,
        w: &MixtureScore<E::Score, f64, M>,
        step: f64,
        coordinates: Parametrisation,
    ) -> Self {
        let weight = moved_row(self.weight(), &w.weight, step, coordinates.probabilities);
        let component = std::array::from_fn(|m| {
            self.component()[m].displaced(&w.component[m], step, coordinates)
        });
        Self::from_parts(weight, component)
    }

    fn in_part(x: E::Observation, bits: &mut Bits) -> E::Observation
    where
        E::Observation: Sized,
    {
        E::in_part(x, bits)
    }
}

/// A model, moved.
pub(crate) fn moved<E: Displace, const N: usize>(
    hmm: &Hmm<E, N>,
    w: &ScoreOf<E, N>,
    step: f64,
    coordinates: Parametrisation,
) -> Hmm<E, N> {
    let rows = coordinates.probabilities;
    let chain = Chain::from_parts(
        moved_row(hmm.chain().initial(), &w.initial, step, rows),
        std::array::from_fn(|i| {
            moved_row(&hmm.chain().transition()[i], &w.transition[i], step, rows)
        }),
    );
    let emission =
        std::array::from_fn(|i| hmm.emission()[i].displaced(&w.emission[i], step, coordinates));
    Hmm::new(chain, emission)
}
