//! Output of the program: through semihosting, which an emulator serves. Without an emulator it would stop the core.

use semihosting::println;

use crate::fault::{Cause, Fault};

{{report_fault}}
