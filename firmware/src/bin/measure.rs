//! What every recursion costs, on the MPS2+ AN386.
#![no_std]
#![no_main]

use fishweir_firmware::boards::mps2_an386::Mps2An386;

#[cortex_m_rt::entry]
fn main() -> ! {
    fishweir_firmware::measure::run::<Mps2An386>()
}
