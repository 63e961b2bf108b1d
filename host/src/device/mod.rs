//! The device: builds the firmware with a model in it, runs it under QEMU, streams samples to it.
//!
//! | file | what |
//! |---|---|
//! | `board_file.rs` | a board's folder: `board.toml`, memories, sources |
//! | `chip.rs` | a chip of a known family, as a board's folder would have it |
//! | `board.rs` | [`BOARDS`]: what there is to build for and to run on |
//! | `firmware.rs` | [`Firmware`]: cargo builds an [`Image`] around a model |
//! | `c_library/` | [`C_CORES`]: the C interface as a folder for gcc, Arduino and Zephyr |
//! | `micropython/` | [`MODULE_ARCHITECTURES`]: native modules of MicroPython as a folder |
//! | `qemu.rs` | [`Qemu`]: an emulated board that runs an image |
//! | `session.rs` | [`converse`]: samples out, answers in, over any pair of byte streams |
//! | `contract.rs` | [`ask_contract`]: what a device was trained on |
//! | `counts.rs` | [`collect_counts`]: expected counts of recordings, of a device that keeps its samples |
//! | `counts_log.rs` | [`CountsLog`]: the same from a file of what a device sent |
//! | `dialogue.rs` | [`Dialogue`], [`FramedLines`]: requests out, lines of text in, for applications that answer so |
//! | `update.rs` | [`send_update`]: a new model for a device in the field |
//! | `port.rs` | [`Port`]: a serial port of this machine, or a bridge to one |
//! | `serial_file.rs` | serial ports of a program on WASI |
//! | `port_lines.rs` | [`exchange_at_port`]: a dialogue at a port, a piece at a time |
//! | `recording.rs` | [`SampleListener`]: samples that a device measures, as takes |
//! | `recording_file.rs` | [`RecordingFile`]: the table that takes are kept in |
//! | `pace.rs` | when a question is repeated, and a sample sent |
//! | `line.rs` | frames of the core's [`wire`](fishweir_core::wire) over byte streams |
//!
//! ```no_run
//! use std::path::Path;
//! use fishweir::device::{Board, Firmware, Input, ModelFile, Options, Qemu};
//!
//! # fn main() -> Result<(), fishweir::device::DeviceError> {
//! let model = ModelFile::Source(Path::new("gait.rs"));
//! let image = Firmware::in_repository()?
//!     .build(Board::named(Board::default_name())?, "classify_stream", model, Path::new("gait.elf"))?;
//! let samples = [[0.1f32, 0.0, 9.8]; 100];
//! let inputs = samples.iter().map(|sample| Input::Vector(sample));
//! let run = Qemu::start(&image)?.run(inputs, &Options::default(), |_| ())?;
//! println!("{} instructions per sample", run.instructions_per_sample().unwrap_or(f64::NAN));
//! # Ok(()) }
//! ```

mod board;
mod board_file;
mod c_library;
mod chip;
mod contract;
mod counts;
mod counts_log;
mod dialogue;
mod error;
mod firmware;
mod line;
mod micropython;
mod pace;
mod port;
mod port_lines;
mod qemu;
mod recording;
mod recording_file;
#[cfg(target_family = "wasm")]
mod serial_file;
mod session;
mod update;

pub(crate) use board::Emulator;
pub use board::{BOARDS, Board, Clock};
pub use board_file::BoardError;
pub(crate) use board_file::{BoardFolder, FOLDERS, PowerFile, UpdateFile, kept, with_flash};
pub use c_library::{C_CORES, C_PREFIX, CCore, check_c_prefix};
pub use chip::ChipError;
pub use contract::ask_contract;
pub use counts::{CountsAssembly, collect_counts};
pub use counts_log::{CountsError, CountsLog};
pub use dialogue::{Dialogue, FramedLines};
pub use error::DeviceError;
pub use firmware::{Firmware, Image, ModelFile, Sections};
pub use micropython::{MODULE_ARCHITECTURES, ModuleArchitecture};
pub use port::Port;
pub use port_lines::{LinePiece, exchange_at_port};
pub use qemu::{Ending, Qemu, Run};
pub use recording::{MeasuredPeriod, SampleListener, Take, check_names};
pub use recording_file::{RecordingError, RecordingFile, WrittenTake};
pub use session::{Answer, DeviceInfo, DeviceReport, Input, Outcome, TaughtState, converse};
pub use update::send_update;

/// Options for running a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Longest silence of the device before the host gives up.
    pub patience: std::time::Duration,
    /// Time before a question that the line may have lost is repeated.
    pub retry: std::time::Duration,
    /// Largest number of samples that wait for their answers; `None` for a line with flow control. A serial port of a board
    /// has little buffer: one.
    pub ahead: Option<std::num::NonZeroUsize>,
    /// `true` if the device ends when all is answered: an emulated one does; a board goes on.
    pub ends_device: bool,
}

impl Options {
    /// Those of a board at a serial port: a sample waits for the answer to the one before, and the board goes on.
    pub fn of_board() -> Self {
        Self { ahead: Some(std::num::NonZeroUsize::MIN), ends_device: false, ..Self::default() }
    }
}

impl Default for Options {
    /// Those of an emulated device: thirty seconds of patience, half a second before a question is repeated.
    fn default() -> Self {
        use std::time::Duration;
        let (patience, retry) = (Duration::from_secs(30), Duration::from_millis(500));
        Self { patience, retry, ahead: None, ends_device: true }
    }
}
