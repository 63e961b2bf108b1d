//! The host's run of a deployed classifier on the windows of its contract.

use fishweir_core::contract::{Partial, WindowClock, Windows};
use fishweir_core::number::Real;

use super::error::PushError;
use super::stream::Stream;
use crate::data::{Sample, SamplesView};

/// A stream through a deployed classifier that decides at the end of each window, as a device does: the core's
/// `WindowClassifier` at run-time sizes.
///
/// A refused sample is missing. After more missing samples in a row than a window bears, the next sample begins a new
/// window.
///
/// RAM: a [`Stream`] for each window that is open at a time.
pub struct WindowStream<T: Real = f32> {
    windows: Option<Windows>,
    /// Each with the place of its first sample in the series.
    states: Vec<(Stream<T>, u64)>,
    clock: WindowClock,
    /// Samples since the last reset.
    samples: u64,
    /// Start of the stream after the last gap that was too long.
    begun: u64,
}

/// A window of a stream, filled or not.
#[derive(Clone, Copy)]
pub struct OpenWindow<'s, T: Real = f32> {
    /// The place of its first sample in the series, from 0.
    pub start: u64,
    /// The place after its last sample.
    pub end: u64,
    /// Stream of its samples.
    pub stream: &'s Stream<T>,
}

impl<T: Real> WindowStream<T> {
    /// Decides on windows; without windows after each sample, on a stream that never ends. `new` makes a stream before
    /// its first sample.
    pub(super) fn new(windows: Option<Windows>, new: impl Fn() -> Stream<T>) -> Self {
        let states = windows.map_or(1, |windows| windows.states());
        Self {
            windows,
            states: (0..states).map(|_| (new(), 0)).collect(),
            clock: WindowClock::NEW,
            samples: 0,
            begun: 0,
        }
    }

    /// Takes in a sample, for [`push`](WindowStream::push).
    pub(super) fn push_sample(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
        if self.states.iter().any(|(stream, _)| !stream.takes(sample)) {
            return Err(PushError::Kind);
        }
        let sample = self.states.first().map_or(sample, |(stream, _)| stream.heard_as(sample));
        let start = self.samples;
        let renew = |(stream, begun): &mut (Stream<T>, u64)| {
            stream.reset();
            *begun = start;
        };
        let push = |(stream, _): &mut (Stream<T>, u64)| stream.push_heard(sample);
        let (windows, given) = (self.windows.as_ref(), sample != Sample::Missing);
        let result = self.clock.step(windows, given, &mut self.states, renew, push);
        self.samples += 1;
        result
    }

    /// Forgets the past: the next sample is the first of a series.
    pub fn reset(&mut self) {
        self.restart();
        self.samples = 0;
        self.begun = 0;
        self.states.iter_mut().for_each(|(_, begun)| *begun = 0);
    }

    /// Begins a new window with the next sample of the same series: time has leapt.
    pub fn restart(&mut self) {
        self.clock = WindowClock::NEW;
        self.begun = self.samples;
        for (stream, begun) in &mut self.states {
            stream.reset();
            *begun = self.samples;
        }
    }

    /// The windows that it decides on; `None` on a stream that never ends.
    #[must_use]
    pub fn windows(&self) -> Option<&Windows> {
        self.windows.as_ref()
    }

    /// Samples since the last reset, missing ones included.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The window that the last sample filled; without windows the whole series so far. `None` where no decision is due.
    #[must_use]
    pub fn decided(&self) -> Option<OpenWindow<'_, T>> {
        let state = match &self.windows {
            Some(windows) => self.clock.ended(windows, self.states.len())?,
            None if self.clock == WindowClock::NEW => return None,
            None => 0,
        };
        self.window(state)
    }

    /// The oldest window that is open, or just filled; without windows the whole series so far. `None` before the first
    /// sample, between windows, and in a gap that is too long.
    #[must_use]
    pub fn open(&self) -> Option<OpenWindow<'_, T>> {
        match &self.windows {
            Some(windows) => self.window(self.clock.oldest(windows, self.states.len())?.0),
            None => self.decided(),
        }
    }

    /// Returns the oldest open window, if such a window may decide on part of its samples.
    #[must_use]
    pub fn so_far(&self) -> Option<OpenWindow<'_, T>> {
        match &self.windows {
            Some(Windows { partial: Partial::Never, .. }) => self.decided(),
            _ => self.open(),
        }
    }

    /// Window at the end of a series: all of it if it is shorter than a window, and such series were trained on.
    #[must_use]
    pub fn short(&self) -> Option<OpenWindow<'_, T>> {
        let windows = self.windows.as_ref()?;
        let short = self.samples < u64::from(windows.length) && self.begun == 0;
        if short { self.so_far() } else { None }
    }

    fn window(&self, state: usize) -> Option<OpenWindow<'_, T>> {
        let (stream, start) = self.states.get(state)?;
        Some(OpenWindow { start: *start, end: self.samples, stream })
    }
}

/// Decides after each sample, on a stream that never ends.
impl<T: Real> From<Stream<T>> for WindowStream<T> {
    fn from(stream: Stream<T>) -> Self {
        Self {
            windows: None,
            states: vec![(stream, 0)],
            clock: WindowClock::NEW,
            samples: 0,
            begun: 0,
        }
    }
}

/// One function for each number, compiled with this crate: the work of a sample is not compiled again, and with other
/// optimisations, by a crate that pushes.
macro_rules! push {
    ($($t:ty),*) => {$(
        impl Stream<$t> {
            /// Takes in one sample; the values of a row are rounded to the stream's number, as the device receives them.
            /// A refused sample is missing: time passes, nothing is learnt.
            ///
            /// # Errors
            /// Why it was refused. Of [`PushError::Kind`] no time has passed.
            pub fn push(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
                self.push_sample(sample)
            }

            /// Forgets the past and takes a window in; a refused sample is missing, as on a device. Returns whether any was
            /// observed.
            pub fn take_window(&mut self, samples: SamplesView<'_>) -> bool {
                self.reset();
                let mut observed = false;
                for sample in samples.iter() {
                    observed |= self.push_sample(sample).is_ok() && sample != Sample::Missing;
                }
                observed
            }
        }

        impl WindowStream<$t> {
            /// Takes in a sample; a refused one is missing.
            ///
            /// # Errors
            /// Why it was refused. Of [`PushError::Kind`] no time has passed.
            pub fn push(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
                self.push_sample(sample)
            }
        }
    )*};
}
push!(f32, f64);
