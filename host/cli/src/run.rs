//! `fishweir run`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fishweir::classifier::Contract;
use fishweir::data::Samples;
use fishweir::deploy::{Cost, Deployed, WindowStream};
use fishweir::device::{Board, Firmware, ModelFile, Options, Port, exchange_at_port};
use fishweir::parity::{
    APPLICATION, Form, Parity, Recording, WatchedLines, emulate, on_port, profile_differences,
};
use fishweir::report::{DeviceComparison, LineComparison, grouped};
use fishweir_core::Profile;
use fishweir_core::number::NumberFormat;

use super::at_port::AtPort;
use super::document::{self, PageReport};
use super::fixed::{NumberName, quantised};
use super::help::brief;
use super::model::{Model, Origin};
use super::network::Deployment;
use super::options::{named, refuse_idle};
use super::output::Outputs;
use super::reading::{Gathering, Reading};
use super::watcher::{WatchedData, WatcherModel};
use super::{Failure, Topic, board, progress, read, recognise};

/// Options that `-h` shows.
const SHOWN: &[&str] = &["model", "limit", "board", "artefact", "port", "report", "json"];

pub(super) const LONG_ABOUT: &str = "\
Run a model on a microcontroller, emulated or at a port, and compare every bit with the host.

Without --port, fishweir builds the firmware around the model and runs it under QEMU. With --port, the board must already run \
an image around this model: that of a project of `fishweir new --application stream`, or another that answers as the application \
`classify_stream` of `fishweir-device`. Each sample then waits for the answer to the previous one. Of a spotter or detector the events \
or alarms are compared. Samples and answers that the line \
loses are counted.

Exit codes: 0 every bit agrees; 1 bits differ, or samples or answers were lost; 2 bad input, or a board that does not answer.";

