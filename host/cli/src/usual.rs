//! How a model's training data were read, as the usual way to read further data.

use std::path::{Path, PathBuf};

use clap::{CommandFactory, FromArgMatches, Parser};
use fishweir::data::{ReadOptions, Source};

use super::reading::{Gathering, Reading};
use super::{Failure, Message, Topic, note, recipe};

/// Options of a recipe that say how a file is read, and are the same for further data.
const USUAL: [&str; 11] = [
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
];

/// Those that say where the labels are, which further data may lack.
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

/// A way to read data: options, and those of the training among them.
struct Way {
    options: ReadOptions,
    taken: String,
}

/// Reads data for a model by `read`: as the model's training data were read, where its recipe says so and the command line
/// does not; where they cannot be read so, as if they had no labels; and else as the command line says alone, which is noted.
/// `options` are those of reading for the model.
///
/// # Errors
/// If data can be read in no way, why not as those of the training; or, if they lack its columns, as the command line says.
pub(super) fn read<T>(
    recipe: Option<&str>,
    (reading, gathering): (&Reading, &Gathering),
    paths: &[PathBuf],
    options: impl Fn(&Reading) -> Result<ReadOptions, Failure>,
    mut read: impl FnMut(ReadOptions) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let options = |reading: &Reading, gathering: &Gathering| {
        options(reading).map(|options| gathering.add_to(options, None))
    };
    // Standard input is read once only.
    let is_again = paths.iter().all(|path| path != Path::new("-"));
    let recipe = recipe.filter(|_| is_again).unwrap_or_default();
    let given = [reading.given(), gathering.given()].concat();
    let mut ways: Vec<Way> = Vec::new();
    for wanted in [&[&USUAL[..], &LABELS].concat()[..], &USUAL] {
        let Some((usual, taken)) = usual(recipe, wanted, &given) else { continue };
        if ways.last().is_none_or(|way| way.taken != taken) {
            let (reading, gathering) = (reading.or(&usual.reading), gathering.or(&usual.gathering));
            ways.push(Way { options: options(&reading, &gathering)?, taken });
        }
    }
    let mut refused: Option<(String, Message)> = None;
    for Way { options, taken } in ways {
        match read(options) {
            Ok(data) => {
                note(Topic::AsTrained, format_args!("read as the training data were: {taken}"));
                return Ok(data);
            }
            Err(Failure::Input(why)) => {
                refused.get_or_insert((taken, why));
            }
            Err(other) => return Err(other),
        }
    }
    match (read(options(reading, gathering)?), refused) {
        (Ok(data), Some((taken, Message { text, .. }))) => {
            let what = format_args!("not read as the training data were, {taken}: {text}");
            note(Topic::NotAsTrained, what);
            Ok(data)
        }
        // Its columns are there, so it is as the training data were, but for what is wrong.
        (Err(_), Some((_, why))) if why.kind != "bad-header" => Err(Failure::Input(why)),
        (read, _) => read,
    }
}

/// How a stream is read, marks of missing values and the column of the time: as given, or else as in the training, which is noted.
pub(super) fn of_stream(recipe: Option<&str>, reading: &Reading) -> Source {
    let usual = usual(recipe.unwrap_or_default(), &["na", "time"], &reading.given());
    let Some((usual, taken)) = usual else { return reading.options().source };
    note(Topic::AsTrained, format_args!("read as the training data were: {taken}"));
    reading.or(&usual.reading).options().source
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Options that further data do not take over: the model's own symbols and rate, tables of the training's files, what only
    /// shows.
    const OWN: [&str; 6] =
        ["alphabet", "words", "fasta-label", "resample", "annotations", "dry-run"];

    #[test]
    fn every_option_of_reading_is_taken_over_or_not() {
        let command = Read::command();
        let all: Vec<&str> =
            command.get_arguments().filter_map(|option| option.get_long()).collect();
        for option in &all {
            let lists = [&USUAL[..], &LABELS, &OWN];
            let count = lists.iter().filter(|list| list.contains(option)).count();
            assert_eq!(count, 1, "--{option}");
        }
        assert_eq!(all.len(), USUAL.len() + LABELS.len() + OWN.len());
    }
}
