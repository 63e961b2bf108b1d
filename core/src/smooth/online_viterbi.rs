use heapless::Vec;

use super::StateIndex;
use super::viterbi::{Survivors, step_back};
use crate::emission::Emission;
use crate::error::ObservationError;
use crate::filter::Streaming;
use crate::hmm::Hmm;
use crate::number::{Array2, Real};

/// Online Viterbi: emits the states of the best path as soon as they are beyond doubt.
///
/// Every state that can still be reached has its best path, its survivor. Where all survivors have
/// passed through one state, whatever comes later cannot change the path up to there: those states
/// are *decided*, and they are the states that [`viterbi`](super::viterbi) will find of the finished
/// sequence. A reading is what the last sample decided, often nothing, sometimes many states at
/// once.
///
/// `WINDOW` samples at most are undecided. When they are and still disagree, the oldest state is
/// decided along the best survivor and survivors that passed elsewhere are dropped: what is emitted
/// stays one path, [`Decoded::forced`] says that this one state was not beyond doubt, and
/// [`DecodingWindow::forced`] counts such states (a later observation that only a dropped survivor
/// could explain is then impossible). With 0 of them every emitted state is exact.
///
/// Source: Sramek, Brejova and Vinar 2007 (convergence of survivors). State: [`Survivors`], `N`
/// indices a sample of the window, `N` more and `WINDOW` more; `N = 4`, `WINDOW = 64` in `f32` and
/// `u8` takes 400 B on a Cortex-M. Work per sample: that of [`viterbi`](super::viterbi) and `2 N` look-ups; where
/// states are decided, at most `N` look-ups a sample of the window.
///
/// ```
/// use fishweir_core::{
///     emission::Categorical, filter::Stream, hmm::{Chain, Hmm}, smooth::OnlineViterbi,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
///     [Categorical::<2>::new([0.75, 0.25])?, Categorical::<2>::new([0.1, 0.9])?],
/// );
/// let mut stream = Stream::new(OnlineViterbi::<_, 16>::of(&hmm));
/// let mut path = Vec::new();
/// for x in [0, 0, 1, 0, 1, 1, 1] {
///     stream.push(&x)?;
///     path.extend_from_slice(&stream.read().states);
/// }
/// assert_eq!(path, [0, 0, 0, 0]); // the last 1s may yet turn out to be chance
/// path.extend_from_slice(&stream.recursion().undecided(stream.state()));
/// assert_eq!(path, [0, 0, 0, 0, 1, 1, 1]);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct OnlineViterbi<'m, H, const WINDOW: usize, P = u8> {
    hmm: &'m H,
    index: core::marker::PhantomData<P>,
}

impl<H, const WINDOW: usize, P> Clone for OnlineViterbi<'_, H, WINDOW, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<H, const WINDOW: usize, P> Copy for OnlineViterbi<'_, H, WINDOW, P> {}

/// States decided by one sample.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Decoded<P, const WINDOW: usize> {
    /// The time (from 0) of the first of the states, or of the first that is still undecided.
    pub since: u64,
    /// States in order of time, following those decided before.
    pub states: Vec<P, WINDOW>,
    /// `true` if the first of the states was decided because the window was full.
    pub forced: bool,
}

/// The state of [`OnlineViterbi`]: the survivors and their paths since they last agreed.
///
/// Its parameters are the types of the survivors, `Survivors<T, N>`, of the back-pointers, `[[P; N]; WINDOW]`, and of what the
/// last sample decided, `Decoded<P, WINDOW>`.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodingWindow<S, B: Array2, D> {
    survivors: S,
    /// A ring of back-pointers, `[sample][state]`; that of the last sample is at `newest`.
    back: B,
    newest: usize,
    undecided: usize,
    /// State of each state's survivor at the first undecided sample.
    origin: B::Row,
    forced: u64,
    decoded: D,
}

/// The state of an online decoder over reals `T` with `N` states.
type StateOf<T, const N: usize, const WINDOW: usize, P> =
    DecodingWindow<Survivors<T, N>, [[P; N]; WINDOW], Decoded<P, WINDOW>>;

impl<T: Real, const N: usize, const WINDOW: usize, P: StateIndex> Default
    for StateOf<T, N, WINDOW, P>
{
    fn default() -> Self {
        Self::NEW
    }
}

impl<T: Real, const N: usize, const WINDOW: usize, P: StateIndex> StateOf<T, N, WINDOW, P> {
    /// State before the first sample.
    pub const NEW: Self = {
        assert!(WINDOW > 0, "a decoding window needs a sample");
        Self {
            survivors: Survivors::NEW,
            back: [[P::FIRST; N]; WINDOW],
            newest: 0,
            undecided: 0,
            origin: [P::FIRST; N],
            forced: 0,
            decoded: Decoded { since: 0, states: Vec::new(), forced: false },
        }
    };

    /// States decided by the last sample: the reading, without a copy.
    pub const fn decoded(&self) -> &Decoded<P, WINDOW> {
        &self.decoded
    }

    /// The survivors: how probable the best path into each state is.
    pub const fn survivors(&self) -> &Survivors<T, N> {
        &self.survivors
    }

    /// Number of undecided samples, the last one included.
    pub const fn undecided(&self) -> usize {
        self.undecided
    }

    /// Number of states decided because the window was full; while it is 0, all are exact.
    pub const fn forced(&self) -> u64 {
        self.forced
    }

