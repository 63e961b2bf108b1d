//! The families that the tests are compiled for: each turns plain laws into distributions and back.

use fishweir_core::ModelError;
use fishweir_core::emission::{
    Bernoulli, Categorical, CountStatistics, Emission, FullGaussian, FullGaussianScore,
    FullGaussianStatistics, Gaussian, GaussianScore, GaussianStatistics, Mixture, MixtureScore,
    Poisson, SufficientStatistics, VectorSpace,
};
use fishweir_core::emission::{MixtureStatistics, Spread as Coordinates};
use fishweir_core::number::Real;

use super::{Family, PlainStatistics, doubles, filled};
use crate::oracle::{Law, LawDirection, Observation, Spread};

fn channels<T: Real, const D: usize>(x: &Observation) -> Result<[T; D], String> {
    match x {
        Observation::Channels(x) => filled(x, 0.0),
        Observation::Symbol(_) => Err("a symbol where channels belong".into()),
    }
}

/// The variance at which a Gaussian's density at its mean is 1.
const NEUTRAL_VARIANCE: f64 = 1.0 / std::f64::consts::TAU;

impl<T: Real, const K: usize> Family<T> for Categorical<K, T> {
    type Sample = usize;

    fn build(law: &Law) -> Result<Self, String> {
        match law {
            Law::Categorical(p) => Ok(Self::from_parts(filled(p, 0.0)?)),
            _ => Err("not a categorical law".into()),
        }
    }

    fn sample(x: &Observation) -> Result<usize, String> {
        match x {
            Observation::Symbol(symbol) => Ok(*symbol),
            Observation::Channels(_) => Err("channels where a symbol belongs".into()),
        }
    }

    fn direction(direction: &LawDirection) -> Result<[T; K], String> {
        match direction {
            LawDirection::Categorical(rate) => filled(rate, 0.0),
            _ => Err("not a categorical direction".into()),
        }
    }

    fn plain_score(score: &[T; K], like: &Law, _: Coordinates) -> LawDirection {
        LawDirection::Categorical(doubles(score, size(like)))
    }

    fn plain(&self, like: &Law) -> Law {
        Law::Categorical(doubles(self.probability(), size(like)))
    }

    fn plain_statistics(&self, counts: &[T; K], like: &Law) -> PlainStatistics {
        PlainStatistics::Counts(doubles(counts, size(like)))
    }
}

/// Symbols, channels or components.
fn size(law: &Law) -> usize {
    match law {
        Law::Categorical(p) => p.len(),
        Law::Gaussian { mean, .. } | Law::FullGaussian { mean, .. } => mean.len(),
        Law::Mixture { weight, .. } => weight.len(),
        Law::Poisson(rate) => rate.len(),
        Law::Bernoulli(p) => p.len(),
    }
}

impl<T: Real, const D: usize> Family<T> for Gaussian<D, T> {
    type Sample = [T; D];

    fn build(law: &Law) -> Result<Self, String> {
        match law {
            Law::Gaussian { mean, variance } => {
                Self::new(filled(mean, 0.0)?, filled(variance, NEUTRAL_VARIANCE)?)
                    .map_err(|error| error.to_string())
            }
            _ => Err("not a Gaussian law with diagonal covariance".into()),
        }
    }

    fn sample(x: &Observation) -> Result<[T; D], String> {
        channels(x)
    }

    fn direction(direction: &LawDirection) -> Result<GaussianScore<T, D>, String> {
        match direction {
            LawDirection::Gaussian { mean, spread } => {
                let (Spread::Variance(spread) | Spread::LogStd(spread)) = spread;
                Ok(GaussianScore { mean: filled(mean, 0.0)?, spread: filled(spread, 0.0)? })
            }
            _ => Err("not a direction of a Gaussian with diagonal covariance".into()),
        }
    }

    fn plain_score(score: &GaussianScore<T, D>, like: &Law, spread: Coordinates) -> LawDirection {
        let wrap = match spread {
            Coordinates::Variance => Spread::Variance,
            Coordinates::LogStandardDeviation => Spread::LogStd,
        };
        LawDirection::Gaussian {
            mean: doubles(&score.mean, size(like)),
            spread: wrap(doubles(&score.spread, size(like))),
        }
    }

