//! The command `fishweir`, run as people run it: good input, bad input, exit codes, what is left on
//! the disk. A test target of the package `fishweir-cli`, so that cargo builds the program first. What builds firmware or
//! C is in `command_device`.

mod bad_data;
mod bad_model;
mod bank;
mod codebooks;
mod compare;
mod conditions;
mod confidence;
mod contract;
mod coreset;
mod counted;
mod detect;
mod emission;
mod evaluate;
mod export;
mod faults;
mod features;
mod figures;
mod files;
mod fit;
mod front;
mod gram;
mod gram_family;
mod gram_marginal;
mod idle;
mod info;
mod kernel_fit;
mod lags;
mod layouts;
mod library;
mod likeness;
mod machine;
mod missing;
mod named_events;
mod network;
mod new;
mod out_of_core;
mod output;
mod pages;
mod parts;
mod people;
mod predict;
mod profile;
mod recipe;
mod regression;
mod remedies;
mod reports;
mod run;
mod segments;
mod selection;
mod send;
mod shared;
mod spot;
mod stream;
mod systems;
mod teach;
mod tell;
mod units;
mod usage;
mod words;

use std::fmt;
use std::process::Output;

use serde::Deserialize;

use shared::{PROGRAM, Run, fishweir, fixtures, json, printed};

/// An error or a note, as programs read it.
#[derive(Debug, PartialEq, Deserialize)]
struct Told {
    kind: String,
    message: String,
}

impl Told {
    /// Whether it is of a kind and its message has these words as words of their own: `ragged-row 3 walk.csv`. They are
    /// what the message is about: options, names, numbers.
    fn is(&self, expected: &str) -> bool {
        let mut words = expected.split_whitespace();
        words.next() == Some(self.kind.as_str()) && words.all(|word| self.names(word))
    }

    /// Whether its message has a word, or some in a row.
    fn names(&self, word: &str) -> bool {
        let part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        let (first, last) = (word.chars().next(), word.chars().next_back());
        self.message.match_indices(word).any(|(at, _)| {
            let (before, after) = (&self.message[..at], &self.message[at + word.len()..]);
            let goes_on = |one, next| part(one) && part(next);
            !goes_on(first, before.chars().next_back()) && !goes_on(last, after.chars().next())
        })
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

/// The errors and notes of a command, which writes nothing else on standard error.
#[derive(Debug, Default)]
struct Messages {
    errors: Vec<Told>,
    notes: Vec<Told>,
}

impl Messages {
    #[track_caller]
    fn of(stderr: &[u8]) -> Self {
        #[derive(Deserialize)]
        #[serde(rename_all = "kebab-case")]
        enum Line {
            Error(Told),
            Note(Told),
        }
        let text = std::str::from_utf8(stderr).expect("UTF-8");
        let mut messages = Self::default();
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(Line::Error(told)) => messages.errors.push(told),
                Ok(Line::Note(told)) => messages.notes.push(told),
                Err(_) => panic!("neither an error nor a note: {text}"),
            }
        }
        messages
    }
}

/// Runs a command with its errors and notes as JSON.
fn as_json(command: impl Run) -> Output {
    command.run_with(&["--message-format", "json"])
}

/// Runs a command that must fail with an exit code; its error.
#[track_caller]
fn failed(command: impl Run, code: i32) -> Told {
    let output = as_json(command);
    let mut messages = Messages::of(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{messages:?}");
    assert_eq!(messages.errors.len(), 1, "{messages:?}");
    messages.errors.remove(0)
}

/// The error of a command that must be refused as wrongly used.
#[track_caller]
fn refused(command: impl Run) -> Told {
    failed(command, 2)
}

/// Asserts that a command is refused with an error that [`Told::is`] expected.
#[track_caller]
fn refuses(command: impl Run, expected: impl AsRef<str>) {
    let (told, expected) = (refused(command), expected.as_ref());
    assert!(told.is(expected), "not {expected}: {told:?}");
}

/// Asserts what a command line says, as [`Told::is`] has it: an option without effect is noted, and all else refused. What
/// has no other place is written to a folder that goes.
#[track_caller]
fn answers(line: impl AsRef<str>, expected: impl AsRef<str>) {
    let (line, expected) = (line.as_ref(), expected.as_ref());
    if !expected.starts_with("idle-option") {
        return refuses(line, expected);
    }
    let folder = fixtures::Folder::new();
    let told = notes(fishweir(line).current_dir(&folder));
    assert!(told.iter().any(|note| note.is(expected)), "not {expected}: {told:?}");
}

/// The notes of a command that must succeed.
#[track_caller]
fn notes(command: impl Run) -> Vec<Told> {
    let output = as_json(command);
    let messages = Messages::of(&output.stderr);
    assert!(output.status.success(), "{messages:?}");
    messages.notes
}
