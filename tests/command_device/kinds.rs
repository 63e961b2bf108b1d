//! `fishweir new` around every kind of model: the program on a board answers a host over its serial port as the host itself
//! does, to the last bit, and plays its recordings so.

use std::fmt::Write as _;
use std::path::Path;

use fishweir::device::{Board, Image, Qemu};
use fishweir::project::{PROJECT_BOARDS, Start};
use serde_json::Value;

use crate::fixtures::{Folder, Noise, QUICK, fixtures};
use crate::new::{cargo, runs, share_core};
use crate::shared::data::{garden, marked};
use crate::terminal::with_emulated;
use crate::{fishweir, json, printed};

/// A kind of model: its name, the file, data, options of `new` and of the command that compares.
struct Kind {
    name: &'static str,
    model: String,
    data: String,
    new: &'static str,
    run: &'static str,
}

/// Series about two levels by turns, and, from the middle on, shifted by an offset.
fn shifting(offset: f64) -> String {
    let (mut text, mut noise) = ("series,t,x,y\n".to_owned(), Noise(11));
    for series in 0..6 {
        for t in 0..600 {
            let mut near = |level: f64| level + 0.4 * noise.next().unwrap_or(0.0);
            let late = if t >= 150 { offset } else { 0.0 };
            let level = f64::from(t / 10 % 2);
            let (x, y) = (near(level + late), near(-level));
            let _ = writeln!(text, "{series},{t},{x:.3},{y:.3}");
        }
    }
    text
}

/// All kinds of models, fitted in a folder.
fn kinds(folder: &Folder) -> Vec<Kind> {
    let (train, events) =
        (folder.put("marked.csv", marked(1)), folder.put("events.csv", marked(2)));
    let spotter = folder.at("spotter.json");
    printed(&format!("spot {train} --marks mark --states 2 -o {spotter}"));
    let (normal, changed) =
        (folder.put("normal.csv", shifting(0.0)), folder.put("changed.csv", shifting(1.5)));
    let detector = folder.at("detector.json");
    printed(&format!("detect {normal} --mean-time 100 --states 2 --offset x=1.5 -o {detector}"));
    let garden = garden();
    let [network, records, unseen] =
        ["garden.bif", "train.csv", "test.csv"].map(|name| garden.text(name));
    let [network, records, unseen] =
        [("garden.bif", network), ("records.csv", records), ("unseen.csv", unseen)]
            .map(|(name, text)| folder.put(name, text));
    let grass = folder.at("grass.json");
    printed(&format!("network fit {records} --class grass --classifier tan -o {grass}"));
    let machine = folder.at("machine.json");
    let three = fixtures().at("three.csv");
    printed(&format!(
        "fit {three} -o {machine} --classifier gaussian --window 20 {QUICK} --effort quick --sigma 1"
    ));
    let (family, profile) = (folder.at("family.fa"), folder.at("family.hmm"));
    folder.put("family.fa", ">a\nACDEFGHIKL\n>b\nACDEFGHIKL\n>c\nACDEYGHIKL\n>d\nACDEFGHIRL\n");
    printed(&format!("profile fit {family} -o {profile}"));
    let kind =
        |name, model, data: &str, new, run| Kind { name, model, data: data.to_owned(), new, run };
    vec![
        kind("classifier", fixtures().at("three.json"), &three, "", "run"),
        kind(
            "fixed",
            fixtures().at("three.json"),
            &three,
            "--number q15 --equal 0.9",
            "run --number q15",
        ),
        kind("machine", machine, &three, "", "run"),
        kind("profile", profile, &family, "", "run"),
        kind("spotter", spotter, &events, "", "run"),
        kind("detector", detector, &changed, "", "run"),
        kind("records", grass, &unseen, "", "network run"),
        kind(
            "alarm",
            network,
            &unseen,
            "--mean-time 200 --memory 30",
            "network run --mean-time 200 --memory 30",
        ),
    ]
}

