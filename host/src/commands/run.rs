//! `fishweir run`.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fishweir::data::Dataset;
use fishweir::deploy::DeployedClassifier;
use fishweir::device::{BOARDS, Board, Firmware, ModelFile, Options, Qemu};
use fishweir::files;
use fishweir::parity::{Recording, compare};
use fishweir::report::DeviceComparison;

use super::arguments::Reading;
use super::model::Model;
use super::{Failure, print, progress};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A fitted model (JSON) or an artefact
    model: PathBuf,
    /// Series to stream, each from a fresh state
    data: PathBuf,
    /// Stream at most so many samples
    #[arg(long, value_name = "SAMPLES")]
    limit: Option<usize>,
    /// The board to emulate
    #[arg(long, value_parser = boards(), default_value = Board::DEFAULT)]
    board: &'static Board,
    /// Build the binary artefact in, read in place, instead of the Rust source
    #[arg(long, visible_alias = "artifact")]
    artefact: bool,
    /// The folder of the firmware [default: that of the checkout this program was built from]
    #[arg(long, value_name = "DIR")]
    firmware: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// The names of the boards, to choose from.
fn boards() -> impl TypedValueParser<Value = &'static Board> {
    let names = BOARDS.iter().map(|board| PossibleValue::new(board.name).help(board.core));
    PossibleValuesParser::new(names).try_map(|name| Board::named(&name))
}

/// What the board runs.
const APPLICATION: &str = "classify_stream";

/// How a model gets into the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Source,
    Artefact,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let firmware = match &arguments.firmware {
        Some(folder) => Firmware::at(folder)?,
        None => Firmware::in_repository()?,
    };
    let model = Model::read(&arguments.model)?;
    let reading = arguments.reading.options_for(model.kind()?, None);
    let data = Dataset::read(&arguments.data, &reading)?;
    if arguments.limit == Some(0) {
        return Err(Failure::Input("--limit 0 leaves nothing to run".into()));
    }
    let streams = data.series().iter().map(|series| series.samples.view());
    let recording = Recording::new(streams, arguments.limit);
    let form = if arguments.artefact { Form::Artefact } else { Form::Source };
    let names = (arguments.model.as_path(), arguments.data.as_path());
    let board = (&firmware, arguments.board);
    let report = on_device(board, model.any(), &recording, names, form)?;
    print(&report, arguments.json)?;
    check(&report)
}

/// Differences are a failure, and so is a sample that an emulated line lost.
pub(super) fn check(report: &DeviceComparison) -> Result<(), Failure> {
    let parity = &report.parity;
    let lost = parity.lost + parity.unanswered + parity.not_compared;
    match (parity.differing_bits, lost) {
        (0, 0) => Ok(()),
        (0, lost) => {
            Err(Failure::Check(format!("{lost} samples or answers were lost on the line")))
        }
        (bits, _) => Err(Failure::Check(format!("{bits} bits differ between host and device"))),
    }
}

/// Builds the firmware with a model for a board, streams a recording to it under emulation, and
/// compares. `names` are those of model and data.
pub(super) fn on_device(
    (firmware, board): (&Firmware, &'static Board),
    model: &dyn DeployedClassifier,
    recording: &Recording<'_>,
    (file, data): (&Path, &Path),
    form: Form,
) -> Result<DeviceComparison, Failure> {
    let folder = tempfile::tempdir()?;
    let elf = folder.path().join("image.elf");
    let image = match form {
        Form::Source => {
            let source = folder.path().join("model.rs");
            files::write_whole(&source, model.to_source().as_bytes())?;
            firmware.build(board, APPLICATION, ModelFile::Source(&source), &elf)?
        }
        Form::Artefact => {
            let artefact = folder.path().join("model.fishweir");
            files::write_whole(&artefact, &artefact_of(model)?)?;
            firmware.build(board, APPLICATION, ModelFile::Artefact(&artefact), &elf)?
        }
    };
    let bar = progress::samples("running on the device".into(), recording.samples());
    let run = Qemu::start(&image)?
        .run(recording.inputs(), &Options::default(), |answers| bar.set_position(answers as u64));
    bar.finish_and_clear();
    let run = run?;
    let parity = compare(model, recording, &run.outcome.answers)?;
    let names = [
        file.display().to_string(),
        data.display().to_string(),
        format!("{} ({})", board.name, board.core),
        if form == Form::Source { "source" } else { "artefact" }.to_owned(),
    ];
    let report = DeviceComparison::new(names, &image, &run, parity, model.cost());
    Ok(DeviceComparison { evidence: model.evidence_name(), ..report })
}

/// The binary artefact of what has one.
pub(super) fn artefact_of(model: &dyn DeployedClassifier) -> Result<Vec<u8>, Failure> {
    let artefact = model.to_artefact().ok_or_else(|| {
        Failure::Input("a kernel machine is exported as Rust source, not as an artefact".into())
    })?;
    Ok(artefact?)
}
