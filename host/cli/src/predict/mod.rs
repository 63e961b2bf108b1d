//! `fishweir predict`.

mod decisions;
mod drawn;
mod explain;
mod leaps;
mod live;
mod scales;
mod times;

use std::num::NonZeroU64;
use std::path::PathBuf;

use decisions::Decisions;
use fishweir::data::ReadOptions;
use fishweir::deploy::{Deployed, Stream};
use fishweir::teach::Taught;
use fishweir_core::classify::RejectionReason;
use serde::Serialize;

use crate::help::brief;
use crate::model::Model;
use crate::options::{named, note_idle, refuse_idle};
use crate::out_of_core::OutOfCore;
use crate::reading::{Cutting, Gathering, Reading};
use crate::regression::predict::{Estimated, HEADS};
use crate::{
    Failure, Topic, failure, network, note, out_of_core, read, recognise, teach, tell, usual,
};

pub(super) const LONG_ABOUT: &str = "\
Decide on the windows of a file, or on a live stream from standard input.

The output is CSV, or JSON with --json: series,start,end,class,margin, then the decision value of every class. With two \
classes there is one value, which is positive for the second class. A row is about the samples from start to end of its series, \
counted from 0, without the sample at end. For a table of records and a model of `network fit` the columns are \
line,decision,margin, then the value of every class.

Labels are not needed. If labels name classes that the model does not know, --json also counts under `unknown` what their windows were decided as.

A model fitted with --calibrate or --reject adds two columns after the margin. `probability` is that of the class, if the \
window is of one of the known classes. `doubt` is the reason to reject the decision: `close call` (a smaller margin than \
almost all in training), `unlikely` (unlike the training data) or `too likely` (a sensor at rest). Both columns are valid \
for streams that are as long as the windows of the training.

Of a regression, a model of `fit --target`, the columns are series,start,end,estimate,low,high: the estimate for the window, \
and the ends of its interval.

--taught FILE also decides for the classes that `teach` or a device was shown, by their names. The values stay those of the \
model's own classes.

--explain writes series,start,end,class,rival,sample,gain. The first row of a window has the bias of the class against its \
rival, the runner-up. The other rows have what each sample added to the margin. The gains of a window sum to its margin. \
--draw draws them along a series, with the channels above. --explain=channels writes channel,part instead: how much smaller \
the margin would be if the channel were missing. Parts need not sum to the margin.

--stream reads one sample per line: numbers with commas, semicolons or blanks between them, NA for a missing one \
(also the marks given in training or by --na), with or without a header that names the channels. A line may hold any number of symbols: letters, or words with blanks or commas \
between them. It does not read gzip. It writes start,end,class,margin and values at the end of every window, with the length and hop of the training, as a device \
does. A model of whole series decides after every sample, and so does any model with --endless. --window and --hop set other \
windows. With --json every decision is an object on its own line. --draw FILE.svg draws the stream after its end: the \
margin of each class over time, the decisions, and the samples. A column `label` in the header gives the true classes.

In a stream with a header, a change in the column `series` begins a new series. A series shorter than a window is decided at its \
end, as in training. The column `t` has the time, in seconds or in the unit of its header (`t [ms]`). A gap longer than a window \
begins a new window. A stream with another rate than the training is refused. If `t` is 0, 1, 2, ... without a unit, it \
numbers the samples, and the stream is taken to have the rate of the training.

A sample is refused if it is invalid (not a number, a number beyond single precision, an unknown character or word), or if it \
is impossible under all models. A refused sample counts as missing, as on a device, and fishweir reports how many there were; \
--strict ends the stream at the first. In a file, a string with an unknown symbol is left out and counted. If a sample is impossible under some models, those models take no part until the next window or reset. A kernel machine refuses a sample that is impossible \
under one of its models.

Missing samples are skipped. If a window has no other samples, its class follows from the classifier's priors or biases alone; \
fishweir reports the number of such windows.

Exit codes: 0 done; 1 done, but samples were refused; 2 bad input.";

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "model", "stream", "window", "hop", "endless", "explain", "draw", "strict", "resample", "json",
];

