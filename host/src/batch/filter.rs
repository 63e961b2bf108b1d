//! The forward pass of a group.

use fishweir_core::emission::Emission;
use fishweir_core::filter::{Beliefs, Forward, Recursion};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::{Lanes, Real};
use fishweir_core::smooth::SequenceError;
use multiversion::multiversion;

use super::LANES;
use super::group::Group;

/// A filter's rows, `[step][state][lane]`.
pub(super) type Rows<T, const N: usize> = Vec<[Lanes<T, LANES>; N]>;

/// The log-likelihood of each of the first `count` lanes' sequences, or which sample was refused.
/// Fills `rows` if `KEEP`.
pub(super) fn filter<T, E, G, const N: usize, const KEEP: bool>(
    hmm: &Hmm<E, N>,
    group: &mut G,
    count: usize,
    rows: &mut Rows<T, N>,
) -> Vec<Result<T, SequenceError>>
where
    T: Real,
    E: Emission<Weight = T>,
    G: Group<T, E, N>,
{
    let mut state = Beliefs::IDLE;
    let mut results = vec![Ok(()); count];
    rows.clear();
    let mut step = 0;
    while step < group.steps() {
        step = run::<T, E, G, N, KEEP>(hmm, group, step, &mut state, rows);
        if step < group.steps() {
            step_with_care(hmm, group, step, &mut state, &mut results);
            if KEEP {
                rows.push(*state.rows());
            }
            step += 1;
        }
    }
    let read = |(lane, result): (usize, Result<(), SequenceError>)| {
        result.map(|()| match group.length(lane) {
            0 => T::ZERO,
            _ => state.lane(lane).log(),
        })
    };
    results.into_iter().enumerate().map(read).collect()
}

/// Steps of all lanes at once, from `step` to the one that it returns, which needs care.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn run<T, E, G, const N: usize, const KEEP: bool>(
    hmm: &Hmm<E, N>,
    group: &G,
    step: usize,
    state: &mut Beliefs<T, N, LANES>,
    rows: &mut Rows<T, N>,
) -> usize
where
    T: Real,
    E: Emission<Weight = T>,
    G: Group<T, E, N>,
{
    let mut likelihood = [Lanes([T::ONE; LANES]); N];
    let mut log_scale = [T::ZERO; LANES];
    for step in step..group.steps() {
        let plain = group.likelihood(hmm.emission(), step, &mut likelihood, &mut log_scale);
        if !plain || !state.step(hmm.chain(), &likelihood) {
            return step;
        }
        if E::SCALED {
            state.add_log_scale(&log_scale);
        }
        if KEEP {
            rows.push(*state.rows());
        }
    }
    group.steps()
}

/// One step, where each lane that needs it is done alone: first and missing samples, and refused ones.
#[cold]
fn step_with_care<T, E, G, const N: usize>(
    hmm: &Hmm<E, N>,
    group: &mut G,
    step: usize,
    state: &mut Beliefs<T, N, LANES>,
    results: &mut [Result<(), SequenceError>],
) where
    T: Real,
    E: Emission<Weight = T>,
    G: Group<T, E, N>,
{
    let forward = Forward::of(hmm);
    for lane in 0..results.len() {
        if group.start(lane) == step {
            state.set_lane(lane, &forward.start());
        }
    }
    let samples = std::array::from_fn(|lane| group.sample(step, lane));
    let outcome = forward.push_lanes(state, &samples);
    for (lane, (outcome, result)) in outcome.into_iter().zip(results).enumerate() {
        if let Err(error) = outcome {
            let time = step - group.start(lane);
            *result = Err(SequenceError::Observation { time, error });
            group.drop_lane(lane);
            state.rest(lane);
        }
    }
}
