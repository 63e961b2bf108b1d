//! `adapt` on the chosen board: a model that follows the stream and survives a reset; with the feature `counts` one that stays, and
//! whose expected counts the host collects.
#![no_std]
#![no_main]

use fishweir_device::applications::adapt::{Bank, Settings, adapt};
use fishweir_firmware::boards::{Board, Parts, Selected};
use fishweir_firmware::image::{self, entry};
use fishweir_model::{self as model, Model};

#[entry]
fn main() -> ! {
    let Parts { mut serial, meter, .. } = image::start("adapt");
    let bank = image::expect(model::load(), "the model was refused");
    let flash = image::expect(Selected::flash(), "no flash to save to");
    let mut buffer = [0; <Model as Bank>::BUFFER_WORDS];
    let settings = if cfg!(feature = "counts") { Settings::COUNTS } else { Settings::DEFAULT };
    let done = adapt(&mut serial, flash, &meter, bank, &settings, &mut buffer);
    image::finish(done, "the stream broke off")
}
