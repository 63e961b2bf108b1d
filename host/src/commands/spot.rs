//! `fishweir spot`.

use std::fmt;
use std::path::PathBuf;

use fishweir::data::Marked;
use fishweir::deploy::Spotter;
use fishweir::fit::BaumWelch;
use fishweir::learn::{SpotFigures, SpotPlan};
use serde::Serialize;

use super::Failure;
use super::emitting::Emitting;
use super::reading::Reading;

pub(super) const LONG_ABOUT: &str = "\
Spot events in continuous series: where they begin and end, and of which class they are.

A column after `t` marks each sample of the training series; what is unmarked is background. A
model is fitted to each class and one to the background, and all are joined into one network that
is decoded as the stream runs. The penalty on entering an event is the one of the best F1 on
series that the models have not seen.

An event is found where a report of its class overlaps it, intersection over union, by at least
--overlap. Delays are from the end of an event to its decision. With --test, the same is told of a
linear machine on Fisher scores that decides on windows, half as long as the median event, and whose
equal decisions in a row are an event.";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Series of channels with a column that marks samples
    train: PathBuf,
    /// Series to find events in; they are marked alike. A classifier of windows is told beside
    #[arg(long, value_name = "DATA")]
    test: Option<PathBuf>,
    /// The column that marks samples, after `t`
    #[arg(long, value_name = "COLUMN")]
    marks: String,
    /// The mark of background, beside empty fields
    #[arg(long, value_name = "MARK")]
    background: Option<String>,
    /// Least overlap at which an event counts as found
    #[arg(long, value_name = "FRACTION", default_value_t = 0.5)]
    overlap: f64,
    /// Samples after its end within which an event is decided
    #[arg(long, value_name = "SAMPLES", default_value_t = 500)]
    lag: u32,
    /// Report the events of the test series, or of the training series, too
    #[arg(long)]
    events: bool,
    /// Hidden states of each model; the background's has at most four [default: 4]
    #[arg(long, value_name = "N", help_heading = "Training")]
    states: Option<usize>,
    #[command(flatten)]
    emitting: Emitting,
    #[command(flatten)]
    reading: Reading,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Figures {
    what: String,
    events: usize,
    reported: usize,
    found: usize,
    precision: f64,
    recall: f64,
    f1: f64,
    median_delay: Option<i64>,
}

#[derive(Serialize)]
struct Spotted {
    series: String,
    class: String,
    start: u64,
    end: u64,
    log_odds_per_sample: f32,
    decided: u64,
}

#[derive(Serialize)]
struct SpotReport {
    classes: Vec<String>,
    states: usize,
    penalty: f64,
    folds: usize,
    figures: Vec<Figures>,
    events: Vec<Spotted>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut baum_welch = BaumWelch::default();
    arguments.emitting.set(&mut baum_welch)?;
    baum_welch.states = arguments.states.unwrap_or(baum_welch.states);
    baum_welch.validate()?;
    let mut reading = arguments.reading.options();
    reading.values = arguments.emitting.values();
    let background = arguments.background.as_deref();
    let train = Marked::read(&arguments.train, &arguments.marks, background, &reading)?;
    reading.kind = Some(train.data().kind().clone());
    let test = arguments.test.as_ref();
    let test = test.map(|path| Marked::read(path, &arguments.marks, background, &reading));
    let test = test.transpose()?;
    if let Some(test) = test.as_ref().filter(|test| test.classes() != train.classes()) {
        let what = format!(
            "marks {}, where {} are trained",
            test.classes().join(", "),
            train.classes().join(", ")
        );
        return Err(Failure::of(test.data(), Failure::Input(what)));
    }
    let plan = SpotPlan {
        baum_welch,
        lag: arguments.lag,
        overlap: arguments.overlap,
        ..SpotPlan::default()
    };
    let trial = plan.carry_out(&train, &|| ()).map_err(|error| Failure::of(train.data(), error))?;
    let mut figures: Vec<Figures> = trial
        .tried
        .iter()
        .map(|(penalty, one)| Figures::of(format!("penalty {penalty}, where it was chosen"), one))
        .collect();
    if let Some(test) = &test {
        let source = test.data().source();
        let windowed = plan
            .windowed(&train, test, &|| ())
            .map_err(|error| Failure::of(train.data(), error))?;
        let of_windows = format!("{source}, by windows of {} samples", windowed.window);
        figures.push(Figures::of(source.to_owned(), &plan.figures(&trial.spotter, test)));
        figures.push(Figures::of(of_windows, &windowed.figures));
    }
    let shown = test.as_ref().unwrap_or(&train);
    let events = if arguments.events { spotted(&trial.spotter, shown) } else { Vec::new() };
    let report = SpotReport {
        classes: train.classes().to_vec(),
        states: trial.spotter.states(),
        penalty: trial.penalty,
        folds: trial.folds,
        figures,
        events,
    };
    super::print(&report, arguments.json)
}

fn spotted(spotter: &Spotter, marked: &Marked) -> Vec<Spotted> {
    let mut events = Vec::new();
    for series in marked.data().series() {
        for found in spotter.spot(&series.samples.view()) {
            let event = found.event;
            events.push(Spotted {
                series: series.id.clone(),
                class: spotter.classes()[usize::from(event.class)].clone(),
                start: event.start,
                end: event.end,
                log_odds_per_sample: event.log_odds_per_sample(),
                decided: found.decided,
            });
        }
    }
    events
}

impl Figures {
    fn of(what: String, figures: &SpotFigures) -> Self {
        Self {
            what,
            events: figures.events,
            reported: figures.reported,
            found: figures.found(),
            precision: figures.precision(),
            recall: figures.recall(),
            f1: figures.f1(),
            median_delay: figures.median_delay(),
        }
    }
}

impl fmt::Display for SpotReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "classes {}; {} states in all", self.classes.join(", "), self.states)?;
        let chosen = match self.folds {
            1 => "on the only series, which the models have seen".to_owned(),
            folds => format!("in {folds} folds of series"),
        };
        writeln!(f, "penalty {} nats, chosen {chosen}\n", self.penalty)?;
        for one in &self.figures {
            let Figures { what, events, reported, found, precision, recall, f1, median_delay } =
                one;
            write!(f, "{what}: {found} of {events} events found, {reported} reported; ")?;
            write!(f, "precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}")?;
            match median_delay {
                Some(delay) => writeln!(f, ", median delay {delay} samples")?,
                None => writeln!(f)?,
            }
        }
        if !self.events.is_empty() {
            writeln!(f, "\nseries,class,start,end,log_odds_per_sample,decided")?;
        }
        for Spotted { series, class, start, end, log_odds_per_sample, decided } in &self.events {
            writeln!(f, "{series},{class},{start},{end},{log_odds_per_sample:.3},{decided}")?;
        }
        Ok(())
    }
}
