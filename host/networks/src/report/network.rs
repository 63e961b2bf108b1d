use std::fmt;

use serde::Serialize;

use fishweir::evaluate::{ClassFigures, Interval};
use fishweir::report::{Table, counted, grouped};

use crate::{EventCost, Network, NetworkEvaluation, SampleTest};

/// Result of `network fit`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkFitReport {
    /// The file with the records.
    pub data: String,
    /// Records.
    pub records: usize,
    /// Fields that are missing.
    pub missing: usize,
    /// Reading of each column, with the number of its states, in words.
    pub columns: String,
    /// Description of how the graph was found.
    pub graph: String,
    /// Nodes.
    pub nodes: usize,
    /// Edges, `[parent, child]`.
    pub edges: Vec<[String; 2]>,
    /// Free parameters.
    pub parameters: usize,
    /// The score of the graph that was climbed to.
    pub score: Option<f64>,
    /// Log-likelihood of a record under the network, in nats; null of a classifier.
    pub log_likelihood_per_record: Option<f64>,
    /// The class, and the method of decision; null for a network alone.
    pub classifier: Option<String>,
    /// The model's file.
    pub output: Option<String>,
}

impl NetworkFitReport {
    /// The edges of a network by name.
    pub fn edges_of(network: &Network) -> Vec<[String; 2]> {
        let name = |node: usize| network.name(node).to_owned();
        network.shape().edges().map(|(parent, child)| [name(parent), name(child)]).collect()
    }
}

impl fmt::Display for NetworkFitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing = match self.missing {
            0 => String::new(),
            missing => format!(", {} missing", counted(missing, "field")),
        };
        writeln!(f, "{}: {}{missing}", self.data, counted(self.records, "record"))?;
        if !self.columns.is_empty() {
            writeln!(f, "{}", self.columns)?;
        }
        if let Some(classifier) = &self.classifier {
            writeln!(f, "{classifier}")?;
        }
        writeln!(
            f,
            "{}: {}, {}, {}",
            self.graph,
            counted(self.nodes, "node"),
            counted(self.edges.len(), "edge"),
            counted(self.parameters, "free parameter")
        )?;
        if let Some(score) = self.score {
            writeln!(f, "score {score:.1}")?;
        }
        if let Some(log) = self.log_likelihood_per_record {
            writeln!(f, "log-likelihood {log:.4} nats per record")?;
        }
        for [parent, child] in &self.edges {
            writeln!(f, "  {parent} -> {child}")?;
        }
        match &self.output {
            Some(file) => writeln!(f, "written to {file}"),
            None => writeln!(f, "not written"),
        }
    }
}

/// Results of `network evaluate` for classifiers on the same records.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkEvaluationReport {
    /// The file with the records.
    pub data: String,
    /// Description of the evaluation.
    pub protocol: String,
    /// Reading of each column, with the number of its states, in words.
    pub columns: String,
    /// Each classifier.
    pub classifiers: Vec<ClassifierFigures>,
}

/// One classifier's figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassifierFigures {
    /// Name of the classifier.
    pub classifier: String,
    /// Records judged.
    pub records: usize,
    /// Share decided rightly.
    pub accuracy: f64,
    /// 95 % interval of the accuracy.
    pub interval: Option<Interval>,
    /// Mean of the classes' F1.
    pub macro_f1: f64,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Records by class and decision, `[class][decision]`.
    pub confusion: Vec<Vec<usize>>,
    /// Figures of each class; a window is a record.
    pub per_class: Vec<ClassFigures>,
    /// Mean minus log-probability of the class; of Bayes' rule alone.
    pub log_loss: Option<f64>,
    /// The accuracy above the first classifier's, records in pairs.
    pub gain: Option<Interval>,
}

impl NetworkEvaluationReport {
    /// Adds a classifier; the others are compared to the first.
    pub fn push(
        &mut self,
        name: String,
        one: &NetworkEvaluation,
        first: Option<&NetworkEvaluation>,
    ) {
        self.classifiers.push(ClassifierFigures {
            classifier: name,
            records: one.figures.windows,
            accuracy: one.figures.accuracy,
            interval: one.accuracy,
            macro_f1: one.figures.macro_f1,
            classes: one.figures.classes.clone(),
            confusion: one.figures.confusion.clone(),
            per_class: one.figures.per_class.clone(),
            log_loss: one.log_loss,
            gain: first.and_then(|first| one.units.gain_over(&first.units)),
        });
    }
}

