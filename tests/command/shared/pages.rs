//! Pages whose commands run as they stand.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::PROGRAM;

/// Tutorials that build firmware, which `command_device` runs.
pub(crate) const WITH_FIRMWARE: [&str; 2] = ["motions", "c"];

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("a folder")
}

/// Runs the blocks of a page that are marked `sh`, as one script in a checkout, with the program on the path. Returns what
/// they printed.
///
/// # Panics
/// Where a command fails.
#[track_caller]
pub(crate) fn run(page: &str) -> String {
    let text = std::fs::read_to_string(root().join(page)).expect("a page");
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let script = format!("set -eu\n{}", blocks.collect::<String>());
    assert!(script.contains("fishweir"), "{page} has no commands");
    let program = Path::new(PROGRAM).parent().expect("a folder");
    let folder = tempfile::tempdir().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(root())
        .env("PATH", format!("{}:{path}", program.display()))
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .output()
        .expect("bash");
    let [out, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{page}:\n{out}\n{errors}");
    out.into_owned()
}
