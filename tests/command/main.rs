//! The command `fishweir`, run as people run it: good input, bad input, exit codes, what is left on
//! the disk. A test target of the package `fishweir`, so that cargo builds the program first.

mod bad_data;
mod bad_model;
mod compare;
mod emission;
mod evaluate;
mod export;
mod fit;
mod fixtures;
mod gram;
mod gram_family;
mod gram_marginal;
mod idle;
mod info;
mod kernel_fit;
mod machine;
mod network;
mod output;
mod profile;
mod run;
mod score;
mod stream;
mod systems;
mod tell;
mod usage;
mod watch;
mod words;

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

/// What a command that must succeed prints.
#[track_caller]
fn printed(command: &mut Command) -> String {
    let output = command.unwrap();
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The same, as JSON.
#[track_caller]
fn json(command: &mut Command) -> Value {
    serde_json::from_str(&printed(command)).expect("JSON on standard output, and nothing else")
}

/// Runs a command that must fail with an exit code; its message.
#[track_caller]
fn refused(command: &mut Command, code: i32) -> String {
    let output = command.output().expect("started");
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    assert!(message.lines().any(|line| line.starts_with("error: ")), "{message}");
    message
}
