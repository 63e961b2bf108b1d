//! Bank of models with hidden or known states, whose evidence is weighed.

use fishweir_core::ModelError;
use fishweir_core::number::Real;

use super::block::block;
use super::common::Common;
use super::cost::{Cost, FilterWork, Priced, bank_bytes, belief_bytes};
use super::evaluator::{Description, Evaluator};
use super::lags::hearing;
use super::machine::has_machines;
use super::model::{DeployedModel, States};
use super::model_stream::ModelStream;
use super::route::{Route, Streaming, VECTORS};
use super::source::{
    EmissionType, contexts_and_emissions, emission_source, head, model_source_in_part, tail,
};
use super::stream::Evidence;
use super::validate::validate_model;
use super::words::words;
use crate::runtime::HostReal;
use crate::runtime::family::BLOCK;

/// Models of one family and one number of states, with the directions of all outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Bank<T = f32> {
    pub(super) models: Vec<DeployedModel<T>>,
    pub(super) states: States,
    pub(super) directions: usize,
}

impl<T: Real> Bank<T> {
    /// Creates a bank of models with a chain each.
    ///
    /// If each state of all models is followed by one other, the bank holds positions and no chain. A single state is
    /// held as a chain.
    pub(super) fn new(models: Vec<DeployedModel<T>>) -> Self {
        let directions = directions_of(&models);
        let has_past = models.first().is_some_and(|model| model.initial.len() > 1);
        let known = models.iter().map(DeployedModel::by_position).collect::<Option<Vec<_>>>();
        match known.filter(|_| has_past) {
            Some(models) => Self { models, states: States::Steps, directions },
            None => Self { models, states: States::Hidden, directions },
        }
    }

    /// Creates a bank of models with a row per context of `order` symbols.
    pub(super) fn of_words(models: Vec<DeployedModel<T>>, order: usize) -> Self {
        let directions = directions_of(&models);
        let models =
            models.into_iter().map(|model| DeployedModel::of_rows(model.emission)).collect();
        Self { models, states: States::Order(order), directions }
    }

    /// Hidden states of each model, its positions, or its contexts.
    pub(super) fn rows(&self) -> usize {
        self.models.first().map_or(0, |model| model.emission.len())
    }

    pub(super) fn emission(&self) -> EmissionType {
        EmissionType::of(&self.models)
    }
}

/// Directions of models with a chain each.
fn directions_of<T>(models: &[DeployedModel<T>]) -> usize {
    let first = models.first().and_then(|model| model.initial.first());
    first.map_or(0, |weight| weight.tangent.len())
}

impl<T: HostReal> Bank<T> {
    /// Evidence before the first sample of a stream.
    pub(super) fn start(&self, of: &Common<T>) -> Evidence<T> {
        let of_model = |(index, model): (usize, &DeployedModel<T>)| {
            let block = |first| {
                let left = self.directions - usize::min(first, self.directions);
                match self.states {
                    States::Order(order) => words(model, order, first, left),
                    known => block(model, known == States::Steps, first, left),
                }
            };
            let blocks = (0..self.directions.max(1)).step_by(BLOCK).map(block).collect();
            ModelStream::of(blocks).seeing(of.columns(index))
        };
        Evidence::Models(self.models.iter().enumerate().map(of_model).collect())
    }
}

impl Bank {
    /// Checks the numbers of each model; an error comes with the model's index.
    pub(super) fn validate_each(&self) -> Result<(), (usize, ModelError)> {
        let mut models = self.models.iter().enumerate();
        models.try_for_each(|(index, model)| {
            let checked = validate_model(model, self.states, self.directions);
            checked.map_err(|error| (index, error))
        })
    }

    /// Route with hidden states, for a bank of known ones.
    fn hidden(&self, of: &Common) -> Route {
        let (m, n, c) = (self.models.len(), self.rows(), self.directions);
        let filter = FilterWork::of(n, c, &self.emission());
        let (cost, (ring, differences)) = (self.cost(of).on(of.windows()), of.ring());
        Route {
            name: "the same with hidden states",
            taken: false,
            why: "not needed: each state has only one next state, so the states are known",
            state_bytes: bank_bytes(m, belief_bytes(n, c)) + ring,
            model_bytes: cost.model_bytes + 4 * m * (n + n * n) * (1 + c),
            multiply_adds_per_sample: m * filter.multiply_adds + differences,
            ..Route::taken("", "", cost)
        }
        .on(of.windows())
    }

    /// Route of a kernel machine that takes the same decisions.
    fn with_vectors(&self, of: &Common) -> Route {
        let (m, o) = (self.models.len(), of.outputs());
        let (ring, differences) = of.ring();
        let streaming = Streaming::of(m, self.rows(), &self.emission());
        let entries = m * streaming.entries;
        Route {
            name: VECTORS,
            taken: false,
            why: "the same decisions at a higher cost: the whole score, and a kernel value per item",
            state_bytes: streaming.state_bytes + ring,
            // Beside the models a centre and a rate per entry, the biases, four words; the lags, and what columns
            // models hear.
            model_bytes: streaming.model_bytes
                + 4 * (2 * entries + o)
                + 16
                + 4 * (of.lags.as_slice().len() + of.lags.columns_kept(m, of.channels())),
            model_bytes_per_item: 4 * (entries + o),
            multiply_adds_per_sample: streaming.multiply_adds + differences,
            multiply_adds_per_decision: entries,
            multiply_adds_per_decision_per_item: entries + o,
        }
        .on(of.windows())
    }
}

