//! The kernels' files once more by what a device runs: a machine that stores a case's items, one output for each of them.

mod flattened;

use std::path::Path;

use fishweir::classifier::{
    AdaptedStart, Classifier, ComparedBy, Expansion, ExpansionKernel, Observations, Provenance,
    Rule,
};
use fishweir::data::{Front, Kind, Lags, Rows, Samples};
use fishweir::kernel::marginal::MarginalModel;
use fishweir_core::classify::Normalisation;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::schema::{Case, File, Matrix, Row, zip_with};
use super::{
    exponential, hidden_binomial, hidden_tree, latent_products, marginalisation, pair_hmm,
    through_host,
};
use crate::build::host::{host_model, host_samples};
use crate::oracle::{Law, Model};

/// A case as a machine for a device.
#[derive(Clone, Debug)]
pub struct DeviceCase {
    /// File and case.
    pub name: String,
    /// One output per stored item: `BIAS + k(item, x) exp(-log_scale)`.
    pub classifier: Classifier,
    /// Logarithm of what kernels are divided by, so that the largest is one.
    pub log_scale: f64,
    /// The sequences that arrive.
    pub streams: Vec<Samples>,
    /// `log k`, `[stream][item]`.
    pub expected: Matrix,
    /// Steps of the recursion: samples of the longest sequence, or transitions.
    pub steps: usize,
}

/// Bias of each output: far below every kernel that is compared, so that values are read as they are and not relative to the
/// largest.
pub const BIAS: f64 = 1e-30;

/// The files of kernels that machines evaluate against stored items.
const FILES: [&str; 5] = [
    "01_marginalisation_kernel.json",
    "02_hidden_binomial.json",
    "03_fixed_length_hmm_kernel.json",
    "04_pair_hmm_kernel.json",
    "05_hidden_tree_kernel.json",
];

/// Every case of the files in a directory that a machine can evaluate.
///
/// # Errors
/// A file that cannot be read, or a case of another shape.
pub fn device_cases(directory: &Path) -> Result<Vec<DeviceCase>, String> {
    let mut cases = Vec::new();
    for (number, name) in FILES.iter().enumerate() {
        let path = directory.join(name);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let file: File = serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
        for case in file.cases {
            let named = format!("{name}: {}", case.name);
            let made = match number {
                0 => of_set(&case),
                1 => of_binomial(&case),
                2 => of_fixed_length(&case),
                3 => of_pair(&case),
                _ => of_trees(&case),
            };
            let made = made.map_err(|error| format!("{named}: {error}"))?;
            cases.extend(made.into_iter().map(|one| one.made(&named)));
        }
    }
    for (name, of) in PRODUCTS {
        let path = directory.join(name);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let file: File = serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
        for case in file.cases {
            let named = format!("{name}: {}", case.name);
            let products = of(&case).map_err(|error| format!("{named}: {error}"))?;
            cases.extend(products.and_then(|one| one.made(&named)).into_iter().flatten());
        }
    }
    Ok(cases)
}

/// A case of a file of kernels between models; `None` of one that no device compares.
type OfProducts = fn(&Case) -> Result<Option<Products>, String>;

/// The files of kernels between models.
const PRODUCTS: [(&str, OfProducts); 5] = [
    ("15a_ppk_exponential_family.json", of_single),
    ("15b_ppk_latent.json", of_latent),
    ("15c_ppk_linear_gaussian.json", flattened::of_linear),
    ("15d_ppk_bayes_net.json", flattened::of_networks),
    ("15e_ppk_factorial_switching.json", flattened::of_factorial),
];

/// A kernel with the items that it stores, before both become a machine.
struct Stored {
    kind: &'static str,
    model: MarginalModel,
    items: Vec<Vec<u16>>,
    streams: Vec<Samples>,
    expected: Matrix,
}

