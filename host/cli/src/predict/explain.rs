//! Contribution of each sample of a window, or of each channel, to the decision on it.

use std::path::{Path, PathBuf};

use fishweir::classifier::Observations;
use fishweir::data::{Dataset, Kind, Period, SamplesView, Window};
use fishweir::deploy::{ByChannel, ChannelParts, DeployError, Deployed, Explanation};
use fishweir::plot::{ExplanationPlot, Piece, traces};
use rayon::prelude::*;
use serde::Serialize;

use super::{Arguments, Explain};
use crate::model::Model;
use crate::output::Outputs;
use crate::{Failure, Topic, output, read, tell};

/// A window, and its contribution.
#[derive(Serialize)]
struct Explained<'a> {
    series: &'a str,
    start: usize,
    end: usize,
    class: &'a str,
    rival: &'a str,
    margin: Shown,
    #[serde(flatten)]
    what: Gave<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Gave<'a> {
    /// `[sample]`.
    Samples { bias: f64, gains: Vec<Shown> },
    /// Names of the channels.
    Channels {
        #[serde(serialize_with = "by_name")]
        parts: Vec<(&'a str, Shown)>,
    },
}

fn by_name<S: serde::Serializer>(
    parts: &[(&str, Shown)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(parts.iter().map(|(name, part)| (name, part)))
}

/// Who explains.
enum Explainer<'a> {
    Samples(&'a Deployed),
    Channels(Box<ByChannel>),
}

/// Explanation of a window.
enum WindowExplanation {
    Samples(Explanation),
    Channels(ChannelParts),
}

impl Explainer<'_> {
    fn explain(&self, window: SamplesView<'_>) -> Option<WindowExplanation> {
        match self {
            Self::Samples(deployed) => deployed.explain(window).map(WindowExplanation::Samples),
            Self::Channels(channels) => channels.explain(window).map(WindowExplanation::Channels),
        }
    }
}

impl WindowExplanation {
    /// Samples refused.
    fn refused(&self) -> usize {
        match self {
            Self::Samples(found) => found.refused,
            Self::Channels(found) => found.refused,
        }
    }

    /// Creates the explanation as it is printed.
    fn of<'a>(
        self,
        data: &'a Dataset,
        window: &Window<'_>,
        classes: &'a [String],
    ) -> Explained<'a> {
        let (class, rival, margin, what) = match self {
            Self::Samples(Explanation { class, rival, margin, bias, gains, .. }) => {
                let gains = gains.into_iter().map(Shown).collect();
                (class, rival, margin, Gave::Samples { bias, gains })
            }
            Self::Channels(ChannelParts { class, rival, margin, parts, .. }) => {
                let named = channels_of(data).iter().map(String::as_str);
                let parts = named.zip(parts.into_iter().map(Shown)).collect();
                (class, rival, margin, Gave::Channels { parts })
            }
        };
        Explained {
            series: &data.series()[window.series].id,
            start: window.start,
            end: window.start + window.samples.len(),
            class: &classes[class],
            rival: &classes[rival],
            margin: Shown(margin.into()),
            what,
        }
    }
}

fn channels_of(data: &Dataset) -> &[String] {
    match data.kind() {
        Kind::Channels(names) => names,
        Kind::Symbols(_) => &[],
    }
}

/// A gain as it is written: a number, or `inf` and `-inf`, for which JSON has no word.
#[derive(Clone, Copy)]
struct Shown(f64);

impl Serialize for Shown {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.is_finite() {
            true => serializer.serialize_f64(self.0),
            false => serializer.collect_str(&self.0),
        }
    }
}

const HEADS: [&str; 5] = ["series", "start", "end", "class", "rival"];

/// Returns the explainer of a model's decisions, as requested.
fn explainer<'a>(arguments: &Arguments, model: &'a Model) -> Result<Explainer<'a>, Failure> {
    let file = arguments.model.display();
    if model.deployed.kernel_name().is_some() {
        return Err(Failure::input(
            Topic::KernelMachine,
            format!(
                "{file}: --explain: the decision of a kernel machine is not a sum over samples; use a classifier \
                 that is linear, such as fisher",
            ),
        ));
    }
    if arguments.explain != Some(Explain::Channels) {
        return Ok(Explainer::Samples(&model.deployed));
    }
    let Some(fitted) = model.fitted() else {
        return Err(Failure::input(
            Topic::NeedsClassifier,
            format!(
                "{file}: --explain=channels needs the fitted model (JSON), and this is an artefact"
            ),
        ));
    };
    let named = |error: DeployError| {
        Failure::input(error.kind(), format!("{file}: --explain=channels: {error}"))
    };
    match ByChannel::of(fitted).map_err(named)? {
        Some(channels) => Ok(Explainer::Channels(Box::new(channels))),
        None => Err(Failure::input(
            Topic::LeftOutChannels,
            format!(
                "{file}: --explain=channels: {}",
                match &fitted.observations {
                    Observations::Symbols(_) =>
                        "the samples are symbols, which have no channels".to_owned(),
                    Observations::Channels(_) if !fitted.front.is_empty() => {
                        "the front end combines all channels: fit without --front".to_owned()
                    }
                    Observations::Channels(_) if fitted.codebooks.is_some() => {
                        "codebooks use sums over all channels: fit with --codebooks 0".to_owned()
                    }
                    Observations::Channels(names) if names.len() < 2 => {
                        "there is only one channel".to_owned()
                    }
                    Observations::Channels(_) => format!(
                        "no channel can be left out of {} emissions, only of gaussian, mixture, poisson and \
                        bernoulli ones",
                        model.deployed.emission().0.name()
                    ),
                }
            ),
        )),
    }
}

