//! A profile as the one model of a classifier: log-odds against its null model and, with rates, a direction.

use std::fmt::Write as _;

use fishweir_core::artefact::Topology;
use fishweir_core::filter::Streaming;
use fishweir_core::number::{Dual, Parameter, RealParameter, Scalar};
use fishweir_core::profile_hmm::{
    Cell, Flanks, ProfileBelief, ProfileHmmView, ProfileSearch, Steps,
};
use fishweir_core::{ModelError, ObservationError};

use super::block::{Block, Observation, parts};
use super::common::Common;
use super::cost::{Cost, bank_bytes};
use super::error::{DeployError, PushError};
use super::evaluator::{Description, Evaluator};
use super::model_stream::ModelStream;
use super::source::{comments, labels, tail, weights};
use super::stream::Evidence;
use crate::classifier::{Contract, Observations};
use crate::kernel::marginal::Heap;
use crate::runtime::Shape;
use crate::runtime::family::{OF_SYMBOLS, Weight, lift};

/// A search profile in the numbers of a device: the fields of the core's `ProfileHmm`.
#[derive(Clone, Debug, PartialEq)]
pub struct DeployedProfile {
    /// `[symbol][position]`, row by row.
    odds: Vec<Weight>,
    steps: Vec<[Weight; 9]>,
    flanks: [Weight; 6],
}

type Number<W> = <W as Parameter>::Number;

/// The core's recursion at run-time size, and where its stream is.
struct Run<W: RealParameter> {
    odds: Vec<W>,
    steps: Vec<Steps<W>>,
    flanks: Flanks<W>,
    state: ProfileBelief<Number<W>, Heap<Cell<Number<W>>>>,
}

impl<W: RealParameter<Real = f32>> Run<W> {
    fn new(profile: &DeployedProfile) -> Self {
        let row =
            |steps: &[Weight; 9]| Steps::from_array(steps.each_ref().map(|w| lift(Some(w), 0)));
        let flanks = Flanks::from_array(profile.flanks.each_ref().map(|w| lift(Some(w), 0)));
        let odds: Vec<W> = profile.odds.iter().map(|w| lift(Some(w), 0)).collect();
        let steps: Vec<Steps<W>> = profile.steps.iter().map(row).collect();
        let state = search(&odds, &steps, &flanks).initial_state();
        Self { odds, steps, flanks, state }
    }

    fn search(&self) -> Search<'_, W> {
        search(&self.odds, &self.steps, &self.flanks)
    }
}

type Search<'m, W> = ProfileSearch<'m, W, Number<W>, Heap<Cell<Number<W>>>>;

fn search<'m, W: RealParameter<Real = f32>>(
    odds: &'m [W],
    steps: &'m [Steps<W>],
    flanks: &'m Flanks<W>,
) -> Search<'m, W> {
    ProfileSearch::over(ProfileHmmView::from_parts(odds, steps, flanks))
}

impl<W: RealParameter<Real = f32>> Block<f32> for Run<W> {
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError> {
        let Observation::Symbol(symbol) = x else { return Err(PushError::Kind) };
        let Self { odds, steps, flanks, state } = self;
        let pushed: Result<(), ObservationError> =
            search(odds, steps, flanks).step(state, &usize::from(*symbol));
        Ok(pushed?)
    }
    fn push_missing(&mut self) {
        let Self { odds, steps, flanks, state } = self;
        search(odds, steps, flanks).step_missing(state);
    }
    fn reset(&mut self) {
        self.state = self.search().initial_state();
    }
    fn log(&self) -> f32 {
        self.search().read(&self.state).value()
    }
    fn log_parts(&self) -> ([f32; 2], Vec<[f32; 2]>) {
        parts(self.search().log_parts(&self.state))
    }
}

impl DeployedProfile {
    fn positions(&self) -> usize {
        self.steps.len()
    }

    fn directions(&self) -> usize {
        self.flanks[0].tangent.len()
    }

