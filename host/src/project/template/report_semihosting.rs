//! Output of the program: through semihosting, which an emulator serves. Without an emulator it would stop the core.

use fishweir_core::classify::Decision;
{{button?}}use fishweir_core::wire::TeachStatus;
use semihosting::println;

use crate::fault::{Cause, Fault};
use crate::self_test::Difference;

{{report_fault}}
/// Every decision of the self-test has the host's bits.
pub fn tested(samples: usize) {
    println!("self-test: {samples} samples, every bit as on the host");
}

/// A decision of the self-test has not.
pub fn differs(difference: &Difference) {
    let Difference { stream, sample, margin, expected } = difference;
    println!(
        "self-test: FAILED at sample {sample} of stream {stream}: margin {margin:#010x}, on the host {expected:#010x}"
    );
}

/// Reports a decision, with the bits of the margin: the host computes the same bits. For a recording, also the true class.
pub fn decision(samples: usize, class: &str, decision: &Decision, truth: Option<&str>) {
    // Formatting a float costs 25 kB of flash; thousandths say as much.
    let thousandths = (decision.margin * 1000.0) as u32;
    println!(
        "{samples} samples: {class} leads by {}.{:03} ({:#010x})",
        thousandths / 1000,
        thousandths % 1000,
        decision.margin.to_bits()
    );
    if let Some(truth) = truth {
        println!("  recorded as {truth}: {}", if truth == class { "right" } else { "WRONG" });
    }
}

/// Reports the version of the model that runs: 0 for that of the image.
#[allow(dead_code)]
pub fn version(version: u32) {
    println!("model version {version}");
}

/// Reports the number of right decisions on recordings.
#[allow(dead_code)]
pub fn right(right: usize, of: usize) {
    if of > 0 {
        println!("{right} of {of} decisions on recordings are right");
    }
}
{{lessons?}}
{{lessons?}}/// Reports the number of taught classes.
{{lessons?}}pub fn taught(count: usize) {
{{lessons?}}    println!("taught classes: {count}");
{{lessons?}}}
{{button?}}
{{button?}}/// Reports the beginning of a lesson, or its end, and the outcome.
{{button?}}pub fn lesson(status: TeachStatus, begins: bool) {
{{button?}}    println!("a lesson {}: {status}", if begins { "begins" } else { "ends" });
{{button?}}}
