//! `fishweir score`.

use std::io::{self, Write};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use fishweir::data::{Dataset, LiveReader, Window};
use fishweir::deploy::{DecisionStream, DeployedClassifier, PushError};
use rayon::prelude::*;
use serde::Serialize;

use super::arguments::{Cutting, Reading};
use super::model::Model;
use super::{Failure, note};

const LONG_ABOUT: &str = "\
Decide on the windows of a file, or on a live stream from standard input.

A file gives CSV (or --json): series,start,end,class,margin, then the decision value of every
class; two classes share one value, positive for the second. Samples start..end of the series were
pushed, counted from 0, the end not included.

--stream reads a sample a line (numbers parted by commas or blanks, NA for a missing one, a header
that names the channels or none; or symbols, any number of them a line) and writes start,end,class,
margin and values as each decision falls. With --json every decision is an object on a line of its
own.

Exit codes: 0 done; 1 done, but samples were refused as impossible under a model, and skipped;
2 bad input: the stream ends at a bad line, which is named.";

#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT)]
pub(super) struct Arguments {
    /// Series, labelled or not
    #[arg(required_unless_present = "stream", conflicts_with = "stream")]
    data: Option<PathBuf>,
    /// A fitted model (JSON) or an artefact
    #[arg(short, long, value_name = "MODEL")]
    model: PathBuf,
    /// Read samples from standard input and decide after each
    #[arg(long, conflicts_with_all = ["window", "hop", "format", "fasta_label"])]
    stream: bool,
    /// Decide after every N samples of the stream
    #[arg(long, value_name = "N", conflicts_with = "data", default_value = "1")]
    every: NonZeroU64,
    /// Forget the past after every N samples of the stream
    #[arg(long, value_name = "N", conflicts_with = "data")]
    reset_every: Option<NonZeroU64>,
    #[command(flatten)]
    cutting: Cutting,
    #[command(flatten)]
    reading: Reading,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

/// What was decided on a run of samples.
#[derive(Debug, Serialize)]
struct Decided<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<&'a str>,
    start: u64,
    end: u64,
    /// Null where no sample was taken in.
    class: Option<&'a str>,
    margin: Option<f32>,
    values: Vec<f32>,
    #[serde(skip)]
    refused: usize,
}

impl<'a> Decided<'a> {
    fn read(classes: &'a [String], stream: &dyn DecisionStream, start: u64, end: u64) -> Self {
        let decision = stream.decision();
        let taken = stream.samples() > 0;
        Self {
            series: None,
            start,
            end,
            class: classes.get(decision.class).filter(|_| taken).map(String::as_str),
            margin: taken.then_some(decision.margin),
            values: stream.decision_values(),
            refused: 0,
        }
    }

    fn record(&self) -> Vec<String> {
        let series = self.series.map(str::to_owned);
        let place = [self.start.to_string(), self.end.to_string()];
        let class = self.class.unwrap_or_default().to_owned();
        let margin = self.margin.map_or_else(String::new, |margin| margin.to_string());
        series
            .into_iter()
            .chain(place)
            .chain([class, margin])
            .chain(self.values.iter().map(f32::to_string))
            .collect()
    }
}

/// The names of the columns.
fn heads(deployed: &dyn DeployedClassifier, series: bool) -> Vec<String> {
    let classes = deployed.classes();
    let values: Vec<String> = if deployed.outputs() == 1 {
        vec!["value".to_owned()]
    } else {
        classes.iter().map(|class| format!("value_{class}")).collect()
    };
    let places = if series { &["series", "start", "end"][..] } else { &["start", "end"] };
    let names = places.iter().chain(&["class", "margin"]).map(|&name| name.to_owned());
    names.chain(values).collect()
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let model = Model::read(&arguments.model)?;
    let refused = match &arguments.data {
        Some(data) => score_file(arguments, &model, data)?,
        None => score_stream(arguments, &model)?,
    };
    match refused {
        0 => Ok(()),
        1 => Err(Failure::Check("1 sample was refused and skipped".into())),
        many => Err(Failure::Check(format!("{many} samples were refused and skipped"))),
    }
}

