//! `spot_events` on the chosen board: samples in over its serial port, events out.
#![no_std]
#![no_main]

use fishweir_device::applications::spot_events::spot_events;
use fishweir_firmware::boards::Parts;
use fishweir_firmware::image::{self, entry};
use fishweir_model::{self as model, CLASSES};

#[entry]
fn main() -> ! {
    let Parts { mut serial, meter, mut alarm, .. } = image::start("spot_events");
    let spotter = image::expect(model::load(), "the model was refused");
    let done = spot_events(&mut serial, &meter, spotter, &CLASSES, &mut alarm);
    image::finish(done, "the stream broke off")
}
