//! How a model's training data were read, as the usual way to read further data.

use std::path::{Path, PathBuf};

use clap::{CommandFactory, FromArgMatches, Parser};
use fishweir::data::ReadOptions;

use super::model::Model;
use super::reading::{Gathering, Reading};
use super::{Failure, Topic, note, recipe};

/// Options of a recipe that say how a file is read, and are the same for further data. What labels them comes last.
const USUAL: [&str; 14] = [
    "format",
    "event-column",
    "time",
    "series",
    "channels",
    "decimal",
    "sep",
    "na",
    "no-header",
    "header",
    "encoding",
    LABELS[0],
    LABELS[1],
    LABELS[2],
];

/// Options that further data may not need, for they may have no labels.
const LABELS: [&str; 3] = ["label", "segments", "name"];

/// Options of reading, alone.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Read {
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    gathering: Gathering,
}

/// A way to read data, and the options of the training that it takes over.
struct Way {
    options: ReadOptions,
    taken: String,
}

/// Reads data for a model by `read`: as the model's training data were read, where its recipe says so and the command line
/// does not; where they cannot be read so, as if they had no labels; and else as the command line says alone.
///
/// # Errors
/// Those of the last way; options that do not fit the model.
pub(super) fn read<T, E: Into<Failure>>(
    model: &Model,
    (reading, gathering): (&Reading, &Gathering),
    paths: &[PathBuf],
    mut read: impl FnMut(ReadOptions) -> Result<T, E>,
) -> Result<T, Failure> {
    let options = |reading: &Reading, gathering: &Gathering| -> Result<ReadOptions, Failure> {
        Ok(gathering.add_to(reading.options_of(model, None)?, None))
    };
    // Standard input is read once only.
    let is_again = paths.iter().all(|path| path != Path::new("-"));
    let provenance = model.provenance().filter(|_| is_again);
    let recipe = provenance.and_then(|provenance| provenance.recipe.as_deref());
    let mut ways: Vec<Way> = Vec::new();
    for wanted in [&USUAL[..], &USUAL[..USUAL.len() - LABELS.len()]] {
        let given = [reading.given(), gathering.given()].concat();
        let Some((usual, taken)) = usual(recipe.unwrap_or_default(), wanted, &given) else {
            continue;
        };
        if ways.last().is_some_and(|way| way.taken == taken) {
            continue;
        }
        let (reading, gathering) = (reading.or(&usual.reading), gathering.or(&usual.gathering));
        ways.push(Way { options: options(&reading, &gathering)?, taken });
    }
    for Way { options, taken } in ways {
        if let Ok(data) = read(options) {
            note(Topic::AsTrained, format_args!("read as the training data were: {taken}"));
            return Ok(data);
        }
    }
    read(options(reading, gathering)?).map_err(Into::into)
}

/// The wanted options of a recipe that were not given, and their words; `None` where there are none.
fn usual(text: &str, wanted: &[&str], given: &[&str]) -> Option<(Read, String)> {
    let key = |line: &&str| line.split(" = ").next().unwrap_or_default().to_owned();
    let is_wanted = |line: &&str| {
        let key = key(line);
        wanted.contains(&key.as_str()) && !given.contains(&format!("--{key}").as_str())
    };
    let lines: Vec<&str> = text.lines().filter(is_wanted).collect();
    let mut command = Read::command();
    command.build();
    let words = recipe::words(Path::new("the model's recipe"), &lines.join("\n"), &command).ok()?;
    let taken: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let matches = command.try_get_matches_from(words).ok()?;
    Some((Read::from_arg_matches(&matches).ok()?, taken.join(" ")))
        .filter(|(_, taken)| !taken.is_empty())
}
