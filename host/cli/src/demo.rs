//! `fishweir demo`: the whole way through, on the bundled recordings.

use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use fishweir::data::{Dataset, ReadOptions, Rows, Samples, Window};
use fishweir::deploy::Deployed;
use fishweir::device::{Board, DeviceError, Firmware};
use fishweir::evaluate::{CrossValidationOptions, Figures, Latency, Roc, Units, judge};
use fishweir::files;
use fishweir::internals::RECORDINGS;
use fishweir::learn::ClassifierKind;
use fishweir::parity::{Form, Recording};
use fishweir::plot::{Reading, Segment, StreamPlot, traces};
use fishweir::report::{
    self, CrossValidationReport, DataSummary, DeviceComparison, FitReport, ModelEvaluation, Report,
    counted, grouped, printable,
};
use serde::Serialize;

use super::arguments::TrainingArguments;
use super::failure::report_format;
use super::reading::Cutting;
use super::run::{check, on_device, prepare};
use super::{Failure, Topic, evaluate, fit, training};

/// Name of [`RECORDINGS`].
const RECORDINGS_NAME: &str = "ts-watch-exercises/all.csv.gz";
const SAMPLES_PER_SECOND: f64 = 50.0;
const GROUP: &str = "subject";
/// Channels that change sign between the left arm and the right.
///
/// The acceleration across the wrist is reversed, and two angular rates, those about the other axes.
const MIRROR: [&str; 3] = ["ax", "wy", "wz"];
/// Four seconds, a decision every second.
const WINDOW: NonZeroUsize = NonZeroUsize::new(200).expect("positive");
const HOP: NonZeroUsize = NonZeroUsize::new(50).expect("positive");
const FOLDS: usize = 3;
/// Number of samples of each series for the device, as an emulator is slow: two decisions. `fishweir run` runs all.
const DEVICE_SAMPLES: usize = WINDOW.get() + HOP.get();

const EXAMPLES: &str = "\
Examples:
  fishweir demo -o out
  fishweir demo --run";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folder for all that is made
    #[arg(short, long, value_name = "DIR", default_value = "out")]
    output: PathBuf,
    /// Run the model under QEMU too, and compare every bit: half a minute more, most of it to build the image
    #[arg(long)]
    run: bool,
    /// Report as JSON on standard output, stages on standard error
    #[arg(long)]
    json: bool,
}

/// All results, as they are written next to the model.
#[derive(Debug, Serialize)]
struct Results {
    cross_validation: CrossValidationReport,
    fit: FitReport,
    held_out: ModelEvaluation,
    /// Null without `--run`, and where the emulator or the device's target is missing.
    device: Option<DeviceComparison>,
    seconds: f64,
}

/// Reporter of the stages.
struct Narrator {
    to_stderr: bool,
    stages: usize,
    stage: usize,
    started: Instant,
}

impl Narrator {
    fn say(&self, text: impl std::fmt::Display) -> Result<(), Failure> {
        let text = text.to_string();
        let text = printable(&text);
        if self.to_stderr {
            writeln!(io::stderr(), "{text}")?;
            return Ok(());
        }
        let mut out = io::stdout().lock();
        writeln!(out, "{text}")?;
        Ok(out.flush()?)
    }

    fn stage(&mut self, text: impl std::fmt::Display) -> Result<(), Failure> {
        self.stage += 1;
        let seconds = self.started.elapsed().as_secs();
        self.say(format_args!("\n[{} of {}, after {seconds} s] {text}", self.stage, self.stages))
    }

