//! A trained classifier, in `f64`, and its file.

mod bank;
mod codebooks;
mod conditions;
mod confidence;
mod contract;
pub(crate) mod file;
mod observations;
mod regressor;
mod resting;
mod rule;
mod scaling;
mod selection;
mod teaching;
mod without;

use std::path::Path;

use fishweir_core::classify::Normalisation;
use serde::{Deserialize, Serialize};

use crate::data::internals::{FrontEnd, centre_and_scale_of};
use crate::data::{Dataset, Front, Kind, Lags, Samples, SamplesView, Stage, Windowing};

use crate::elementary::Elementary;
use crate::runtime::family::OF_CHANNELS;
use crate::runtime::{Hmm, HmmError};

pub use crate::data::{PERIOD_TOLERANCE, Period};
pub use crate::runtime::EmissionDirection;
pub(crate) use codebooks::{BookIn, CODEBOOKS_MOST, CodeRing, CodebooksSize, LEVELS_MOST};
pub use codebooks::{Codebook, Codebooks};
pub use conditions::{Measure, OtherScale, WildSample, scales_in_words};
pub(crate) use conditions::{WILD, unit_factor};
pub use confidence::{Confidence, DeployedConfidence, Rejection};
pub use contract::{ChannelRange, Contract};
pub use file::ClassifierError;
pub(crate) use file::{has_a_file, unseal};
pub use observations::Observations;
pub use regressor::{Regressor, Target, TargetInterval, TargetSpread};
pub use resting::{Rest, Resting};
pub use rule::{
    AdaptedStart, CONTEXTS_AT_MOST, ComparedBy, Direction, Expansion, ExpansionKernel, Output,
    Rule, WhiteningRows, contexts_of,
};
pub use scaling::Scaling;
pub use selection::{
    Candidate, Choice, ChosenBy, CopiesCandidate, CopiesChoice, Form, FormCandidate, FormChoice,
    Lead, Price, ScoreModels, Selection, Setting,
};
pub use teaching::Teaching;

/// Provenance of a classifier: for readers of its file, and for `evaluate` to cut windows alike.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Version of the program.
    pub version: String,
    /// Name of the data file, without its folder.
    pub data: String,
    /// [`Dataset::checksum`], by which that file is known from others of its name; none of data from no file or several,
    /// and of a model that an earlier program wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<u32>,
    /// Series trained on.
    pub series: usize,
    /// Windows trained on.
    pub windows: usize,
    /// Windows of the training; `None` for whole series.
    pub windowing: Option<Windowing>,
    /// The sample period; `None` if the data do not give it, and for a model that an earlier program wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Period>,
    /// `true` if the data were resampled to that period.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resampled: bool,
    /// Each channel: unit, mean and standard deviation; empty over symbols, and for a model that an earlier program wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelRange>,
    /// Choices of the training, in words.
    pub notes: Vec<String>,
    /// Choices of the training, with their alternatives and gains.
    ///
    /// `None` for a model that is not trained by a choice, and for a file that an earlier program wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// Options that the program was given, in TOML by their names; `None` without options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
}

impl Provenance {
    /// Provenance of a model trained by this program on some series of a data set: the data, and their [contract](Contract).
    ///
    /// # Panics
    /// If there is no such series.
    pub fn of(data: &Dataset, series: &[usize]) -> Self {
        Self {
            checksum: data.checksum(),
            period: Period::of(data, series),
            resampled: data.is_resampled(),
            channels: ChannelRange::all(data, series),
            ..Self::named_after(data.source(), series.len())
        }
    }

    /// Provenance of a model trained by this program on `series` series, or records, of a file.
    #[must_use]
    pub fn named_after(source: &str, series: usize) -> Self {
        let name = Path::new(source).file_name().unwrap_or_default();
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            data: name.to_string_lossy().into_owned(),
            series,
            ..Self::default()
        }
    }

    /// Sets the front end: if the data have no sample period, its mel bands define one.
    #[must_use]
    pub(crate) fn behind(mut self, front: &Front) -> Self {
        let period = |rate: f64| Period { seconds: 1.0 / rate, tolerance: PERIOD_TOLERANCE };
        self.period = self.period.or_else(|| front.rate().map(period));
        self
    }

    /// The data's name, and the checksum that they are known by.
    pub fn named(&self) -> String {
        match self.checksum {
            Some(checksum) => format!("{} (CRC-32 {checksum:08x})", self.data),
            None => self.data.clone(),
        }
    }
}

