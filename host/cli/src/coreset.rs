//! `fishweir coreset`.

use std::fmt::{self, Write as _};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use fishweir::coreset::{Coreset, ram};
use fishweir::internals::field;
use fishweir::kernel::Items;
use fishweir::report::{DataSummary, counted, grouped};
use serde::Serialize;

use super::help::brief;
use super::kernels::{OfData, WindowFeatures, help};
use super::output;
use super::{Failure, Topic, note};

pub(super) const LONG_ABOUT: &str = "\
Keep a few windows of a stream that stand for all: what to send home, or to label.

The windows of DATA come one after the other, as on a device, and at most K are kept in memory that does not grow. A window that \
comes is exchanged for a kept one if that brings the mean feature of the kept ones closer to the mean of all so far. Each kept \
window has a weight: the windows that it stands for. The report has the squared maximum mean discrepancy between the kept windows \
and all.

`--kernel` chooses the features, as in `features`. --evidence takes those that a device has without further work: the whitened \
decision values and log-likelihoods of a model fitted with `fit --teachable`, in the device's bits.

Exit codes: 0 done, 2 bad input.";

const EXAMPLES: &str = "\
Examples:
  fishweir fit gait.csv --window 200 --teachable -o gait.json
  fishweir coreset week.csv --model gait.json --evidence --keep 16 -o label.csv
  fishweir coreset week.csv --window 200 --kernel invariant --one-model --keep 16 --json";

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "keep",
    "output",
    "evidence",
    "kernel",
    "information",
    "model",
    "normalise",
    "window",
    "hop",
    "label",
    "json",
];

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(help::shown(option), SHOWN)), after_help = EXAMPLES,
    after_long_help = format!("{}\n\n{EXAMPLES}", help::names()))]
pub(super) struct Arguments {
    /// Series, labelled or not
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Windows to keep
    #[arg(short, long, value_name = "K", default_value = "16", value_parser = places)]
    keep: NonZeroUsize,
    /// Output file of the kept windows, as CSV; - for standard output [default: none, with the report alone]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Take the features that a device has: of a model fitted with `fit --teachable`
    #[arg(long, requires = "model")]
    evidence: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    of: OfData,
}

/// Takes a number of windows to keep.
fn places(text: &str) -> Result<NonZeroUsize, String> {
    const MOST: usize = 1 << 16;
    let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= MOST);
    number.ok_or_else(|| format!("give 1 to {MOST} windows"))
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let outputs = arguments.of.checked(arguments.output.as_deref(), &arguments.data)?;
    let WindowFeatures { data, items, rows, words } = match arguments.evidence {
        true => arguments.of.evidence(&arguments.data)?,
        false => arguments.of.window_features(&arguments.data)?,
    };
    let features = rows.iter().flatten().map(Vec::len).next().unwrap_or_default();
    let mut coreset = Coreset::new(arguments.keep, features);
    let mut refused = 0;
    for row in &rows {
        match row {
            Some(row) => refused += usize::from(coreset.push(row).is_err()),
            None => {
                coreset.push_missing();
                refused += 1;
            }
        }
    }
    if refused == rows.len() {
        let what =
            "no window has features that are finite numbers; take another --kernel or --family";
        return Err(Failure::input(Topic::Unobserved, format!("{}: {what}", data.data)));
    }
    if refused > 0 {
        let what = "windows have no features, and were left out";
        note(Topic::Unobserved, format_args!("{}: {refused} {what}", data.data));
    }
    let report = Report::new(data, &items, words, features, &coreset, arguments);
    if let Some(path) = &arguments.output {
        output::write(path, report.csv().as_bytes())?;
    }
    outputs.print(&report, arguments.json)
}

/// Report of kept windows.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    data: DataSummary,
    /// The features in words.
    features: String,
    /// Number of features.
    dimension: usize,
    /// Windows taken in.
    windows: u32,
    /// The kept windows, in the order of the stream.
    kept: Vec<Kept>,
    /// The squared maximum mean discrepancy between these and all.
    discrepancy: f32,
    /// Bytes of RAM of as many on a device.
    ram_bytes: usize,
    /// The file of the kept windows.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

/// A kept window.
#[derive(Debug, Serialize)]
struct Kept {
    /// Its place among the windows, from 0.
    index: u32,
    /// Its name: its series, and the sample that it begins at.
    id: String,
    /// Its class.
    label: Option<String>,
    /// Windows that it stands for.
    weight: u32,
}

impl Report {
    fn new(
        data: DataSummary,
        items: &Items,
        words: String,
        dimension: usize,
        coreset: &Coreset,
        arguments: &Arguments,
    ) -> Self {
        let mut kept = Vec::new();
        for one in coreset.kept() {
            let at = one.index as usize;
            let label = items.labels[at].and_then(|label| items.classes.get(label)).cloned();
            let id = items.ids[at].clone();
            kept.push(Kept { index: one.index, id, label, weight: one.weight });
        }
        Self {
            data,
            features: words,
            dimension,
            windows: coreset.seen(),
            kept,
            discrepancy: coreset.discrepancy(),
            ram_bytes: ram(arguments.keep.get(), dimension),
            output: arguments.output.as_ref().map(|path| path.display().to_string()),
        }
    }

    /// A header and a row per kept window.
    fn csv(&self) -> String {
        let mut text = "index,id,label,weight\n".to_owned();
        for Kept { index, id, label, weight } in &self.kept {
            let label = label.as_deref().unwrap_or_default();
            // Writing to a string does not fail.
            let _ = writeln!(text, "{index},{},{},{weight}", field(id), field(label));
        }
        text
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.data)?;
        writeln!(f, "features: {}, {}", self.features, grouped(self.dimension))?;
        let (kept, all) = (self.kept.len(), self.windows as usize);
        writeln!(f, "{} of {} kept", grouped(kept), counted(all, "window"))?;
        for Kept { id, label, weight, .. } in &self.kept {
            let label = label.as_ref().map(|label| format!(" ({label})")).unwrap_or_default();
            writeln!(f, "  {id}{label}: stands for {}", counted(*weight as usize, "window"))?;
        }
        writeln!(f, "squared discrepancy between these and all: {:.6}", self.discrepancy)?;
        writeln!(f, "on a device: {} B of RAM", grouped(self.ram_bytes))?;
        match &self.output {
            Some(output) => writeln!(f, "written to {output}"),
            None => Ok(()),
        }
    }
}