impl Stored {
    fn made(self, named: &str) -> DeviceCase {
        let finite = self.expected.iter().flatten().copied().filter(|log| log.is_finite());
        let log_scale = finite.fold(f64::NEG_INFINITY, f64::max);
        let log_scale = if log_scale.is_finite() { log_scale } else { 0.0 };
        let normalised = false;
        let count = self.expected.first().map_or(0, Vec::len);
        let models = match &self.model {
            MarginalModel::Marginalisation(set) => set.model.clone(),
            MarginalModel::FixedLength(model) => vec![model.hmm.clone()],
            _ => Vec::new(),
        };
        let kernel = match &self.model {
            MarginalModel::Marginalisation(set) => ExpansionKernel::ModelSet {
                prior: set.prior.clone(),
                items: likelihoods(set, &self.streams),
                normalised,
                log_scale,
            },
            MarginalModel::FixedLength(_) => {
                ExpansionKernel::FixedLength { items: self.items, normalised, log_scale }
            }
            other => ExpansionKernel::Hidden {
                model: Box::new(other.clone()),
                items: self.items,
                normalised,
                log_scale,
            },
        };
        let kind = self.model.kind().expect("a model of one kind");
        let channels = match &kind {
            Kind::Symbols(_) => 0,
            Kind::Channels(names) => names.len(),
        };
        let unit = |item: usize| (0..count).map(|other| f64::from(item == other)).collect();
        let classifier = Classifier {
            teaching: None,
            method: self.model.name().into(),
            observations: (&kind).into(),
            classes: (0..count.max(2)).map(|class| format!("like {class}")).collect(),
            front: Front::NONE,
            lags: Lags::NONE,
            centre: vec![0.0; channels],
            scale: vec![1.0; channels],
            models,
            codebooks: None,
            normalisation: Normalisation::NONE,
            rule: Rule::Expansion(Expansion {
                kernel,
                coefficients: (0..count).map(unit).collect(),
                biases: vec![BIAS; count],
            }),
            confidence: None,
            provenance: Provenance::default(),
        };
        let steps = self.streams.iter().map(|x| x.view().len()).max().unwrap_or(0);
        DeviceCase {
            name: format!("{named}, {}", self.kind),
            classifier,
            log_scale,
            streams: self.streams,
            expected: self.expected,
            steps,
        }
    }
}

/// Two models, the second of which is a bank's, and `log k` for each power and number of transitions.
struct Products {
    models: [Model; 2],
    /// `(rho, steps, log k)`.
    expected: Vec<(f64, usize, f64)>,
}

/// Samples that only collect: more than any test pushes, so that the stream's model stays the first.
const UNCHANGED: u64 = 1 << 40;

impl Products {
    /// `None` of families that no device compares.
    fn made(&self, named: &str) -> Option<Vec<DeviceCase>> {
        let [start, other] = self.models.each_ref().map(host_model);
        let (start, other) = (start?, other?);
        let symbols = start.emission.is_over_symbols();
        // One sample, which only collects.
        let (observations, sample) = if symbols {
            let letters: String = ('a'..='z').chain('0'..='9').take(start.size()).collect();
            (Observations::Symbols(letters), Samples::Symbols(vec![possible(&self.models[0])]))
        } else {
            let mut rows = Rows::new(start.size());
            rows.push(Some(&vec![0.0; start.size()]));
            let names = (0..start.size()).map(|channel| format!("x{channel}")).collect();
            (Observations::Channels(names), Samples::Channels(rows))
        };
        let one = |&(rho, steps, log): &(f64, usize, f64)| {
            let bank = ["like", "unlike"].map(|class| (class.to_owned(), other.clone()));
            let mut classifier = Classifier::of_bank(
                observations.clone(),
                start.clone(),
                bank.into(),
                (ComparedBy::Product { rho }, steps),
                AdaptedStart { warm_up: UNCHANGED, ..AdaptedStart::DEFAULT },
                None,
            )
            .expect("a bank");
            let log_scale = if log.is_finite() { log } else { 0.0 };
            let Rule::Expansion(expansion) = &mut classifier.rule else { unreachable!() };
            let ExpansionKernel::Models { normalised, log_scale: scale, .. } =
                &mut expansion.kernel
            else {
                unreachable!()
            };
            (*normalised, *scale) = (false, log_scale);
            // One output per model of the bank would be two that are the same.
            (expansion.coefficients, expansion.biases) = (vec![vec![0.0, 1.0]], vec![BIAS]);
            DeviceCase {
                name: format!("{named} rho {rho} over {steps}, product"),
                classifier,
                log_scale,
                streams: vec![sample.clone()],
                expected: vec![vec![log]],
                steps,
            }
        };
        Some(self.expected.iter().map(one).collect())
    }
}

