//! Measurement of time and stack by a board.

use core::hint::black_box;

/// A counter of time, read around a piece of work, and a gauge of the stack.
pub trait Meter {
    /// Ticks in a second; 0 for a board without a counter.
    const TICKS_PER_SECOND: u32;

    /// The counter now, to be handed to [`elapsed`](Self::elapsed).
    fn now(&self) -> u32;

    /// Ticks since `start`, modulo the counter's range: the work must be shorter than that.
    fn elapsed(&self, start: u32) -> u32;

    /// The deepest the stack has been since reset, in bytes; 0 where it is not measured.
    fn stack_bytes(&self) -> u32 {
        0
    }

    /// Does `work` and returns its ticks, the two readings of the counter included.
    fn measure<T>(&self, work: impl FnOnce() -> T) -> (T, u32) {
        let start = self.now();
        // Reading a counter is no barrier: without these the optimiser may move work across it.
        let result = black_box(black_box(work)());
        (result, self.elapsed(start))
    }
}

/// No counter and no gauge: for tests on a host, and for boards yet to grow one.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMeter;

impl Meter for NoMeter {
    const TICKS_PER_SECOND: u32 = 0;

    fn now(&self) -> u32 {
        0
    }

    fn elapsed(&self, _start: u32) -> u32 {
        0
    }
}
