//! A classifier of records as a device holds it.

use std::fmt::Write as _;

use fishweir::internals::Elementary;
use fishweir_core::ObservationError;
use fishweir_core::classify::{Decision, decide};
use fishweir_core::filter::Streaming;
use fishweir_core::network::FactorClassifier;

use super::super::{NetworkClassifier, NetworkError};
use super::{Lists, check_columns, head, lists, numbers, unfit};
use crate::records::{Records, Variable};

/// A classifier as sums of look-ups: a [`FactorClassifier`](fishweir_core::network::FactorClassifier) of a device, in its
/// numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct DeployedSum {
    /// The columns of an event, in order: the attributes.
    pub columns: Vec<Variable>,
    /// The class' states.
    pub classes: Vec<String>,
    /// The columns that each table is over, the last varying fastest.
    pub scopes: Vec<Vec<usize>>,
    /// `[output][cell]`.
    pub tables: Vec<Vec<f32>>,
    /// `[output]`.
    pub bias: Vec<f32>,
}

impl DeployedSum {
    /// The tables of a classifier. Of Bayes' rule only families with the class matter: a table over the
    /// other nodes of each, an output a class, logarithms.
    ///
    /// # Errors
    /// A probability of zero, whose logarithm a device's tables cannot hold; a weight beyond single precision;
    /// more states or entries than a device numbers.
    pub fn of(classifier: &NetworkClassifier) -> Result<Self, NetworkError> {
        let deployed = Self::unchecked(classifier)?;
        let mut weights = deployed.tables.iter().flatten().chain(&deployed.bias);
        if weights.any(|weight| !weight.is_finite()) {
            let what = "a weight is beyond single precision; fit with a larger pseudo-count";
            return Err(NetworkError::Other(what.into()));
        }
        deployed.outputs(&Lists::of(&deployed.columns, &deployed.scopes))?;
        Ok(deployed)
    }

    fn unchecked(classifier: &NetworkClassifier) -> Result<Self, NetworkError> {
        let (network, class) = (classifier.network(), classifier.class());
        let shape = network.shape();
        if classifier.method().is_linear() {
            let rounded = |weights: &Vec<f64>| weights.iter().map(|&w| w as f32).collect();
            return Ok(Self {
                columns: network.variables().to_vec(),
                classes: class.states.clone(),
                scopes: (0..shape.nodes()).map(|node| shape.family(node)).collect(),
                tables: classifier.outputs().iter().map(|o| rounded(&o.weights)).collect(),
                bias: classifier.outputs().iter().map(|output| output.bias as f32).collect(),
            });
        }
        let at = classifier.column();
        let columns: Vec<usize> = (0..shape.nodes()).filter(|&node| node != at).collect();
        let place = |node: usize| if node < at { node } else { node - 1 };
        let mut deployed = Self {
            columns: columns.iter().map(|&column| network.variables()[column].clone()).collect(),
            classes: class.states.clone(),
            scopes: Vec::new(),
            tables: vec![Vec::new(); class.card()],
            bias: vec![0.0; class.card()],
        };
        for node in 0..shape.nodes() {
            let family = shape.family(node);
            let Some(axis) = family.iter().position(|&one| one == at) else { continue };
            let after: usize = family[axis + 1..].iter().map(|&one| shape.cards()[one]).product();
            let logs: Vec<f64> =
                network.table(node).iter().map(|theta| theta.portable_ln()).collect();
            if logs.iter().any(|log| !log.is_finite()) {
                let name = network.name(node);
                return Err(NetworkError::Other(format!(
                    "node `{name}` has a probability of zero, and a device stores logarithms; fit with a \
                     pseudo-count above zero"
                )));
            }
            let of_class = |class: usize| {
                let blocks = logs.chunks(after * deployed.classes.len());
                blocks.flat_map(move |block| {
                    block[class * after..][..after].iter().map(|&x| x as f32)
                })
            };
            if family.len() == 1 {
                for (class, bias) in deployed.bias.iter_mut().enumerate() {
                    *bias = logs[class] as f32;
                }
                continue;
            }
            let tables: Vec<Vec<f32>> =
                (0..deployed.classes.len()).map(|class| of_class(class).collect()).collect();
            for (table, of_node) in deployed.tables.iter_mut().zip(tables) {
                table.extend(of_node);
            }
            let scope = family.iter().filter(|&&one| one != at).map(|&one| place(one));
            deployed.scopes.push(scope.collect());
        }
        Ok(deployed)
    }

    /// One sum per output, which a device holds in one.
    fn outputs<'s>(
        &'s self,
        lists: &'s Lists,
    ) -> Result<Vec<FactorClassifier<'s, f32, 1>>, NetworkError> {
        let terms = lists.terms(&self.columns)?;
        let tables = self.tables.iter().zip(&self.bias);
        tables
            .map(|(table, &bias)| FactorClassifier::new(terms, [table], [bias]).map_err(unfit))
            .collect()
    }

    /// Decides on every event alone as a device does, in its numbers.
    ///
    /// # Errors
    /// An event that does not fit.
    pub fn decisions(&self, events: &Records) -> Result<Vec<Decision>, NetworkError> {
        check_columns(&self.columns, events)?;
        let lists = Lists::of(&self.columns, &self.scopes);
        let outputs = self.outputs(&lists)?;
        let decision = |(record, event): (usize, &[u16])| {
            let value = |output: &FactorClassifier<'_, f32, 1>| {
                let mut state = output.initial_state();
                output.step(&mut state, event)?;
                let [value] = output.values(&state);
                Ok(value)
            };
            let values: Result<Vec<f32>, ObservationError> = outputs.iter().map(value).collect();
            let wrong = |error| NetworkError::Other(format!("record {record}: {error}"));
            Ok(decide(&values.map_err(wrong)?))
        };
        events.rows().enumerate().map(decision).collect()
    }

    /// Bytes of flash.
    pub fn flash(&self) -> usize {
        let cells = self.tables.first().map_or(0, Vec::len);
        lists(&self.columns, &self.scopes) + 4 * self.tables.len() * (cells + 1)
    }

    /// Bytes of the stream's state.
    pub fn ram(&self) -> usize {
        8 * self.tables.len()
    }

    /// Rust source that defines `MODEL`, a `static`, its type, and the names of columns, states
    /// and classes.
    pub fn to_source(&self) -> String {
        let (cells, outputs) = (self.tables.first().map_or(0, Vec::len), self.tables.len());
        let model = format!("FactorClassifier<'static, f32, {outputs}>");
        let uses = "use fishweir_core::network::{FactorClassifier, FactorLayout};";
        let mut text = head(
            ["A classifier of events", uses, &model],
            &self.columns,
            &self.classes,
            &self.scopes,
        );
        let _ = writeln!(text, "#[rustfmt::skip]\nstatic TABLES: [[f32; {cells}]; {outputs}] = [");
        self.tables.iter().for_each(|table| _ = writeln!(text, "    {},", numbers(table)));
        let tables: Vec<String> = (0..outputs).map(|output| format!("&TABLES[{output}]")).collect();
        let _ = write!(
            text,
            "];\n\n/// The classifier: {} B of flash, {} B of state.\n#[rustfmt::skip]\n\
             pub static MODEL: Model = match FactorClassifier::new(TERMS, [{}], {}) {{\n    \
             Ok(model) => model,\n    Err(_) => panic!(\"no classifier\"),\n}};\n",
            self.flash(),
            self.ram(),
            tables.join(", "),
            numbers(&self.bias)
        );
        text
    }
}