    /// Weights in the order of memory.
    fn weights(&self) -> impl Iterator<Item = &Weight> {
        self.odds.iter().chain(self.steps.iter().flatten()).chain(&self.flanks)
    }

    /// Reads a profile from its numbers in memory order.
    pub(super) fn read(
        [positions, symbols, directions]: [usize; 3],
        mut next: impl FnMut() -> f32,
    ) -> Self {
        let mut weight = || {
            let value = next();
            Weight { value, tangent: (0..directions).map(|_| next()).collect() }
        };
        Self {
            odds: (0..positions * symbols).map(|_| weight()).collect(),
            steps: (0..positions).map(|_| std::array::from_fn(|_| weight())).collect(),
            flanks: std::array::from_fn(|_| weight()),
        }
    }

    /// Number of reals of a profile.
    pub(super) fn reals([positions, symbols, directions]: [usize; 3]) -> usize {
        (positions * (symbols + 9) + 6) * (1 + directions)
    }
}

/// A classifier of one profile, in the numbers of a search: its value is
/// `bias + weight log-odds + sum_k,x n_k(x) rates_k(x)`, with `n_k(x)` the expected number of symbols `x` that position
/// `k` emits.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileParts {
    /// The symbols in order.
    pub symbols: String,
    /// The class of all else, and the family's.
    pub classes: [String; 2],
    /// Odds against the null model, `[symbol][position]`.
    pub odds: Vec<Vec<f64>>,
    /// Weights of expected counts, `[symbol][position]`; `None` where the log-odds alone decide.
    pub rates: Option<Vec<Vec<f64>>>,
    /// Transitions, `[position]`.
    pub steps: Vec<Steps<f64>>,
    /// Transitions around domains, for the length of a sequence.
    pub flanks: Flanks<f64>,
    /// Weight of the log-odds, in nats.
    pub weight: f64,
    /// Bias.
    pub bias: f64,
    /// The conditions of training.
    pub contract: Contract,
}

impl DeployedProfile {
    /// Returns a profile rounded to `f32`, and its one output.
    pub(super) fn of(parts: &ProfileParts) -> Result<(Common, Self), DeployError> {
        let (symbols, positions) = (parts.symbols.chars().count(), parts.steps.len());
        let is_whole = |rows: &Vec<Vec<f64>>| {
            rows.len() == symbols && rows.iter().all(|row| row.len() == positions)
        };
        if ![Some(&parts.odds), parts.rates.as_ref()].into_iter().flatten().all(is_whole) {
            return Err(DeployError::Models(format!(
                "odds or rates are not {symbols} rows of {positions}"
            )));
        }
        let rates = parts.rates.as_ref();
        let weight = |value: f64, rate: f64| Weight {
            value: value as f32,
            tangent: rates.iter().map(|_| rate as f32).collect(),
        };
        let plain = |value: f64| weight(value, 0.0);
        let mut odds = Vec::with_capacity(symbols * positions);
        for (symbol, row) in parts.odds.iter().enumerate() {
            for (position, &value) in row.iter().enumerate() {
                // The derivative by the logarithm of the odds is the expected count.
                let rate = rates.map_or(0.0, |rates| rates[symbol][position]);
                odds.push(weight(value, value * rate));
            }
        }
        let steps = parts.steps.iter().map(|steps| steps.to_array().map(plain)).collect();
        let flanks = parts.flanks.to_array().map(plain);
        let profile = Self { odds, steps, flanks };
        profile.validate().map_err(|source| DeployError::Rounded {
            place: "the profile".into(),
            source,
            advice: "give it a prior that leaves no residue without probability",
        })?;
        let observations = Observations::Symbols(parts.symbols.clone());
        let outputs = (vec![vec![parts.weight as f32]], vec![parts.bias as f32]);
        let contract = parts.contract.carried();
        Ok((Common::new(observations, parts.classes.to_vec(), outputs, contract), profile))
    }
}

