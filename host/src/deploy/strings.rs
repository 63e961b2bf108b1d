//! Banks of Markov strings, one per class: the likeliest decides.

use std::fmt::Write as _;

use fishweir_core::artefact::Topology;
use fishweir_core::context::Span;
use fishweir_core::{ErrorKind, ModelError, Part};

use super::common::Common;
use super::cost::{Cost, bank_bytes, belief_bytes};
use super::error::DeployError;
use super::evaluator::{Description, Evaluator};
use super::model_stream::ModelStream;
use super::source::{comments, labels, reals, tail};
use super::stream::Evidence;
use super::systems::one_per_class;
use super::words::Words;
use crate::model::{FittedModel, ModelSet, NamedModel};
use crate::runtime::{CategoricalVec, Shape, family};

/// Markov strings in the numbers of a device: the fields of the core's `MarkovString`.
#[derive(Clone, Debug, PartialEq)]
struct DeployedStrings {
    /// `[context][symbol]`.
    next: Vec<Vec<u16>>,
    span: Span,
    /// `[context][symbol]`.
    probability: Vec<Vec<f32>>,
}

impl DeployedStrings {
    fn stream(&self) -> ModelStream<f32> {
        let row = |row: &Vec<f32>| CategoricalVec { probability: row.clone() };
        let rows = self.probability.iter().map(row).collect();
        let symbols = self.next.first().map_or(0, Vec::len);
        ModelStream::of(vec![Box::new(Words::with(rows, self.next.concat(), symbols, self.span))])
    }

    /// Adds contexts that are never entered.
    fn padded(mut self, contexts: usize) -> Self {
        let (next, row) = (self.next[0].clone(), self.probability[0].clone());
        self.next.resize(contexts, next);
        self.probability.resize(contexts, row);
        self
    }
}

/// Bank of Markov strings over one alphabet, one model per class.
#[derive(Clone, Debug, PartialEq)]
pub struct Strings(Vec<DeployedStrings>);

impl Strings {
    /// Returns the Bayes classifier of a set of models with equal priors.
    pub(super) fn of(set: &ModelSet) -> Result<(Common, Self), DeployError> {
        let refused = |why: String| Err(DeployError::Models(why));
        let (mut strings, mut classes) = (Vec::new(), Vec::new());
        for NamedModel { name, class, model } in &set.models {
            let FittedModel::Markov(markov) = model else {
                let what = model.any().noun();
                return refused(format!(
                    "model {name:?} is a {what} among Markov strings; fit all alike"
                ));
            };
            if markov.has_end() {
                return refused(format!(
                    "model {name:?} has an event for the end of strings, which no stream sends; fit it without"
                ));
            }
            let Some(class) = class else {
                return Err(DeployError::NotOnePerClass(format!("model {name:?} has no class")));
            };
            let (next, span) = markov.automaton();
            let symbols = set.observations.size();
            let round = |row: &Vec<f64>| row.iter().map(|&p| p as f32).collect();
            strings.push(DeployedStrings {
                next: next.chunks(symbols).map(<[u16]>::to_vec).collect(),
                span,
                probability: markov.probability().iter().map(round).collect(),
            });
            classes.push(class.clone());
        }
        let weights = one_per_class(&classes)?;
        let contexts = strings.iter().map(|model| model.next.len()).max().unwrap_or(0);
        let strings = strings.into_iter().map(|model| model.padded(contexts)).collect();
        let outputs = (weights.clone(), vec![0.0; weights.len()]);
        let contract = set.provenance.contract().carried();
        Ok((Common::new(set.observations.clone(), classes, outputs, contract), Self(strings)))
    }

    fn contexts(&self) -> usize {
        self.0.first().map_or(0, |model| model.next.len())
    }
}

impl Evaluator for Strings {
    fn description(&self) -> Description {
        let symbols = self.0.first().and_then(|model| model.next.first()).map_or(0, Vec::len);
        let shape = Shape { size: symbols, ..Shape::default() };
        Description {
            models: self.0.len(),
            states: self.contexts(),
            state: "context",
            directions: 0,
            recursion: "context by context",
            topology: Topology::CHAIN,
            order: None,
            items: None,
            emission: family("categorical").map(|family| (family, shape)),
        }
    }

    fn validate(&self) -> Result<(), ModelError> {
        let rows = self.0.iter().flat_map(|model| model.probability.iter().enumerate());
        for (context, row) in rows {
            if let Some(symbol) = row.iter().position(|p| !(0.0..=1.0).contains(p)) {
                let kind = ErrorKind::Negative;
                return Err(ModelError::new(Part::Probability, kind, context, symbol));
            }
        }
        Ok(())
    }

    /// Writes all probabilities. The tables of contexts are left blank, for no artefact holds them.
    fn for_each_real(&self, _: &Common, put: &mut dyn FnMut(f32)) {
        for model in &self.0 {
            // Two bytes per context and symbol, and where strings begin.
            let table = 2 * model.next.iter().map(Vec::len).sum::<usize>() + 14;
            (0..table.div_ceil(4)).for_each(|_| put(0.0));
            model.probability.iter().flatten().copied().for_each(&mut *put);
        }
    }

    fn stream(&self, _: &Common) -> Evidence<f32> {
        Evidence::Models(self.0.iter().map(DeployedStrings::stream).collect())
    }

    /// `M` likelihoods and places in a string; a look-up and a product per model and sample.
    fn cost(&self, of: &Common) -> Cost {
        let (m, o) = (self.0.len(), of.outputs());
        Cost {
            state_bytes: bank_bytes(m, belief_bytes(1, 0) + 8),
            model_bytes: self.payload(of).len(),
            multiply_adds_per_sample: m,
            multiply_adds_per_decision: m * o,
            logarithms_per_decision: m,
            ..Cost::default()
        }
    }

    fn source(&self, of: &Common) -> String {
        let mut text = comments(&of.observations, &of.classes, "");
        let (m, c, k, o) = (self.0.len(), self.contexts(), of.size(), of.outputs());
        let _ = write!(
            text,
            "\nuse fishweir_core::classify::{{Normalisation, StreamClassifier}};\n\
             use fishweir_core::context::{{Automaton, MarkovString, Span, StringHistory}};\n\
             use fishweir_core::emission::{{Alphabet, Categorical}};\n\n\
             {}\
             /// {m} models of Markov strings in {c} contexts of {k} symbols, {o} outputs.\n\
             pub type Model = StreamClassifier<MarkovString<{k}, {c}>, {m}, {o}>;\n\n\
             /// The classifier, in flash.\n\
             #[rustfmt::skip]\n\
             #[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]\n\
             pub static MODEL: Model = StreamClassifier::from_parts(\n    [\n",
            labels(&of.observations, &of.classes),
        );
        for DeployedStrings { next, span, probability } in &self.0 {
            let [start, after_gap] = span.parts().map(|history| {
                let (context, unknown) = history.parts();
                format!("StringHistory::from_parts({context}, {unknown})")
            });
            let _ = writeln!(
                text,
                "        MarkovString::new(\n            Automaton::from_parts({next:?}, \
                 Span::from_parts({k}, {start}, {after_gap})),\n            ["
            );
            for row in probability {
                let _ = writeln!(text, "                Categorical::from_parts({}),", reals(row));
            }
            let _ = writeln!(text, "            ],\n        ),");
        }
        tail(&mut text, &of.weights, &of.biases, of.normalisation);
        text
    }

    fn no_artefact(&self, _: &Common) -> Option<String> {
        Some("Markov strings".to_owned())
    }
}
