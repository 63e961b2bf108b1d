//! A class that is taught to an emulated device: the host's bits, the host's record, and power lost while it is saved.

use std::path::Path;

use fishweir::data::{Dataset, Kind, Samples, ShortSeries, Windowing};
use fishweir::deploy::Deployed;
use fishweir::device::{
    Answer, Board, DeviceError, Firmware, Image, Input, ModelFile, Options, Outcome, Qemu,
};
use fishweir::estimator::Estimator;
use fishweir::learn::ClassifierKind;
use fishweir::teach::{Taught, learn};
use fishweir_core::classify::teach::ClassName;
use fishweir_core::wire::{Exit, TeachAction, TeachStatus};

use super::log;
use super::saving::FILE;

/// Samples of a window.
const WINDOW: usize = 24;

/// A wave of two channels with some noise; `steps` is a square wave, which no model knows.
fn wave(kind: &str, seed: u32, windows: usize) -> Vec<[f32; 2]> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0 - 0.5
    };
    let rate = match kind {
        "slow" => 0.25,
        "fast" => 1.4,
        _ => 0.6,
    };
    let shift = seed as f32;
    let square = |x: f32| if x.sin() > 0.0 { 1.5 } else { -1.5 };
    (0..windows * WINDOW)
        .map(|t| {
            let x = rate * t as f32 + shift;
            let [a, b] =
                if kind == "steps" { [square(x), square(2.0 * x)] } else { [x.sin(), x.cos()] };
            [a + 0.3 * noise(), b + 0.3 * noise()]
        })
        .collect()
}

/// A calibrated classifier of three waves, which can be taught.
fn teachable() -> Deployed {
    let kinds = ["slow", "fast", "middle"];
    let series = (0..15).map(|n| {
        let kind = kinds[n as usize % 3];
        let rows: Samples = wave(kind, n, 6).iter().map(|row| row.map(f64::from)).collect();
        (kind, rows)
    });
    let channels = Kind::Channels(vec!["x".into(), "y".into()]);
    let data = Dataset::labelled(channels, series).expect("labelled series");
    let length = WINDOW.try_into().expect("not zero");
    let windowing = Windowing { length, hop: length, short: ShortSeries::Drop };
    let mut estimator = Estimator::new(ClassifierKind::Fisher).rejecting(0.05);
    estimator.request.windowing = Some(windowing);
    let fitted = estimator.fit(&data).expect("fits");
    let mut classifier = fitted.trained().classifier.clone();
    let windows = data.windows(Some(&windowing));
    let teaching = learn(fitted.deployed(), windows.all()).expect("enough windows");
    classifier.teaching = Some(teaching);
    classifier.deploy().expect("fits in f32")
}

fn image(board: &str, deployed: &Deployed, folder: &Path) -> Image {
    let path = folder.join("waves.fishweir");
    deployed.save_artefact(&path).expect("writes");
    let board = Board::named(board).expect("a board");
    Firmware::in_repository()
        .and_then(|firmware| {
            let elf = folder.join("teach.elf");
            firmware.build_application(board, "teach", ModelFile::Artefact(&path), &elf)
        })
        .expect("builds")
}

/// What is sent: samples, or a step about taught classes.
enum Part {
    Samples(Vec<[f32; 2]>),
    Step(TeachAction, &'static str),
}

fn name(text: &str) -> ClassName {
    ClassName::new(text).expect("a name")
}

fn inputs(parts: &[Part]) -> Vec<Input<'_>> {
    let mut inputs = Vec::new();
    for part in parts {
        match part {
            Part::Samples(rows) => inputs.extend(rows.iter().map(|row| Input::Vector(row))),
            Part::Step(action, of) => inputs.push(Input::Teach(*action, Some(name(of)))),
        }
    }
    inputs
}

/// Sends the parts to a device; what it answered and logged.
fn run(image: &Image, folder: &Path, parts: &[Part]) -> (Outcome, String) {
    let run = Qemu::start_in(image, folder, &[])
        .and_then(|qemu| qemu.run(inputs(parts), &Options::default(), |_| ()))
        .expect("the device answers");
    (run.outcome, log::lines(&image.elf, &run.log).join("\n"))
}

