//! A trained classifier: models, directions, weights and biases, in `f64`, and its file.

use std::fmt;
use std::path::Path;

use fishweir_core::classify::Normalisation;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::data::{Alphabet, Kind, Windowing};
use crate::files::{self, FileError};
use crate::kernel::mean_map::WORDS_AT_MOST;
use crate::runtime::{Hmm, HmmError};

pub use crate::runtime::EmissionDirection;

/// A direction in a model's parameters: logits of initial and transition probabilities, and of
/// symbols, or means (in the sensor's units) and log standard deviations. Along it the derivative of
/// `log p` weighs the score.
///
/// Or one in the logarithms of the model's factors, which need not sum to one: with an emission part
/// of weights on expected statistics, `initial` and `transition` are rates of such logarithms too. Along it the derivative of `log p` weighs expected
/// statistics: `d log p / d log A_ij` is the expected number of transitions from `i` to `j`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    /// Rates of the initial logits, `[state]`.
    pub initial: Vec<f64>,
    /// Rates of the transition logits, `[from][to]`.
    pub transition: Vec<Vec<f64>>,
    /// Rates of the emissions' parameters.
    pub emission: EmissionDirection,
}

/// One output: `bias + f(t) sum_m ( weight_m log p_m + direction_m . score_m )`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Bias.
    pub bias: f64,
    /// Weights on the models' log-likelihoods, `[model]`.
    pub weights: Vec<f64>,
    /// Directions, `[model]`; empty where the classifier uses no score.
    pub directions: Vec<Direction>,
}

/// What an observation is, by names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Observations {
    /// A row of named channels.
    Channels(Vec<String>),
    /// One of these symbols, in order.
    Symbols(String),
}

/// How a classifier was trained: for whoever reads its file, and for `evaluate` to cut alike.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Version of the program.
    pub version: String,
    /// Name of the data file, without its folder.
    pub data: String,
    /// Series trained on.
    pub series: usize,
    /// Windows trained on.
    pub windows: usize,
    /// How windows were cut; `None` for whole series.
    pub windowing: Option<Windowing>,
    /// What was chosen and how, in words.
    pub notes: Vec<String>,
}

/// Contexts that a device numbers.
pub const CONTEXTS_AT_MOST: usize = u16::MAX as usize;

/// Contexts of so many symbols: `None` where there are more than a device numbers, or more words of one symbol
/// more than a table has room for.
#[must_use]
pub fn contexts_of(symbols: usize, order: usize) -> Option<usize> {
    let contexts = symbols.checked_pow(u32::try_from(order).ok()?)?;
    let words = contexts.checked_mul(symbols)?;
    (contexts <= CONTEXTS_AT_MOST && words <= WORDS_AT_MOST).then_some(contexts)
}

/// A trained classifier of streams, in `f64`, in the sensor's own units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classifier {
    /// `bayes`, `fisher`, `top`, `count`, `latent-mean-map` or `empirical-mean-map`.
    pub method: String,
    /// What it observes.
    pub observations: Observations,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Each channel's mean over the training data; empty for symbols.
    pub centre: Vec<f64>,
    /// Each channel's standard deviation over the training data; empty for symbols. Centre and scale
    /// are folded into the models: samples are pushed as the sensor gives them.
    pub scale: Vec<f64>,
    /// The bank of models; where words are weighed, one without a past that finds every symbol as likely.
    pub models: Vec<Hmm>,
    /// Of what weighs words of symbols, and no models: how many symbols are the context of the next. Directions
    /// have a row of emissions a context, in lexicographic order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<usize>,
    /// One output for two classes (its sign decides), else one a class.
    pub outputs: Vec<Output>,
    /// `none`, `per_sample` or `per_root_sample`.
    #[serde(with = "normalisation_name")]
    pub normalisation: Normalisation,
    /// How it was trained.
    pub provenance: Provenance,
}

/// Why a classifier's file was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClassifierError {
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Not JSON, or not of this form.
    #[error("{file}: not a fishweir model: {why}")]
    Format {
        /// The file.
        file: String,
        /// What the parser says, with line and column.
        why: String,
    },
    /// Written by a version that this one does not read.
    #[error("{file}: model file of format {found}, this program reads {FORMAT}; fit it again")]
    Version {
        /// The file.
        file: String,
        /// Its format.
        found: u32,
    },
    /// The checksum differs.
    #[error("{file}: the model file is damaged (its checksum differs); fit or copy it again")]
    Checksum {
        /// The file.
        file: String,
    },
    /// The parts do not fit each other.
    #[error("{file}: {why}")]
    Inconsistent {
        /// The file.
        file: String,
        /// Which part, and what is wrong.
        why: String,
    },
}

