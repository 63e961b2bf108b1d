//! The past as further channels, or differences from it: a front end between a sensor's samples and any recursion over
//! rows.
//!
//! A hidden Markov model takes samples as independent given its states: what a signal does from one sample
//! to the next it sees through its transitions alone. Differences from earlier samples show it that, as
//! dilated convolutions do (A. Dempster, D. F. Schmidt and G. I. Webb, MiniRocket, KDD 2021, on dyadic
//! dilations), at the price of a ring of past samples. The past itself is what an
//! [`Autoregressive`](crate::emission::Autoregressive) emission predicts from.

mod ring;

pub use ring::RingIndex;

use core::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::filter::{Adapter, Streaming};
use crate::number::Channel;

/// A recursion over rows of `D (1 + L)` numbers, fed with `D` channels and their differences at `L` lags.
///
/// ```text
/// row_t = ( x_t,  x_t - x_(t - k_1),  ...,  x_t - x_(t - k_L) ),      k_1 < ... < k_L = K
/// ```
///
/// Before a stream's beginning lies its first sample: until `k` samples have come, the difference at lag
/// `k` is from the first. Where a sample is missing, the last one before it that was observed stands for it
/// in later differences; the recursion itself hears of a missing sample as of any other.
///
/// `B` is a [`Lookback`]: it names `D`, `K` and what a row holds. With `PAST` a row holds the past itself,
/// `( x_t, x_(t - k_1), ..., x_(t - k_L) )`, and nothing stands for a past that was not observed: the recursion hears of a
/// sample as missing until the `K` samples before it have come since the stream's beginning or its last gap. What it
/// reads is then given those samples.
///
/// Where channels may be missing, `[Option<T>; D]`, a difference from or of a missing channel is missing: nothing stands
/// for it. A sample of which every channel is missing is a missing sample.
///
/// Over the integers of [fixed point](crate::number::fixed) a difference is exact where 16 bits hold it, and held at
/// their end beyond.
///
/// Flash: `L` words beside the recursion. RAM: `D K` numbers and 8 bytes, beside the recursion's state.
/// Work: `D L` subtractions per sample, and a row on the stack.
///
/// ```
/// use fishweir_core::emission::Gaussian;
/// use fishweir_core::filter::{Forward, Stream};
/// use fishweir_core::hmm::{Chain, Hmm};
/// use fishweir_core::lagged::{LagFeatures, Lookback};
///
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// // A level that may be anything near zero, and a step to the next sample that is near one.
/// let ramp = Gaussian::<2, f64>::new([0.0, 1.0], [100.0, 0.01])?;
/// let hmm = Hmm::new(Chain::<f64, 1>::new([1.0], [[1.0]])?, [ramp]);
/// let lagged = LagFeatures::<_, Lookback<1, 1>, 1>::from_parts(Forward::of(&hmm), [1]);
/// lagged.validate_lags()?;
/// let likelihood = |samples: &[[f64; 1]]| {
///     let mut stream = Stream::new(&lagged);
///     stream.push_block(samples).map(|_| stream.read())
/// };
/// let (rising, falling) = (likelihood(&[[1.0], [2.0], [3.0]])?, likelihood(&[[3.0], [2.0], [1.0]])?);
/// assert!((rising - falling - 400.0).abs() < 1e-9); // twice (2^2 - 0) / (2 x 0.01)
/// # Ok(()) }
/// ```
///
/// A recursion over rows of another length does not compile: of one channel and two lags they hold three numbers.
///
/// ```compile_fail
/// # use fishweir_core::emission::Gaussian;
/// # use fishweir_core::filter::{Forward, Stream};
/// # use fishweir_core::hmm::{Chain, Hmm};
/// # use fishweir_core::lagged::{LagFeatures, Lookback};
/// # let pair = Gaussian::<2, f64>::new([0.0, 1.0], [100.0, 0.01]).unwrap();
/// # let hmm = Hmm::new(Chain::<f64, 1>::new([1.0], [[1.0]]).unwrap(), [pair]);
/// let lagged = LagFeatures::<_, Lookback<1, 2>, 2>::from_parts(Forward::of(&hmm), [1, 2]);
/// let stream = Stream::new(&lagged);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct LagFeatures<R, B, const L: usize> {
    recursion: R,
    lags: [u32; L],
    lookback: PhantomData<B>,
}

/// Look-back of [`LagFeatures`]: `D` channels over the last `K` samples.
///
/// A row holds differences from them, or with `PAST` the samples themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Lookback<const D: usize, const K: usize, const PAST: bool = false> {}

/// State of [`LagFeatures`]: the recursion's state, and the last samples, `[[T; D]; K]`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LagFeaturesState<S, P> {
    inner: S,
    past: P,
    place: RingIndex,
}

