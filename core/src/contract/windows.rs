use core::fmt;

/// Treatment of a refused sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
#[non_exhaustive]
pub enum Refused {
    /// A refused sample is missing: time passes, nothing is learnt.
    #[default]
    Missing = 0,
}

/// Treatment of a partly filled window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
#[non_exhaustive]
pub enum Partial {
    /// A partly filled window decides on request: training took series shorter than a window as they are.
    #[default]
    OnRequest = 0,
    /// A partly filled window decides nothing: training left out series shorter than a window.
    Never = 1,
}

/// The windows of a decision: a window begins at samples 0, `hop`, `2 hop`, ... of a stream and ends `length` samples
/// later with a decision.
///
/// All counts are raw samples, missing ones included; front ends, lags and codebooks start anew in each window. After
/// more than `longest_gap` missing samples in a row the next sample begins a new stream, and so a new window.
///
/// Windows that overlap take a state each: [`states`](Self::states) times the RAM and the work of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Windows {
    /// Samples in a window; from 1 to [`Windows::LONGEST`].
    pub length: u32,
    /// Samples from the beginning of one window to that of the next; from 1 to [`Windows::LONGEST`].
    pub hop: u32,
    /// The most missing samples in a row that a window bears.
    pub longest_gap: u32,
    /// Treatment of a refused sample.
    pub refused: Refused,
    /// Treatment of a partly filled window.
    pub partial: Partial,
}

/// Reason why windows were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum WindowsError {
    /// The length is zero or above [`Windows::LONGEST`].
    Length,
    /// The hop is zero or above [`Windows::LONGEST`].
    Hop,
    /// More than [`Windows::MOST_OPEN`] windows are open at a time.
    Open(usize),
    /// The windows take another number of states than there is room for.
    States {
        /// States that the windows take.
        wanted: usize,
        /// States that there is room for.
        found: usize,
    },
}

impl WindowsError {
    /// Returns the stable name of the fault, in kebab-case; that of the innermost error.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Length => "window-length",
            Self::Hop => "window-hop",
            Self::Open(_) => "open-windows",
            Self::States { .. } => "window-states",
        }
    }
}

impl fmt::Display for WindowsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = Windows::LONGEST;
        match self {
            Self::Length => write!(f, "the length of a window must be 1 to {longest} samples"),
            Self::Hop => write!(f, "the hop of windows must be 1 to {longest} samples"),
            Self::Open(states) => {
                let most = Windows::MOST_OPEN;
                write!(f, "{states} windows are open at a time, of {most} at most: raise the hop")
            }
            Self::States { wanted, found } => {
                write!(f, "the windows take {wanted} states, and there is room for {found}")
            }
        }
    }
}

impl core::error::Error for WindowsError {}

impl Windows {
    /// The longest window, and the longest hop, in samples.
    pub const LONGEST: u32 = 1 << 28;

    /// The most windows that may be open at a time.
    pub const MOST_OPEN: usize = 4096;

    /// Windows of a length and a hop. A gap is too long when it is longer than a window.
    #[must_use]
    pub const fn of(length: u32, hop: u32) -> Self {
        Self {
            length,
            hop,
            longest_gap: length,
            refused: Refused::Missing,
            partial: Partial::OnRequest,
        }
    }

    /// Checks length, hop and how many windows are open at a time.
    ///
    /// # Errors
    /// [`WindowsError`] naming the one that is out of range.
    pub const fn check(&self) -> Result<(), WindowsError> {
        if self.length == 0 || self.length > Self::LONGEST {
            return Err(WindowsError::Length);
        }
        if self.hop == 0 || self.hop > Self::LONGEST {
            return Err(WindowsError::Hop);
        }
        if self.states() > Self::MOST_OPEN {
            return Err(WindowsError::Open(self.states()));
        }
        Ok(())
    }

    /// The states that they take: the windows that are open at a time, `length / hop` rounded up.
    #[must_use]
    pub const fn states(&self) -> usize {
        // The host asks of windows that it has not checked.
        if self.hop == 0 { 1 } else { self.length.div_ceil(self.hop) as usize }
    }

