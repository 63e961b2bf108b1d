use serde::Deserialize;
use serde_json::Value;

use super::schema::{Matrix, Row, zip_with};
use crate::oracle::{Direction, Law, LawDirection, Model, Parametrisation, Spread};

/// Which parametrisation a direction moves.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ParametrisationJson {
    Ratio,
    Softmax,
}

/// A direction: blocks shaped like the parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DirectionJson {
    initial: Row,
    transition: Matrix,
    emission: Option<Matrix>,
    weights: Option<Matrix>,
    means: Option<Value>,
    variances: Option<Value>,
    log_std: Option<Value>,
    covariances: Option<Value>,
    log_rates: Option<Matrix>,
    logits: Option<Matrix>,
}

impl From<ParametrisationJson> for Parametrisation {
    fn from(parametrisation: ParametrisationJson) -> Self {
        match parametrisation {
            ParametrisationJson::Ratio => Self::Ratio,
            ParametrisationJson::Softmax => Self::Softmax,
        }
    }
}

fn block<A: serde::de::DeserializeOwned>(name: &str, value: Option<Value>) -> Result<A, String> {
    let value = value.ok_or_else(|| format!("direction lacks `{name}`"))?;
    serde_json::from_value(value).map_err(|error| format!("direction's `{name}`: {error}"))
}

/// Checks that the blocks of a direction that a model has no parameters for are absent.
fn absent(name: &str, present: bool) -> Result<(), String> {
    if present { Err(format!("direction has `{name}`, the model has not")) } else { Ok(()) }
}

impl DirectionJson {
    /// The direction for a given model.
    pub(super) fn for_model(self, model: &Model) -> Result<Direction, String> {
        let Self { initial, transition, emission, weights, means, variances, .. } = self;
        let Self { log_std, covariances, log_rates, logits, .. } = self;
        let (spread, widths): (fn(Row) -> Spread, _) = match log_std {
            Some(_) => (Spread::LogStd, log_std.clone()),
            None => (Spread::Variance, variances.clone()),
        };
        let gaussian = |mean, spread| LawDirection::Gaussian { mean, spread };
        let full = |mean, covariance| LawDirection::FullGaussian { mean, covariance };
        let first = model.emission.first().ok_or("a model without states")?;
        let in_mixture = matches!(first, Law::Mixture { .. });
        let inner = match first {
            Law::Mixture { component, .. } => component.first().ok_or("an empty mixture")?,
            law => law,
        };
        absent("weights", weights.is_some() && !in_mixture)?;
        absent("emission", emission.is_some() && !matches!(inner, Law::Categorical(_)))?;
        let is_full = matches!(inner, Law::FullGaussian { .. });
        let is_diagonal = matches!(inner, Law::Gaussian { .. });
        absent("covariances", covariances.is_some() && !is_full)?;
        absent("variances", variances.is_some() && (!is_diagonal || log_std.is_some()))?;
        absent("log_std", log_std.is_some() && !is_diagonal)?;
        absent("means", means.is_some() && !is_diagonal && !is_full)?;
        absent("log_rates", log_rates.is_some() && !matches!(first, Law::Poisson(_)))?;
        absent("logits", logits.is_some() && !matches!(first, Law::Bernoulli(_)))?;
        let emission = match (inner, in_mixture) {
            (Law::Categorical(_), false) => {
                let rows = emission.ok_or("direction lacks `emission`")?;
                rows.into_iter().map(LawDirection::Categorical).collect()
            }
            (Law::Poisson(_) | Law::Bernoulli(_), false) => {
                let rates =
                    log_rates.or(logits).ok_or("direction lacks `log_rates` or `logits`")?;
                rates.into_iter().map(LawDirection::Counting).collect()
            }
            (Law::Gaussian { .. }, false) => {
                let means: Matrix = block("means", means)?;
                let widths: Matrix = block("variances` or `log_std", widths)?;
                zip_with(means, widths, |m, v| gaussian(m, spread(v)))?
            }
            (Law::FullGaussian { .. }, false) => {
                zip_with(block("means", means)?, block("covariances", covariances)?, full)?
            }
            (Law::Gaussian { .. }, true) => {
                let means: Vec<Matrix> = block("means", means)?;
                let widths: Vec<Matrix> = block("variances` or `log_std", widths)?;
                let components =
                    zip_with(means, widths, |m, v| zip_with(m, v, |m, v| gaussian(m, spread(v))))?;
                mixtures(weights, components)?
            }
            (Law::FullGaussian { .. }, true) => {
                let means: Vec<Matrix> = block("means", means)?;
                let rates: Vec<Vec<Matrix>> = block("covariances", covariances)?;
                mixtures(weights, zip_with(means, rates, |m, c| zip_with(m, c, full))?)?
            }
            _ => return Err("a direction for an emission family that no file has".into()),
        };
        if [initial.len(), transition.len(), emission.len()] != [model.states(); 3] {
            return Err("direction and model differ in their number of states".into());
        }
        Ok(Direction { initial, transition, emission })
    }
}

fn mixtures(
    weights: Option<Matrix>,
    components: Vec<Result<Vec<LawDirection>, String>>,
) -> Result<Vec<LawDirection>, String> {
    let weights = weights.ok_or("direction lacks `weights`")?;
    let components = components.into_iter().collect::<Result<Vec<_>, _>>()?;
    zip_with(weights, components, |weight, component| LawDirection::Mixture { weight, component })
}
