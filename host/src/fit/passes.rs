//! Passes of Baum-Welch over sequences.

use fishweir_core::smooth::SequenceError;

use super::options::{BaumWelch, Fit, FitError};
use super::topology::Topology;
use crate::batch::{Batch, Expectations, LANES, expectations_to_sum};
use crate::data::SamplesView;
use crate::data::internals::centre_and_spread;
use crate::parallel::try_each;
use crate::runtime::numbers::{log_dirichlet, normalise_into};
use crate::runtime::{Family, Hmm, Regularisation};

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
    /// The sequences, some sixteen parts, of whole groups of lanes. They are the same on every machine.
    parts: Vec<Batch<'a>>,
    pub(super) family: &'static dyn Family,
    pub(super) bounds: &'a Bounds,
}

/// Bounds from the channels of the fitted sequences, `[channel]`; empty for symbols.
pub(super) struct Bounds {
    /// Floor of standard deviations.
    floor: Vec<f64>,
    /// Means of the channels.
    centre: Vec<f64>,
}

impl Bounds {
    /// Bounds on estimates.
    ///
    /// No standard deviation of a model falls below a fraction of the channel's own over these sequences, so that a quiet class
    /// in loud data is not made loud. The fraction is of no less than a thousandth of `scale`, the channel's over all training
    /// data; it is of `scale` itself if the channel never moves in these sequences.
    pub(super) fn of(
        options: &BaumWelch,
        family: &dyn Family,
        sequences: &[SamplesView<'_>],
        scale: &[f64],
    ) -> Self {
        let rows =
            || sequences.iter().filter_map(SamplesView::rows).flat_map(|rows| rows.iter_in_part());
        let (centre, own) = centre_and_spread(scale.len(), || rows().flatten());
        let unbound = Self { floor: vec![0.0; scale.len()], centre };
        let all: Vec<&[f64]> = rows().flatten().collect();
        let own = family.spread(&all, own, &unbound.held(options, all.len()));
        let each = own.iter().zip(scale);
        let floor = each.map(|(&own, &scale)| {
            options.std_floor * if own > 0.0 { own.max(QUIETEST * scale) } else { scale }
        });
        Self { floor: floor.collect(), ..unbound }
    }

    fn held(&self, options: &BaumWelch, samples: usize) -> Regularisation<'_> {
        Regularisation {
            pseudocount: options.symbol_pseudocount,
            floor: &self.floor,
            centre: &self.centre,
            samples: samples as f64,
            components: options.components,
            rows: options.rows,
        }
    }
}

impl<'a> FitData<'a> {
    pub(super) fn new(
        expect: Expect,
        sequences: &'a [SamplesView<'a>],
        family: &'static dyn Family,
        bounds: &'a Bounds,
    ) -> Self {
        Self { expect, sequences, parts: parts(sequences), family, bounds }
    }

    /// Constraints on estimates of emissions.
    pub(super) fn held(&self, options: &BaumWelch) -> Regularisation<'a> {
        self.bounds.held(options, self.sequences.iter().map(SamplesView::observed).sum())
    }
}

/// [`fit`](super::fit), by the expectations of a model of this shape.
///
/// Convergence is judged by what the passes raise: the log-likelihood and, where there are
/// pseudocounts, the logarithm of the prior density that they are. It cannot fall but by rounding.
///
/// `passed` are the log-likelihoods of the models before `start`, of passes that did not converge.
pub(super) fn improve(
    options: &BaumWelch,
    data: &FitData<'_>,
    (start, passed): (Hmm, Vec<f64>),
    progress: &(dyn Fn() + Sync),
) -> Result<Fit, FitError> {
    start.validate()?;
    let held = data.held(options);
    let samples: usize = data.sequences.iter().map(SamplesView::observed).sum();
    // Where the states are known the first pass is all there is to learn.
    let least = if options.topology == Topology::Positions { 1 } else { LEAST_PASSES };
    let enough = options.tolerance * samples as f64;
    let mut model = start;
    let mut log_likelihood = passed;
    let mut before = f64::NEG_INFINITY;
    loop {
        let expected = total(data.expect, &model, &data.parts)?;
        log_likelihood.push(expected.log_likelihood);
        let now = expected.log_likelihood + log_prior(&model, options, &held);
        let passes = log_likelihood.len() - 1;
        let converged = passes >= least && (now - before).abs() <= enough;
        if converged || passes >= options.iterations {
            let (family, parts) = (model.emission.family(), model.emission.parts());
            let occupancy = family.occupancy(&expected.emission);
            let floored = family.floored(parts, held.floor);
            let (seed, restarts) = (options.seed, Vec::new());
            let fit = Fit { model, log_likelihood, seed, converged, occupancy, floored, restarts };
            return Ok(fit);
        }
        before = now;
        maximise(&mut model, &expected, options, &held);
        progress();
    }
}

/// The logarithm of the prior density of which pseudocounts are the parameters, up to a constant.
fn log_prior(model: &Hmm, options: &BaumWelch, held: &Regularisation<'_>) -> f64 {
    let rows = model.transition.iter().chain(std::iter::once(&model.initial));
    let emission = &model.emission;
    log_dirichlet(options.transition_pseudocount, rows)
        + emission.family().log_prior(emission.parts(), held)
}

/// Sequences in parts that are worked on in parallel.
pub(super) fn parts<'a>(sequences: &'a [SamplesView<'a>]) -> Vec<Batch<'a>> {
    let size = sequences.len().div_ceil(16).next_multiple_of(LANES).max(LANES);
    sequences.chunks(size).map(Batch::new).collect()
}

/// The expectation step of Baum-Welch over some sequences, for a maximisation step of one's own.
pub struct ExpectationStep<'a>(Vec<Batch<'a>>);

impl<'a> ExpectationStep<'a> {
    /// The step over these sequences; how they lie side by side is found once.
    pub fn new(sequences: &'a [SamplesView<'a>]) -> Self {
        Self(parts(sequences))
    }

    /// The expected statistics under a valid model, summed over the sequences.
    ///
    /// # Errors
    /// [`FitError::Impossible`]: the model makes a sequence impossible.
    pub fn expectations(&self, model: &Hmm) -> Result<Expectations, FitError> {
        total(expectations_to_sum, model, &self.0)
    }
}

/// Expected statistics summed over sequences, part by part in parallel: the sum's bits are those of the parts.
pub(super) fn total(
    expect: Expect,
    model: &Hmm,
    parts: &[Batch<'_>],
) -> Result<Expectations, FitError> {
    let before =
        |index: usize| -> usize { parts[..index].iter().map(|part| part.sequences().len()).sum() };
    let of_part = |index: usize| -> Result<Expectations, FitError> {
        let mut sum = Expectations::zero(model);
        for (offset, one) in expect(model, &parts[index]).into_iter().enumerate() {
            let one = one.map_err(|error| FitError::Impossible {
                sequence: before(index) + offset,
                why: error.to_string(),
            })?;
            sum.add(&one);
        }
        Ok(sum)
    };
    let mut sum = Expectations::zero(model);
    for part in try_each(parts.len(), &of_part)? {
        sum.add(&part);
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
