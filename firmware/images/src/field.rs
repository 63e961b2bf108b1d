//! `field` on the chosen board: classifies a stream by a model that can be replaced over the same line.
#![no_std]
#![no_main]

use fishweir_device::applications::field::{Settings, field};
use fishweir_device::update::Anyone;
use fishweir_firmware::boards::Parts;
use fishweir_firmware::drivers::flash;
use fishweir_firmware::image::{self, entry};
use fishweir_model as model;

#[entry]
fn main() -> ! {
    let Parts { mut serial, meter, .. } = image::start("field");
    let built_in = image::expect(model::load(), "the model was refused");
    let mut memory = [0; flash::MAPPED_WORDS];
    let flash = image::expect(flash::take_mapped(&mut memory), "no flash for updates");
    // With the feature `fishweir-device/ed25519`, `Ed25519(KEY)` in place of `Anyone` takes signed updates alone.
    let windows = model::windows(built_in);
    let done = field(&mut serial, flash, Anyone, &meter, windows, &Settings::DEFAULT);
    image::finish(done, "the stream broke off")
}
