//! Cost of kernels by marginalisation, and between models, on the chosen board.
#![no_std]
#![no_main]

use fishweir_firmware::boards::Parts;
use fishweir_firmware::image::{self, entry};
use fishweir_firmware::measure::kernels;

#[entry]
fn main() -> ! {
    let Parts { serial, meter, .. } = image::start("kernel_costs");
    image::finish(kernels(serial, meter), "the table broke off")
}