const EXAMPLES: &str = "\
Examples:
  fishweir run gait.csv --model gait.json --board mps2-an386 --limit 5000
  fishweir run gait.csv --model gait.json --port /dev/ttyACM0";

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Series to stream, each from a fresh state
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Fitted model (JSON), profile (HMMER3/f) or artefact
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// Limit of samples to stream
    #[arg(long, value_name = "SAMPLES")]
    limit: Option<NonZeroUsize>,
    /// Board to emulate, or the path of a folder with its board.toml
    #[arg(long, value_parser = board::emulated(), default_value = Board::default_name())]
    board: &'static Board,
    /// Link the binary artefact, read in place, instead of the Rust source
    #[arg(long, visible_alias = "artifact", conflicts_with = "port")]
    artefact: bool,
    /// Numbers of the model on the board at --port: those of `fishweir new --number`
    #[arg(long, value_enum, default_value_t = NumberName::F32, requires = "port")]
    number: NumberName,
    /// Folder of the firmware [default: that of the checkout this program was built from, or a copy of it]
    #[arg(long, value_name = "DIR")]
    firmware: Option<PathBuf>,
    #[command(flatten)]
    at_port: AtPort,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    gathering: Gathering,
    #[command(flatten)]
    page: PageReport,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = arguments.model.as_path();
    let written: Vec<&Path> = arguments.page.output().into_iter().collect();
    let inputs: Vec<&Path> = arguments.data.iter().map(PathBuf::as_path).chain([file]).collect();
    Outputs::check(&written, &inputs)?;
    let bytes = recognise::read(file)?;
    if recognise::is_network(&file.display().to_string(), &bytes) {
        let what = format!(
            "{}: this is a model of records: `fishweir network run` compares it with a board, `fishweir network info` describes it",
            file.display()
        );
        return Err(Failure::input(Topic::WrongModel, what));
    }
    if let Some(watcher) = WatcherModel::read(file, &bytes, &Deployment::default())? {
        return watch(arguments, &watcher);
    }
    let Arguments { reading, gathering, .. } = arguments;
    let model = Model::parse_any(file, &bytes)?;
    if let Some(why) = model.deployed.no_artefact().filter(|_| arguments.artefact) {
        let file = arguments.model.display();
        return Err(Failure::input(
            Topic::Unsupported,
            format!("{file}: {why}, not as an artefact: leave --artefact out"),
        ));
    }
    if model.deployed.target().is_some() {
        let other = named([
            ("--report", arguments.page.output().is_some()),
            ("--number", arguments.number == NumberName::Q15),
        ]);
        refuse_idle(&other, "the model estimates a number, and decides between no classes")?;
    }
    model.check_windows()?;
    let data = read::to_decide(&arguments.data, reading, gathering, &model)?;
    if gathering.shows(&data, arguments.json)? {
        return Ok(());
    }
    let windowing = model.windowing(None);
    let streams = data.series().iter().flat_map(|series| series.streams(windowing.as_ref()));
    let in_part = model.deployed.contract().is_some_and(Contract::lacks_some);
    let recording =
        Recording::new(streams, arguments.limit.map(NonZeroUsize::get)).in_part(in_part);
    let form = if arguments.artefact { Form::Artefact } else { Form::Source };
    let names = (arguments.model.as_path(), Path::new(data.source()));
    let report = match &arguments.at_port.port {
        Some(port) if arguments.number == NumberName::Q15 => {
            let (_, fixed) = quantised(file, &model)?;
            let fixed = fixed.on_windows(windowing);
            let views = data.series().iter().flat_map(|one| one.streams(windowing.as_ref()));
            let integers: Vec<Samples> = views.map(|one| fixed.integer_samples(&one)).collect();
            let limit = arguments.limit.map(NonZeroUsize::get);
            let sent = Recording::new(integers.iter().map(Samples::view), limit).in_part(in_part);
            let stream = fixed.over_integers().window_stream();
            let cost = (fixed.cost(), NumberFormat::Q15);
            let evidence = model.deployed.evidence_name();
            at_port(port, arguments, (stream, &sent), names, (cost, evidence))?
        }
        Some(port) => {
            let stream = model.deployed.window_stream();
            let cost = (model.deployed.cost(), NumberFormat::F32);
            let evidence = model.deployed.evidence_name();
            at_port(port, arguments, (stream, &recording), names, (cost, evidence))?
        }
        None => {
            let firmware = match &arguments.firmware {
                Some(folder) => Firmware::at(folder)?,
                None => fishweir_sources::firmware()?,
            };
            let board = (&firmware, arguments.board);
            on_device(board, &model.deployed, &recording, names, form)?
        }
    };
    // Signs are no classes.
    let mut report = match model.deployed.target() {
        Some(_) => report,
        None => report.with_classes(model.deployed.classes()),
    };
    if let Origin::Artefact(Some(written)) = model.origin {
        let profiles = [Profile::of(NumberFormat::F32), written];
        let names = ["on the host", "where the artefact was written"];
        report.profile_differences.extend(profile_differences(profiles, names));
    }
    arguments.page.write("run", &report, |document| {
        document::add_model(document, file, &bytes, false)?;
        *document = std::mem::take(document).with_data(&data);
        document::add_decisions(document, &model.deployed, &data, windowing.as_ref());
        Ok(())
    })?;
    crate::output::print_report(&report, arguments.json)?;
    check(&report)
}

/// Differences are a failure, and so is a sample that an emulated line lost. Where host and device do not
/// compute alike there is nothing to claim.
pub(super) fn check(report: &DeviceComparison) -> Result<(), Failure> {
    let [there, here] = [report.device_model_bytes, report.cost.model_bytes];
    if report.parity.differing_bits > 0 && there != here {
        return Err(Failure::check(
            Topic::OtherModel,
            format!(
                "the board has another model: {} B there, {} B here; flash an image around this one",
                grouped(there),
                grouped(here)
            ),
        ));
    }
    check_parity(&report.parity, &report.profile_differences)
}

