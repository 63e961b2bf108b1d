//! Baum-Welch in `f64`, with restarts.

use fishweir_core::smooth::SequenceError;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Topology;
use super::initialise::initial_model;
use crate::batch::{Expectations, LANES, expectations};
use crate::data::SamplesView;
use crate::data::centre_and_spread;
use crate::dynamics::SystemError;
use crate::runtime::family::{MOST_COMPONENTS, OF_CHANNELS, OF_SYMBOLS};
use crate::runtime::numbers::{log_dirichlet, normalise_into};
use crate::runtime::{Family, Hmm, HmmError, Observed, Regularisation, padded_states};
use crate::words::short;

/// How a model is fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaumWelch {
    /// Hidden states.
    pub states: usize,
    /// Transitions that they may make.
    #[serde(default)]
    pub topology: Topology,
    /// How states emit; `None` for categorical symbols and for Gaussian channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emission: Option<&'static dyn Family>,
    /// Components of each state's mixture; of no other emissions.
    #[serde(default = "two", skip_serializing_if = "is_two")]
    pub components: usize,
    /// Passes over the data at most, a restart.
    pub iterations: usize,
    /// Converged when a pass, the fifth or a later one, moves the penalised log-likelihood by no more
    /// than this, in nats a sample: whatever the units of the channels.
    pub tolerance: f64,
    /// Initialisations tried; the likeliest fit is kept.
    pub restarts: usize,
    /// Seed of the first restart; the following ones count up.
    pub seed: u64,
    /// No standard deviation falls below this fraction of the channel's over the sequences fitted, or, where
    /// it moves in them by less than a thousandth of what it does over all training data, of that
    /// thousandth; where it never moves in them, of the channel's over all training data.
    pub std_floor: f64,
    /// Added to every expected count of a symbol, so that no symbol becomes impossible; to those of yes and
    /// of no, and to those of a channel that counts.
    pub symbol_pseudocount: f64,
    /// Added to every expected transition, and first state, that the model allows.
    pub transition_pseudocount: f64,
}

impl Default for BaumWelch {
    fn default() -> Self {
        Self {
            states: 4,
            topology: Topology::Automatic,
            emission: None,
            components: two(),
            iterations: 100,
            tolerance: 1e-5,
            restarts: 1,
            seed: 1,
            std_floor: 0.3,
            symbol_pseudocount: 0.5,
            transition_pseudocount: 0.1,
        }
    }
}

fn two() -> usize {
    2
}

fn is_two(components: &usize) -> bool {
    *components == two()
}

/// A fitted model and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The model.
    pub model: Hmm,
    /// Log-likelihood before each pass of the restart that was kept, and after the last.
    pub log_likelihood: Vec<f64>,
    /// Seed of the restart that was kept.
    pub seed: u64,
    /// Whether it converged within the passes allowed.
    pub converged: bool,
    /// Samples expected in each state, `[state]`.
    pub occupancy: Vec<f64>,
    /// States whose standard deviation is held at its floor, `[channel]`; empty for symbols.
    pub floored: Vec<usize>,
    /// All restarts in order, the one that was kept among them.
    pub restarts: Vec<Restart>,
}

/// One restart of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Restart {
    /// Its seed.
    pub seed: u64,
    /// The log-likelihood it came to.
    pub log_likelihood: f64,
}

