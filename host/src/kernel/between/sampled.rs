//! The product kernel by sampling, of any models that draw and score.

use std::marker::PhantomData;

use super::check::{positive, same};
use super::multinomial::log_sum;
use super::{BetweenError, ModelKernel, PairError};
use crate::batch::log_likelihoods;
use crate::data::{Samples, SamplesView, Values};
use crate::dynamics::{LinearSystem, SystemError};
use crate::elementary::Elementary;
use crate::kernel::LogGram;
use crate::parallel::each;
use crate::runtime::{Hmm, Observed};

/// A model that can be drawn from, and whose density is known.
pub trait Sampled: Sync {
    /// Type of a draw.
    type Item: Send + Sync;

    /// The space of what it emits: observations of what kind, of how many symbols or channels, and how many
    /// of them a draw has. Models of different spaces are not compared.
    fn space(&self) -> Space;

    /// Returns `count` independent draws; the same seed draws the same.
    ///
    /// # Errors
    /// [`BetweenError::Model`] for an invalid model.
    fn draws(&self, count: usize, seed: u64) -> Result<Vec<Self::Item>, BetweenError>;

    /// `log p` of each; minus infinity of what cannot be.
    ///
    /// # Errors
    /// [`BetweenError`] of items of another space.
    fn log_densities(&self, items: &[Self::Item]) -> Result<Vec<f64>, BetweenError>;
}

/// Space of the draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// `symbols`, `channels`, ...
    pub kind: &'static str,
    /// Number of symbols or channels.
    pub size: usize,
    /// Observations of a draw.
    pub length: usize,
}

impl Space {
    fn check(self, other: Self) -> Result<(), BetweenError> {
        if self.kind != other.kind {
            let (part, one, two) = ("the models".into(), self.kind, other.kind);
            let why =
                format!("one is over {one}, the other over {two}; compare models over the same");
            return Err(BetweenError::Model { part, why });
        }
        same(self.kind, self.size, other.size)?;
        same("times", self.length, other.length)
    }
}

/// A model of series, and how long they are.
#[derive(Clone, Debug, PartialEq)]
pub struct OfLength<M> {
    /// The model.
    pub model: M,
    /// Samples of a series.
    pub length: usize,
}

/// The seeds of draws: those of one kernel's never meet.
fn seeds(count: usize, seed: u64) -> impl Iterator<Item = u64> {
    (0..count as u64).map(move |draw| seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(draw))
}

impl Sampled for OfLength<LinearSystem> {
    type Item = Samples;

    fn space(&self) -> Space {
        Space { kind: Values::Reals.channels(), size: self.model.channels(), length: self.length }
    }

    fn draws(&self, count: usize, seed: u64) -> Result<Vec<Samples>, BetweenError> {
        let draw = |seed| Ok(self.model.simulate(self.length, seed)?);
        seeds(count, seed).map(draw).collect()
    }

    fn log_densities(&self, items: &[Samples]) -> Result<Vec<f64>, BetweenError> {
        let of = |samples: &Samples| {
            let rows = samples.view().rows();
            let rows = rows.ok_or(SystemError::Channels(self.model.channels()))?;
            Ok(self.model.log_likelihood(rows)?)
        };
        items.iter().map(of).collect()
    }
}

impl Sampled for OfLength<Hmm> {
    type Item = Samples;

    fn space(&self) -> Space {
        let kind = match self.model.emission.family().observes() {
            Observed::Symbol => "symbols",
            Observed::Channels(values) => values.channels(),
        };
        Space { kind, size: self.model.size(), length: self.length }
    }

    fn draws(&self, count: usize, seed: u64) -> Result<Vec<Samples>, BetweenError> {
        self.model.validate().map_err(refused)?;
        Ok(seeds(count, seed).map(|seed| self.model.simulate(self.length, seed)).collect())
    }

    fn log_densities(&self, items: &[Samples]) -> Result<Vec<f64>, BetweenError> {
        let views: Vec<SamplesView<'_>> = items.iter().map(Samples::view).collect();
        let found = log_likelihoods::<f64>(&self.model, &views).map_err(refused)?;
        Ok(found.into_iter().map(|log| log.unwrap_or(f64::NEG_INFINITY)).collect())
    }
}

fn refused(error: crate::runtime::HmmError) -> BetweenError {
    BetweenError::Model { part: "the model".into(), why: error.to_string() }
}

/// An estimate of the product kernel `k(p, q) = integral p(x)^rho q(x)^rho dx` of the densities of what is
/// observed, from draws:
///
/// ```text
/// k = mean over draws x of  p(x)^rho q(x)^rho / r(x),      r the mixture of the models drawn from
/// ```
///
/// as many draws from each. It is without bias at any `rho`, hidden variables or not: not `k~`, of which a
/// power is inside the sum over them. At `rho` 1/2 a term is at most one, so that `S` draws from each
/// tell the kernel to `1 / (2 sqrt S)` at worst; with larger `rho` it depends on how densities differ.
///
/// [`log_value`](ModelKernel::log_value) draws from the two models, and a matrix of such values need not be
/// positive semi-definite. [`pooled`](Self::pooled) draws from all models of a matrix at once: then every
/// draw is one product of numbers of two models, and the matrix is.
///
/// Sources: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, section 5, whose estimates are
/// the two halves of a pair's at `rho` 1 weighed by which model they come from; Veach and Guibas,
/// "Optimally combining sampling techniques for Monte Carlo rendering", 1995. Work per pair: `4 S` densities;
/// of a pooled matrix of `M` models `M^2 S`, and as many numbers of RAM.
#[derive(Debug)]
pub struct SampledProduct<M> {
    rho: f64,
    draws: usize,
    seed: u64,
    of: PhantomData<fn() -> M>,
}

