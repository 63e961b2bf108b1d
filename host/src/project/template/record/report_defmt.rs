//! Output of the program: by defmt over RTT, which a debug probe reads. Without a probe it is lost, and nothing waits for it.

use defmt_rtt as _;

use crate::fault::{Cause, Fault};

{{report_fault}}
