//! The kernel of sequences of any two lengths: pair HMM.

use fishweir_core::kernel::{End, PairHmm, PairKernel, Scaled};
use serde::{Deserialize, Serialize};

use super::check;
use super::error::{ItemError, ModelError};
use super::room::Heap;
use super::rows::{LogRows, Row, Rows, after_symbols, in_parallel, prepare, symbols};
use crate::data::{Alphabet, SamplesView};
use crate::runtime::{LARGEST_ALPHABET, padded, with_three_sizes};

/// The hidden Markov model whose trajectory two sequences share, each state emitting a symbol of each,
/// or nothing.
///
/// Equation, cost and range: [`PairKernel`] and [`PairHmm`]. A missing symbol is summed over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairHmmModel {
    /// The symbols.
    pub alphabet: Alphabet,
    /// Initial probabilities, `[state]`.
    pub initial: Vec<f64>,
    /// Transition probabilities, `[from][to]`.
    pub transition: Vec<Vec<f64>>,
    /// Emission probabilities, `[state][symbol]`; with `empty` a row sums to one.
    pub emission: Vec<Vec<f64>>,
    /// Probabilities of emitting nothing, `[state]`.
    pub empty: Vec<f64>,
    /// End of the trajectories.
    pub end: PairEnd,
}

/// End of the trajectories of a [`PairHmmModel`]; see [`End`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PairEnd {
    /// Anywhere.
    Anywhere,
    /// A silent final state, which is entered with these probabilities; with them the initial
    /// probabilities and the rows of transitions sum to one.
    Silent {
        /// Probability from the beginning.
        initial: f64,
        /// Probability from each state.
        state: Vec<f64>,
    },
    /// This emitting state.
    Emitting(usize),
}

type Padded<const N: usize> = PairHmm<f64, N, LARGEST_ALPHABET>;
type Kernel<'m, const N: usize> = PairKernel<'m, Padded<N>, Option<u16>, Heap<Scaled<f64, N>>>;

impl PairHmmModel {
    pub(super) fn validate(&self) -> Result<(), ModelError> {
        let symbols = check::alphabet(&self.alphabet)?;
        let states = self.initial.len();
        check::states("initial", states)?;
        let (initial, leaves): (f64, &[f64]) = match &self.end {
            PairEnd::Anywhere => (0.0, &[]),
            PairEnd::Silent { initial, state } => {
                check::probability(|| "end.silent.initial".into(), *initial)?;
                check::length("end.silent.state", state.len(), states)?;
                for (index, &p) in state.iter().enumerate() {
                    check::probability(|| format!("end.silent.state[{index}]"), p)?;
                }
                (*initial, state)
            }
            PairEnd::Emitting(last) if *last < states => (0.0, &[]),
            PairEnd::Emitting(last) => {
                let what = format!("there is no state {last}; states are 0 to {}", states - 1);
                return Err(ModelError::new("end.emitting", what));
            }
        };
        check::distribution("initial", &self.initial, initial)?;
        let leave = |from: usize| leaves.get(from).copied().unwrap_or(0.0);
        check::matrix("transition", &self.transition, (states, states), leave)?;
        check::length("empty", self.empty.len(), states)?;
        for (index, &p) in self.empty.iter().enumerate() {
            check::probability(|| format!("empty[{index}]"), p)?;
        }
        check::matrix("emission", &self.emission, (states, symbols), |state| self.empty[state])?;
        // What the core alone finds: a state that emits nothing for ever.
        with_three_sizes!(states, N => self.built::<N>().map(|_| ()))
    }

    /// The core's model; a padded state stays where it is and shows the first symbol.
    fn built<const N: usize>(&self) -> Result<Box<Padded<N>>, ModelError> {
        let end = match &self.end {
            PairEnd::Anywhere => End::Anywhere,
            PairEnd::Silent { initial, state } => {
                End::Silent { initial: *initial, state: padded(state) }
            }
            PairEnd::Emitting(state) => End::Emitting(*state),
        };
        let model = PairHmm::new(
            padded(&self.initial),
            check::filled_rows(&self.transition, check::sure),
            check::filled_rows(&self.emission, |_| check::sure(0)),
            padded(&self.empty),
            end,
        );
        model.map(Box::new).map_err(|error| ModelError::new("empty", error.to_string()))
    }
}

/// A pair model without pairs that are empty, as the core's [`PairHmm`] holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReducedPair {
    /// `[state]`.
    pub(crate) initial: Vec<f64>,
    /// `[from][to]`.
    pub(crate) transition: Vec<Vec<f64>>,
    pub(crate) initial_end: f64,
    /// `[state]`.
    pub(crate) end: Vec<f64>,
}

impl PairHmmModel {
    /// The model without pairs that are empty.
    pub(crate) fn reduced(&self) -> Result<ReducedPair, ModelError> {
        let states = self.initial.len();
        with_three_sizes!(states, N => {
            let model = self.built::<N>()?;
            let rows = model.chain().transition().iter().take(states);
            Ok(ReducedPair {
                initial: model.chain().initial()[..states].to_vec(),
                transition: rows.map(|row| row[..states].to_vec()).collect(),
                initial_end: model.initial_end(),
                end: model.end()[..states].to_vec(),
            })
        })
    }
}

impl Rows for PairHmmModel {
    fn log_rows(&self, items: &[SamplesView<'_>], plan: &[Row]) -> LogRows {
        let items = prepare(items, |view| symbols(view, self.alphabet.len()))?;
        with_three_sizes!(self.initial.len(), N => {
            let model = self.built::<N>()?;
            in_parallel(&items, plan, |stream, stored| {
                let one = |stored: &&[Option<u16>]| {
                    let kernel = Kernel::<N>::of(&model, stored).map_err(ItemError::from)?;
                    after_symbols(kernel, stream)
                };
                stored.iter().map(one).collect()
            })
        })
    }
}
