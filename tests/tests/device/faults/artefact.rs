//! A model that was damaged in flash: the device refuses it, says why, and ends with the exit code of a
//! failure.

use std::time::Duration;

use fishweir::device::{Image, Options, Qemu};
use fishweir_core::artefact::HEADER_LENGTH;
use fishweir_core::wire::Exit;

use crate::faults::fixtures::{classifier, image};
use crate::faults::log;

/// Runs an image that refuses its model; its exit code and its log.
fn run(image: &Image) -> (Option<i32>, String) {
    let qemu = Qemu::start(image).expect("QEMU starts");
    let ending = qemu.wait(Duration::from_secs(30)).expect("ends");
    (ending.code, log::lines(&image.elf, &ending.log).join("\n"))
}

#[test]
fn a_bit_flipped_anywhere_in_the_model_is_found_before_the_first_sample() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let deployed = classifier();
    let whole = image(&deployed, "classify_stream", folder.path());
    let artefact = deployed.to_artefact().expect("small enough");
    let elf = std::fs::read(&whole.elf).expect("the image is there");
    let found: Vec<usize> = elf
        .windows(artefact.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == artefact)
        .map(|(at, _)| at)
        .collect();
    let [start] = found[..] else { panic!("the artefact is in the image once: {found:?}") };

    let last = artefact.len() - 1;
    let places = [
        ("magic", 0, "NotAnArtefact"),
        ("version", 8, "UnknownVersion"),
        ("states", 12, "Checksum"),
        ("length", 24, "refused: T"), // truncated, or trailing bytes
        ("profile", 32, "Checksum"),
        ("checksum", HEADER_LENGTH - 4, "Checksum"),
        ("first number", HEADER_LENGTH + 3, "Checksum"),
        ("a number", HEADER_LENGTH + 101, "Checksum"),
        ("labels", last, "Checksum"),
    ];
    for (bit, (what, at, reason)) in places.into_iter().enumerate() {
        let mut damaged = elf.clone();
        damaged[start + at] ^= 1 << (bit % 8);
        let elf = folder.path().join("damaged.elf");
        std::fs::write(&elf, damaged).expect("writes");
        let (code, log) = run(&Image { elf, ..whole.clone() });
        assert_eq!(code, Some(Exit::Failed.code()), "{what}: {log}");
        assert!(log.contains("the model was refused"), "{what}: {log}");
        assert!(log.contains(reason), "{what}: {log}");
    }

    // Undamaged, the same image classifies.
    let run = Qemu::start(&whole).expect("QEMU starts").run([], &Options::default(), |_| ());
    assert!(run.is_ok(), "{run:?}");
}