const EXAMPLES: &str = "\
Examples:
  fishweir predict other.csv --model gait.json
  sensor | fishweir predict --stream --model gait.json
  fishweir predict --stream --draw stream.svg --model gait.json < other.csv
  fishweir predict other.csv --model gait.json --explain --draw why.svg";

/// What a decision is explained by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Explain {
    Samples,
    Channels,
}

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Series, labelled or not
    #[arg(required_unless_present = "stream", conflicts_with = "stream")]
    data: Vec<PathBuf>,
    /// Fitted model (JSON), profile (HMMER3/f) or artefact
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// Decide between the model's classes and those that were taught, a record of `teach` or of a device
    #[arg(long, value_name = "FILE", conflicts_with = "explain")]
    taught: Option<PathBuf>,
    /// Read samples from standard input and decide on windows as they fill
    #[arg(long, conflicts_with_all = ["format", "fasta_label", "alphabet", "words", "event_column", "resample", "label",
        "time-column", "segments", "decimal", "sep", "no_header", "header", "encoding", "series-column",
        "channel-columns", "name-pattern", "annotations", "dry_run", "out_of_core"])]
    stream: bool,
    /// Decide after every sample of the stream, without the windows of the training
    #[arg(long, conflicts_with_all = ["data", "window", "hop"])]
    endless: bool,
    /// End the stream at the first refused sample, instead of taking it as missing
    #[arg(long, conflicts_with = "data")]
    strict: bool,
    /// Report what each sample added to the decision on its window instead, one row per sample; or each channel: how much
    /// smaller the margin would be without it
    #[arg(long, value_name = "samples|channels", value_enum, hide_possible_values = true, num_args = 0..=1,
        require_equals = true, default_missing_value = "samples", conflicts_with = "stream")]
    explain: Option<Explain>,
    /// Explain the windows of this series alone
    #[arg(long, value_name = "ID", requires = "explain")]
    explain_series: Option<String>,
    /// Also draw the explanation of the first series as SVG, - for standard output and no table; or with --stream the margins and
    /// decisions over the samples, when the stream has ended
    #[arg(long, value_name = "FILE.svg")]
    draw: Option<PathBuf>,
    /// Decide after every N samples of an endless stream [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "data")]
    every: Option<NonZeroU64>,
    /// Reset the filter after every N samples of an endless stream
    #[arg(long, value_name = "N", conflicts_with = "data")]
    reset_every: Option<NonZeroU64>,
    #[command(flatten)]
    cutting: Cutting,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    gathering: Gathering,
    #[command(flatten)]
    out_of_core: OutOfCore,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

/// Number of refused samples of a stream that are reported with a reason.
const MOST_TOLD: usize = 10;
const FIRST_UNTOLD: usize = MOST_TOLD + 1;

/// Decision on a run of samples.
#[derive(Debug, Serialize)]
struct Decided<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<&'a str>,
    start: u64,
    end: u64,
    /// Null where no sample was taken in, or the scores went out of range.
    class: Option<&'a str>,
    margin: Option<Number>,
    /// Belief in the decision, for a calibrated model.
    #[serde(flatten)]
    belief: Option<Belief>,
    /// `[output]`; null where the scores went out of range.
    values: Vec<Option<Number>>,
    #[serde(skip)]
    refused: usize,
}

/// Calibrated belief in a decision.
#[derive(Debug, Serialize)]
struct Belief {
    /// Null where there is no decision.
    probability: Option<f32>,
    /// Null where the decision may be taken.
    doubt: Option<&'static str>,
}

/// A number that may be infinite, where models that are ruled out decide: JSON has no word for it, so it
/// is the text `inf` or `-inf` there.
#[derive(Clone, Copy, Debug)]
struct Number(f32);

impl Serialize for Number {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.is_infinite() {
            true => serializer.collect_str(&self.0),
            false => serializer.serialize_f32(self.0),
        }
    }
}