/// A symbol that a model may begin with.
fn possible(model: &Model) -> Option<u16> {
    let begins = model.initial.iter().zip(&model.emission).filter(|(p, _)| **p > 0.0);
    let laws = begins.filter_map(|(_, law)| match law {
        Law::Categorical(p) => p.iter().position(|&p| p > 0.0),
        _ => None,
    });
    laws.map(|symbol| symbol as u16).next()
}

/// A mixture is a model whose states never follow one another.
fn components(weight: Row, emission: Vec<Law>) -> Model {
    let count = weight.len();
    let row = |from: usize| (0..count).map(|to| f64::from(from == to)).collect();
    Model { initial: weight, transition: (0..count).map(row).collect(), emission }
}

fn numbers(value: Option<&Value>) -> Result<Row, String> {
    value.and_then(Value::as_array).ok_or("no list of numbers")?.iter().map(number).collect()
}

fn of_single(case: &Case) -> Result<Option<Products>, String> {
    let gaussian =
        |mean: Row, variance: Row| components(vec![1.0], vec![Law::Gaussian { mean, variance }]);
    let (models, rhos, steps) = match inputs::<exponential::Inputs>(case)? {
        exponential::Inputs::GaussianIsotropic { mean, mean2, variance, rhos } => {
            let of = |mean: Row| {
                let variance = vec![variance; mean.len()];
                gaussian(mean, variance)
            };
            ([of(mean), of(mean2)], rhos, 0)
        }
        exponential::Inputs::GaussianVariance { variance, variance2, rhos } => {
            ([variance, variance2].map(|v| gaussian(vec![0.0], vec![v])), rhos, 0)
        }
        exponential::Inputs::Gaussian { mean, cov, mean2, cov2, rhos } if mean.len() == 1 => {
            ([gaussian(mean, cov.concat()), gaussian(mean2, cov2.concat())], rhos, 0)
        }
        exponential::Inputs::Gaussian { mean, cov, mean2, cov2, rhos } => {
            let logs = numbers(case.expected.get("log_value"))?;
            return Ok(Some(flattened::of_covariances([(mean, cov), (mean2, cov2)], &rhos, logs)));
        }
        // Channels that are yes or no are one symbol together.
        exponential::Inputs::Bernoulli { p, p2, rhos } => {
            let together = |p: Row| {
                let joint = p.iter().fold(vec![1.0], |joint, &p| {
                    joint.iter().flat_map(|&q| [q * (1.0 - p), q * p]).collect()
                });
                components(vec![1.0], vec![Law::Categorical(joint)])
            };
            ([together(p), together(p2)], rhos, 0)
        }
        exponential::Inputs::Multinomial { p, p2, s, rhos } if s > 0 => {
            let of = |p| components(vec![1.0], vec![Law::Categorical(p)]);
            // So many draws, of which the product is one of their own at one half alone.
            let half = rhos.iter().take_while(|rho| **rho == 0.5).copied().collect();
            ([of(p), of(p2)], half, s - 1)
        }
        _ => return Ok(None),
    };
    let logs = numbers(case.expected.get("log_value"))?;
    let expected = rhos.iter().zip(logs).map(|(&rho, log)| (rho, steps, log)).collect();
    Ok(Some(Products { models, expected }))
}

