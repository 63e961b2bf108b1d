//! `fishweir compare`.

mod given;
mod likeness;

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fishweir::kernel::between::Affinity;
use fishweir::kernel::{Gram, Items, LogGram, gram_bytes};
use fishweir::report::{Table, counted, printable, short};
use serde::Serialize;

use super::gram::{Layout, layout_of};
use super::options::{named, note_idle};
use super::output::{self, Outputs};
use super::{Failure, Topic};
use crate::help::brief;
use given::Named;
use likeness::Alike;

pub(super) const LONG_ABOUT: &str = "\
Compare models with each other: the kernel of all pairs.

A file has one model or several: what `fit` wrote (its class models), a network of `network fit` or in the Bayesian Interchange \
Format, or models written by hand in TOML or JSON, with a name each. All must be of one kind.

The kernels are those of the distributions: `ppk`, the integral of p^rho q^rho; `bhattacharyya`, the same with rho 1/2; `mean-map`, \
the expectation of exp(-lambda/2 |x - y|^2). Models of sequences are compared over sequences of one length. With another rho than 1, \
models with hidden states are compared by states and samples together, so that two models of one distribution may differ. Networks share \
the nodes that --observed names, or that all of them have; other nodes are summed out.

The report has the cosines k(p, q) / sqrt(k(p, p) k(q, q)), 1 for models that are alike; -o writes the matrix. Models are in the order \
of the files, those of a file written by hand in the order of their names.";

const EXAMPLES: &str = "\
Examples:
  fishweir compare gait.json                                # the class models of a classifier
  fishweir compare monday.json tuesday.json --kernel mean-map
  fishweir compare asia.bif asia-2.bif --observed smoke,bronc
  fishweir compare machines.toml --steps 100 --logs -o machines.csv

machines.toml:
  [calm]
  initial = [0.5, 0.5]
  transition = [[0.9, 0.1], [0.2, 0.8]]
  emission.gaussian.mean = [[0.0], [1.0]]
  emission.gaussian.std = [[1.0], [0.5]]";

/// Options that `-h` shows.
const SHOWN: &[&str] =
    &["models", "kernel", "rho", "lambda", "steps", "observed", "logs", "output", "layout", "json"];

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES,
    after_long_help = format!("{}\n{EXAMPLES}", given::KINDS))]
pub(super) struct Arguments {
    /// Files of models
    #[arg(required = true, value_name = "MODELS")]
    models: Vec<PathBuf>,
    /// Kernel between models
    #[arg(long, value_enum, default_value_t = Kernel::Ppk)]
    kernel: Kernel,
    /// Power of the probability product [default: 1]
    #[arg(long, value_name = "RHO")]
    rho: Option<f64>,
    /// Rate of exp(-lambda/2 |x - y|^2) [default: 1]
    #[arg(long, value_name = "L")]
    lambda: Option<f64>,
    /// Transitions of the sequences that models of sequences are compared over [default: 10]; of multinomials the number of draws
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// Nodes that are compared, of networks [default: those that all have]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    observed: Vec<String>,
    /// Give a lower bound of the kernel of factorial models, by mean field: for those with more than 64 states in all
    ///
    /// The bound is of the logarithm, which is what the report has. It may be far below where chains are alike.
    #[arg(long)]
    mean_field: bool,
    /// Give the logarithms of the kernel instead of cosines
    #[arg(long)]
    logs: bool,
    /// Output file of the matrix, - for standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Layout of OUT [default: by its ending .npy or .libsvm, else csv]
    #[arg(
        long = "as",
        value_name = "csv|npy|libsvm",
        value_enum,
        hide_possible_values = true,
        requires = "output"
    )]
    layout: Option<Layout>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kernel {
    /// Probability product, integral of p^rho q^rho
    Ppk,
    /// Probability product with rho = 1/2
    Bhattacharyya,
    /// Expectation of exp(-lambda/2 |x - y|^2)
    MeanMap,
}

