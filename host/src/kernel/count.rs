use fishweir_core::filter::{Forward, Streaming};
use fishweir_core::hmm::Hmm as CoreHmm;
use fishweir_core::number::Lanes;
use fishweir_core::smooth::{BackwardLanes, SequenceError};

use super::{Gram, Kernel, KernelError};
use crate::batch::{Expectations, expectations};
use crate::data::SamplesView;
use crate::model::NoScore;
use crate::parallel::each;
use crate::runtime::{CategoricalVec, Hmm, with_states};

/// Quantity that a marginalised count kernel counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// A symbol and the state that emitted it.
    Single,
    /// Two symbols that follow each other, and the states that emitted them.
    Pairs,
}

/// The marginalised count kernel of one or several models, whose features stand side by side: inner
/// products of the expected counts of symbols and hidden states, given the sequence.
///
/// ```text
/// Single  G_ki(x)   = sum_t [x_t = k] p(z_t = i | x) / T
/// Pairs   G_kilj(x) = sum_t [x_t = k, x_t+1 = l] p(z_t = i, z_t+1 = j | x) / (T - 1)
/// K(x, y) = G(x) . G(y) = sum_{z, z'} p(z | x) p(z' | y) K_z((x, z), (y, z'))
/// ```
///
/// A missing observation counts nothing and has its place in `T`; a sequence too short to have
/// anything counted has features of zero.
///
/// Source: Tsuda, Kin and Asai, "Marginalized kernels for biological sequences", Bioinformatics 18,
/// 2002; Jebara, Kondor and Howard, "Probability Product Kernels", 2004, section 7. Work: that of
/// forward-backward; for pairs `3 N^2` multiply-adds per sample more. RAM: `K N` or `(K N)^2`
/// reals per sequence.
#[derive(Clone, Copy, Debug)]
pub struct CountKernel<'m> {
    /// The models, over symbols.
    pub models: &'m [Hmm],
    /// Quantity that is counted.
    pub counted: Counted,
    /// Counts as they are, not divided by `T` or `T - 1`.
    pub raw: bool,
}

impl CountKernel<'_> {
    /// The features of each sequence: model by model `[symbol][state]`, or `[symbol][state][next
    /// symbol][next state]`, one after the other.
    ///
    /// # Errors
    /// [`KernelError`] for a model of channels, and naming a sequence that the model makes
    /// impossible.
    pub fn features(&self, sequences: &[SamplesView<'_>]) -> Result<Vec<Vec<f64>>, KernelError> {
        let mut features = vec![Vec::new(); sequences.len()];
        for model in self.models {
            let counts = match self.counted {
                Counted::Single => singles(model, sequences)?,
                Counted::Pairs => pairs(model, sequences)?,
            };
            for (sequence, (features, counts)) in features.iter_mut().zip(counts).enumerate() {
                features.extend(counts.map_err(|why| NoScore { sequence, why })?);
            }
        }
        if !self.raw {
            for (features, samples) in features.iter_mut().zip(sequences) {
                let places = match self.counted {
                    Counted::Single => samples.len(),
                    Counted::Pairs => samples.len().saturating_sub(1),
                };
                features.iter_mut().for_each(|count| *count /= places.max(1) as f64);
            }
        }
        Ok(features)
    }
}

fn singles(model: &Hmm, sequences: &[SamplesView<'_>]) -> Result<Vec<Counts>, KernelError> {
    if !model.emission.is_over_symbols() {
        return Err(not_symbols(model));
    }
    let by_symbol = |expected: Expectations| {
        let counts = expected.emission.get("counts").unwrap_or_default();
        let columns = (0..model.size()).map(|k| counts.iter().map(move |row| row[k]));
        columns.flatten().collect()
    };
    Ok(expectations(model, sequences).into_iter().map(|found| found.map(by_symbol)).collect())
}

fn not_symbols(model: &Hmm) -> KernelError {
    KernelError::NotSymbols(model.emission.family().observes())
}

fn pairs(model: &Hmm, sequences: &[SamplesView<'_>]) -> Result<Vec<Counts>, KernelError> {
    with_states!(model.states(), N => {
        let hmm = model.categorical::<f64, N>().ok_or_else(|| not_symbols(model))?;
        let count = |index: usize| {
            pair_counts(&hmm, model, sequences[index].symbols().unwrap_or_default())
        };
        Ok(each(sequences.len(), &count))
    })
}

/// Counts of one sequence, or the reason why it has no counts.
type Counts = Result<Vec<f64>, SequenceError>;

/// Expected counts of pairs: the filter forward, and one step back for each pair.
fn pair_counts<const N: usize>(
    hmm: &CoreHmm<CategoricalVec<f64>, N>,
    model: &Hmm,
    symbols: &[Option<u16>],
) -> Counts {
    let (states, size) = (model.states(), model.size());
    let mut counts = vec![0.0; (size * states).pow(2)];
    let forward = Forward::of(hmm);
    let mut state = forward.initial_state();
    let mut rows: Vec<[Lanes<f64, 1>; N]> = Vec::with_capacity(symbols.len());
    for (time, symbol) in symbols.iter().enumerate() {
        match symbol {
            Some(symbol) => forward
                .step(&mut state, symbol)
                .map_err(|error| SequenceError::Observation { time, error })?,
            None => forward.step_missing(&mut state),
        }
        rows.push(state.row().map(|entry| Lanes([entry])));
    }
    let Some((mut next, before)) = rows.split_last_mut() else { return Ok(counts) };
    let followed = symbols.iter().zip(&symbols[1..]);
    for (row, pair) in before.iter_mut().zip(followed).rev() {
        let mut step = BackwardLanes::from_last(next);
        step.step(hmm.chain(), row);
        next = row;
        let (Some(one), Some(two)) = pair else { continue };
        let posterior = step.into_pairs(hmm.chain());
        for (from, row) in posterior.iter().take(states).enumerate() {
            let place = (usize::from(*one) * states + from) * size + usize::from(*two);
            let cells = &mut counts[place * states..][..states];
            for (cell, Lanes([probability])) in cells.iter_mut().zip(row) {
                *cell += probability;
            }
        }
    }
    Ok(counts)
}

impl Kernel for CountKernel<'_> {
    fn gram(&self, sequences: &[SamplesView<'_>]) -> Result<Gram, KernelError> {
        Ok(Gram::of_features(&self.features(sequences)?))
    }
}
