//! `fishweir network run`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fishweir::device::{Board, Dialogue, Firmware, LinePiece, ModelFile, Options, Qemu};
use fishweir::files;
use fishweir::parity::WatchedLines;
use fishweir_core::wire::Request;
use fishweir_networks::records::{Records, TextTable};
use fishweir_networks::report::EventsComparison;
use fishweir_networks::{DeployedEvents, NetworkFile, NetworkModel};

use super::super::at_port::AtPort;
use super::super::board;
use super::super::run::{check_lines, compare_lines};
use super::Failure;
use super::deployment::Deployment;
use super::table::{records, refused};
use crate::Topic;

const EXAMPLES: &str = "\
Examples:
  fishweir network run vote.csv --model vote.json --board microbit
  fishweir network run vote.csv --model vote.json --port /dev/ttyACM0";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// A table of records
    data: PathBuf,
    /// Classifier, or network for an alarm
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// Limit of records to send
    #[arg(long, value_name = "RECORDS")]
    limit: Option<NonZeroUsize>,
    /// The board to emulate, or the path of a folder with its board.toml
    #[arg(long, value_parser = board::emulated(), default_value = Board::default_name())]
    board: &'static Board,
    /// The folder of the firmware [default: that of the checkout this program was built from]
    #[arg(long, value_name = "DIR")]
    firmware: Option<PathBuf>,
    #[command(flatten)]
    at_port: AtPort,
    #[command(flatten)]
    deployment: Deployment,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// Application that the board runs.
const APPLICATION: &str = "events";

/// The records of a table as a device is given them, without the class.
pub(crate) fn events_of(data: &Path, file: &NetworkFile) -> Result<(TextTable, Records), Failure> {
    let (table, all) = records(data, &file.columns)?;
    let class = match &file.model {
        NetworkModel::Classifier(classifier) => Some(classifier.column()),
        NetworkModel::Network(_) => None,
    };
    let columns: Vec<usize> = (0..all.columns()).filter(|&one| Some(one) != class).collect();
    Ok((table, all.select(&columns)))
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = NetworkFile::read(&arguments.model)?;
    let (table, all) = events_of(&arguments.data, &file)?;
    let sent = all.len().min(arguments.limit.map_or(usize::MAX, NonZeroUsize::get));
    let events = all.subset(&(0..sent).collect::<Vec<_>>());
    let (deployed, what) = arguments.deployment.of(&arguments.model, &file)?;
    let expected = deployed.answers(&events).map_err(|error| refused(&table, error))?;

    if let Some(port) = &arguments.at_port.port {
        let names = [arguments.model.as_path(), &arguments.data, Path::new(port)];
        let (options, link) = arguments.at_port.open(port)?;
        let lines = watched(&deployed, &events, expected);
        let report = compare_lines(&link, &lines, names, sent, &options)?;
        crate::output::print_report(&report, arguments.json)?;
        return check_lines(&report);
    }
    let firmware = match &arguments.firmware {
        Some(folder) => Firmware::at(folder)?,
        None => fishweir_sources::firmware()?,
    };
    let folder = tempfile::tempdir()?;
    let (source, elf) = (folder.path().join("model.rs"), folder.path().join("image.elf"));
    files::write_whole(&source, deployed.to_source().as_bytes())?;
    let (board, model) = (arguments.board, ModelFile::Source(&source));
    let image = firmware.build_application(board, APPLICATION, model, &elf)?;
    let mut dialogue = Dialogue::new();
    dialogue.text(&deployed.lines(&events));
    dialogue.ask(Request::Stop);
    let started = Instant::now();
    let told = Qemu::start(&image)?.exchange_frames(Options::default().patience, &dialogue)?;
    let seconds = started.elapsed().as_secs_f64();
    let shown = |path: &Path| path.display().to_string();
    let names = [what, shown(&arguments.model), shown(&arguments.data)];
    let report =
        EventsComparison::new(names, &image, &told, &expected, (deployed.cost(), seconds))?;
    crate::output::print_report(&report, arguments.json)?;
    match report.differing_answers {
        0 => Ok(()),
        count => Err(Failure::check(
            Topic::BitsDiffer,
            format!("{count} answers differ between host and device"),
        )),
    }
}

/// The records as a board at a port is sent them, each once the one before is answered.
fn watched(deployed: &DeployedEvents, events: &Records, expected: Vec<String>) -> WatchedLines {
    let (text, mut dialogue) = (deployed.lines(events), Dialogue::new());
    let piece = |line: &str| {
        dialogue.text(line);
        let (bytes, until) =
            (dialogue.take(), &["decision", "normal", "alarm", "refused", "ready"]);
        dialogue.ask(Request::Info);
        LinePiece { bytes, until, again: dialogue.take() }
    };
    let pieces = text.split_inclusive('\n').map(piece).collect();
    WatchedLines { pieces, expected, samples: events.len() }
}
