//! `fishweir spot`.

use std::path::{Path, PathBuf};

use fishweir::classifier::{ChannelRange, Contract, Provenance};
use fishweir::data::{Dataset, Joined, Marked, Period, ReadOptions};
use fishweir::deploy::{Spotter, SpotterModel};
use fishweir::report::{Document, EventFigures, MarkedEvent, counted};

use super::document::{self, PageReport};
use super::emitting::Emitting;
use super::help::brief;
use super::marking::Marking;
use super::model::Model;
use super::options::{named, note_idle};
use super::output::{self, Outputs};
use super::reading::{Gathering, Reading};
use super::recipe::Recipe;
use super::spotted::{ChosenSpotter, Judged, SpotReport, Spotted, listed, of_penalty, spotted};
use super::timeline::draw_events;
use super::{Failure, Topic, next, note, read, recognise, tell, usual};

pub(super) const LONG_ABOUT: &str = "\
Spot events in continuous series: where they begin and end, and of which class they are.

Training takes series with a column --marks that names the event of each sample; samples without a mark are background. \
fishweir fits a model to each class and one to the background, and connects them to one network. Entering a class costs \
a penalty. The penalty is the one with the best F1 on series that the models have not seen.

Without marked series, --clips takes labelled series with one event each, and --background recordings without events. \
Folds of both choose the penalty, on streams of clips and background that the models have not seen.

An event counts as found if a report of its class overlaps it by at least --overlap (intersection over union). A delay is \
the time from the end of an event to its report. With --test, the report also has the figures of a linear classifier on \
Fisher scores. It decides on windows half as long as the median event; equal decisions in a row are one event.

-o FILE keeps the spotter. With --model FILE nothing is trained: fishweir lists the events of DATA as CSV, or judges \
them if --marks names the column of the true events. export FILE --rust writes Rust source for firmware, --c a library for \
firmware in C.";

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "model",
    "output",
    "clips",
    "background",
    "test",
    "marks",
    "background_mark",
    "overlap",
    "events",
    "draw",
    "states",
    "report",
    "json",
];

const EXAMPLES: &str = "\
Examples:
  fishweir spot marked.csv --marks exercise --test other.csv -o spotter.json
  fishweir spot other.csv --model spotter.json     # lists the events
  fishweir spot other.csv --model spotter.json --marks exercise --draw events.svg
  fishweir spot --clips gestures.csv --background walking.csv -o spotter.json";

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Series of channels with a column that marks samples; with --model they may be unmarked
    #[arg(required_unless_present = "clips")]
    data: Vec<PathBuf>,
    /// Spotter that -o wrote, to find events with
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["test", "output"])]
    model: Option<PathBuf>,
    /// Write the spotter to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Labelled series with one event each, to train on instead of marked series
    #[arg(long, value_name = "DATA", requires = "background", conflicts_with_all = ["data", "model"])]
    clips: Option<PathBuf>,
    /// Recordings of the background between events; labels are ignored
    #[arg(long, value_name = "DATA")]
    background: Option<PathBuf>,
    /// Column of the clips whose equal values stay in one fold, with their background where it has the column
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,
    /// Series to find events in, marked by the column --marks; reports a classifier of windows, too
    #[arg(long, value_name = "DATA")]
    test: Option<PathBuf>,
    #[command(flatten)]
    marking: Marking,
    /// Also list the events of the series of --test, or of DATA
    #[arg(long)]
    events: bool,
    /// Also draw the first series of --test, or of DATA, in which an event is found
    #[arg(long, value_name = "FILE.svg")]
    draw: Option<PathBuf>,
    /// Hidden states of each model; the background's has at most four [default: 4]
    #[arg(long, value_name = "N", help_heading = "Training")]
    states: Option<usize>,
    #[command(flatten)]
    emitting: Emitting,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    page: PageReport,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, recipe: Recipe) -> Result<(), Failure> {
    if arguments.clips.is_none() {
        let recordings = named([("--background", arguments.background.is_some())]);
        let why =
            "--background goes with --clips; the mark of background samples is --background-mark";
        note_idle(&recordings, why)?;
        note_idle(&named([("--group", arguments.group.is_some())]), "it is a column of --clips")?;
    }
    match &arguments.model {
        Some(model) => find(arguments, model),
        None => train(arguments, recipe),
    }
}

