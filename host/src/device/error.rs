//! Errors between a model and a device's answers.

use std::io;
use std::path::PathBuf;

use fishweir_core::update::UpdateError;
use fishweir_core::wire::{Exit, SampleKind, UpdateStatus, VERSION};

/// Reason why the firmware was not built, did not run, or did not answer.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum DeviceError {
    /// No firmware in the folder.
    #[error(
        "{}: there is no firmware (no Cargo.toml); name the folder `firmware` of a checkout",
        folder.display()
    )]
    NoFirmware {
        /// The folder.
        folder: PathBuf,
    },
    /// No such board.
    #[error("there is no board `{name}`; there are {known}")]
    #[strum(serialize = "unknown-board")]
    NoBoard {
        /// Requested name.
        name: String,
        /// Names that there are.
        known: String,
    },
    /// A folder of a board that is not in order.
    #[error(transparent)]
    #[strum(serialize = "bad-board")]
    BoardFile(#[from] Box<super::BoardError>),
    /// Names of the C interface cannot begin so.
    #[error("prefix `{prefix}`: {why}; name another")]
    #[strum(serialize = "bad-prefix")]
    Prefix {
        /// Requested prefix.
        prefix: String,
        /// Fault of the prefix.
        why: &'static str,
    },
    /// A file could not be read or written.
    #[error("{}: {what}: {source}", path.display())]
    #[strum(serialize = "file-failed")]
    File {
        /// The file.
        path: PathBuf,
        /// Operation that failed.
        what: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A program that is needed could not be started.
    #[error("{program}: {source}; {hint}")]
    #[strum(serialize = "missing-program")]
    NoProgram {
        /// The program.
        program: String,
        /// Error of the operating system.
        source: io::Error,
        /// Remedy.
        hint: String,
    },
    /// Rust's library for the board is not installed.
    #[error("the Rust target {target} is not installed here; run: rustup target add {target}")]
    #[strum(serialize = "missing-target")]
    NoTarget {
        /// Rust's name of it.
        target: &'static str,
    },
    /// Cargo refused.
    #[error("the firmware does not build{}:\n{message}", hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default())]
    #[strum(serialize = "build-failed")]
    Build {
        /// Output of cargo.
        message: String,
        /// Remedy, if known.
        hint: Option<String>,
    },
    /// The image is no ELF file.
    #[error("{}: not an ELF image: {message}", path.display())]
    #[strum(serialize = "bad-image")]
    Image {
        /// The file.
        path: PathBuf,
        /// Fault of the image.
        message: String,
    },
    /// A serial port, or a bridge to one, could not be opened.
    #[error("{name}: {source}{hint}")]
    NoPort {
        /// Name of the port.
        name: String,
        /// Error of the operating system.
        source: io::Error,
        /// Remedy, if known.
        hint: &'static str,
    },
    /// The transport failed.
    #[error("the link to the device failed: {0}")]
    #[strum(serialize = "link-failed")]
    Link(#[from] io::Error),
    /// The device closed the stream where an answer was due.
    #[error("the device stopped after {answers} records")]
    #[strum(serialize = "device-stopped")]
    Stopped {
        /// Answers, or samples, received.
        answers: usize,
    },
    /// The device was silent for longer than allowed.
    #[error("the device sent nothing for {seconds} s, after {answers} records")]
    #[strum(serialize = "device-silent")]
    Silent {
        /// Duration of the silence.
        seconds: u64,
        /// Answers, or samples, received.
        answers: usize,
    },
    /// The device did not say what it measures.
    #[error(
        "the device did not describe its channels within {seconds} s; check that it runs the application `record`, and the \
         bits per second of the port"
    )]
    NotDescribed {
        /// Duration of the wait.
        seconds: u64,
    },
    /// The device restarted while its samples were recorded.
    #[error("the device restarted after {samples} samples")]
    #[strum(serialize = "device-restarted")]
    Restarted {
        /// Samples recorded before.
        samples: usize,
    },
    /// A name that no channel can have.
    #[error("the name of channel {channel} is `{name}`: {why}; choose another")]
    #[strum(serialize = "bad-channel-name")]
    ChannelName {
        /// Number of the channel, from 1.
        channel: usize,
        /// Its name.
        name: String,
        /// Fault of the name.
        why: &'static str,
    },
    /// The device speaks another version of the format.
    #[error(
        "the device speaks version {found} of the wire format, this program version {VERSION}; build both from one checkout"
    )]
    #[strum(serialize = "unknown-version")]
    Version {
        /// The device's.
        found: u8,
    },
    /// A record that the format does not know.
    #[error("after {answers} records the device sent one that is not in the wire format: {what}")]
    BadRecord {
        /// Answers, or samples, received.
        answers: usize,
        /// Fault of the record.
        what: String,
    },
    /// The device reports a fault.
    #[error("after {answers} records the device reports: {what}")]
    #[strum(serialize = "device-fault")]
    Fault {
        /// Answers, or samples, received.
        answers: usize,
        /// Fault that the device reports.
        what: String,
    },
    /// The data do not have the shape of the model's samples.
    #[error(
        "sample {index}: {found}, but the model on the device takes {}",
        describe(*kind, *length)
    )]
    #[strum(serialize = "wrong-observations")]
    SampleShape {
        /// Index of the sample, from 0.
        index: usize,
        /// Description of the sample to be sent.
        found: String,
        /// Kind of samples that the device takes.
        kind: SampleKind,
        /// Values in a sample.
        length: usize,
    },
    /// The bytes to be sent are no update.
    #[error("no update to send: {0}")]
    NotAnUpdate(#[source] UpdateError),
    /// The device refuses an update.
    #[error("the device refuses the update: {why}")]
    UpdateRefused {
        /// Reason.
        why: UpdateStatus,
    },
    /// The number of answers is not the number of samples.
    #[error("{answers} answers to {samples} samples")]
    #[strum(serialize = "answers-missing")]
    Count {
        /// Answers, or samples, received.
        answers: usize,
        /// Samples and missing samples sent.
        samples: usize,
    },
    /// The emulator ended with an error, or before its time.
    #[error(
        "{what}{}; the emulator ended with {}{}{}",
        cause.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default(),
        ending(*code),
        if stderr.contains("Lockup") { LOCKED_UP } else { "" },
        if stderr.is_empty() { String::new() } else { format!(":\n{}", stderr.trim_end()) }
    )]
    #[strum(serialize = "emulator-failed")]
    Emulator {
        /// Time of the failure.
        what: &'static str,
        /// Error that the host noticed first.
        cause: Option<Box<DeviceError>>,
        /// The exit code; `None` where it was killed.
        code: Option<i32>,
        /// Output of the emulator.
        stderr: String,
    },
}

crate::kinds!(DeviceError,
    Self::NotAnUpdate(error) => error,
);

/// Likely meaning of a core that faults while it handles a fault.
const LOCKED_UP: &str = " (the core locked up: most likely state and stack are too large for the \
     board's RAM; see what `fishweir info` says of the model, or take a larger board)";

fn describe(kind: SampleKind, length: usize) -> String {
    match kind {
        SampleKind::Vector => format!("vectors of {length} channels"),
        SampleKind::Symbol => String::from("symbols"),
    }
}

fn ending(code: Option<i32>) -> String {
    let Some(code) = code else { return String::from("a signal") };
    let meaning = match Exit::from_code(code) {
        Some(Exit::Done) => "the program ended as asked",
        Some(Exit::Failed) => "the model was refused, or the stream broke off",
        Some(Exit::HardFault) => "hard fault",
        Some(Exit::Panic) => "panic",
        None => "not a code of the firmware: the emulator itself failed",
    };
    format!("exit code {code} ({meaning})")
}
