//! `fishweir detect`.

use std::fmt;
use std::path::{Path, PathBuf};

use fishweir::classifier::Contract;
use fishweir::data::{Dataset, Kind, Period, ReadOptions};
use fishweir::deploy::{Calibration, DetectorModel};
use fishweir::detect::{Change, DetectorPlan};
use fishweir::fit::BaumWelch;
use fishweir::report::{DataSummary, DetectionReport, counted};
use fishweir_core::classify::Statistic;
use serde::Serialize;

use super::c::ForC;
use super::emitting::Emitting;
use super::help::brief;
use super::model::Model;
use super::options::{named, note_idle};
use super::output::{self, Outputs};
use super::reading::{Gathering, Reading};
use super::recipe::Recipe;
use super::timeline::draw_alarms;
use super::values::positive;
use super::{Failure, Topic, next, note, progress, read, recognise, tell};

pub(super) const LONG_ABOUT: &str = "\
Fit a detector of change to normal series, for streams without labels; or find changes with it.

The first third of each series fits a model. The second third sets two limits for the wanted mean time between false \
alarms: one for the recent log-likelihood, and one for its derivative along the change given by --changed or --offset. The \
last third, which neither has seen, measures the false alarms.

-o FILE keeps the detector. With --model FILE it finds changes in DATA and lists its alarms as CSV: \
series,sample,statistic,value. The statistic is `unlikely` if the log-likelihood of recent samples is out of its normal \
range, and `change` if its derivative is. After an alarm the detector starts again.

info FILE reports the cost of a detector; export FILE --rust writes Rust source for firmware, --c a library for firmware \
in C.";

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "changed",
    "offset",
    "mean_time",
    "memory",
    "model",
    "output",
    "draw",
    "rust",
    "c",
    "states",
    "emission",
    "json",
];

const EXAMPLES: &str = "\
Examples:
  fishweir detect normal.csv --mean-time 10000 -o pump.json
  fishweir detect today.csv --model pump.json       # lists the alarms
  fishweir detect today.csv --model pump.json --draw alarms.svg
  fishweir detect normal.csv --mean-time 10000 --changed worn.csv -o pump.json";

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Normal series, labelled or not; with --model, series to find changes in
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Detector that -o wrote, to find changes with
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["changed", "offset", "output", "rust", "c"])]
    model: Option<PathBuf>,
    /// Write the detector to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Series after the change that the detector should find
    #[arg(long, value_name = "DATA", conflicts_with = "offset")]
    changed: Option<PathBuf>,
    /// Make the detector for an offset of a channel; it is tried with this size, in the channel's units
    #[arg(long, value_name = "CHANNEL=SIZE", value_parser = offset)]
    offset: Option<(String, f64)>,
    /// Mean number of samples between false alarms
    #[arg(long, value_name = "SAMPLES", value_parser = positive, required_unless_present_any = ["model", "dry_run"])]
    mean_time: Option<f64>,
    /// Number of recent samples that the detector is about [default: 50]
    #[arg(long, value_name = "SAMPLES", value_parser = positive)]
    memory: Option<f64>,
    /// Also draw a series to this file: the first with an alarm among the changed series, or else of DATA
    #[arg(long, value_name = "FILE.svg")]
    draw: Option<PathBuf>,
    /// Rust source with a static of the detector, for linking into firmware; - for standard output
    #[arg(long, value_name = "FILE.rs")]
    rust: Option<PathBuf>,
    #[command(flatten)]
    for_c: ForC,
    /// Hidden states of the model [default: 4]
    #[arg(long, value_name = "N", help_heading = "Training")]
    states: Option<usize>,
    /// Smallest standard deviation of a state, as a fraction of the channel's [default: 0.3]
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
    #[command(flatten)]
    gathering: Gathering,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// Default memory of a detector in samples.
const MEMORY: f64 = 50.0;

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

