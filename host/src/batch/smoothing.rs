//! Posteriors of many sequences, and what is read from them.

use fishweir_core::emission::Emission;
use fishweir_core::hmm::{Chain, Hmm as CoreHmm};
use fishweir_core::number::Lanes;
use fishweir_core::smooth::{self, Retraces, SequenceError};
use multiversion::multiversion;
use rayon::prelude::*;

use super::LANES;
use super::filter::{Rows, filter};
use super::group::{Any, Group, Symbols, Table, arrange};
use crate::data::SamplesView;
use crate::fit::Accumulate;
use crate::runtime::{Hmm, HmmError, with_states};

/// With more states than this, states fill the vector units, and lanes' pairs would leave the caches.
const MOST_STATES: usize = 16;

/// The posterior of the hidden states of one sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// `log p(x_1..T)`.
    pub log_likelihood: f64,
    /// `p(z_t = j | x_1..T)`, `[time][state]`.
    pub states: Vec<Vec<f64>>,
    /// Expected transitions, `[from][to]`.
    pub pairs: Vec<Vec<f64>>,
}

/// The posterior of the hidden states of each sequence, in order; an impossible sequence is an error
/// in its place.
///
/// Bit for bit what [`posteriors`](smooth::posteriors) says of each alone. Work a sample: its work.
/// RAM: `16 N` reals a step of a group, beside the result.
///
/// # Errors
/// [`HmmError`] if the model is none.
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
            samples: impl Iterator<Item = Option<&'x E::Observation>>,
            smoothed: &Smoothed<N>,
            row: impl Fn(usize) -> [f64; N],
        ) -> Posterior
        where
            E::Observation: 'x,
        {
            let states = model.states();
            Posterior {
                log_likelihood: smoothed.log_likelihood,
                states: samples.enumerate().map(|(t, _)| row(t)[..states].to_vec()).collect(),
                pairs: smoothed.pairs[..states].iter().map(|row| row[..states].to_vec()).collect(),
            }
        }
    }
    model.validate()?;
    Ok(each_smoothed(model, sequences, &Whole))
}

/// What is known of one smoothed sequence besides its rows.
pub(crate) struct Smoothed<const N: usize> {
    /// `log p(x_1..T)`.
    pub(crate) log_likelihood: f64,
    /// Expected transitions, `[from][to]`.
    pub(crate) pairs: [[f64; N]; N],
}

/// What is made of a smoothed sequence.
pub(crate) trait Reader: Sync {
    /// It.
    type Output: Send;
    /// Makes it from a sequence's samples and the posterior at each time.
    fn read<'x, E: Accumulate, const N: usize>(
        &self,
        model: &Hmm,
        hmm: &CoreHmm<E, N>,
        samples: impl Iterator<Item = Option<&'x E::Observation>>,
        smoothed: &Smoothed<N>,
        row: impl Fn(usize) -> [f64; N],
    ) -> Self::Output
    where
        E::Observation: 'x;
}