    /// Samples of its window that a state had before the sample at a place; `None` where it has no window open there.
    /// After a `cycle` of samples the same state begins its next window.
    #[inline]
    const fn age(&self, place: u32, state: u32, cycle: u32) -> Option<u32> {
        // Before its first window it is beyond any length.
        let since = place.wrapping_sub(self.hop.wrapping_mul(state));
        let age = if since >= cycle { since - cycle } else { since };
        if age < self.length { Some(age) } else { None }
    }

    /// Number of samples after which each of `states` states begins its next window.
    const fn cycle(&self, states: u32) -> u32 {
        self.hop.wrapping_mul(states)
    }
}

/// Position of a stream among its windows: the states that a sample concerns, and the window that it ends.
///
/// Window `w` is that of state `w % states`. Host and device share this schedule:
///
/// ```
/// use fishweir_core::contract::{WindowClock, Windows};
///
/// let windows = Windows::of(4, 2); // two states: here sums
/// let (mut clock, mut states) = (WindowClock::NEW, [0; 2]);
/// let mut sums = [None; 8];
/// for (x, sum) in (0..8).zip(&mut sums) {
///     let push = |state: &mut i32| {
///         *state += x;
///         Ok::<_, ()>(())
///     };
///     assert!(clock.step(Some(&windows), true, &mut states, |state| *state = 0, push).is_ok());
///     *sum = clock.ended(&windows, 2).map(|state| states[state]);
/// }
/// assert_eq!(sums, [None, None, None, Some(6), None, Some(14), None, Some(22)]);
/// ```
///
/// RAM: 8 bytes. Work per sample: some six comparisons and additions, and two for each state; where a window begins or
/// ends, or a sample is missing, some thirty and ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WindowClock {
    /// Samples since the first window began, those `ahead` included; past the first two cycles it stays in the second.
    samples: u32,
    /// Number of coming samples during which all states have open windows and none begins, if positive.
    ///
    /// Otherwise minus the missing samples in a row, up to two more than the longest gap.
    ahead: i32,
}

/// Samples to come of a stream without windows: always as many.
const ENDLESS: i32 = i32::MAX;

impl WindowClock {
    /// State before the first sample.
    pub const NEW: Self = Self { samples: 0, ahead: 0 };

    /// Takes in a sample, `given` or missing: hands each state whose window is open to `push`,
    /// after `renew` where its window begins. Without windows each state is open, and none is renewed.
    ///
    /// In a gap that is too long nothing is done; the next sample that is taken in begins a new window. A sample that each
    /// open window refuses is missing.
    ///
    /// # Errors
    /// The first of `push`; all states were pushed.
    #[inline]
    pub fn step<S, E>(
        &mut self,
        windows: Option<&Windows>,
        given: bool,
        states: &mut [S],
        renew: impl FnMut(&mut S),
        mut push: impl FnMut(&mut S) -> Result<(), E>,
    ) -> Result<(), E> {
        if !given || self.ahead <= 0 {
            return self.step_slowly(windows, given, states, renew, push);
        }
        let (mut taken, mut result) = (false, Ok(()));
        for state in states {
            let pushed = push(state);
            taken |= pushed.is_ok();
            result = result.and(pushed);
        }
        if taken {
            self.ahead -= 1;
        } else {
            self.miss();
        }
        result
    }

