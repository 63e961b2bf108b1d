//! The device: builds the firmware with a model in it, runs it under QEMU, streams samples to it.
//!
//! | file | what |
//! |---|---|
//! | `board.rs` | [`BOARDS`]: what there is to build for and to run on |
//! | `firmware.rs` | [`Firmware`]: cargo builds an [`Image`] around a model |
//! | `c_library/` | [`C_CORES`]: the C interface as a folder for gcc, Arduino and Zephyr |
//! | `qemu.rs` | [`Qemu`]: an emulated board that runs an image |
//! | `session.rs` | [`converse`]: samples out, answers in, over any pair of byte streams |
//! | `contract.rs` | [`ask_contract`]: what a device was trained on |
//! | `counts.rs` | [`collect_counts`]: expected counts of recordings, of a device that keeps its samples |
//! | `counts_log.rs` | [`CountsLog`]: the same from a file of what a device sent |
//! | `dialogue.rs` | [`Dialogue`], [`FramedLines`]: requests out, lines of text in, for applications that answer so |
//! | `update.rs` | [`send_update`]: a new model for a device in the field |
//! | `port.rs` | [`Port`]: a serial port of this machine, or a bridge to one |
//! | `line.rs` | frames of the core's [`wire`](fishweir_core::wire) over byte streams |
//!
//! ```no_run
//! use std::path::Path;
//! use fishweir::device::{Board, Firmware, Input, ModelFile, Options, Qemu};
//!
//! # fn main() -> Result<(), fishweir::device::DeviceError> {
//! let model = ModelFile::Source(Path::new("gait.rs"));
//! let image = Firmware::in_repository()?
//!     .build(Board::named("mps2-an386")?, "classify_stream", model, Path::new("gait.elf"))?;
//! let samples = [[0.1f32, 0.0, 9.8]; 100];
//! let inputs = samples.iter().map(|sample| Input::Vector(sample));
//! let run = Qemu::start(&image)?.run(inputs, &Options::default(), |_| ())?;
//! println!("{} instructions per sample", run.instructions_per_sample().unwrap_or(f64::NAN));
//! # Ok(()) }
//! ```

mod board;
mod c_library;
mod contract;
mod counts;
mod counts_log;
mod dialogue;
mod error;
mod firmware;
mod line;
mod port;
mod qemu;
mod session;
mod update;

pub use board::{BOARDS, Board, Clock};
pub use c_library::{C_CORES, C_PREFIX, CCore, check_c_prefix};
pub use contract::ask_contract;
pub use counts::{CountsAssembly, collect_counts};
pub use counts_log::{CountsError, CountsLog};
pub use dialogue::{Dialogue, FramedLines};
pub use error::DeviceError;
pub use firmware::{Firmware, Image, ModelFile, Sections};
pub use port::Port;
pub use qemu::{Ending, Qemu, Run};
pub use session::{Answer, DeviceInfo, DeviceReport, Input, Outcome, converse};
pub use update::send_update;

/// Options for running a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Longest silence of the device before the host gives up.
    pub patience: std::time::Duration,
    /// Time before a question that the line may have lost is repeated.
    pub retry: std::time::Duration,
}

impl Default for Options {
    /// Thirty seconds of patience, half a second before a question is repeated.
    fn default() -> Self {
        use std::time::Duration;
        Self { patience: Duration::from_secs(30), retry: Duration::from_millis(500) }
    }
}
