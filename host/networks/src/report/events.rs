use std::fmt;

use serde::Serialize;

use crate::EventCost;
use fishweir::device::{DeviceError, Image};
use fishweir::report::{Table, counted, grouped};

/// Records that an emulated device has answered, compared with the host's answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventsComparison {
    /// Description of the program that ran.
    pub what: String,
    /// The model's file.
    pub model: String,
    /// The file with the records.
    pub data: String,
    /// The board.
    pub board: String,
    /// Records sent.
    pub records: usize,
    /// Number of those that the device refused.
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
        let (ticks_per_second, [lines, refused, alarms, push, reading, stack]) = (ready[1], done);
        let pair = |index: usize| [answers, expected].map(|lines| lines.get(index).cloned());
        let differ = (0..answers.len().max(expected.len())).map(pair).filter(|[a, b]| a != b);
        let words = |line: Option<String>| line.unwrap_or_else(|| "nothing".to_owned());
        // What is refused is not measured.
        let pushes = lines.saturating_sub(refused);
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
        table.row(["refused records".to_owned(), grouped(self.refused)]);
        table.row(["instructions per push (QEMU)".to_owned(), count(self.instructions_per_push)]);
        let reading = count(self.instructions_per_reading);
        table.row(["instructions per reading (QEMU)".to_owned(), reading]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use fishweir::device::{Board, Sections};

    #[test]
    fn what_is_refused_for_any_reason_is_counted_and_not_measured() {
        let board = Board::named(Board::default_name()).expect("a board");
        let (elf, sections) = ("none.elf".into(), Sections::default());
        let cost = EventCost {
            model_bytes: 1,
            state_bytes: 1,
            look_ups: 1,
            operation: "additions",
            push_operations: 1,
            reading_operations: 1,
        };
        let told = ["ready 1 1000000000", "refused 1 damaged", "decision 2", "done 2 1 0 80 30 0"];
        let [told, expected] = [&told[..], &["decision 1", "decision 2"]]
            .map(|lines| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>());
        let image = Image { board, elf, sections };
        let names = ["sum", "m.json", "d.csv"].map(str::to_owned);
        let report = EventsComparison::new(names, &image, &told, &expected, (cost, 1.0));
        let report = report.expect("whole");
        assert_eq!((report.records, report.refused, report.differing_answers), (2, 1, 1));
        // Of the one record that was pushed, an instruction a tick.
        assert_eq!(report.instructions_per_push, Some(80.0));
        assert_eq!(report.instructions_per_reading, Some(30.0));
        let text = report.to_string();
        assert!(text.contains("refused records") && !text.contains("impossible"), "{text}");
    }
}
