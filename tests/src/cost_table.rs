//! What the filter costs on every board: the table of `firmware/COSTS.md`.

use std::fmt::{self, Write};

use fishweir::device::{Board, DeviceError};

use crate::device_table::record::DELAY;
use crate::device_table::{Row, measure};

/// Other programs, on the Cortex-M4F: measured once under the same emulator, at `-O3`, and not by the
/// command that prints the table.
pub const PEERS: [(&str, &str); 7] = [
    ("plain C, forward, scaled, categorical N=4 K=16, float", "174 a sample"),
    ("plain C, forward in logarithms, categorical N=4 K=16, float", "1 605 a sample"),
    ("plain C, forward in logarithms, categorical N=4 K=16, double", "37 140 a sample"),
    ("plain C, Kalman filter, one matrix inverted, N=4 D=3, float", "946 a sample"),
    ("CMSIS-DSP, SVM with a Gaussian kernel, 24 features, 65 support vectors", "14 746 a window"),
    ("emlearn, random forest of 100 trees, inline", "1 284 a window"),
    ("the features of that forest", "109 a sample"),
];

/// What a board's filters cost.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardCosts {
    /// The board.
    pub board: &'static Board,
    /// Instructions that a delay of a millisecond took: a million, since QEMU runs one a nanosecond.
    pub delay: f64,
    /// Hashes of what streams were read as, by name.
    pub digests: Vec<(String, u32)>,
    /// A row a filter, named `emission, N=.., K=.. or D=.., C=.., number`.
    pub rows: Vec<Row>,
}

/// Measures some boards.
///
/// # Errors
/// As [`measure`].
pub fn measure_boards(
    boards: impl IntoIterator<Item = &'static Board>,
) -> Result<Vec<BoardCosts>, DeviceError> {
    let costs = |board| {
        let mut rows = measure(board, "costs")?;
        let is_delay = |row: &Row| row.name == DELAY;
        let delay = rows.iter().find(|row| is_delay(row)).map_or(0.0, |row| row.instructions);
        rows.retain(|row| !is_delay(row));
        // An image of their own: that of the filters has no flash left on small boards.
        rows.extend(measure(board, "kernel_costs")?);
        let hashed = rows.extract_if(.., |row| row.digest != 0);
        let digests = hashed.map(|row| (row.name, row.digest)).collect();
        Ok(BoardCosts { board, delay, digests, rows })
    };
    boards.into_iter().map(costs).collect()
}

impl fmt::Display for BoardCosts {
    /// A section of the page.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Board { name, core, target, usual_clock: clock, .. } = self.board;
        let megahertz = clock.hertz / 1_000_000;
        writeln!(f, "## {core}\n\n`{target}`, board `{name}`.\n")?;
        writeln!(
            f,
            "| emission | N | K or D | C | number | instructions | state | stack | code | model \
             | samples/s at {megahertz} MHz ({}) |",
            clock.part
        )?;
        f.write_str("|---|---|---|---|---|--:|--:|--:|--:|--:|--:|\n")?;
        for row in &self.rows {
            let mut cells = row.name.split(", ");
            let emission = cells.next().unwrap_or_default();
            write!(f, "| {emission} ")?;
            for cell in cells {
                write!(f, "| {} ", cell.trim_start_matches(['N', '=', 'C']))?;
            }
            let rate = f64::from(clock.hertz) / row.instructions;
            writeln!(
                f,
                "| {} | {} | {} | {} | {} | {} |",
                grouped(row.instructions),
                row.state_bytes,
                row.stack_bytes,
                grouped(row.code_bytes as f64),
                grouped(row.model_bytes.into()),
                grouped(rate),
            )?;
        }
        Ok(())
    }
}

/// The whole page, in Markdown.
pub fn page(boards: &[BoardCosts]) -> String {
    let mut page = String::from(
        "# What a sample costs\n\n\
         Printed by `cargo run --release -p fishweir-tests --example cost_table`, which builds the image \
         `costs` for every\nboard, runs it under QEMU and reads the board's counter.\n\n\
         One sample through the filter: N states, of a profile positions, K symbols or \
         D channels, C directions\n(tangents). *2 Gaussian* is a classifier of two models on a stream that never ends, \
         *2 Gaussian 200/50* the same on\nwindows of 200 samples, a new one every 50. Images of the Cortex-M0 and \
         Cortex-M3 have no flash left for these and for\nall profiles.\n\n\
         *set of 2 models*, *hidden binomial*, *fixed length*, *pair HMM*, *hidden tree* and *pruned tree* are kernel machines on\n\
         windows of 16 samples, against 2 stored sequences of 16 samples each, normalised by the stream's own norm; a tree has 16\n\
         leaves. *product* and *mean map of 2 models* are a step of a kernel between models (`ppk`, rho 1/2; `mean-map`).\n\
         *segments to 16* is the filter of explicit durations up to 16 samples; *context tree* learns a symbol in contexts up to 4\n\
         symbols, its state is the buffers that the caller lends.\n\n\
         Per window or event, and not per sample: *coreset* takes in one item and keeps 16; *shown window* shows one to a taught\n\
         class, *decision with 4 taught* decides between 7 known and 4 taught classes, both beside the filter.\n\n\
         - *instructions* a sample, by `-icount shift=0`, the empty loop subtracted. QEMU knows no \
         cycles.\n\
         - *state*: bytes of RAM a stream takes. *stack*: bytes below the caller that keeps the state, \
         slow paths\n  and reading included.\n\
         - *code*: bytes of flash of the push and of all that it calls, exponentials and floating point \
         in software\n  included; filters share these. *model*: bytes of flash of its numbers.\n\
         - *samples/s*: the largest rate if an instruction took one clock. A real core takes up to two, \
         and waits for\n  slow flash.\n",
    );
    for board in boards {
        // Writing to a string does not fail.
        let _ = write!(page, "\n{board}");
    }
    page.push_str(
        "\n## Others\n\nOn the Cortex-M4F, instructions under the same emulator at `-O3`; measured \
         once, and not by the command above.\n\n| program | instructions |\n|---|--:|\n",
    );
    for (program, instructions) in PEERS {
        let _ = writeln!(page, "| {program} | {instructions} |");
    }
    page
}

/// A whole number, its digits in groups of three.
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}
