//! Passes of Baum-Welch over sequences.

use std::ops::Range;

use fishweir_core::smooth::SequenceError;
use serde::{Deserialize, Serialize};

use super::options::{BaumWelch, Fit, FitError};
use super::topology::Topology;
use crate::batch::{Batch, Expectations, expectations_to_sum};
use crate::data::internals::centre_and_spread;
use crate::data::{Samples, SamplesView};
use crate::runtime::numbers::{log_dirichlet, normalise_into};
use crate::runtime::{Family, Hmm, Regularisation};
use crate::sums::{LEAF, Summand, Sums, sum_leaves};

/// Passes before which nothing is called converged: the first ones may rest on a plateau.
const LEAST_PASSES: usize = 5;

/// The least spread that a class has a floor of its own by, as a fraction of all classes'.
const QUIETEST: f64 = 1e-3;

/// The expected statistics of sequences under a model, to be summed, an impossible one an error in its place.
pub(crate) type Expect = fn(&Hmm, &Batch<'_>) -> Vec<Result<Expectations, SequenceError>>;

/// Data that models are fitted to.
pub(super) struct FitData<'a> {
    pub(super) expect: Expect,
    pub(super) sequences: &'a [SamplesView<'a>],
    leaves: Vec<Batch<'a>>,
    pub(super) family: &'static dyn Family,
    pub(super) bounds: &'a Bounds,
}

/// Moments of the sequences that a model is fitted to, on which the bounds of estimates rest; `[channel]`, empty for symbols.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FittedMoments {
    /// Standard deviations that floors are fractions of, in the channels' units.
    spread: Vec<f64>,
    /// Means of the channels.
    centre: Vec<f64>,
    /// Observed samples.
    samples: usize,
}

