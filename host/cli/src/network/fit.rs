//! `fishweir network fit`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fishweir::classifier::Provenance;
use fishweir::data::checksum;
use fishweir_networks::learn::{
    Constraints, ExpectationMaximisation, HillClimb, Prior, Score, chow_liu, fit_parameters,
};
use fishweir_networks::records::{Records, Schema, TextTable, Variable};
use fishweir_networks::report::NetworkFitReport;
use fishweir_networks::{ClassifierPlan, Method, Network, NetworkFile, NetworkModel};

use super::super::options::{named, note_idle};
use super::super::output::{self, Outputs};
use super::Failure;
use super::model::network;
use super::table::{Columns, refused};
use crate::document::{self, PageReport};
use crate::help::brief;
use crate::{Recipe, Topic};

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "output",
    "class",
    "classifier",
    "graph",
    "like",
    "drop",
    "bins",
    "categories",
    "report",
    "json",
];

const EXAMPLES: &str = "\
Examples:
  fishweir network fit nursery.csv -o nursery.json
  fishweir network fit vote.csv --class Class --classifier kdb -o vote.json";

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// A table of records
    data: PathBuf,
    /// Output file of the model: JSON, or BIF if it ends in .bif (a network without intervals); - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Fit a classifier of this column
    #[arg(long, value_name = "COLUMN")]
    class: Option<String>,
    /// Classifier that decides on the class
    #[arg(long, value_enum, default_value_t = Classifier::Tan, requires = "class")]
    classifier: Classifier,
    /// Method that finds the graph of a network
    #[arg(long, value_enum, default_value_t = Graph::Climb, conflicts_with = "class")]
    graph: Graph,
    /// Take the graph of this network instead
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["class", "graph", "bins", "mdl", "most_states",
        "missing"])]
    like: Option<PathBuf>,
    #[command(flatten)]
    learning: Learning,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    page: PageReport,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// Options for learning tables and graphs. Those that are not given have the library's defaults.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Learning")]
pub(super) struct Learning {
    /// Pseudo-count of records in each cell of the tables
    #[arg(long, value_name = "COUNT", default_value_t = 1.0)]
    pseudo_count: f64,
    /// Parents per attribute, for --classifier kdb and top-kdb [default: 2]
    #[arg(long, value_name = "K")]
    parents: Option<usize>,
    /// Score that hill climbing maximises [default: bic]
    #[arg(long, value_enum)]
    score: Option<Raised>,
    /// The equivalent sample size of BDeu [default: 10]
    #[arg(long, value_name = "COUNT")]
    equivalent: Option<f64>,
    /// Restarts of the climb from randomly changed graphs [default: 0]
    #[arg(long, value_name = "N")]
    restarts: Option<usize>,
    /// Limit of parents per node [default: 8]
    #[arg(long, value_name = "N")]
    most_parents: Option<usize>,
    /// Edges that the graph must have, as PARENT:CHILD, comma-separated
    #[arg(long, value_name = "EDGES", value_delimiter = ',')]
    require: Vec<String>,
    /// Edges that the graph must not have
    #[arg(long, value_name = "EDGES", value_delimiter = ',')]
    forbid: Vec<String>,
    /// Seed of random changes, of the start of expectation-maximisation, and of records drawn from wide networks
    /// [default: 1]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Classifier {
    /// Bayes' rule, attributes independent given the class
    NaiveBayes,
    /// Bayes' rule, a tree among the attributes
    Tan,
    /// Bayes' rule, each attribute with up to --parents parents among the attributes
    Kdb,
    /// Bayes' rule, a network found by hill climbing
    Climbed,
    /// Logistic regression on the Fisher kernel of a tree over the attributes
    FisherTree,
    /// Logistic regression on the Fisher kernel of a network found by hill climbing
    FisherClimbed,
    /// Logistic regression on the TOP kernel of class networks, a tree among the attributes
    TopTan,
    /// Logistic regression on the TOP kernel of class networks, each attribute with up to --parents parents
    TopKdb,
}

/// Options that learning reads, apart from the pseudo-count.
struct Reads {
    parents: bool,
    climb: bool,
    seed: bool,
}