fn of_latent(case: &Case) -> Result<Option<Products>, String> {
    let mixture = |law: Law| match law {
        Law::Mixture { weight, component } => components(weight, component),
        law => components(vec![1.0], vec![law]),
    };
    let (models, rhos) = match inputs::<latent_products::Inputs>(case)? {
        latent_products::Inputs::MixtureDiscrete {
            weights,
            components: laws,
            weights2,
            components2,
            rhos,
        } => {
            let of = |weights, laws: Matrix| {
                components(weights, laws.into_iter().map(Law::Categorical).collect())
            };
            ([of(weights, laws), of(weights2, components2)], rhos)
        }
        latent_products::Inputs::MixtureGauss { p, p2, rhos } => {
            ([mixture(p.try_into()?), mixture(p2.try_into()?)], rhos)
        }
        latent_products::Inputs::Hmm { hmm, hmm2, rhos, .. } => {
            let blocks = case.expected.get("per_steps").and_then(Value::as_array);
            let mut expected = Vec::new();
            for block in blocks.ok_or("no `per_steps`")? {
                let steps = block.get("steps").and_then(Value::as_u64).ok_or("no `steps`")?;
                let logs = numbers(block.get("log_k_tilde"))?;
                let each = rhos.iter().zip(logs);
                expected.extend(each.map(|(&rho, log)| (rho, steps as usize, log)));
            }
            let models = [hmm, hmm2].map(flattened::of_components);
            return Ok(Some(Products { models, expected }));
        }
    };
    let values = numbers(case.expected.get("k_tilde"))?;
    let expected = rhos.iter().zip(values).map(|(&rho, value)| (rho, 0, value.ln())).collect();
    Ok(Some(Products { models, expected }))
}

/// `log P(item | model)`, `[item][model]`: of one model alone, the kernel of an item with itself is the square.
fn likelihoods(
    set: &fishweir::kernel::marginal::FiniteSetModel,
    items: &[Samples],
) -> Vec<Vec<Option<f64>>> {
    let one = |model: usize, item: &Samples| {
        let mut alone = set.clone();
        (alone.prior, alone.model) = (vec![1.0], vec![set.model[model].clone()]);
        let alone = MarginalModel::Marginalisation(alone);
        let log = alone.log_kernel(item.view(), item.view()).expect("a possible item");
        (log > f64::NEG_INFINITY).then_some(0.5 * log)
    };
    items.iter().map(|item| (0..set.model.len()).map(|model| one(model, item)).collect()).collect()
}

fn inputs<A: DeserializeOwned>(case: &Case) -> Result<A, String> {
    serde_json::from_value(case.inputs.clone()).map_err(|error| error.to_string())
}

/// A number that may be infinite.
fn number(value: &Value) -> Result<f64, String> {
    match value {
        Value::String(text) if text == "-inf" => Ok(f64::NEG_INFINITY),
        other => other.as_f64().ok_or_else(|| format!("{other} is no number")),
    }
}

fn expected(case: &Case, name: &str) -> Result<Value, String> {
    case.expected.get(name).cloned().ok_or_else(|| format!("expects no {name}"))
}

fn gram(case: &Case) -> Result<Matrix, String> {
    let rows = expected(case, "log_gram")?;
    let row = |row: &Value| row.as_array().ok_or("a row is no list")?.iter().map(number).collect();
    rows.as_array().ok_or("no list of rows")?.iter().map(row).collect()
}

fn string(symbols: &[usize]) -> Vec<u16> {
    symbols.iter().map(|&symbol| symbol as u16).collect()
}

fn samples(symbols: &[u16]) -> Samples {
    Samples::Symbols(symbols.iter().copied().map(Some).collect())
}

