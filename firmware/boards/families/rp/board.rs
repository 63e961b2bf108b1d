//! {{board}}: the LED is lit while a class other than the first leads.

{{button?}}use embassy_rp::gpio::{Input, Pull};
use embassy_rp::gpio::{Level, Output};
use embassy_rp::watchdog::Watchdog;
{{clock}}
{{alarm?}}use fishweir_device::alarm::Alarm;
{{entry_use}}
{{block?}}
{{block?}}use crate::sleep::block_on;

/// Time between two samples.
const PERIOD: Duration = Duration::from_micros({{period}});

/// Time without a sample after which the board is reset.
const PATIENCE: Duration = Duration::from_secs(2);

/// The board.
pub struct Board {
    /// Lit when high.
    led: Output<'static>,
{{button?}}    /// {{button}}: low while it is held.
{{button?}}    button: Input<'static>,
    watchdog: Watchdog,
{{alarm?}}    /// {{alarm}}: high while an alarm is raised.
{{alarm?}}    pub alarm: Alarm<Output<'static>>,
    {{pace_field}}
}

impl Board {
    /// Takes the board's peripherals.
    pub fn new() -> Self {
        let parts = embassy_rp::init(embassy_rp::config::Config::default());
        let mut watchdog = Watchdog::new(parts.WATCHDOG);
        watchdog.start(PATIENCE);
{{alarm?}}        let Ok(alarm) = Alarm::new(Output::new(parts.{{alarm}}, Level::Low));
        Self {
            led: Output::new(parts.{{led}}, Level::Low),
{{button?}}            button: Input::new(parts.{{button}}, Pull::Up),
            watchdog,
{{alarm?}}            alarm,
            {{pace_start}}
        }
    }

{{wait}}

{{button?}}    /// Returns whether the button is held.
{{button?}}    pub fn is_held(&self) -> bool {
{{button?}}        self.button.is_low()
{{button?}}    }
{{button?}}
    /// Shows a class.
    pub fn show(&mut self, class: usize) {
        self.led.set_level(if class == 0 { Level::Low } else { Level::High });
    }

    /// The recordings have been played: they begin again.
    pub fn end_of_recordings(&mut self) {}

    /// Ends a program that cannot go on: stands still, the LED lit.
    pub fn give_up(&mut self) -> ! {
        self.led.set_high();
        loop {
            self.feed();
        }
    }

    /// Tells the watchdog that all is well.
    pub fn feed(&mut self) {
        self.watchdog.feed(PATIENCE);
    }
}

/// Begins the program anew; RAM stays as it is.
pub fn reset() -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}
