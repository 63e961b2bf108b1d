use fishweir_core::context::PositionsView;
use fishweir_core::emission::Parametrisation;
use fishweir_core::smooth::SequenceError;
use serde::{Deserialize, Serialize};

use super::rows::{self, Table};
use super::{ContextModelError, Model, ModelScore, Scored, names_of_rows};
use crate::data::{Samples, SamplesView};
use crate::runtime::check;

/// Independent positions of sequences of one length, at run-time sizes:
/// `p(x) = prod_i theta[i][x_i]`.
///
/// The core's [`IndependentPositions`](fishweir_core::context::IndependentPositions), by its rule and
/// its arithmetic. A missing symbol counts nothing, a sequence that ends early is as good as missing
/// from there on, and one that goes on is refused.
///
/// Score: `[position][symbol]`, `L K` entries. Source: Jaakkola and Haussler, "Exploiting
/// generative models in discriminative classifiers", 1998, section 5. Work per sequence: `L K`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct PositionModel {
    probability: Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    probability: Table,
}

impl TryFrom<Parts> for PositionModel {
    type Error = ContextModelError;

    fn try_from(parts: Parts) -> Result<Self, ContextModelError> {
        Self::new(parts.probability)
    }
}

impl PositionModel {
    /// A model from its probabilities, `[position][symbol]`.
    ///
    /// # Errors
    /// [`ContextModelError::Numbers`] naming the first row that is wrong.
    pub fn new(probability: Vec<Vec<f64>>) -> Result<Self, ContextModelError> {
        let columns = probability.first().map_or(0, Vec::len);
        check::length("probability", usize::from(columns > 0), 1)?;
        check::distributions("probability", &probability, probability.len(), columns)?;
        Ok(Self { probability })
    }

    /// Every symbol as likely as any other: the poorest of models, whose invariant kernel counts
    /// matches.
    ///
    /// # Errors
    /// [`ContextModelError::Numbers`] without a position or a symbol.
    pub fn uniform(symbols: usize, length: usize) -> Result<Self, ContextModelError> {
        Self::new(rows::uniform(length, symbols))
    }

    /// The model that sequences of one length make likeliest, by counting: the frequency of each symbol
    /// at each position, with a pseudo-count.
    ///
    /// # Errors
    /// [`ContextModelError`] without a sequence, for one of another length, and for a pseudo-count out
    /// of range.
    pub fn fit(
        symbols: usize,
        sequences: &[SamplesView<'_>],
        pseudo_count: f64,
    ) -> Result<Self, ContextModelError> {
        Self::uniform(symbols, common_length(sequences)?)?.refit(sequences, pseudo_count)
    }

    /// The model of this one's structure that sequences make likeliest: what is impossible stays so,
    /// a position without an observation stays as it is.
    ///
    /// # Errors
    /// [`ContextModelError`] for a sequence that the model makes impossible, and for a pseudo-count out
    /// of range.
    pub fn refit(
        &self,
        sequences: &[SamplesView<'_>],
        pseudo_count: f64,
    ) -> Result<Self, ContextModelError> {
        rows::check_pseudo_count(pseudo_count)?;
        let mut probability = self.probability.clone();
        let sum = rows::total(sequences, |samples| self.count(samples))?;
        rows::maximise(&mut probability, &sum, pseudo_count);
        Self::new(probability)
    }

    /// Probabilities, `[position][symbol]`.
    pub fn probability(&self) -> &[Vec<f64>] {
        &self.probability
    }

    /// Number of positions.
    pub fn positions(&self) -> usize {
        self.probability.len()
    }

    fn rule(&self) -> PositionsView {
        PositionsView { length: self.positions() }
    }

    fn count(&self, samples: SamplesView<'_>) -> Result<Table, SequenceError> {
        let symbols = samples.symbols().unwrap_or_default();
        rows::count(&self.rule(), &self.probability, symbols.iter().map(|s| s.map(usize::from)))
    }
}

/// The length of all sequences.
///
/// # Errors
/// [`ContextModelError`] naming one of another length than the first, or without a sequence.
pub(super) fn common_length(sequences: &[SamplesView<'_>]) -> Result<usize, ContextModelError> {
    let wanted = sequences.first().ok_or(ContextModelError::NoData)?.len();
    match sequences.iter().position(|samples| samples.len() != wanted) {
        None => Ok(wanted),
        Some(sequence) => {
            let found = sequences[sequence].len();
            Err(ContextModelError::Length { sequence, found, wanted })
        }
    }
}

impl Model for PositionModel {
    fn noun(&self) -> &'static str {
        "model of independent positions"
    }

    fn size(&self) -> usize {
        self.probability[0].len()
    }

    /// `logits[position][symbol]`.
    fn parameter_names(&self) -> Vec<String> {
        names_of_rows("logits", self.positions(), Model::size(self))
    }
}

impl Scored for PositionModel {
    fn parameters(&self) -> usize {
        rows::parameters(&self.probability)
    }

    fn scores(
        &self,
        sequences: &[SamplesView<'_>],
        parametrisation: Parametrisation,
    ) -> Vec<Result<ModelScore, SequenceError>> {
        rows::scores(&self.probability, sequences, parametrisation, |samples| self.count(samples))
    }

    /// Draws at most all positions.
    fn draw(&self, length: usize, seed: u64) -> Samples {
        let symbols = self.probability[0].len();
        Samples::Symbols(rows::draw(&self.rule(), &self.probability, symbols, length, seed))
    }

    fn symbols(&self) -> Option<usize> {
        self.probability.first().map(Vec::len)
    }

    fn information(
        &self,
        length: usize,
        parametrisation: Parametrisation,
    ) -> Option<Vec<Vec<f64>>> {
        let seen = |position| if position < length { 1.0 } else { 0.0 };
        let visits: Vec<f64> = (0..self.positions()).map(seen).collect();
        Some(rows::information(&self.probability, &visits, parametrisation))
    }
}
