//! What the recursions cost on a device: the firmware's images `measure` and `costs`, run under QEMU.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use fishweir::device::{Board, DeviceError, Firmware, Qemu};

use crate::call_graph::CallGraph;

// Host and firmware do not depend on each other; they share these files, which depend on neither.
#[path = "../../firmware/src/measure/bits.rs"]
pub mod bits;
#[path = "../../firmware/src/measure/record.rs"]
pub mod record;

use record::{LENGTH, Measurement};

/// Instructions a sample of the same recursion written by hand: name of the row, assembly if there is any, plain
/// C. The filter in C inverts one matrix per sample.
pub const BY_HAND: [(&str, Option<f64>, f64); 7] = [
    ("forward, N=2", Some(40.0), 122.0),
    ("forward, N=4", Some(71.0), 174.0),
    ("forward, N=8", Some(181.0), 319.0),
    ("forward and a tangent, N=2", Some(73.0), 167.0),
    ("forward and a tangent, N=4", Some(159.0), 285.0),
    ("forward and a tangent, N=8", Some(500.0), 726.0),
    ("Kalman, N=4 D=3", None, 946.0),
];

/// What one recursion costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was measured.
    pub name: String,
    /// Instructions per sample, the loop around the push subtracted.
    pub instructions: f64,
    /// Bytes of the model.
    pub model_bytes: u32,
    /// Bytes of the state, or of the buffers lent.
    pub state_bytes: u32,
    /// Deepest stack in bytes, below the caller that keeps the state.
    pub stack_bytes: u32,
    /// Bytes of the code that pushes and of all that it calls; 0 where it is not one function.
    pub code_bytes: u64,
    /// Of what was read, where it was not measured but hashed; else 0.
    pub digest: u32,
}

impl Row {
    fn new(record: &Measurement, calls: &CallGraph) -> Self {
        let name = record.name.split(|&byte| byte == 0).next().unwrap_or_default();
        // An instruction is a nanosecond of the emulator's time.
        let instructions_per_tick = 1e9 / f64::from(record.ticks_per_second);
        let ticks = f64::from(record.ticks) - f64::from(record.empty_ticks);
        Self {
            name: String::from_utf8_lossy(name).into_owned(),
            instructions: ticks * instructions_per_tick / f64::from(record.samples),
            model_bytes: record.model_bytes,
            state_bytes: record.state_bytes,
            stack_bytes: record.stack_bytes,
            code_bytes: calls.reachable_bytes(record.code),
            digest: record.digest,
        }
    }

    /// Instructions a sample of hand-written assembly and of plain C, where there are such.
    pub fn by_hand(&self) -> Option<(Option<f64>, f64)> {
        let (_, assembly, c) = BY_HAND.into_iter().find(|(name, ..)| *name == self.name)?;
        Some((assembly, c))
    }
}

/// The firmware of this checkout. Its builds share `CARGO_TARGET_DIR` where that is set.
///
/// # Errors
/// Where the checkout is gone.
pub fn firmware() -> Result<Firmware, DeviceError> {
    let firmware = Firmware::in_repository()?;
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => firmware.with_target_folder(&PathBuf::from(folder)),
        None => Ok(firmware),
    }
}

/// Builds the image `measure` or `costs` for a board, runs it under QEMU and reads its records.
///
/// # Errors
/// When the image does not build, or the device does not answer or ends otherwise than well.
pub fn measure(board: &'static Board, binary: &str) -> Result<Vec<Row>, DeviceError> {
    let folder = tempfile::tempdir()?;
    let elf = folder.path().join("image.elf");
    let image = firmware()?.build_binary(board, binary, "measure", &elf)?;
    let sent = Qemu::start(&image)?.listen(Duration::from_secs(120))?;
    let (records, rest) = sent.as_chunks::<LENGTH>();
    let records: Vec<_> = records.iter().map(Measurement::from_bytes).collect();
    let calls = CallGraph::read(&elf)?;
    match records.split_last() {
        Some((&Measurement::END, rows)) if rest.is_empty() => {
            Ok(rows.iter().map(|record| Row::new(record, &calls)).collect())
        }
        _ => Err(DeviceError::Stopped { answers: records.len() }),
    }
}

/// The table, aligned.
pub fn table(rows: &[Row]) -> String {
    let mut table = format!(
        "{:<40}{:>13}{:>10}{:>9}{:>8}{:>7}{:>7}{:>7}\n",
        "Cortex-M4F, f32",
        "instructions",
        "assembly",
        "plain C",
        "ratio",
        "model",
        "state",
        "stack"
    );
    for row in rows {
        let hand = match row.by_hand() {
            Some((Some(assembly), c)) => {
                format!("{assembly:>10}{c:>9}{:>8.2}", row.instructions / assembly)
            }
            Some((None, c)) => format!("{:>10}{c:>9}{:>8}", "", ""),
            None => " ".repeat(27),
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "{:<40}{:>13.1}{hand}{:>7}{:>7}{:>7}",
            row.name, row.instructions, row.model_bytes, row.state_bytes, row.stack_bytes
        );
    }
    table.push_str(
        "\nInstructions a sample under QEMU (no cycles), the empty loop subtracted; 16 symbols \
         where nothing else is said;\nratio to the assembly; bytes of the model, of the state or of \
         the buffers lent, and of the deepest stack\nbelow the caller that keeps the state, slow \
         paths and reading included.\n",
    );
    table
}