/// A class and the bits of its margin.
type Bits = (usize, u32);

/// What the host decides on each full window, taught alike.
fn on_host(deployed: &Deployed, taught: &mut Taught, parts: &[Part]) -> Vec<Bits> {
    let (mut stream, mut showing, mut decisions) = (deployed.window_stream(), None, Vec::new());
    for part in parts {
        let rows = match part {
            Part::Step(TeachAction::Show, of) => {
                stream.reset();
                showing = Some(*of);
                continue;
            }
            Part::Step(TeachAction::Forget, of) => {
                taught.forget(of).expect("it was taught");
                continue;
            }
            Part::Step(..) => {
                showing = None;
                continue;
            }
            Part::Samples(rows) => rows,
        };
        for row in rows {
            let row = row.map(f64::from);
            stream.push(fishweir::data::Sample::Row(&row)).expect("possible");
            let Some(window) = stream.decided() else { continue };
            // A device shows the window, then answers.
            if let Some(of) = showing {
                taught.show(of, window.stream).expect("there is room");
            }
            let decided = taught.decide(deployed, window.stream).expect("a decision").decision;
            decisions.push((decided.class, decided.margin.to_bits()));
        }
    }
    decisions
}

fn bits(answers: &[Option<Answer>]) -> Vec<Bits> {
    let answered = answers.iter().map(|answer| answer.as_ref().expect("a quiet line"));
    answered.filter(|one| one.decided).map(|one| (one.class, one.margin_bits)).collect()
}

/// The record in a slot of the file, behind 32 bytes of header.
fn record_in(flash: &[u8], slot: usize) -> Vec<u8> {
    let start = slot * flash.len() / 2;
    let length = u32::from_le_bytes(flash[start + 8..start + 12].try_into().expect("four bytes"));
    flash[start + 32..start + 32 + length as usize].to_vec()
}

fn known_waves(seed: u32) -> Part {
    let kinds = ["slow", "fast", "middle"];
    Part::Samples(kinds.iter().flat_map(|kind| wave(kind, seed, 2)).collect())
}

fn lesson(seed: u32, windows: usize) -> [Part; 3] {
    [
        Part::Step(TeachAction::Show, "steps"),
        Part::Samples(wave("steps", seed, windows)),
        Part::Step(TeachAction::Stop, "steps"),
    ]
}

fn taught_to(board: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let deployed = teachable();
    let image = image(board, &deployed, folder.path());
    let mut taught = Taught::new(&deployed).expect("teachable");

    // A window half full when the lesson begins, a dozen windows shown, then windows of all classes.
    let mut parts = vec![known_waves(100), Part::Samples(wave("slow", 101, 1)[..9].to_vec())];
    parts.extend(lesson(7, 12));
    parts.extend([known_waves(102), Part::Samples(wave("steps", 8, 3))]);
    let (outcome, log) = run(&image, folder.path(), &parts);
    assert!(log.contains("no taught classes saved") && log.contains("record 1"), "{log}");
    let wanted = on_host(&deployed, &mut taught, &parts);
    assert_eq!(bits(&outcome.answers), wanted);
    let of_steps = wanted.len() - 3..wanted.len();
    assert!(wanted[of_steps].iter().all(|&(class, _)| class == 3), "{wanted:?}");
    let states: Vec<_> = outcome
        .taught
        .iter()
        .map(|one| (one.status, one.classes, one.windows, one.saved))
        .collect();
    let done = Some(TeachStatus::Done);
    assert_eq!(states, [(done, 0, 0, 0), (done, 1, 12, 1)]);

    // The device's record is the host's, to the byte.
    let flash = std::fs::read(folder.path().join(FILE)).expect("the flash's file");
    assert_eq!(record_in(&flash, 0), taught.to_record());

    // After a reset it goes on from there, and is taught more; then it forgets.
    let mut parts = vec![known_waves(103)];
    parts.extend(lesson(9, 2));
    parts.push(Part::Samples(wave("steps", 10, 2)));
    let (outcome, log) = run(&image, folder.path(), &parts);
    assert!(log.contains("restored 1 taught classes, record 1"), "{log}");
    assert_eq!(bits(&outcome.answers), on_host(&deployed, &mut taught, &parts));
    let flash = std::fs::read(folder.path().join(FILE)).expect("the flash's file");
    assert_eq!(record_in(&flash, 1), taught.to_record());
    let parts = [Part::Step(TeachAction::Forget, "steps"), Part::Samples(wave("steps", 10, 2))];
    let (outcome, _) = run(&image, folder.path(), &parts);
    let wanted = on_host(&deployed, &mut taught, &parts);
    assert_eq!(bits(&outcome.answers), wanted);
    assert!(wanted.iter().all(|&(class, _)| class < 3), "{wanted:?}");
    assert_eq!(taught, Taught::new(&deployed).expect("teachable"));
}