/// What a kernel is asked to do.
pub(super) struct Asked<'a> {
    /// The measure of two distributions.
    measure: Affinity<f64>,
    /// Transitions, or draws.
    steps: usize,
    /// Names of the observed nodes; empty for those that all have.
    observed: &'a [String],
    /// Whether factorial models are compared by a bound.
    mean_field: bool,
    /// Whether logarithms are reported, rather than cosines.
    logs: bool,
}

/// Result of `compare`.
#[derive(Serialize)]
struct Comparison {
    models: Vec<String>,
    /// Kind of the models.
    kind: &'static str,
    /// The kernel, in words.
    kernel: String,
    /// `true` for logarithms, `false` for cosines.
    logarithms: bool,
    /// `[model][model]`; `None` for the logarithm of zero.
    matrix: Vec<Vec<Option<f64>>>,
    /// The matrix' file.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let inputs: Vec<&Path> = arguments.models.iter().map(PathBuf::as_path).collect();
    let written: Vec<&Path> = arguments.output.iter().map(PathBuf::as_path).collect();
    let outputs = Outputs::check(&written, &inputs)?;
    let mut asked = asked(arguments)?;
    let mut found = Vec::new();
    for path in &arguments.models {
        found.extend(given::read(path)?);
    }
    told_apart(&mut found)?;
    let names: Vec<String> = found.iter().map(|one| one.name.clone()).collect();
    let alike = Alike::of(found)?;
    let networks = matches!(alike, Alike::Networks(_));
    note_idle(
        &named([("--observed", !networks && !asked.observed.is_empty())]),
        "only networks have nodes",
    )?;
    let factorial = matches!(alike, Alike::Factorial(_));
    note_idle(
        &named([("--mean-field", !factorial && asked.mean_field)]),
        "only factorial models have a bound",
    )?;
    asked.mean_field &= factorial;
    let steps = arguments.steps.is_some() && !alike.takes_steps();
    note_idle(&named([("--steps", steps)]), "these models are not of sequences")?;
    let logs = alike.log_gram(&asked, &names)?;
    // A quotient of bounds is no cosine.
    asked.logs |= asked.mean_field;
    check(&logs, &names, asked.logs, arguments.output.is_some())?;
    let report = report(arguments, &asked, alike.noun(), names, &logs);
    if let Some(path) = &arguments.output {
        let layout = arguments.layout.unwrap_or_else(|| layout_of(path));
        let gram = match asked.logs {
            true => Gram::from_fn(logs.len(), |row, column| logs.get(row, column)),
            false => logs.normalised(),
        };
        let labels = vec![None; report.models.len()];
        let items = Items { ids: report.models.clone(), labels, classes: Vec::new() };
        output::write(path, &gram_bytes(layout.format(), &gram, &items)?)?;
    }
    outputs.print(&report, arguments.json)
}

/// The settings of the kernel, where the options fit it.
fn asked(arguments: &Arguments) -> Result<Asked<'_>, Failure> {
    let Arguments { kernel, rho, lambda, .. } = arguments;
    let product = *kernel == Kernel::Ppk;
    note_idle(&named([("--rho", !product && rho.is_some())]), "only --kernel ppk uses it")?;
    let mean_map = *kernel == Kernel::MeanMap;
    note_idle(
        &named([("--lambda", !mean_map && lambda.is_some())]),
        "only --kernel mean-map uses it",
    )?;
    let measure = match kernel {
        Kernel::Ppk => Affinity::Product { rho: rho.unwrap_or(1.0) },
        Kernel::Bhattacharyya => Affinity::Product { rho: 0.5 },
        Kernel::MeanMap => Affinity::MeanMap { lambda: lambda.unwrap_or(1.0) },
    };
    let steps = arguments.steps.unwrap_or(10);
    Ok(Asked {
        measure,
        steps,
        observed: &arguments.observed,
        mean_field: arguments.mean_field,
        logs: arguments.logs,
    })
}

