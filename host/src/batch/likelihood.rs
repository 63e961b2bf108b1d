//! Log-likelihoods of many sequences.

use fishweir_core::emission::Emission;
use fishweir_core::filter::{Forward, Recursion};
use fishweir_core::hmm::{Chain, Hmm as CoreHmm};
use fishweir_core::number::Real;
use fishweir_core::smooth::SequenceError;
use rayon::prelude::*;

use super::filter::filter;
use super::group::{Any, Symbols, Table, arrange, channels};
use crate::data::SamplesView;
use crate::runtime::{CategoricalVec, GaussianVec, Hmm, HmmError, with_states};

/// `log p(x_1..T)` of each sequence, in order; an impossible sequence is an error in its place.
///
/// Bit for bit what [`Forward`] says of each alone, in `f32` or in `f64`; in `f32` the model's
/// numbers are rounded first. A sequence of another kind than the model's has no observation: `log 1`.
///
/// Work: that of [`Forward`] a sample. RAM: 16 bytes a step of a group of symbols; of channels, a
/// copy of a group's samples.
///
/// # Errors
/// [`HmmError`] if the model is none.
pub fn log_likelihoods<T: Real + Send + Sync>(
    model: &Hmm,
    sequences: &[SamplesView<'_>],
) -> Result<Vec<Result<T, SequenceError>>, HmmError> {
    model.validate()?;
    let groups = arrange(sequences.iter().map(SamplesView::len));
    let found: Vec<Vec<Result<T, SequenceError>>> = with_states!(model.states(), N => {
        if let Some(hmm) = model.categorical::<N>() {
            let hmm = categorical::<T, N>(&hmm);
            let table = Table::of(hmm.emission());
            let size = model.size();
            groups.par_iter().map(|group| {
                let group: Vec<&[Option<u16>]> =
                    group.iter().map(|&i| sequences[i].symbols().unwrap_or_default()).collect();
                match (group.as_slice(), &table) {
                    ([alone], _) => vec![single(&hmm, alone.iter().map(Option::as_ref))],
                    (_, Some(table)) => {
                        let count = group.len();
                        let mut group = Symbols::new(group, table, size);
                        filter::<_, _, _, N, false>(&hmm, &mut group, count, &mut Vec::new())
                    }
                    (_, None) => {
                        let lanes = group.iter().map(|x| x.iter().map(Option::as_ref).collect());
                        any(&hmm, lanes.collect())
                    }
                }
            }).collect()
        } else if let Some(hmm) = model.gaussian::<N>() {
            let hmm = gaussian::<T, N>(&hmm);
            groups.par_iter().map(|group| {
                let group: Vec<_> = group.iter().map(|&i| channels::<T>(sequences[i])).collect();
                match group.as_slice() {
                    [alone] => vec![single(&hmm, alone.iter().map(Option::as_deref))],
                    group => {
                        let lanes = group.iter().map(|x| x.iter().map(Option::as_deref).collect());
                        any(&hmm, lanes.collect())
                    }
                }
            }).collect()
        } else {
            Vec::new()
        }
    });
    let mut results = vec![Ok(T::ZERO); sequences.len()];
    for (index, result) in groups.into_iter().flatten().zip(found.into_iter().flatten()) {
        results[index] = result;
    }
    Ok(results)
}

fn any<T: Real, E: Emission<Weight = T>, const N: usize>(
    hmm: &CoreHmm<E, N>,
    lanes: Vec<Vec<Option<&E::Observation>>>,
) -> Vec<Result<T, SequenceError>> {
    let count = lanes.len();
    filter::<_, _, _, N, false>(hmm, &mut Any::new(lanes), count, &mut Vec::new())
}

/// One sequence alone.
fn single<'x, T: Real, E: Emission<Weight = T, Observation: 'x>, const N: usize>(
    hmm: &CoreHmm<E, N>,
    samples: impl Iterator<Item = Option<&'x E::Observation>>,
) -> Result<T, SequenceError> {
    let forward = Forward::of(hmm);
    let mut state = forward.start();
    for (time, x) in samples.enumerate() {
        match x {
            Some(x) => forward
                .push(&mut state, x)
                .map_err(|error| SequenceError::Observation { time, error })?,
            None => forward.push_missing(&mut state),
        }
    }
    Ok(state.log())
}

fn chain<T: Real, const N: usize>(chain: &Chain<f64, N>) -> Chain<T, N> {
    Chain::from_parts(
        chain.initial().map(T::from_f64),
        chain.transition().map(|row| row.map(T::from_f64)),
    )
}

fn rounded<T: Real>(numbers: &[f64]) -> Vec<T> {
    numbers.iter().copied().map(T::from_f64).collect()
}

fn categorical<T: Real, const N: usize>(
    hmm: &CoreHmm<CategoricalVec<f64>, N>,
) -> CoreHmm<CategoricalVec<T>, N> {
    let emission = hmm
        .emission()
        .each_ref()
        .map(|state| CategoricalVec { probability: rounded(&state.probability) });
    CoreHmm::new(chain(hmm.chain()), emission)
}

fn gaussian<T: Real, const N: usize>(
    hmm: &CoreHmm<GaussianVec<f64>, N>,
) -> CoreHmm<GaussianVec<T>, N> {
    let emission = hmm.emission().each_ref().map(|state| GaussianVec {
        mean: rounded(&state.mean),
        rate: rounded(&state.rate),
        constant: T::from_f64(state.constant),
        linear: state.linear.clone(),
        quadratic: state.quadratic.clone(),
    });
    CoreHmm::new(chain(hmm.chain()), emission)
}
