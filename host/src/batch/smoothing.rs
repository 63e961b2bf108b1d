//! Posteriors of many sequences, and their readers.

use std::cell::Cell;
use std::ops::Range;

use fishweir_core::emission::Emission;
use fishweir_core::hmm::{Chain, Hmm as CoreHmm};
use fishweir_core::number::Lanes;
use fishweir_core::smooth::{self, BackwardLanes, SequenceError};
use multiversion::multiversion;

use super::LANES;
use super::channels::Channels;
use super::filter::filter;
use super::group::Any;
use super::known::KnownPath;
use super::side_by_side::Batch;
use super::symbols::{Symbols, Table};
use super::tally::{Accumulate, Tally, columns};
use crate::data::SamplesView;
use crate::parallel::each;
use crate::runtime::{Hmm, HmmError, with_states};

/// The posterior of the hidden states of one sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// `log p(x_1..T)`.
    pub log_likelihood: f64,
    /// Number of states.
    pub states: usize,
    /// `p(z_t = j | x_1..T)`, `[time][state]`, one row after the other.
    pub smoothed: Vec<f64>,
    /// Expected transitions, `[from][to]`.
    pub pairs: Vec<Vec<f64>>,
}

impl Posterior {
    /// `p(z_t = j | x_1..T)` at each time, `[state]`.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.smoothed.chunks_exact(self.states)
    }
}

/// The posterior of the hidden states of each sequence, in order; an impossible sequence is an error
/// in its place.
///
/// Bit for bit what [`posteriors`](smooth::posteriors) says of each alone; of symbols on a chain of many states with but one
/// path, exactly one where that rounds. Work per sample: its work.
/// RAM: `16 N` reals per step of a group, `8 N` of more than four states, and a copy of its samples, beside the result.
///
/// # Errors
/// [`HmmError`] if the model is invalid.
pub fn posteriors(
    model: &Hmm,
    sequences: &[SamplesView<'_>],
) -> Result<Vec<Result<Posterior, SequenceError>>, HmmError> {
    struct Whole;
    impl Reader for Whole {
        type Output = Posterior;
        fn read<'x, E: Accumulate, const N: usize>(
            &self,
            model: &Hmm,
            _: &CoreHmm<E, N>,
            _: impl Iterator<Item = Option<&'x E::Observation>>,
            smoothed: &Smoothed<'_, N>,
        ) -> Posterior
        where
            E::Observation: 'x,
        {
            let states = model.states();
            Posterior {
                log_likelihood: smoothed.log_likelihood,
                states,
                smoothed: first_columns(smoothed.rows, states),
                pairs: smoothed.pairs[..states].iter().map(|row| row[..states].to_vec()).collect(),
            }
        }
    }
    model.validate()?;
    Ok(each_smoothed(model, &Batch::once(sequences), &Whole))
}

/// The first columns of each row, one row after the other.
fn first_columns<const N: usize>(rows: &[[f64; N]], columns: usize) -> Vec<f64> {
    if columns == N {
        return rows.as_flattened().to_vec();
    }
    let mut first = Vec::with_capacity(rows.len() * columns);
    for row in rows {
        first.extend_from_slice(&row[..columns]);
    }
    first
}

/// Posterior quantities of one smoothed sequence.
pub(crate) struct Smoothed<'r, const N: usize> {
    /// The posterior at each time, `[time][state]`.
    pub(crate) rows: &'r [[f64; N]],
    /// `log p(x_1..T)`.
    pub(crate) log_likelihood: f64,
    /// Expected transitions, `[from][to]`.
    pub(crate) pairs: &'r [[f64; N]; N],
}

/// Consumer of a smoothed sequence.
pub(crate) trait Reader: Sync {
    /// Result of the reader.
    type Output: Send;
    /// Makes it from a sequence's samples and their posteriors.
    fn read<'x, E: Accumulate, const N: usize>(
        &self,
        model: &Hmm,
        hmm: &CoreHmm<E, N>,
        samples: impl Iterator<Item = Option<&'x E::Observation>>,
        smoothed: &Smoothed<'_, N>,
    ) -> Self::Output
    where
        E::Observation: 'x;

    /// Reads the lanes of a group.
    fn read_lanes<E: Accumulate, G: Tally<E, N, L>, const N: usize, const L: usize>(
        &self,
        model: &Hmm,
        hmm: &CoreHmm<E, N>,
        group: &G,
        smoothed: &SmoothedLanes<'_, N, L>,
    ) -> Vec<Self::Output> {
        let starts: Vec<usize> = (0..smoothed.count).map(|lane| group.start(lane)).collect();
        let lanes = columns(&starts, smoothed.rows);
        let read = |(lane, rows): (usize, Vec<[f64; N]>)| {
            let samples =
                (starts[lane]..group.steps()).map(|step| group.sample(step, lane).flatten());
            let (log_likelihood, pairs) =
                (smoothed.log_likelihood(lane), smoothed.pairs(lane..lane + 1));
            self.read(model, hmm, samples, &Smoothed { rows: &rows, log_likelihood, pairs: &pairs })
        };
        lanes.into_iter().enumerate().map(read).collect()
    }
}

