//! Windows shown to a board at a port: QEMU's, through a terminal. The board runs the image `teach`, or a project of `fishweir new`.

use std::fs;
use std::path::{Path, PathBuf};

use fishweir::device::{Board, Firmware, Image, ModelFile, Qemu};
use fishweir::project::{PROJECT_BOARDS, Start};
use serde_json::Value;

use crate::fixtures::{Folder, QUICK, table};
use crate::new::{cargo, share_core};
use crate::terminal::with_emulated;
use crate::{fishweir, printed};

/// Names of the file of the emulated flash, and of its header's length.
const FLASH: &str = "fishweir-flash.bin";

/// The image `teach` of a board around an artefact, and the folder of its flash.
fn image(folder: &Folder, board: &'static Board, model: &str) -> (Image, PathBuf) {
    let artefact = folder.at("two.fishweir");
    printed(&format!("export {model} --artefact {artefact}"));
    let elf = folder.path().join("teach.elf");
    let file = ModelFile::Artefact(artefact.as_ref());
    let image = Firmware::in_repository()
        .and_then(|firmware| firmware.build_application(board, "teach", file, &elf));
    (image.expect("builds"), folder.path().to_owned())
}

/// The image of a project that is taught beside its sensor.
fn project(folder: &Folder, board: &'static Board, model: &str) -> (Image, PathBuf) {
    let (at, data) = (folder.at("beside"), folder.at("two.csv"));
    printed(&format!(
        "new {at} --name taught-{0} --board {0} --model {model} --data {data} --rate 50 --application teach --alarm taught",
        board.name
    ));
    share_core(Path::new(&at));
    let output = cargo(Path::new(&at), "build --release");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !errors.contains("warning"), "{}: {errors}", board.name);
    let built = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware/target"));
    let elf = built.join(board.target).join(format!("release/taught-{}", board.name));
    (Image::open(board, &elf).expect("an image"), at.into())
}

fn taught_to(name: &str, program: fn(&Folder, &'static Board, &str) -> (Image, PathBuf)) {
    let folder = Folder::new();
    let two = folder.put("two.csv", table(&["still", "moving"]));
    let [model, taught] = ["two.json", "a.taught"].map(|name| folder.at(name));
    printed(&format!(
        "fit {two} -o {model} --group subject --window 20 --hop 10 --teachable {QUICK} --effort quick"
    ));
    let three = folder.put("three.csv", table(&["still", "moving", "turning"]));
    let board = Board::named(name).expect("a board");
    let (image, place) = program(&folder, board, &model);
    let qemu = Qemu::start_in(&image, &place, &[]).expect("QEMU starts");
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
    let (record, flash) = (fs::read(&taught).expect("written"), place.join(FLASH));
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
    taught_to(Board::default_name(), image);
}

/// A project decides on its sensor meanwhile: what a host shows is not mixed with that.
#[test]
fn a_project_is_taught_as_the_host_is() {
    taught_to(Board::default_name(), project);
}

#[test]
#[ignore = "the other boards that QEMU has, for tests/boards"]
fn a_project_on_every_emulated_board_is_taught_as_the_host_is() {
    for board in PROJECT_BOARDS.iter().filter(|board| board.start == Start::Emulated) {
        // The first micro:bit has no file for its flash.
        if board.name != "microbit" {
            taught_to(board.name, project);
        }
    }
}