impl Classifier {
    fn reads(self) -> Reads {
        use Classifier::{Climbed, FisherClimbed, Kdb, TopKdb};
        Reads {
            parents: matches!(self, Kdb | TopKdb),
            climb: matches!(self, Climbed | FisherClimbed),
            seed: matches!(self, FisherClimbed | TopKdb),
        }
    }
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
    /// Refuses options that none of these classifiers reads.
    pub(super) fn check_read_by(&self, classifiers: &[Classifier]) -> Result<(), Failure> {
        let any = |reads: fn(&Reads) -> bool| classifiers.iter().any(|one| reads(&one.reads()));
        let reads =
            Reads { parents: any(|r| r.parents), climb: any(|r| r.climb), seed: any(|r| r.seed) };
        let names: Vec<String> = classifiers.iter().copied().map(value).collect();
        self.check(&reads, &names.join(", "))
    }

    fn check(&self, reads: &Reads, by: &str) -> Result<(), Failure> {
        let draws = reads.seed || reads.climb && self.restarts.is_some_and(|n| n > 0);
        let unread = named([
            ("--parents", self.parents.is_some() && !reads.parents),
            ("--score", self.score.is_some() && !reads.climb),
            ("--equivalent", self.equivalent.is_some() && !reads.climb),
            ("--restarts", self.restarts.is_some() && !reads.climb),
            ("--most-parents", self.most_parents.is_some() && !reads.climb),
            ("--require", !self.require.is_empty() && !reads.climb),
            ("--forbid", !self.forbid.is_empty() && !reads.climb),
            ("--seed", self.seed.is_some() && !draws),
        ]);
        note_idle(&unread, format_args!("not used by {by}"))?;
        let bdeu = self.score == Some(Raised::Bdeu);
        let unread = named([("--equivalent", self.equivalent.is_some() && !bdeu)]);
        note_idle(&unread, "it is for --score bdeu")
    }

    pub(super) fn plan(
        &self,
        classifier: Classifier,
        names: &[&str],
        file: &str,
    ) -> Result<ClassifierPlan, Failure> {
        let parents = self.parents.unwrap_or(2);
        let method = match classifier {
            Classifier::NaiveBayes => Method::NaiveBayes,
            Classifier::Tan => Method::TreeAugmented,
            Classifier::Kdb => Method::KDependence(parents),
            Classifier::Climbed => Method::Climbed,
            Classifier::FisherTree => Method::FisherTree,
            Classifier::FisherClimbed => Method::FisherClimbed,
            Classifier::TopTan => Method::TopTree,
            Classifier::TopKdb => Method::TopKDependence(parents),
        };
        Ok(ClassifierPlan { method, prior: self.prior(), climb: self.climb(names, file)? })
    }

    fn prior(&self) -> Prior {
        Prior::PseudoCount(self.pseudo_count)
    }

    fn climb(&self, names: &[&str], file: &str) -> Result<HillClimb, Failure> {
        let usual = HillClimb::default();
        let score = match self.score {
            Some(Raised::Bdeu) => Score::Bdeu { equivalent: self.equivalent.unwrap_or(10.0) },
            Some(Raised::Bic) | None => Score::Bic,
        };
        let edges = |edges: &[String]| {
            edges.iter().map(|edge| named_edge(edge, names, file)).collect::<Result<_, _>>()
        };
        let constraints =
            Constraints { required: edges(&self.require)?, forbidden: edges(&self.forbid)? };
        Ok(HillClimb {
            score,
            restarts: self.restarts.unwrap_or(usual.restarts),
            seed: self.seed.unwrap_or(usual.seed),
            most_parents: self.most_parents.unwrap_or(usual.most_parents),
            constraints,
            ..usual
        })
    }
}

fn named_edge(text: &str, names: &[&str], file: &str) -> Result<(usize, usize), Failure> {
    let Some((parent, child)) = text.split_once(':') else {
        return Err(Failure::input(
            Topic::BadSyntax,
            format!("`{text}` is no edge; write PARENT:CHILD"),
        ));
    };
    let column = |name: &str| {
        let found = names.iter().position(|one| *one == name.trim());
        found.ok_or_else(|| {
            let names = names.join(", ");
            Failure::input(
                Topic::UnknownColumn,
                format!("{file}: no column `{name}` of the edge {text}, only {names}"),
            )
        })
    };
    Ok((column(parent)?, column(child)?))
}

/// A network, how it came about, and the score of its graph if it has one.
type FittedNetwork = (Network, String, Option<f64>);

