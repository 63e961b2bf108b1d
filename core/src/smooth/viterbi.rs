use super::{SequenceError, StateIndex};
use crate::emission::Emission;
use crate::error::ObservationError;
use crate::filter::{Belief, Streaming};
use crate::hmm::{Chain, Hmm};
use crate::number::{Max, Number, Real};

/// Viterbi's recursion: the log-probability of the best path, in constant memory.
///
/// ```text
/// p_j  = max_i a_i A_ij           (p_j = initial_j before the first sample)
/// a'_j = p_j b_j(x)               read: max_z log p(z, x_1..t) = log max_j a_j + what scaling moved out
/// ```
///
/// It is the forward recursion over [`Max`]: scaled by exact powers of two, no logarithm per sample,
/// zeros stay zeros, a far-away observation taken relative to the states that can be reached, and
/// impossible where the [filter](crate::filter::Forward) says so. The path itself takes back-pointers:
/// [`viterbi`] for a finished sequence, [`OnlineViterbi`](super::OnlineViterbi) for a stream.
///
/// One scale serves all states: a path keeps every digit while it is `2^-84` times as probable as the
/// best in `f32` (`2^-980` in `f64`), or more. One that falls far below may be dropped although a later
/// observation could have made it the best.
///
/// Sources: Viterbi 1967; Rabiner 1989, equations 33 to 35. State: `N` reals and a ledger; 40 B at
/// `N = 4` in `f32`. Work per sample: `N^2` multiplications and comparisons and a row of likelihoods.
///
/// ```
/// use fishweir_core::{
///     emission::Categorical, filter::Stream, hmm::{Chain, Hmm}, smooth::Viterbi,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f64, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
///     [Categorical::<2, f64>::new([0.75, 0.25])?, Categorical::<2, f64>::new([0.1, 0.9])?],
/// );
/// let mut stream = Stream::new(Viterbi::of(&hmm));
/// stream.push_block(&[0, 1])?;
/// // The best path stays in state 0: 0.5 x 0.75 x 0.9 x 0.25.
/// assert!((stream.read() - f64::ln(0.084_375)).abs() < 1e-12);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Viterbi<'m, E: Emission, const N: usize> {
    hmm: &'m Hmm<E, N>,
}

impl<E: Emission, const N: usize> Clone for Viterbi<'_, E, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E: Emission, const N: usize> Copy for Viterbi<'_, E, N> {}

impl<'m, E: Emission, const N: usize> Viterbi<'m, E, N> {
    /// Viterbi's recursion of a model.
    pub const fn of(hmm: &'m Hmm<E, N>) -> Self {
        Self { hmm }
    }

    /// The model.
    pub const fn hmm(&self) -> &'m Hmm<E, N> {
        self.hmm
    }
}

/// The state of Viterbi's recursion: for each hidden state the probability of the best path that
/// ends there, scaled.
pub type Survivors<T, const N: usize> = Belief<Max<T>, N>;

impl<T: Real, const N: usize> Survivors<T, N> {
    /// Final state of the best path: the lowest such state.
    pub fn best(&self) -> usize {
        let (mut best, mut at) = (Max::ZERO, 0);
        for (j, &entry) in self.row().iter().enumerate() {
            if entry > best {
                (best, at) = (entry, j);
            }
        }
        at
    }

    /// Returns the row of [`predict`](Self::predict), and the predecessor of each entry; of equals, the lowest.
    #[inline(always)]
    pub(crate) fn predict_pointing<P: StateIndex>(
        &self,
        chain: &Chain<T, N>,
    ) -> ([Max<T>; N], [P; N]) {
        const { assert!(N <= P::STATES, "the back-pointer type cannot name every state") };
        let mut back = [P::FIRST; N];
        if self.is_new() {
            return (chain.begin(), back);
        }
        let mut predicted = [Max::ZERO; N];
        let (row, transition) = (self.row(), chain.transition());
        for i in 0..N {
            let (from, entry) = (P::from_index(i), row[i]);
            for j in 0..N {
                let product = entry.mul_weight(transition[i][j]);
                if product > predicted[j] {
                    predicted[j] = product;
                    back[j] = from;
                }
            }
        }
        (predicted, back)
    }

