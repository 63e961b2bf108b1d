//! The starter folder, copied out of the repository as its page says: it builds alone, decides under
//! QEMU as the host does, and hands an image for a real board to probe-rs. These tests fail where QEMU
//! or a target is missing; probe-rs is stood in for, as there is no board to flash.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fishweir::device::{Board, Image};
use fishweir_core::filter::Running;
use fishweir_tests::quick::three_channels;

#[path = "../../../firmware/starter/src/model.rs"]
#[allow(unreachable_pub, missing_docs, dead_code)]
mod model;
#[path = "../../../firmware/starter/src/sensor.rs"]
#[allow(unreachable_pub, missing_docs)]
mod sensor;

/// The line that the page says to change, and its end as it stands in the repository.
const LINE: &str = "fishweir-core = { path = \"../../core\"";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("")
}

/// Copies a folder without what git ignores: the builds in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("makes a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if !entry.file_type().expect("a type").is_dir() {
            fs::copy(&source, &target).expect("copies");
        } else if entry.file_name() != "target" {
            copy(&source, &target);
        }
    }
}

/// The starter in a folder of its own, its one line changed.
fn copied() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&repository().join("firmware/starter"), folder.path());
    let manifest = folder.path().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("reads");
    assert_eq!(text.matches(LINE).count(), 1, "the page's line is not in Cargo.toml");
    let core = repository().join("core");
    let changed = format!("fishweir-core = {{ path = {core:?}");
    fs::write(&manifest, text.replace(LINE, &changed)).expect("writes");
    folder
}

/// Runs cargo in the copy; builds go to the firmware's folder, which has most dependencies already.
fn cargo(folder: &Path, arguments: &[&str], path: Option<&Path>) -> Output {
    // Copies share a target folder, and so the name of their image: one is built and run at a time.
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // Cargo tells them apart by when they were written.
    let model = fs::File::options().append(true).open(folder.join("src/model.rs")).expect("opens");
    model.set_modified(std::time::SystemTime::now()).expect("is touched");
    let mut cargo = Command::new(env!("CARGO"));
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"] {
        cargo.env_remove(variable);
    }
    if let Some(path) = path {
        let before = std::env::var_os("PATH").unwrap_or_default();
        let folders = [path.to_owned()].into_iter().chain(std::env::split_paths(&before));
        cargo.env("PATH", std::env::join_paths(folders).expect("folders without colons"));
    }
    let output = cargo
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", repository().join("firmware/target"))
        .args(arguments)
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// What the starter says where host and device agree.
fn expected() -> String {
    let mut stream = Running::new(&model::MODEL);
    let mut text = String::new();
    for recording in sensor::RECORDINGS {
        stream.reset();
        for (t, counts) in recording.iter().enumerate() {
            stream.push(&sensor::acceleration(counts)).expect("possible under the model");
            if (t + 1) % 50 == 0 {
                let decision = stream.read();
                let thousandths = (decision.margin * 1000.0) as u32;
                text += &format!(
                    "{} samples: {} leads by {}.{:03} ({:#010x})\n",
                    t + 1,
                    model::CLASSES[decision.class],
                    thousandths / 1000,
                    thousandths % 1000,
                    decision.margin.to_bits()
                );
            }
        }
    }
    text
}

#[test]
fn a_copy_builds_alone_and_decides_as_the_host() {
    let folder = copied();
    let output = cargo(folder.path(), &["run", "--release", "--locked"], None);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, expected());
    assert_eq!(said.lines().count(), 8);
    // The person of the recordings was not among those whom the model knows.
    assert!(said.lines().take(4).all(|line| line.contains("ABD")), "{said}");
    assert!(said.lines().skip(4).all(|line| line.contains("ROW")), "{said}");
}

/// The page says to export a model over the one that is there: no other line changes.
#[test]
fn an_export_takes_the_place_of_the_model() {
    let folder = copied();
    let mut classifier = three_channels();
    classifier.classes.iter_mut().for_each(|class| class.insert_str(0, "exercise "));
    let source = classifier.deploy().expect("fits in f32").to_source();
    fs::write(folder.path().join("src/model.rs"), source).expect("writes");
    let output = cargo(folder.path(), &["run", "--release", "--locked"], None);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.lines().count(), 8, "{said}");
    assert!(said.lines().all(|line| line.contains(" samples: exercise ")), "{said}");
    let warned = String::from_utf8_lossy(&output.stderr);
    assert!(!warned.contains("warning"), "{warned}");
}

#[test]
fn a_real_board_gets_an_image_by_the_command_of_the_page() {
    board_gets_an_image("nrf52840-dk", "nRF52840_xxAA");
}

#[test]
#[ignore = "another board's packages, for tests/boards"]
fn the_other_real_board_gets_an_image_too() {
    board_gets_an_image("rp2040-pico", "RP2040");
}

fn board_gets_an_image(command: &str, chip: &str) {
    let page =
        fs::read_to_string(repository().join("firmware/starter/PROBE_RS.md")).expect("reads");
    let folder = copied();
    let stand_in = folder.path().join("bin");
    let (said, kept) = (stand_in.join("said"), stand_in.join("kept.elf"));
    fs::create_dir(&stand_in).expect("makes a folder");
    let script =
        format!("#!/bin/sh\necho \"$@\" > {said:?}\nfor last; do :; done\ncp \"$last\" {kept:?}\n");
    let program = stand_in.join("probe-rs");
    fs::write(&program, script).expect("writes");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("makes it a program");

    assert!(page.contains(&format!("cargo {command}")), "the page does not have {command}");
    cargo(folder.path(), &[command, "--locked"], Some(&stand_in));
    let arguments = fs::read_to_string(&said).expect("probe-rs was called");
    let expected = format!("run --chip {chip} ");
    assert!(arguments.starts_with(&expected), "{arguments}");
    let board = Board::named(Board::DEFAULT).expect("a board");
    let sections = Image::open(board, &kept).expect("an ELF file").sections;
    assert!(sections.rodata > size_of::<model::Model>() as u64, "{sections:?}");
    assert!((4_000..64_000).contains(&sections.flash()), "{sections:?}");
}