/// Smooths each sequence under a valid model and reads it, in order.
pub(crate) fn each_smoothed<R: Reader>(
    model: &Hmm,
    sequences: &[SamplesView<'_>],
    reader: &R,
) -> Vec<Result<R::Output, SequenceError>> {
    let groups = if model.states() <= MOST_STATES {
        arrange(sequences.iter().map(SamplesView::len))
    } else {
        (0..sequences.len()).map(|index| vec![index]).collect()
    };
    let found: Vec<Vec<_>> = with_states!(model.states(), N => {
        if let Some(hmm) = model.categorical::<N>() {
            let table = Table::of(hmm.emission());
            groups.par_iter().map(|group| {
                let group: Vec<&[Option<u16>]> =
                    group.iter().map(|&i| sequences[i].symbols().unwrap_or_default()).collect();
                match (group.as_slice(), &table) {
                    ([alone], _) => {
                        vec![single(reader, model, &hmm, alone.iter().map(Option::as_ref))]
                    }
                    (lanes, Some(table)) => {
                        let samples = Symbols::new(lanes.to_vec(), table, model.size());
                        together(reader, model, &hmm, samples, lanes.len())
                    }
                    (lanes, None) => {
                        let lanes: Vec<Vec<_>> =
                            lanes.iter().map(|x| x.iter().map(Option::as_ref).collect()).collect();
                        let count = lanes.len();
                        together(reader, model, &hmm, Any::new(lanes), count)
                    }
                }
            }).collect()
        } else if let Some(hmm) = model.gaussian::<N>() {
            groups.par_iter().map(|group| {
                let rows = |&index: &usize| {
                    sequences[index].rows().into_iter().flat_map(|rows| rows.iter())
                };
                match group.as_slice() {
                    [alone] => vec![single(reader, model, &hmm, rows(alone))],
                    lanes => {
                        let lanes: Vec<Vec<_>> = lanes.iter().map(|i| rows(i).collect()).collect();
                        let count = lanes.len();
                        together(reader, model, &hmm, Any::new(lanes), count)
                    }
                }
            }).collect()
        } else {
            Vec::new()
        }
    });
    let mut results: Vec<_> = sequences.iter().map(|_| None).collect();
    for (index, result) in groups.into_iter().flatten().zip(found.into_iter().flatten()) {
        results[index] = Some(result);
    }
    results.into_iter().flatten().collect()
}

/// A group, side by side.
fn together<R: Reader, E, G, const N: usize>(
    reader: &R,
    model: &Hmm,
    hmm: &CoreHmm<E, N>,
    mut group: G,
    count: usize,
) -> Vec<Result<R::Output, SequenceError>>
where
    E: Accumulate,
    G: Group<f64, E, N>,
{
    let mut rows = Rows::new();
    let log_likelihoods = filter::<_, _, _, N, true>(hmm, &mut group, count, &mut rows);
    let steps = group.steps();
    let starts: Vec<usize> = (0..count).map(|lane| group.start(lane)).collect();
    let pairs = back(hmm.chain(), &starts, &mut rows);
    let read = |(lane, log_likelihood): (usize, Result<f64, SequenceError>)| {
        let start = starts[lane];
        let samples = (start..steps).map(|step| group.sample(step, lane).flatten());
        let pairs = pairs.as_ref().map_or([[0.0; N]; N], |pairs| {
            pairs.each_ref().map(|row| row.each_ref().map(|lanes| lanes.0[lane]))
        });
        let smoothed = Smoothed { log_likelihood: log_likelihood?, pairs };
        let row = |time: usize| {
            let row: &[Lanes<f64, LANES>; N] = &rows[start + time];
            row.each_ref().map(|lanes| lanes.0[lane])
        };
        Ok(reader.read(model, hmm, samples, &smoothed, row))
    };
    log_likelihoods.into_iter().enumerate().map(read).collect()
}

/// Makes a filter's rows posteriors. `None` where there is no row.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn back<const N: usize>(
    chain: &Chain<f64, N>,
    starts: &[usize],
    rows: &mut [[Lanes<f64, LANES>; N]],
) -> Option<Box<[[Lanes<f64, LANES>; N]; N]>> {
    let (last, before) = rows.split_last_mut()?;
    let mut retraces = Retraces::from_last(last);
    for (step, row) in before.iter_mut().enumerate().rev() {
        for (lane, &start) in starts.iter().enumerate() {
            if start == step + 1 {
                retraces.rest(lane);
            }
        }
        retraces.step(chain, row);
    }
    Some(Box::new(retraces.into_pairs(chain)))
}

/// One sequence, alone.
fn single<'x, R: Reader, E: Accumulate, const N: usize>(
    reader: &R,
    model: &Hmm,
    hmm: &CoreHmm<E, N>,
    samples: impl Iterator<Item = Option<&'x E::Observation>> + Clone,
) -> Result<R::Output, SequenceError>
where
    E::Observation: 'x,
{
    let mut rows = vec![[0.0; N]; samples.clone().count()];
    let mut pairs = Box::new([[0.0; N]; N]);
    let log_likelihood = alone(hmm, samples.clone(), &mut rows, &mut pairs)?;
    let smoothed = Smoothed { log_likelihood, pairs: *pairs };
    Ok(reader.read(model, hmm, samples, &smoothed, |time| rows[time]))
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