pub(super) fn run(arguments: &Arguments, recipe: Recipe) -> Result<(), Failure> {
    match &arguments.model {
        Some(model) => find(arguments, model),
        None => train(arguments, recipe),
    }
}

/// An alarm of a detector.
#[derive(Serialize)]
struct Alarm {
    series: String,
    /// Index from 0.
    sample: usize,
    statistic: &'static str,
    value: f32,
}

/// Alarms in a data set.
#[derive(Serialize)]
struct Alarms {
    data: String,
    samples: usize,
    alarms: Vec<Alarm>,
}

impl fmt::Display for Alarms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = csv::Writer::from_writer(Vec::new());
        let mut write = |record: [&str; 4]| table.write_record(record).map_err(|_| fmt::Error);
        write(["series", "sample", "statistic", "value"])?;
        for Alarm { series, sample, statistic, value } in &self.alarms {
            write([series, &sample.to_string(), statistic, &format!("{value:.3}")])?;
        }
        let bytes = table.into_inner().map_err(|_| fmt::Error)?;
        f.write_str(&String::from_utf8_lossy(&bytes))
    }
}

/// Reads the file of a detector.
fn kept(model: &Path) -> Result<DetectorModel, Failure> {
    let file = model.display().to_string();
    let bytes = recognise::read(model)?;
    DetectorModel::parse(&file, &bytes).map_err(|error| match Model::parse(model, &bytes) {
        Ok(_) => Failure::input(
            Topic::WrongModel,
            format!(
                "{file}: this is a classifier, not a detector of change: evaluate, predict and export take it"
            ),
        ),
        Err(refused) if error.kind() == "not-a-model" => refused,
        Err(_) => error.into(),
    })
}

/// Lists the alarms of a detector read from a file.
fn find(arguments: &Arguments, model: &Path) -> Result<(), Failure> {
    let Arguments { states, std_floor, restarts, seed, emitting, .. } = arguments;
    let trained = named([
        ("--mean-time", arguments.mean_time.is_some()),
        ("--memory", arguments.memory.is_some()),
        ("--states", states.is_some()),
        ("--std-floor", std_floor.is_some()),
        ("--restarts", restarts.is_some()),
        ("--seed", seed.is_some()),
        ("--emission", emitting.emission().is_some()),
        ("--components", emitting.components().is_some()),
    ]);
    note_idle(&trained, "the detector is trained")?;
    let figure: Vec<&Path> = arguments.draw.iter().map(PathBuf::as_path).collect();
    let inputs: Vec<&Path> = arguments.data.iter().map(PathBuf::as_path).chain([model]).collect();
    Outputs::check(&figure, &inputs)?;
    let kept = kept(model)?;
    let detector = kept.deploy()?;
    let contract = kept.provenance.contract_in_part();
    let of_model = (detector.observations(), detector.values(), Some(&contract));
    let fit = |reading: &Reading| reading.options_that_fit(of_model, None);
    let given = (&arguments.reading, &arguments.gathering);
    let recipe = kept.provenance.recipe.as_deref();
    let (data, options) = read::by_recipe(recipe, &arguments.data, given, fit)?;
    read::check(&data, &options, Some(&contract), &[])?;
    if arguments.gathering.shows(&data, arguments.json)? {
        return Ok(());
    }
    if let Some(path) = &arguments.draw {
        draw_alarms(path, &kept, &detector, &data, false)?;
        if output::is_standard(path) {
            return Ok(());
        }
    }
    let mut stream = detector.stream();
    let mut alarms = Vec::new();
    for series in data.series() {
        stream.reset();
        for (sample, x) in series.samples.view().iter().enumerate() {
            let reading = stream.watch(x);
            let Some(alarm) = reading.alarm else { continue };
            let statistic = match alarm {
                Statistic::Fit => "unlikely",
                Statistic::Drift(_) => "change",
            };
            let value = reading.value(alarm).unwrap_or_default();
            alarms.push(Alarm { series: series.id.clone(), sample, statistic, value });
        }
    }
    if alarms.is_empty() {
        let samples = counted(data.observations(), "sample");
        note(Topic::NothingFound, format_args!("{}: no alarm in {samples}", data.source()));
    }
    let (source, samples) = (data.source().to_owned(), data.observations());
    let report = Alarms { data: source, samples, alarms };
    match arguments.json {
        true => crate::output::print_report(&report, true),
        false => output::print(report.to_string().as_bytes()),
    }
}

