//! The command `fishweir`, run as people run it: good input, bad input, exit codes, what is left on
//! the disk. A test target of the package `fishweir-cli`, so that cargo builds the program first.

mod bad_data;
mod bad_model;
mod c;
mod codebooks;
mod compare;
mod confidence;
mod contract;
mod emission;
mod evaluate;
mod export;
mod fit;
mod fixtures;
mod front;
mod gram;
mod gram_family;
mod gram_marginal;
mod idle;
mod info;
mod kernel_fit;
mod lags;
mod layouts;
mod machine;
mod network;
mod new;
mod output;
mod profile;
mod replay;
mod run;
mod score;
mod selection;
mod send;
mod spot;
mod stream;
mod systems;
mod tell;
mod usage;
mod watch;
mod words;

use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_fishweir");

/// A command line of the program, split at blanks.
fn fishweir(line: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(line.split_whitespace());
    command
}

/// What can be run: a command line, or a command to which more was added.
trait Run {
    fn run(self) -> Output;
}

impl<S: AsRef<str> + ?Sized> Run for &S {
    fn run(self) -> Output {
        fishweir(self.as_ref()).run()
    }
}

impl Run for &mut Command {
    fn run(self) -> Output {
        self.output().expect("started")
    }
}

/// What a command that must succeed prints.
#[track_caller]
fn printed(command: impl Run) -> String {
    let output = command.run();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The same, as JSON.
#[track_caller]
fn json(command: impl Run) -> Value {
    serde_json::from_str(&printed(command)).expect("JSON on standard output, and nothing else")
}

/// Runs a command that must fail with an exit code; its message.
#[track_caller]
fn failed(command: impl Run, code: i32) -> String {
    let output = command.run();
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    assert!(message.lines().any(|line| line.starts_with("error: ")), "{message}");
    message
}

/// The message of a command that must be refused as wrongly used.
#[track_caller]
fn refused(command: impl Run) -> String {
    failed(command, 2)
}

/// The same, with these words in it.
#[track_caller]
fn refuses(command: impl Run, words: impl AsRef<str>) {
    let (message, words) = (refused(command), words.as_ref());
    assert!(message.contains(words), "not `{words}`: {message}");
}
