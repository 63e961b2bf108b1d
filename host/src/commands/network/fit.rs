//! `fishweir network fit`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fishweir::data::records::{Records, Schema, TextTable, Variable};
use fishweir::network::learn::{
    Constraints, ExpectationMaximisation, HillClimb, Prior, Score, chow_liu, fit_parameters,
};
use fishweir::network::{ClassifierPlan, Method, Network, NetworkFile, NetworkModel};
use fishweir::report::NetworkFitReport;

use super::super::output::{self, Outputs};
use super::Failure;
use super::model::network;
use super::table::{Columns, refused};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A table of records
    data: PathBuf,
    /// Where the model goes: JSON, or BIF where it ends in .bif (without cuts); - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Fit a classifier of this column
    #[arg(long, value_name = "COLUMN")]
    class: Option<String>,
    /// What decides on the class
    #[arg(long, value_enum, default_value_t = Classifier::Tan, requires = "class")]
    classifier: Classifier,
    /// How the graph of a network comes about
    #[arg(long, value_enum, default_value_t = Graph::Climb, conflicts_with = "class")]
    graph: Graph,
    /// Take the graph of this network instead
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["class", "graph", "score", "equivalent",
        "restarts", "most_parents", "require", "forbid", "bins", "mdl", "most_states", "missing"])]
    like: Option<PathBuf>,
    #[command(flatten)]
    learning: Learning,
    #[command(flatten)]
    columns: Columns,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// How tables and graphs are learnt.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Learning")]
pub(super) struct Learning {
    /// Records more in each cell of the tables
    #[arg(long, value_name = "COUNT", default_value_t = 1.0)]
    pseudo_count: f64,
    /// Attributes for parents, of --classifier kdb
    #[arg(long, value_name = "K", default_value_t = 2)]
    parents: usize,
    /// What climbing raises
    #[arg(long, value_enum, default_value_t = Raised::Bic)]
    score: Raised,
    /// The equivalent sample size of BDeu
    #[arg(long, value_name = "COUNT", default_value_t = 10.0)]
    equivalent: f64,
    /// Climb anew from random changes so often
    #[arg(long, value_name = "N", default_value_t = 0)]
    restarts: usize,
    /// Parents of a node at most
    #[arg(long, value_name = "N", default_value_t = 8)]
    most_parents: usize,
    /// Edges that must be there, as PARENT:CHILD, separated by commas
    #[arg(long, value_name = "EDGES", value_delimiter = ',')]
    require: Vec<String>,
    /// Edges that must not be there
    #[arg(long, value_name = "EDGES", value_delimiter = ',')]
    forbid: Vec<String>,
    /// Of the random changes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Classifier {
    /// Bayes' rule, attributes independent given the class
    NaiveBayes,
    /// Bayes' rule, a tree among the attributes
    Tan,
    /// Bayes' rule, up to --parents attributes for parents of each
    Kdb,
    /// Bayes' rule under a network that was climbed to
    Climbed,
    /// Logistic regression on the Fisher kernel of a tree over the attributes
    FisherTree,
    /// Logistic regression on the Fisher kernel of a network that was climbed to
    FisherClimbed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Graph {
    /// Hill climbing
    Climb,
    /// The tree of the largest likelihood
    Tree,
    /// No edge
    Independent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Raised {
    /// The Bayesian information criterion
    Bic,
    /// The marginal likelihood under an even Dirichlet prior
    Bdeu,
}

impl Learning {
    pub(super) fn plan(
        &self,
        classifier: Classifier,
        names: &[&str],
        file: &str,
    ) -> Result<ClassifierPlan, Failure> {
        let method = match classifier {
            Classifier::NaiveBayes => Method::NaiveBayes,
            Classifier::Tan => Method::TreeAugmented,
            Classifier::Kdb => Method::KDependence(self.parents),
            Classifier::Climbed => Method::Climbed,
            Classifier::FisherTree => Method::FisherTree,
            Classifier::FisherClimbed => Method::FisherClimbed,
        };
        Ok(ClassifierPlan { method, prior: self.prior(), climb: self.climb(names, file)? })
    }

    fn prior(&self) -> Prior {
        Prior::PseudoCount(self.pseudo_count)
    }

    fn climb(&self, names: &[&str], file: &str) -> Result<HillClimb, Failure> {
        let score = match self.score {
            Raised::Bic => Score::Bic,
            Raised::Bdeu => Score::Bdeu { equivalent: self.equivalent },
        };
        let edges = |edges: &[String]| {
            edges.iter().map(|edge| named_edge(edge, names, file)).collect::<Result<_, _>>()
        };
        let constraints =
            Constraints { required: edges(&self.require)?, forbidden: edges(&self.forbid)? };
        let (restarts, seed, most_parents) = (self.restarts, self.seed, self.most_parents);
        Ok(HillClimb { score, restarts, seed, most_parents, constraints, ..HillClimb::default() })
    }
}

fn named_edge(text: &str, names: &[&str], file: &str) -> Result<(usize, usize), Failure> {
    let Some((parent, child)) = text.split_once(':') else {
        return Err(Failure::Input(format!("`{text}` is no edge; write PARENT:CHILD")));
    };
    let column = |name: &str| {
        let found = names.iter().position(|one| *one == name.trim());
        found.ok_or_else(|| {
            let names = names.join(", ");
            Failure::Input(format!("{file}: no column `{name}` of the edge {text}, only {names}"))
        })
    };
    Ok((column(parent)?, column(child)?))
}

/// A network, how it came about, and the score of its graph if it has one.
type Fitted = (Network, String, Option<f64>);

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let outputs: Vec<&Path> = arguments.output.iter().map(PathBuf::as_path).collect();
    let inputs: Vec<&Path> =
        arguments.like.iter().chain([&arguments.data]).map(PathBuf::as_path).collect();
    let outputs = Outputs::check(&outputs, &inputs)?;
    let table = arguments.columns.read(&arguments.data)?;
    let names: Vec<&str> = table.names().collect();
    let class = arguments.class.as_ref().map(|class| table.column(class)).transpose()?;
    let rows: Vec<usize> = (0..table.len()).collect();
    let (schema, records) = match &arguments.like {
        Some(model) => {
            let columns = network(model)?.columns;
            let records = columns.records(&table)?;
            (columns, records)
        }
        None => {
            let schema = Schema::learn(&table, &rows, class, &arguments.columns.binning())?;
            let records = schema.records(&table)?;
            (schema, records)
        }
    };
    let variables = schema.variables();
    let (model, (network, graph, score), classifier) = match class {
        Some(class) => {
            let plan = arguments.learning.plan(arguments.classifier, &names, table.source())?;
            let trained = plan.train(&variables, &records, class);
            let trained = trained.map_err(|error| refused(&table, error))?;
            let words = format!(
                "{} decides on {} ({})",
                value(arguments.classifier),
                trained.class().name,
                trained.class().states.join(", ")
            );
            let fitted = (trained.network().clone(), "network".to_owned(), None);
            (NetworkModel::Classifier(trained), fitted, Some(words))
        }
        None => {
            let fitted = fit(arguments, &table, &variables, &records, &names)?;
            (NetworkModel::Network(fitted.0.clone()), fitted, None)
        }
    };
    if let (NetworkModel::Classifier(trained), Some(path)) = (&model, &arguments.output)
        && !trained.outputs().is_empty()
        && path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("bif"))
    {
        return Err(Failure::Input(format!(
            "{}: BIF holds a network alone, not the machine on its kernel; write JSON",
            path.display()
        )));
    }
    let complete = classifier.is_none() && records.missing() == 0;
    let log_likelihood = match complete {
        true => {
            let logs = network.log_likelihoods(&records).map_err(|error| refused(&table, error))?;
            Some(logs.iter().sum::<f64>() / logs.len() as f64)
        }
        false => None,
    };
    let report = NetworkFitReport {
        data: table.source().to_owned(),
        records: records.len(),
        missing: records.missing(),
        graph,
        nodes: network.shape().nodes(),
        edges: NetworkFitReport::edges_of(&network),
        parameters: network.shape().parameters(),
        score,
        log_likelihood_per_record: log_likelihood.filter(|log| log.is_finite()),
        classifier,
        output: arguments.output.as_ref().map(|path| path.display().to_string()),
    };
    if let Some(path) = &arguments.output {
        output::write(path, &NetworkFile { columns: schema, model }.bytes_for(path)?)?;
    }
    outputs.print(&report, arguments.json)
}