impl<M> SampledProduct<M> {
    /// The estimate from `draws` draws of each model.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] of a `rho` that is not positive, or of no draw.
    pub fn new(rho: f64, draws: usize, seed: u64) -> Result<Self, BetweenError> {
        if draws == 0 {
            let (name, range) = ("draws", "1 or more");
            return Err(BetweenError::Parameter { name, value: 0.0, range });
        }
        Ok(Self { rho: positive("rho", rho)?, draws, seed, of: PhantomData })
    }
}

impl<M: Sampled> SampledProduct<M> {
    /// The logarithms of `p_m(x)^rho / sqrt(draws r(x))` at the draws of all models, `[model][draw]`:
    /// features of which a kernel is the inner product.
    fn log_features(&self, models: &[&M]) -> Result<Vec<Vec<f64>>, BetweenError> {
        models.windows(2).try_for_each(|pair| pair[0].space().check(pair[1].space()))?;
        let drawn = each(models.len(), &|m| models[m].draws(self.draws, self.seed));
        let mut items = Vec::new();
        for own in drawn {
            items.extend(own?);
        }
        let found = each(models.len(), &|m| models[m].log_densities(&items));
        let mut logs = found.into_iter().collect::<Result<Vec<_>, _>>()?;
        let (shares, total) =
            ((models.len() as f64).portable_ln(), (items.len() as f64).portable_ln());
        let mut densities = vec![0.0; models.len()];
        for draw in 0..items.len() {
            densities.iter_mut().zip(&logs).for_each(|(density, logs)| *density = logs[draw]);
            let mixture = log_sum(&densities) - shares;
            // What no model can have drawn adds nothing: its features are zero.
            if mixture == f64::NEG_INFINITY {
                continue;
            }
            let half = 0.5 * (mixture + total);
            logs.iter_mut().for_each(|logs| logs[draw] = self.rho * logs[draw] - half);
        }
        Ok(logs)
    }

    /// `log k` of all pairs, by the draws of all: a positive semi-definite matrix.
    ///
    /// # Errors
    /// [`PairError`] for a model that is invalid or over another space; it does not say which.
    pub fn pooled(&self, models: &[M]) -> Result<LogGram, PairError> {
        let features = self
            .log_features(&models.iter().collect::<Vec<&M>>())
            .map_err(|why| PairError { row: 0, column: 0, why })?;
        LogGram::try_from_fn(models.len(), |i, j| Ok(log_inner(&features[i], &features[j])))
    }
}

/// `log sum exp(a + b)`.
fn log_inner(a: &[f64], b: &[f64]) -> f64 {
    log_sum(&a.iter().zip(b).map(|(a, b)| a + b).collect::<Vec<f64>>())
}

impl<M: Sampled> ModelKernel for SampledProduct<M> {
    type Model = M;

    fn log_value(&self, a: &M, b: &M) -> Result<f64, BetweenError> {
        let features = self.log_features(&[a, b])?;
        Ok(log_inner(&features[0], &features[1]))
    }

    fn is_positive_semidefinite(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Emissions;

    fn over(emission: Emissions, length: usize) -> OfLength<Hmm> {
        let model = Hmm { initial: vec![1.0], transition: vec![vec![1.0]], emission };
        OfLength { model, length }
    }

    fn symbols(count: usize, length: usize) -> OfLength<Hmm> {
        over(Emissions::categorical(vec![vec![1.0 / count as f64; count]]), length)
    }

    #[test]
    fn models_of_other_spaces_are_refused() {
        let kernel = SampledProduct::new(0.5, 3, 1).expect("a measure");
        let channels = over(Emissions::gaussian(vec![vec![0.0; 2]], vec![vec![1.0; 2]]), 3);
        for (other, words) in [
            (symbols(2, 4), "3 times, the other 4"),
            (symbols(4, 3), "2 symbols, the other 4"),
            (channels, "one is over symbols, the other over real channels"),
        ] {
            let error = kernel.log_value(&symbols(2, 3), &other).expect_err("another space");
            assert!(error.to_string().contains(words), "`{error}` does not say `{words}`");
            assert!(kernel.pooled(&[symbols(2, 3), symbols(2, 3), other]).is_err());
        }
        let own = kernel.log_value(&symbols(2, 3), &symbols(2, 3)).expect("a kernel");
        assert!(own.abs() < 1e-12, "{own}");
    }

    /// Half of its draws are of density zero.
    struct Loose;

    impl Sampled for Loose {
        type Item = usize;

        fn space(&self) -> Space {
            Space { kind: "symbols", size: 2, length: 1 }
        }

        fn draws(&self, count: usize, _: u64) -> Result<Vec<usize>, BetweenError> {
            Ok((0..count).map(|draw| draw % 2).collect())
        }

        fn log_densities(&self, items: &[usize]) -> Result<Vec<f64>, BetweenError> {
            Ok(items.iter().map(|&item| (item as f64).ln()).collect())
        }
    }

    #[test]
    fn draws_that_every_model_refuses_add_nothing() {
        let kernel = SampledProduct::new(0.5, 4, 1).expect("a measure");
        let found = kernel.log_value(&Loose, &Loose).expect("a kernel");
        assert!((found - 0.5_f64.ln()).abs() < 1e-12, "{found}");
        let none = SampledProduct::new(0.5, 1, 1).expect("a measure");
        let found = none.log_value(&Loose, &Loose).expect("a kernel");
        assert_eq!(found, f64::NEG_INFINITY);
    }
}
