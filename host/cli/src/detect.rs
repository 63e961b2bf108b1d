//! `fishweir detect`.

use std::path::{Path, PathBuf};

use fishweir::classifier::Contract;
use fishweir::data::{Dataset, Kind, Period, ReadOptions};
use fishweir::deploy::Calibration;
use fishweir::detect::{Change, DetectorPlan};
use fishweir::fit::BaumWelch;
use fishweir::report::{DataSummary, DetectionReport};

use super::c::ForC;
use super::emitting::Emitting;
use super::help::brief;
use super::options::{named, note_idle};
use super::output::{self, Outputs};
use super::reading::Reading;
use super::values::positive;
use super::{Failure, Topic, note, progress, tell};

pub(super) const LONG_ABOUT: &str = "\
Make a detector of change from series in which all is normal, for streams without labels.

The first third of every series fits a model. The second third sets two limits, so that false alarms come as \
rarely as wanted: one for the recent log-likelihood, one for its derivative along the change that you look for. \
The last third, which neither has seen, shows what to expect.

The firmware's application detect_change runs the file that --rust names; --c is for firmware in C.";

/// Options that `-h` shows.
const SHOWN: &[&str] =
    &["changed", "offset", "mean_time", "memory", "rust", "c", "states", "emission", "json"];

const EXAMPLES: &str = "\
Examples:
  fishweir detect normal.csv --mean-time 10000 --rust detector.rs
  fishweir detect normal.csv --mean-time 10000 --changed worn.csv";

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Series in which nothing changes, labelled or not
    normal: PathBuf,
    /// Series in which the change has happened, to look for it
    #[arg(long, value_name = "DATA", conflicts_with = "offset")]
    changed: Option<PathBuf>,
    /// Look for an offset of a channel, tried with this size, in the channel's units
    #[arg(long, value_name = "CHANNEL=SIZE", value_parser = offset)]
    offset: Option<(String, f64)>,
    /// Samples wanted between false alarms
    #[arg(long, value_name = "SAMPLES", value_parser = positive)]
    mean_time: f64,
    /// Samples that the detector looks back on; it sees a change after some of them
    #[arg(long, value_name = "SAMPLES", value_parser = positive, default_value_t = 50.0)]
    memory: f64,
    /// Rust source with a static of the detector, for linking into firmware; - for standard output
    #[arg(long, value_name = "FILE.rs")]
    rust: Option<PathBuf>,
    #[command(flatten)]
    for_c: ForC,
    /// Hidden states of the model [default: 4]
    #[arg(long, value_name = "N", help_heading = "Training")]
    states: Option<usize>,
    /// No standard deviation falls below this fraction of the channel's [default: 0.3]
    #[arg(long, value_name = "FRACTION", value_parser = positive, help_heading = "Training")]
    std_floor: Option<f64>,
    /// Initialisations of Baum-Welch; the likeliest fit is kept [default: 1]
    #[arg(long, value_name = "R", help_heading = "Training")]
    restarts: Option<usize>,
    /// Seed of the first initialisation; the others count up [default: 1]
    #[arg(long, value_name = "S", help_heading = "Training")]
    seed: Option<u64>,
    #[command(flatten)]
    emitting: Emitting,
    #[command(flatten)]
    reading: Reading,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// A channel and a size.
