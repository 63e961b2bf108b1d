use heapless::Deque;

use super::{SettingError, Streaming};
use crate::error::ObservationError;

/// Any recursion over a sliding window: `FILTERS` copies of it, started one after another, of which
/// the oldest is read.
///
/// A recursion cannot take a sample back. With a copy started every `interval` samples and retired
/// after `FILTERS x interval`, there is always one that has seen the last
///
/// ```text
/// (FILTERS - 1) interval + 1  to  FILTERS interval      samples, and nothing before them
/// ```
///
/// so that the reading is the recursion's own over exactly those, as if the stream had begun there:
/// over [`Forward`](super::Forward) the log-likelihood of the window, each window beginning in the
/// model's initial distribution. Where the log-likelihood of the last samples given all before them
/// will do, [`RollingLogLikelihood`](super::RollingLogLikelihood) has it from a single filter.
///
/// A copy to which a sample is impossible is dropped, and one that would start with it starts with a
/// later one: then the reading covers less, and [`Windowed::samples`] says how much. Only if the
/// sample is impossible to the copy that is read is it refused.
///
/// A front end goes around a window, not into one: `Preprocessed<_, Window<_, _>>`. A window takes it that a recursion
/// which refuses a sample is as before; a [`Preprocessed`](crate::front::Preprocessed) is not, and its copies would fall out of
/// step.
///
/// State: `FILTERS` states of the recursion and as many counters. Work per sample: `FILTERS` times
/// the recursion's.
///
/// ```
/// use fishweir_core::{emission::Categorical, filter::{Forward, Stream, Window}, hmm::{Chain, Hmm}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
///     [Categorical::<2, f32>::new([0.75, 0.25])?, Categorical::<2, f32>::new([0.1, 0.9])?],
/// );
/// let mut window = Stream::new(Window::<_, 4>::of(Forward::of(&hmm), 25)?);
/// for t in 0..1000_usize {
///     window.push(&(t / 7 % 2))?;
/// }
/// let recent = window.read();
/// assert_eq!(recent.samples, 100); // 76 to 100
/// assert!(recent.reading < 0.0); // log p(x_901..1000)
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Window<R, const FILTERS: usize> {
    recursion: R,
    interval: u32,
}

/// A reading over a window, and how many of the last samples it covers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Windowed<A> {
    /// Reading of the recursion.
    pub reading: A,
    /// Number of samples in the window, missing ones included.
    pub samples: u32,
}

/// The state of a [`Window`]: staggered states of its recursion, the oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowState<S, const FILTERS: usize> {
    filters: Deque<Started<S>, FILTERS>,
    /// Samples until the next is to be started.
    due: u32,
}

impl<S, const FILTERS: usize> WindowState<S, FILTERS> {
    /// State before the first sample.
    pub const NEW: Self = Self { filters: Deque::new(), due: 0 };
}

#[derive(Clone, Debug, PartialEq)]
struct Started<S> {
    state: S,
    samples: u32,
    /// `true` while every sample so far was possible.
    alive: bool,
}

impl<R: Streaming, const FILTERS: usize> Window<R, FILTERS> {
    /// A window of `FILTERS x interval` samples over a recursion.
    ///
    /// # Errors
    /// [`SettingError::Interval`] where `interval` is zero.
    pub const fn of(recursion: R, interval: u32) -> Result<Self, SettingError>
    where
        R: Copy,
    {
        const { assert!(FILTERS > 0, "FILTERS must be at least 1") };
        const {
            assert!(
                R::ROLLS_BACK,
                "R must leave its state unchanged on an error: put the window inside"
            )
        };
        if interval == 0 {
            return Err(SettingError::Interval);
        }
        Ok(Self { recursion, interval })
    }

    /// The recursion that is windowed.
    pub const fn recursion(&self) -> &R {
        &self.recursion
    }

    /// The most samples that a reading covers.
    pub const fn length(&self) -> u32 {
        self.interval.saturating_mul(FILTERS as u32)
    }

    /// One sample to all filters, by way of `push`.
    fn take(
        &self,
        state: &mut WindowState<R::State, FILTERS>,
        push: impl Fn(&mut R::State) -> Result<(), ObservationError>,
    ) -> Result<(), ObservationError> {
        let stays = |filter: &Started<R::State>| filter.alive && filter.samples < self.length();
        let retired = state.filters.iter().take_while(|filter| !stays(filter)).count();
        if let Some(read) = state.filters.iter_mut().nth(retired) {
            push(&mut read.state)?;
            read.samples += 1;
        } else {
            let first = self.started(&push)?;
            state.filters.clear();
            self.add(state, first);
            return Ok(());
        }
        for _ in 0..retired {
            state.filters.pop_front();
        }
        for filter in state.filters.iter_mut().skip(1) {
            filter.alive &= push(&mut filter.state).is_ok();
            filter.samples += 1;
        }
        if state.due > 0 {
            state.due -= 1;
        } else if let Ok(started) = self.started(&push) {
            self.add(state, started);
        }
        Ok(())
    }

    fn started(
        &self,
        push: impl Fn(&mut R::State) -> Result<(), ObservationError>,
    ) -> Result<Started<R::State>, ObservationError> {
        let mut state = self.recursion.initial_state();
        push(&mut state)?;
        Ok(Started { state, samples: 1, alive: true })
    }

    fn add(&self, state: &mut WindowState<R::State, FILTERS>, started: Started<R::State>) {
        // There is room: filters start `interval` samples apart and retire after `length`.
        let _ = state.filters.push_back(started);
        state.due = self.interval - 1;
    }
}

impl<R: Streaming, const FILTERS: usize> Streaming for Window<R, FILTERS> {
    type Observation = R::Observation;
    type State = WindowState<R::State, FILTERS>;
    type Reading = Windowed<R::Reading>;

    fn initial_state(&self) -> Self::State {
        WindowState::NEW
    }

    fn step(&self, state: &mut Self::State, x: &R::Observation) -> Result<(), ObservationError> {
        self.take(state, |filter| self.recursion.step(filter, x))
    }

    fn step_missing(&self, state: &mut Self::State) {
        // Only an observation can be refused.
        let _ = self.take(state, |filter| {
            self.recursion.step_missing(filter);
            Ok(())
        });
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        match state.filters.front() {
            Some(oldest) => {
                Windowed { reading: self.recursion.read(&oldest.state), samples: oldest.samples }
            }
            None => Windowed {
                reading: self.recursion.read(&self.recursion.initial_state()),
                samples: 0,
            },
        }
    }
}
