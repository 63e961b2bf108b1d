//! Windows shown to a board at a port: QEMU's, through a terminal.

use std::fs;

use fishweir::device::{Board, Firmware, ModelFile, Qemu};
use serde_json::Value;

use crate::fixtures::{Folder, QUICK, table};
use crate::terminal::with_emulated;
use crate::{fishweir, printed};

/// Names of the file of the emulated flash, and of its header's length.
const FLASH: &str = "fishweir-flash.bin";

fn taught_to(name: &str) {
    let folder = Folder::new();
    let two = folder.put("two.csv", table(&["still", "moving"]));
    let [model, artefact, taught] =
        ["two.json", "two.fishweir", "a.taught"].map(|name| folder.at(name));
    printed(&format!(
        "fit {two} -o {model} --group subject --window 20 --hop 10 --teachable {QUICK} --effort quick"
    ));
    printed(&format!("export {model} --artefact {artefact}"));
    let three = folder.put("three.csv", table(&["still", "moving", "turning"]));
    let board = Board::named(name).expect("a board");
    let image = Firmware::in_repository()
        .and_then(|firmware| {
            let (file, elf) =
                (ModelFile::Artefact(artefact.as_ref()), folder.path().join("teach.elf"));
            firmware.build_application(board, "teach", file, &elf)
        })
        .expect("builds");
    let qemu = Qemu::start_in(&image, folder.path(), &[]).expect("QEMU starts");
    let run = |line: &str| {
        with_emulated(&qemu, 0, |port| {
            let line = format!("{line} --model {model} --port {port} --patience 20 --json");
            fishweir(&line).output().expect("starts")
        })
    };
    let report = |output: &std::process::Output| -> Value {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("a report")
    };
    let first = report(&run(&format!("teach {three} --windows 6")));
    assert_eq!(first["classes"], serde_json::json!([{"class": "turning", "windows": 6}]));
    assert_eq!(
        (&first["taught"], &first["record"], &first["lost"]),
        (&1.into(), &1.into(), &0.into())
    );

    // The record is the host's, to the byte, behind its header.
    printed(&format!("teach {three} --windows 6 --model {model} -o {taught}"));
    let (record, flash) = (fs::read(&taught).expect("written"), folder.path().join(FLASH));
    let flash = fs::read(flash).expect("the flash's file");
    assert!(flash.windows(record.len()).any(|part| part == record), "another record");

    let more = report(&run(&format!("teach {three} --windows 2 --class spinning")));
    assert_eq!((&more["taught"], &more["record"]), (&2.into(), &2.into()));
    let fewer = report(&run("teach --forget turning"));
    assert_eq!((&fewer["taught"], &fewer["record"]), (&1.into(), &3.into()));
    for (line, kind) in [
        ("teach --forget turning".to_owned(), "unknown-name"),
        (format!("teach {three} --class still"), "known-class"),
    ] {
        let output = run(&line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains(&format!("\"kind\":\"{kind}\"")),
            "{said}"
        );
    }
}

#[test]
fn a_board_at_a_port_is_taught_as_the_host_is() {
    taught_to(Board::default_name());
}
