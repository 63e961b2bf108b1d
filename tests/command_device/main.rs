//! The command `fishweir` where it builds firmware, projects or libraries for C, and where QEMU runs them. QEMU, the
//! targets and gcc must be there. A test target of its own, beside the quick tests of `command`.

mod boards;
mod c;
mod contract;
mod emission;
#[cfg(unix)]
mod field;
#[cfg(unix)]
mod kinds;
mod network;
mod new;
mod pages;
#[cfg(unix)]
mod record;
mod replay;
mod run;
#[path = "../command/shared/mod.rs"]
mod shared;
#[cfg(unix)]
mod teach;
mod ten_lines;
#[cfg(unix)]
mod terminal;

use shared::{PROGRAM, Run, fishweir, fixtures, json, printed};