impl<'a> Decided<'a> {
    fn read(
        (deployed, taught): (&'a Deployed, Option<&'a Taught>),
        stream: &Stream,
        start: u64,
        end: u64,
    ) -> Result<Self, Failure> {
        let decision = stream.decision().ok().filter(|_| stream.samples() > 0);
        if decision.is_some_and(|one| one.margin.is_nan()) {
            return Err(Failure::input(
                Topic::NotFinite,
                format!(
                    "the decision after samples {start}..{end} is not a number: values of the model overflow single \
                     precision; fit it again, on data in other units"
                ),
            ));
        }
        let among_taught =
            taught.zip(decision).and_then(|(taught, _)| taught.decide(deployed, stream));
        let belief = deployed.confidence().map(|confidence| match among_taught {
            Some(one) => Belief { probability: one.probability, doubt: one.rejection.map(word) },
            None => {
                let believed = decision.and_then(|_| stream.believed(&confidence.of_core()));
                Belief {
                    probability: believed.map(|one| one.probability),
                    doubt: believed.and_then(|one| one.rejection).map(word),
                }
            }
        });
        let decision = among_taught.map(|one| one.decision).or(decision);
        let name = |class: usize| match taught {
            Some(taught) => taught.name(class),
            None => deployed.classes().get(class).map(String::as_str),
        };
        let values = stream.decision_values();
        Ok(Self {
            series: None,
            start,
            end,
            class: decision.and_then(|one| name(one.class)),
            margin: decision.map(|one| Number(one.margin)),
            belief,
            values: values.map_or_else(
                |_| vec![None; deployed.outputs()],
                |values| values.into_iter().map(|value| Some(Number(value))).collect(),
            ),
            refused: 0,
        })
    }

    /// The estimate, for a regression.
    fn estimated(&self, deployed: &Deployed) -> Option<Estimated<'a>> {
        let value = self.class.and_then(|_| self.values.first().copied().flatten());
        let place = (self.series, self.start, self.end);
        Estimated::of(deployed, place, value.map(|value| value.0))
    }

    /// The decision as JSON.
    fn json(&self, deployed: &Deployed) -> Result<String, Failure> {
        Ok(match self.estimated(deployed) {
            Some(estimated) => serde_json::to_string(&estimated)?,
            None => serde_json::to_string(self)?,
        })
    }

    fn record(&self, deployed: &Deployed) -> Vec<String> {
        if let Some(estimated) = self.estimated(deployed) {
            let place = [self.start.to_string(), self.end.to_string()];
            let series = self.series.map(str::to_owned).into_iter();
            return series.chain(place).chain(estimated.fields()).collect();
        }
        let series = self.series.map(str::to_owned);
        let place = [self.start.to_string(), self.end.to_string()];
        let class = self.class.unwrap_or_default().to_owned();
        let number = |number: Option<Number>| number.map_or_else(String::new, |x| x.0.to_string());
        series
            .into_iter()
            .chain(place)
            .chain([class, number(self.margin)])
            .chain(self.belief.iter().flat_map(|belief| {
                let probability = belief.probability.map_or_else(String::new, |p| p.to_string());
                [probability, belief.doubt.unwrap_or_default().to_owned()]
            }))
            .chain(self.values.iter().copied().map(number))
            .collect()
    }
}

/// Name of the reason for rejecting a decision.
fn word(doubt: RejectionReason) -> &'static str {
    match doubt {
        RejectionReason::LowMargin => "close call",
        RejectionReason::LowLikelihood => "unlikely",
        RejectionReason::HighLikelihood => "too likely",
        _ => "doubted",
    }
}