/// Prints what each sample of a file gave, or each channel; which samples the models refused, if any.
pub(super) fn explain(
    arguments: &Arguments,
    model: &Model,
    paths: &[PathBuf],
) -> Result<Option<String>, Failure> {
    let deployed: &Deployed = &model.deployed;
    let explainer = explainer(arguments, model)?;
    let figure: Vec<&Path> = arguments.draw.iter().map(PathBuf::as_path).collect();
    let inputs: Vec<&Path> = paths.iter().chain([&arguments.model]).map(PathBuf::as_path).collect();
    Outputs::check(&figure, &inputs)?;
    if arguments.draw.is_some() && arguments.explain == Some(Explain::Channels) {
        let what =
            "--draw shows the contribution of each sample; omit it, or give --explain=samples";
        return Err(Failure::input(Topic::Unsupported, what));
    }
    let data = read::to_decide(paths, &arguments.reading, &arguments.gathering, model)?;
    if arguments.gathering.shows(&data, arguments.json)? {
        return Ok(None);
    }
    let wanted = arguments.explain_series.as_ref().map(|id| series_named(&data, id)).transpose()?;
    let windowing = model.windowing(arguments.cutting.windowing());
    let windows = data.windows(windowing.as_ref());
    let asked = |window: &&Window<'_>| wanted.is_none_or(|series| series == window.series);
    let windows: Vec<&Window<'_>> = windows.all().iter().filter(asked).collect();
    let explain = |window: &&Window<'_>| explainer.explain(window.samples);
    let found: Vec<Option<WindowExplanation>> = windows.par_iter().map(explain).collect();
    tell::windows(&data, windowing.as_ref());
    let refused =
        |found: &Option<WindowExplanation>| found.as_ref().map_or(0, WindowExplanation::refused);
    let count = found.iter().map(refused).sum();
    let first = found.iter().position(|found| refused(found) > 0);
    let first = first.and_then(|index| windows.get(index).copied());
    let refused = crate::refusals::refused(deployed, &data, count, first);
    let classes = deployed.classes();
    if let Some(path) = &arguments.draw {
        draw(path, &data, classes, &windows, &found)?;
        if output::is_standard(path) {
            return Ok(refused);
        }
    }
    let explained = windows.iter().zip(found);
    let explained = explained.filter_map(|(window, found)| Some(found?.of(&data, window, classes)));
    let text = if arguments.json {
        let mut text = serde_json::to_vec(&explained.collect::<Vec<_>>())?;
        text.push(b'\n');
        text
    } else {
        let last = if arguments.explain == Some(Explain::Channels) {
            ["channel", "part"]
        } else {
            ["sample", "gain"]
        };
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(HEADS.iter().chain(&last))?;
        for one in explained {
            let place = [one.start.to_string(), one.end.to_string()];
            let names = [one.series, &place[0], &place[1], one.class, one.rival];
            let mut row = |of: &str, gave: f64| {
                table.write_record(names.into_iter().chain([of, &gave.to_string()]))
            };
            match &one.what {
                Gave::Samples { bias, gains } => {
                    row("", *bias)?;
                    for (sample, gain) in (one.start..).zip(gains) {
                        row(&sample.to_string(), gain.0)?;
                    }
                }
                Gave::Channels { parts } => {
                    parts.iter().try_for_each(|(name, part)| row(name, part.0))?;
                }
            }
        }
        table.into_inner().map_err(|error| error.into_error())?
    };
    output::print(&text)?;
    Ok(refused)
}

fn series_named(data: &Dataset, id: &str) -> Result<usize, Failure> {
    let found = data.series().iter().position(|series| series.id == id);
    found.ok_or_else(|| {
        let known: Vec<&str> =
            data.series().iter().map(|series| series.id.as_str()).take(5).collect();
        Failure::input(
            Topic::UnknownSeries,
            format!("{}: no series `{id}`; the first are {}", data.source(), known.join(", ")),
        )
    })
}

/// Draws the first series of which a decision is explained.
fn draw(
    path: &Path,
    data: &Dataset,
    classes: &[String],
    windows: &[&Window<'_>],
    found: &[Option<WindowExplanation>],
) -> Result<(), Failure> {
    let explained = windows.iter().zip(found).filter_map(|(one, why)| match why {
        Some(WindowExplanation::Samples(why)) => Some((*one, why)),
        _ => None,
    });
    let Some(series) = explained.clone().next().map(|(window, _)| window.series) else {
        return Err(Failure::input(
            Topic::NothingToDraw,
            format!("{}: no decision to draw", data.source()),
        ));
    };
    let pieces: Vec<Piece<'_>> = explained
        .filter(|(window, _)| window.series == series)
        .map(|(window, why)| Piece {
            start: window.start,
            class: why.class,
            name: &classes[why.class],
            rival: &classes[why.rival],
            bias: why.bias,
            gains: &why.gains,
        })
        .collect();
    let samples = data.series()[series].samples.view();
    let traces = traces(data.kind(), samples);
    let title = format!("Contribution of each sample: series {}", data.series()[series].id);
    let subtitle =
        "shaded where a sample supports the decided class (its colour) or its rival (grey)";
    let rate = Period::of(data, &[series]).map(|period| period.rate());
    let plot = ExplanationPlot { title: &title, subtitle, traces: &traces, rate, pieces: &pieces };
    output::draw(path, &plot.to_svg())
}