/// Training data of a spotter.
enum SpotData {
    Marked(Marked),
    Clips(Joined),
}

impl SpotData {
    fn read(arguments: &Arguments, reading: &ReadOptions, seed: u64) -> Result<Self, Failure> {
        match (&arguments.clips, &arguments.background) {
            (Some(clips), Some(background)) => {
                let clips = read::against(clips, reading, None, &[])?;
                let kind = Some(clips.kind().clone());
                let unlabelled = ReadOptions { kind, ..reading.clone() };
                let background = read::against(background, &unlabelled, None, &[])?;
                let group = arguments.group.as_deref();
                tell::groups(&clips, group);
                Ok(Self::Clips(Joined::new(&clips, &background, group, seed)?))
            }
            // The command line has clips with background, or data.
            _ => Ok(Self::Marked(arguments.marking.read(&arguments.data, reading)?)),
        }
    }

    /// The series, marked.
    fn marked(&self) -> &Marked {
        match self {
            Self::Marked(marked) => marked,
            Self::Clips(joined) => joined.marked(),
        }
    }

    /// Parts that folds consist of.
    fn parts(&self) -> &'static str {
        match self {
            Self::Marked(_) => "series",
            Self::Clips(_) => "clips and background",
        }
    }
}

/// Trains a spotter, judges it, and keeps it where that is asked for.
fn train(arguments: &Arguments, recipe: Recipe) -> Result<(), Failure> {
    // Clips are joined to choose the penalty: there is no stream to list events of.
    let listed = arguments.events && (arguments.clips.is_none() || arguments.test.is_some());
    if arguments.clips.is_some() {
        note_idle(
            &named([("--events", arguments.events && !listed)]),
            "with --clips there is no stream except that of --test",
        )?;
        note_idle(
            &named([("--draw", arguments.draw.is_some() && arguments.test.is_none())]),
            "with --clips there is no stream except that of --test",
        )?;
        let marks = named([("--marks", arguments.marking.is_named() && arguments.test.is_none())]);
        note_idle(&marks, "it names the column of marks of --test")?;
        if arguments.test.is_some() && !arguments.marking.is_named() {
            return Err(Failure::input(
                Topic::MissingOption,
                "--test: name the column that marks its samples: --marks",
            ));
        }
    }
    let outputs = arguments.output.iter().chain(&arguments.draw);
    let outputs: Vec<&Path> =
        outputs.map(PathBuf::as_path).chain(arguments.page.output()).collect();
    let inputs = [&arguments.test, &arguments.clips, &arguments.background];
    let inputs = inputs.into_iter().flatten().chain(&arguments.data);
    let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
    let outputs = Outputs::check(&outputs, &inputs)?;
    let plan = arguments.marking.plan(arguments.states, &arguments.emitting)?;
    let mut reading = arguments.reading.options();
    reading.values = arguments.emitting.values();
    let training = SpotData::read(arguments, &reading, plan.baum_welch.seed)?;
    let train = training.marked();
    reading.kind = Some(train.data().kind().clone());
    reading.classes = Some(train.classes().to_vec());
    let all: Vec<usize> = (0..train.data().series().len()).collect();
    let contract = Contract {
        period: Period::of(train.data(), &all),
        channels: ChannelRange::all(train.data(), &all),
        ..Contract::default()
    };
    let reading = arguments.reading.at_rate_of(Some(&contract), reading)?;
    let test = arguments.test.as_ref();
    let test = test
        .map(|path| arguments.marking.read(std::slice::from_ref(path), &reading))
        .transpose()?;
    if let Some(test) = &test {
        tell::against(test.data(), Some(&contract), &[]);
    }
    let trial = match &training {
        SpotData::Marked(marked) => plan.carry_out(marked, &|| ()),
        SpotData::Clips(joined) => plan.carry_out_on_clips(joined, &|| ()),
    };
    let mut trial = trial.map_err(|error| Failure::of(train.data(), error))?;
    trial.model.provenance.recipe = recipe;
    let written = trial.model.to_json()?;
    if let Some(file) = &arguments.output {
        output::write(file, written.as_bytes())?;
    }
    let tried = trial.tried.iter();
    let mut figures: Vec<EventFigures> =
        tried.map(|(penalty, one)| EventFigures::of(of_penalty(*penalty), one)).collect();
    let mut judged = None;
    if let Some(test) = &test {
        let source = test.data().source();
        let windowed =
            plan.windowed(train, test, &|| ()).map_err(|error| Failure::of(train.data(), error))?;
        let of_windows = format!("{source}, by windows of {} samples", windowed.window);
        let of_test = Judged::of(&plan, &trial.spotter, test);
        figures.push(EventFigures::of(source.to_owned(), &of_test.figures));
        judged = Some(of_test);
        figures.push(EventFigures::of(of_windows, &windowed.figures));
    }
    let listed_of = test.as_ref().unwrap_or(train);
    let shown = listed_of.data();
    let drawn = arguments.draw.as_ref().filter(|_| arguments.clips.is_none() || test.is_some());
    if let Some(path) = drawn {
        draw_events(path, &trial.spotter, shown, Some((listed_of, plan.overlap)), test.is_none())?;
    }
    let report = SpotReport {
        classes: train.classes().to_vec(),
        states: trial.spotter.states(),
        chosen: Some(ChosenSpotter {
            penalty: trial.penalty,
            folds: trial.folds,
            parts: training.parts(),
        }),
        figures,
        judged,
        cost: trial.spotter.cost(),
        events: if listed { spotted(&trial.spotter, shown) } else { Vec::new() },
        file: arguments.output.as_ref().map(|file| file.display().to_string()),
    };
    arguments.page.write("spot", &report, |document| {
        let name = arguments.output.as_deref().unwrap_or(Path::new("spotter.json"));
        document::add_model(document, name, written.as_bytes(), false)?;
        add_events(document, &trial.spotter, shown, Some(listed_of))
    })?;
    let next = match &arguments.output {
        Some(file) => {
            let file = next::file(file);
            format!(
                "fishweir spot DATA --model {file} lists events, fishweir export {file} --rust for firmware"
            )
        }
        None => "to keep the spotter, name a file with -o".to_owned(),
    };
    outputs.print_with(&report, arguments.json, next::hint(Some(next)).as_deref())
}

