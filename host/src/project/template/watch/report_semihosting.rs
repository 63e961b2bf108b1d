//! Output of the program: through semihosting, which an emulator serves. Without an emulator it would stop the core.

use semihosting::println;

use crate::fault::{Cause, Fault};
use crate::self_test::Difference;
use crate::stream::Found;

{{report_fault}}
/// The self-test has the host's bits.
pub fn tested(samples: usize) {
    println!("self-test: {samples} samples, every bit as on the host");
}

/// The self-test differs from the host.
pub fn differs(difference: &Difference) {
    let Difference { stream, sample } = difference;
    println!("self-test: FAILED at sample {sample} of stream {stream}: the host finds something else");
}

/// Reports what was found, with the bits of its value: the host computes the same bits.
pub fn found(found: &Found) {
    // Formatting a float costs 25 kB of flash; thousandths say as much.
    let ([start, end], value) = (found.place(), found.value());
    let (sign, thousandths) = (if value < 0.0 { "-" } else { "" }, (value.abs() * 1000.0) as u32);
    println!(
        "{} {start} to {end}: {sign}{}.{:03} ({:#010x})",
        found.name(),
        thousandths / 1000,
        thousandths % 1000,
        value.to_bits()
    );
}
