//! `fishweir teach --port`: windows shown to a board, which runs the image `teach`.

use std::fmt;
use std::time::Duration;

use fishweir::data::{SamplesView, Window};
use fishweir::device::{DeviceError, Input, Options, Port, TaughtState, converse};
use fishweir::parity::Recording;
use fishweir::report::counted;
use fishweir_core::classify::teach::ClassName;
use fishweir_core::wire::{TeachAction, TeachStatus};
use serde::Serialize;

use super::output::Outputs;
use super::{Failure, progress};

/// A board that is taught.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct TaughtBoard {
    /// Teach the board at this serial port, such as /dev/ttyACM0, or behind a bridge, HOST:PORT; it runs the image `teach`
    /// around the model, or a project of `new --application teach`
    #[arg(long, conflicts_with_all = ["output", "taught"])]
    pub(super) port: Option<String>,
    /// Bits per second of the serial port, with eight bits, no parity and one stop bit
    #[arg(long, value_name = "BAUD", default_value_t = Port::BAUD, requires = "port")]
    baud: u32,
    /// Seconds without an answer after which the command gives up
    #[arg(long, value_name = "SECONDS", default_value = "30", requires = "port",
          value_parser = clap::value_parser!(u64).range(1..))]
    patience: u64,
}

/// The windows of one class, in their order.
pub(super) type Lesson<'w> = (String, Vec<SamplesView<'w>>);

/// Puts shown windows together by class, classes in the order of their first windows.
pub(super) fn lessons<'w>(shown: &[(String, Window<'w>)]) -> Vec<Lesson<'w>> {
    let mut lessons: Vec<Lesson<'w>> = Vec::new();
    for (name, window) in shown {
        match lessons.iter_mut().find(|(other, _)| other == name) {
            Some((_, windows)) => windows.push(window.samples),
            None => lessons.push((name.clone(), vec![window.samples])),
        }
    }
    lessons
}

/// Has a board forget classes, then shows it windows of others, and reports what it has of each.
pub(super) fn run(
    board: &TaughtBoard,
    port: &str,
    forget: &[String],
    lessons: &[Lesson<'_>],
    (outputs, json): (&Outputs, bool),
) -> Result<(), Failure> {
    let wrong = |error: &dyn fmt::Display, kind: &'static str| {
        Failure::input(kind, format!("{port}: {error}"))
    };
    let named = |name: &String| ClassName::new(name).map_err(|error| wrong(&error, error.kind()));
    let mut inputs = Vec::new();
    let mut steps = Vec::new();
    for name in forget {
        inputs.push(Input::Teach(TeachAction::Forget, Some(named(name)?)));
        steps.push((name, false));
    }
    let recordings: Vec<Recording<'_>> =
        lessons.iter().map(|(_, windows)| Recording::new(windows.iter().copied(), None)).collect();
    for ((name, _), recording) in lessons.iter().zip(&recordings) {
        let of = Some(named(name)?);
        inputs.push(Input::Teach(TeachAction::Show, of));
        inputs.extend(recording.inputs());
        inputs.push(Input::Teach(TeachAction::Stop, of));
        steps.extend([(name, false), (name, true)]);
    }
    let mut options = Options::of_board();
    options.patience = Duration::from_secs(board.patience);
    let link = Port::open(port, board.baud, &options)?;
    let samples = recordings.iter().map(Recording::samples).sum();
    let bar = progress::samples(format!("teaching {port}"), samples);
    let done = converse(
        &link,
        &link,
        || link.hang_up(),
        inputs,
        &options,
        |there| {
            bar.set_position(there as u64);
        },
    );
    bar.finish_and_clear();
    let outcome = done
        .map_err(|error: DeviceError| Failure::input(error.kind(), format!("{port}: {error}")))?;
    if outcome.taught.len() != steps.len() {
        return Err(Failure::input(
            "line",
            format!("{port}: the line lost an answer; teach again"),
        ));
    }
    let mut report = BoardReport { port: port.to_owned(), ..BoardReport::default() };
    for ((name, ends), state) in steps.iter().zip(&outcome.taught) {
        if let Some((kind, why)) = refusal(state) {
            return Err(Failure::input(kind, format!("{port}: class `{name}`: {why}")));
        }
        if *ends {
            report.classes.push(BoardClass { class: (*name).clone(), windows: state.windows });
        }
        (report.taught, report.record) = (state.classes, state.saved);
    }
    report.lost = outcome.report.lost;
    outputs.print(&report, json)
}

/// Why a board did not do a step, with its kind; `None` where it did.
fn refusal(state: &TaughtState) -> Option<(&'static str, &'static str)> {
    Some(match state.status {
        Some(TeachStatus::Done) => return None,
        Some(TeachStatus::NoRoom) => ("no-room", "there is no room for more: --forget one"),
        Some(TeachStatus::Name) => {
            ("bad-name", "a name has 1 to 16 bytes and no control character")
        }
        Some(TeachStatus::UnknownName) => ("unknown-name", "no class of this name was taught"),
        Some(TeachStatus::KnownClass) => {
            ("known-class", "the model knows it: --class NAME teaches another name")
        }
        Some(TeachStatus::Evidence) => ("no-evidence", "a window says nothing under the model"),
        Some(TeachStatus::TooManyWindows) => ("too-many-windows", "it takes no more windows"),
        Some(TeachStatus::Flash) => ("flash", "it was not saved: the flash failed"),
        _ => ("unknown-status", "the board answers in a later version's words"),
    })
}

/// Report of a taught board.
#[derive(Debug, Default, Serialize)]
struct BoardReport {
    /// The port.
    port: String,
    /// The classes that were shown windows.
    classes: Vec<BoardClass>,
    /// Number of taught classes that the board has.
    taught: usize,
    /// Number of its record in flash, 0 before the first.
    record: u32,
    /// Samples that the line lost: missing ones to the board.
    lost: u64,
}

/// A class on the board.
#[derive(Debug, Serialize)]
struct BoardClass {
    /// The name.
    class: String,
    /// Windows that it was shown, earlier ones included.
    windows: u16,
}

impl fmt::Display for BoardReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for BoardClass { class, windows } in &self.classes {
            writeln!(f, "{class}: taught by {}", counted(usize::from(*windows), "window"))?;
        }
        let classes = counted(self.taught, "taught class");
        writeln!(f, "the device on {}: {classes}, record {}", self.port, self.record)?;
        match self.lost {
            0 => Ok(()),
            lost => writeln!(f, "{} lost on the line", counted(lost as usize, "sample")),
        }
    }
}