/// Finds events with a spotter that was kept: judged where they are marked, else listed.
fn find(arguments: &Arguments, model: &Path) -> Result<(), Failure> {
    let mut trained = arguments.marking.of_training();
    trained.extend(named([
        ("--states", arguments.states.is_some()),
        ("--emission", arguments.emitting.emission().is_some()),
        ("--components", arguments.emitting.components().is_some()),
    ]));
    note_idle(&trained, "the spotter is trained")?;
    let kept = KeptSpotter::read(model)?;
    let (spotter, given) = (&kept.spotter, (&arguments.reading, &Gathering::default()));
    let drawn = arguments.draw.iter().map(PathBuf::as_path);
    let figure: Vec<&Path> = drawn.chain(arguments.page.output()).collect();
    let inputs: Vec<&Path> = arguments.data.iter().map(PathBuf::as_path).chain([model]).collect();
    let outputs = Outputs::check(&figure, &inputs)?;
    if !arguments.marking.is_named() {
        let mut judging = arguments.marking.given();
        judging.extend(named([("--events", arguments.events)]));
        note_idle(&judging, "without --marks the events are only listed")?;
        let data = kept.series(&arguments.data, given)?;
        let events = spotted(spotter, &data);
        note_none(&events, &data);
        if let Some(path) = &arguments.draw {
            draw_events(path, spotter, &data, None, false)?;
            if output::is_standard(path) {
                return Ok(());
            }
        }
        let (classes, states) = (spotter.classes().to_vec(), spotter.states());
        let report = SpotReport {
            classes,
            states,
            chosen: None,
            figures: Vec::new(),
            judged: None,
            cost: spotter.cost(),
            events,
            file: None,
        };
        arguments.page.write("spot", &report, |document| {
            document::add_model(document, model, &recognise::read(model)?, false)?;
            add_events(document, spotter, &data, None)
        })?;
        if !arguments.json {
            return output::print(listed(&report.events)?.as_bytes());
        }
        return crate::output::print_report(&report, true);
    }
    let (marked, judged, overlap) = kept.judged(&arguments.data, given, &arguments.marking)?;
    tell::against(marked.data(), Some(&kept.contract()), &[]);
    let source = marked.data().source().to_owned();
    let report = SpotReport {
        classes: spotter.classes().to_vec(),
        states: spotter.states(),
        chosen: None,
        figures: vec![EventFigures::of(source, &judged.figures)],
        judged: Some(judged),
        cost: spotter.cost(),
        events: if arguments.events { spotted(spotter, marked.data()) } else { Vec::new() },
        file: None,
    };
    if let Some(path) = &arguments.draw {
        draw_events(path, spotter, marked.data(), Some((&marked, overlap)), false)?;
    }
    arguments.page.write("spot", &report, |document| {
        document::add_model(document, model, &recognise::read(model)?, false)?;
        add_events(document, spotter, marked.data(), Some(&marked))
    })?;
    outputs.print(&report, arguments.json)
}