impl FittedMoments {
    /// Moments of some sequences.
    ///
    /// No standard deviation of a model falls below a fraction of the channel's own over these sequences, so that a quiet class
    /// in loud data is not made loud. The fraction is of no less than a thousandth of `scale`, the channel's over all training
    /// data; it is of `scale` itself if the channel never moves in these sequences.
    pub fn of(
        options: &BaumWelch,
        family: &dyn Family,
        sequences: &[SamplesView<'_>],
        scale: &[f64],
    ) -> Self {
        let rows =
            || sequences.iter().filter_map(SamplesView::rows).flat_map(|rows| rows.iter_in_part());
        let (centre, own) = centre_and_spread(scale.len(), || rows().flatten());
        let all: Vec<&[f64]> = rows().flatten().collect();
        let floor = vec![0.0; scale.len()];
        let unbound = Self { spread: Vec::new(), centre, samples: all.len() };
        let own = family.spread(&all, own, &unbound.held(options, &floor));
        let each = own.iter().zip(scale);
        let spread =
            each.map(|(&own, &scale)| if own > 0.0 { own.max(QUIETEST * scale) } else { scale });
        let samples = sequences.iter().map(SamplesView::observed).sum();
        Self { spread: spread.collect(), samples, ..unbound }
    }

    /// Moments of the sequences that expected statistics are of, for who has no more than these; `None` of a family over channels
    /// whose statistics do not keep them.
    ///
    /// A channel that never moves has the largest standard deviation of the model's states.
    pub(crate) fn of_expected(model: &Hmm, expected: &Expectations) -> Option<Self> {
        let (emission, statistics) = (&model.emission, &expected.emission);
        let family = emission.family();
        let samples = family.occupancy(statistics).iter().sum::<f64>().round() as usize;
        if emission.is_over_symbols() {
            return Some(Self { samples, ..Self::default() });
        }
        let found = family.moments(emission.parts(), statistics)?;
        let stds = emission.part("std").unwrap_or_default();
        let largest = |d: usize| stds.iter().map(|state| state[d]).fold(0.0, f64::max);
        let spread = |(d, &[_, std]): (usize, &[f64; 2])| if std > 0.0 { std } else { largest(d) };
        let centre = found.iter().map(|&[mean, _]| mean).collect();
        Some(Self { spread: found.iter().enumerate().map(spread).collect(), centre, samples })
    }

    fn held<'h>(&'h self, options: &BaumWelch, floor: &'h [f64]) -> Regularisation<'h> {
        Regularisation {
            pseudocount: options.symbol_pseudocount,
            floor,
            centre: &self.centre,
            samples: self.samples as f64,
            components: options.components,
            rows: options.rows,
        }
    }

    /// Returns whether there is a valid number for each of `channels` channels.
    pub(crate) fn fits(&self, channels: usize) -> bool {
        let valid = |spread: &f64| spread.is_finite() && *spread >= 0.0;
        [self.spread.len(), self.centre.len()] == [channels; 2]
            && self.spread.iter().all(valid)
            && self.centre.iter().all(|x| x.is_finite())
    }
}

/// Bounds on estimates.
#[derive(Clone)]
pub(super) struct Bounds {
    moments: FittedMoments,
    /// Floor of standard deviations, `[channel]`.
    floor: Vec<f64>,
}

impl Bounds {
    /// Bounds from the [moments](FittedMoments::of) of sequences.
    pub(super) fn of(
        options: &BaumWelch,
        family: &dyn Family,
        sequences: &[SamplesView<'_>],
        scale: &[f64],
    ) -> Self {
        Self::from_moments(options, FittedMoments::of(options, family, sequences, scale))
    }

    fn from_moments(options: &BaumWelch, moments: FittedMoments) -> Self {
        let floor = moments.spread.iter().map(|spread| options.std_floor * spread).collect();
        Self { moments, floor }
    }

    fn held(&self, options: &BaumWelch) -> Regularisation<'_> {
        self.moments.held(options, &self.floor)
    }
}

impl BaumWelch {
    /// The model that expected statistics make likeliest, with pseudocounts and the floor: the maximisation step of
    /// Baum-Welch. A state that no sequence visits keeps its parameters, and zeros of the chain stay zeros.
    ///
    /// # Errors
    /// [`FitError`] if an option is out of range, or the estimate is no model.
    pub fn maximised(
        &self,
        model: &Hmm,
        expected: &Expectations,
        moments: FittedMoments,
    ) -> Result<Hmm, FitError> {
        self.validate()?;
        let channels = if model.emission.is_over_symbols() { 0 } else { model.size() };
        if !moments.fits(channels) {
            let (option, wanted) = ("moments", "finite, and of the model's channels");
            let value = format!("of {} channels", moments.spread.len());
            return Err(FitError::Option { option, value, wanted });
        }
        let bounds = Bounds::from_moments(self, moments);
        let mut next = model.clone();
        maximise(&mut next, expected, self, &bounds.held(self));
        next.validate()?;
        Ok(next)
    }
}

impl<'a> FitData<'a> {
    pub(super) fn new(
        expect: Expect,
        sequences: &'a [SamplesView<'a>],
        family: &'static dyn Family,
        bounds: &'a Bounds,
    ) -> Self {
        Self { expect, sequences, leaves: leaves(sequences), family, bounds }
    }

    /// Constraints on estimates of emissions.
    pub(super) fn held(&self, options: &BaumWelch) -> Regularisation<'a> {
        self.bounds.held(options)
    }
}

/// [`fit`](super::fit), by the expectations of a model of this shape.
///
/// `passed` are the log-likelihoods of the models before `start`, of passes that did not converge.
pub(super) fn improve(
    options: &BaumWelch,
    data: &FitData<'_>,
    (start, passed): (Hmm, Vec<f64>),
    progress: &(dyn Fn() + Sync),
) -> Result<Fit, FitError> {
    let samples = data.sequences.iter().map(SamplesView::observed).sum();
    let mut climb = Climb::new(options, data.bounds.clone(), samples, (start, passed))?;
    loop {
        let expected = total(data.expect, climb.model(), &data.leaves)?;
        if let Some(fit) = climb.step(&expected) {
            return Ok(fit);
        }
        progress();
    }
}

/// A model on its way up: Baum-Welch whose expected statistics come from wherever the data are.
///
/// Convergence is judged by what the passes raise: the log-likelihood and, where there are
/// pseudocounts, the logarithm of the prior density that they are. It cannot fall but by rounding.
pub(crate) struct Climb<'o> {
    options: &'o BaumWelch,
    bounds: Bounds,
    /// The least gain of a pass, in nats.
    enough: f64,
    model: Hmm,
    log_likelihood: Vec<f64>,
    before: f64,
}