/// Why nothing was fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// No sequence, or none with an observation that is not missing.
    #[error("nothing to fit: no observation that is not missing")]
    NoData,
    /// Fewer points than what is fitted is made of.
    #[error("{found} observed where two or more are needed; add samples, or leave it out")]
    FewPoints {
        /// Observed points.
        found: usize,
    },
    /// An option out of range.
    #[error("{option} is {value}: it must be {wanted}")]
    Option {
        /// Its name.
        option: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        wanted: &'static str,
    },
    /// Emissions of a kind that is not observed.
    #[error(
        "{family} emissions are not of {observed}: take another --emission, or leave --emission out"
    )]
    Family {
        /// The family.
        family: &'static str,
        /// What is observed.
        observed: &'static str,
    },
    /// The model in hand makes a sequence impossible.
    #[error("sequence {sequence} is impossible under the model: {why}")]
    Impossible {
        /// Its index.
        sequence: usize,
        /// Where and why.
        why: String,
    },
    /// A model to start from that is none.
    #[error(transparent)]
    Model(#[from] HmmError),
    /// A dynamical system that is none, or series that are not of its channels.
    #[error(transparent)]
    System(#[from] SystemError),
}

/// Passes before which nothing is called converged: the first ones may rest on a plateau.
const LEAST_PASSES: usize = 5;

/// The least spread that a class has a floor of its own by, as a fraction of all classes'.
const QUIETEST: f64 = 1e-3;

/// Restarts at most.
const MOST_RESTARTS: usize = 1_000;

impl BaumWelch {
    /// What estimates are held to. No standard deviation of a model of these sequences falls below a
    /// fraction of the channel's own over them, so that a quiet class in loud data is not made loud, but
    /// of no less than a thousandth of `scale`, the channel's over all training data; of `scale` where it
    /// never moves in them.
    fn bounds(&self, sequences: &[SamplesView<'_>], scale: &[f64]) -> Bounds {
        let rows = || sequences.iter().filter_map(SamplesView::rows).flat_map(|rows| rows.iter());
        let (centre, own) = centre_and_spread(scale.len(), || rows().flatten());
        let each = own.iter().zip(scale);
        let floor = each.map(|(&own, &scale)| {
            self.std_floor * if own > 0.0 { own.max(QUIETEST * scale) } else { scale }
        });
        Bounds { floor: floor.collect(), centre }
    }

    /// How states emit what is observed.
    fn family(&self, sequences: &[SamplesView<'_>]) -> Result<&'static dyn Family, FitError> {
        self.family_over(sequences.iter().any(|samples| samples.rows().is_some()))
    }

    /// How states emit channels, or symbols.
    pub(crate) fn family_over(&self, channels: bool) -> Result<&'static dyn Family, FitError> {
        let default: &'static dyn Family = if channels { OF_CHANNELS } else { OF_SYMBOLS };
        let family = self.emission.unwrap_or(default);
        if channels == (family.observes() == Observed::Symbol) {
            let observed = if channels { "channels" } else { "symbols" };
            return Err(FitError::Family { family: family.name(), observed });
        }
        Ok(family)
    }

    /// Checks the options.
    ///
    /// # Errors
    /// [`FitError::Option`] naming the first that is out of range.
    pub fn validate(&self) -> Result<(), FitError> {
        let check = |good: bool, option, value: String, wanted| {
            if good { Ok(()) } else { Err(FitError::Option { option, value, wanted }) }
        };
        let sizes = "between 1 and 64";
        check(padded_states(self.states).is_some(), "states", self.states.to_string(), sizes)?;
        check(self.iterations > 0, "iterations", self.iterations.to_string(), "at least 1")?;
        let few = (1..=MOST_RESTARTS).contains(&self.restarts);
        check(few, "restarts", self.restarts.to_string(), "between 1 and 1000")?;
        let components = (1..=MOST_COMPONENTS).contains(&self.components);
        check(components, "components", self.components.to_string(), "between 1 and 8")?;
        for (option, value) in [
            ("tolerance", self.tolerance),
            ("symbol pseudocount", self.symbol_pseudocount),
            ("transition pseudocount", self.transition_pseudocount),
        ] {
            check(
                value.is_finite() && value >= 0.0,
                option,
                short(value),
                "finite and not negative",
            )?;
        }
        let floor = self.std_floor;
        let good = floor.is_finite() && floor > 0.0;
        check(good, "standard deviation floor", short(floor), "finite and positive")
    }

    /// Fits a model to sequences of one kind: `restarts` initialisations, each improved until it
    /// converges, the likeliest kept.
    ///
    /// `scale` is the standard deviation of each channel over all training data (empty for
    /// symbols): k-means measures distances in it.
    /// `size` is the number of channels or symbols. `progress` is told of every pass.
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
            return Err(FitError::NoData);
        }
        if self.topology == Topology::Automatic {
            let settled = self.settled(&[sequences], size, scale)?;
            return settled.fit(sequences, size, scale, progress);
        }
        self.likeliest(expectations, sequences, size, scale, progress)
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
        let bounds = self.bounds(sequences, scale);
        let family = self.family(sequences)?;
        // Where the states are known there is but one fit.
        let known = self.topology == Topology::Positions && family.name() != "mixture";
        let many = if known { 1 } else { self.restarts };
        for restart in 0..many {
            let seed = self.seed.wrapping_add(restart as u64);
            let data = Training { expect, sequences, family, bounds: &bounds };
            let start = initial_model(self, &data, size, scale, (seed, restart))?;
            let mut fit = improve(self, &data, start, progress)?;
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

impl Fit {
    /// States in which less than one sample is expected.
    pub fn dead_states(&self) -> usize {
        self.occupancy.iter().filter(|&&samples| samples < 1.0).count()
    }

    /// The fit with a model of what begins anywhere in a sequence: a state is the first as often as it
    /// is any. What the chain's start makes impossible stays so. Log-likelihoods stay those of the fit.
    #[must_use]
    pub fn starting_anywhere(mut self) -> Self {
        let initial = &mut self.model.initial;
        let allowed = initial.iter().zip(&self.occupancy);
        let share: Vec<f64> = allowed.map(|(&p, &n)| if p > 0.0 { n } else { 0.0 }).collect();
        normalise_into(initial, &share, 0.0);
        self
    }

    /// The log-likelihood of the fitted model.
    pub fn last(&self) -> f64 {
        self.log_likelihood.last().copied().unwrap_or(f64::NEG_INFINITY)
    }
}

/// Improves a model by Baum-Welch until it converges.
///
/// # Errors
/// [`FitError`] if the model is none, or makes a sequence impossible.
pub fn fit(
    options: &BaumWelch,
    start: Hmm,
    sequences: &[SamplesView<'_>],
    scale: &[f64],
    progress: &(dyn Fn() + Sync),
) -> Result<Fit, FitError> {
    let bounds = options.bounds(sequences, scale);
    let family = start.emission.family();
    let data = Training { expect: expectations, sequences, family, bounds: &bounds };
    improve(options, &data, start, progress)
}

/// The expected statistics of each sequence under a model, an impossible one an error in its place.
pub(crate) type Expect = fn(&Hmm, &[SamplesView<'_>]) -> Vec<Result<Expectations, SequenceError>>;

/// What models are fitted to.
pub(super) struct Training<'a> {
    pub(super) expect: Expect,
    pub(super) sequences: &'a [SamplesView<'a>],
    pub(super) family: &'static dyn Family,
    pub(super) bounds: &'a Bounds,
}

/// What is known of the channels of the sequences fitted, `[channel]`; empty for symbols.
pub(super) struct Bounds {
    /// What no standard deviation falls below.
    floor: Vec<f64>,
    /// Their means.
    centre: Vec<f64>,
}

impl<'a> Training<'a> {
    /// What estimates of emissions are held to.
    pub(super) fn held(&self, options: &BaumWelch) -> Regularisation<'a> {
        Regularisation {
            pseudocount: options.symbol_pseudocount,
            floor: &self.bounds.floor,
            centre: &self.bounds.centre,
            samples: self.sequences.iter().map(SamplesView::observed).sum::<usize>() as f64,
            components: options.components,
        }
    }
}

/// [`fit`], by the expectations of a model of this shape.
///
/// Convergence is judged by what the passes raise: the log-likelihood and, where there are
/// pseudocounts, the logarithm of the prior density that they are. It cannot fall but by rounding.
pub(super) fn improve(
    options: &BaumWelch,
    data: &Training<'_>,
    start: Hmm,
    progress: &(dyn Fn() + Sync),
) -> Result<Fit, FitError> {
    start.validate()?;
    let held = data.held(options);
    let samples: usize = data.sequences.iter().map(SamplesView::observed).sum();
    // Where the states are known the first pass is all there is to learn.
    let least = if options.topology == Topology::Positions { 1 } else { LEAST_PASSES };
    let enough = options.tolerance * samples as f64;
    let mut model = start;
    let mut log_likelihood: Vec<f64> = Vec::new();
    let mut before = f64::NEG_INFINITY;
    loop {
        let expected = total(data.expect, &model, data.sequences)?;
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

/// Expected statistics summed over sequences, chunk by chunk in parallel. The chunks are the same
/// on every machine, so the sum's bits are too.
pub(super) fn total(
    expect: Expect,
    model: &Hmm,
    sequences: &[SamplesView<'_>],
) -> Result<Expectations, FitError> {
    // Some sixteen chunks, of whole groups of lanes.
    let chunk = sequences.len().div_ceil(16).next_multiple_of(LANES).max(LANES);
    let parts: Vec<Result<Expectations, FitError>> = sequences
        .par_chunks(chunk)
        .enumerate()
        .map(|(index, part)| {
            let mut sum = Expectations::zero(model);
            let each = expect(model, part);
            for (offset, one) in each.into_iter().enumerate() {
                let one = one.map_err(|error| FitError::Impossible {
                    sequence: index * chunk + offset,
                    why: error.to_string(),
                })?;
                sum.add(&one);
            }
            Ok(sum)
        })
        .collect();
    let mut sum = Expectations::zero(model);
    for part in parts {
        sum.add(&part?);
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