#[test]
fn a_class_taught_to_a_device_has_the_hosts_bits_and_is_forgotten() {
    taught_to(Board::default_name());
}

#[test]
fn a_core_without_a_floating_point_unit_learns_the_same_bits() {
    taught_to("lm3s6965evb");
}

/// Teaches a device that loses power after so many steps of saving; whether it did.
fn loses_power(image: &Image, folder: &Path, parts: &[Part], steps: u32) -> bool {
    let power = folder.join("fishweir-power.bin");
    std::fs::write(&power, steps.to_le_bytes()).expect("writes");
    let run = Qemu::start_in(image, folder, &[])
        .and_then(|qemu| qemu.run(inputs(parts), &Options::default(), |_| ()));
    std::fs::remove_file(power).expect("is there");
    match run {
        Ok(_) => false,
        Err(DeviceError::Emulator { code, .. }) if code == Some(Exit::Failed.code()) => true,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn power_lost_while_a_class_is_saved_leaves_the_record_before_or_the_new_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let deployed = teachable();
    let image = image(Board::default_name(), &deployed, folder.path());
    let file = folder.path().join(FILE);
    let read = || std::fs::read(&file).expect("the flash's file");
    let mut taught = Taught::new(&deployed).expect("teachable");
    for seed in [1, 2] {
        run(&image, folder.path(), &lesson(seed, 2));
        on_host(&deployed, &mut taught, &lesson(seed, 2));
    }
    // Both slots are full: the third save erases the first.
    let full = read();
    let (before, mut after) = (taught.clone(), taught.clone());
    assert_eq!(record_in(&full, 1), before.to_record());
    on_host(&deployed, &mut after, &lesson(3, 1));
    let probe = [Part::Samples(wave("steps", 4, 3)), known_waves(5)];
    let decided = |taught: &Taught| on_host(&deployed, &mut taught.clone(), &probe);
    let (from_before, from_after) = (decided(&before), decided(&after));
    assert_ne!(from_before, from_after);

    // Steps: 64 bytes of the slot erased, then words of the record, then words of the header.
    let erasing = full.len() as u32 / 2 / 64;
    let written = erasing + (before.to_record().len() as u32).div_ceil(4);
    let header = 32 / 4;
    let early = [0, 1, erasing / 2, erasing - 1, erasing, erasing + 1, written - 1];
    for steps in early.into_iter().chain(written..=written + header) {
        std::fs::write(&file, &full).expect("writes");
        let lost = loses_power(&image, folder.path(), &lesson(3, 1), steps);
        assert_eq!(lost, steps < written + header, "{steps}");
        let (outcome, log) = run(&image, folder.path(), &probe);
        // Magic, number, length, then the checksum: with all of it the record counts.
        let new = steps >= written + 4;
        let number = if new { 3 } else { 2 };
        assert!(log.contains(&format!("taught classes, record {number}")), "{steps}: {log}");
        let expected = if new { &from_after } else { &from_before };
        assert_eq!(&bits(&outcome.answers), expected, "{steps}");
    }
}