/// Posterior quantities of the first `count` sequences of a group.
pub(crate) struct SmoothedLanes<'r, const N: usize, const L: usize> {
    pub(crate) count: usize,
    /// The posterior at each step, `[step][state][lane]`.
    pub(crate) rows: &'r [[Lanes<f64, L>; N]],
    log_likelihoods: &'r [Result<f64, SequenceError>],
    pairs: Option<&'r [[Lanes<f64, L>; N]; N]>,
}

impl<const N: usize, const L: usize> SmoothedLanes<'_, N, L> {
    /// `log p(x_1..T)` of a lane's sequence; zero of one that is impossible.
    pub(crate) fn log_likelihood(&self, lane: usize) -> f64 {
        self.log_likelihoods[lane].as_ref().map_or(0.0, |&log| log)
    }

    /// The expected transitions of some lanes, `[from][to]`.
    pub(crate) fn pairs(&self, of: Range<usize>) -> [[f64; N]; N] {
        let mut sums = [[0.0; N]; N];
        if let Some(pairs) = self.pairs {
            for i in 0..N {
                for j in 0..N {
                    sums[i][j] = pairs[i][j].0[of.clone()].iter().sum();
                }
            }
        }
        sums
    }
}

/// Number of lanes of a group with `states` states: for wider rows more would leave the near caches before the backward
/// pass reads them again.
const fn lanes(states: usize) -> usize {
    if states > 4 { LANES / 2 } else { LANES }
}

/// Smooths each sequence under a valid model and reads it, in order.
pub(crate) fn each_smoothed<R: Reader>(
    model: &Hmm,
    batch: &Batch<'_>,
    reader: &R,
) -> Vec<Result<R::Output, SequenceError>> {
    let sequences = batch.sequences();
    let groups = batch.groups(model.states(), (1, lanes(model.states())));
    let found: Vec<Vec<_>> = with_states!(model.states(), N => {
        const L: usize = lanes(N);
        if let Some(hmm) = model.categorical::<f64, N>() {
            let path = KnownPath::of(hmm.chain());
            let table = Table::of(hmm.emission());
            each(groups.len(), &|index| {
                let symbols = |&i: &usize| sequences[i].symbols().unwrap_or_default();
                let side_by_side = &groups[index];
                let group: Vec<&[Option<u16>]> = side_by_side.of.iter().map(symbols).collect();
                match &table {
                    Some(table) if group.len() > 1 && path.is_none() => {
                        let (count, size) = (group.len(), model.size());
                        let samples = Symbols::<f64, 1, L>::new(group, side_by_side, table, size);
                        together::<_, _, _, N, L>(reader, model, &hmm, samples, count)
                    }
                    _ => group
                        .iter()
                        .map(|x| {
                            let samples = x.iter().map(Option::as_ref);
                            single(reader, model, &hmm, path.as_ref(), samples)
                        })
                        .collect(),
                }
            })
        } else if let Some(hmm) = model.channels::<f64, N>() {
            each(groups.len(), &|index| {
                let rows = |&index: &usize| {
                    sequences[index].rows().into_iter().flat_map(|rows| rows.iter_in_part())
                };
                let side_by_side = &groups[index];
                match side_by_side.of.as_slice() {
                    [alone] => vec![single(reader, model, &hmm, None, rows(alone))],
                    lanes => {
                        let count = lanes.len();
                        let views: Vec<_> =
                            lanes.iter().filter_map(|&index| sequences[index].rows()).collect();
                        if views.len() == count
                            && let Some(group) =
                                Channels::new(&hmm, model.size(), side_by_side, &views)
                        {
                            return together::<_, _, _, N, L>(reader, model, &hmm, group, count);
                        }
                        let lanes: Vec<Vec<_>> = lanes.iter().map(|i| rows(i).collect()).collect();
                        together::<_, _, _, N, L>(reader, model, &hmm, Any::new(lanes), count)
                    }
                }
            })
        } else {
            Vec::new()
        }
    });
    let mut results: Vec<_> = sequences.iter().map(|_| None).collect();
    let order = groups.iter().flat_map(|together| &together.of);
    for (&index, result) in order.zip(found.into_iter().flatten()) {
        results[index] = Some(result);
    }
    results.into_iter().flatten().collect()
}

