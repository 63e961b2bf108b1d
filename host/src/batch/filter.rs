//! The forward pass of a group.

use fishweir_core::emission::Emission;
use fishweir_core::filter::{Beliefs, Forward, Streaming};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::{Lanes, Real};
use fishweir_core::smooth::SequenceError;

use super::group::Group;

/// The log-likelihood of each of the first `count` lanes' sequences, or which sample was refused.
/// Fills `rows`, `[step][set of lanes][state][lane]`, if `KEEP`, whatever was in them.
pub(super) fn filter<T, E, G, const N: usize, const W: usize, const L: usize, const KEEP: bool>(
    hmm: &Hmm<E, N>,
    group: &mut G,
    count: usize,
    rows: &mut Vec<[[Lanes<T, L>; N]; W]>,
) -> Vec<Result<T, SequenceError>>
where
    T: Real,
    E: Emission<Weight = T>,
    G: Group<T, E, N, W, L>,
{
    let mut state = [Beliefs::IDLE; W];
    let mut results = vec![Ok(()); count];
    if KEEP {
        rows.resize(group.steps(), [[Lanes([T::ZERO; L]); N]; W]);
    }
    let mut step = 0;
    while step < group.steps() {
        let taken = group.advance::<KEEP>(hmm, step, &mut state, rows);
        step += taken / W;
        if step < group.steps() {
            for (set, state) in state.iter_mut().enumerate().skip(taken % W) {
                step_with_care(hmm, group, step, set, state, &mut results);
                if KEEP {
                    rows[step][set] = *state.rows();
                }
            }
            step += 1;
        }
    }
    let read = |(lane, result): (usize, Result<(), SequenceError>)| {
        result.map(|()| match group.length(lane) {
            0 => T::ZERO,
            _ => state[lane / L].lane(lane % L).log(),
        })
    };
    results.into_iter().enumerate().map(read).collect()
}

/// One step of a set of lanes, where each that needs it is done alone: first and missing samples, and
/// refused ones.
#[cold]
fn step_with_care<T, E, G, const N: usize, const W: usize, const L: usize>(
    hmm: &Hmm<E, N>,
    group: &mut G,
    step: usize,
    set: usize,
    state: &mut Beliefs<T, N, L>,
    results: &mut [Result<(), SequenceError>],
) where
    T: Real,
    E: Emission<Weight = T>,
    G: Group<T, E, N, W, L>,
{
    let forward = Forward::of(hmm);
    let first = set * L;
    let mut samples = [None; L];
    for index in 0..L {
        let lane = first + index;
        if lane < results.len() && group.start(lane) == step {
            state.set_lane(index, &forward.initial_state());
        }
        samples[index] = group.sample(step, lane);
    }
    let outcome = forward.push_lanes(state, &samples);
    for index in 0..L {
        let lane = first + index;
        if let (Err(error), Some(result)) = (outcome[index], results.get_mut(lane)) {
            let time = step - group.start(lane);
            *result = Err(SequenceError::Observation { time, error });
            group.drop_lane(lane);
            state.clear_lane(index);
        }
    }
}