    /// The back-pointers, newest sample first.
    fn newest_first(back: &[[P; N]; WINDOW], newest: usize) -> impl Iterator<Item = &[P; N]> {
        let (newer, older) = back.split_at_checked(newest + 1).unwrap_or((&[], &[]));
        newer.iter().rev().chain(older.iter().rev())
    }

    /// The one state in which all survivors are that `at` places; `None` where they disagree.
    #[inline(always)]
    fn agreed(&self, at: &[P; N]) -> Option<P> {
        let mut agreed = None;
        for (&at, entry) in at.iter().zip(self.survivors.row()) {
            if entry.0 > T::ZERO && *agreed.get_or_insert(at) != at {
                return None;
            }
        }
        agreed
    }

    /// Takes in the back-pointers of a sample that the survivors have taken in.
    #[inline]
    fn keep(&mut self, pointers: [P; N]) {
        self.decoded.since += self.decoded.states.len() as u64;
        self.decoded.states.clear();
        self.decoded.forced = false;

        self.newest = if self.newest + 1 < WINDOW { self.newest + 1 } else { 0 };
        if let Some(slot) = self.back.get_mut(self.newest) {
            *slot = pointers;
        }
        if self.undecided == 0 {
            self.origin = identity();
        } else {
            let before = self.origin;
            for (origin, pointer) in self.origin.iter_mut().zip(pointers) {
                *origin = step_back(&before, pointer);
            }
        }
        self.undecided += 1;

        if self.agreed(&self.origin).is_some() {
            self.decide();
        } else if self.undecided == WINDOW {
            let origin = self.origin;
            if let Some(&best) = origin.get(self.survivors.best()) {
                self.survivors.retain(|j| origin.get(j) == Some(&best));
            }
            self.decoded.forced = true;
            self.forced += 1;
            self.decide();
        }
    }

    /// Decides every state up to the last in which all survivors agree. They do in the first.
    #[inline(never)]
    fn decide(&mut self) {
        let mut rows = Self::newest_first(&self.back, self.newest);
        let mut at = identity();
        let mut undecided = 0;
        let agreed = loop {
            if let Some(agreed) = self.agreed(&at) {
                break agreed;
            }
            let Some(back) = rows.next() else { return };
            self.origin = at;
            for at in &mut at {
                *at = step_back(back, *at);
            }
            undecided += 1;
        };
        // The window holds all that was undecided, so it has room for all that is decided.
        let decided = self.undecided.saturating_sub(undecided);
        if self.decoded.states.resize(decided, agreed).is_err() {
            return;
        }
        let mut state = agreed;
        for (slot, back) in self.decoded.states.iter_mut().rev().zip(rows) {
            *slot = state;
            state = step_back(back, state);
        }
        self.undecided = undecided;
    }
}

/// Every state at itself.
#[inline(always)]
fn identity<P: StateIndex, const N: usize>() -> [P; N] {
    let mut at = [P::FIRST; N];
    for (j, at) in at.iter_mut().enumerate() {
        *at = P::from_index(j);
    }
    at
}

impl<'m, E: Emission, const N: usize, const WINDOW: usize, P>
    OnlineViterbi<'m, Hmm<E, N>, WINDOW, P>
{
    /// Online Viterbi decoding with a model.
    pub const fn of(hmm: &'m Hmm<E, N>) -> Self {
        Self { hmm, index: core::marker::PhantomData }
    }
}

impl<T, E, const N: usize, const WINDOW: usize, P> OnlineViterbi<'_, Hmm<E, N>, WINDOW, P>
where
    T: Real,
    E: Emission<Weight = T>,
    P: StateIndex,
{
    /// `max_z log p(z, x_1..t)` over the paths that pass through the decided states.
    pub fn log_probability(&self, state: &StateOf<T, N, WINDOW, P>) -> T {
        state.survivors.log().0
    }

    /// The end of the best path, from the first undecided sample to the last, to be emitted when the
    /// stream ends.
    pub fn undecided(&self, state: &StateOf<T, N, WINDOW, P>) -> Vec<P, WINDOW> {
        let mut path = Vec::new();
        let mut at = P::from_index(state.survivors.best());
        if path.resize(state.undecided, at).is_ok() {
            let rows = StateOf::<T, N, WINDOW, P>::newest_first(&state.back, state.newest);
            for (slot, back) in path.iter_mut().rev().zip(rows) {
                *slot = at;
                at = step_back(back, at);
            }
        }
        path
    }
}

impl<T, E, const N: usize, const WINDOW: usize, P> Streaming
    for OnlineViterbi<'_, Hmm<E, N>, WINDOW, P>
where
    T: Real,
    E: Emission<Weight = T>,
    P: StateIndex,
{
    type Observation = E::Observation;
    type State = StateOf<T, N, WINDOW, P>;
    type Reading = Decoded<P, WINDOW>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        DecodingWindow::NEW
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        let (predicted, pointers) = state.survivors.predict_pointing(self.hmm.chain());
        state.survivors.observe(self.hmm.emission(), &predicted, x)?;
        state.keep(pointers);
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        let (predicted, pointers) = state.survivors.predict_pointing(self.hmm.chain());
        state.survivors.advance(predicted);
        state.keep(pointers);
    }

    /// Returns the states decided by the last sample: to be read once after each.
    fn read(&self, state: &Self::State) -> Decoded<P, WINDOW> {
        state.decoded.clone()
    }
}