    fn show(&self, report: &impl Report) -> Result<(), Failure> {
        let mut text = Vec::new();
        report::write(report, report_format(false), &mut text)?;
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<String> =
            text.lines().map(|line| format!("    {line}").trim_end().to_owned()).collect();
        self.say(lines.join("\n"))
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let started = Instant::now();
    let stages = if arguments.run { 5 } else { 4 };
    let mut tell = Narrator { to_stderr: arguments.json, stages, stage: 0, started };
    let folder = arguments.output.as_path();
    fs::create_dir_all(folder).map_err(|error| {
        Failure::input(
            Topic::UnwritableFolder,
            format!("{}: cannot be made: {error}", folder.display()),
        )
    })?;
    let data = Dataset::parse(RECORDINGS_NAME, RECORDINGS, &ReadOptions::default())?;
    let cutting = Cutting::of(WINDOW, HOP);
    // What `fit` takes without any other option.
    let training = TrainingArguments::by_group(GROUP);
    // To choose by inner cross-validation takes most of the time, and gains no more than noise here.
    let judged = training.clone().mirrored(&MIRROR).without_choice(1.0, 0.3);
    let (of_series, subjects) = data.groups(GROUP)?;
    tell.say(format_args!(
        "fishweir: hidden Markov models on the host, their Fisher scores on a microcontroller.\n\
         Data: {}, {} by {}, {} at {SAMPLES_PER_SECOND} Hz from a smart watch.",
        counted(data.classes().len(), "shoulder exercise"),
        counted(data.series().len(), "series"),
        counted(subjects.len(), GROUP),
        counted(data.observations(), "sample"),
    ))?;

    let firmware = arguments.run.then(firmware_and_board);
    // An image links on one core: what this one stands on is built meanwhile.
    let prepared =
        firmware.as_ref().and_then(|found| found.as_ref().ok()).map(|(firmware, board)| {
            let (firmware, board) = (firmware.clone(), *board);
            thread::spawn(move || prepare(&firmware, board))
        });
    tell.stage(format_args!(
        "Cross-validating two classifiers in {FOLDS} folds: each subject is judged by models that were trained on \
         others. Training also uses mirrored copies of the series, as from the other arm, and slightly rotated ones, \
         as from a watch that sits askew. Scaling, C and the floor of standard deviations are fixed here; `fishweir \
         evaluate` chooses them by cross-validation within the training folds, which takes longer."
    ))?;
    let kinds = [ClassifierKind::Bayes, ClassifierKind::Fisher];
    let folds = CrossValidationOptions { folds: FOLDS, seed: None };
    let cross_validation = evaluate::cross_validation(
        &data,
        &kinds,
        &judged,
        &cutting,
        (folds, None),
        &mut evaluate::FoldTasks::Here,
    )?;
    tell.show(&cross_validation)?;

    // The last subject: any will do, as long as nobody picks.
    let held_out = subjects.len() - 1;
    let subject = &subjects[held_out];
    let (inside, outside): (Vec<usize>, Vec<usize>) =
        (0..of_series.len()).partition(|&series| of_series[series] != held_out);
    tell.stage(format_args!(
        "Fitting the model for the device, without subject {subject}: the default, one model per lag, with codebooks."
    ))?;
    let request = training.request(ClassifierKind::Fisher, &cutting)?;
    let trained = training::fit(&data, &inside, &request)?;
    let deployed = trained.classifier.deploy()?;
    let at = |name: &str| folder.join(name);
    let file = at("model.json").display().to_string();
    let fit = fit::report(&data, &inside, &request, &trained, &deployed, file);
    tell.show(&fit)?;
    let windows = data.windows(request.windowing.as_ref());
    let cut: Vec<Window<'_>> = windows.of_all(&outside).copied().collect();
    let judged = judge(&deployed, &cut);
    let of_series: Vec<usize> = judged.iter().map(|one| one.series).collect();
    let held_out = ModelEvaluation {
        model: fit.model.clone(),
        classifier: fit.classifier.clone(),
        emission: fit.emission.clone(),
        data: DataSummary {
            data: format!("subject {subject} of {RECORDINGS_NAME}"),
            ..DataSummary::of(&data, Some(&outside), request.windowing.as_ref())
        },
        figures: Some(Figures::of(data.classes(), &judged).with_intervals(&judged, &of_series)),
        unknown: Vec::new(),
        believed: None,
        interval: Units::of(&judged, &of_series).accuracy(),
        latency: Latency::of(&judged),
        out_of_core: None,
        roc: Roc::of(data.classes().len(), &judged),
        cost: deployed.device_cost(),
        group: None,
        groups: Vec::new(),
    };
    tell.say("")?;
    tell.show(&held_out)?;

    tell.stage("Exporting the model: JSON, Rust source with a static, binary artefact.")?;
    trained.classifier.save(&at("model.json"))?;
    files::write_whole(&at("model.rs"), deployed.to_source().as_bytes())?;
    files::write_whole(&at("model.fishweir"), &deployed.to_artefact()?)?;
    for name in ["model.json", "model.rs", "model.fishweir"] {
        let bytes = fs::metadata(at(name)).map_or(0, |file| file.len());
        tell.say(format_args!("    {}: {} B", at(name).display(), grouped(bytes as usize)))?;
    }

    tell.stage(format_args!("Drawing the margins along one stream of subject {subject}."))?;
    files::write_whole(&at("stream.svg"), figure(&data, &outside, &deployed, subject)?.as_bytes())?;
    tell.say(format_args!("    {}", at("stream.svg").display()))?;

    if arguments.run {
        tell.stage(
            "Running the model on an emulated Cortex-M4F, over the first two windows of each of the subject's \
             series, every bit compared with the host.",
        )?;
    }
    // Whatever came of it: the build around the model says.
    prepared.map(thread::JoinHandle::join);
    let device = match firmware {
        None => None,
        Some(Ok((firmware, board))) => {
            let streams = outside.iter().map(|&series| {
                let view = data.series()[series].samples.view();
                view.slice(0..view.len().min(DEVICE_SAMPLES))
            });
            let recording = Recording::new(streams, None);
            let name = PathBuf::from(format!("the first windows of {}", held_out.data.data));
            let names = (Path::new("model.rs"), name.as_path());
            let report = on_device((&firmware, board), &deployed, &recording, names, Form::Source)?;
            tell.show(&report)?;
            Some(report)
        }
        Some(Err(missing)) => {
            tell.say("    NOT DONE: something is missing on this machine. To do it:")?;
            for what in missing {
                tell.say(format_args!("      {what}"))?;
            }
            None
        }
    };

    let seconds = started.elapsed().as_secs_f64();
    let results = Results { cross_validation, fit, held_out, device, seconds };
    let mut text = serde_json::to_string_pretty(&results)?;
    text.push('\n');
    files::write_whole(&at("results.json"), text.as_bytes())?;
    tell.say(format_args!(
        "\nDone in {seconds:.0} s; all numbers are in {}.",
        at("results.json").display()
    ))?;
    if arguments.json {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
    }
    results.device.as_ref().map_or(Ok(()), check)
}

/// The firmware's folder and the board, or instructions for building and running it.
fn firmware_and_board() -> Result<(Firmware, &'static Board), Vec<String>> {
    let say = |error: DeviceError| vec![error.to_string()];
    let firmware = fishweir_sources::firmware().map_err(|error| vec![error.to_string()])?;
    let board = Board::named(Board::default_name()).map_err(say)?;
    let missing = board.missing();
    if missing.is_empty() { Ok((firmware, board)) } else { Err(missing) }
}

/// One arm's series one after another as one stream, and the decision on each window of it, as
/// `fishweir predict --stream` decides.
fn figure(
    data: &Dataset,
    series: &[usize],
    deployed: &Deployed,
    subject: &str,
) -> Result<String, Failure> {
    let arm = data.columns().iter().position(|name| name == "side");
    let side = |index: usize| arm.map(|column| data.series()[index].columns[column].as_str());
    let first = series.first().and_then(|&index| side(index));
    let mut rows = Rows::new(data.kind().dimension().unwrap_or(0));
    let mut segments: Vec<Segment> = Vec::new();
    for &index in series.iter().filter(|&&index| side(index) == first) {
        let one = &data.series()[index];
        let (Some(view), Some(class)) = (one.samples.view().rows(), one.label) else { continue };
        let start = rows.view().len();
        view.iter().for_each(|row| rows.push(row));
        let seconds = |samples: usize| samples as f64 / SAMPLES_PER_SECOND;
        segments.push(Segment { time: seconds(start)..seconds(start + view.len()), class });
    }
    let samples = Samples::Channels(rows);
    let view = samples.view();
    let mut stream = deployed.window_stream();
    let mut readings = Vec::new();
    let (mut whole, mut right) = (0, 0);
    for sample in view.iter() {
        stream.push(sample)?;
        let Some(window) = stream.decided() else { continue };
        let class = window.stream.decision()?.class;
        let [start, end] = [window.start, window.end].map(|at| at as f64 / SAMPLES_PER_SECOND);
        let mut segments = segments.iter();
        if let Some(segment) =
            segments.find(|segment| segment.time.start <= start && end <= segment.time.end)
        {
            whole += 1;
            right += usize::from(class == segment.class);
        }
        readings.push(Reading { from: start, time: end, class, leads: window.stream.leads()? });
    }
    let seconds = |samples: usize| samples as f64 / SAMPLES_PER_SECOND;
    let subtitle = format!(
        "Subject {subject}, on whom the model was not trained, does {} one after another.\nEvery {} s the last {} s \
         of raw samples are decided on; of the {whole} windows that lie within one exercise {:.0} % are right.",
        counted(segments.len(), "exercise"),
        seconds(HOP.get()),
        seconds(WINDOW.get()),
        100.0 * f64::from(right as u32) / f64::from(whole.max(1)),
    );
    let plot = StreamPlot {
        title: "Which exercise is it? Margin of each class along a live stream",
        subtitle: &subtitle,
        classes: data.classes(),
        segments: &segments,
        readings: &readings,
        traces: &traces(data.kind(), view),
        rate: Some(SAMPLES_PER_SECOND),
    };
    Ok(plot.to_svg())
}
