//! The golden vectors: values obtained in two independent ways each, and a runner that leaves none
//! of them uncompared.
//!
//! A file's `system` names its kind; a kind is one module here with the fields that its cases may
//! have. What a kind does not know (a file, a kind, an input, an expected field) is a failure, and so
//! is a case that expects nothing.

mod baum_welch;
mod between;
mod compare;
mod context_tree;
mod count_kernel;
mod directional;
mod dynamics;
mod exponential;
mod factorial;
mod factorial_switching;
mod features;
mod fisher;
mod fisher_kernel;
mod fixed_length;
mod gaussian;
mod geometry;
mod hidden_binomial;
mod hidden_tree;
mod host;
mod host_context;
mod host_fit;
mod host_missing;
mod inference;
mod kernel;
mod kernel_logistic;
mod label_latent;
mod latent_products;
mod marginalisation;
mod markov;
mod markov_products;
mod mean_map;
mod missing;
mod movement;
mod network;
mod on_device;
mod pair_hmm;
mod positions;
mod precision;
mod schema;
mod segments;
mod sequence_maps;
mod statistics;
mod switching;
mod through_host;
mod tree;
mod windowed;

pub use on_device::{BIAS, DeviceCase, device_cases};

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value};

use baum_welch::BaumWelch;
use compare::Comparison;
use context_tree::ContextTrees;
use count_kernel::Counts;
use directional::Directional;
use dynamics::Linear;
use exponential::Exponential;
use factorial_switching::FactorialSwitching;
use fisher::Fisher;
use fisher_kernel::FisherKernels;
use fixed_length::Fixed;
use gaussian::Densities;
use geometry::Geometry;
use hidden_binomial::Binomial;
use hidden_tree::Trees;
use inference::Inference;
use kernel_logistic::Logistic;
use label_latent::LabelLatent;
use latent_products::LatentProducts;
use marginalisation::FiniteSet;
use markov::Strings;
use markov_products::MarkovProducts;
use mean_map::MeanMaps;
use missing::MissingChannels;
use network::{NetworkKernels, NetworkProducts};
use pair_hmm::Pairs;
use positions::Positions;
use precision::{Kind, Precise};
use schema::{Case, File};
use segments::{Durations, FinalState};
use sequence_maps::SequenceMaps;
use statistics::OnlineStatistics;
use tree::Tree;
use windowed::Windowed;

/// The precision that cases are computed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `f64`, at the tolerance that each case states.
    Double,
    /// `f32`, at a tolerance derived from each case's sizes as well.
    Single,
}

/// What came of one file.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file's name.
    pub file: String,
    /// Cases checked.
    pub cases: usize,
    /// Expected fields compared.
    pub fields: usize,
    /// Numbers compared.
    pub numbers: usize,
    /// What failed, a line each: case, field, values.
    pub failures: Vec<String>,
}

/// Bytes of stack for a case.
const STACK: usize = 256 << 20;

/// Files of a directory that hold no vectors.
const PROSE: [&str; 2] = ["README.md", "ERRATA.md"];

/// Checks every file of a directory.
///
/// # Errors
/// A directory that cannot be read or holds no golden file.
pub fn check_directory(directory: &Path, precision: Precision) -> Result<Vec<Report>, String> {
    let unreadable = |error| format!("{}: {error}", directory.display());
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        names.insert(entry.map_err(unreadable)?.file_name());
    }
    names.retain(|name| !PROSE.iter().any(|prose| name == prose));
    if names.is_empty() {
        return Err(format!("{}: no golden file", directory.display()));
    }
    let report = |name: std::ffi::OsString| {
        let path = directory.join(&name);
        let name = name.to_string_lossy().into_owned();
        match std::fs::read_to_string(&path) {
            Ok(text) => check_text(&name, &text, precision),
            Err(error) => Report::failed(&name, format!("cannot be read: {error}")),
        }
    };
    Ok(names.into_iter().map(report).collect())
}

