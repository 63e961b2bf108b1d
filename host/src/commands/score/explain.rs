//! What each sample of a window gave to the decision on it.

use std::path::{Path, PathBuf};

use fishweir::data::{Dataset, Kind, Sample, Window};
use fishweir::deploy::{Deployed, Explanation};
use fishweir::plot::{ExplanationPlot, Piece};
use rayon::prelude::*;
use serde::Serialize;

use super::Arguments;
use crate::commands::model::Model;
use crate::commands::output::Outputs;
use crate::commands::{Failure, output, tell};

/// A window, and what its samples gave.
#[derive(Serialize)]
struct Explained<'a> {
    series: &'a str,
    start: usize,
    end: usize,
    class: &'a str,
    rival: &'a str,
    margin: Shown,
    bias: f64,
    /// `[sample]`.
    gains: Vec<Shown>,
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

const HEADS: [&str; 7] = ["series", "start", "end", "class", "rival", "sample", "gain"];

/// Prints what each sample of a file gave; which samples the models refused, if any.
pub(super) fn explain(
    arguments: &Arguments,
    model: &Model,
    path: &Path,
) -> Result<Option<String>, Failure> {
    let deployed: &Deployed = &model.deployed;
    if deployed.kernel_name().is_some() {
        return Err(Failure::Input(format!(
            "{}: --explain: a kernel machine compares a window with stored ones as a whole: its decision is no sum \
             over samples; the classifiers that compile are, among them fisher",
            arguments.model.display()
        )));
    }
    let figure: Vec<&Path> = arguments.draw.iter().map(PathBuf::as_path).collect();
    Outputs::check(&figure, &[path, &arguments.model])?;
    let data = tell::read(path, &arguments.reading.options_of(model, None)?)?;
    let wanted = arguments.series.as_ref().map(|id| series_named(&data, id)).transpose()?;
    let windowing = model.windowing(arguments.cutting.windowing());
    let windows = data.windows(windowing.as_ref());
    let asked = |window: &&Window<'_>| wanted.is_none_or(|series| series == window.series);
    let windows: Vec<&Window<'_>> = windows.all().iter().filter(asked).collect();
    let explain = |window: &&Window<'_>| deployed.explain(window.samples);
    let found: Vec<Option<Explanation>> = windows.par_iter().map(explain).collect();
    tell::windows(&data, windowing.as_ref());
    let refused = |found: &Option<Explanation>| found.as_ref().map_or(0, |found| found.refused);
    let count = found.iter().map(refused).sum();
    let first = found.iter().position(|found| refused(found) > 0);
    let first = first.and_then(|index| windows.get(index).copied());
    let refused = tell::refused(deployed, &data, count, first);
    let classes = deployed.classes();
    if let Some(path) = &arguments.draw {
        draw(path, &data, classes, &windows, &found)?;
        if output::is_standard(path) {
            return Ok(refused);
        }
    }
    let explained = windows.iter().zip(found).filter_map(|(window, found)| {
        let Explanation { class, rival, margin, bias, gains, .. } = found?;
        Some(Explained {
            series: &data.series()[window.series].id,
            start: window.start,
            end: window.start + window.samples.len(),
            class: &classes[class],
            rival: &classes[rival],
            margin: Shown(margin.into()),
            bias,
            gains: gains.into_iter().map(Shown).collect(),
        })
    });
    let text = if arguments.json {
        let mut text = serde_json::to_vec(&explained.collect::<Vec<_>>())?;
        text.push(b'\n');
        text
    } else {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(HEADS)?;
        for one in explained {
            let place = [one.start.to_string(), one.end.to_string()];
            let mut row = |sample: String, gain: f64| {
                let names = [one.series, &place[0], &place[1], one.class, one.rival];
                table.write_record(names.into_iter().chain([sample.as_str(), &gain.to_string()]))
            };
            row(String::new(), one.bias)?;
            for (sample, gain) in (one.start..).zip(&one.gains) {
                row(sample.to_string(), gain.0)?;
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
        Failure::Input(format!(
            "{}: no series `{id}`; the first are {}",
            data.source(),
            known.join(", ")
        ))
    })
}

/// Draws the first series of which a decision is explained.
fn draw(
    path: &Path,
    data: &Dataset,
    classes: &[String],
    windows: &[&Window<'_>],
    found: &[Option<Explanation>],
) -> Result<(), Failure> {
    let explained = windows.iter().zip(found).filter_map(|(one, why)| Some((*one, why.as_ref()?)));
    let Some(series) = explained.clone().next().map(|(window, _)| window.series) else {
        return Err(Failure::Input(format!("{}: no decision to draw", data.source())));
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
    let channels: &[String] = match data.kind() {
        Kind::Channels(names) => names,
        Kind::Symbols(_) => &[],
    };
    let trace = |(channel, name): (usize, &String)| {
        let value = |sample: Sample<'_>| match sample {
            Sample::Row(row) => row.get(channel).copied(),
            Sample::Symbol(_) | Sample::Missing => None,
        };
        (name.clone(), samples.iter().map(value).collect())
    };
    let traces: Vec<_> = channels.iter().enumerate().map(trace).collect();
    let title = format!("What each sample gave: series {}", data.series()[series].id);
    let subtitle =
        "shaded where a sample spoke for the class decided for (its colour) or its rival (grey)";
    let plot = ExplanationPlot { title: &title, subtitle, traces: &traces, pieces: &pieces };
    output::write(path, plot.to_svg().as_bytes())
}
