//! Cost of every recursion on the chosen board.
#![no_std]
#![no_main]

use fishweir_firmware::boards::Parts;
use fishweir_firmware::image::{self, entry};
use fishweir_firmware::measure::recursions;

#[entry]
fn main() -> ! {
    let Parts { serial, meter, .. } = image::start("measure");
    image::finish(recursions(serial, meter), "the table broke off")
}
