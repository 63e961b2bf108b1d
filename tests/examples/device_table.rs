//! Prints what every recursion costs on an emulated Cortex-M4F: instructions per sample, bytes of state
//! and of stack. `cargo run --release -p fishweir-tests --example device_table`

use fishweir::device::Board;
use fishweir_tests::device_table::{measure, table};

fn main() -> Result<(), fishweir::device::DeviceError> {
    print!("{}", table(&measure(Board::named(Board::default_name())?, "measure")?));
    Ok(())
}
