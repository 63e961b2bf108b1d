//! `fishweir network predict`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fishweir::report::{Written as Report, counted};
use fishweir_core::classify::decide;
use fishweir_networks::NetworkFile;
use fishweir_networks::records::field;
use serde::Serialize;

use super::super::output::{self, Outputs};
use super::Failure;
use super::model::classifier;
use super::table::{Written, refused};
use crate::help::brief;
use crate::{Topic, note};

/// Options that `-h` shows.
const SHOWN: &[&str] = &["model", "output", "unseen", "json"];

const EXAMPLES: &str = "\
Examples:
  fishweir network predict new.csv --model vote.json";

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// A table of records; a column of the class is ignored
    data: PathBuf,
    /// A classifier
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// Output file of the decisions, as CSV; - for standard output
    #[arg(short, long, value_name = "FILE.csv", default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    written: Written,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { data, model, output, written, json } = arguments;
    decide_on(data, model, written, (output, *json))
}

/// Decision on a record; for an undecidable record, only its line.
#[derive(Serialize)]
struct Decided<'a> {
    line: u64,
    class: Option<&'a str>,
    margin: Option<f64>,
    /// Values of the classes: `[class]`.
    values: Option<Vec<f64>>,
}

#[derive(Serialize)]
struct Decisions<'a> {
    data: &'a str,
    classes: &'a [String],
    decisions: &'a [Decided<'a>],
    /// Records without a decision.
    skipped: usize,
}

/// A line for each record. Two classes of a linear machine share one value, positive for the second.
fn csv(states: &[String], outputs: usize, decided: &[Decided<'_>]) -> String {
    let heads: Vec<String> = match outputs {
        1 => vec!["value".to_owned()],
        _ => states.iter().map(|state| format!("value {state}")).collect(),
    };
    let mut text = "line,decision,margin".to_owned();
    heads.iter().for_each(|head| text += &format!(",{}", field(head)));
    text.push('\n');
    for Decided { line, class, margin, values } in decided {
        let margin = margin.map_or_else(String::new, |margin| margin.to_string());
        let _ = write!(text, "{line},{},{margin}", class.map_or_else(String::new, field));
        match values {
            Some(values) => values.iter().for_each(|value| text += &format!(",{value}")),
            None => text += &",".repeat(heads.len()),
        }
        text.push('\n');
    }
    text
}

/// Decides on each record of a table, and writes CSV, or JSON to standard output.
pub(super) fn decide_on(
    data: &Path,
    model: &Path,
    written: &Written,
    (output, json): (&Path, bool),
) -> Result<(), Failure> {
    let outputs = Outputs::check(&[output], &[data, model])?;
    let file = NetworkFile::read(model)?;
    let classifier = classifier(model, &file)?;
    let table = written.read(data)?;
    let table = match table.column(&classifier.class().name).is_ok() {
        true => table.without(std::slice::from_ref(&classifier.class().name))?,
        false => table,
    };
    let (records, unseen) = written.decidable(&table, &file.columns)?;
    let states = &classifier.class().states;
    let mut decided = Vec::with_capacity(records.len());
    let mut first = None;
    for record in 0..records.len() {
        // One record that cannot be decided on keeps no other from it.
        let values = match unseen.contains(&record) {
            true => Err(None),
            false => classifier.values(&records.subset(&[record])).map_err(Some),
        };
        let values = match values {
            Ok(rows) => rows.into_iter().next(),
            Err(error) => {
                first = first.or(error.map(|error| error.at_record(|_| record)));
                None
            }
        };
        let decision = values.as_ref().map(|values| decide(values));
        decided.push(Decided {
            line: table.line(record),
            class: decision.and_then(|one| states.get(one.class)).map(String::as_str),
            margin: decision.map(|one| one.margin),
            values,
        });
    }
    let skipped = decided.iter().filter(|one| one.values.is_none()).count();
    if skipped > 0 {
        let records = counted(skipped, "record");
        let why = match (unseen.first(), first) {
            (_, Some(error)) => match refused(&table, error) {
                Failure::Input(message) => message.text,
                _ => String::new(),
            },
            (Some(&row), None) => format!(
                "line {} has a category that the model has not seen; --unseen missing decides without it",
                table.line(row)
            ),
            (None, None) => String::new(),
        };
        let source = table.source();
        note(Topic::SkippedRecords, format_args!("{source}: {records} not decided on: {why}"));
    }
    let to_standard_output = output.as_os_str() == "-";
    let text = match json && to_standard_output {
        true => {
            let data = table.source();
            let decisions = Decisions { data, classes: states, decisions: &decided, skipped };
            serde_json::to_string(&decisions)? + "\n"
        }
        false => {
            let linear = classifier.outputs().len();
            csv(states, if linear == 0 { states.len() } else { linear }, &decided)
        }
    };
    output::write(output, text.as_bytes())?;
    if to_standard_output {
        return Ok(());
    }
    let what = format!("decisions on {}", counted(records.len() - skipped, "record"));
    outputs.print(&Report::new(what, output.display().to_string()), json)
}