/// Builds the program of a kind for a board, and compares its answers over the port.
fn answers_as_the_host(folder: &Folder, board: &str, kind: &Kind) -> Value {
    let Kind { name, model, data, new, run } = kind;
    println!("{board}: {name}");
    let at = folder.at(format!("{board}-{name}"));
    let package = format!("kind-{name}");
    printed(&format!(
        "new {at} --name {package} --board {board} --model {model} --data {data} --application stream {new}"
    ));
    share_core(Path::new(&at));
    let output = cargo(Path::new(&at), "build --release");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !errors.contains("warning"), "{board}, {name}: {errors}");
    let emulated = Board::named(board).expect("a board");
    let built = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware/target"));
    let elf = built.join(emulated.target).join("release").join(package);
    let qemu = Qemu::start(&Image::open(emulated, &elf).expect("an image")).expect("QEMU starts");
    with_emulated(&qemu, 0, |port| {
        // Of events and alarms there are few.
        let limit = if ["spotter", "detector"].contains(name) { 600 } else { 200 };
        let line = format!("{run} {data} --model {model} --limit {limit} --port {port} --json");
        let output = fishweir(&line).output().expect("runs");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{line}: {output:?}"))
    })
}

/// What a comparison is to say: several things were compared, and nothing differs.
fn agrees(board: &str, name: &str, report: &Value) {
    let watched = report["differing_answers"].as_u64();
    let differs =
        watched.filter(|_| report["numbers"].is_null()).or(report["differing_bits"].as_u64());
    assert_eq!((differs, &report["lost"]), (Some(0), &0.into()), "{board}, {name}: {report}");
    let compared = report["numbers"].as_u64().or(report["expected"].as_u64());
    assert!(compared >= Some(5), "{board}, {name}: {report}");
}

#[test]
fn a_program_around_each_kind_of_model_answers_as_the_host() {
    let folder = Folder::new();
    for kind in kinds(&folder) {
        let report = answers_as_the_host(&folder, Board::default_name(), &kind);
        agrees(Board::default_name(), kind.name, &report);
    }
}

/// What watches a stream plays its recordings in place of a sensor, and finds what the host finds.
#[test]
#[ignore = "by tests/boards"]
fn programs_that_watch_a_sensor_find_what_the_host_finds() {
    let folder = Folder::new();
    for kind in kinds(&folder) {
        if !["spotter", "detector", "records", "alarm"].contains(&kind.name) {
            continue;
        }
        let Kind { name, model, data, new, .. } = &kind;
        let at = folder.at(format!("sensor-{name}"));
        // What is found sets a pin, whose changes the board writes.
        let alarm = if *name == "detector" { "--alarm any" } else { "" };
        let line = format!(
            "new {at} --name watches --board microbit --model {model} --data {data} {new} {alarm}"
        );
        let told = json(&format!("{line} --json"));
        share_core(Path::new(&at));
        let said = runs(Path::new(&at));
        let [samples, findings] =
            ["samples", "findings"].map(|key| told[key].as_u64().expect("a number"));
        let first = format!("self-test: {samples} samples, every bit as on the host\n");
        assert!(said.starts_with(&first), "{name}: {said}");
        assert!(findings >= 2, "{name}: {told}");
        let changes: Vec<&str> =
            said.lines().filter(|line| line.starts_with("alarm pin ")).collect();
        let is_alarm = changes.first() == Some(&"alarm pin high");
        assert_eq!(is_alarm, !alarm.is_empty(), "{name}: {said}");
        let findings = findings + changes.len() as u64;
        assert_eq!(said.lines().count() as u64, 1 + findings, "{name}: {said}");
    }
}

#[test]
#[ignore = "the other boards that QEMU has, for tests/boards"]
fn every_emulated_board_answers_as_the_host_around_each_kind_of_model() {
    let folder = Folder::new();
    for board in PROJECT_BOARDS.iter().filter(|board| board.start == Start::Emulated) {
        for kind in kinds(&folder) {
            agrees(board.name, kind.name, &answers_as_the_host(&folder, board.name, &kind));
        }
    }
}
