//! The last line of a report: what to do next, and the option that reports more.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::CommandFactory;

use crate::CommandLine;
use crate::failure::report_format;
use fishweir::report::ReportFormat;

/// The line: the next step, if there is one, and the option that reports more, unless all is reported.
pub(super) fn hint(next: Option<String>) -> Option<String> {
    let more = (report_format(false) == ReportFormat::Summary)
        .then(|| "--verbose reports more".to_owned());
    let next = next.map(|next| format!("next: {next}"));
    let words: Vec<String> = next.into_iter().chain(more).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// The line after the judgement of a model: which boards suit it, and a project for one.
pub(super) fn with_model(model: &str) -> Option<String> {
    let model = file(model);
    hint(Some(format!(
        "fishweir info {model} for boards that suit it, fishweir new FOLDER --model {model} for firmware"
    )))
}

/// The line after a regression: which boards suit it, and its export.
pub(super) fn estimating(model: &str) -> Option<String> {
    let model = file(model);
    hint(Some(format!(
        "fishweir info {model} for boards that suit it, fishweir export {model} --rust FILE.rs for firmware"
    )))
}

/// The options of this run, by name, with their values.
static GIVEN: OnceLock<Vec<(String, Vec<String>)>> = OnceLock::new();

/// Keeps the options of this run, those of a recipe among them.
pub(super) fn keep(given: Vec<(String, Vec<String>)>) {
    // There is one command line.
    let _ = GIVEN.set(given);
}

/// A command on the same files with the options of this one that it takes too, to be typed or pasted.
pub(super) fn same(command: &str, data: &[PathBuf], without: &[&str]) -> String {
    let root = CommandLine::command();
    let mut words = vec!["fishweir".to_owned(), command.to_owned()];
    words.extend(data.iter().map(file));
    let given = GIVEN.get().map(Vec::as_slice).unwrap_or_default();
    let options =
        root.find_subcommand(command).into_iter().flat_map(|command| command.get_arguments());
    for option in options {
        let own = |(name, _): &&(String, Vec<String>)| {
            option.get_long() == Some(name) && !without.contains(&name.as_str())
        };
        let Some((name, values)) = given.iter().find(own) else { continue };
        let name = format!("--{name}");
        match (values.as_slice(), option.get_value_delimiter()) {
            ([], _) => words.push(name),
            (several, Some(delimiter)) => {
                words.extend([name, quoted(&several.join(&delimiter.to_string()))]);
            }
            (several, None) => {
                words.extend(several.iter().flat_map(|value| [name.clone(), quoted(value)]));
            }
        }
    }
    words.join(" ")
}

/// A file as it is typed.
pub(super) fn file(path: impl AsRef<Path>) -> String {
    quoted(&path.as_ref().display().to_string())
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |one: char| one.is_alphanumeric() || "-_./=,:+%@".contains(one);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