    fn plain(&self, like: &Law) -> Law {
        Law::Gaussian {
            mean: doubles(self.mean(), size(like)),
            variance: doubles(&self.variance(), size(like)),
        }
    }

    fn plain_statistics(
        &self,
        statistics: &GaussianStatistics<T, D>,
        like: &Law,
    ) -> PlainStatistics {
        let occupancy = statistics.occupancy.to_f64();
        let sum = doubles(&self.sum_x(statistics), size(like));
        // E[x^2] = sigma^2 E[z^2] + 2 mean E[x] - mean^2
        let square = |d: usize| {
            let (mean, rate) = (self.mean()[d].to_f64(), self.rate()[d].to_f64());
            let standardised = statistics.square[d].to_f64() / (rate * rate);
            standardised + 2.0 * mean * sum[d] - mean * mean * occupancy
        };
        let channels = sum.len();
        let row = |a: usize| (0..channels).map(|b| (a == b).then(|| square(a))).collect();
        PlainStatistics::Moments { occupancy, square: (0..channels).map(row).collect(), sum }
    }
}

impl<T: Real, const D: usize> Family<T> for FullGaussian<D, T> {
    type Sample = [T; D];

    fn build(law: &Law) -> Result<Self, String> {
        match law {
            Law::FullGaussian { mean, covariance } => {
                Self::new(filled(mean, 0.0)?, square(covariance, NEUTRAL_VARIANCE)?)
                    .map_err(|error| error.to_string())
            }
            _ => Err("not a Gaussian law with full covariance".into()),
        }
    }

    fn sample(x: &Observation) -> Result<[T; D], String> {
        channels(x)
    }

    fn direction(direction: &LawDirection) -> Result<FullGaussianScore<T, D>, String> {
        match direction {
            LawDirection::FullGaussian { mean, covariance } => {
                Ok(FullGaussianScore { mean: filled(mean, 0.0)?, spread: square(covariance, 0.0)? })
            }
            _ => Err("not a direction of a Gaussian with full covariance".into()),
        }
    }

    fn plain_score(score: &FullGaussianScore<T, D>, like: &Law, _: Coordinates) -> LawDirection {
        LawDirection::FullGaussian {
            mean: doubles(&score.mean, size(like)),
            covariance: block(&score.spread, size(like)),
        }
    }

    fn plain(&self, like: &Law) -> Law {
        Law::FullGaussian {
            mean: doubles(self.mean(), size(like)),
            covariance: block(&self.covariance(), size(like)),
        }
    }

    fn plain_statistics(
        &self,
        statistics: &FullGaussianStatistics<T, D>,
        like: &Law,
    ) -> PlainStatistics {
        let square = block(&self.sum_xx(statistics), size(like));
        PlainStatistics::Moments {
            occupancy: statistics.occupancy.to_f64(),
            sum: doubles(&self.sum_x(statistics), size(like)),
            square: square.into_iter().map(|row| row.into_iter().map(Some).collect()).collect(),
        }
    }
}

/// A square matrix, padded with `rest` on its diagonal.
fn square<T: Real, const D: usize>(matrix: &[Vec<f64>], rest: f64) -> Result<[[T; D]; D], String> {
    let mut padded = [[T::ZERO; D]; D];
    for (d, padded) in padded.iter_mut().enumerate() {
        match matrix.get(d) {
            Some(row) => *padded = filled(row, 0.0)?,
            None => padded[d] = T::from_f64(rest),
        }
    }
    if matrix.len() > D {
        return Err(format!("{} channels do not fit {D}", matrix.len()));
    }
    Ok(padded)
}

fn block<T: Real, const D: usize>(matrix: &[[T; D]; D], like: usize) -> Vec<Vec<f64>> {
    matrix.iter().take(like).map(|row| doubles(row, like)).collect()
}

