//! Settings of a training, from the names of the command's options.

use std::num::NonZeroUsize;

use fishweir::classifier::{Scaling, ScoreModels};
use fishweir::data::{Front, Lags, ShortSeries, Windowing};
use fishweir::fit::Topology;
use fishweir::kernel::parameter::POWER;
use fishweir::learn::{
    ClassWeight, ClassifierKind, Effort, LagChoice, Limits, ModelChoice, Request, learner,
};
use fishweir::runtime::Family;
use fishweir::runtime::family::family;
use fishweir::{Normalisation, estimator::Trust};
use serde::Deserialize;

use crate::options::{OneOrMore, parse};

/// Options by the names of `fishweir fit`, underscores for hyphens.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Options {
    effort: Option<String>,
    states: Option<OneOrMore<usize>>,
    topology: Option<OneOrMore<Topology>>,
    emission: Option<String>,
    components: Option<usize>,
    restarts: Option<usize>,
    seed: Option<u64>,
    iterations: Option<usize>,
    tolerance: Option<f64>,
    std_floor: Option<OneOrMore<f64>>,
    front: Option<String>,
    lags: Option<String>,
    codebooks: Option<OneOrMore<usize>>,
    levels: Option<usize>,
    codebook_weight: Option<OneOrMore<f64>>,
    score_model: Option<String>,
    normalisation: Option<String>,
    max_flash: Option<usize>,
    max_ram: Option<usize>,
    max_operations: Option<usize>,
    window: Option<NonZeroUsize>,
    hop: Option<NonZeroUsize>,
    drop_short: bool,
    group: Option<String>,
    no_likelihood: bool,
    learner: Option<String>,
    class_weight: Option<ClassWeight>,
    scaling: Option<OneOrMore<Scaling>>,
    c: Option<OneOrMore<f64>>,
    sigma: Option<OneOrMore<f64>>,
    power: Option<u32>,
    landmarks: Option<NonZeroUsize>,
    order: Option<usize>,
    lambda: Option<f64>,
    copies: Option<OneOrMore<usize>>,
    calibrate: bool,
    reject: Option<f64>,
}

/// The values of an option, none where it is not given.
fn list<T>(given: Option<OneOrMore<T>>) -> Vec<T> {
    given.map_or_else(Vec::new, |given| given.0)
}

