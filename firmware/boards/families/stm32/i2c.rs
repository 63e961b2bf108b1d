//! The I2C bus: {{i2c}} on {{sda}} and {{scl}}, at 400 kHz, with the pull-ups of the sensor's board.

use embassy_stm32::Peripherals;
use embassy_stm32::i2c::{Config, I2c, Master};
use embassy_stm32::mode::Blocking;
use embassy_stm32::time::Hertz;

/// The bus.
pub type Bus = I2c<'static, Blocking, Master>;

/// Takes the bus.
pub fn take() -> Option<Bus> {
    // SAFETY: nothing else takes what is taken here.
    let parts = unsafe { Peripherals::steal() };
    let mut config = Config::default();
    config.frequency = Hertz(400_000);
    Some(I2c::new_blocking(parts.{{i2c}}, parts.{{scl}}, parts.{{sda}}, config))
}
