use core::fmt;

use crate::emission::Emission;
use crate::error::ObservationError;
use crate::filter::{Forward, Recursion};
use crate::hmm::{Hmm, RealOf};
use crate::number::{Number, Scalar, Weight, sum_of};

/// Why a sequence was refused, and at which observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SequenceError {
    /// The observation at `time` (from 0) was refused.
    Observation {
        /// Its index in the sequence.
        time: usize,
        /// Why.
        error: ObservationError,
    },
    /// The lent buffer has fewer rows than the sequence has observations.
    BufferTooShort,
}

impl fmt::Display for SequenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Observation { time, error } => write!(f, "observation {time}: {error}"),
            Self::BufferTooShort => f.write_str("lent buffer shorter than the sequence"),
        }
    }
}

impl core::error::Error for SequenceError {}

/// Forward-backward: the posterior of the hidden states given the whole sequence.
///
/// ```text
/// posterior[t][i] = p(z_t = i | x_1..T)
/// pairs[i][j]    += sum_{t<T} p(z_t = i, z_t+1 = j | x_1..T)
/// ```
///
/// Writes the posteriors to the first `T` rows of `posterior`, adds the expected transitions to
/// `pairs`, and returns `log p(x_1..T)`. An observation of `None` is missing. The backward pass
/// needs no observation: with the filter's rows `f_t` and `p_t+1 = f_t A`,
///
/// ```text
/// r_j = posterior[t+1][j] / p_t+1,j       posterior[t][i] = f_t,i sum_j A_ij r_j
/// ```
///
/// in which every term is positive and the filter's scaling cancels, so nothing under- or overflows
/// however far an observation lies from the model.
///
/// Sources: Rabiner 1989, equations 27 and 37; first seed document, section 12.2.2.
/// Work: `4 N^2` multiply-adds and `N` divisions a sample. RAM: the lent rows, `2 N` reals of stack.
///
/// # Errors
/// The first observation that is impossible or none, and a buffer that is too short. Then
/// `posterior` holds rows of the filter and `pairs` is unchanged.
pub fn posteriors<'x, E: Emission, const N: usize>(
    hmm: &Hmm<E, N>,
    observations: impl IntoIterator<Item = Option<&'x E::Observation>>,
    posterior: &mut [[RealOf<E>; N]],
    pairs: &mut [[RealOf<E>; N]; N],
) -> Result<RealOf<E>, SequenceError>
where
    E::Observation: 'x,
{
    let forward = Forward::of(hmm);
    let mut state = forward.start();
    let mut length = 0;
    for x in observations {
        let row = posterior.get_mut(length).ok_or(SequenceError::BufferTooShort)?;
        match x {
            Some(x) => forward
                .push(&mut state, x)
                .map_err(|error| SequenceError::Observation { time: length, error })?,
            None => forward.push_missing(&mut state),
        }
        for (row, value) in row.iter_mut().zip(state.row()) {
            *row = value.value();
        }
        length += 1;
    }
    let log_likelihood = forward.log_likelihood(&state);
    smooth_rows(hmm, &mut posterior[..length], pairs);
    Ok(log_likelihood)
}

/// The backward pass over rows of the filter, in place.
fn smooth_rows<E: Emission, const N: usize>(
    hmm: &Hmm<E, N>,
    rows: &mut [[RealOf<E>; N]],
    pairs: &mut [[RealOf<E>; N]; N],
) {
    let transition = hmm.chain().transition();
    let zero = RealOf::<E>::ZERO;
    let Some((last, earlier)) = rows.split_last_mut() else { return };
    let sum = sum_of::<RealOf<E>, N>(|j| last[j]);
    for entry in last.iter_mut() {
        *entry = *entry / sum;
    }
    // The chain's probabilities multiply the summed outer products once, at the end.
    let mut outer = [[zero; N]; N];
    let mut next = *last;
    for row in earlier.iter_mut().rev() {
        let filtered = *row;
        let mut ratio = [zero; N];
        for (j, ratio) in ratio.iter_mut().enumerate() {
            let predicted = sum_of::<RealOf<E>, N>(|i| filtered[i] * transition[i][j].value());
            // A state that cannot be reached is not occupied afterwards either.
            *ratio = if predicted > zero { next[j] / predicted } else { zero };
        }
        for ((entry, outer), probability) in row.iter_mut().zip(&mut outer).zip(transition) {
            let onward = sum_of::<RealOf<E>, N>(|j| ratio[j] * probability[j].value());
            for (outer, &ratio) in outer.iter_mut().zip(&ratio) {
                *outer = *outer + *entry * ratio;
            }
            *entry = *entry * onward;
        }
        next = *row;
    }
    for ((pairs, outer), probability) in pairs.iter_mut().zip(&outer).zip(transition) {
        for ((pair, &outer), probability) in pairs.iter_mut().zip(outer).zip(probability) {
            *pair = *pair + outer * probability.value();
        }
    }
}