/// Adds series, the events found in them, and the true ones where they are marked.
fn add_events(
    document: &mut Document,
    spotter: &Spotter,
    data: &Dataset,
    marked: Option<&Marked>,
) -> Result<(), Failure> {
    *document = std::mem::take(document).with_data(data);
    document.events = serde_json::to_value(spotted(spotter, data))?;
    for (series, one) in data.series().iter().enumerate() {
        let marks = marked.map_or(&[][..], |marked| marked.events(series));
        document.marks.extend(marks.iter().map(|mark| MarkedEvent {
            series: one.id.clone(),
            class: marked.and_then(|marked| marked.classes().get(mark.class)).cloned(),
            start: mark.samples.start,
            end: mark.samples.end,
        }));
    }
    Ok(())
}

/// A stored spotter, and its training.
pub(super) struct KeptSpotter {
    spotter: Spotter,
    provenance: Provenance,
}

impl KeptSpotter {
    pub(super) fn read(model: &Path) -> Result<Self, Failure> {
        let file = model.display().to_string();
        let bytes = recognise::read(model)?;
        let model = SpotterModel::parse(&file, &bytes).map_err(|error| {
            match Model::parse(model, &bytes) {
                Ok(_) => Failure::input(Topic::WrongModel, format!(
                    "{file}: this is a classifier, not a spotter of events: evaluate, predict and export take it"
                )),
                Err(refused) if error.kind() == "not-a-model" => refused,
                Err(_) => error.into(),
            }
        })?;
        Ok(Self { spotter: model.deploy()?, provenance: model.provenance })
    }

    pub(super) fn contract(&self) -> Contract {
        self.provenance.contract_in_part()
    }

    /// Options of reading that fit it.
    fn options(&self, reading: &Reading) -> Result<ReadOptions, Failure> {
        let (spotter, contract) = (&self.spotter, self.contract());
        let of_model = (spotter.observations(), spotter.values(), Some(&contract));
        reading.options_that_fit(of_model, None)
    }

    /// Reads series, as those of the training were read.
    fn series(&self, data: &[PathBuf], given: (&Reading, &Gathering)) -> Result<Dataset, Failure> {
        let recipe = self.provenance.recipe.as_deref();
        let (data, options) =
            read::by_recipe(recipe, data, given, |reading| self.options(reading))?;
        read::check(&data, &options, Some(&self.contract()), &[])?;
        Ok(data)
    }

    /// Series that are marked, how well their events are found, and the overlap at which one counts as found.
    pub(super) fn judged(
        &self,
        data: &[PathBuf],
        given: (&Reading, &Gathering),
        marking: &Marking,
    ) -> Result<(Marked, Judged, f64), Failure> {
        let plan = marking.plan(None, &Emitting::default())?;
        let recipe = self.provenance.recipe.as_deref();
        let fit = |reading: &Reading| {
            let classes = Some(self.spotter.classes().to_vec());
            self.options(reading).map(|options| ReadOptions { classes, ..options })
        };
        let read = |options: ReadOptions| marking.read(data, &options);
        let marked = usual::read(recipe, given, data, fit, read)?;
        let judged = Judged::of(&plan, &self.spotter, &marked);
        Ok((marked, judged, plan.overlap))
    }
}

/// Tells that nothing was found: in series without events that is right, and in others it is not.
fn note_none(events: &[Spotted], data: &Dataset) {
    if events.is_empty() {
        note(
            Topic::NothingFound,
            format_args!(
                "{}: no event was found in {}",
                data.source(),
                counted(data.observations(), "sample")
            ),
        );
    }
}
