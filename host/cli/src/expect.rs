//! `fishweir expect`.

use std::path::{Path, PathBuf};

use fishweir::classifier::Classifier;
use fishweir::data::Dataset;
use fishweir::parts::{FeatureSums, MachineFile, ModelFile, PartError, Share};
use fishweir::report::{PartReport, Written, counted, grouped};

use super::help::brief;
use super::model::Model;
use super::output::{self, Outputs, named_after};
use super::reading::{self, Gathering, Reading};
use super::{Failure, Topic, note, read, recognise, remedy};

pub(super) const LONG_ABOUT: &str = "\
Compute a part of a pass of Baum-Welch, or of a machine: sums over a share of the series, for merge.

The series of each class are cut into leaves of 64, in the order of DATA, and the sums of leaves are added along one tree. So \
merge gives the same bits for any number of parts, threads and machines. Every part reads all of DATA, and runs the \
models over its own leaves. The models are those of a Bayes classifier, which see whole series, or of a set of hidden Markov models \
(fit --family hmm), which see its windows.

Of a classifier fisher, top or count with the learner ridge the sums are the normal equations of its machine, over its windows; its \
models stay.

The file holds expected counts and moments, and never a sample.";

/// Options that `-h` shows.
const SHOWN: &[&str] =
    &["model", "part", "output", "label", "series-column", "channel-columns", "json"];

const EXAMPLES: &str = "\
Examples:
  fishweir fit gait.csv --classifier bayes --iterations 1 -o start.json
  fishweir expect gait.csv --model start.json --part 1/2 -o one.json
  fishweir expect gait.csv --model start.json --part 2/2 -o two.json
  fishweir merge one.json two.json --model start.json -o next.json";

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Series, of the model's kind
    #[arg(required = true, long_help = reading::data("Series, of the model's kind"))]
    data: Vec<PathBuf>,
    /// Classifier, or set of hidden Markov models (JSON)
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// Add up over part I of N of the series, counted from 1 [default: all]
    #[arg(long, value_name = "I/N", value_parser = share)]
    part: Option<Share>,
    /// File for the sums, - for standard output [default: DATA's name with the ending .sums.json or .sums-I-of-N.json, in this
    /// folder]
    #[arg(short, long, value_name = "FILE.json")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    gathering: Gathering,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// A part of some, as 3/8.
pub(super) fn share(text: &str) -> Result<Share, String> {
    let numbers = text
        .split_once('/')
        .and_then(|(number, of)| Some((number.trim().parse().ok()?, of.trim().parse().ok()?)));
    let share = numbers.and_then(|(number, of)| Share::new(number, of));
    share.ok_or_else(|| "a part is I/N with I from 1 to N, as 3/8".to_owned())
}