impl Evaluator for DeployedProfile {
    fn description(&self) -> Description {
        let size = self.odds.len() / self.positions().max(1);
        Description {
            models: 1,
            states: self.positions(),
            state: "position",
            directions: self.directions(),
            recursion: "by the recursion of a profile",
            topology: Topology::PROFILE,
            order: None,
            items: None,
            emission: Some((OF_SYMBOLS, Shape { size, components: 1 })),
        }
    }

    fn validate(&self) -> Result<(), ModelError> {
        fn of<W: RealParameter<Real = f32>>(profile: &DeployedProfile) -> Result<(), ModelError> {
            let run = Run::<W>::new(profile);
            ProfileHmmView::new(&run.odds, &run.steps, &run.flanks).map(|_| ())
        }
        match self.directions() {
            0 => of::<f32>(self),
            _ => of::<Dual<f32, 1>>(self),
        }
    }

    fn for_each_real(&self, _: &Common, put: &mut dyn FnMut(f32)) {
        self.weights().for_each(|weight| weight.for_each_real(&mut *put));
    }

    fn stream(&self, _: &Common) -> Evidence<f32> {
        Evidence::Models(vec![ModelStream::of(match self.directions() {
            0 => vec![Box::new(Run::<f32>::new(self))],
            _ => vec![Box::new(Run::<Dual<f32, 1>>::new(self))],
        })])
    }

    /// `3 K + 3` numbers of state, `10 K` multiplications and `9 K` additions per symbol, each
    /// number and multiplication one and two times `C` that with `C` directions.
    fn cost(&self, of: &Common) -> Cost {
        let (k, c) = (self.positions(), self.directions());
        // The ledger's 64-bit exponent aligns a belief to eight bytes; its age is a word.
        let state = (4 * (3 * k + 3) * (1 + c) + 16 + 8 * c + 4).next_multiple_of(8);
        Cost {
            state_bytes: bank_bytes(1, state),
            model_bytes: self.payload(of).len(),
            multiply_adds_per_sample: (10 * k + 8) * (1 + 2 * c),
            multiply_adds_per_decision: of.outputs() + c,
            logarithms_per_decision: 1,
            ..Cost::default()
        }
    }

    fn source(&self, of: &Common) -> String {
        let (k, a, c) = (self.positions(), of.size(), self.directions());
        let (number, import) = match c {
            0 => ("f32", ""),
            _ => ("Dual<f32, 1>", "use fishweir_core::number::Dual;\n"),
        };
        let mut text = comments(&of.observations, &of.classes, "");
        let _ = write!(
            text,
            "\nuse fishweir_core::classify::{{Normalisation, StreamClassifier}};\n\
             use fishweir_core::emission::Alphabet;\n\
             {import}\
             use fishweir_core::profile_hmm::{{Flanks, ProfileHmm, Steps}};\n\n\
             {}\
             /// A profile of {k} positions over {a} symbols, one output.\n\
             pub type Model = StreamClassifier<ProfileHmm<{number}, {k}, {a}>, 1, 1>;\n\n\
             /// The classifier, in flash.\n\
             #[rustfmt::skip]\n\
             #[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]\n\
             pub static MODEL: Model = StreamClassifier::from_parts(\n    [\n",
            labels(&of.observations, &of.classes),
        );
        let _ = writeln!(text, "        ProfileHmm::from_parts(\n            [");
        for row in self.odds.chunks(k) {
            let _ = writeln!(text, "                {},", weights(row));
        }
        let _ = writeln!(text, "            ],\n            [");
        for steps in &self.steps {
            let _ = writeln!(text, "                Steps::from_array({}),", weights(steps));
        }
        let flanks = weights(&self.flanks);
        let _ =
            writeln!(text, "            ],\n            Flanks::from_array({flanks}),\n        ),");
        tail(&mut text, &of.weights, &of.biases, of.normalisation);
        text
    }
}
