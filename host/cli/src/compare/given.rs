//! Models from files: fitted ones, networks, and those that a person wrote.

use std::path::Path;

use fishweir::classifier::{Classifier, Regressor};
use fishweir::data::Lags;
use fishweir::deploy::Deployed;
use fishweir::dynamics::LinearNetwork;
use fishweir::kernel::between::{BetweenError, FactorialHmm, Gamma, Multinomial};
use fishweir::model::{FittedModel, Hmm, ModelSet};
use fishweir_networks::{Network, NetworkFile};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::kernels::class_models;
use crate::recognise;
use crate::{Failure, Topic};

/// The kinds of models by hand, for the help.
pub(super) const KINDS: &str = "\
Models by hand, a table each, are hidden Markov models, or have one of these tables in them:
  hidden_markov     initial, transition, emission as the example has them; emission.categorical.probability of symbols
  markov, positions, density, kernel_density, linear_system, switching_system: as `fit` writes them
  factorial         initial, transition and mean, [chain][state]; covariance: a factorial hidden Markov model
  linear_network    bias, weights, variance, observed: x_i = bias_i + sum_j<i weights_ij x_j + noise
  gamma             shape, scale
  exponential       mean
  multinomial       probability: the counts of --steps draws
";

/// A model, and its name.
pub(super) struct Named {
    /// The file that has it.
    pub(super) file: String,
    /// Name of the model: of its class, of its table, or of the file.
    pub(super) name: String,
    pub(super) model: Given,
}

/// A model of a file.
pub(super) enum Given {
    Fitted(FittedModel),
    Network(Network),
    Factorial(FactorialHmm),
    LinearNetwork(LinearNetwork),
    Gamma(Gamma),
    Multinomial(Multinomial),
}

/// Reads the models of a file.
pub(super) fn read(path: &Path) -> Result<Vec<Named>, Failure> {
    let file = path.display().to_string();
    let bytes = recognise::read(path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let found = |name: Option<String>, model: Given| {
        let name = name.unwrap_or_else(|| stem.clone());
        Named { file: file.clone(), name, model }
    };
    let is_bif = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("bif"));
    if is_bif || recognise::is_network(&file, &bytes) {
        let network = NetworkFile::parse(&file, &bytes)?.network().clone();
        return Ok(vec![found(None, Given::Network(network))]);
    }
    if ModelSet::is_one(&bytes) {
        let set = ModelSet::parse(&file, &bytes)?;
        let one = |model: fishweir::model::NamedModel| {
            found(Some(model.name), Given::Fitted(model.model))
        };
        return Ok(set.models.into_iter().map(one).collect());
    }
    if Deployed::is_artefact(&bytes) {
        let what = format!(
            "{file}: an artefact has numbers of a device alone; name the model's file (JSON)"
        );
        return Err(Failure::input(Topic::WrongModel, what));
    }
    let regression =
        Regressor::is_one(&bytes).then(|| Regressor::parse(&file, &bytes)).transpose()?;
    let classifier = match regression {
        Some(regression) => Ok(regression.estimator),
        None => Classifier::parse(&file, &bytes),
    };
    let refused = match classifier {
        Ok(fitted) if fitted.lags.is_apart() => {
            // A model per lag, of all classes.
            let lags = fitted.lags.of_models();
            let name = |lags: &Lags| match lags.as_slice() {
                [lag] => format!("lag {lag}"),
                _ => stem.clone(),
            };
            let models = fitted.models.into_iter().zip(&lags);
            return Ok(models
                .map(|(hmm, lags)| found(Some(name(lags)), Given::Fitted(hmm.into())))
                .collect());
        }
        Ok(fitted) => {
            let models = class_models(&fitted.classes, &fitted.models);
            let many = models.len() > 1;
            let one = |(number, (name, model)): (usize, (Option<String>, FittedModel))| {
                found(
                    name.or_else(|| many.then(|| format!("{stem}-{number}"))),
                    Given::Fitted(model),
                )
            };
            return Ok(models.into_iter().enumerate().map(one).collect());
        }
        Err(error) => recognise::refused(&file, &bytes, &error),
    };
    let Some(table) = by_hand(&file, &bytes).transpose()? else { return Err(refused) };
    let models = models_of(&file, table)?;
    if models.is_empty() {
        return Err(Failure::input(Topic::EmptyFile, format!("{file}: has no model")));
    }
    Ok(models.into_iter().map(|(name, model)| found(name, model)).collect())
}

/// The tables of a file in TOML or JSON; `None` for one in neither.
fn by_hand(file: &str, bytes: &[u8]) -> Option<Result<Map<String, Value>, Failure>> {
    let text = std::str::from_utf8(bytes).ok()?.trim_start_matches('\u{FEFF}');
    let wrong =
        |why: String| Failure::input(Topic::BadSyntax, format!("{file}: {}", why.trim_end()));
    if text.trim_start().starts_with('{') {
        return Some(serde_json::from_str(text).map_err(|error| wrong(error.to_string())));
    }
    if serde_json::from_str::<Vec<serde::de::IgnoredAny>>(text).is_ok() {
        return Some(Err(wrong(
            "this is a list; give each model a name: {\"NAME\": {...}}".into(),
        )));
    }
    let is_toml =
        file.ends_with(".toml") || text.lines().any(|line| line.trim_start().starts_with('['));
    is_toml.then(|| toml::from_str(text).map_err(|error| wrong(error.to_string())))
}