fn offset(text: &str) -> Result<(String, f64), String> {
    let parts = text.rsplit_once('=').map(|(name, size)| (name.trim(), size.trim().parse()));
    match parts {
        Some((name, Ok(size))) if !name.is_empty() && f64::is_finite(size) && size != 0.0 => {
            Ok((name.to_owned(), size))
        }
        _ => Err("name a channel and a size, as ax=0.5".into()),
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.for_c.check()?;
    let outputs: Vec<&Path> = arguments.rust.iter().map(PathBuf::as_path).collect();
    let inputs: Vec<&Path> =
        arguments.changed.iter().chain([&arguments.normal]).map(PathBuf::as_path).collect();
    let outputs = Outputs::check(&outputs, &inputs)?;
    let mut baum_welch = BaumWelch::default();
    arguments.emitting.set(&mut baum_welch)?;
    baum_welch.states = arguments.states.unwrap_or(baum_welch.states);
    baum_welch.std_floor = arguments.std_floor.unwrap_or(baum_welch.std_floor);
    baum_welch.restarts = arguments.restarts.unwrap_or(baum_welch.restarts);
    baum_welch.seed = arguments.seed.unwrap_or(baum_welch.seed);
    baum_welch.validate()?;
    let reading =
        ReadOptions { values: arguments.emitting.values(), ..arguments.reading.options() };
    let normal = tell::read_in_part(&arguments.normal, &reading)?;
    tell::room_to_fit(&normal, baum_welch.states)?;
    let floor = named([("--std-floor", arguments.std_floor.is_some())]);
    if matches!(normal.kind(), Kind::Symbols(_)) {
        note_idle(&floor, "the data are symbols, not channels")?;
    } else if baum_welch.emission.is_some_and(|family| !family.has_floor()) {
        let why = format!("{} have no standard deviation to hold", reading.values);
        note_idle(&floor, why)?;
    }
    let reading = ReadOptions { kind: Some(normal.kind().clone()), ..reading };
    let all: Vec<usize> = (0..normal.series().len()).collect();
    let contract = Contract { period: Period::of(&normal, &all), ..Contract::default() };
    let reading = arguments.reading.at_rate_of(Some(&contract), reading)?;
    let changed =
        arguments.changed.as_ref().map(|path| tell::read_in_part(path, &reading)).transpose()?;
    let change = change(arguments, &normal, changed.as_ref())?;
    let words = match (change, &arguments.offset) {
        (Change::Recorded(changed), _) => format!("what {} has", changed.source()),
        (Change::Offset { size, .. }, Some((name, _))) => {
            format!("an offset of {name}, tried with {size}")
        }
        _ => "whatever is unlikely".into(),
    };
    let fits = 1 + usize::from(changed.is_some());
    let bar = progress::fits("fitting".into(), fits, &baum_welch);
    let calibration = Calibration { memory: arguments.memory, mean_time: arguments.mean_time };
    let plan = DetectorPlan { baum_welch, calibration, change };
    let trial = plan.carry_out(&normal, &|| bar.inc(1));
    bar.finish_and_clear();
    let trial = trial?;
    if trial.changes.as_ref().is_some_and(|changes| changes.changed.samples.is_empty()) {
        note(
            Topic::NothingFound,
            format_args!(
                "{}: no change was detected in any series; lower --mean-time, or look for another change",
                normal.source()
            ),
        );
    }
    let mut report = DetectionReport::of(
        DataSummary::of(&normal, None, None),
        normal.kind(),
        &trial,
        calibration,
        words,
    );
    if let Some(file) = &arguments.rust {
        output::write(file, trial.detector.to_source().as_bytes())?;
        report.detector = Some(file.display().to_string());
    }
    report.c_library =
        arguments.for_c.write(|| trial.detector.to_source())?.map(|(folder, _)| folder);
    let unwritten = report.detector.is_none() && report.c_library.is_none();
    let hint = unwritten.then_some("to write it, name a file with --rust, or a folder with --c");
    outputs.print_with(&report, arguments.json, hint)
}

fn change<'a>(
    arguments: &Arguments,
    normal: &Dataset,
    changed: Option<&'a Dataset>,
) -> Result<Change<'a>, Failure> {
    let Some((name, size)) = &arguments.offset else {
        return Ok(changed.map_or(Change::Unknown, Change::Recorded));
    };
    let refused = |topic: Topic, what: String| {
        Err(Failure::input(topic, format!("{}: {what}", normal.source())))
    };
    let Kind::Channels(names) = normal.kind() else {
        return refused(
            Topic::WrongObservations,
            "symbols have no offset; name recordings of the change with --changed".into(),
        );
    };
    match names.iter().position(|one| one == name) {
        Some(channel) => Ok(Change::Offset { channel, size: *size }),
        None => refused(
            Topic::UnknownChannel,
            format!("no channel `{name}` for --offset, only {}", names.join(", ")),
        ),
    }
}
