//! `fishweir network run`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fishweir::device::{Board, Dialogue, Firmware, ModelFile, Options, Qemu};
use fishweir::files;
use fishweir_core::wire::Request;
use fishweir_networks::report::EventsComparison;
use fishweir_networks::{NetworkFile, NetworkModel};

use super::super::run::boards;
use super::Failure;
use super::deployment::Deployment;
use super::table::{records, refused};
use crate::Topic;

const EXAMPLES: &str = "\
Examples:
  fishweir network run vote.csv --model vote.json --board microbit";

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
    /// The board to emulate
    #[arg(long, value_parser = boards(), default_value = Board::DEFAULT)]
    board: &'static Board,
    /// The folder of the firmware [default: that of the checkout this program was built from]
    #[arg(long, value_name = "DIR")]
    firmware: Option<PathBuf>,
    #[command(flatten)]
    deployment: Deployment,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// Application that the board runs.
const APPLICATION: &str = "events";

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let firmware = match &arguments.firmware {
        Some(folder) => Firmware::at(folder)?,
        None => fishweir_sources::firmware()?,
    };
    let file = NetworkFile::read(&arguments.model)?;
    let (table, all) = records(&arguments.data, &file.columns)?;
    let sent = all.len().min(arguments.limit.map_or(usize::MAX, NonZeroUsize::get));
    let class = match &file.model {
        NetworkModel::Classifier(classifier) => Some(classifier.column()),
        NetworkModel::Network(_) => None,
    };
    let columns: Vec<usize> = (0..all.columns()).filter(|&one| Some(one) != class).collect();
    let events = all.subset(&(0..sent).collect::<Vec<_>>()).select(&columns);
    let (deployed, what) = arguments.deployment.of(&arguments.model, &file)?;
    let expected = deployed.answers(&events).map_err(|error| refused(&table, error))?;

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