pub(super) fn run(arguments: &Arguments, recipe: Recipe) -> Result<(), Failure> {
    let outputs = arguments.output.iter().map(PathBuf::as_path);
    let outputs: Vec<&Path> = outputs.chain(arguments.page.output()).collect();
    let inputs: Vec<&Path> =
        arguments.like.iter().chain([&arguments.data]).map(PathBuf::as_path).collect();
    let outputs = Outputs::check(&outputs, &inputs)?;
    let like = arguments.like.as_deref().map(network).transpose()?;
    match (&arguments.class, &like, arguments.graph) {
        (Some(_), ..) => arguments.learning.check_read_by(&[arguments.classifier])?,
        (None, like, graph) => {
            let climb = like.is_none() && graph == Graph::Climb;
            let by = like.as_ref().map_or_else(|| value(graph), |_| "--like".into());
            let reads = Reads { parents: false, climb, seed: !climb && graph != Graph::Tree };
            arguments.learning.check(&reads, &by)?;
        }
    }
    let table = arguments.columns.read(&arguments.data)?;
    let names: Vec<&str> = table.names().collect();
    let class = arguments.class.as_ref().map(|class| table.column(class)).transpose()?;
    let rows: Vec<usize> = (0..table.len()).collect();
    let schema = match &like {
        Some(file) => file.columns.clone(),
        None => Schema::learn(&table, &rows, class, &arguments.columns.binning())?,
    };
    let records = arguments.columns.records(&table, &schema)?;
    let variables = schema.variables();
    let (model, (network, graph, score), classifier, selection) = match class {
        Some(class) => {
            let plan = arguments.learning.plan(arguments.classifier, &names, table.source())?;
            let trained = plan.train_choosing(&variables, &records, class);
            let trained = trained.map_err(|error| refused(&table, error))?;
            let (selection, trained) = (trained.selection(), trained.classifier);
            let words = format!(
                "{} decides on {} ({})",
                value(arguments.classifier),
                trained.class().name,
                trained.class().states.join(", ")
            );
            let fitted = (trained.network().clone(), "network".to_owned(), None);
            (NetworkModel::Classifier(trained), fitted, Some(words), selection)
        }
        None => {
            let fitted = fit(arguments, like.as_ref(), &table, &variables, &records)?;
            (NetworkModel::Network(fitted.0.clone()), fitted, None, None)
        }
    };
    if let (NetworkModel::Classifier(trained), Some(path)) = (&model, &arguments.output)
        && !trained.outputs().is_empty()
        && path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("bif"))
    {
        return Err(Failure::input(
            Topic::UnfitFile,
            format!(
                "{}: BIF holds a network alone, not the machine on its kernel; write JSON",
                path.display()
            ),
        ));
    }
    let complete = classifier.is_none() && records.missing() == 0;
    let log_likelihood = match complete {
        true => {
            let logs = network.log_likelihoods(&records).map_err(|error| refused(&table, error))?;
            Some(logs.iter().sum::<f64>() / logs.len() as f64)
        }
        false => None,
    };
    let file = NetworkFile {
        columns: schema,
        model,
        provenance: Some(Provenance {
            checksum: checksum(&arguments.data).ok(),
            selection,
            recipe,
            ..Provenance::named_after(table.source(), records.len())
        }),
    };
    let report = NetworkFitReport {
        data: table.source().to_owned(),
        records: records.len(),
        missing: records.missing(),
        columns: file.columns.in_words(),
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
        output::write(path, &file.bytes_for(path)?)?;
    }
    arguments.page.write("network fit", &report, |page| {
        let name = arguments.output.as_deref().unwrap_or(Path::new("network.json"));
        let written = file.bytes_for(Path::new("network.json"))?;
        document::add_model(page, name, &written, false)
    })?;
    let hint = arguments.output.is_none().then_some("to write it, name a file with -o");
    outputs.print_with(&report, arguments.json, hint)
}

fn fit(
    arguments: &Arguments,
    like: Option<&NetworkFile>,
    table: &TextTable,
    variables: &[Variable],
    records: &Records,
) -> Result<FittedNetwork, Failure> {
    let (prior, at) = (arguments.learning.prior(), |error| refused(table, error));
    let (parents, mut words, score) = match (like.zip(arguments.like.as_ref()), arguments.graph) {
        (Some((file, path)), _) => {
            let graph = file.network().shape().all_parents().to_vec();
            (graph, format!("the graph of {}", path.display()), None)
        }
        (None, Graph::Climb) => {
            let names: Vec<&str> = table.names().collect();
            let climb = arguments.learning.climb(&names, table.source())?;
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
        seed: arguments.learning.seed.unwrap_or(1),
        ..ExpectationMaximisation::default()
    };
    let fitted = em.fit(variables, &parents, records).map_err(at)?;
    let passes = fitted.objective.len() - 1;
    words += &format!(", tables by {passes} passes of expectation-maximisation");
    Ok((fitted.network, words, score))
}

/// Name of a value on the command line.
pub(super) fn value(of: impl ValueEnum) -> String {
    of.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