/// A group, side by side.
fn together<R: Reader, E, G, const N: usize, const L: usize>(
    reader: &R,
    model: &Hmm,
    hmm: &CoreHmm<E, N>,
    mut group: G,
    count: usize,
) -> Vec<Result<R::Output, SequenceError>>
where
    E: Accumulate,
    G: Tally<E, N, L>,
{
    with_kept(|rows| {
        let log_likelihoods = filter::<_, _, _, N, 1, L, true>(hmm, &mut group, count, rows);
        let rows = rows.as_flattened_mut();
        let starts: Vec<usize> = (0..count).map(|lane| group.start(lane)).collect();
        let pairs = back(hmm.chain(), &starts, rows);
        let (pairs, results) = (pairs.as_deref(), &log_likelihoods);
        let smoothed = SmoothedLanes { count, rows, log_likelihoods: results, pairs };
        let read = reader.read_lanes(model, hmm, &group, &smoothed);
        read.into_iter().zip(log_likelihoods).map(|(read, log)| log.map(|_| read)).collect()
    })
}

/// The most bytes of rows that a thread keeps.
const KEPT: usize = 16 << 20;

/// Lends rows that this thread was lent before, where they are of this type, or none, with what is in them: the pages of
/// new ones cost more than what is done with them.
fn with_kept<T: 'static, R>(run: impl FnOnce(&mut Vec<T>) -> R) -> R {
    thread_local! {
        static ROWS: Cell<Option<Box<dyn std::any::Any>>> = const { Cell::new(None) };
    }
    let kept = ROWS.take().and_then(|rows| rows.downcast::<Vec<T>>().ok());
    let mut rows = kept.unwrap_or_default();
    let result = run(&mut rows);
    if rows.capacity() * size_of::<T>() <= KEPT {
        ROWS.set(Some(rows));
    }
    result
}

/// Makes a filter's rows posteriors. `None` where there is no row.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn back<const N: usize, const L: usize>(
    chain: &Chain<f64, N>,
    starts: &[usize],
    rows: &mut [[Lanes<f64, L>; N]],
) -> Option<Box<[[Lanes<f64, L>; N]; N]>> {
    let (last, before) = rows.split_last_mut()?;
    let mut retraces = BackwardLanes::from_last(last);
    for lane in 0..starts.len() {
        if starts[lane] > before.len() {
            retraces.clear_lane(lane);
        }
    }
    let last_start = starts.iter().copied().max().unwrap_or_default();
    for step in (0..before.len()).rev() {
        if step < last_start {
            for lane in 0..starts.len() {
                if starts[lane] == step + 1 {
                    retraces.clear_lane(lane);
                }
            }
        }
        retraces.step(chain, &mut before[step]);
    }
    Some(Box::new(retraces.into_pairs(chain)))
}

/// One sequence, alone.
fn single<'x, R: Reader, E: Accumulate, const N: usize>(
    reader: &R,
    model: &Hmm,
    hmm: &CoreHmm<E, N>,
    path: Option<&KnownPath>,
    samples: impl Iterator<Item = Option<&'x E::Observation>> + Clone,
) -> Result<R::Output, SequenceError>
where
    E::Observation: 'x,
{
    let mut rows = vec![[0.0; N]; samples.clone().count()];
    // In place: of many states an array would be copied from the stack.
    let mut pairs = vec![[0.0; N]; N];
    let Some(pairs) = pairs.first_chunk_mut::<N>() else { unreachable!("as many rows") };
    let log_likelihood = match path {
        Some(path) => {
            let (mut there, mut before) = (rows.iter_mut(), None);
            path.walk(hmm.emission(), samples.clone(), |state| {
                there.next().into_iter().for_each(|row| row[state] = 1.0);
                if let Some(before) = before.replace(state) {
                    pairs[before][state] += 1.0;
                }
            })?
        }
        None => alone(hmm, samples.clone(), &mut rows, pairs)?,
    };
    let smoothed = Smoothed { rows: &rows, log_likelihood, pairs };
    Ok(reader.read(model, hmm, samples, &smoothed))
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn alone<'x, E: Emission<Weight = f64, Observation: 'x>, const N: usize>(
    hmm: &CoreHmm<E, N>,
    samples: impl Iterator<Item = Option<&'x E::Observation>>,
    rows: &mut [[f64; N]],
    pairs: &mut [[f64; N]; N],
) -> Result<f64, SequenceError> {
    smooth::posteriors(hmm, samples, rows, pairs)
}