/// Samples that each model draws where no data say the units of the channels.
const DRAWN: usize = 1000;

/// A trained classifier of streams, in `f64`, in the sensor's own units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classifier {
    /// `bayes`, `fisher`, `top`, `count`, `latent-mean-map` or `empirical-mean-map`; of a kernel machine `gaussian`, `polynomial`,
    /// `cosine` or `root-cosine`, a kernel by marginalisation (`pair-hmm` and the like), or `model-bank`.
    pub method: String,
    /// Observations of the classifier.
    pub observations: Observations,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Front end that samples go through first.
    #[serde(default, skip_serializing_if = "Front::is_empty")]
    pub front: Front,
    /// Lags at which the past of the channels, or differences from it, are further channels of what the models
    /// see.
    #[serde(default, skip_serializing_if = "Lags::is_empty")]
    pub lags: Lags,
    /// The mean over the training data of each channel that models see; empty for symbols.
    pub centre: Vec<f64>,
    /// Scale of each channel, by its standard deviation; empty for symbols.
    ///
    /// Centre and scale are folded into the models: samples are pushed as the sensor gives them.
    pub scale: Vec<f64>,
    /// The bank of models, or the kernel's.
    pub models: Vec<Hmm>,
    /// Codebooks whose codeword counts are further evidence; `None` for most classifiers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codebooks: Option<Codebooks>,
    /// Normalisation of evidence, or scores, by the length: `none`, `per_sample` or `per_root_sample`.
    #[serde(with = "normalisation_name")]
    pub normalisation: Normalisation,
    /// Rule of decision.
    pub rule: Rule,
    /// Calibration of the decisions; `None` if none was learnt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// What classes can be [taught](crate::teach) by on a device; `None` if it was not learnt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teaching: Option<Teaching>,
    /// Provenance of the training.
    pub provenance: Provenance,
}

impl Classifier {
    /// The Bayes classifier over models that are there already, one per class with its prior: fitted elsewhere, or typed.
    ///
    /// Its units are those of series that the models draw.
    ///
    /// # Errors
    /// [`ClassifierError::Inconsistent`]: the parts do not fit each other.
    pub fn of_models(
        observations: Observations,
        classes: Vec<String>,
        models: Vec<Hmm>,
        priors: &[f64],
        windowing: Option<Windowing>,
    ) -> Result<Self, ClassifierError> {
        let inconsistent =
            |why: String| ClassifierError::Inconsistent { file: "models".into(), why };
        let is_prior = |&prior: &f64| prior > 0.0 && prior <= 1.0;
        if [classes.len(), priors.len()] != [models.len(); 2] || !priors.iter().all(is_prior) {
            let (classes, count) = (classes.len(), models.len());
            return Err(inconsistent(format!(
                "{count} models for {classes} classes: each class needs one, with a prior above 0"
            )));
        }
        for (class, model) in classes.iter().zip(&models) {
            model.validate().map_err(|error| inconsistent(format!("{class}: {error}")))?;
        }
        let log_priors: Vec<f64> = priors.iter().map(|prior| prior.portable_ln()).collect();
        let drawn: Vec<Samples> = models.iter().map(|model| model.simulate(DRAWN, 1)).collect();
        let views: Vec<SamplesView<'_>> = drawn.iter().map(Samples::view).collect();
        let kind = observations.kind().map_err(|error| inconsistent(error.to_string()))?;
        if models.iter().any(|model| model.size() != observations.size()) {
            let size = observations.size();
            return Err(inconsistent(format!("a model does not observe {size} values")));
        }
        let (centre, scale) = centre_and_scale_of(&kind, &views);
        let classifier = Self {
            method: "bayes".into(),
            observations,
            classes,
            front: Front::NONE,
            lags: Lags::NONE,
            centre,
            scale,
            models,
            codebooks: None,
            normalisation: Normalisation::NONE,
            rule: Rule::bayes(&log_priors),
            confidence: None,
            teaching: None,
            provenance: Provenance { windowing, ..Provenance::named_after("models", 0) },
        };
        classifier.check().map_err(inconsistent)?;
        Ok(classifier)
    }

    /// Kind of observation, for the readers of data.
    ///
    /// # Errors
    /// If the symbols are no alphabet.
    pub fn kind(&self) -> Result<Kind, crate::data::DataError> {
        self.observations.kind()
    }

