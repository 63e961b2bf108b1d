//! `fishweir new --application field` and `--alarm`: a program that decides without a host takes a new model over a line that
//! damages bytes, keeps it, and sets its alarm pin.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use fishweir::device::{Board, Image, Qemu};
use fishweir::project::{PROJECT_BOARDS, Start};

use crate::fixtures::{Folder, fixtures};
use crate::new::{cargo, share_core};
use crate::printed;
use crate::terminal::with_emulated;

/// Decisions of a log, each with whether the alarm pin is high after it.
fn decided(log: &str) -> Vec<(String, bool)> {
    let mut decided: Vec<(String, bool)> = Vec::new();
    let mut is_high = false;
    for line in log.lines() {
        if let Some(level) = line.strip_prefix("alarm pin ") {
            assert_ne!(is_high, level == "high", "a change: {log}");
            is_high = level == "high";
            decided.last_mut().expect("after a decision").1 = is_high;
        }
        let class =
            line.split_once(" samples: ").and_then(|(_, rest)| rest.split_once(" leads by"));
        decided.extend(class.map(|(class, _)| (class.to_owned(), is_high)));
    }
    decided
}

/// Runs the program of a board, sends it a new model, and starts it again.
fn takes_a_model_and_keeps_it(folder: &Folder, board: &'static str) {
    println!("{board}");
    let (model, data) = (fixtures().at("three.json"), fixtures().at("three.csv"));
    let [at, key, update] =
        ["field", "update.key", "new.update"].map(|name| folder.at(format!("{board}-{name}")));
    printed(&format!("keygen {key}"));
    let public = key.replace(".key", ".pub");
    printed(&format!(
        "new {at} --name in-field --board {board} --model {model} --data {data} --rate 100 --application field \
         --update-key {public} --alarm turning"
    ));
    share_core(Path::new(&at));
    let output = cargo(Path::new(&at), "build --release");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !errors.contains("warning"), "{board}: {errors}");
    printed(&format!(
        "export {model} --update {update} --update-version 2 --key {key} --data {data}"
    ));

    let emulated = Board::named(board).expect("a board");
    let built = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware/target"));
    let elf = built.join(emulated.target).join("release/in-field");
    let image = Image::open(emulated, &elf).expect("an image");
    // The flash is a file there.
    let start = || Qemu::start_in(&image, Path::new(&at), &[]).expect("QEMU starts");
    let log_of = |qemu: Qemu| {
        let ending = qemu.wait(Duration::ZERO).expect("it is ended");
        String::from_utf8(ending.log).expect("UTF-8")
    };
    let qemu = start();
    with_emulated(&qemu, 300, |port| {
        sleep(Duration::from_secs(1));
        printed(&format!("send {update} --port {port}"));
        sleep(Duration::from_secs(2));
    });
    let log = log_of(qemu);
    let begins = "self-test: 90 samples, every bit as on the host\nmodel version 0\n";
    assert!(log.starts_with(begins), "{board}: {log}");
    let (before, after) = log.split_once("model version 2\n").unwrap_or_else(|| panic!("{log}"));
    assert!(!decided(before).is_empty() && after.contains(" leads by"), "{board}: {log}");
    let decided = decided(&log);
    for (class, is_high) in &decided {
        assert_eq!(*is_high, class == "turning", "{board}: {log}");
    }
    assert!(decided.iter().any(|&(_, high)| high) && decided.iter().any(|&(_, high)| !high));

    let qemu = start();
    sleep(Duration::from_secs(1));
    let log = log_of(qemu);
    assert!(log.starts_with(&begins.replace("version 0", "version 2")), "{board}: {log}");
}

#[test]
#[ignore = "by tests/boards"]
fn a_program_in_the_field_takes_a_model_and_keeps_it() {
    takes_a_model_and_keeps_it(&Folder::new(), Board::default_name());
}

#[test]
#[ignore = "the other boards that QEMU has, for tests/boards"]
fn every_emulated_board_with_room_takes_a_model_and_keeps_it() {
    let folder = Folder::new();
    for board in PROJECT_BOARDS.iter().filter(|board| board.start == Start::Emulated) {
        // The first micro:bit has no RAM for a copy of its flash beside the program's.
        if board.name != "microbit" {
            takes_a_model_and_keeps_it(&folder, board.name);
        }
    }
}