/// The names of the columns.
fn heads(deployed: &Deployed, series: bool) -> Vec<String> {
    let classes = deployed.classes();
    let values: Vec<String> = if deployed.outputs() == 1 {
        vec!["value".to_owned()]
    } else {
        classes.iter().map(|class| format!("value_{class}")).collect()
    };
    let places = if series { &["series", "start", "end"][..] } else { &["start", "end"] };
    if deployed.target().is_some() {
        return places.iter().chain(&HEADS).map(|&name| name.to_owned()).collect();
    }
    let belief = if deployed.confidence().is_some() { &["probability", "doubt"][..] } else { &[] };
    let names =
        places.iter().chain(&["class", "margin"]).chain(belief).map(|&name| name.to_owned());
    names.chain(values).collect()
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if !arguments.data.is_empty() && network::is_classifier(&arguments.model) {
        let [data] = arguments.data.as_slice() else {
            return Err(Failure::input(Topic::OneFile, "a classifier of records takes one table"));
        };
        if arguments.explain.is_some() {
            let what = "--explain is for models of series; this one is a classifier of records";
            return Err(Failure::input(Topic::Unsupported, what));
        }
        let Arguments { cutting, reading, gathering, .. } = arguments;
        let chunks = arguments.out_of_core.given();
        let given = [cutting.given(), reading.of_series(), gathering.given(), chunks].concat();
        note_idle(&given, "the model is a classifier of records")?;
        return network::predict(data, &arguments.model, arguments.reading.text(), arguments.json);
    }
    if arguments.draw.is_some() && arguments.explain.is_none() && !arguments.stream {
        let what = "--draw draws an explanation or a stream: add --explain or --stream";
        return Err(Failure::input(Topic::MissingOption, what));
    }
    let model = Model::parse_any(&arguments.model, &recognise::read(&arguments.model)?)?;
    if model.deployed.target().is_some() {
        let other = named([
            ("--taught", arguments.taught.is_some()),
            ("--explain", arguments.explain.is_some()),
            ("--draw", arguments.draw.is_some()),
        ]);
        refuse_idle(&other, "the model estimates a number, and decides between no classes")?;
    }
    let taught = teach::taught(&model, arguments.taught.as_deref())?;
    let taught = taught.as_ref();
    let refused = match arguments.data.as_slice() {
        [] => live::predict_stream(arguments, &model, taught)?,
        data if arguments.explain.is_some() => {
            let chunks = arguments.out_of_core.given();
            refuse_idle(&chunks, "--explain needs all data in memory")?;
            explain::explain(arguments, &model, data)?
        }
        data => predict_files(arguments, (&model, taught), data)?,
    };
    refused.map_or(Ok(()), |what| Err(Failure::check(Topic::RefusedSamples, what)))
}

fn predict_files(
    arguments: &Arguments,
    (model, taught): (&Model, Option<&Taught>),
    paths: &[PathBuf],
) -> Result<Option<String>, Failure> {
    let windowing = model.windowing(arguments.cutting.windowing());
    let windowing = windowing.as_ref();
    let (contract, classes) = (model.contract(), model.deployed.classes());
    let given = (&arguments.reading, &arguments.gathering);
    if arguments.out_of_core.is_given() {
        let skips = |options| ReadOptions { skips: true, ..options };
        let fit = |reading: &Reading| reading.options_of(model, None).map(skips);
        let table = usual::read(model.recipe(), given, paths, fit, |options| {
            arguments.out_of_core.open(paths, &options, contract.as_ref(), classes)
        })?;
        // It is on, so there is one.
        let Some(table) = table else { return Ok(None) };
        let sample = table.sample();
        if arguments.gathering.shows(sample, arguments.json)? {
            return Ok(None);
        }
        tell::windows(sample, windowing);
        tell::unobserved(sample, windowing);
        let mut table_of = Decisions::new((model, taught), arguments.json);
        for chunk in table.chunks()? {
            let data = chunk?;
            if contract.as_ref().is_some_and(|contract| !contract.lacks_some()) {
                data.check_whole_rows()?;
            }
            table_of.write(&data, windowing)?;
        }
        let summary = out_of_core::summary(&table, &[]);
        if !arguments.json && failure::is_verbose() {
            note(Topic::OutOfCore, format_args!("{summary}"));
        }
        return table_of.end(Some(&summary));
    }
    let data = read::to_decide(paths, &arguments.reading, &arguments.gathering, model)?;
    if arguments.gathering.shows(&data, arguments.json)? {
        return Ok(None);
    }
    let mut table = Decisions::new((model, taught), arguments.json);
    let decisions = table.decide(&data, windowing)?;
    tell::windows(&data, windowing);
    tell::unobserved(&data, windowing);
    table.write_decided(&data, windowing, &decisions)?;
    table.end(None)
}