/// The format of model files.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<C> {
    fishweir_model: u32,
    crc32: u32,
    classifier: C,
}

/// Writes a classifier of any kind as JSON with a checksum, whole or not at all.
pub(crate) fn save<C: Serialize>(path: &Path, classifier: &C) -> Result<(), ClassifierError> {
    Ok(files::write_whole(path, seal(classifier)?.as_bytes())?)
}

/// The content of its file.
pub(crate) fn seal<C: Serialize>(classifier: &C) -> Result<String, ClassifierError> {
    let format = |error: serde_json::Error| not_a_model("the model", &error);
    let text = serde_json::to_string(classifier).map_err(format)?;
    let crc32 = crc32fast::hash(text.as_bytes());
    let classifier = RawValue::from_string(text).map_err(format)?;
    let envelope = Envelope { fishweir_model: FORMAT, crc32, classifier };
    let mut text = serde_json::to_string(&envelope).map_err(format)?;
    text.push('\n');
    Ok(text)
}

/// The classifier in a file, as JSON, and where it begins there.
pub(crate) struct Content<'a> {
    /// For messages.
    file: &'a str,
    text: &'a str,
    /// Lines before its own first one.
    lines: usize,
    /// Bytes before it on that line.
    columns: usize,
}

impl<'a> Content<'a> {
    /// What it says; an error names its place in the file.
    pub(crate) fn parse<T: Deserialize<'a>>(&self) -> Result<T, ClassifierError> {
        serde_json::from_str(self.text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let text = error.to_string();
            let why = match text.strip_suffix(&format!(" at line {line} column {column}")) {
                Some(what) => {
                    let before = if line == 1 { self.columns } else { 0 };
                    format!("{what} at line {} column {}", line + self.lines, column + before)
                }
                None => text,
            };
            ClassifierError::Format { file: self.file.to_owned(), why }
        })
    }
}

/// The classifier in a file of the right format and checksum; `file` is for messages.
pub(crate) fn unseal<'a>(file: &'a str, bytes: &'a [u8]) -> Result<Content<'a>, ClassifierError> {
    let envelope: Envelope<&RawValue> =
        serde_json::from_slice(bytes).map_err(|error| not_a_model(file, &error))?;
    if envelope.fishweir_model != FORMAT {
        let found = envelope.fishweir_model;
        return Err(ClassifierError::Version { file: file.to_owned(), found });
    }
    let text = envelope.classifier.get();
    if crc32fast::hash(text.as_bytes()) != envelope.crc32 {
        return Err(ClassifierError::Checksum { file: file.to_owned() });
    }
    let whole = std::str::from_utf8(bytes).unwrap_or_default();
    let before = whole.split_once(text).map_or("", |(before, _)| before);
    let lines = before.matches('\n').count();
    let columns = before.rsplit('\n').next().map_or(0, str::len);
    Ok(Content { file, text, lines, columns })
}

/// What the parser says of a file.
fn not_a_model(file: &str, error: &serde_json::Error) -> ClassifierError {
    ClassifierError::Format { file: file.to_owned(), why: error.to_string() }
}