/// Refuses a matrix whose entries are out of range.
fn check(logs: &LogGram, names: &[String], in_logs: bool, written: bool) -> Result<(), Failure> {
    for (row, name) in names.iter().enumerate() {
        let own = logs.get(row, row);
        if !in_logs && !own.is_finite() {
            let what = format!(
                "{name}: its kernel with itself is out of range, exp({own}); give --logs, or another --rho or --lambda"
            );
            return Err(Failure::input(Topic::KernelOutOfRange, what));
        }
        for (column, other) in names.iter().enumerate().take(row) {
            let (log, of_other) = (logs.get(row, column), logs.get(column, column));
            if in_logs && written && !log.is_finite() {
                let what = format!(
                    "{other} and {name}: have nothing in common, and the logarithm of zero has no place in a file; leave --logs or \
                     --output out"
                );
                return Err(Failure::input(Topic::NotFinite, what));
            }
            // By the inequality of Cauchy and Schwarz; the rest is rounding.
            if !in_logs && log - (own + of_other) / 2.0 > 1e-9 * (1.0 + own.abs()) {
                let what = format!(
                    "{other} and {name}: the kernel is out of range of numbers of 64 bits; rescale the models"
                );
                return Err(Failure::input(Topic::KernelOutOfRange, what));
            }
        }
    }
    Ok(())
}

/// Gives models of the same name in two files the names of these too.
fn told_apart(named: &mut [Named]) -> Result<(), Failure> {
    let again = |named: &[Named], index: usize| {
        named.iter().filter(|other| other.name == named[index].name).count() > 1
    };
    let twice: Vec<bool> = (0..named.len()).map(|index| again(named, index)).collect();
    for (one, twice) in named.iter_mut().zip(twice) {
        if twice {
            one.name = format!("{}:{}", one.file, one.name);
        }
    }
    match (0..named.len()).find(|&index| again(named, index)) {
        None => Ok(()),
        Some(index) => {
            let what = format!("{}: is named twice; name each file once", named[index].file);
            Err(Failure::input(Topic::RepeatedSeries, what))
        }
    }
}

fn report(
    arguments: &Arguments,
    asked: &Asked<'_>,
    kind: &'static str,
    models: Vec<String>,
    logs: &LogGram,
) -> Comparison {
    let size = models.len();
    let cosines = logs.normalised();
    let entry = |row: usize, column: usize| match asked.logs {
        true => Some(logs.get(row, column)).filter(|log| log.is_finite()),
        false => Some(cosines.get(row, column)),
    };
    let row = |row: usize| (0..size).map(|column| entry(row, column)).collect();
    Comparison {
        kind,
        kernel: match asked.measure {
            Affinity::Product { rho } if asked.mean_field => {
                format!("probability product, rho {}, a lower bound by mean field", short(rho))
            }
            Affinity::Product { rho } => format!("probability product, rho {}", short(rho)),
            Affinity::MeanMap { lambda } => format!("mean map, lambda {}", short(lambda)),
        },
        logarithms: asked.logs,
        matrix: (0..size).map(row).collect(),
        output: arguments.output.as_ref().map(|path| path.display().to_string()),
        models,
    }
}

/// Models whose matrix is printed; of more it is in the file alone.
const PRINTED: usize = 12;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = if self.logarithms { "logarithms" } else { "cosines" };
        let plural = if self.models.len() == 1 { "" } else { "s" };
        writeln!(f, "{} {}{plural}", self.models.len(), self.kind)?;
        writeln!(f, "kernel: {}, {values}", self.kernel)?;
        if self.models.len() <= PRINTED {
            let names: Vec<String> =
                self.models.iter().map(|name| printable(name).into()).collect();
            let mut table = Table::new([String::new()].into_iter().chain(names.clone()));
            for (name, row) in names.into_iter().zip(&self.matrix) {
                let cells = row.iter().map(|value| match value {
                    Some(value) => format!("{value:.4}"),
                    None => "-inf".to_owned(),
                });
                table.row([name].into_iter().chain(cells));
            }
            write!(f, "\n{table}")?;
        } else if self.output.is_none() {
            let models = counted(self.models.len(), "model");
            writeln!(f, "the matrix of {models} is not printed: -o FILE writes it")?;
        }
        match &self.output {
            Some(output) => writeln!(f, "\nmatrix written to {output}"),
            None => Ok(()),
        }
    }
}