fn check_parity(parity: &Parity, profile_differences: &[String]) -> Result<(), Failure> {
    if !profile_differences.is_empty() {
        return Err(Failure::check(
            Topic::ProfilesDiffer,
            format!(
                "bits cannot be compared, because host and device compute differently ({}): build both from one \
                 checkout, and export artefacts again",
                profile_differences.join("; ")
            ),
        ));
    }
    let lost = parity.lost + parity.unanswered + parity.not_compared;
    match (parity.differing_bits, lost) {
        (0, 0) => Ok(()),
        (0, lost) => Err(Failure::check(
            Topic::LostSamples,
            format!("{lost} samples or answers were lost on the line"),
        )),
        (bits, _) => Err(Failure::check(
            Topic::BitsDiffer,
            format!("{bits} bits differ between host and device"),
        )),
    }
}

/// Builds what the image of any model stands on, so that one around a model is sooner built. What goes wrong is said
/// there.
pub(super) fn prepare(firmware: &Firmware, board: &'static Board) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let elf = folder.path().join("image.elf");
    let _ = firmware.build(board, APPLICATION, ModelFile::Bundled, &elf);
}

/// Builds the firmware with a model for a board, streams a recording to it under emulation, and
/// compares. `names` are those of model and data.
pub(super) fn on_device(
    (firmware, board): (&Firmware, &'static Board),
    model: &Deployed,
    recording: &Recording<'_>,
    (file, data): (&Path, &Path),
    form: Form,
) -> Result<DeviceComparison, Failure> {
    let bar = progress::samples("running on the device".into(), recording.samples());
    let progress = |answers: usize| bar.set_position(answers as u64);
    let emulated = emulate((firmware, board), model, recording, form, &progress);
    bar.finish_and_clear();
    let (image, run, parity) = emulated?;
    let names = [
        file.display().to_string(),
        data.display().to_string(),
        format!("{} ({})", board.name, board.core),
        if form == Form::Source { "source" } else { "artefact" }.to_owned(),
    ];
    let report =
        DeviceComparison::new(names, Some(&image), &run, parity, (model.cost(), NumberFormat::F32));
    Ok(DeviceComparison { evidence: model.evidence_name(), ..report })
}

/// Streams a recording to the board at a port, and compares with a stream of the host. `names` are those of model and data; then
/// come cost and numbers of the model, and the name of its evidence.
fn at_port(
    port: &str,
    arguments: &Arguments,
    (stream, recording): (WindowStream, &Recording<'_>),
    (file, data): (&Path, &Path),
    (cost, evidence): ((Cost, NumberFormat), &'static str),
) -> Result<DeviceComparison, Failure> {
    let (options, link) = arguments.at_port.open(port)?;
    let bar = progress::samples(format!("running at {port}"), recording.samples());
    let progress = |answers: usize| bar.set_position(answers as u64);
    let run = on_port(&link, stream, recording, &options, &progress);
    bar.finish_and_clear();
    let (run, parity) = run.map_err(|error| match error {
        fishweir::Error::Device(error) => Failure::input(error.kind(), format!("{port}: {error}")),
        other => other.into(),
    })?;
    let names =
        [file.display().to_string(), data.display().to_string(), port.into(), "image".into()];
    let report = DeviceComparison::new(names, None, &run, parity, cost);
    Ok(DeviceComparison { evidence, ..report })
}

/// Streams recordings to a board at a port that watches them, and compares what it reports.
fn watch(arguments: &Arguments, model: &WatcherModel) -> Result<(), Failure> {
    let what = model.what();
    let refused = |why: &str| Err(Failure::input(Topic::Unsupported, format!("{what}: {why}")));
    let Some(port) = &arguments.at_port.port else {
        return refused(&format!(
            "`run` emulates no such model; `fishweir new FOLDER --board {} --model MODEL --data DATA`, then `cargo run --release` \
             there, does. A board at --port runs what `fishweir new --application stream` writes",
            Board::default_name()
        ));
    };
    if arguments.number == NumberName::Q15 {
        return refused("such a model runs in f32 on a board; omit --number");
    }
    let mut series = Vec::new();
    for path in &arguments.data {
        match model.data(path, (&arguments.reading, &arguments.gathering))? {
            WatchedData::Series(data) => series.push(data),
            WatchedData::Records(_) => {}
        }
    }
    let views = series.iter().flat_map(|data| data.series()).map(|one| one.samples.view());
    let recording = Recording::new(views, arguments.limit.map(NonZeroUsize::get));
    let lines = match model {
        WatcherModel::Spotter(spotter, _) => {
            WatchedLines::of_spotter(spotter, &recording.in_part(spotter.lacks_some()))
        }
        WatcherModel::Detector(detector, _) => {
            WatchedLines::of_detector(detector, &recording.in_part(detector.lacks_some()))
        }
        WatcherModel::Records(..) => WatchedLines::default(),
    };
    let samples = lines.samples;
    let names = [arguments.model.as_path(), arguments.data[0].as_path(), Path::new(port)];
    let (options, link) = arguments.at_port.open(port)?;
    let report = compare_lines(&link, &lines, names, samples, &options)?;
    arguments.page.write("run", &report, |document| {
        document::add_model(
            document,
            &arguments.model,
            &recognise::read(&arguments.model)?,
            false,
        )?;
        if let Some(data) = series.first() {
            *document = std::mem::take(document).with_data(data);
        }
        Ok(())
    })?;
    crate::output::print_report(&report, arguments.json)?;
    check_lines(&report)
}

/// Exchanges the pieces with a board at a port, and compares its lines. `names` are those of model, data and port.
pub(super) fn compare_lines(
    link: &Port,
    lines: &WatchedLines,
    names: [&Path; 3],
    samples: usize,
    options: &Options,
) -> Result<LineComparison, Failure> {
    let names = names.map(|name| name.display().to_string());
    let bar = progress::samples(format!("running at {}", names[2]), lines.pieces.len());
    let progress = |answers: usize| bar.set_position(answers as u64);
    let started = Instant::now();
    let told = exchange_at_port(link, &lines.pieces, options, &progress);
    bar.finish_and_clear();
    let told =
        told.map_err(|error| Failure::input(error.kind(), format!("{}: {error}", names[2])))?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(LineComparison::new(names, samples, &told, &lines.expected, seconds))
}

/// Differences are a failure, and so are samples and lines that were lost.
pub(super) fn check_lines(report: &LineComparison) -> Result<(), Failure> {
    match (report.differing_answers, report.lost) {
        (0, 0) => Ok(()),
        (_, lost @ 1..) => Err(Failure::check(
            Topic::LostSamples,
            format!("{lost} samples or answers were lost on the line; run again"),
        )),
        (count, _) => Err(Failure::check(
            Topic::BitsDiffer,
            format!("{count} answers differ between host and device"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use crate::Message;
    use fishweir_core::Version;

    use super::*;

    #[test]
    fn nothing_is_claimed_where_host_and_device_compute_differently() {
        let host = Profile::of(NumberFormat::F32);
        let device = Profile {
            libm: Version([0, 2, 15]),
            micromath: Some(Version([2, 1, 0])),
            format: NumberFormat::Q15,
            ..host
        };
        let names = ["on the host", "on the device"];
        assert!(profile_differences([host, host], names).is_empty());
        let differences = profile_differences([host, device], names);
        let libm = host.libm;
        assert_eq!(
            differences,
            [
                format!("libm: {libm} on the host, 0.2.15 on the device"),
                "micromath: off on the host, 2.1.0 on the device".into(),
                "numbers: f32 on the host, q15 on the device".into(),
            ]
        );
        // Not even where no bit happens to differ.
        let parity = Parity::default();
        assert!(check_parity(&parity, &[]).is_ok());
        let Err(Failure::Check(Message { text: said, .. })) = check_parity(&parity, &differences)
        else {
            panic!("a claim");
        };
        assert!(differences.iter().all(|difference| said.contains(difference)), "{said}");
    }
}