impl Classifier {
    /// Writes the classifier as JSON with a checksum, whole or not at all.
    ///
    /// # Errors
    /// [`ClassifierError::File`] if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), ClassifierError> {
        save(path, self)
    }

    /// Reads a classifier and checks it: format, checksum, shapes and numbers.
    ///
    /// # Errors
    /// [`ClassifierError`] naming the file and what is wrong.
    pub fn load(path: &Path) -> Result<Self, ClassifierError> {
        let bytes = files::read(path)?;
        Self::parse(&path.display().to_string(), &bytes)
    }

    /// Reads from memory what [`load`](Self::load) reads from a file; `file` is for messages.
    ///
    /// # Errors
    /// [`ClassifierError`] naming the file and what is wrong.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, ClassifierError> {
        Self::from_content(&unseal(file, bytes)?)
    }

    /// From what [`unseal`] gives.
    pub(crate) fn from_content(content: &Content<'_>) -> Result<Self, ClassifierError> {
        let classifier: Self = content.parse()?;
        let inconsistent =
            |why| ClassifierError::Inconsistent { file: content.file.to_owned(), why };
        classifier.check().map_err(inconsistent)?;
        Ok(classifier)
    }

    /// What an observation is, as the readers of data want it.
    ///
    /// # Errors
    /// If the symbols are no alphabet.
    pub fn kind(&self) -> Result<Kind, crate::data::DataError> {
        self.observations.kind()
    }

    /// States of the largest model: all are padded to it.
    #[must_use]
    pub fn states(&self) -> usize {
        self.models.iter().map(Hmm::states).max().unwrap_or(0)
    }

    /// Channels or symbols.
    #[must_use]
    pub fn size(&self) -> usize {
        self.observations.size()
    }

    /// Whether outputs use scores, and so directions.
    #[must_use]
    pub fn uses_scores(&self) -> bool {
        self.outputs.iter().any(|output| !output.directions.is_empty())
    }

    fn check(&self) -> Result<(), String> {
        let outputs = if self.classes.len() == 2 { 1 } else { self.classes.len() };
        if self.classes.len() < 2
            || !matches!(self.outputs.len(), n if n == outputs || n == self.classes.len())
        {
            return Err(format!(
                "{} outputs for {} classes",
                self.outputs.len(),
                self.classes.len()
            ));
        }
        if self.models.is_empty() {
            return Err("no model".into());
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
        for (index, model) in self.models.iter().enumerate() {
            let symbols = matches!(self.observations, Observations::Symbols(_));
            if symbols != model.emission.is_over_symbols() {
                return Err(format!("model {index} emits something else than is observed"));
            }
            let valid = model.validate_over(self.size());
            valid.map_err(|error: HmmError| format!("model {index}: {error}"))?;
            if let Some(what) = model.emission.difference(&self.models[0].emission) {
                return Err(format!("model {index} {what}"));
            }
        }
        let contexts = match self.order {
            None => None,
            Some(order) => Some(self.contexts(order).ok_or_else(|| {
                format!("contexts of {order} symbols are of one model over symbols, and not so many")
            })?),
        };
        let scores = self.uses_scores();
        for (index, output) in self.outputs.iter().enumerate() {
            let wanted = if scores { self.models.len() } else { 0 };
            if output.weights.len() != self.models.len() || output.directions.len() != wanted {
                return Err(format!("output {index} does not fit {} models", self.models.len()));
            }
            if !output.bias.is_finite() || output.weights.iter().any(|w| !w.is_finite()) {
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

impl Classifier {
    /// How many contexts there are where each is so many symbols.
    fn contexts(&self, order: usize) -> Option<usize> {
        let of_words = matches!(self.observations, Observations::Symbols(_))
            && matches!(self.models.as_slice(), [model] if model.states() == 1);
        if of_words { contexts_of(self.size(), order) } else { None }
    }
}

impl Direction {
    /// Whether it is one of a model; or of one whose emissions have a row a context.
    pub(crate) fn fits(&self, model: &Hmm, contexts: Option<usize>) -> bool {
        let states = model.states();
        let row = |row: &[f64]| row.len() == states && row.iter().all(|w| w.is_finite());
        row(&self.initial)
            && self.transition.len() == states
            && self.transition.iter().all(|from| row(from))
            && self.emission.fits(&model.emission, contexts.unwrap_or(states))
    }
}

impl Observations {
    /// Channels or symbols.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Channels(names) => names.len(),
            Self::Symbols(symbols) => symbols.chars().count(),
        }
    }

    /// What an observation is, as the readers of data want it.
    ///
    /// # Errors
    /// If the symbols are no alphabet.
    pub fn kind(&self) -> Result<Kind, crate::data::DataError> {
        Ok(match self {
            Self::Channels(names) => Kind::Channels(names.clone()),
            Self::Symbols(symbols) => Kind::Symbols(Alphabet::new(symbols)?),
        })
    }
}

impl From<&Kind> for Observations {
    fn from(kind: &Kind) -> Self {
        match kind {
            Kind::Channels(names) => Self::Channels(names.clone()),
            Kind::Symbols(alphabet) => Self::Symbols(alphabet.symbols().iter().collect()),
        }
    }
}

impl fmt::Display for Observations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channels(names) => write!(f, "{} channels ({})", names.len(), names.join(", ")),
            Self::Symbols(symbols) => {
                write!(f, "{} symbols ({symbols})", symbols.chars().count())
            }
        }
    }
}

/// The name of a normalisation, in files and tables.
#[must_use]
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