    /// States of the largest model: all are padded to it. Of a kernel over another hidden model, its states.
    pub fn states(&self) -> usize {
        if let Some(ExpansionKernel::Hidden { model, .. }) = self.expansion().map(|of| &of.kernel) {
            return model.states();
        }
        self.models.iter().map(Hmm::states).max().unwrap_or(0)
    }

    /// Channels or symbols.
    pub fn size(&self) -> usize {
        self.observations.size()
    }

    /// Number of columns that models read, after the front end and with lags. Zero if the front end does not fit.
    pub fn row_size(&self) -> usize {
        self.front_end().map_or(0, |front| self.lags.width(front.width(self.size())))
    }

    /// Input of a model, by names.
    ///
    /// # Errors
    /// If the symbols are no alphabet, or the front end does not fit the channels.
    pub fn seen_by(&self, model: usize) -> Result<Kind, String> {
        let kind = self.kind().map_err(|error| error.to_string())?;
        Ok(self.lags.of_model(model).kind(&self.front_end()?.kind(&kind)))
    }

    /// The front end over the observations; an error describes the fault.
    pub(crate) fn front_end(&self) -> Result<FrontEnd, String> {
        if self.front.is_empty() {
            return Ok(FrontEnd::default());
        }
        let kind = self.kind().map_err(|error| error.to_string())?;
        self.front.over(&kind).map_err(|error| error.to_string())
    }

    /// The outputs of a linear rule; empty for other rules.
    pub fn outputs(&self) -> &[Output] {
        match &self.rule {
            Rule::Linear(outputs) | Rule::Words { outputs, .. } => outputs,
            Rule::Expansion(_) => &[],
        }
    }

    /// Returns whether it decides by likelihoods and priors alone.
    pub fn is_bayes(&self) -> bool {
        matches!(self.rule, Rule::Linear(_))
            && self.outputs().iter().all(|output| output.directions.is_empty())
    }

    /// Symbols of a word before its last, where words are weighed.
    pub fn order(&self) -> Option<usize> {
        match &self.rule {
            Rule::Words { order, .. } => Some(*order),
            _ => None,
        }
    }

