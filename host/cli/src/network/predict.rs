//! `fishweir network predict`.

use std::fmt::Write as _;
use std::path::PathBuf;

use fishweir::report::{Written as Report, counted};
use fishweir_core::classify::decide;
use fishweir_networks::records::field;
use fishweir_networks::{NetworkFile, NetworkModel};

use super::super::output::{self, Outputs};
use super::Failure;
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
    /// A table of records; a column of the class is not looked at
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
    let outputs = Outputs::check(&[&arguments.output], &[&arguments.data, &arguments.model])?;
    let file = NetworkFile::read(&arguments.model)?;
    let NetworkModel::Classifier(classifier) = &file.model else {
        return Err(Failure::input(
            Topic::NeedsClassifier,
            format!(
                "{}: is a network, not a classifier; fit one with --class",
                arguments.model.display()
            ),
        ));
    };
    let table = arguments.written.read(&arguments.data)?;
    let table = match table.column(&classifier.class().name).is_ok() {
        true => table.without(std::slice::from_ref(&classifier.class().name))?,
        false => table,
    };
    let (records, unseen) = arguments.written.decidable(&table, &file.columns)?;
    let states = &classifier.class().states;
    let mut text = "line,decision,margin".to_owned();
    states.iter().for_each(|state| text += &format!(",{}", field(&format!("value {state}"))));
    text.push('\n');
    let mut first = None;
    let mut skipped = 0;
    for record in 0..records.len() {
        // One record that cannot be decided on keeps no other from it.
        let values = match unseen.contains(&record) {
            true => Err(None),
            false => classifier.values(&records.subset(&[record])).map_err(Some),
        };
        let line = table.line(record);
        match values.as_ref().map(|rows| rows.as_slice()) {
            Ok([values, ..]) => {
                let decision = decide(values);
                let class = states.get(decision.class).map_or("", String::as_str);
                let _ = write!(text, "{line},{},{}", field(class), decision.margin);
                values.iter().for_each(|value| text += &format!(",{value}"));
            }
            _ => {
                skipped += 1;
                if let (None, Err(Some(error))) = (&first, values) {
                    first = Some(error.at_record(|_| record));
                }
                let _ = write!(text, "{line},,{}", ",".repeat(states.len()));
            }
        }
        text.push('\n');
    }
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
    output::write(&arguments.output, text.as_bytes())?;
    if arguments.output.as_os_str() == "-" {
        return Ok(());
    }
    let what = format!("decisions on {}", counted(records.len() - skipped, "record"));
    outputs.print(&Report::new(what, arguments.output.display().to_string()), arguments.json)
}