impl Options {
    /// Parses options as JSON.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        parse(text)
    }

    /// The request and the confidence of a training.
    pub(crate) fn request(self, kind: &str) -> Result<(Request, Trust), String> {
        let kind: ClassifierKind = named("classifier", kind)?;
        let effort: Option<Effort> =
            self.effort.as_deref().map(|name| named("effort", name)).transpose()?;
        let mut request = Request::new(kind).trying(effort.unwrap_or_default());
        let fit = &mut request.baum_welch;
        fit.emission = self.emission.as_deref().map(emission).transpose()?;
        let mixed = fit.emission.is_some_and(|family| family.has_components());
        if let Some(components) = self.components {
            if !mixed {
                return Err("components: the family mixture alone has components".into());
            }
            fit.components = components;
        }
        request.states = list(self.states);
        request.topologies = list(self.topology);
        if let Some(&states) = request.states.first() {
            fit.states = states;
            fit.topology = Topology::Ergodic;
        }
        set(&mut fit.topology, request.topologies.first().copied());
        set(&mut fit.restarts, self.restarts);
        set(&mut fit.seed, self.seed);
        set(&mut fit.iterations, self.iterations);
        set(&mut request.one_model_iterations, self.iterations);
        set(&mut fit.tolerance, self.tolerance);
        request.std_floors = list(self.std_floor);
        for &floor in &request.std_floors {
            fit.std_floor = floor;
            fit.validate().map_err(|error| error.to_string())?;
        }
        set(&mut fit.std_floor, request.std_floors.first().copied());
        fit.validate().map_err(|error| error.to_string())?;
        if let Some(front) = &self.front {
            request.front = front.parse::<Front>().map_err(|error| format!("front: {error}"))?;
        }
        if let Some(lags) = &self.lags {
            request.lags = match lags.as_str() {
                "choose" => LagChoice::Choose,
                text => {
                    let lags = text.parse::<Lags>().map_err(|error| format!("lags: {error}"))?;
                    LagChoice::Given(vec![lags])
                }
            };
        }
        request.codebooks = list(self.codebooks);
        request.levels = self.levels;
        request.codebook_weights = rising(self.codebook_weight);
        request.models = match self.score_model.as_deref() {
            None => ModelChoice::Usual,
            Some("each-lag") => ModelChoice::EachLag,
            Some("all") => ModelChoice::Given(ScoreModels::All),
            Some("universal") => ModelChoice::Given(ScoreModels::Universal),
            Some(class) => ModelChoice::Given(ScoreModels::Class(class.to_owned())),
        };
        request.normalisations = match self.normalisation.as_deref() {
            None => Vec::new(),
            Some("none") => vec![Normalisation::NONE],
            Some("per-sample") => vec![Normalisation::PER_SAMPLE],
            Some("per-root-sample") => vec![Normalisation::PER_ROOT_SAMPLE],
            Some(other) => {
                return Err(format!(
                    "normalisation: `{other}` is unknown; one of none, per-sample, per-root-sample"
                ));
            }
        };
        let (flash, ram) = (self.max_flash, self.max_ram);
        request.limits = Limits { flash, ram, operations: self.max_operations };
        let short = if self.drop_short { ShortSeries::Drop } else { ShortSeries::Keep };
        let hop = self.hop;
        request.windowing =
            self.window.map(|length| Windowing { length, hop: hop.unwrap_or(length), short });
        if hop.is_some() && self.window.is_none() {
            return Err("hop: it needs a window".into());
        }
        request.group = self.group;
        request.with_likelihood &= !self.no_likelihood;
        if let Some(name) = &self.learner {
            let wanted = || {
                let names: Vec<_> =
                    fishweir::learn::LEARNERS.iter().map(|learner| learner.name).collect();
                format!("learner: `{name}` is unknown; one of {}", names.join(", "))
            };
            request.learner = Some(learner(name).ok_or_else(wanted)?);
        }
        set(&mut request.class_weight, self.class_weight);
        request.scalings = list(self.scaling);
        request.c = rising(self.c);
        request.sigma = rising(self.sigma);
        request.numbers = self.power.into_iter().map(|power| (&POWER, f64::from(power))).collect();
        request.landmarks = self.landmarks.filter(|_| !kind.compiles());
        set(&mut request.lambda, self.lambda);
        set(&mut request.order, self.order);
        if let Some((&first, others)) = list(self.copies).split_first() {
            (request.augment.copies, request.augment.other_copies) = (Some(first), others.to_vec());
        }
        let trust = match (self.reject, self.calibrate) {
            (Some(rate), _) => Trust::Rejecting(rate),
            (None, true) => Trust::Calibrated,
            (None, false) => Trust::Unknown,
        };
        Ok((request, trust))
    }
}

/// Parses a name by what the library calls its values, hyphens or underscores.
fn named<T: for<'de> Deserialize<'de>>(what: &str, name: &str) -> Result<T, String> {
    let name = serde_json::Value::String(name.replace('-', "_"));
    serde_json::from_value(name).map_err(|error| format!("{what}: {error}"))
}

/// The emission family of a name.
pub(crate) fn emission(name: &str) -> Result<&'static dyn Family, String> {
    let unknown = || {
        let names: Vec<_> =
            fishweir::runtime::family::known().iter().map(|family| family.name()).collect();
        format!("family: `{name}` is unknown; one of {}", names.join(", "))
    };
    family(name).ok_or_else(unknown)
}

/// Values in rising order, each once.
fn rising(given: Option<OneOrMore<f64>>) -> Vec<f64> {
    let mut values = list(given);
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// Replaces a default by the given value, if any.
fn set<T>(to: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *to = given;
    }
}