    /// Drops the paths into states that `keep` does not keep.
    #[cfg(feature = "heapless")]
    pub(crate) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        for (j, entry) in self.row_mut().iter_mut().enumerate() {
            if !keep(j) {
                *entry = Max::ZERO;
            }
        }
    }
}

impl<T: Real, E: Emission<Weight = T>, const N: usize> Streaming for Viterbi<'_, E, N> {
    type Observation = E::Observation;
    type State = Survivors<T, N>;
    type Reading = T;

    #[inline]
    fn initial_state(&self) -> Self::State {
        Survivors::NEW
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        let predicted = state.predict(self.hmm.chain());
        state.observe(self.hmm.emission(), &predicted, x)
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        state.advance(state.predict(self.hmm.chain()));
    }

    #[inline]
    fn read(&self, state: &Self::State) -> T {
        state.log().0
    }
}

/// Viterbi's algorithm: the best path of a finished sequence.
///
/// ```text
/// path = argmax_z p(z, x_1..T)        returned: log p(path, x_1..T)
/// ```
///
/// Writes the path to the first `T` entries of `path`, using the first `T` rows of `back` for
/// back-pointers, `back[t][j]` the state before `j` on the best path to `j`. An observation of
/// `None` is missing. Of equally good states the lowest is taken, at the end and at every step back.
/// No observation, no path: `log 1` is returned.
///
/// Sources: Viterbi 1967; Rabiner 1989, equations 32 to 35. Work per sample: that of [`Viterbi`] and
/// `N^2` selections. RAM: `N + 1` indices per sample, lent: 5 B at `N = 4` with `u8`; `3 N` reals of
/// stack.
///
/// # Errors
/// The first observation that is impossible or none, and buffers that are too short. Then `path` is
/// unchanged.
///
/// ```
/// use fishweir_core::{emission::Categorical, hmm::{Chain, Hmm}, smooth::viterbi};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
///     [Categorical::<2>::new([0.75, 0.25])?, Categorical::<2>::new([0.1, 0.9])?],
/// );
/// let observations = [0, 0, 1, 0, 1, 1, 1];
/// let (mut back, mut path) = ([[0_u8; 2]; 7], [0_u8; 7]);
/// let log_probability = viterbi(&hmm, observations.iter().map(Some), &mut back, &mut path)?;
/// assert_eq!(path, [0, 0, 0, 0, 1, 1, 1]);
/// assert!((log_probability - (-6.323_523)).abs() < 1e-4);
/// # Ok(()) }
/// ```
pub fn viterbi<'x, T: Real, E: Emission<Weight = T>, P: StateIndex, const N: usize>(
    hmm: &Hmm<E, N>,
    observations: impl IntoIterator<Item = Option<&'x E::Observation>>,
    back: &mut [[P; N]],
    path: &mut [P],
) -> Result<T, SequenceError>
where
    E::Observation: 'x,
{
    let mut survivors = Survivors::NEW;
    let mut length = 0;
    for x in observations {
        let row = back.get_mut(length).ok_or(SequenceError::BufferTooShort)?;
        let (predicted, pointers) = survivors.predict_pointing(hmm.chain());
        match x {
            Some(x) => survivors
                .observe(hmm.emission(), &predicted, x)
                .map_err(|error| SequenceError::Observation { time: length, error })?,
            None => survivors.advance(predicted),
        }
        *row = pointers;
        length += 1;
    }
    let path = path.get_mut(..length).ok_or(SequenceError::BufferTooShort)?;
    let mut state = P::from_index(survivors.best());
    for (slot, back) in path.iter_mut().zip(back).rev() {
        *slot = state;
        state = step_back(back, state);
    }
    Ok(survivors.log().0)
}

/// The state before `state` on its best path.
#[inline(always)]
pub(super) fn step_back<P: StateIndex, const N: usize>(back: &[P; N], state: P) -> P {
    // Pointers name states, so the fallback is never taken.
    back.get(state.index()).copied().unwrap_or(P::FIRST)
}
