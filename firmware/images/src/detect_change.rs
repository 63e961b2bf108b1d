//! `detect_change` on the chosen board: samples in over its serial port, alarms out.
#![no_std]
#![no_main]

use fishweir_core::filter::Stream;
use fishweir_device::applications::detect_change::detect_change;
use fishweir_firmware::boards::Parts;
use fishweir_firmware::image::{self, entry};
use fishweir_model as model;

#[entry]
fn main() -> ! {
    let Parts { mut serial, mut alarm, .. } = image::start("detect_change");
    let detector = image::expect(model::load(), "the model was refused");
    let mut detector = Stream::new(detector);
    image::finish(detect_change(&mut serial, &mut detector, &mut alarm), "the stream broke off")
}