fn fit(
    arguments: &Arguments,
    table: &TextTable,
    variables: &[Variable],
    records: &Records,
    names: &[&str],
) -> Result<Fitted, Failure> {
    let (prior, at) = (arguments.learning.prior(), |error| refused(table, error));
    let (parents, mut words, score) = match (&arguments.like, arguments.graph) {
        (Some(model), _) => {
            let graph = network(model)?.network().shape().all_parents().to_vec();
            (graph, format!("the graph of {}", model.display()), None)
        }
        (None, Graph::Climb) => {
            let climb = arguments.learning.climb(names, table.source())?;
            let found = climb.learn(variables, records).map_err(at)?;
            let words = format!("climbed to in {} changes", found.steps);
            (found.parents, words, Some(found.score))
        }
        (None, Graph::Tree) => (chow_liu(variables, records).map_err(at)?, "tree".to_owned(), None),
        (None, Graph::Independent) => {
            (vec![Vec::new(); variables.len()], "independent nodes".to_owned(), None)
        }
    };
    if records.missing() == 0 {
        return Ok((
            fit_parameters(variables, &parents, records, prior).map_err(at)?,
            words,
            score,
        ));
    }
    let em = ExpectationMaximisation {
        prior,
        seed: arguments.learning.seed,
        ..ExpectationMaximisation::default()
    };
    let fitted = em.fit(variables, &parents, records).map_err(at)?;
    let passes = fitted.objective.len() - 1;
    words += &format!(", tables by {passes} passes of expectation-maximisation");
    Ok((fitted.network, words, score))
}

/// What a value is called on the command line.
pub(super) fn value(of: impl ValueEnum) -> String {
    of.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
