//! `fishweir teach`.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use fishweir::data::{Dataset, Window, Windows};
use fishweir::deploy::Deployed;
use fishweir::files;
use fishweir::report::{TeachingCost, counted, grouped};
use fishweir::teach::Taught;
use serde::Serialize;

use super::model::Model;
use super::output::{self, Outputs};
use super::reading::{Gathering, Reading};
use super::teach_port::{self, TaughtBoard};
use super::{Failure, Topic, note, read, tell};
use crate::help::brief;

pub(super) const LONG_ABOUT: &str = "\
Teach a model classes by showing windows of them, as a device is taught, or forget taught classes.

MODEL was fitted with `fit --teachable`. Each labelled window of DATA is shown to the class of its label, in the order of the \
file; windows of classes that the model knows are left out, and counted. --class names one class for all windows. OUT is the \
record that a device keeps in its slot, to the byte: a device that was shown the same windows holds the same record.

`predict --taught OUT` decides between the known and the taught classes. --port shows the windows to a board, which runs the image \
`teach` around the model or a project of `fishweir new --application teach`, decides between all classes from then on, and keeps them in its slot.

Exit codes: 0 done, 2 bad input.";

/// Options that `-h` shows.
const SHOWN: &[&str] = &["model", "output", "taught", "class", "windows", "forget", "port", "json"];

const EXAMPLES: &str = "\
Examples:
  fishweir fit gait.csv --window 200 --teachable -o gait.json
  fishweir teach limping.csv --class limping --windows 12 --model gait.json -o gait.taught
  fishweir predict other.csv --model gait.json --taught gait.taught
  fishweir teach --forget limping --taught gait.taught --model gait.json -o gait.taught.new
  fishweir teach limping.csv --class limping --windows 12 --model gait.json --port /dev/ttyACM0";

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Series of the classes to teach
    #[arg(required_unless_present_any = ["forget", "taught"])]
    data: Vec<PathBuf>,
    /// Model fitted with `fit --teachable` (JSON), or its artefact
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// File of the taught classes, - for standard output [default: none, with the report alone]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Classes taught before, to begin with
    #[arg(long, value_name = "FILE")]
    taught: Option<PathBuf>,
    /// Class of all windows, with labels or without: 1 to 16 bytes
    #[arg(long, value_name = "NAME", requires = "data")]
    class: Option<String>,
    /// Show at most N windows to each class [default: all]
    #[arg(long, value_name = "N", requires = "data")]
    windows: Option<NonZeroUsize>,
    /// Forget a taught class, before windows are shown; may be repeated
    #[arg(long, value_name = "NAME")]
    forget: Vec<String>,
    #[command(flatten)]
    board: TaughtBoard,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    gathering: Gathering,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// Reads classes taught to a model; `None` without a file.
pub(super) fn taught(model: &Model, path: Option<&Path>) -> Result<Option<Taught>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let (file, bytes) = (path.display().to_string(), files::read(path)?);
    Ok(Some(Taught::from_record(&model.deployed, &file, &bytes)?))
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let inputs = arguments.data.iter().chain(&arguments.taught).chain([&arguments.model]);
    let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
    let written: Vec<&Path> = arguments.output.iter().map(PathBuf::as_path).collect();
    let outputs = Outputs::check(&written, &inputs)?;
    let model = Model::read(&arguments.model)?;
    let mut classes = match taught(&model, arguments.taught.as_deref())? {
        Some(taught) => taught,
        None => Taught::new(&model.deployed)?,
    };
    if let Some(port) = &arguments.board.port {
        if arguments.data.is_empty() {
            let of = (&outputs, arguments.json);
            return teach_port::run(&arguments.board, port, &arguments.forget, &[], of);
        }
        let Some(data) = read_data(arguments, &model)? else { return Ok(()) };
        let windowing = model.windowing(None);
        if windowing.is_none() {
            let what =
                "a device shows windows, and the model decides whole series: fit with --window";
            return Err(Failure::input(Topic::Unsupported, what));
        }
        let windows = data.windows(windowing.as_ref());
        let shown = chosen(arguments, &model, &data, &windows)?;
        let lessons = teach_port::lessons(&shown);
        let of = (&outputs, arguments.json);
        return teach_port::run(&arguments.board, port, &arguments.forget, &lessons, of);
    }
    if !arguments.forget.is_empty() && arguments.taught.is_none() {
        let what = "classes are forgotten of a file, --taught FILE, or of a board, --port PORT";
        return Err(Failure::input(Topic::MissingOption, what));
    }
    for name in &arguments.forget {
        classes.forget(name)?;
    }
    if !arguments.data.is_empty() {
        let Some(data) = read_data(arguments, &model)? else { return Ok(()) };
        let windowing = model.windowing(None);
        let windows = data.windows(windowing.as_ref());
        let mut stream = model.deployed.stream();
        for (name, window) in chosen(arguments, &model, &data, &windows)? {
            stream.take_window(window.samples);
            classes.show(&name, &stream)?;
        }
    }
    let record = classes.to_record();
    match &arguments.output {
        Some(output) => output::write(output, &record)?,
        None if !arguments.data.is_empty() || !arguments.forget.is_empty() => {
            note(Topic::NothingToWrite, "what was taught is not kept: name a file by --output");
        }
        None => {}
    }
    let output = arguments.output.as_ref().map(|path| path.display().to_string());
    let report = TaughtReport::new(&model.deployed, &classes, record.len(), output);
    outputs.print(&report, arguments.json)
}