/// Whether a table is a model itself, rather than models by their names.
fn is_model(table: &Map<String, Value>) -> bool {
    let single = table.len() == 1 && table.keys().all(|name| is_kind(name));
    single || table.contains_key("transition")
}

/// Kinds of models that are no [`FittedModel`].
const OTHERS: [&str; 5] = ["factorial", "linear_network", "gamma", "exponential", "multinomial"];

fn is_kind(name: &str) -> bool {
    OTHERS.contains(&name) || FittedModel::KINDS.contains(&name)
}

/// Models by name; the one of a file that is a model has none.
fn models_of(
    file: &str,
    table: Map<String, Value>,
) -> Result<Vec<(Option<String>, Given)>, Failure> {
    if is_model(&table) {
        return Ok(vec![(None, model_of(file, table)?)]);
    }
    let mut models = Vec::new();
    for (name, value) in table {
        let place = format!("{file}, {name}");
        let Value::Object(table) = value else {
            let what = format!("{place}: is no table of a model; a model is a table with its name");
            return Err(Failure::input(Topic::BadSyntax, what));
        };
        models.push((Some(name), model_of(&place, table)?));
    }
    Ok(models)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GammaFields {
    shape: f64,
    scale: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExponentialFields {
    mean: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MultinomialFields {
    probability: Vec<f64>,
}

fn model_of(place: &str, mut table: Map<String, Value>) -> Result<Given, Failure> {
    if has_null(&table) {
        let what = format!(
            "{place}: has a number that is not finite, or is missing; write decimal numbers, as 0.5"
        );
        return Err(Failure::input(Topic::NotFinite, what));
    }
    if let [(kind, Value::Object(_))] = &table.iter().collect::<Vec<_>>()[..]
        && !is_kind(kind)
    {
        let kinds = [FittedModel::KINDS, &OTHERS].concat().join(", ");
        let what = format!("{place}: `{kind}` is no kind of model; kinds are {kinds}");
        return Err(Failure::input(Topic::BadSyntax, what));
    }
    let refused = |why: BetweenError| Failure::input(why.kind(), format!("{place}: {why}"));
    let tagged = table.len() == 1 && table.keys().all(|name| is_kind(name));
    let tagged = if tagged { table.iter_mut().next() } else { None };
    let tagged = tagged.map(|(tag, value)| (tag.clone(), value.take()));
    Ok(match tagged.as_ref().map(|(tag, value)| (tag.as_str(), value.clone())) {
        None => Given::Fitted(checked(place, fields::<Hmm>(place, Value::Object(table))?.into())?),
        Some(("factorial", value)) => {
            let model: FactorialHmm = fields(place, value)?;
            model.validate().map_err(refused)?;
            Given::Factorial(model)
        }
        Some(("linear_network", value)) => {
            let model: LinearNetwork = fields(place, value)?;
            model.validate().map_err(|why| refused(why.into()))?;
            Given::LinearNetwork(model)
        }
        Some(("gamma", value)) => {
            let GammaFields { shape, scale } = fields(place, value)?;
            Given::Gamma(Gamma::new(shape, scale).map_err(refused)?)
        }
        Some(("exponential", value)) => {
            let ExponentialFields { mean } = fields(place, value)?;
            if !(mean > 0.0 && mean.is_finite()) {
                let what = format!("{place}: mean is {mean}; it must be positive and finite");
                return Err(Failure::input(Topic::OutOfRange, what));
            }
            Given::Gamma(Gamma::exponential(mean).map_err(refused)?)
        }
        Some(("multinomial", value)) => {
            let MultinomialFields { probability } = fields(place, value)?;
            Given::Multinomial(Multinomial::new(probability).map_err(refused)?)
        }
        Some((tag, value)) => {
            let tagged = Map::from_iter([(tag.to_owned(), value)]);
            Given::Fitted(checked(place, fields(place, Value::Object(tagged))?)?)
        }
    })
}

/// Whether a number is missing: JSON has none that is not finite.
fn has_null(table: &Map<String, Value>) -> bool {
    fn is(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Array(all) => all.iter().any(is),
            Value::Object(table) => has_null(table),
            _ => false,
        }
    }
    table.values().any(is)
}

fn fields<T: DeserializeOwned>(place: &str, value: Value) -> Result<T, Failure> {
    serde_json::from_value(value)
        .map_err(|why| Failure::input(Topic::BadSyntax, format!("{place}: {why}")))
}

fn checked(place: &str, model: FittedModel) -> Result<FittedModel, Failure> {
    match model.validate() {
        Ok(()) => Ok(model),
        Err(why) => Err(Failure::input(why.kind(), format!("{place}: {why}"))),
    }
}
