//! The I2C bus: {{i2c}} on {{sda}} and {{scl}}, at 400 kHz, with the pull-ups of the sensor's board.

use embassy_rp::Peripherals;
use embassy_rp::i2c::{Blocking, Config, I2c};
use embassy_rp::peripherals::{{i2c}};

/// The bus.
pub type Bus = I2c<'static, {{i2c}}, Blocking>;

/// Takes the bus.
pub fn take() -> Option<Bus> {
    // SAFETY: nothing else takes what is taken here.
    let parts = unsafe { Peripherals::steal() };
    let mut config = Config::default();
    config.frequency = 400_000;
    Some(I2c::new_blocking(parts.{{i2c}}, parts.{{scl}}, parts.{{sda}}, config))
}