impl Evaluator for Bank {
    fn description(&self) -> Description {
        let EmissionType { family, shape } = self.emission();
        let (state, recursion) = match self.states {
            States::Hidden if self.directions == 0 => ("hidden state", "by the forward filter"),
            States::Hidden => ("hidden state", "by the tangent filter"),
            States::Steps => ("position", "position by position"),
            States::Order(_) => ("context", "context by context"),
        };
        Description {
            models: self.models.len(),
            states: self.rows(),
            state,
            directions: self.directions,
            recursion,
            topology: self.states.topology(),
            order: self.states.order(),
            items: None,
            emission: Some((family, shape)),
        }
    }

    fn validate(&self) -> Result<(), ModelError> {
        self.validate_each().map_err(|(_, error)| error)
    }

    /// Writes all numbers. The table of contexts of a words model is left blank, for no artefact holds it.
    fn for_each_real(&self, of: &Common, put: &mut dyn FnMut(f32)) {
        let words = self.states.automaton_bytes(self.rows(), of.size()) / size_of::<f32>();
        (0..words).for_each(|_| put(0.0));
        for (index, model) in self.models.iter().enumerate() {
            model.for_each_real(put);
            // Words, as the bits of reals.
            let columns = of.columns(index).into_iter().flatten();
            columns.for_each(|column| put(f32::from_bits(column as u32)));
        }
    }

    fn stream(&self, of: &Common) -> Evidence<f32> {
        self.start(of)
    }

    /// State: `M` beliefs of `N (1 + C)` reals, a ledger of 16 bytes and 8 a direction, and an age;
    /// a counter, and a byte per model. Work per sample: `M ((1 + 2C) (N^2 + N) + N D (2 + 2C))` for Gaussians, without
    /// the last term for categorical emissions. Where states follow one another, or are the last symbols, one is
    /// kept, and its place: `N` is one and `N^2` nothing. Differences at `L` lags of `K` samples at most keep
    /// `4 K` bytes per channel and a place, and take `L` subtractions per channel and sample; where each model hears one lag
    /// its columns are a word each in flash. `G` codebooks over the last `K` samples of `D` channels keep `4 D K`
    /// bytes, a place and 8 an output, and take `G (8 D + 64 + O)` per sample; `Q` levels take `8 G Q` comparisons, a quarter
    /// of a multiply-add each, and `8 G O` additions where they are exceeded, a third. Behind a front end a sample's
    /// work is its share of a row's, beside that of the front end.
    fn cost(&self, of: &Common) -> Cost {
        let EmissionType { family, shape } = self.emission();
        let priced = Priced {
            family,
            shape,
            models: self.models.len(),
            states: self.rows(),
            directions: self.directions,
            outputs: of.outputs(),
            channels: of.size(),
            front: &of.front,
            lags: &of.lags,
            codebooks: of.codebooks.as_ref().map(|one| one.books().size()),
            channel_bytes: of.channel_bytes(),
        };
        let bytes = self.payload(of).len() + of.confidence_bytes();
        priced.with(self.states != States::Hidden, bytes)
    }

    fn source(&self, of: &Common) -> String {
        let emission = self.emission();
        let (real, numbers) = match self.directions {
            0 => ("f32".into(), ""),
            directions => {
                (format!("Dual<f32, {directions}>"), "use fishweir_core::number::Dual;\n")
            }
        };
        let mut text = head(
            &of.observations,
            &of.classes,
            "",
            &format!(
                "use fishweir_core::emission::{};\n{numbers}",
                emission.import_in_part(of.in_part())
            ),
            (&emission.text_in_part(&real, of.in_part()), self.states),
            [self.models.len(), self.rows(), of.outputs()],
        );
        for (index, model) in self.models.iter().enumerate() {
            let [hears, heard] = hearing(of.columns(index));
            text += &hears;
            match self.states.rule() {
                None => model_source_in_part(&mut text, model, of.in_part()),
                Some(rule) => {
                    contexts_and_emissions(
                        &mut text,
                        rule,
                        model.emission.iter().map(|one| emission_source(one, of.in_part())),
                    );
                }
            }
            text += &heard;
        }
        tail(&mut text, &of.weights, &of.biases, of.normalisation);
        text
    }

    fn no_artefact(&self, of: &Common) -> Option<String> {
        let EmissionType { family, shape } = self.emission();
        match self.states {
            States::Steps if of.lags.is_apart() => {
                Some("models of a lag each whose states are known".to_owned())
            }
            States::Order(_) => Some("weights of words".to_owned()),
            _ => family.artefact().is_none().then(|| family.words(shape)),
        }
    }

    fn routes(&self, of: &Common) -> Vec<Route> {
        let taken = Route::linear(self.directions, self.cost(of).on(of.windows()));
        // Of the statistics of known states, behind a front end, or beside codebooks, the other way was not priced.
        let is_priced = self.states == States::Hidden
            && self.directions > 0
            && of.front.is_empty()
            && of.codebooks.is_none()
            && has_machines(self.emission().family);
        let hidden = (self.states == States::Steps).then(|| self.hidden(of));
        let vectors = is_priced.then(|| self.with_vectors(of));
        [Some(taken), hidden, vectors].into_iter().flatten().collect()
    }
}