fn score_file(arguments: &Arguments, model: &Model, path: &Path) -> Result<usize, Failure> {
    let data = Dataset::read(path, &arguments.reading.options_for(model.kind()?, None))?;
    let windowing = model.windowing(arguments.cutting.windowing());
    let windows = data.windows(windowing.as_ref());
    let classes = model.any().classes();
    let judge = |stream: &mut dyn DecisionStream, window: &Window<'_>| {
        stream.reset();
        let refused = window.samples.iter().filter(|&sample| stream.push(sample).is_err()).count();
        let start = window.start as u64;
        let end = start + window.samples.len() as u64;
        (window.series, Decided { refused, ..Decided::read(classes, stream, start, end) })
    };
    let mut decided: Vec<(usize, Decided<'_>)> = windows
        .all()
        .par_chunks(16)
        .map_init(
            || model.any().start(),
            |stream, windows| {
                windows.iter().map(|one| judge(stream.as_mut(), one)).collect::<Vec<_>>()
            },
        )
        .flatten_iter()
        .collect();
    for (series, one) in &mut decided {
        one.series = Some(&data.series()[*series].id);
    }
    let decisions: Vec<Decided<'_>> = decided.into_iter().map(|(_, one)| one).collect();
    if windows.uncovered() > 0 {
        note(format_args!(
            "{} samples at the ends of series are in no window",
            windows.uncovered()
        ));
    }
    let refused = decisions.iter().map(|one| one.refused).sum();
    let mut out = io::stdout().lock();
    if arguments.json {
        #[derive(Serialize)]
        struct Scores<'a> {
            data: &'a str,
            classes: &'a [String],
            decisions: Vec<Decided<'a>>,
        }
        serde_json::to_writer(&mut out, &Scores { data: data.source(), classes, decisions })?;
        writeln!(out)?;
    } else {
        let mut table = csv::Writer::from_writer(&mut out);
        table.write_record(heads(model.any(), true))?;
        for one in &decisions {
            table.write_record(one.record())?;
        }
        table.flush()?;
    }
    out.flush()?;
    Ok(refused)
}

/// Decides as samples arrive. Every line is flushed: whoever reads it is waiting.
fn score_stream(arguments: &Arguments, model: &Model) -> Result<usize, Failure> {
    let classes = model.any().classes();
    let mut reader = LiveReader::new(io::stdin().lock(), "standard input", model.kind()?);
    let mut stream = model.any().start();
    let mut out = io::stdout().lock();
    let mut write = |one: &Decided<'_>| -> Result<(), Failure> {
        let mut line =
            if arguments.json { serde_json::to_string(one)? } else { csv_line(&one.record())? };
        line.push('\n');
        out.write_all(line.as_bytes())?;
        Ok(out.flush()?)
    };
    let mut refused = 0;
    let (mut start, mut end) = (0_u64, 0_u64);
    if !arguments.json {
        let mut out = io::stdout().lock();
        writeln!(out, "{}", csv_line(&heads(model.any(), false))?)?;
        out.flush()?;
    }
    loop {
        let Some(sample) = reader.read()? else { return Ok(refused) };
        let pushed = stream.push(sample);
        end += 1;
        match pushed {
            Ok(()) => {}
            Err(error @ PushError::Observation(_)) => {
                refused += 1;
                let line = reader.line();
                note(format_args!("standard input, line {line}: {error}; the sample is skipped"));
            }
            Err(error) => return Err(error.into()),
        }
        if end % arguments.every == 0 {
            write(&Decided::read(classes, stream.as_ref(), start, end))?;
        }
        if arguments.reset_every.is_some_and(|every| end % every == 0) {
            stream.reset();
            start = end;
        }
    }
}

/// A CSV record without its line end.
fn csv_line(fields: &[String]) -> Result<String, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(fields)?;
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_end_matches('\n').to_owned())
}
