//! Expected sufficient statistics of sequences under a model: the one engine whose readers are
//! Baum-Welch and the Fisher score.

use std::ops::Range;

use fishweir_core::hmm::Hmm as CoreHmm;
use fishweir_core::smooth::SequenceError;

use super::side_by_side::Batch;
use super::smoothing::SmoothedLanes;
use super::tally::{Accumulate, Expectations, Tally};
use super::{Reader, Smoothed, each_smoothed};
use crate::data::SamplesView;
use crate::runtime::Hmm;

/// The expected statistics of each sequence under a valid model, in order; an impossible sequence
/// is an error in its place.
///
/// Forward-backward by the core, in `f64`, many sequences [side by side](super).
/// RAM: `16 N` reals per step of a group, `8 N` of more than four states, and a copy of its samples. Work per sample:
/// `4 N^2 + N` likelihoods and statistics.
pub fn expectations(
    model: &Hmm,
    sequences: &[SamplesView<'_>],
) -> Vec<Result<Expectations, SequenceError>> {
    each_smoothed(model, &Batch::once(sequences), &Statistics { together: false })
}

/// Computes expected statistics that will be summed over all sequences.
///
/// Those of sequences side by side are summed already, in the place of the first of them, and the others are zero.
///
/// RAM and work: less by the statistics of each sequence, which are many if sequences are short.
pub(crate) fn expectations_to_sum(
    model: &Hmm,
    batch: &Batch<'_>,
) -> Vec<Result<Expectations, SequenceError>> {
    each_smoothed(model, batch, &Statistics { together: true })
}

/// Reads expected statistics: of each lane of a group, or of all of them together.
struct Statistics {
    together: bool,
}

impl Reader for Statistics {
    type Output = Expectations;

    fn read<'x, E: Accumulate, const N: usize>(
        &self,
        model: &Hmm,
        _: &CoreHmm<E, N>,
        samples: impl Iterator<Item = Option<&'x E::Observation>>,
        smoothed: &Smoothed<'_, N>,
    ) -> Expectations
    where
        E::Observation: 'x,
    {
        let mut expected = Expectations::zero(model);
        expected.log_likelihood = smoothed.log_likelihood;
        for (to, from) in expected.pairs.iter_mut().zip(smoothed.pairs) {
            to.copy_from_slice(&from[..model.states()]);
        }
        if let Some(first) = smoothed.rows.first() {
            expected.initial.copy_from_slice(&first[..model.states()]);
        }
        let weighed = samples.zip(smoothed.rows).filter_map(|(x, row)| x.map(|x| (x, row)));
        E::collect::<N>(&model.emission, weighed, &mut expected.emission);
        expected
    }

    fn read_lanes<E: Accumulate, G: Tally<E, N, L>, const N: usize, const L: usize>(
        &self,
        model: &Hmm,
        _: &CoreHmm<E, N>,
        group: &G,
        smoothed: &SmoothedLanes<'_, N, L>,
    ) -> Vec<Expectations> {
        let of = |lanes: Range<usize>| {
            let mut expected = Expectations::zero(model);
            for (to, from) in expected.pairs.iter_mut().zip(smoothed.pairs(lanes.clone())) {
                to.copy_from_slice(&from[..model.states()]);
            }
            for lane in lanes {
                expected.log_likelihood += smoothed.log_likelihood(lane);
                if let Some(first) = smoothed.rows.get(group.start(lane)) {
                    for (to, from) in expected.initial.iter_mut().zip(first) {
                        *to += from.0[lane];
                    }
                }
            }
            expected
        };
        let count = smoothed.count;
        let mut expected: Vec<Expectations> = match self.together {
            true => vec![of(0..count)],
            false => (0..count).map(|lane| of(lane..lane + 1)).collect(),
        };
        group.tally(model, smoothed.rows, count, &mut expected);
        expected.resize_with(count, Expectations::none);
        expected
    }
}
