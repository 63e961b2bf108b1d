use std::fmt;

use fishweir_core::Profile;
use fishweir_core::number::NumberFormat;
use serde::Serialize;

use super::{Table, counted, grouped};
use crate::deploy::Cost;
use crate::device::{Image, Run};
use crate::parity::{Parity, profile_differences};

/// A run on an emulated device, compared with the host's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceComparison {
    /// The model's file.
    pub model: String,
    /// The data's file.
    pub data: String,
    /// The board.
    pub board: String,
    /// Form in which the model was built into the image: `source` or `artefact`.
    pub form: String,
    /// Kind of evidence compared, besides class and margin: `log-likelihoods` or `decision values`.
    pub evidence: &'static str,
    /// Differences between the arithmetic of host and device: if there are any, equal or different bits
    /// prove nothing.
    pub profile_differences: Vec<String>,
    /// The comparison.
    #[serde(flatten)]
    pub parity: Parity,
    /// Instructions that a push took on average, by the board's own counter.
    pub instructions_per_sample: Option<f64>,
    /// Predicted work and sizes.
    #[serde(flatten)]
    pub cost: Cost,
    /// Bytes of the model in flash, as the device reports them.
    pub device_model_bytes: usize,
    /// Bytes of the state, as the device reports them.
    pub device_state_bytes: usize,
    /// Deepest stack in bytes, the state included.
    pub stack_bytes: Option<u32>,
    /// Bytes of code.
    pub text_bytes: u64,
    /// Bytes of constants, the model among them.
    pub rodata_bytes: u64,
    /// Bytes of flash in all.
    pub flash_bytes: u64,
    /// Bytes of static RAM, without the stack.
    pub static_ram_bytes: u64,
    /// Seconds by the wall clock that the emulator took.
    pub seconds: f64,
}

impl DeviceComparison {
    /// Combines the results of a run, its image and the comparison. The host's numbers are `f32`.
    pub fn new(names: [String; 4], image: &Image, run: &Run, parity: Parity, cost: Cost) -> Self {
        let [model, data, board, form] = names;
        let evidence = "log-likelihoods";
        Self {
            model,
            data,
            board,
            form,
            evidence,
            profile_differences: profile_differences(
                [Profile::of(NumberFormat::F32), run.outcome.info.profile],
                ["on the host", "on the device"],
            ),
            parity,
            instructions_per_sample: run.instructions_per_sample(),
            cost,
            device_model_bytes: run.outcome.info.model_bytes,
            device_state_bytes: run.outcome.info.state_bytes,
            stack_bytes: run.outcome.report.stack_bytes,
            text_bytes: image.sections.text,
            rodata_bytes: image.sections.rodata,
            flash_bytes: image.sections.flash(),
            static_ram_bytes: image.sections.ram(),
            seconds: run.elapsed.as_secs_f64(),
        }
    }
}

impl fmt::Display for DeviceComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, data, board, form, parity, .. } = self;
        writeln!(f, "{model} ({form}) on {data}, on an emulated {board}\n")?;
        writeln!(
            f,
            "  {} differ, in {} compared: class, margin and {} after each of {}\n",
            counted(parity.differing_bits as usize, "bit"),
            counted(parity.numbers, "number"),
            self.evidence,
            counted(parity.samples, "sample"),
        )?;
        if !self.profile_differences.is_empty() {
            writeln!(
                f,
                "  this is no comparison bit for bit: host and device compute differently"
            )?;
            for difference in &self.profile_differences {
                writeln!(f, "    {difference}")?;
            }
            writeln!(f)?;
        }
        if let Some(first) = &parity.first_difference {
            writeln!(
                f,
                "  {} differ; the first: {first}\n",
                counted(parity.differing_answers, "answer")
            )?;
        }
        let mut table = Table::default();
        let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
        row("streams", grouped(parity.streams));
        row("decisions", grouped(parity.decisions));
        if parity.missing > 0 {
            row("missing samples", grouped(parity.missing));
        }
        if parity.refused > 0 {
            row("refused samples", grouped(parity.refused));
        }
        for (name, count) in [
            ("samples without a decision", parity.undecided),
            ("samples lost on the line", parity.lost),
            ("answers lost on the line", parity.unanswered),
            ("samples not compared", parity.not_compared),
        ] {
            if count > 0 {
                row(name, grouped(count));
            }
        }
        let instructions = self.instructions_per_sample;
        row(
            "instructions per sample (QEMU)",
            instructions.map_or("not measured".into(), |count| grouped(count.round() as usize)),
        );
        row("multiply-adds per sample", grouped(self.cost.multiply_adds_per_sample));
        row("exponentials per sample", grouped(self.cost.exponentials_per_sample));
        let bytes = |bytes: u64| format!("{} B", grouped(bytes as usize));
        row("model, in flash", bytes(self.device_model_bytes as u64));
        row("state, in RAM", bytes(self.device_state_bytes as u64));
        let stack = self.stack_bytes.map_or("not measured".into(), |stack| bytes(stack.into()));
        row("deepest stack, state included", stack);
        row(".text", bytes(self.text_bytes));
        row(".rodata", bytes(self.rodata_bytes));
        row("flash in all", bytes(self.flash_bytes));
        row("static RAM", bytes(self.static_ram_bytes));
        row("emulated in", format!("{:.1} s", self.seconds));
        write!(f, "{table}")
    }
}