/// Checks one file's text.
pub fn check_text(name: &str, text: &str, precision: Precision) -> Report {
    let file: File = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(error) => return Report::failed(name, format!("not a golden file: {error}")),
    };
    let mut report =
        Report { file: name.into(), cases: 0, fields: 0, numbers: 0, failures: vec![] };
    if file.cases.is_empty() {
        report.failures.push("no case".into());
    }
    let check = match file.system.as_str() {
        "01_marginalisation_kernel" => check_case::<FiniteSet>,
        "02_hidden_binomial" => check_case::<Binomial>,
        "03_fixed_length_hmm_kernel" => check_case::<Fixed>,
        "04_pair_hmm_kernel" => check_case::<Pairs>,
        "05_hidden_tree_kernel" => check_case::<Trees>,
        "06_hmm_inference" => check_case::<Inference>,
        "07_hmm_fisher_scores" => check_case::<Fisher>,
        "08_fisher_kernels" => check_case::<FisherKernels>,
        "09_hmm_directional_derivative" => check_case::<Directional>,
        "10_gaussian_fisher" => check_case::<Densities>,
        "11_markov_strings" => check_case::<Strings>,
        "12_independent_positions" => check_case::<Positions>,
        "13_generative_mmk" => check_case::<MeanMaps>,
        "14_empirical_latent_mmk" => check_case::<SequenceMaps>,
        "15a_ppk_exponential_family" => check_case::<Exponential>,
        "15b_ppk_latent" => check_case::<LatentProducts>,
        "15c_ppk_linear_gaussian" => check_case::<Linear>,
        "15d_ppk_bayes_net" => check_case::<NetworkProducts>,
        "15e_ppk_factorial_switching" => check_case::<FactorialSwitching>,
        "16_marginalised_count_kernel" => check_case::<Counts>,
        "17_bayes_net_fisher" => check_case::<NetworkKernels>,
        "18_kernel_logistic_regression" => check_case::<Logistic>,
        "19_baum_welch" => check_case::<BaumWelch>,
        "20_online_statistics" => check_case::<OnlineStatistics>,
        "21_multinomial_geometry_symmetric_kl" => check_case::<Geometry>,
        "22_missing_channels" => check_case::<MissingChannels>,
        "23_final_state" => check_case::<FinalState>,
        "24_explicit_duration" => check_case::<Durations>,
        "25_label_latent_fisher" => check_case::<LabelLatent>,
        "26_ppk_markov_chain" => check_case::<MarkovProducts>,
        "27_context_tree_weighting" => check_case::<ContextTrees>,
        "28_windowed_decisions" => check_case::<Windowed>,
        system => {
            report.failures.push(format!("kind `{system}` is not known"));
            return report;
        }
    };
    for case in file.cases {
        let name = case.name.clone();
        report.cases += 1;
        // Statistics of the largest sizes that are compiled do not fit a test thread's stack.
        let checked = std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().stack_size(STACK);
            let thread = builder.spawn_scoped(scope, || check(case, precision));
            let panicked = |_| Err("panicked".to_owned());
            thread
                .map_or_else(|error| Err(error.to_string()), |t| t.join().unwrap_or_else(panicked))
        });
        match checked {
            Ok(comparison) => {
                report.fields += comparison.fields;
                report.numbers += comparison.numbers;
                let failures = comparison.failures.into_iter();
                report.failures.extend(failures.map(|failure| format!("{name}: {failure}")));
            }
            Err(error) => report.failures.push(format!("{name}: {error}")),
        }
    }
    report
}

impl Report {
    fn failed(file: &str, failure: String) -> Self {
        Self { file: file.into(), cases: 0, fields: 0, numbers: 0, failures: vec![failure] }
    }
}

fn check_case<K: Kind>(case: Case, precision: Precision) -> Result<Comparison, String> {
    match precision {
        Precision::Double => check_in::<K, f64>(case),
        Precision::Single => check_in::<K, f32>(case),
    }
}

fn check_in<K: Kind, T: Precise>(case: Case) -> Result<Comparison, String> {
    let tolerances_make_sense = case.rtol >= 0.0 && case.atol >= 0.0;
    if !tolerances_make_sense {
        return Err("a tolerance below zero".into());
    }
    let inputs = serde_json::from_value(case.inputs).map_err(|error| format!("inputs: {error}"))?;
    // By the files' convention: `info_` is not for comparison, `wrong_` must not be matched.
    let mut expected = Map::new();
    let mut traps = Vec::new();
    for (field, value) in case.expected {
        if field.starts_with("wrong_") {
            let wrong: Tree =
                serde_json::from_value(value).map_err(|error| format!("{field}: {error}"))?;
            traps.push((field, wrong));
        } else if !field.starts_with("info_") {
            expected.insert(field, value);
        }
    }
    let mut comparison = Comparison::new(Value::Object(expected), case.rtol, case.atol);
    K::check::<T>(inputs, &mut comparison)?;
    comparison.finish();
    for (field, wrong) in &traps {
        comparison.trap(field, wrong);
    }
    if comparison.fields == 0 && comparison.failures.is_empty() {
        return Err("expects nothing".into());
    }
    Ok(comparison)
}
