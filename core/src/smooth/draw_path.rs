use rand_core::Rng;

use super::forward_backward::take_in;
use super::{SequenceError, StateIndex};
use crate::emission::{Emission, choose_part};
use crate::filter::{Forward, Streaming};
use crate::hmm::Hmm;
use crate::number::{Real, sum_of};

/// Draws a hidden path from its posterior, `p(z_1..T | x_1..T)`: forward filtering, backward
/// sampling.
///
/// ```text
/// z_T ~ f_T        z_t ~ f_t,i A_i,z_t+1        f_t the filter's row, in any scale
/// ```
///
/// Writes the path to the first `T` entries of `path`, using the first `T` rows of `rows` for the
/// filter, and returns `log p(x_1..T)`. An observation of `None` is missing. A path of posterior
/// zero is never drawn. Where [`viterbi`](super::viterbi) gives the best path, this gives paths as
/// often as the model believes in them.
///
/// Source: Rabiner 1989 for the filter; Chib 1996 for the draws. Work per sample: that of [`Forward`]
/// and at most `3 N` operations. RAM: `N` reals and an index per sample, lent; `2 N` reals of stack.
///
/// # Errors
/// The first observation that is impossible or none, and buffers that are too short. Then `path` is
/// unchanged.
///
/// ```
/// use fishweir_core::{emission::Categorical, hmm::{Chain, Hmm}, smooth::draw_path};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
///     [Categorical::<2>::new([0.75, 0.25])?, Categorical::<2>::new([0.1, 0.9])?],
/// );
/// let (mut rows, mut path) = ([[0.0; 2]; 3], [0_u8; 3]);
/// let mut rng = ChaCha8Rng::seed_from_u64(5);
/// let mut dry = 0;
/// for _ in 0..1_000 {
///     draw_path(&hmm, [Some(&0), None, Some(&1)], &mut rows, &mut path, &mut rng)?;
///     dry += usize::from(path[1] == 0);
/// }
/// assert!((600..700).contains(&dry)); // its posterior is 0.647
/// # Ok(()) }
/// ```
pub fn draw_path<'x, T, E, P, R, const N: usize>(
    hmm: &Hmm<E, N>,
    observations: impl IntoIterator<Item = Option<&'x E::Observation>>,
    rows: &mut [[T; N]],
    path: &mut [P],
    rng: &mut R,
) -> Result<T, SequenceError>
where
    T: Real,
    E: Emission<Weight = T>,
    E::Observation: 'x,
    P: StateIndex,
    R: Rng + ?Sized,
{
    const { assert!(N <= P::STATES, "the path's index type cannot name every state") };
    let forward = Forward::of(hmm);
    let mut state = forward.initial_state();
    let mut length = 0;
    for x in observations {
        let row = rows.get_mut(length).ok_or(SequenceError::BufferTooShort)?;
        take_in(&forward, &mut state, x, length)?;
        *row = *state.row();
        length += 1;
    }
    let path = path.get_mut(..length).ok_or(SequenceError::BufferTooShort)?;
    // Parts far below the smallest normal number are raised into its range first.
    let raise = T::power_of_two(64);
    let mut after: Option<usize> = None;
    for (slot, row) in path.iter_mut().zip(rows.iter()).rev() {
        let mut part = *row;
        if let Some(after) = after {
            for (part, transition) in part.iter_mut().zip(hmm.chain().transition()) {
                let onward = transition.get(after).copied().unwrap_or(T::ZERO);
                *part = *part * (onward * raise);
            }
        }
        let drawn = choose_part(&part, sum_of::<T, N>(|i| part[i]), rng);
        *slot = P::from_index(drawn);
        after = Some(drawn);
    }
    Ok(forward.log_likelihood(&state))
}