impl fmt::Display for NetworkEvaluationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.data, self.protocol)?;
        if !self.columns.is_empty() {
            writeln!(f, "{}", self.columns)?;
        }
        writeln!(f)?;
        let heads =
            ["classifier", "records", "accuracy", "95 %", "macro F1", "log loss", "gain, 95 %"];
        let mut table = Table::new(heads);
        for one in &self.classifiers {
            let range = |i: Interval| format!("{:.4} to {:.4}", i.low, i.high);
            let gain = |i: Interval| format!("{:+.4} ({:+.4} to {:+.4})", i.mean, i.low, i.high);
            table.row([
                one.classifier.clone(),
                grouped(one.records),
                format!("{:.4}", one.accuracy),
                one.interval.map_or_else(|| "-".into(), range),
                format!("{:.4}", one.macro_f1),
                one.log_loss.map_or_else(|| "-".into(), |loss| format!("{loss:.4}")),
                one.gain.map_or_else(|| "-".into(), gain),
            ]);
        }
        write!(f, "{table}")
    }
}

/// Result of `network query`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueryReport {
    /// Evidence, `[node, state]`.
    pub given: Vec<[String; 2]>,
    /// `log p` of it, in nats.
    pub log_probability: f64,
    /// Posteriors of nodes.
    pub nodes: Vec<NodeReport>,
    /// The most probable record and its `log p`, where it was asked for.
    pub most_probable: Option<(Vec<[String; 2]>, f64)>,
}

/// A node's posterior.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeReport {
    /// Name of the node.
    pub node: String,
    /// States of the node.
    pub states: Vec<String>,
    /// Probabilities of the states.
    pub probabilities: Vec<f64>,
}

impl fmt::Display for QueryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |pairs: &[[String; 2]]| {
            pairs.iter().map(|[node, state]| format!("{node} = {state}")).collect::<Vec<_>>()
        };
        if !self.given.is_empty() {
            let given = words(&self.given).join(", ");
            writeln!(f, "given {given}: log p = {:.6} nats", self.log_probability)?;
        }
        for NodeReport { node, states, probabilities } in &self.nodes {
            writeln!(f, "{node}")?;
            let mut table = Table::default();
            for (state, p) in states.iter().zip(probabilities) {
                table.row([format!(" {state}"), format!("{p:.6}")]);
            }
            write!(f, "{table}")?;
        }
        if let Some((record, log)) = &self.most_probable {
            writeln!(f, "most probable, log p = {log:.6} nats:")?;
            words(record).iter().try_for_each(|pair| writeln!(f, "  {pair}"))?;
        }
        Ok(())
    }
}

/// Result of `network representatives`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RepresentativesReport {
    /// The file with the records.
    pub data: String,
    /// Records to choose from.
    pub records: usize,
    /// The lines of those chosen.
    pub lines: Vec<u64>,
    /// The squared discrepancy from all.
    pub discrepancy: f64,
    /// The mean over random choices of the same number of records.
    pub random: f64,
    /// The best of these, at which the exchange began unless there was one pass alone.
    pub start: f64,
    /// Passes of exchange.
    pub passes: usize,
    /// The records that each of those chosen stands for, of one pass alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<u32>>,
    /// `true` if the network was narrow enough for exact probabilities of rows.
    pub exact: bool,
    /// The file with the records chosen.
    pub output: Option<String>,
}

impl fmt::Display for RepresentativesReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} of {}, squared discrepancy {:.6}",
            self.data,
            counted(self.lines.len(), "record"),
            grouped(self.records),
            self.discrepancy
        )?;
        if let Some(weights) = &self.weights {
            for (line, &weight) in self.lines.iter().zip(weights) {
                writeln!(f, "  line {line} stands for {}", counted(weight as usize, "record"))?;
            }
        }
        writeln!(
            f,
            "random choices {:.6} on average, {:.6} at best; improved in {}",
            self.random,
            self.start,
            counted(self.passes, "pass")
        )?;
        if !self.exact {
            writeln!(f, "probabilities of rows were estimated from 1 000 000 sampled records")?;
        }
        let lines: Vec<String> = self.lines.iter().map(u64::to_string).collect();
        writeln!(f, "lines {}", lines.join(" "))?;
        self.output.iter().try_for_each(|file| writeln!(f, "written to {file}"))
    }
}

