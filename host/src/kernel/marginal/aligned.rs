//! Kernels of sequences of one length, position by position: fixed-length HMM and hidden binomial.

use fishweir_core::emission::Emission;
use fishweir_core::hmm::Hmm as CoreHmm;
use fishweir_core::kernel::{FixedLength, HiddenBinomial, PairTable};
use serde::{Deserialize, Serialize};

use super::check;
use super::error::{ItemError, ModelError};
use super::rows::{
    LogRows, Row, Rows, after, after_symbols, by_blocks, channels_of, in_parallel, one_length,
    prepare, symbols, symbols_of,
};
use crate::data::{Alphabet, Kind, SamplesView};
use crate::runtime::{Hmm, LARGEST_ALPHABET, padded, with_three_sizes, with_two_sizes};

/// The hidden Markov model whose state path two sequences of one length share.
///
/// Equation, cost and range: [`FixedLength`]. A missing sample is summed over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedLengthModel {
    /// The symbols, where it is a model of symbols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alphabet: Option<Alphabet>,
    /// The channels, where it is a model of channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<String>>,
    /// The model.
    pub hmm: Hmm,
}

/// Common source of two sequences of one length: a hidden state per position, independent of the others.
///
/// Equation, cost and range: [`HiddenBinomial`]. A missing symbol is summed over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HiddenBinomialModel {
    /// The symbols.
    pub alphabet: Alphabet,
    /// The hidden state of every position, where they are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<HiddenState>,
    /// Else, that of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub position: Vec<HiddenState>,
}

/// A hidden state and its emission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HiddenState {
    /// Prior, `[state]`.
    pub prior: Vec<f64>,
    /// Emission probabilities, `[state][symbol]`.
    pub emission: Vec<Vec<f64>>,
}

/// Checks a model against its declared observations.
pub(super) fn check_hmm(hmm: &Hmm, kind: &Kind) -> Result<(), ModelError> {
    hmm.validate()?;
    let what = match (kind, hmm.emission.is_over_symbols()) {
        (Kind::Symbols(_), false) => "must be categorical, as the model has an alphabet",
        (Kind::Channels(_), true) => "must be gaussian, as the model has channels",
        _ => "",
    };
    if !what.is_empty() {
        return Err(ModelError::new("hmm.emission", what));
    }
    let (size, found, expected) = match kind {
        Kind::Symbols(alphabet) => (alphabet.len(), "symbols", "alphabet"),
        Kind::Channels(names) => (names.len(), "channels", "channels"),
    };
    if hmm.size() == size {
        return Ok(());
    }
    let what = format!("has {} {found}, and `{expected}` names {size}", hmm.size());
    Err(ModelError::new("hmm.emission", what))
}

impl FixedLengthModel {
    /// Kind of observations.
    ///
    /// # Errors
    /// Neither alphabet nor channels, or both.
    pub fn kind(&self) -> Result<Kind, ModelError> {
        check::observed(self.alphabet.as_ref(), self.channels.as_deref())
    }

    pub(super) fn validate(&self) -> Result<(), ModelError> {
        check_hmm(&self.hmm, &self.kind()?)
    }
}

impl Rows for FixedLengthModel {
    fn log_rows(&self, items: &[SamplesView<'_>], plan: &[Row]) -> LogRows {
        one_length(items, None)?;
        with_three_sizes!(self.hmm.states(), N => {
            if let Some(hmm) = self.hmm.categorical::<f64, N>() {
                let items = prepare(items, |view| symbols_of(view, &hmm.emission()[..1]))?;
                fixed_length(&hmm, &items, plan)
            } else if let Some(hmm) = self.hmm.channels::<f64, N>() {
                let size = self.hmm.size();
                let items = prepare(items, |view| channels_of(view, &hmm.emission()[..1], size))?;
                fixed_length(&hmm, &items, plan)
            } else {
                Ok(Vec::new())
            }
        })
    }
}

fn fixed_length<E, const N: usize>(
    hmm: &CoreHmm<E, N>,
    items: &[Vec<Option<&E::Observation>>],
    plan: &[Row],
) -> LogRows
where
    E: Emission<Weight = f64, Observation: Sync> + Sync,
{
    in_parallel(items, plan, |stream, stored| {
        let stored: Vec<&[_]> = stored.iter().map(Vec::as_slice).collect();
        by_blocks(&stored, |stored| {
            let kernel = FixedLength::of(hmm, stored)?;
            after(kernel, stream.iter().copied())
        })
    })
}

type Table = PairTable<f64, LARGEST_ALPHABET>;

impl HiddenState {
    fn validate(&self, entry: &str, symbols: usize) -> Result<(), ModelError> {
        let states = self.prior.len();
        check::states(&format!("{entry}.prior"), states)?;
        check::distribution(&format!("{entry}.prior"), &self.prior, 0.0)?;
        check::matrix(&format!("{entry}.emission"), &self.emission, (states, symbols), |_| 0.0)
    }

    fn table(&self) -> Result<Table, ModelError> {
        with_two_sizes!(self.prior.len(), N => self.table_of::<N>())
    }

    /// A function of its own: arrays of all sizes in one would not fit a thread's stack.
    #[inline(never)]
    fn table_of<const N: usize>(&self) -> Result<Table, ModelError> {
        let emission =
            check::filled_rows::<N, LARGEST_ALPHABET>(&self.emission, |_| check::sure(0));
        PairTable::new::<N>(&padded(&self.prior), &emission)
            .map_err(|error| ModelError::new("emission", error.to_string()))
    }
}

impl HiddenBinomialModel {
    pub(super) fn validate(&self) -> Result<(), ModelError> {
        let symbols = check::alphabet(&self.alphabet)?;
        match (&self.shared, &self.position[..]) {
            (Some(shared), []) => shared.validate("shared", symbols),
            (None, [_, ..]) => {
                let mut positions = self.position.iter().enumerate();
                positions.try_for_each(|(i, one)| one.validate(&format!("position[{i}]"), symbols))
            }
            _ => Err(ModelError::new(
                "shared",
                "either one state for all positions (`shared`) or one per position (`position`)",
            )),
        }
    }
}

impl HiddenBinomialModel {
    /// Probabilities of two symbols of a position, `[table][symbol][symbol]`: one table for all positions, or one each.
    pub(crate) fn tables(&self) -> Result<Vec<Vec<Vec<f64>>>, ModelError> {
        let symbols = self.alphabet.len();
        let states = self.shared.iter().chain(&self.position);
        let table = |state: &HiddenState| {
            let table = state.table()?;
            let rows = table.probability().iter().take(symbols);
            Ok(rows.map(|row| row[..symbols].to_vec()).collect())
        };
        states.map(table).collect()
    }
}

impl Rows for HiddenBinomialModel {
    fn log_rows(&self, items: &[SamplesView<'_>], plan: &[Row]) -> LogRows {
        let positions = self.position.len();
        one_length(items, (positions > 0).then_some((positions, "a `position` each")))?;
        let items = prepare(items, |view| symbols(view, self.alphabet.len()))?;
        let states = self.shared.iter().chain(&self.position);
        let tables: Vec<Table> = states.map(HiddenState::table).collect::<Result<_, _>>()?;
        in_parallel(&items, plan, |stream, stored| {
            by_blocks(stored, |stored| {
                let kernel = match &self.shared {
                    Some(_) => HiddenBinomial::shared(&tables[0], stored),
                    None => HiddenBinomial::per_position(&tables, stored),
                };
                after_symbols(kernel.map_err(ItemError::from)?, stream)
            })
        })
    }
}
