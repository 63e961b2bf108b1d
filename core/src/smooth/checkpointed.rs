use super::SequenceError;
use super::backward::{Backward, PairPosteriors, SummedPairs};
use super::forward_backward::take_in;
use crate::emission::Emission;
use crate::filter::{Belief, Forward, Streaming};
use crate::hmm::Hmm;
use crate::number::Real;

/// Number of checkpoints that [`posteriors_checkpointed`] needs in addition to `rows` rows of posterior.
///
/// For a sequence of `length` samples it is `ceil(length / rows) - 1`. `None` if `rows` is 0 and the sequence is not empty.
///
/// The memory is least with about `sqrt(length)` rows.
///
/// ```
/// use fishweir_core::smooth::checkpoints_for;
///
/// assert_eq!(checkpoints_for(10_000, 100), Some(99));
/// assert_eq!(checkpoints_for(100, 100), Some(0));
/// ```
pub const fn checkpoints_for(length: usize, rows: usize) -> Option<usize> {
    match length.div_ceil(if rows == 0 { 1 } else { rows }) {
        0 => Some(0),
        _ if rows == 0 => None,
        blocks => Some(blocks - 1),
    }
}

/// [`posteriors`](super::posteriors) in `O(sqrt(T))` memory, to the last bit.
///
/// Filters once and keeps the filter's state every `rows.len()` samples; then, block by block from
/// the last, filters the block again into `rows` and smooths it. `visit` is given the time (from 0)
/// and the posterior `p(z_t = i | x_1..T)` of every sample, from the last to the first; expected
/// transitions are added to `pairs`; `log p(x_1..T)` is returned.
///
/// `observation` gives the sample at a time below `length`, or `None` where it is missing. It is
/// asked twice for most times, and must not change its mind.
///
/// Sources: Rabiner 1989, equations 27 and 37; checkpointing as in Tarnas and Hughey 1998, with
/// one level. Work per sample: that of [`posteriors`](super::posteriors) and once more that of
/// [`Forward`]. RAM: `N` reals per row and a [`Belief`] per checkpoint, lent: for 10 000 samples, 4
/// states and `f32`, 100 rows of 16 B and 99 checkpoints of 40 B instead of 160 kB; `N^2 + 5 N`
/// reals of stack.
///
/// # Errors
/// The first observation that is impossible or none, and buffers that are too short: then nothing
/// was visited and `pairs` is unchanged.
///
/// ```
/// use fishweir_core::{
///     emission::Categorical, filter::Belief, hmm::{Chain, Hmm}, smooth::posteriors_checkpointed,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
///     [Categorical::<2>::new([0.75, 0.25])?, Categorical::<2>::new([0.1, 0.9])?],
/// );
/// let recorded = [0, 0, 0, 0, 1, 1, 1, 1, 1]; // 9 samples in 3 rows and 2 checkpoints
/// let (mut checkpoints, mut rows) = ([Belief::NEW; 2], [[0.0; 2]; 3]);
/// let mut wet = [false; 9];
/// posteriors_checkpointed(
///     &hmm,
///     recorded.len(),
///     |time| recorded.get(time),
///     &mut checkpoints,
///     &mut rows,
///     &mut [[0.0; 2]; 2],
///     |time, posterior| wet[time] = posterior[1] > 0.5,
/// )?;
/// assert_eq!(wet, [false, false, false, false, true, true, true, true, true]);
/// # Ok(()) }
/// ```
pub fn posteriors_checkpointed<'x, T: Real, E: Emission<Weight = T>, const N: usize>(
    hmm: &Hmm<E, N>,
    length: usize,
    observation: impl Fn(usize) -> Option<&'x E::Observation>,
    checkpoints: &mut [Belief<T, N>],
    rows: &mut [[T; N]],
    pairs: &mut [[T; N]; N],
    mut visit: impl FnMut(usize, &[T; N]),
) -> Result<T, SequenceError>
where
    E::Observation: 'x,
{
    let Some(needed) = checkpoints_for(length, rows.len()) else {
        return Err(SequenceError::BufferTooShort);
    };
    let checkpoints = checkpoints.get_mut(..needed).ok_or(SequenceError::BufferTooShort)?;
    let forward = Forward::of(hmm);
    let filter = |state: &mut Belief<T, N>, start: usize, rows: &mut [[T; N]]| {
        let mut filled: usize = 0;
        for (time, row) in (start..length).zip(rows) {
            take_in(&forward, state, observation(time), time)?;
            *row = *state.row();
            filled += 1;
        }
        Ok::<_, SequenceError>(filled)
    };
    let mut state = forward.initial_state();
    let mut start = 0;
    for checkpoint in checkpoints.iter_mut() {
        start += filter(&mut state, start, rows)?;
        *checkpoint = state;
    }
    let mut filled = filter(&mut state, start, rows)?;
    let log_likelihood = forward.log_likelihood(&state);

    let mut pairs = SummedPairs::into(pairs);
    let mut backward: Option<Backward<T, N>> = None;
    let mut earlier = checkpoints.iter().rev().skip(1).copied();
    loop {
        for (offset, row) in rows.iter_mut().take(filled).enumerate().rev() {
            match &mut backward {
                Some(backward) => backward.step(hmm.chain(), row, &mut pairs),
                None => backward = Some(Backward::from_last(row)),
            }
            visit(start + offset, row);
        }
        if start == 0 {
            break;
        }
        start = start.saturating_sub(rows.len());
        let mut state = earlier.next().unwrap_or(Belief::NEW);
        filled = filter(&mut state, start, rows)?;
    }
    pairs.move_out(hmm.chain());
    Ok(log_likelihood)
}