/// Counts of a Poisson or Bernoulli law, `[channel]`: what an observation is of, the law's parameters, and
/// how it is made of them.
macro_rules! counting_family {
    ($family:ident, $unit:ty, $from:expr, $parameters:ident, $new:expr) => {
        impl<T: Real, const D: usize> Family<T> for $family<D, T> {
            type Sample = [$unit; D];

            fn build(law: &Law) -> Result<Self, String> {
                let Law::$family(parameters) = law else {
                    return Err(concat!("not a ", stringify!($family), " law").into());
                };
                let new: fn([T; D]) -> Result<Self, ModelError> = $new;
                new(filled(parameters, 0.0)?).map_err(|error| error.to_string())
            }

            fn sample(x: &Observation) -> Result<[$unit; D], String> {
                let x: [f64; D] = channels(x)?;
                Ok(x.map($from))
            }

            fn direction(direction: &LawDirection) -> Result<[T; D], String> {
                match direction {
                    LawDirection::Counting(rates) => filled(rates, 0.0),
                    _ => Err("not a direction of counts".into()),
                }
            }

            fn plain_score(score: &[T; D], like: &Law, _: Coordinates) -> LawDirection {
                LawDirection::Counting(doubles(score, size(like)))
            }

            fn plain(&self, like: &Law) -> Law {
                Law::$family(doubles(self.$parameters(), size(like)))
            }

            fn plain_statistics(&self, _: &CountStatistics<T, D>, _: &Law) -> PlainStatistics {
                PlainStatistics::Other
            }
        }
    };
}
counting_family!(Poisson, u32, |x| x as u32, rate, Self::new);
counting_family!(Bernoulli, bool, |x| x > 0.5, probability, |yes| {
    let law = Self::from_parts(yes, yes.map(|p| T::ONE - p));
    law.validate().map(|()| law)
});

impl<T: Real, E: Family<T>, const M: usize> Family<T> for Mixture<E, M> {
    type Sample = E::Sample;

    fn build(law: &Law) -> Result<Self, String> {
        let Law::Mixture { weight, component } = law else {
            return Err("not a mixture".into());
        };
        let laws = component.iter().map(E::build).collect::<Result<Vec<E>, _>>()?;
        let first = laws.first().ok_or("an empty mixture")?;
        let component = std::array::from_fn(|m| *laws.get(m).unwrap_or(first));
        Self::new(filled(weight, 0.0)?, component).map_err(|error| error.to_string())
    }

    fn sample(x: &Observation) -> Result<E::Sample, String> {
        E::sample(x)
    }

    fn direction(direction: &LawDirection) -> Result<Self::Score, String> {
        let LawDirection::Mixture { weight, component } = direction else {
            return Err("not a direction of a mixture".into());
        };
        let mut moved =
            MixtureScore { weight: filled(weight, 0.0)?, component: [E::Score::ZERO; M] };
        for (moved, direction) in moved.component.iter_mut().zip(component) {
            *moved = E::direction(direction)?;
        }
        Ok(moved)
    }

    fn plain_score(score: &Self::Score, like: &Law, spread: Coordinates) -> LawDirection {
        let likes = components(like);
        let parts = score.component.iter().zip(likes);
        LawDirection::Mixture {
            weight: doubles(&score.weight, likes.len()),
            component: parts.map(|(score, like)| E::plain_score(score, like, spread)).collect(),
        }
    }

    fn plain(&self, like: &Law) -> Law {
        let likes = components(like);
        let parts = self.component().iter().zip(likes);
        Law::Mixture {
            weight: doubles(self.weight(), likes.len()),
            component: parts.map(|(component, like)| component.plain(like)).collect(),
        }
    }

    fn plain_statistics(
        &self,
        _: &MixtureStatistics<<E as SufficientStatistics>::Statistics, T, M>,
        _: &Law,
    ) -> PlainStatistics {
        PlainStatistics::Other
    }
}

fn components(law: &Law) -> &[Law] {
    match law {
        Law::Mixture { component, .. } => component,
        _ => &[],
    }
}
