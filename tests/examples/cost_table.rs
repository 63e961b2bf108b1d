//! Prints what the filter costs on every emulated board, as Markdown:
//! `cargo run --release -p fishweir-tests --example cost_table > firmware/COSTS.md`

use fishweir::device::{BOARDS, DeviceError};
use fishweir_tests::cost_table::{measure_boards, page};

fn main() -> Result<(), DeviceError> {
    print!("{}", page(&measure_boards(BOARDS.iter())?));
    Ok(())
}
