//! What the tests of the command share, the quick ones and those that build for devices: how it is run, and small data.

pub(crate) mod data;
pub(crate) mod fixtures;
pub(crate) mod pages;

use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// The program.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_fishweir");

/// A command line of the program, split at blanks.
pub(crate) fn fishweir(line: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(line.split_whitespace());
    command
}

/// What can be run: a command line, or a command to which more was added.
pub(crate) trait Run {
    fn run(self) -> Output
    where
        Self: Sized,
    {
        self.run_with(&[])
    }

    /// Runs it with more arguments.
    fn run_with(self, arguments: &[&str]) -> Output;
}

impl<S: AsRef<str> + ?Sized> Run for &S {
    fn run_with(self, arguments: &[&str]) -> Output {
        fishweir(self.as_ref()).run_with(arguments)
    }
}

impl Run for &mut Command {
    fn run_with(self, arguments: &[&str]) -> Output {
        self.args(arguments).output().expect("started")
    }
}

/// What a command that must succeed prints.
#[track_caller]
pub(crate) fn printed(command: impl Run) -> String {
    let output = command.run();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The same, as JSON.
#[track_caller]
pub(crate) fn json(command: impl Run) -> Value {
    serde_json::from_str(&printed(command)).expect("JSON on standard output, and nothing else")
}
