//! The I2C bus: {{i2c}} on {{sda}} and {{scl}}, at 400 kHz, with the pull-ups of the sensor's board.

use esp_hal::Blocking;
use esp_hal::i2c::master::{Config, I2c};
use esp_hal::peripherals::Peripherals;
use esp_hal::time::Rate;

/// The bus.
pub type Bus = I2c<'static, Blocking>;

/// Takes the bus; `None` if its settings are refused.
pub fn take() -> Option<Bus> {
    // SAFETY: nothing else takes what is taken here.
    let parts = unsafe { Peripherals::steal() };
    let config = Config::default().with_frequency(Rate::from_khz(400));
    let bus = I2c::new(parts.{{i2c}}, config).ok()?;
    Some(bus.with_sda(parts.{{sda}}).with_scl(parts.{{scl}}))
}
