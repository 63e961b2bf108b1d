//! The first example of the core's README, as a reader does it: a crate of one's own outside the checkout, whose build
//! script turns an artefact into a module.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::new::cargo;

/// The blocks of code of the core's README, without their fences.
fn blocks() -> Vec<&'static str> {
    let readme = include_str!("../../core/README.md");
    readme
        .split("```")
        .skip(1)
        .step_by(2)
        .map(|block| block.split_once('\n').expect("a fence").1)
        .collect()
}

/// The block that begins with this line.
fn block(first: &str) -> &'static str {
    let begins = |block: &&str| block.lines().next() == Some(first);
    blocks().into_iter().find(begins).unwrap_or_else(|| panic!("README has no block `{first}`"))
}

/// Builds the crate around `gait.fishweir` for a Cortex-M4F and for this machine, and returns what the latter decides on
/// lines of numbers: the class, a comma and the margin.
pub(crate) fn decided(folder: &Path, artefact: &Path, rows: &str) -> Vec<String> {
    let own = folder.join("ten-lines");
    fs::create_dir_all(own.join("src")).expect("a folder");
    fs::copy(artefact, own.join("gait.fishweir")).expect("copies");
    let checkout = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let dependencies = block("[dependencies]").replace("../fishweir", checkout);
    let manifest = "[package]\nname = \"ten-lines\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n";
    let write = |file: &str, text: &str| fs::write(own.join(file), text).expect("writes");
    write("Cargo.toml", &format!("{manifest}{dependencies}"));
    write("build.rs", block("// build.rs"));
    write("src/lib.rs", block("// src/lib.rs"));
    write(
        "src/main.rs",
        "fn main() {\n    let mut lines = std::io::stdin().lines();\n    ten_lines::run(\n        || {\n            \
         let Some(line) = lines.next() else { std::process::exit(0) };\n            \
         let line = line.expect(\"text\");\n            \
         let row: Option<Vec<f32>> = line.split(',').map(|x| x.parse().ok()).collect();\n            \
         row.map(|row| row.try_into().expect(\"six numbers\"))\n        },\n        \
         |class, margin| println!(\"{class},{margin}\"),\n    );\n}\n",
    );
    for line in ["build --lib --release --target thumbv7em-none-eabihf", "build"] {
        let built = cargo(&own, line);
        let errors = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success() && !errors.contains("warning"), "{errors}");
    }
    let builds = Path::new(checkout).join("firmware/target/debug/ten-lines");
    let mut program =
        Command::new(builds).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    program.stdin.take().expect("piped").write_all(rows.as_bytes()).expect("reads");
    let output = program.wait_with_output().expect("ends");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
}

/// A damaged artefact fails the build, which names the file and the remedy.
#[test]
fn a_damaged_artefact_fails_the_build() {
    let folder = crate::fixtures::Folder::new();
    let mut bytes =
        fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../core/src/artefact/coin.fishweir"))
            .expect("reads");
    bytes[80] ^= 1;
    fs::create_dir_all(folder.path().join("src")).expect("a folder");
    let checkout = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let dependencies = block("[dependencies]").replace("../fishweir", checkout);
    folder.put("Cargo.toml", format!("[package]\nname = \"damaged\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{dependencies}"));
    folder.put("build.rs", block("// build.rs"));
    folder.put("src/lib.rs", "#![no_std]\nfishweir_core::include_model!(\"gait\");\n");
    fs::write(folder.path().join("gait.fishweir"), bytes).expect("writes");
    let built = cargo(folder.path(), "check");
    let errors = String::from_utf8_lossy(&built.stderr);
    assert!(!built.status.success(), "{errors}");
    assert!(
        errors.contains("gait.fishweir")
            && errors.contains("checksum")
            && errors.contains("fishweir export"),
        "{errors}"
    );
}
