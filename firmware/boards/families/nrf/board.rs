//! {{board}}: LED 1 is lit while a class other than the first leads.

{{button?}}use embassy_nrf::gpio::{Input, Pull};
use embassy_nrf::gpio::{Level, Output, OutputDrive};
use embassy_nrf::wdt::{Config, Watchdog, WatchdogHandle};
{{clock}}
{{alarm?}}use fishweir_device::alarm::Alarm;
{{entry_use}}
{{block?}}
{{block?}}use crate::sleep::block_on;

/// Time between two samples.
const PERIOD: Duration = Duration::from_micros({{period}});

/// The board.
pub struct Board {
    /// Lit when low.
    led: Output<'static>,
{{button?}}    /// {{button}}: low while it is held.
{{button?}}    button: Input<'static>,
    watchdog: WatchdogHandle,
{{alarm?}}    /// {{alarm}}: high while an alarm is raised.
{{alarm?}}    pub alarm: Alarm<Output<'static>>,
    {{pace_field}}
}

impl Board {
    /// Takes the board's peripherals.
    pub fn new() -> Self {
        let parts = embassy_nrf::init(embassy_nrf::config::Config::default());
        let mut config = Config::default();
        // In ticks of 32 768 Hz: two seconds.
        config.timeout_ticks = 2 * 32_768;
        let Ok((_, [watchdog])) = Watchdog::try_new(parts.WDT, config) else {
            // It runs on through a reset by software, and cannot be set anew; a reset by pin stops it.
            defmt::panic!("the watchdog runs with other settings")
        };
{{alarm?}}        let Ok(alarm) = Alarm::new(Output::new(parts.{{alarm}}, Level::Low, OutputDrive::Standard));
        Self {
            led: Output::new(parts.{{led}}, Level::High, OutputDrive::Standard),
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
        self.led.set_level(if class == 0 { Level::High } else { Level::Low });
    }

    /// The recordings have been played: they begin again.
    pub fn end_of_recordings(&mut self) {}

    /// Ends a program that cannot go on: stands still, the LED lit.
    pub fn give_up(&mut self) -> ! {
        self.led.set_low();
        loop {
            self.feed();
        }
    }

    /// Tells the watchdog that all is well.
    pub fn feed(&mut self) {
        self.watchdog.pet();
    }
}

/// Begins the program anew; RAM stays as it is.
pub fn reset() -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}
