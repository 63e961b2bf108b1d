//! Options and results of the fit of a model.

use serde::{Deserialize, Serialize};

use super::topology::Topology;
use crate::data::SamplesView;
use crate::dynamics::SystemError;
use crate::runtime::family::{MOST_COMPONENTS, OF_CHANNELS, OF_SYMBOLS};
use crate::runtime::numbers::normalise_into;
use crate::runtime::{Family, Hmm, HmmError, Observed, padded_states};
use crate::words::short;

/// Options for the fit of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaumWelch {
    /// Hidden states.
    pub states: usize,
    /// Transitions that they may make.
    #[serde(default)]
    pub topology: Topology,
    /// Emission family; `None` for categorical symbols and for Gaussian channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emission: Option<&'static dyn Family>,
    /// Components of each state's mixture; of no other emissions.
    #[serde(default = "two", skip_serializing_if = "is_two")]
    pub components: usize,
    /// Rows of the sensor's channels in a row, a sample's and those before it, for emissions that regress on the
    /// past; one of no others.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub rows: usize,
    /// Largest number of passes over the data per restart.
    pub iterations: usize,
    /// Converged when a pass, the fifth or a later one, moves the penalised log-likelihood by no more
    /// than this, in nats per sample: whatever the units of the channels.
    pub tolerance: f64,
    /// Initialisations tried; the likeliest fit is kept.
    pub restarts: usize,
    /// Seed of the first restart; the following ones count up.
    pub seed: u64,
    /// No standard deviation falls below this fraction of the channel's over the sequences fitted, or, where
    /// it moves in them by less than a thousandth of what it does over all training data, of that
    /// thousandth; where it never moves in them, of the channel's over all training data. Where emissions
    /// regress on the past, its own is what one prediction leaves of it in the sequences fitted.
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
            rows: one(),
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

fn one() -> usize {
    1
}

fn is_one(rows: &usize) -> bool {
    *rows == one()
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
    /// `true` if it converged within the passes allowed.
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
    /// Seed of the restart.
    pub seed: u64,
    /// The log-likelihood it came to.
    pub log_likelihood: f64,
}

/// Reason why nothing was fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum FitError {
    /// No sequence, or no observation that is present.
    #[error("nothing to fit: all observations are missing")]
    NoData,
    /// Fewer points than parameters of the model.
    #[error("only {found} observed, and at least two are needed; add samples, or leave it out")]
    FewPoints {
        /// Observed points.
        found: usize,
    },
    /// An option out of range.
    #[error("{option} is {value}; it must be {wanted}")]
    #[strum(serialize = "bad-setting")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Value of the option.
        value: String,
        /// Valid range.
        wanted: &'static str,
    },
    /// Emissions of a kind that is not observed.
    #[error("{family} emissions cannot observe {observed}: take another family, or the default")]
    #[strum(serialize = "wrong-emissions")]
    Family {
        /// The family.
        family: &'static str,
        /// Kind of observations.
        observed: &'static str,
    },
    /// Emissions that regress on the past, over rows without a past.
    #[error(
        "{family} emissions need earlier samples, which only classifiers provide: take another family here"
    )]
    NoPast {
        /// The family.
        family: &'static str,
    },
    /// No sample with a whole past.
    #[error(
        "nothing to fit: no sample has all its lagged samples, without a gap; take longer series, or shorter lags"
    )]
    ShortPast,
    /// The model in hand makes a sequence impossible.
    #[error("sequence {sequence} is impossible under the model: {why}")]
    Impossible {
        /// Index of the sequence.
        sequence: usize,
        /// Place and reason.
        why: String,
    },
    /// An invalid model to start from.
    #[error(transparent)]
    Model(#[from] HmmError),
    /// An invalid dynamical system, or series with other channels.
    #[error(transparent)]
    System(#[from] SystemError),
}

crate::kinds!(FitError,
    Self::Model(error) => error,
    Self::System(error) => error,
);

/// Largest number of restarts.
const MOST_RESTARTS: usize = 1_000;

impl BaumWelch {
    /// Emission family for the observations.
    pub(super) fn family(
        &self,
        sequences: &[SamplesView<'_>],
    ) -> Result<&'static dyn Family, FitError> {
        let rows = sequences.iter().find_map(SamplesView::rows);
        let family = self.family_over(rows.is_some())?;
        let divides = rows.is_some_and(|rows| rows.dimension().is_multiple_of(self.rows));
        if family.has_past() && !(self.rows > 1 && divides) {
            return Err(FitError::NoPast { family: family.name() });
        }
        Ok(family)
    }

    /// Emission family for channels, or for symbols.
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
        starting_anywhere(&mut self.model, &self.occupancy);
        self
    }

    /// The log-likelihood of the fitted model.
    pub fn last(&self) -> f64 {
        self.log_likelihood.last().copied().unwrap_or(f64::NEG_INFINITY)
    }
}

/// Makes a state the first as often as it is any, by the samples expected in each, `[state]`.
pub(crate) fn starting_anywhere(model: &mut Hmm, occupancy: &[f64]) {
    let allowed = model.initial.iter().zip(occupancy);
    let share: Vec<f64> = allowed.map(|(&p, &n)| if p > 0.0 { n } else { 0.0 }).collect();
    normalise_into(&mut model.initial, &share, 0.0);
}
