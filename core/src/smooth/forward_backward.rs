use super::SequenceError;
use super::backward::{Backward, PairPosteriors, SummedPairs};
use crate::emission::Emission;
use crate::filter::{Belief, Forward, Streaming};
use crate::hmm::Hmm;
use crate::number::Real;

/// Forward-backward: the posterior of the hidden states given the whole sequence.
///
/// ```text
/// posterior[t][i] = p(z_t = i | x_1..T)
/// pairs[i][j]    += sum_{t<T} p(z_t = i, z_t+1 = j | x_1..T)
/// ```
///
/// Writes the posteriors to the first `T` rows of `posterior`, adds the expected transitions to
/// `pairs`, and returns `log p(x_1..T)`. An observation of `None` is missing. No observation, no
/// posterior: `log 1` is returned.
///
/// The backward pass needs no observation: with the filter's rows `f_t` and `p_t+1 = f_t A`,
///
/// ```text
/// r_j = posterior[t+1][j] / p_t+1,j       posterior[t][i] = f_t,i sum_j A_ij r_j
/// ```
///
/// in which every term is positive and the filter's scaling cancels, so nothing under- or overflows
/// however far an observation lies from the model. What the filter refuses is refused, and its range
/// ([`Forward`]) is the range of what is smoothed: a state that it took for one that cannot be has no
/// posterior.
///
/// Sources: Rabiner 1989, equations 27 and 37; Shawe-Taylor and Cristianini, "Kernel Methods for
/// Pattern Analysis", 2004, section 12.2.2. Work per sample: that of [`Forward`], `3 N^2`
/// multiply-adds and `N` divisions. RAM: `N` reals per sample, lent; `N^2 + 4 N` reals of stack.
///
/// # Errors
/// The first observation that is impossible or none, and a buffer that is too short. Then
/// `posterior` holds rows of the filter and `pairs` is unchanged.
///
/// ```
/// use fishweir_core::{emission::Categorical, hmm::{Chain, Hmm}, smooth::posteriors};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f64, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
///     [Categorical::<2, f64>::new([0.75, 0.25])?, Categorical::<2, f64>::new([0.1, 0.9])?],
/// );
/// let mut posterior = [[0.0; 2]; 3];
/// let mut pairs = [[0.0; 2]; 2];
/// let log_likelihood = posteriors(&hmm, [Some(&0), None, Some(&1)], &mut posterior, &mut pairs)?;
/// assert!((log_likelihood - (-1.777_043)).abs() < 1e-6);
/// assert!((posterior[1][0] - 0.647_181).abs() < 1e-6); // what the missing sample was hiding
/// assert!((pairs[0][1] - 0.355_628).abs() < 1e-6);     // expected transitions from 0 to 1
/// # Ok(()) }
/// ```
pub fn posteriors<'x, T: Real, E: Emission<Weight = T>, const N: usize>(
    hmm: &Hmm<E, N>,
    observations: impl IntoIterator<Item = Option<&'x E::Observation>>,
    posterior: &mut [[T; N]],
    pairs: &mut [[T; N]; N],
) -> Result<T, SequenceError>
where
    E::Observation: 'x,
{
    let forward = Forward::of(hmm);
    let mut state = forward.initial_state();
    let mut length = 0;
    for x in observations {
        let row = posterior.get_mut(length).ok_or(SequenceError::BufferTooShort)?;
        take_in(&forward, &mut state, x, length)?;
        *row = *state.row();
        length += 1;
    }
    let mut pairs = SummedPairs::into(pairs);
    let mut rows = posterior.iter_mut().take(length).rev();
    if let Some(last) = rows.next() {
        let mut backward = Backward::from_last(last);
        for row in rows {
            backward.step(hmm.chain(), row, &mut pairs);
        }
    }
    pairs.move_out(hmm.chain());
    Ok(forward.log_likelihood(&state))
}

/// One step of the filter, on an observation or without.
#[inline(always)]
pub(super) fn take_in<T: Real, E: Emission<Weight = T>, const N: usize>(
    forward: &Forward<'_, E, N>,
    state: &mut Belief<T, N>,
    x: Option<&E::Observation>,
    time: usize,
) -> Result<(), SequenceError> {
    match x {
        Some(x) => {
            forward.step(state, x).map_err(|error| SequenceError::Observation { time, error })
        }
        None => {
            forward.step_missing(state);
            Ok(())
        }
    }
}
