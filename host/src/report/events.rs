use std::fmt;

use serde::Serialize;

use super::{Table, counted, grouped};
use crate::device::{DeviceError, Image};
use crate::network::EventCost;

/// Records that an emulated device has answered, beside the host's answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventsComparison {
    /// What ran, in words.
    pub what: String,
    /// The model's file.
    pub model: String,
    /// The file with the records.
    pub data: String,
    /// The board.
    pub board: String,
    /// Records sent.
    pub records: usize,
    /// Of these, refused: the network makes them impossible.
    pub refused: usize,
    /// Alarms.
    pub alarms: usize,
    /// Answers in which a bit differs, that are missing or too many.
    pub differing_answers: usize,
    /// The first of them, the device's and the host's.
    pub first_difference: Option<[String; 2]>,
    /// Instructions that a push took on average, by the board's own counter,
    pub instructions_per_push: Option<f64>,
    /// and a reading.
    pub instructions_per_reading: Option<f64>,
    /// Predicted work and sizes.
    #[serde(flatten)]
    pub cost: EventCost,
    /// Deepest stack in bytes, the state included.
    pub stack_bytes: Option<usize>,
    /// Bytes of code.
    pub text_bytes: u64,
    /// Bytes of flash in all.
    pub flash_bytes: u64,
    /// Bytes of static RAM, without the stack.
    pub static_ram_bytes: u64,
    /// Seconds by the wall clock that the emulator took.
    pub seconds: f64,
}

impl EventsComparison {
    /// Compares the lines that a device told with those expected between its greeting and its last. `names`
    /// are what ran, and the files of model and records.
    ///
    /// # Errors
    /// [`DeviceError::Stopped`] where the first or last line is not what the application says.
    pub fn new(
        names: [String; 3],
        image: &Image,
        told: &[String],
        expected: &[String],
        (cost, seconds): (EventCost, f64),
    ) -> Result<Self, DeviceError> {
        let stopped = || DeviceError::Stopped { answers: told.len().saturating_sub(1) };
        let [greeting, answers @ .., done] = told else { return Err(stopped()) };
        let ready: [u64; 2] = numbers(greeting, "ready").ok_or_else(stopped)?;
        let done: [u64; 6] = numbers(done, "done").ok_or_else(stopped)?;
        let (ticks_per_second, [_, refused, alarms, push, reading, stack]) = (ready[1], done);
        let pair = |index: usize| [answers, expected].map(|lines| lines.get(index).cloned());
        let differ = (0..answers.len().max(expected.len())).map(pair).filter(|[a, b]| a != b);
        let words = |line: Option<String>| line.unwrap_or_else(|| "nothing".to_owned());
        let pushes = expected.len().saturating_sub(refused as usize);
        let instructions = |ticks: u64| {
            let measured = ticks_per_second > 0 && pushes > 0;
            // An instruction is a nanosecond of the emulator's time.
            measured.then(|| ticks as f64 * 1e9 / ticks_per_second as f64 / pushes as f64)
        };
        let [what, model, data] = names;
        Ok(Self {
            what,
            model,
            data,
            board: format!("{} ({})", image.board.name, image.board.core),
            records: expected.len(),
            refused: refused as usize,
            alarms: alarms as usize,
            differing_answers: differ.clone().count(),
            first_difference: differ.clone().next().map(|pair| pair.map(words)),
            instructions_per_push: instructions(push),
            instructions_per_reading: instructions(reading),
            cost,
            stack_bytes: (stack > 0).then_some(stack as usize),
            text_bytes: image.sections.text,
            flash_bytes: image.sections.flash(),
            static_ram_bytes: image.sections.ram(),
            seconds,
        })
    }
}

/// The numbers of a line behind its first word.
fn numbers<const N: usize>(line: &str, word: &str) -> Option<[u64; N]> {
    let rest = line.strip_prefix(word)?.split_whitespace().map(|number| number.parse().ok());
    rest.collect::<Option<Vec<u64>>>()?.try_into().ok()
}

impl fmt::Display for EventsComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, model, data, board, .. } = self;
        writeln!(f, "{model} ({what}) on {data}, on an emulated {board}\n")?;
        writeln!(
            f,
            "  {} of {} differ from the host's, bit for bit\n",
            counted(self.differing_answers, "answer"),
            grouped(self.records)
        )?;
        if let Some([device, host]) = &self.first_difference {
            writeln!(f, "  the first: `{device}`, where the host says `{host}`\n")?;
        }
        let mut table = Table::default();
        let bytes = |bytes: u64| format!("{} B", grouped(bytes as usize));
        let count = |count: Option<f64>| {
            count.map_or("not measured".into(), |count| grouped(count.round() as usize))
        };
        table.row(["alarms".to_owned(), grouped(self.alarms)]);
        table.row(["impossible records".to_owned(), grouped(self.refused)]);
        table.row(["instructions a push (QEMU)".to_owned(), count(self.instructions_per_push)]);
        let reading = count(self.instructions_per_reading);
        table.row(["instructions a reading (QEMU)".to_owned(), reading]);
        self.cost.rows(&mut table);
        let stack = self.stack_bytes.map_or("not measured".into(), |stack| bytes(stack as u64));
        table.row(["deepest stack, state included".to_owned(), stack]);
        table.row([".text".to_owned(), bytes(self.text_bytes)]);
        table.row(["flash in all".to_owned(), bytes(self.flash_bytes)]);
        table.row(["static RAM".to_owned(), bytes(self.static_ram_bytes)]);
        table.row(["emulated in".to_owned(), format!("{:.1} s", self.seconds)]);
        write!(f, "{table}")
    }
}