    /// The kernel machine, if it is one.
    pub fn expansion(&self) -> Option<&Expansion> {
        match &self.rule {
            Rule::Expansion(expansion) => Some(expansion),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), String> {
        self.contract().check(match &self.observations {
            Observations::Channels(names) => names.len(),
            Observations::Symbols(_) => 0,
        })?;
        if self.classes.len() < 2 {
            return Err(format!("{} classes: it decides nothing", self.classes.len()));
        }
        // An artefact and a device's log have them a line each.
        let channels = match &self.observations {
            Observations::Channels(names) => names.as_slice(),
            Observations::Symbols(_) => &[],
        };
        if let Some(name) =
            self.classes.iter().chain(channels).find(|name| name.contains(char::is_control))
        {
            return Err(format!("the name {name:?} has a control character in it"));
        }
        if let Some(confidence) = &self.confidence {
            confidence.check(self.classes.len())?;
            if self.expansion().is_some() {
                return Err("a kernel machine has no `confidence`".into());
            }
        }
        if let Some(teaching) = &self.teaching {
            let outputs = self.outputs().len();
            teaching.check(outputs + self.models.len(), self.classes.len())?;
        }
        match &self.rule {
            Rule::Linear(outputs) | Rule::Words { outputs, .. } => {
                self.check_models()?;
                self.check_outputs(outputs)
            }
            Rule::Expansion(_) if !self.front.is_empty() => {
                Err("a kernel machine has no `front`".into())
            }
            // Models are judged where they are rounded.
            Rule::Expansion(expansion) => expansion.check(self.classes.len()),
        }
    }

    /// Checks that models are valid, fit the observations, and are of one family; an error describes the fault.
    pub(crate) fn check_models(&self) -> Result<(), String> {
        let front = self.front_end()?;
        let symbols =
            matches!(self.observations, Observations::Symbols(_)) || front.makes_symbols();
        let first = self.models.first().ok_or("no model")?;
        let reals = first.emission.family().observes() == OF_CHANNELS.observes();
        let may = reals && matches!(self.rule, Rule::Linear(_));
        let made = front.makes_symbols() && matches!(self.rule, Rule::Linear(_));
        if !(may || made || front.is_empty()) {
            return Err(
                "a front end needs real channels and a rule that is linear in the models' evidence"
                    .into(),
            );
        }
        if let Some(Stage::Symbols(_)) = self.front.stages().last() {
            return Err("`front` ends with symbols of which no words were learnt".into());
        }
        if !(may || self.lags.is_empty()) {
            return Err(format!(
                "{} need real channels and a rule that is linear in the models' evidence",
                self.lags.words()
            ));
        }
        if first.emission.family().has_past() != self.lags.is_past()
            || self.lags.is_past() && first.emission.shape().components != self.lags.rows()
        {
            return Err(
                "autoregressive emissions, and no others, need `lags`, with a coefficient for each"
                    .into(),
            );
        }
        let channels = front.width(self.size());
        if self.lags.is_apart() && self.models.len() != self.lags.as_slice().len() {
            let (models, lags) = (self.models.len(), self.lags.as_slice().len());
            return Err(format!("{models} models for {lags} separate `lags`: each lag needs one"));
        }
        if let Some(codebooks) = &self.codebooks {
            if !may {
                return Err("`codebooks` need real channels and a rule that is linear in the models' evidence".into());
            }
            codebooks.check(channels)?;
        }
        for (index, model) in self.models.iter().enumerate() {
            if symbols != model.emission.is_over_symbols() {
                return Err(format!("model {index} emits something else than is observed"));
            }
            let valid = model.validate_over(self.lags.seen_width(channels));
            valid.map_err(|error: HmmError| format!("model {index}: {error}"))?;
            if let Some(what) = model.emission.difference(&first.emission) {
                return Err(format!("model {index} {what}"));
            }
        }
        Ok(())
    }

    /// Number of contexts, for weights of words; an error describes the fault.
    pub(crate) fn contexts(&self) -> Result<Option<usize>, String> {
        let Some(order) = self.order() else { return Ok(None) };
        // The stream counts words under a model that all of them are as likely under.
        let even = matches!(self.observations, Observations::Symbols(_))
            && self.models == [Hmm::even(self.size())];
        let contexts = if even { contexts_of(self.size(), order) } else { None };
        contexts.map(Some).ok_or_else(|| {
            format!(
                "contexts of {order} symbols are too many, or their model does not give every symbol the same \
                 probability"
            )
        })
    }

    fn check_outputs(&self, outputs: &[Output]) -> Result<(), String> {
        let (classes, models) = (self.classes.len(), self.models.len());
        if outputs.len() != classes && (classes, outputs.len()) != (2, 1) {
            return Err(format!("{} outputs for {classes} classes", outputs.len()));
        }
        let contexts = self.contexts()?;
        let scores = outputs.iter().any(|output| !output.directions.is_empty());
        for (index, output) in outputs.iter().enumerate() {
            let wanted = if scores { models } else { 0 };
            if output.weights.len() != models || output.directions.len() != wanted {
                return Err(format!("output {index} does not fit {models} models"));
            }
            if !output.bias.is_finite() || output.weights.iter().any(|w| !w.is_finite()) {
                return Err(format!("output {index} has a weight that is not finite"));
            }
            let codewords = self.codebooks.as_ref().map_or(0, Codebooks::codewords);
            if output.codewords.len() != codewords {
                return Err(format!("output {index} does not fit {codewords} codewords"));
            }
            let levels = codewords * self.codebooks.as_ref().map_or(0, Codebooks::levels);
            if output.levels.len() != levels {
                return Err(format!("output {index} does not fit {levels} levels of codewords"));
            }
            if output.codewords.iter().chain(&output.levels).any(|w| !w.is_finite()) {
                return Err(format!("output {index} has a weight that is not finite"));
            }
            for (model, direction) in self.models.iter().zip(&output.directions) {
                if !direction.fits(model, contexts) {
                    return Err(format!("output {index} has a direction that fits no model"));
                }
            }
        }
        Ok(())
    }
}

/// The name of a normalisation, in files and tables.
pub fn normalisation_name(normalisation: Normalisation) -> &'static str {
    match normalisation {
        Normalisation::PER_SAMPLE => "per_sample",
        Normalisation::PER_ROOT_SAMPLE => "per_root_sample",
        _ => "none",
    }
}

pub(crate) mod normalisation_name {
    use fishweir_core::classify::Normalisation;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(
        normalisation: &Normalisation,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(super::normalisation_name(*normalisation))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Normalisation, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "none" => Ok(Normalisation::NONE),
            "per_sample" => Ok(Normalisation::PER_SAMPLE),
            "per_root_sample" => Ok(Normalisation::PER_ROOT_SAMPLE),
            other => Err(D::Error::custom(format!(
                "unknown normalisation `{other}`: none, per_sample or per_root_sample"
            ))),
        }
    }
}