/// Result of `network compare`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonReport {
    /// The first file.
    pub first: String,
    /// The other file, or the network.
    pub second: String,
    /// Number of records of each set; `None` for the network.
    pub records: (usize, Option<usize>),
    /// The test.
    #[serde(flatten)]
    pub test: SampleTest,
    /// The nodes, in the order of their contributions.
    pub nodes: Vec<String>,
    /// `true` if the network was narrow enough for exact probabilities of rows.
    pub exact: bool,
}

impl fmt::Display for ComparisonReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SampleTest { mmd_squared, statistic, degrees, p_limit, p_permutations, by_node } =
            &self.test;
        let of_second = self.records.1.map(|n| format!(", {}", counted(n, "record")));
        writeln!(
            f,
            "{}, {}, against {}{}",
            self.first,
            counted(self.records.0, "record"),
            self.second,
            of_second.unwrap_or_default()
        )?;
        writeln!(
            f,
            "squared discrepancy {mmd_squared:.6}; statistic {statistic:.3} on {}: {}",
            counted(*degrees, "degree"),
            match p_limit {
                Some(p) => format!("p = {p:.4} (limit for many records drawn from the network)"),
                None => "its limit is unknown if fields are missing".into(),
            }
        )?;
        if let Some(p) = p_permutations {
            writeln!(f, "p = {p:.4} (by permutations, for any distribution)")?;
        }
        if !self.exact {
            writeln!(f, "probabilities of rows were estimated from 1 000 000 sampled records")?;
        }
        let mut order: Vec<usize> = (0..by_node.len()).collect();
        order.sort_by(|&a, &b| by_node[b].total_cmp(&by_node[a]));
        let mut table = Table::new(["node", "share"]);
        for node in order {
            let share = if *mmd_squared > 0.0 { by_node[node] / mmd_squared } else { 0.0 };
            table.row([self.nodes[node].clone(), format!("{share:.4}")]);
        }
        write!(f, "\n{table}")
    }
}

/// Summary of a model, for `network info`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkInspection {
    /// The model's file.
    pub model: String,
    /// Kind of model, in words.
    pub what: String,
    /// Nodes.
    pub nodes: usize,
    /// Edges.
    pub edges: usize,
    /// Free parameters.
    pub parameters: usize,
    /// The records that it was fitted to, in words; null if the file does not have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trained: Option<String>,
    /// Cost of an event on a device,
    #[serde(flatten)]
    pub cost: Option<EventCost>,
    /// or why no device holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl EventCost {
    /// Adds rows to a table.
    pub(super) fn rows(&self, table: &mut Table) {
        let mut row = |name: String, value| table.row([name, value]);
        row("look-ups per push, integer multiply-adds".into(), grouped(self.look_ups));
        row(format!("{} per push", self.operation), grouped(self.push_operations));
        row(format!("{} per reading", self.operation), grouped(self.reading_operations));
        row("model, in flash".into(), format!("{} B", grouped(self.model_bytes)));
        row("state, in RAM".into(), format!("{} B", grouped(self.state_bytes)));
    }
}

impl fmt::Display for NetworkInspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, what, nodes, edges, parameters, trained, cost, refused } = self;
        let counts = [(*nodes, "node"), (*edges, "edge"), (*parameters, "free parameter")];
        let counts = counts.map(|(count, noun)| counted(count, noun)).join(", ");
        writeln!(f, "{model}: {what}\n{counts}")?;
        trained.iter().try_for_each(|trained| writeln!(f, "fitted to {trained}"))?;
        writeln!(f)?;
        let mut table = Table::default();
        cost.iter().for_each(|cost| cost.rows(&mut table));
        write!(f, "{table}")?;
        refused.iter().try_for_each(|why| writeln!(f, "not for a device: {why}"))
    }
}
