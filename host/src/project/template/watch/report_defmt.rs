//! Output of the program: by defmt over RTT, which a debug probe reads. Without a probe it is lost, and nothing waits for it.

use defmt_rtt as _;

use crate::fault::{Cause, Fault};
use crate::self_test::Difference;
use crate::stream::Found;

{{report_fault}}
/// The self-test has the host's bits.
pub fn tested(samples: usize) {
    defmt::info!("self-test: {=usize} samples, every bit as on the host", samples);
}

/// The self-test differs from the host.
pub fn differs(difference: &Difference) {
    defmt::error!(
        "self-test: FAILED at sample {=usize} of stream {=usize}: the host finds something else",
        difference.sample,
        difference.stream
    );
}

/// Reports what was found, with the bits of its value: the host computes the same bits.
pub fn found(found: &Found) {
    let ([start, end], value) = (found.place(), found.value());
    defmt::info!(
        "{=str} {=u32} to {=u32}: {=f32} ({=u32:#010x})",
        found.name(),
        start,
        end,
        value,
        value.to_bits()
    );
}
