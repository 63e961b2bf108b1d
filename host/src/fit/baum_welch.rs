//! Baum-Welch in `f64`, with restarts.

use super::initialise::initial_model;
use super::options::{BaumWelch, Fit, FitError, Restart};
use super::passes::{Bounds, Expect, FitData, improve};
use super::topology::Topology;
use crate::batch::expectations_to_sum;
use crate::data::SamplesView;
use crate::runtime::Hmm;

impl BaumWelch {
    /// Fits a model to sequences of one kind: `restarts` initialisations, each improved until it
    /// converges, the likeliest kept.
    ///
    /// `scale` is the standard deviation of each channel over all training data (empty for
    /// symbols): k-means measures distances in it.
    /// `size` is the number of channels or symbols. `progress` is called after every pass.
    ///
    /// # Errors
    /// [`FitError`] if an option is out of range or there is nothing to fit.
    pub fn fit(
        &self,
        sequences: &[SamplesView<'_>],
        size: usize,
        scale: &[f64],
        progress: &(dyn Fn() + Sync),
    ) -> Result<Fit, FitError> {
        self.validate()?;
        if sequences.iter().all(|samples| samples.observed() == 0) {
            return Err(if self.rows > 1 { FitError::ShortPast } else { FitError::NoData });
        }
        if self.topology == Topology::Automatic {
            let settled = self.settled(&[sequences], size, scale)?;
            return settled.fit(sequences, size, scale, progress);
        }
        self.likeliest(expectations_to_sum, sequences, size, scale, progress)
    }

    /// Goes on where a fit of fewer iterations, and of one restart, has stopped: the bits are those of a fit that was
    /// never interrupted, and its passes are not made again.
    ///
    /// # Errors
    /// [`FitError`] as of [`fit`](Self::fit).
    pub(crate) fn go_on(
        &self,
        begun: &Fit,
        sequences: &[SamplesView<'_>],
        scale: &[f64],
        progress: &(dyn Fn() + Sync),
    ) -> Result<Fit, FitError> {
        if begun.converged {
            return Ok(begun.clone());
        }
        let family = begun.model.emission.family();
        let bounds = Bounds::of(self, family, sequences, scale);
        let data = FitData::new(expectations_to_sum, sequences, family, &bounds);
        let mut passed = begun.log_likelihood.clone();
        // The first pass gives that of the last model.
        passed.pop();
        let fit = improve(self, &data, (begun.model.clone(), passed), progress)?;
        let restarts = vec![Restart { seed: begun.seed, log_likelihood: fit.last() }];
        Ok(Fit { seed: begun.seed, restarts, ..fit })
    }

    /// The likeliest of all restarts, by the expectations of a model of this shape.
    pub(crate) fn likeliest(
        &self,
        expect: Expect,
        sequences: &[SamplesView<'_>],
        size: usize,
        scale: &[f64],
        progress: &(dyn Fn() + Sync),
    ) -> Result<Fit, FitError> {
        let mut best: Option<Fit> = None;
        let mut restarts = Vec::new();
        let family = self.family(sequences)?;
        let bounds = Bounds::of(self, family, sequences, scale);
        // Where the states are known there is but one fit.
        let known = self.topology == Topology::Positions && !family.has_components();
        let many = if known { 1 } else { self.restarts };
        let data = FitData::new(expect, sequences, family, &bounds);
        for restart in 0..many {
            let seed = self.seed.wrapping_add(restart as u64);
            let start = initial_model(self, &data, size, scale, (seed, restart))?;
            let mut fit = improve(self, &data, (start, Vec::new()), progress)?;
            fit.seed = seed;
            restarts.push(Restart { seed, log_likelihood: fit.last() });
            let likelier = best.as_ref().is_none_or(|best| fit.last() > best.last());
            if likelier {
                best = Some(fit);
            }
        }
        best.map(|best| Fit { restarts, ..best }).ok_or(FitError::NoData)
    }
}

/// Improves a model by Baum-Welch until it converges.
///
/// # Errors
/// [`FitError`] if the model is invalid, or makes a sequence impossible.
pub fn fit(
    options: &BaumWelch,
    start: Hmm,
    sequences: &[SamplesView<'_>],
    scale: &[f64],
    progress: &(dyn Fn() + Sync),
) -> Result<Fit, FitError> {
    let family = start.emission.family();
    let bounds = Bounds::of(options, family, sequences, scale);
    let data = FitData::new(expectations_to_sum, sequences, family, &bounds);
    improve(options, &data, (start, Vec::new()), progress)
}
