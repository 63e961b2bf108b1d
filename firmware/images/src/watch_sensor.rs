//! `watch_sensor` on the chosen board, its sensor at the other end of the serial port: the boards under
//! QEMU have none. On a board that has one, `bridge.i2c()` and `bridge.delay()` are the HAL's, and the
//! output is the serial port.
#![no_std]
#![no_main]

use fishweir_core::filter::Stream;
use fishweir_device::applications::watch_sensor::{Accelerometer, Sa0Pad, watch_sensor};
use fishweir_firmware::boards::Parts;
use fishweir_firmware::drivers::bridge::Bridge;
use fishweir_firmware::image::{self, entry};
use fishweir_model::{self as model, CLASSES};

#[entry]
fn main() -> ! {
    let Parts { serial, mut alarm, .. } = image::start("watch_sensor");
    let model = image::expect(model::load(), "the model was refused");
    let bridge = Bridge::new(serial);
    let outcome = watch_sensor(
        &mut Accelerometer::new(bridge.i2c(), Sa0Pad::High),
        &mut bridge.delay(),
        &mut bridge.output(),
        &mut Stream::new(model::windows(model)),
        &CLASSES,
        &mut alarm,
        || bridge.is_open(),
    );
    image::finish(outcome.and_then(|_| bridge.check()), "the bridge broke")
}
