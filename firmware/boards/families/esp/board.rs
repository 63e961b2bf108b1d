//! {{board}}: an LED at {{led}} is lit while a class other than the first leads.

{{clock}}
{{button?}}use esp_hal::gpio::{Input, InputConfig, Pull};
use esp_hal::gpio::{Level, Output, OutputConfig};
use esp_hal::peripherals::TIMG1;
use esp_hal::timer::timg::{MwdtStage, TimerGroup, Wdt};
{{alarm?}}use fishweir_device::alarm::Alarm;
{{entry_use}}
{{block?}}
{{block?}}use crate::sleep::block_on;

/// Time between two samples.
const PERIOD: Duration = Duration::from_micros({{period}});

// What the second-stage boot loader looks for.
esp_bootloader_esp_idf::esp_app_desc!();

/// Time without a sample after which the board is reset.
const PATIENCE: esp_hal::time::Duration = esp_hal::time::Duration::from_secs(2);

/// The board.
pub struct Board {
    /// Lit when high.
    led: Output<'static>,
{{button?}}    /// {{button}}: low while it is held.
{{button?}}    button: Input<'static>,
    watchdog: Wdt<TIMG1<'static>>,
{{alarm?}}    /// {{alarm}}: high while an alarm is raised.
{{alarm?}}    pub alarm: Alarm<Output<'static>>,
    {{pace_field}}
}

impl Board {
    /// Takes the board's peripherals.
    pub fn new() -> Self {
        let parts = esp_hal::init(esp_hal::Config::default());
        {{executor}}
        let mut watchdog = TimerGroup::new(parts.TIMG1).wdt;
        watchdog.set_timeout(MwdtStage::Stage0, PATIENCE);
        watchdog.enable();
{{alarm?}}        let Ok(alarm) =
{{alarm?}}            Alarm::new(Output::new(parts.{{alarm}}, Level::Low, OutputConfig::default()));
        Self {
            led: Output::new(parts.{{led}}, Level::Low, OutputConfig::default()),
{{button?}}            button: Input::new(parts.{{button}}, InputConfig::default().with_pull(Pull::Up)),
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
        self.watchdog.feed();
    }
}

/// Begins the program anew; RAM that start-up code leaves alone stays as it is.
pub fn reset() -> ! {
    esp_hal::system::software_reset()
}
