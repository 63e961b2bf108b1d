//! `field` on the chosen board: classifies a stream by a model that can be replaced over the same line.
//!
//! It takes updates signed by the private key to the public key that `FISHWEIR_UPDATE_KEY` names when it is built. Only with
//! the feature `insecure-updates-by-anyone` it takes those of anyone who reaches the line.
#![no_std]
#![no_main]

use fishweir_device::applications::field::{Settings, field};
use fishweir_firmware::boards::{Board, Parts, Selected};
use fishweir_firmware::image::{self, entry};
use fishweir_model as model;

#[cfg(not(feature = "insecure-updates-by-anyone"))]
const TRUST: fishweir_device::update::Ed25519 =
    fishweir_device::update::Ed25519::from_hex(include_str!(env!("FISHWEIR_UPDATE_KEY_FILE")));
#[cfg(feature = "insecure-updates-by-anyone")]
const TRUST: fishweir_device::update::NoSignature = fishweir_device::update::NoSignature;

#[entry]
fn main() -> ! {
    let Parts { mut serial, meter, .. } = image::start("field");
    let built_in = image::expect(model::load(), "the model was refused");
    let mut memory = [0; Selected::MAPPED_WORDS];
    let flash = image::expect(Selected::mapped_flash(&mut memory), "no flash for updates");
    let windows = model::windows(built_in);
    let done = field(&mut serial, flash, TRUST, &meter, windows, &Settings::DEFAULT);
    image::finish(done, "the stream broke off")
}