impl<'o> Climb<'o> {
    /// Starts at a model, after passes of the log-likelihoods `passed`; `samples` are those observed.
    ///
    /// # Errors
    /// [`FitError`] if the model is invalid.
    pub(super) fn new(
        options: &'o BaumWelch,
        bounds: Bounds,
        samples: usize,
        (model, log_likelihood): (Hmm, Vec<f64>),
    ) -> Result<Self, FitError> {
        model.validate()?;
        let enough = options.tolerance * samples as f64;
        Ok(Self { options, bounds, enough, model, log_likelihood, before: f64::NEG_INFINITY })
    }

    /// Starts at a model whose estimates are bounded by the moments of `samples` observed samples, or of some of them.
    ///
    /// # Errors
    /// [`FitError`] if the model is invalid.
    pub(crate) fn from_model(
        options: &'o BaumWelch,
        moments: FittedMoments,
        samples: usize,
        model: Hmm,
    ) -> Result<Self, FitError> {
        let bounds = Bounds::from_moments(options, FittedMoments { samples, ..moments });
        Self::new(options, bounds, samples, (model, Vec::new()))
    }

    /// The model whose expected statistics are to come.
    pub(crate) fn model(&self) -> &Hmm {
        &self.model
    }

    /// Takes the model's expected statistics: the fit where that was the last pass, else the next model is there.
    pub(crate) fn step(&mut self, expected: &Expectations) -> Option<Fit> {
        let options = self.options;
        let held = self.bounds.held(options);
        // Where the states are known the first pass is all there is to learn.
        let least = if options.topology == Topology::Positions { 1 } else { LEAST_PASSES };
        self.log_likelihood.push(expected.log_likelihood);
        let now = expected.log_likelihood + log_prior(&self.model, options, &held);
        let passes = self.log_likelihood.len() - 1;
        let converged = passes >= least && (now - self.before).abs() <= self.enough;
        if converged || passes >= options.iterations {
            let (family, parts) = (self.model.emission.family(), self.model.emission.parts());
            return Some(Fit {
                occupancy: family.occupancy(&expected.emission),
                floored: family.floored(parts, held.floor),
                model: self.model.clone(),
                log_likelihood: self.log_likelihood.clone(),
                seed: options.seed,
                converged,
                restarts: Vec::new(),
            });
        }
        self.before = now;
        maximise(&mut self.model, expected, options, &held);
        None
    }
}

/// The logarithm of the prior density of which pseudocounts are the parameters, up to a constant.
fn log_prior(model: &Hmm, options: &BaumWelch, held: &Regularisation<'_>) -> f64 {
    let rows = model.transition.iter().chain(std::iter::once(&model.initial));
    let emission = &model.emission;
    log_dirichlet(options.transition_pseudocount, rows)
        + emission.family().log_prior(emission.parts(), held)
}

/// The leaves of sequences, in order.
pub(super) fn leaves<'a>(sequences: &'a [SamplesView<'a>]) -> Vec<Batch<'a>> {
    sequences.chunks(LEAF).map(Batch::new).collect()
}

/// The expectation step of Baum-Welch over some sequences, for a maximisation step of one's own.
///
/// The sequences may be a part of a data set that begins at a leaf, a multiple of [`LEAF`] sequences from the first.
pub struct ExpectationStep<'a> {
    leaves: Vec<Batch<'a>>,
    /// Index of the first of them in the data set.
    first: usize,
}

impl<'a> ExpectationStep<'a> {
    /// The step over these sequences; how they lie side by side is found once.
    pub fn new(sequences: &'a [SamplesView<'a>]) -> Self {
        Self::from_leaf(0, sequences)
    }

    /// The step over a part of a data set that begins at leaf `first`.
    pub fn from_leaf(first: usize, sequences: &'a [SamplesView<'a>]) -> Self {
        Self { leaves: leaves(sequences), first }
    }

    /// The expected statistics under a valid model, summed over the sequences.
    ///
    /// # Errors
    /// [`FitError::Impossible`]: the model makes a sequence impossible.
    pub fn expectations(&self, model: &Hmm) -> Result<Expectations, FitError> {
        total(expectations_to_sum, model, &self.leaves)
    }

    /// The same of each of some leaves, by their indices in the data set.
    ///
    /// # Errors
    /// As [`expectations`](Self::expectations).
    pub fn sums(&self, model: &Hmm, some: Range<usize>) -> Result<Sums<Expectations>, FitError> {
        let all = self.first..self.first + self.leaves.len();
        let some = some.start.max(all.start)..some.end.min(all.end);
        let of_leaf = |leaf: usize| {
            of_leaf(expectations_to_sum, model, &self.leaves[leaf - self.first], leaf)
        };
        sum_leaves(some, &of_leaf)
    }
}