/// Makes a detector, tries it, and writes it if requested.
fn train(arguments: &Arguments, recipe: Recipe) -> Result<(), Failure> {
    arguments.for_c.check(false)?;
    let outputs = arguments.rust.iter().chain(&arguments.output).chain(&arguments.draw);
    let outputs: Vec<&Path> = outputs.map(PathBuf::as_path).collect();
    let inputs: Vec<&Path> =
        arguments.changed.iter().chain(&arguments.data).map(PathBuf::as_path).collect();
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
    let reading = arguments.gathering.add_to(reading, None);
    let normal = read::all_against(&arguments.data, &reading, None, &[])?;
    if arguments.gathering.shows(&normal, arguments.json)? {
        return Ok(());
    }
    tell::room_to_fit(&normal, baum_welch.states)?;
    let floor = named([("--std-floor", arguments.std_floor.is_some())]);
    if matches!(normal.kind(), Kind::Symbols(_)) {
        note_idle(&floor, "the data are symbols, not channels")?;
    } else if baum_welch.emission.is_some_and(|family| !family.has_floor()) {
        let why = format!("{} have no standard deviation", reading.values);
        note_idle(&floor, why)?;
    }
    let reading = ReadOptions { kind: Some(normal.kind().clone()), ..reading };
    let all: Vec<usize> = (0..normal.series().len()).collect();
    let contract = Contract { period: Period::of(&normal, &all), ..Contract::default() };
    let reading = arguments.reading.at_rate_of(Some(&contract), reading)?;
    let changed = arguments.changed.as_ref();
    let changed = changed.map(|path| read::against(path, &reading, None, &[])).transpose()?;
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
    // The command line has the mean time, or a model, or is dry.
    let mean_time = arguments.mean_time.unwrap_or_default();
    let calibration = Calibration { memory: arguments.memory.unwrap_or(MEMORY), mean_time };
    let plan = DetectorPlan { baum_welch, calibration, change };
    let trial = plan.carry_out(&normal, &|| bar.inc(1));
    bar.finish_and_clear();
    let mut trial = trial?;
    trial.model.provenance.recipe = recipe;
    if trial.changes.as_ref().is_some_and(|changes| changes.changed.samples.is_empty()) {
        note(
            Topic::NothingFound,
            format_args!(
                "{}: no change was detected in any series; lower --mean-time, or give another change",
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
    if let Some(path) = &arguments.draw {
        let data = changed.as_ref().unwrap_or(&normal);
        draw_alarms(path, &trial.model, &trial.detector, data, changed.is_none())?;
    }
    if let Some(file) = &arguments.output {
        output::write(file, trial.model.to_json()?.as_bytes())?;
        report.file = Some(file.display().to_string());
    }
    if let Some(file) = &arguments.rust {
        output::write(file, trial.detector.to_source().as_bytes())?;
        report.detector = Some(file.display().to_string());
    }
    report.c_library =
        arguments.for_c.write(|| trial.detector.to_source())?.map(|(folder, _)| folder);
    let next = match &report.file {
        Some(file) => {
            let file = next::file(file);
            format!(
                "fishweir detect DATA --model {file} lists alarms, fishweir export {file} --rust for firmware"
            )
        }
        None if report.is_unwritten() => {
            "to keep the detector, name a file with -o or --rust, or a folder with --c".to_owned()
        }
        None => return outputs.print_with(&report, arguments.json, next::hint(None).as_deref()),
    };
    outputs.print_with(&report, arguments.json, next::hint(Some(next)).as_deref())
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
