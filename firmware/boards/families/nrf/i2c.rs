//! The I2C bus: {{i2c}} on {{sda}} and {{scl}}, at 400 kHz, with the pull-ups of the sensor's board.

use embassy_nrf::peripherals::{{i2c}};
use embassy_nrf::twim::{Config, Frequency, InterruptHandler, Twim};
use embassy_nrf::{Peripherals, bind_interrupts};

bind_interrupts!(struct Interrupts { {{i2c}} => InterruptHandler<{{i2c}}>; });

/// The bus.
pub type Bus = Twim<'static>;

/// Takes the bus.
pub fn take() -> Option<Bus> {
    // SAFETY: nothing else takes what is taken here.
    let parts = unsafe { Peripherals::steal() };
    let mut config = Config::default();
    config.frequency = Frequency::K400;
    // What is sent lies in RAM: drivers keep it on the stack.
    Some(Twim::new(parts.{{i2c}}, Interrupts, parts.{{sda}}, parts.{{scl}}, config, &mut []))
}