    /// [`step`](Self::step) where a window begins, where one is closed, or where nothing was given.
    // Out of line, so that what is done at most samples is in line.
    #[inline(never)]
    fn step_slowly<S, E>(
        &mut self,
        windows: Option<&Windows>,
        given: bool,
        states: &mut [S],
        mut renew: impl FnMut(&mut S),
        mut push: impl FnMut(&mut S) -> Result<(), E>,
    ) -> Result<(), E> {
        let waits = windows.is_some_and(|windows| self.missing() > windows.longest_gap);
        // As many states as the windows take: nothing is divided here.
        let count = states.len() as u32;
        let cycle = windows.map_or(0, |windows| windows.cycle(count));
        let place = if waits { 0 } else { self.place() };
        let (mut open, mut taken, mut result) = (false, false, Ok(()));
        if given || !waits {
            for (index, state) in (0_u32..).zip(states) {
                let age = || windows.map_or(Some(1), |windows| windows.age(place, index, cycle));
                let Some(pushed) = step_one(state, age, &mut renew, &mut push) else { continue };
                open = true;
                taken |= pushed.is_ok();
                result = result.and(pushed);
            }
        }
        // Between windows, where the hop is longer than they are, nobody refuses.
        taken = given && (taken || !open);
        match windows {
            Some(windows) => self.go_on(windows, count, place + 1, taken),
            None => (self.samples, self.ahead) = (ENDLESS.unsigned_abs(), ENDLESS),
        }
        result
    }

    /// The next sample is that at a place, after one that was `taken` in or is one more in a gap.
    // Out of line, as what is over few states is unrolled.
    #[inline(never)]
    fn go_on(&mut self, windows: &Windows, states: u32, next: u32, taken: bool) {
        let cycle = windows.cycle(states);
        let twice = cycle.wrapping_mul(2);
        self.samples = if next < twice { next } else { cycle };
        if !taken {
            let missing = (self.missing() + 1).min(windows.longest_gap.saturating_add(2));
            self.ahead = -i32::try_from(missing).unwrap_or(i32::MAX);
            return;
        }
        let left = |state| match windows.age(self.samples, state, cycle) {
            None | Some(0) => 0,
            Some(age) => windows.length - age,
        };
        // Up to the last place of the two cycles.
        let most = twice.saturating_sub(self.samples + 1);
        let ahead = (0..states).map(left).fold(most, u32::min);
        self.samples += ahead;
        self.ahead = ahead as i32;
    }

    /// Steps past a sample that all states refused, of those `ahead`.
    #[cold]
    fn miss(&mut self) {
        (self.samples, self.ahead) = (self.samples - self.ahead.unsigned_abs() + 1, -1);
    }

    /// Missing samples in a row.
    #[inline]
    fn missing(&self) -> u32 {
        self.ahead.min(0).unsigned_abs()
    }

    /// The place of the next sample.
    #[inline]
    fn place(&self) -> u32 {
        self.samples - self.ahead.max(0) as u32
    }

    /// The state, of all `states`, whose window the last sample filled.
    #[inline]
    #[must_use]
    pub fn ended(&self, windows: &Windows, states: usize) -> Option<usize> {
        let (place, full) = (self.last(windows)?, windows.length.checked_sub(1)?);
        let cycle = windows.cycle(states as u32);
        (0..states).find(|&state| windows.age(place, state as u32, cycle) == Some(full))
    }

    /// The state, of all `states`, with the oldest window that is open or just filled, and the samples of the window.
    #[must_use]
    pub fn oldest(&self, windows: &Windows, states: usize) -> Option<(usize, u32)> {
        let (place, cycle) = (self.last(windows)?, windows.cycle(states as u32));
        let samples = |state: usize| Some((state, windows.age(place, state as u32, cycle)? + 1));
        (0..states).filter_map(samples).max_by_key(|&(_, samples)| samples)
    }

    /// The place of the last sample; `None` before the first, and in a gap that is too long.
    #[inline]
    fn last(&self, windows: &Windows) -> Option<u32> {
        let waits = self.missing() > windows.longest_gap.saturating_add(1);
        if waits { None } else { self.place().checked_sub(1) }
    }
}

/// Hands a state whose window has an age to `push`, after `renew` where it begins. Out of line, as a loop over few states
/// is unrolled.
#[inline(never)]
fn step_one<S, E>(
    state: &mut S,
    age: impl FnOnce() -> Option<u32>,
    renew: &mut impl FnMut(&mut S),
    push: &mut impl FnMut(&mut S) -> Result<(), E>,
) -> Option<Result<(), E>> {
    if age()? == 0 {
        renew(state);
    }
    Some(push(state))
}