impl<S, T: Channel, const D: usize, const K: usize> LagFeaturesState<S, [[T; D]; K]> {
    /// State before the first sample, around the recursion's own first state.
    pub const fn new(inner: S) -> Self {
        Self { inner, past: [[T::BLANK; D]; K], place: RingIndex::NEW }
    }

    /// The recursion's state.
    pub const fn inner(&self) -> &S {
        &self.inner
    }
}

impl<R, const D: usize, const K: usize, const PAST: bool, const L: usize>
    LagFeatures<R, Lookback<D, K, PAST>, L>
{
    /// Asserts that rows of `E` numbers hold the channels and their values at the lags.
    pub(crate) const fn assert_row<const E: usize>() {
        assert!(E == D * (1 + L), "rows of the recursion must hold D * (1 + L) numbers");
        assert!(K > 0 && K <= u32::MAX as usize, "K must be at least 1 and fit 32 bits");
    }

    /// Creates lag features before a recursion, and checks the lags.
    ///
    /// # Errors
    /// Names the first lag that is not in its range: they rise from one or more to `K`.
    pub fn new(recursion: R, lags: [u32; L]) -> Result<Self, ModelError> {
        let made = Self::from_parts(recursion, lags);
        made.validate_lags()?;
        Ok(made)
    }

    /// Creates the same without checks, in a constant too: [`validate_lags`](Self::validate_lags) checks it.
    pub const fn from_parts(recursion: R, lags: [u32; L]) -> Self {
        const { assert!(K > 0 && K <= u32::MAX as usize, "K must be at least 1 and fit 32 bits") };
        Self { recursion, lags, lookback: PhantomData }
    }

    /// The recursion that sees rows.
    pub const fn recursion(&self) -> &R {
        &self.recursion
    }

    /// The lags, in samples.
    pub const fn lags(&self) -> &[u32; L] {
        &self.lags
    }

    /// Checks that the lags rise from one or more to the length of the ring.
    ///
    /// # Errors
    /// Names the first that is not in its range.
    pub fn validate_lags(&self) -> Result<(), ModelError> {
        let mut least = 0;
        for (entry, &lag) in self.lags.iter().enumerate() {
            if lag <= least || lag as usize > K {
                return Err(ModelError::new(Part::Lag, ErrorKind::NotInRange, 0, entry));
            }
            least = lag;
        }
        if least as usize == K {
            return Ok(());
        }
        Err(ModelError::new(Part::Lag, ErrorKind::Inconsistent, 0, L.saturating_sub(1)))
    }
}

impl<T, R, const D: usize, const E: usize, const K: usize, const PAST: bool, const L: usize> Adapter
    for LagFeatures<R, Lookback<D, K, PAST>, L>
where
    T: Channel,
    R: Streaming<Observation = [T; E]>,
{
    type Inner = R;
    type Observation = [T; D];
    type State = LagFeaturesState<R::State, [[T; D]; K]>;

    #[inline]
    fn inner(&self) -> &R {
        &self.recursion
    }
    #[inline]
    fn inner_state<'s>(&self, state: &'s Self::State) -> &'s R::State {
        &state.inner
    }
    #[inline]
    fn outer_initial_state(&self) -> Self::State {
        const { Self::assert_row::<E>() };
        LagFeaturesState::new(self.recursion.initial_state())
    }

    fn outer_step(&self, state: &mut Self::State, x: &[T; D]) -> Result<(), ObservationError> {
        // A state in a `static` has begun without asking for it.
        const { Self::assert_row::<E>() };
        const {
            assert!(
                R::ROLLS_BACK,
                "R must leave its state unchanged on an error: put a front end outside"
            )
        };
        if D > 0 && !x.iter().any(|x| x.is_there()) {
            self.outer_step_missing(state);
            return Ok(());
        }
        if PAST && !state.place.is_full(K) {
            if !x.iter().all(|x| x.is_number()) {
                return Err(ObservationError::NotFinite);
            }
            self.recursion.step_missing(&mut state.inner);
        } else {
            let mut row = [T::BLANK; E];
            state.place.write_row(&self.lags, PAST, &state.past, x, &mut row);
            self.recursion.step(&mut state.inner, &row)?;
        }
        state.place.take(&mut state.past, x);
        Ok(())
    }

    fn outer_step_missing(&self, state: &mut Self::State) {
        self.recursion.step_missing(&mut state.inner);
        if PAST {
            state.place = RingIndex::NEW;
        } else {
            state.place.take_missing(&mut state.past);
        }
    }

    fn validate_own(&self) -> Result<(), ModelError> {
        self.validate_lags()
    }
    fn own_bytes(&self) -> usize {
        size_of_val(self.lags())
    }
}
