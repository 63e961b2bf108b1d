use std::collections::BTreeMap;
use std::fmt;

use fishweir_core::Profile;
use fishweir_core::number::NumberFormat;
use serde::Serialize;

use super::{Table, counted, grouped};
use crate::deploy::Cost;
use crate::device::{Image, Run, Sections};
use crate::parity::{Parity, profile_differences};

/// A run on an emulated device, or on a board at a port, compared with the host's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceComparison {
    /// The model's file.
    pub model: String,
    /// The data's file.
    pub data: String,
    /// The emulated board, or the port of a board.
    pub board: String,
    /// Form in which the model was built into the image: `source` or `artefact`; of a board at a port `image`.
    pub form: String,
    /// Kind of evidence compared, besides class and margin: `log-likelihoods` or `decision values`.
    pub evidence: &'static str,
    /// Differences between the arithmetic of host and device: if there are any, equal or different bits
    /// prove nothing.
    pub profile_differences: Vec<String>,
    /// The comparison.
    #[serde(flatten)]
    pub parity: Parity,
    /// Decisions of the device for each class that it decided for.
    pub decided: BTreeMap<String, usize>,
    /// Instructions that a push took on average, by the board's own counter; `None` of a board at a port.
    pub instructions_per_sample: Option<f64>,
    /// Ticks of the board's counter that a push took on average; cycles where the counter runs at the core's clock.
    pub ticks_per_sample: Option<f64>,
    /// Ticks of the board's counter per second.
    pub ticks_per_second: Option<u32>,
    /// Predicted work and sizes.
    #[serde(flatten)]
    pub cost: Cost,
    /// Bytes of the model in flash, as the device reports them.
    pub device_model_bytes: usize,
    /// Bytes of the state, as the device reports them.
    pub device_state_bytes: usize,
    /// Deepest stack in bytes, the state included.
    pub stack_bytes: Option<u32>,
    /// Bytes of code; of a board at a port this and the following are `None`.
    pub text_bytes: Option<u64>,
    /// Bytes of constants, the model among them.
    pub rodata_bytes: Option<u64>,
    /// Bytes of flash in all.
    pub flash_bytes: Option<u64>,
    /// Bytes of static RAM, without the stack.
    pub static_ram_bytes: Option<u64>,
    /// Seconds by the wall clock.
    pub seconds: f64,
}

impl DeviceComparison {
    /// Combines the results of a run, its image and the comparison; `None` is the image of a board at a port. The last pair is
    /// the cost of the model and the host's format of numbers.
    pub fn new(
        names: [String; 4],
        image: Option<&Image>,
        run: &Run,
        parity: Parity,
        (cost, number): (Cost, NumberFormat),
    ) -> Self {
        let [model, data, board, form] = names;
        let sections = image.map(|image| &image.sections);
        Self {
            model,
            data,
            board,
            form,
            evidence: "log-likelihoods",
            profile_differences: profile_differences(
                [Profile::of(number), run.outcome.info.profile],
                ["on the host", "on the device"],
            ),
            parity,
            decided: BTreeMap::new(),
            instructions_per_sample: image.and_then(|_| run.instructions_per_sample()),
            ticks_per_sample: run.ticks_per_sample(),
            ticks_per_second: run.outcome.info.ticks_per_second,
            cost,
            device_model_bytes: run.outcome.info.model_bytes,
            device_state_bytes: run.outcome.info.state_bytes,
            stack_bytes: run.outcome.report.stack_bytes,
            text_bytes: sections.map(|sections| sections.text),
            rodata_bytes: sections.map(|sections| sections.rodata),
            flash_bytes: sections.map(Sections::flash),
            static_ram_bytes: sections.map(Sections::ram),
            seconds: run.elapsed.as_secs_f64(),
        }
    }
}

impl DeviceComparison {
    /// The report with the decisions of each of a model's classes.
    #[must_use]
    pub fn with_classes(mut self, classes: &[String]) -> Self {
        for (class, &count) in
            self.parity.of_class.iter().enumerate().filter(|(_, count)| **count > 0)
        {
            let name = match classes.get(class) {
                Some(name) => name.clone(),
                None => format!("class {}, which the model lacks", class + 1),
            };
            self.decided.insert(name, count);
        }
        self
    }
}

impl fmt::Display for DeviceComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, data, board, form, parity, .. } = self;
        let is_emulated = self.flash_bytes.is_some();
        match is_emulated {
            true => writeln!(f, "{model} ({form}) on {data}, on an emulated {board}\n")?,
            false => writeln!(f, "{model} on {data}, on the board at {board}\n")?,
        }
        writeln!(
            f,
            "  {} differ, in {} compared: class, margin and {} after each of {}\n",
            counted(parity.differing_bits as usize, "bit"),
            counted(parity.numbers, "number"),
            self.evidence,
            counted(parity.samples, "sample"),
        )?;
        if !self.profile_differences.is_empty() {
            writeln!(f, "  bits cannot be compared: host and device compute differently")?;
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
        for (class, count) in &self.decided {
            row(&format!("  {class}"), grouped(*count));
        }
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
        let count = |count: f64| grouped(count.round() as usize);
        let unknown = || "not measured".to_owned();
        if is_emulated {
            let instructions = self.instructions_per_sample;
            row("instructions per sample (QEMU)", instructions.map_or_else(unknown, count));
        } else {
            let ticks = self.ticks_per_sample.zip(self.ticks_per_second);
            let ticks = ticks.map(|(ticks, second)| {
                format!("{} of {} per second", count(ticks), grouped(second as usize))
            });
            row("ticks per sample", ticks.unwrap_or_else(unknown));
        }
        row("multiply-adds per sample", grouped(self.cost.multiply_adds_per_sample));
        row("exponentials per sample", grouped(self.cost.exponentials_per_sample));
        let bytes = |bytes: u64| format!("{} B", grouped(bytes as usize));
        row("model, in flash", bytes(self.device_model_bytes as u64));
        row("state, in RAM", bytes(self.device_state_bytes as u64));
        let stack = self.stack_bytes.map_or("not measured".into(), |stack| bytes(stack.into()));
        row("deepest stack, state included", stack);
        for (name, size) in [
            (".text", self.text_bytes),
            (".rodata", self.rodata_bytes),
            ("flash in all", self.flash_bytes),
            ("static RAM", self.static_ram_bytes),
        ] {
            if let Some(size) = size {
                row(name, bytes(size));
            }
        }
        row(if is_emulated { "emulated in" } else { "took" }, format!("{:.1} s", self.seconds));
        write!(f, "{table}")
    }
}
