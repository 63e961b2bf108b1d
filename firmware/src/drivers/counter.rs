//! Uses of a free-running counter: measuring work, and waiting.

use embedded_hal::delay::DelayNs;
use fishweir_device::meter::Meter;

/// A counter that runs upwards and wraps around. An interval must be shorter than its
/// range: a counter cannot distinguish a longer one from its remainder.
pub trait Counter {
    /// Ticks in a second.
    const HERTZ: u32;
    /// Width: it wraps after `2^BITS` ticks. At most 32.
    const BITS: u32;

    /// The count now, below `2^BITS`.
    fn now(&self) -> u32;

    /// Ticks since `start`, if less than `2^BITS` have passed.
    #[inline(always)]
    fn since(&self, start: u32) -> u32 {
        self.now().wrapping_sub(start) & (u32::MAX >> (32 - Self::BITS))
    }
}

/// A counter of 32 bits from one of `BITS` and the rounds that its interrupt has counted.
///
/// Wherever the interrupt falls, and where it waits because something holds it off, up to a round: the
/// rounds are read on both sides of the count, and one that is `pending` is due if the count is young.
#[inline(always)]
pub fn extended<const BITS: u32>(
    rounds: impl Fn() -> u32,
    count: impl Fn() -> u32,
    pending: impl Fn() -> bool,
) -> u32 {
    loop {
        let before = rounds();
        let now = count();
        let due = pending() && now >> (BITS - 1) == 0;
        if rounds() == before {
            return before.wrapping_add(u32::from(due)) << BITS | now;
        }
    }
}

/// Measures work by a counter, and the stack by its paint (where `image::start` has painted it).
#[derive(Debug)]
pub struct CounterMeter<C>(C);

impl<C: Counter> CounterMeter<C> {
    /// A meter on a running counter.
    pub const fn new(counter: C) -> Self {
        Self(counter)
    }
}

impl<C: Counter> Meter for CounterMeter<C> {
    const TICKS_PER_SECOND: u32 = C::HERTZ;

    #[inline(always)]
    fn now(&self) -> u32 {
        self.0.now()
    }

    #[inline(always)]
    fn elapsed(&self, start: u32) -> u32 {
        self.0.since(start)
    }

    fn stack_bytes(&self) -> u32 {
        #[cfg(all(target_os = "none", feature = "image"))]
        return super::stack::deepest();
        #[cfg(not(all(target_os = "none", feature = "image")))]
        0
    }
}

/// Waits by watching a counter. It waits at least as long as asked, by two ticks more at most, and by
/// what the call and an interrupt take.
#[derive(Debug)]
pub struct CounterDelay<C>(C);

impl<C: Counter> CounterDelay<C> {
    /// A delay on a running counter.
    pub const fn new(counter: C) -> Self {
        Self(counter)
    }

    /// Waits for a number of ticks, also beyond the counter's range.
    fn wait(&self, ticks: u64) {
        let mut last = self.0.now();
        let mut passed = 0;
        while passed < ticks {
            let step = self.0.since(last);
            last = last.wrapping_add(step);
            passed += u64::from(step);
        }
    }
}

/// Returns a number of ticks that last at least `units` units of a `per_second`th of a second.
///
/// The tick that is under way when the wait begins does not count.
const fn ticks<C: Counter>(units: u32, per_second: u32) -> u64 {
    (units as u64 * C::HERTZ as u64).div_ceil(per_second as u64) + 1
}

impl<C: Counter> DelayNs for CounterDelay<C> {
    fn delay_ns(&mut self, ns: u32) {
        self.wait(ticks::<C>(ns, 1_000_000_000));
    }

    fn delay_us(&mut self, us: u32) {
        self.wait(ticks::<C>(us, 1_000_000));
    }

    fn delay_ms(&mut self, ms: u32) {
        self.wait(ticks::<C>(ms, 1_000));
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    /// Eight bits wide, three ticks further at every look.
    struct Looked(Cell<u32>);

    impl Counter for Looked {
        const HERTZ: u32 = 1_000_000;
        const BITS: u32 = 8;

        fn now(&self) -> u32 {
            self.0.set(self.0.get() + 3);
            self.0.get() % 256
        }
    }

    #[test]
    fn ticks_are_counted_across_the_end_of_the_range() {
        let meter = CounterMeter::new(Looked(Cell::new(250)));
        let start = meter.now();
        assert_eq!(start, 253);
        assert_eq!(meter.elapsed(start), 3);
        assert_eq!(meter.elapsed(start), 6);
    }

    /// A counter of eight bits whose interrupt counts rounds: at once, or with a delay.
    struct Interrupted {
        time: Cell<u32>,
        rounds: Cell<u32>,
        delay: u32,
    }

    impl Interrupted {
        /// A tick passes; the interrupt is served where its time has come.
        fn tick(&self) {
            self.time.set(self.time.get() + 1);
            self.rounds.set(self.time.get().saturating_sub(self.delay) >> 8);
        }

        fn now(&self) -> u32 {
            extended::<8>(
                || {
                    self.tick();
                    self.rounds.get()
                },
                || {
                    self.tick();
                    self.time.get() % 256
                },
                || self.rounds.get() != self.time.get() >> 8,
            )
        }
    }

    #[test]
    fn a_counter_and_its_interrupt_are_one_that_is_wider() {
        for delay in [0, 1, 2, 3, 7, 100] {
            for start in 0..600 {
                let counter = Interrupted { time: Cell::new(start), rounds: Cell::new(0), delay };
                counter.tick();
                let (before, now) = (counter.time.get(), counter.now());
                let after = counter.time.get();
                assert!((before..=after).contains(&now), "{now} between {before} and {after}");
                // Longer than the narrow counter's range.
                counter.time.set(after + 70_000);
                counter.tick();
                let took = counter.now() - now;
                assert!((70_000..70_020).contains(&took), "{took} instead of 70 000");
            }
        }
    }

    #[test]
    fn a_delay_is_as_long_as_asked_though_the_counter_wraps() {
        for us in [0, 1, 2, 100, 255, 256, 1_000, 70_000] {
            let mut delay = CounterDelay::new(Looked(Cell::new(0)));
            delay.delay_us(us);
            // One look to begin, and an interval that is cut by the looks.
            let waited = delay.0.0.get() - 3;
            assert!((us + 1..us + 5).contains(&waited), "{waited} instead of {us} us");
        }
    }

    #[test]
    fn ticks_are_rounded_up() {
        assert_eq!(ticks::<Looked>(1, 1_000_000_000), 2);
        assert_eq!(ticks::<Looked>(1_000, 1_000_000_000), 2);
        assert_eq!(ticks::<Looked>(1_001, 1_000_000_000), 3);
        assert_eq!(ticks::<Looked>(u32::MAX, 1_000), u64::from(u32::MAX) * 1_000 + 1);
    }
}
