//! Bound on the difference between a decision value in fixed point and the exact one, from the roundings along a
//! stream.
//!
//! The filter and the tangent filter are products of matrices over dual numbers, `X_s = X_s-1 M_s`. Fixed
//! point makes an error at every sample, `X^_s = X^_s-1 M_s + E_s`. Let `p_s` be what the stream's probability
//! would be were all exact after sample `s`, a dual number: `p_s = X^_s b_s` with the exact backward row
//! `b_s = M_s+1 ... M_T 1`. Then
//!
//! ```text
//! p_s = p_s-1 + E_s b_s                    p_0 exact, p_T what fixed point says
//! log p^ - log p = sum_s log( p_s / p_s-1 )
//! ```
//!
//! and with `Y = p_s-1`, its derivative `h = d log Y`, `b_s = (b, b')`, and `X^_s = (x, x')`, each value of it
//! between ends `l` and `u` of which `l >= 0`: no value of a row is below zero, whatever was dropped,
//!
//! ```text
//! log( l b / Y ) <= log p_s - log p_s-1 <= log( u b / Y )
//! d log p_s - d log p_s-1 = ( x' b + x (b' - h b) ) / x b
//! ```
//!
//! of which the last is largest, and least, at ends: see [`hidden`]. No term is left out, and none grows with what
//! was there before: the error of a derivative is a sum over the samples. What a sample did to states that are soon
//! forgotten, `b' - h b` and `b` say are alike for all, and it weighs nothing. Where all of what comes later goes by
//! states that a row has to no digit, `l b` is zero, and there is no bound.
//!
//! `E_s` is what the tables' roundings do to the row, which is known, and at most so much by each rounding of
//! the arithmetic: see [`hidden`]. It takes the rows and exponents that there were, and allows for whatever digits
//! were dropped. Where states are known there is no row, and the sum is of the tables' roundings: see [`known`].
//! Codewords may fall otherwise, between near ones: see [`codewords`].
//!
//! Work: two passes over a window, one of which predicts twice, `N^2 (1 + 2 C)` multiply-adds per sample and model each.
//!
//! Running error analysis: J. H. Wilkinson, "Error analysis revisited", 1986; by the adjoint: F. L. Bauer,
//! "Computational graphs and rounding error", 1974.

mod codewords;
mod exact;
mod hidden;
mod known;
mod seen;
mod trace;

use super::{FixedModel, FixedPoint};
use crate::data::Sample;
use crate::deploy::deployed::Deployed;
use crate::deploy::model::{DeployedModel, States};

/// Bounds on the errors of a log-likelihood and of each derivative, `[output]`.
struct ModelBound {
    log: f64,
    rates: Vec<f64>,
}

/// A model, as it was and in fixed point.
#[derive(Clone, Copy)]
struct Pair<'a> {
    exact: &'a DeployedModel<f64>,
    fixed: &'a FixedModel,
}

impl FixedPoint {
    /// Bounds on the errors of the decision values of a window, `[output]`; `None` if there is no bound: a model
    /// is ruled out, or roundings may be all there is of a likelihood. `samples` are those that both take
    /// in; `log` and `values` what `exact` makes of them.
    pub(super) fn bounds(
        &self,
        exact: &Deployed<f64>,
        samples: &[Sample<'_>],
        log: &[f64],
        values: &[f64],
    ) -> Option<Vec<f64>> {
        let of_codewords = match self.engine.codebooks.as_ref().zip(exact.common.codebooks.as_ref())
        {
            Some((fixed, exact)) => codewords::bound(fixed, exact, samples, &self.engine.places)?,
            None => vec![0.0; values.len()],
        };
        let all = seen::seen(samples, &self.common.lags, &self.engine.places)?;
        let exact_models = &exact.engine.models;
        let exact = &exact.common;
        let models = exact_models.iter().zip(&self.engine.models).enumerate();
        let models: Vec<ModelBound> = models
            .map(|(index, (exact, fixed))| {
                let pair = Pair { exact, fixed };
                let own = seen::of_columns(&all, self.common.columns(index));
                let samples = own.as_slice();
                match self.engine.states {
                    States::Hidden => hidden::bound(&pair, samples),
                    States::Steps => known::steps(&pair, samples),
                    States::Order(order) => known::words(&pair, order, samples),
                }
            })
            .collect::<Option<_>>()?;
        let factor: f64 = exact.normalisation.factor(samples.len() as u64);
        // What `f32` makes of numbers that are read.
        let read = 2.0_f64.powi(-22);
        let output = |(output, value): (usize, &f64)| {
            let of_models: f64 = models
                .iter()
                .zip(log)
                .enumerate()
                .map(|(index, (model, log))| {
                    let weight = exact.weights[output][index].abs();
                    let likelihood = match weight > 0.0 {
                        true => weight * (model.log + read * (1.0 + log.abs())),
                        false => 0.0,
                    };
                    likelihood + model.rates.get(output).copied().unwrap_or(0.0)
                })
                .sum();
            // And sums in `f64`.
            factor * (of_models + of_codewords[output]) * (1.0 + 1e-6)
                + read * (value.abs() + exact.biases[output].abs())
        };
        let bounds: Vec<f64> = values.iter().enumerate().map(output).collect();
        bounds.iter().all(|bound| bound.is_finite()).then_some(bounds)
    }
}