/// Reads the data; `None` where only its reading was shown.
fn read_data(arguments: &Arguments, model: &Model) -> Result<Option<Dataset>, Failure> {
    let data = read::to_decide(&arguments.data, &arguments.reading, &arguments.gathering, model)?;
    let only = arguments.gathering.shows(&data, arguments.json)?;
    Ok((!only).then_some(data))
}

/// The windows to show, with the names of their classes.
fn chosen<'d>(
    arguments: &Arguments,
    model: &Model,
    data: &Dataset,
    windows: &Windows<'d>,
) -> Result<Vec<(String, Window<'d>)>, Failure> {
    tell::windows(data, model.windowing(None).as_ref());
    let (mut known, mut empty) = (0_usize, 0_usize);
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut chosen = Vec::new();
    let mut stream = model.deployed.stream();
    for window in windows.all() {
        let label = window.label().and_then(|label| data.classes().get(label));
        let name = arguments.class.as_ref().or(label);
        let Some(name) = name else {
            let what = format!("{}: the series have no labels; name their class", data.source());
            return Err(Failure::input(Topic::MissingOption, what + ": --class NAME"));
        };
        if arguments.class.is_none() && model.deployed.classes().contains(name) {
            known += 1;
            continue;
        }
        let count = counts.entry(name).or_default();
        if arguments.windows.is_some_and(|most| *count >= most.get()) {
            continue;
        }
        if !stream.take_window(window.samples) {
            empty += 1;
            continue;
        }
        *count += 1;
        chosen.push((name.clone(), *window));
    }
    if known > 0 {
        let what = "windows of classes that the model knows were not shown";
        note("known-classes", format_args!("{}: {known} {what}", data.source()));
    }
    if empty > 0 {
        let what = "windows without an observed sample were not shown";
        note(Topic::Unobserved, format_args!("{}: {empty} {what}", data.source()));
    }
    if chosen.is_empty() {
        let what =
            format!("{}: no window was shown: all are of known classes, or empty", data.source());
        return Err(Failure::input("nothing-taught", what + "; --class NAME teaches another name"));
    }
    Ok(chosen)
}

/// Report of classes that were taught.
#[derive(Debug, Serialize)]
struct TaughtReport {
    /// The classes, by their places.
    classes: Vec<TaughtSummary>,
    /// Bytes of their record.
    record_bytes: usize,
    /// The file of the record; `None` if it was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// Cost on a device.
    cost: Option<TeachingCost>,
}

/// A class that was taught.
#[derive(Debug, Serialize)]
struct TaughtSummary {
    /// The name.
    class: String,
    /// Windows shown.
    windows: u16,
}

impl TaughtReport {
    /// Report of the classes taught to a model, and of the file that they were written to.
    fn new(
        deployed: &Deployed,
        taught: &Taught,
        record_bytes: usize,
        output: Option<String>,
    ) -> Self {
        let mut classes = Vec::new();
        for (class, windows) in taught.classes() {
            classes.push(TaughtSummary { class: class.to_owned(), windows });
        }
        Self { classes, record_bytes, output, cost: TeachingCost::of(deployed) }
    }
}

impl fmt::Display for TaughtReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.classes.is_empty() {
            writeln!(f, "no taught class")?;
        }
        for TaughtSummary { class, windows } in &self.classes {
            writeln!(f, "{class}: taught by {}", counted(usize::from(*windows), "window"))?;
        }
        if let Some(cost) = &self.cost {
            writeln!(f, "{cost}")?;
        }
        match &self.output {
            Some(output) => writeln!(f, "{} B written to {output}", grouped(self.record_bytes)),
            None => Ok(()),
        }
    }
}