/// The ending of a file of all, or of a part: `.sums.json`, `.sums-1-of-8.json`.
pub(super) fn ending(what: &str, part: Option<Share>, format: &str) -> String {
    match part {
        None => format!(".{what}.{format}"),
        Some(share) => format!(".{what}-{}-of-{}.{format}", share.number(), share.of()),
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let share = arguments.part.unwrap_or(Share::WHOLE);
    let ending = ending("sums", arguments.part, "json");
    let output = arguments.output.clone();
    let output = output.unwrap_or_else(|| named_after(&arguments.data[0], &ending));
    let inputs: Vec<&Path> =
        arguments.data.iter().chain([&arguments.model]).map(PathBuf::as_path).collect();
    let outputs = Outputs::check(&[&output], &inputs)?;
    let bytes = recognise::read(&arguments.model)?;
    if let Some(machine) = machine(&arguments.model, &bytes)? {
        return of_machine(arguments, (&machine, &bytes), (&output, &outputs));
    }
    let (models, data) = read(arguments, &bytes)?;
    if arguments.gathering.shows(&data, arguments.json)? {
        return Ok(());
    }
    let left_out = models.left_out(&data)?;
    if left_out > 0 {
        note_left_out(&data, left_out);
    }
    let sums = models.expect(&data, share).map_err(|error| Failure::of(&data, error))?;
    output::write(&output, sums.to_json()?.as_bytes())?;
    let what = words(arguments.part);
    let report =
        PartReport::new(data.source().to_owned(), what, &sums, output.display().to_string())?;
    outputs.print(&report, arguments.json)
}

/// A part in words.
fn words(part: Option<Share>) -> String {
    match part {
        None => "sums".to_owned(),
        Some(share) => format!("part {} of {}", share.number(), counted(share.of(), "part")),
    }
}

/// The machine of a classifier in a file; `None` of one without, and of another file.
pub(super) fn machine(path: &Path, bytes: &[u8]) -> Result<Option<MachineFile>, Failure> {
    let file = path.display().to_string();
    match Classifier::parse(&file, bytes) {
        Ok(classifier) if !classifier.is_bayes() => {
            let machine = MachineFile::new(classifier);
            let failed = |error: PartError| {
                Failure::input(error.kind(), format!("{file}: {}", remedy::words(&error)))
            };
            machine.map(Some).map_err(failed)
        }
        _ => Ok(None),
    }
}

/// Writes a part of the sums of a machine.
fn of_machine(
    arguments: &Arguments,
    (machine, bytes): (&MachineFile, &[u8]),
    (output, outputs): (&Path, &Outputs),
) -> Result<(), Failure> {
    let Arguments { reading, gathering, .. } = arguments;
    let model = Model::parse(&arguments.model, bytes)?;
    let data = read::to_decide(&arguments.data, reading, gathering, &model)?;
    if gathering.shows(&data, arguments.json)? {
        return Ok(());
    }
    let (mut data, unknown) = data.of_classes(&machine.classifier().classes)?;
    let left_out = unknown.values().sum();
    if left_out > 0 {
        note_left_out(&data, left_out);
    }
    data.labels()?;
    let partial = data.missing().partial;
    if machine.classifier().codebooks.is_some() && partial > 0 {
        data.check_whole_rows()?;
        let samples = counted(partial, "sample");
        let what = "codebooks need all channels; counted as missing:";
        note(Topic::PartialSamples, format_args!("{}: {what} {samples}", data.source()));
        data = data.whole_samples();
    }
    let share = arguments.part.unwrap_or(Share::WHOLE);
    let sums = machine.expect(&data, share).map_err(|error| Failure::of(&data, error))?;
    output::write(output, sums.to_json()?.as_bytes())?;
    let what = format!("{} of {}, {}", words(arguments.part), data.source(), leaves(&sums));
    outputs.print(&Written::new(what, output.display().to_string()), arguments.json)
}

/// What sums of features are of, in words.
pub(super) fn leaves(sums: &FeatureSums) -> String {
    let [summed, all] = [sums.summed(), sums.leaves()].map(grouped);
    format!(
        "sums of features of {summed} of {all} leaves, of {}",
        counted(sums.windows(), "window")
    )
}

fn note_left_out(data: &Dataset, left_out: usize) {
    let series = counted(left_out, "series");
    note(
        Topic::UnknownClass,
        format_args!("{}: {series} left out, as no model is of their class", data.source()),
    );
}

/// Reads the models, and the data as they see them.
fn read(arguments: &Arguments, bytes: &[u8]) -> Result<(ModelFile, Dataset), Failure> {
    let Arguments { reading, gathering, .. } = arguments;
    let models = parse(&arguments.model, bytes)?;
    let data = match &models {
        ModelFile::Classifier(_) => {
            let model = Model::parse(&arguments.model, bytes)?;
            read::to_decide(&arguments.data, reading, gathering, &model)?
        }
        ModelFile::Set(set) => {
            let kind = set.observations.kind()?;
            let contract = set.provenance.contract_in_part();
            let options = reading.at_rate_of(Some(&contract), reading.options_for(kind, None)?)?;
            read::all(&arguments.data, &gathering.add_to(options, None))?
        }
    };
    Ok((models, data))
}

/// Reads a file of models.
pub(super) fn model(path: &Path) -> Result<ModelFile, Failure> {
    parse(path, &recognise::read(path)?)
}

fn parse(path: &Path, bytes: &[u8]) -> Result<ModelFile, Failure> {
    let file = path.display().to_string();
    ModelFile::parse(&file, bytes).map_err(|error| match error {
        PartError::File(error) => recognise::refused(&file, bytes, &error),
        PartError::Unfit(what) => Failure::input("unfit-models", format!("{file}: {what}")),
        other => other.into(),
    })
}
