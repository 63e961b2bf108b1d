//! The firmware's applications on emulated boards: what a device says over its serial port is what the
//! host computes, bit for bit. These tests fail where QEMU or a target is missing.

mod bridge;
mod change;
mod events;
mod sensor;
#[path = "../../../../firmware/device/src/applications/watch_sensor/simulated.rs"]
#[allow(dead_code, missing_docs, unreachable_pub, reason = "the firmware's file")]
mod simulated;
pub(crate) mod spotting;
mod symbols;

use std::time::Duration;

use fishweir::data::{Dataset, Kind, ReadOptions};
use fishweir::device::{Board, DeviceError, Dialogue, Firmware, Image, ModelFile, Qemu};
use fishweir::files;
use fishweir_core::wire::Request;
use tempfile::TempDir;

/// Far longer than a device is ever silent.
const PATIENCE: Duration = Duration::from_secs(60);

/// An application with a model in it. Its file lives as long as this.
struct Built {
    image: Image,
    _folder: TempDir,
}

impl Built {
    fn start(&self) -> Qemu {
        Qemu::start(&self.image).expect("QEMU starts")
    }
}

/// Builds an application around an exported source.
fn build(board: &'static Board, application: &str, source: &str) -> Built {
    build_around(board, application, "model.rs", source.as_bytes())
}

/// Builds an application that takes text as a terminal sends it.
fn build_terminal(board: &'static Board, application: &str, source: &str) -> Built {
    let features = format!("{application},terminal");
    build_with(board, application, &features, "model.rs", source.as_bytes())
}

/// Builds an application around a model: a source or, by the file's name, an artefact.
fn build_around(board: &'static Board, application: &str, name: &str, model: &[u8]) -> Built {
    build_with(board, application, &application.replace('_', "-"), name, model)
}

fn build_with(
    board: &'static Board,
    application: &str,
    features: &str,
    name: &str,
    model: &[u8],
) -> Built {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, elf) = (folder.path().join(name), folder.path().join("image.elf"));
    files::write_whole(&file, model).expect("writes");
    let model =
        if name.ends_with(".rs") { ModelFile::Source(&file) } else { ModelFile::Artefact(&file) };
    let firmware = Firmware::in_repository().expect("the firmware is in the repository");
    let image = firmware.build_with(board, application, features, model, &elf).expect("builds");
    Built { image, _folder: folder }
}

/// Waits for the greeting, sends all frames, and returns the lines that come until the device ends.
fn lines(qemu: Qemu, greeting: &str, sent: &Dialogue) -> Result<Vec<String>, DeviceError> {
    let mut lines = qemu.exchange_frames(PATIENCE, sent)?;
    assert_eq!((!lines.is_empty()).then(|| lines.remove(0)).as_deref(), Some(greeting));
    Ok(lines)
}

/// Text to its end, in frames.
fn framed(text: &str) -> Dialogue {
    let mut dialogue = Dialogue::new();
    dialogue.text(text);
    dialogue.ask(Request::Stop);
    dialogue
}

/// The watch recordings, with some channels only.
fn recordings(channels: &[&str]) -> Dataset {
    let bytes = include_bytes!("../../../../host/data/ts-watch-exercises/all.csv.gz");
    let options = ReadOptions {
        kind: Some(Kind::Channels(channels.iter().map(|&name| name.to_owned()).collect())),
        ..ReadOptions::default()
    };
    Dataset::parse("all.csv.gz", bytes, &options).expect("reads")
}
