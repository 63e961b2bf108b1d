//! Output of the program: by defmt over RTT, which a debug probe reads. Without a probe it is lost, and nothing waits for it.

use defmt_rtt as _;
use fishweir_core::classify::Decision;
{{button?}}use fishweir_core::wire::TeachStatus;

use crate::fault::{Cause, Fault};
use crate::self_test::Difference;

{{report_fault}}
/// Every decision of the self-test has the host's bits.
pub fn tested(samples: usize) {
    defmt::info!("self-test: {=usize} samples, every bit as on the host", samples);
}

/// A decision of the self-test has not.
pub fn differs(difference: &Difference) {
    defmt::error!(
        "self-test: FAILED at sample {=usize} of stream {=usize}: margin {=u32:#010x}, on the host {=u32:#010x}",
        difference.sample,
        difference.stream,
        difference.margin,
        difference.expected
    );
}

/// Reports a decision, with the bits of the margin: the host computes the same bits. For a recording, also the true class.
pub fn decision(samples: usize, class: &str, decision: &Decision, truth: Option<&str>) {
    defmt::info!(
        "{=usize} samples: {=str} leads by {=f32} ({=u32:#010x})",
        samples,
        class,
        decision.margin,
        decision.margin.to_bits()
    );
    if let Some(truth) = truth {
        defmt::info!("  recorded as {=str}: {=str}", truth, if truth == class { "right" } else { "WRONG" });
    }
}

/// Reports the version of the model that runs: 0 for that of the image.
#[allow(dead_code)]
pub fn version(version: u32) {
    defmt::info!("model version {=u32}", version);
}

/// Reports the number of right decisions on recordings.
#[allow(dead_code)]
pub fn right(right: usize, of: usize) {
    if of > 0 {
        defmt::info!("{=usize} of {=usize} decisions on recordings are right", right, of);
    }
}
{{lessons?}}
{{lessons?}}/// Reports the number of taught classes.
{{lessons?}}pub fn taught(count: usize) {
{{lessons?}}    defmt::info!("taught classes: {=usize}", count);
{{lessons?}}}
{{button?}}
{{button?}}/// Reports the beginning of a lesson, or its end, and the outcome.
{{button?}}pub fn lesson(status: TeachStatus, begins: bool) {
{{button?}}    let what = if begins { "begins" } else { "ends" };
{{button?}}    defmt::info!("a lesson {=str}: {}", what, defmt::Display2Format(&status));
{{button?}}}