/// Expected statistics of a model over sequences that come in order, some at a time: leaf by leaf, as
/// [`ExpectationStep`] sums those that are there together, to the same bits.
///
/// RAM: less than a leaf of sequences, and the tree.
#[derive(Default)]
pub(crate) struct LeafSums {
    sums: Sums<Expectations>,
    /// Sequences that do not fill a leaf yet.
    left: Vec<Samples>,
    /// Leaves summed.
    leaves: usize,
    /// Samples observed so far.
    observed: usize,
}

impl LeafSums {
    /// Adds the next sequences.
    ///
    /// # Errors
    /// [`FitError::Impossible`]: the model makes a sequence impossible.
    pub(crate) fn add(&mut self, model: &Hmm, next: &[SamplesView<'_>]) -> Result<(), FitError> {
        self.observed += next.iter().map(SamplesView::observed).sum::<usize>();
        let left = std::mem::take(&mut self.left);
        let all: Vec<SamplesView<'_>> =
            left.iter().map(Samples::view).chain(next.iter().copied()).collect();
        let (full, rest) = all.split_at(all.len() / LEAF * LEAF);
        self.sum(model, full)?;
        self.left = rest.iter().map(SamplesView::to_samples).collect();
        Ok(())
    }

    fn sum(&mut self, model: &Hmm, leaves: &[SamplesView<'_>]) -> Result<(), FitError> {
        let (first, count) = (self.leaves, leaves.len().div_ceil(LEAF));
        let step = ExpectationStep::from_leaf(first, leaves);
        for (at, level, sum) in step.sums(model, first..first + count)?.into_nodes() {
            // No leaf comes twice.
            let _ = self.sums.insert(at, level, sum);
        }
        self.leaves += count;
        Ok(())
    }

    /// Samples observed.
    pub(crate) fn observed(&self) -> usize {
        self.observed
    }

    /// The sum over all sequences.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub(crate) fn total(mut self, model: &Hmm) -> Result<Expectations, FitError> {
        let left = std::mem::take(&mut self.left);
        let views: Vec<SamplesView<'_>> = left.iter().map(Samples::view).collect();
        self.sum(model, &views)?;
        let total = self.sums.total(self.leaves).ok().flatten();
        Ok(total.unwrap_or_else(|| Expectations::zero(model)))
    }
}

/// Expected statistics summed over sequences, leaf by leaf in parallel.
pub(super) fn total(
    expect: Expect,
    model: &Hmm,
    leaves: &[Batch<'_>],
) -> Result<Expectations, FitError> {
    let sums = sum_leaves(0..leaves.len(), &|leaf| of_leaf(expect, model, &leaves[leaf], leaf))?;
    // No leaf is missing.
    let total = sums.total(leaves.len()).ok().flatten();
    Ok(total.unwrap_or_else(|| Expectations::zero(model)))
}

/// Expected statistics summed over the sequences of a leaf, whose index is for messages.
fn of_leaf(
    expect: Expect,
    model: &Hmm,
    sequences: &Batch<'_>,
    leaf: usize,
) -> Result<Expectations, FitError> {
    let mut sum = Expectations::zero(model);
    for (offset, one) in expect(model, sequences).into_iter().enumerate() {
        let one = one.map_err(|error| FitError::Impossible {
            sequence: leaf * LEAF + offset,
            why: error.to_string(),
        })?;
        sum.add(&one);
    }
    Ok(sum)
}

/// The model that the statistics make likeliest, with pseudocounts and the floor. A state that no
/// sequence visits keeps its parameters, and zeros of the chain stay zeros.
pub(super) fn maximise(
    model: &mut Hmm,
    expected: &Expectations,
    options: &BaumWelch,
    held: &Regularisation<'_>,
) {
    normalise_into(&mut model.initial, &expected.initial, options.transition_pseudocount);
    for (row, pairs) in model.transition.iter_mut().zip(&expected.pairs) {
        normalise_into(row, pairs, options.transition_pseudocount);
    }
    let family = model.emission.family();
    family.maximise(model.emission.parts_mut(), &expected.emission, held);
}
