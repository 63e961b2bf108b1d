//! {{board}} as QEMU emulates it: start-up code, and nothing of its peripherals.

{{alarm?}}use core::convert::Infallible;
{{polled?}}use core::future::poll_fn;
{{polled?}}use core::task::Poll;

{{alarm?}}use embedded_hal::digital::{ErrorType, OutputPin};
{{alarm?}}use fishweir_device::alarm::Alarm;
{{entry_use}}
{{alarm?}}use semihosting::println;
use semihosting::process;

{{paced?}}/// Time between two samples, in nanoseconds.
{{paced?}}const PERIOD: u64 = {{period_ns}};

/// The board.
pub struct Board {
{{paced?}}    /// When the next sample is due, by the clock of the machine that emulates.
{{paced?}}    due: u64,
{{alarm?}}    /// High while an alarm is raised.
{{alarm?}}    pub alarm: Alarm<RecordedPin>,
}

impl Board {
    /// The board: nothing of it is used.
    pub fn new() -> Self {
{{alarm?}}        let Ok(alarm) = Alarm::new(RecordedPin { is_high: false });
        Self {
{{paced?}}            due: 0,
{{alarm?}}            alarm,
        }
    }

{{wait}}

    /// Feeds the watchdog; this board has none.
    pub fn feed(&mut self) {}

    /// Shows a class; this board has no display.
    pub fn show(&mut self, _class: usize) {}

    /// The recordings have been played, and the emulator is left.
    pub fn end_of_recordings(&mut self) {
        process::exit(0)
    }

    /// Ends a program that cannot go on.
    pub fn give_up(&mut self) -> ! {
        process::exit(1)
    }
}
{{alarm?}}
{{alarm?}}/// A pin that writes its changes to the output: the emulator has none to be looked at.
{{alarm?}}pub struct RecordedPin {
{{alarm?}}    is_high: bool,
{{alarm?}}}
{{alarm?}}
{{alarm?}}impl RecordedPin {
{{alarm?}}    fn put(&mut self, is_high: bool) -> Result<(), Infallible> {
{{alarm?}}        if is_high != self.is_high {
{{alarm?}}            self.is_high = is_high;
{{alarm?}}            println!("alarm pin {}", if is_high { "high" } else { "low" });
{{alarm?}}        }
{{alarm?}}        Ok(())
{{alarm?}}    }
{{alarm?}}}
{{alarm?}}
{{alarm?}}impl ErrorType for RecordedPin {
{{alarm?}}    type Error = Infallible;
{{alarm?}}}
{{alarm?}}
{{alarm?}}impl OutputPin for RecordedPin {
{{alarm?}}    fn set_low(&mut self) -> Result<(), Infallible> {
{{alarm?}}        self.put(false)
{{alarm?}}    }
{{alarm?}}
{{alarm?}}    fn set_high(&mut self) -> Result<(), Infallible> {
{{alarm?}}        self.put(true)
{{alarm?}}    }
{{alarm?}}}

{{reset}}
