//! Cost of the filter on the chosen board, by size, emission and type of number.
#![no_std]
#![no_main]

use fishweir_firmware::boards::Parts;
use fishweir_firmware::image::{self, entry};
use fishweir_firmware::measure::costs;

#[entry]
fn main() -> ! {
    let Parts { serial, delay, meter, .. } = image::start("costs");
    image::finish(costs(serial, delay, meter), "the table broke off")
}
