//! The last line of a report: what to do next, and the option that reports more.

use std::path::{Path, PathBuf};

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

/// A command on the same files with the options of this one that it takes too, to be typed or pasted.
pub(super) fn same(command: &str, data: &[PathBuf], without: &[&str]) -> String {
    let mut root = CommandLine::command();
    root.build();
    let taken = |name: &str| {
        let command = root.find_subcommand(command)?;
        let mut options = command.get_arguments();
        let option = options.find(|option| option.get_long() == Some(name))?;
        let is_own = !option.is_global_set() && !without.contains(&name);
        is_own.then(|| option.get_action().takes_values())
    };
    let mut words = vec!["fishweir".to_owned(), command.to_owned()];
    words.extend(data.iter().map(|path| file(path)));
    let given: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut given = given.iter();
    while let Some(word) = given.next() {
        let Some(option) = word.strip_prefix("--") else { continue };
        let (name, value) =
            option.split_once('=').map_or((option, None), |(name, _)| (name, Some(())));
        let Some(takes_value) = taken(name) else { continue };
        words.push(quoted(word));
        if takes_value && value.is_none() {
            words.extend(given.next().map(|value| quoted(value)));
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
