use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::oracle::{Law, Model, Observation, Sequence};

pub(super) type Row = Vec<f64>;
pub(super) type Matrix = Vec<Row>;

/// One file of golden vectors.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) system: String,
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "definition")]
    _definition: String,
    pub(super) cases: Vec<Case>,
}

/// One case: its kind decides what inputs and expected fields there may be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) inputs: Value,
    pub(super) expected: Map<String, Value>,
    pub(super) rtol: f64,
    pub(super) atol: f64,
    #[serde(default, rename = "note")]
    _note: Option<String>,
}

/// A sequence of which samples, or single channels of them, may be missing.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct InPartJson(Vec<Option<SampleJson>>);

/// A symbol, or channels some of which may be missing.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum SampleJson {
    Symbol(usize),
    Channels(Vec<Option<f64>>),
}

/// A sample without any channel is a missing one.
impl From<InPartJson> for Sequence {
    fn from(InPartJson(samples): InPartJson) -> Self {
        let one = |sample: SampleJson| match sample {
            SampleJson::Symbol(symbol) => Some(Observation::Symbol(symbol)),
            SampleJson::Channels(x) if x.iter().all(Option::is_none) => None,
            SampleJson::Channels(x) => {
                Some(Observation::Channels(x.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect()))
            }
        };
        samples.into_iter().map(|sample| sample.and_then(one)).collect()
    }
}

/// Whether a channel of an observation is missing.
pub(super) fn lacks_channels(x: &Observation) -> bool {
    matches!(x, Observation::Channels(x) if x.iter().any(|x| x.is_nan()))
}

/// A hidden Markov model.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "emission_type", rename_all = "snake_case", deny_unknown_fields)]
enum HmmJson {
    Categorical {
        initial: Row,
        transition: Matrix,
        emission: Matrix,
    },
    GaussianDiag {
        initial: Row,
        transition: Matrix,
        means: Matrix,
        variances: Matrix,
    },
    GaussianFull {
        initial: Row,
        transition: Matrix,
        means: Matrix,
        covariances: Vec<Matrix>,
    },
    GmmDiag {
        initial: Row,
        transition: Matrix,
        weights: Matrix,
        means: Vec<Matrix>,
        variances: Vec<Matrix>,
    },
    GmmFull {
        initial: Row,
        transition: Matrix,
        weights: Matrix,
        means: Vec<Matrix>,
        covariances: Vec<Vec<Matrix>>,
    },
    Poisson {
        initial: Row,
        transition: Matrix,
        rates: Matrix,
    },
    Bernoulli {
        initial: Row,
        transition: Matrix,
        probabilities: Matrix,
    },
}

pub(super) fn zip_with<A, B, C>(
    a: Vec<A>,
    b: Vec<B>,
    f: impl Fn(A, B) -> C,
) -> Result<Vec<C>, String> {
    if a.len() != b.len() {
        return Err(format!(
            "lists of {} and {} entries that should go together",
            a.len(),
            b.len()
        ));
    }
    Ok(a.into_iter().zip(b).map(|(a, b)| f(a, b)).collect())
}

impl TryFrom<HmmJson> for Model {
    type Error = String;

    fn try_from(hmm: HmmJson) -> Result<Self, String> {
        let gaussian = |mean, variance| Law::Gaussian { mean, variance };
        let full = |mean, covariance| Law::FullGaussian { mean, covariance };
        let mixture = |weight: Row, component: Vec<Law>| Law::Mixture { weight, component };
        let (initial, transition, emission) = match hmm {
            HmmJson::Categorical { initial, transition, emission } => {
                (initial, transition, emission.into_iter().map(Law::Categorical).collect())
            }
            HmmJson::GaussianDiag { initial, transition, means, variances } => {
                (initial, transition, zip_with(means, variances, gaussian)?)
            }
            HmmJson::GaussianFull { initial, transition, means, covariances } => {
                (initial, transition, zip_with(means, covariances, full)?)
            }
            HmmJson::GmmDiag { initial, transition, weights, means, variances } => {
                let components = zip_with(means, variances, |m, v| zip_with(m, v, gaussian))?;
                let components = components.into_iter().collect::<Result<_, _>>()?;
                (initial, transition, zip_with(weights, components, mixture)?)
            }
            HmmJson::GmmFull { initial, transition, weights, means, covariances } => {
                let components = zip_with(means, covariances, |m, c| zip_with(m, c, full))?;
                let components = components.into_iter().collect::<Result<_, _>>()?;
                (initial, transition, zip_with(weights, components, mixture)?)
            }
            HmmJson::Poisson { initial, transition, rates } => {
                (initial, transition, rates.into_iter().map(Law::Poisson).collect())
            }
            HmmJson::Bernoulli { initial, transition, probabilities } => {
                (initial, transition, probabilities.into_iter().map(Law::Bernoulli).collect())
            }
        };
        if transition.len() != initial.len() || emission.len() != initial.len() {
            return Err("initial, transition and emission differ in their number of states".into());
        }
        Ok(Self { initial, transition, emission })
    }
}

impl<'de> Deserialize<'de> for Model {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(HmmJson::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
