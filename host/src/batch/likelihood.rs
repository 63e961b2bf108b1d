//! Log-likelihoods of many sequences.

use fishweir_core::ObservationError;
use fishweir_core::emission::Emission;
use fishweir_core::filter::{Belief, Forward, Streaming};
use fishweir_core::hmm::Hmm as CoreHmm;
use fishweir_core::number::Real;
use fishweir_core::smooth::SequenceError;

use super::channels::Channels;
use super::filter::filter;
use super::known::KnownPath;
use super::side_by_side::{Batch, Together};
use super::symbols::{Symbols, Table};
use super::{LANES, SETS};
use crate::data::SamplesView;
use crate::parallel::each;
use crate::runtime::{CategoricalVec, Hmm, HmmError, HostReal, with_states};

/// `log p(x_1..T)` of each sequence, in order; an impossible sequence is an error in its place.
///
/// Bit for bit what [`Forward`] says of each alone, in `f32` or in `f64`; in `f32` the model's
/// numbers are those of a device. A sequence of another kind than the model's has no observation: `log 1`; of another
/// number of channels its first sample is refused.
///
/// Work: that of [`Forward`] a sample. RAM: 33 bytes a step of a group of symbols; of a group of channels, Gaussian
/// or predicted from their past, a copy of the samples in `T`.
///
/// # Errors
/// [`HmmError`] if the model is invalid.
pub fn log_likelihoods<T: HostReal>(
    model: &Hmm,
    sequences: &[SamplesView<'_>],
) -> Result<Vec<Result<T, SequenceError>>, HmmError> {
    Batch::once(sequences).log_likelihoods(model)
}

impl Batch<'_> {
    /// Log-likelihoods of the sequences: as [`log_likelihoods`].
    ///
    /// # Errors
    /// [`HmmError`] if the model is invalid.
    pub fn log_likelihoods<T: HostReal>(
        &self,
        model: &Hmm,
    ) -> Result<Vec<Result<T, SequenceError>>, HmmError> {
        model.validate()?;
        Ok(of_batch(model, self))
    }
}

/// Log-likelihoods under a model that was checked.
pub(crate) fn of_valid<T: HostReal>(
    model: &Hmm,
    sequences: &[SamplesView<'_>],
) -> Vec<Result<T, SequenceError>> {
    of_batch(model, &Batch::once(sequences))
}

fn of_batch<T: HostReal>(model: &Hmm, batch: &Batch<'_>) -> Vec<Result<T, SequenceError>> {
    let sets = if model.emission.is_over_symbols() { SETS } else { 1 };
    let (sequences, groups) = (batch.sequences(), batch.groups(model.states(), (sets, LANES)));
    let found: Vec<Vec<Result<T, SequenceError>>> = with_states!(model.states(), N => {
        if let Some(hmm) = model.categorical::<T, N>() {
            let path = KnownPath::of(hmm.chain());
            let table = Table::of(hmm.emission());
            let size = model.size();
            each(groups.len(), &|index| {
                let symbols = |&i: &usize| sequences[i].symbols().unwrap_or_default();
                let together = &groups[index];
                let group: Vec<&[Option<u16>]> = together.of.iter().map(symbols).collect();
                if let Some(path) = &path {
                    let alone = |x: &&[Option<u16>]| {
                        path.walk(hmm.emission(), x.iter().map(Option::as_ref), |_| ())
                    };
                    return group.iter().map(alone).collect();
                }
                match &table {
                    Some(table) if group.len() > LANES => {
                        of_symbols::<T, N, SETS>(&hmm, table, size, group, together)
                    }
                    Some(table) if group.len() > 1 => {
                        of_symbols::<T, N, 1>(&hmm, table, size, group, together)
                    }
                    _ => group
                        .iter()
                        .map(|symbols| {
                            let symbols = symbols.iter().map(Option::as_ref);
                            single(&hmm, symbols, |forward, state, x| forward.step(state, x))
                        })
                        .collect(),
                }
            })
        } else if let Some(hmm) = model.channels::<T, N>() {
            each(groups.len(), &|index| {
                let together = &groups[index];
                let group = &together.of;
                let views = |&index: &usize| sequences[index].rows();
                let views: Vec<_> = group.iter().filter_map(views).collect();
                if views.len() == group.len()
                    && views.len() > 1
                    && let Some(mut group) =
                        Channels::<T, LANES>::new(&hmm, model.size(), together, &views)
                {
                    let count = views.len();
                    return filter::<_, _, _, N, 1, _, false>(&hmm, &mut group, count, &mut Vec::new());
                }
                let mut channels: Vec<T> = Vec::with_capacity(model.size());
                group.iter().map(|&index| {
                    let rows = sequences[index].rows().into_iter().flat_map(|rows| rows.iter_in_part());
                    single(&hmm, rows, |forward, state, row| {
                        channels.clear();
                        channels.extend(row.iter().map(|&x| T::from_f64(x)));
                        forward.step(state, &channels)
                    })
                }).collect()
            })
        } else {
            Vec::new()
        }
    });
    let mut results = vec![Ok(T::ZERO); sequences.len()];
    let order = groups.iter().flat_map(|together| &together.of);
    for (&index, result) in order.zip(found.into_iter().flatten()) {
        results[index] = result;
    }
    results
}

/// Runs sequences of symbols side by side, in `W` sets of lanes.
fn of_symbols<T: HostReal, const N: usize, const W: usize>(
    hmm: &CoreHmm<CategoricalVec<T>, N>,
    table: &Table<T>,
    size: usize,
    group: Vec<&[Option<u16>]>,
    together: &Together,
) -> Vec<Result<T, SequenceError>> {
    let count = group.len();
    let mut group = Symbols::<T, W, LANES>::new(group, together, table, size);
    filter::<_, _, _, N, _, _, false>(hmm, &mut group, count, &mut Vec::new())
}

/// One sequence alone; `push` takes in a sample of it.
fn single<X, T: Real, E: Emission<Weight = T>, const N: usize>(
    hmm: &CoreHmm<E, N>,
    samples: impl Iterator<Item = Option<X>>,
    mut push: impl FnMut(&Forward<'_, E, N>, &mut Belief<T, N>, X) -> Result<(), ObservationError>,
) -> Result<T, SequenceError> {
    let forward = Forward::of(hmm);
    let mut state = forward.initial_state();
    for (time, x) in samples.enumerate() {
        match x {
            Some(x) => push(&forward, &mut state, x)
                .map_err(|error| SequenceError::Observation { time, error })?,
            None => forward.step_missing(&mut state),
        }
    }
    Ok(state.log())
}
