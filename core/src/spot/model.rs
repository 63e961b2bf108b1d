use crate::emission::Emission;
use crate::error::{ErrorKind, ModelError, Part};
use crate::hmm::{Chain, Hmm};
use crate::number::Real;

/// The class of states that belong to the background.
pub const BACKGROUND: u8 = u8::MAX;

/// Models of classes and a background as one network, and how late events may be decided.
///
/// The first `B` of the network's `S` states are the background's, the others belong to classes. Of a
/// background of chain `A`, and classes `c` of chains `A_c` that are entered with probability `entry_c`
/// and left with probability `exit_c` per sample, the network is
///
/// ```text
/// background i -> background j   (1 - sum_c entry_c) A[i][j]
/// background i -> class c, j     entry_c initial_c[j]
/// class c, i   -> class c, j     (1 - exit_c) A_c[i][j]
/// class c, i   -> background j   exit_c initial[j]
/// ```
///
/// and it begins like a sample after the background. Between two events there is at least one sample of
/// background. A smaller `entry_c` is a penalty on entering, `log entry_c` nats: it sets the
/// operating point between missed events and false alarms.
///
/// As a [`Streaming`](crate::filter::Streaming) it decodes by token passing: the survivor in each state
/// carries up to `PENDING` events. An event is decided when every survivor has it, and at the latest
/// `lag` samples after its end: then the best path's event is taken, and paths without it are dropped.
/// While no event is [forced](super::SpotState::forced), decided events are exactly the runs of classes
/// on Viterbi's path through the whole stream.
///
/// A missing sample lets time pass. A sample that every state makes impossible is an error; one that is
/// impossible in the background alone is no evidence there.
///
/// Flash: the network (`S + S^2` weights, `S` emissions), `B + B^2` weights and `S` bytes. State:
/// `S` tokens of `24 PENDING + 64` bytes in `f32`, and two filters. Work per sample: that of
/// [`viterbi`](crate::smooth::viterbi) over `S` states and over `B` states, `S` tokens copied, and two
/// logarithms for every state of the background that is reached from a class.
///
/// ```
/// use fishweir_core::{
///     emission::Categorical, filter::Stream, hmm::{Chain, Hmm}, spot::{BACKGROUND, Spotter},
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Fair tosses, and now and then a run of a coin that shows heads (symbol 0).
/// let network = Hmm::new(
///     Chain::<f32, 2>::new([0.95, 0.05], [[0.95, 0.05], [0.1, 0.9]])?,
///     [Categorical::<2>::new([0.5, 0.5])?, Categorical::<2>::new([0.95, 0.05])?],
/// );
/// let spotter: Spotter<_, 2, 1, 4> =
///     Spotter::from_parts(network, Chain::<f32, 1>::new([1.0], [[1.0]])?, [BACKGROUND, 0], 100);
/// let mut stream = Stream::new(&spotter);
/// let mut events = Vec::new();
/// for toss in [1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1] {
///     stream.push(&toss)?;
///     events.extend(stream.read().events);
/// }
/// let [event] = &events[..] else { panic!("{events:?}") };
/// assert_eq!((event.class, event.start, event.end), (0, 4, 14));
/// assert!(event.log_odds_per_sample() > 0.0);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spotter<E: Emission, const S: usize, const B: usize, const PENDING: usize> {
    pub(super) network: Hmm<E, S>,
    pub(super) background: Chain<E::Weight, B>,
    pub(super) class: [u8; S],
    pub(super) lag: u32,
}

impl<E: Emission, const S: usize, const B: usize, const PENDING: usize> Spotter<E, S, B, PENDING> {
    /// Creates a spotter without checks, in a constant too: [`validate`](Self::validate) checks it.
    pub const fn from_parts(
        network: Hmm<E, S>,
        background: Chain<E::Weight, B>,
        class: [u8; S],
        lag: u32,
    ) -> Self {
        const {
            assert!(0 < B && B <= S, "the background's states are the first of the network's");
            assert!(S <= 256, "back-pointers are bytes");
            assert!(PENDING > 0, "a token needs room for an event");
        }
        Self { network, background, class, lag }
    }

    /// The joined network.
    pub const fn network(&self) -> &Hmm<E, S> {
        &self.network
    }

    /// The background's own chain, over the first states.
    pub const fn background(&self) -> &Chain<E::Weight, B> {
        &self.background
    }

    /// The class of each state, [`BACKGROUND`] of the first `B`.
    pub const fn class(&self) -> &[u8; S] {
        &self.class
    }

    /// Largest number of samples between the end of an event and its decision.
    pub const fn lag(&self) -> u32 {
        self.lag
    }

    /// The class of a state.
    #[inline(always)]
    pub(super) fn class_of(&self, state: usize) -> u8 {
        self.class.get(state).copied().unwrap_or(BACKGROUND)
    }
}

impl<T, E, const S: usize, const B: usize, const PENDING: usize> Spotter<E, S, B, PENDING>
where
    T: Real,
    E: Emission<Weight = T>,
{
    /// Creates a spotter from a joined network, the background's own chain, the class of each state and the longest
    /// lag, in samples, and checks every number. In a constant take [`from_parts`](Self::from_parts).
    ///
    /// # Errors
    /// Names the first invalid number.
    pub fn new(
        network: Hmm<E, S>,
        background: Chain<E::Weight, B>,
        class: [u8; S],
        lag: u32,
    ) -> Result<Self, ModelError> {
        let made = Self::from_parts(network, background, class, lag);
        made.validate()?;
        Ok(made)
    }

    /// Checks every distribution, and that the first `B` states are the background's and no other.
    ///
    /// # Errors
    /// Names the first number that is wrong; of the background's chain as of the network's.
    pub fn validate(&self) -> Result<(), ModelError> {
        self.network.validate()?;
        self.background.validate()?;
        for (state, &class) in self.class.iter().enumerate() {
            if (class == BACKGROUND) != (state < B) {
                return Err(ModelError::new(Part::StateClass, ErrorKind::Inconsistent, 0, state));
            }
        }
        Ok(())
    }
}