/// Two strings, or all pairs of several.
#[derive(Deserialize)]
struct Strings {
    s: Option<Vec<usize>>,
    t: Option<Vec<usize>>,
    sequences: Option<Vec<Vec<usize>>>,
}

impl Strings {
    fn stored(
        self,
        case: &Case,
        kind: &'static str,
        model: MarginalModel,
        log: Option<f64>,
    ) -> Result<Stored, String> {
        let (items, streams, expected) = match (self.s, self.t, self.sequences) {
            (Some(s), Some(t), None) => {
                let log = match log {
                    Some(log) => log,
                    None => number(&expected(case, "log_kernel")?)?,
                };
                (vec![string(&s)], vec![string(&t)], vec![vec![log]])
            }
            (None, None, Some(all)) => {
                let all: Vec<Vec<u16>> = all.iter().map(|one| string(one)).collect();
                (all.clone(), all, gram(case)?)
            }
            _ => return Err("either `s` and `t` or `sequences`".into()),
        };
        let streams = streams.iter().map(|one| samples(one)).collect();
        Ok(Stored { kind, model, items, streams, expected })
    }
}

fn of_set(case: &Case) -> Result<Vec<Stored>, String> {
    let (prior, models, sequences) = inputs::<marginalisation::Inputs>(case)?.plain()?;
    let model = through_host::set_of(&prior, &models)?.ok_or("a family that the host lacks")?;
    let streams = sequences.iter().map(|one| host_samples(one).ok_or("samples of several kinds"));
    Ok(vec![Stored {
        kind: "set",
        model,
        items: Vec::new(),
        streams: streams.collect::<Result<_, _>>()?,
        expected: gram(case)?,
    }])
}

fn of_binomial(case: &Case) -> Result<Vec<Stored>, String> {
    let model = match inputs::<hidden_binomial::Inputs>(case)? {
        hidden_binomial::Inputs::Shared { state_prior, emission, .. } => {
            through_host::hidden_binomial(Some((&state_prior, &emission)), vec![])?
        }
        hidden_binomial::Inputs::PerPosition { state_prior, emission, .. } => {
            let pairs: Vec<(Row, Matrix)> = zip_with(state_prior, emission, |a, b| (a, b))?;
            through_host::hidden_binomial(None, pairs.iter().map(|(a, b)| (a, b)).collect())?
        }
    };
    let model = model.ok_or("no position")?;
    Ok(vec![inputs::<Strings>(case)?.stored(case, "hidden binomial", model, None)?])
}

fn of_fixed_length(case: &Case) -> Result<Vec<Stored>, String> {
    #[derive(Deserialize)]
    struct OfHmm {
        hmm: Model,
    }
    let OfHmm { hmm } = inputs(case)?;
    let model = through_host::fixed_length(&hmm)?.ok_or("a family that the host lacks")?;
    Ok(vec![inputs::<Strings>(case)?.stored(case, "fixed length", model, None)?])
}

fn of_pair(case: &Case) -> Result<Vec<Stored>, String> {
    let model = through_host::pair_hmm(&inputs::<pair_hmm::Inputs>(case)?.plain()?)?;
    Ok(vec![inputs::<Strings>(case)?.stored(case, "pair", model, None)?])
}

fn of_trees(case: &Case) -> Result<Vec<Stored>, String> {
    let (plain, positions) = inputs::<hidden_tree::Inputs>(case)?.plain();
    let tree = through_host::tree(&plain, &positions)?;
    let hidden = MarginalModel::HiddenTree(tree.clone());
    let mut cases = vec![inputs::<Strings>(case)?.stored(case, "hidden", hidden, None)?];
    if let Some(sum) = case.expected.get("pruned_sum") {
        let log = Some(number(sum)?.ln());
        let pruned = MarginalModel::PrunedTree(tree);
        cases.push(inputs::<Strings>(case)?.stored(case, "pruned", pruned, log)?);
    }
    Ok(cases)
}
