//! The script that runs every test: what it leaves behind, and where it builds. With programs that do
//! nothing in the place of cargo and the like.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const TARGETS: [&str; 5] = [
    "thumbv6m-none-eabi",
    "thumbv7m-none-eabi",
    "thumbv7em-none-eabihf",
    "thumbv8m.main-none-eabihf",
    "riscv32imac-unknown-none-elf",
];

/// Runs a copy of the script in a folder, where `cargo` does as told after it has noted its own folder for
/// builds in `calls`.
fn run(folder: &Path, cargo: &str) -> Output {
    let at = |name: &str| folder.join(name);
    for made in ["bin", "tree/tests", "tree/firmware"] {
        fs::create_dir_all(at(made)).expect("made");
    }
    for target in TARGETS {
        fs::create_dir_all(at("sysroot/lib/rustlib").join(target)).expect("made");
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/run");
    fs::copy(script, at("tree/tests/run")).expect("copied");
    fs::write(at("tree/Cargo.toml"), "rust-version = \"1.2\"\n").expect("written");
    let program = |name: &str, text: &str| {
        let path = at("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    };
    for name in ["cc", "qemu-system-arm", "qemu-system-riscv32", "arm-none-eabi-gcc"] {
        program(name, "");
    }
    for name in ["cargo-fmt", "cargo-clippy", "rustfmt", "rustup"] {
        program(name, "");
    }
    let sysroot = at("sysroot");
    program("rustc", &format!("echo {}", sysroot.display()));
    let calls = at("calls");
    program("cargo", &format!("echo \"$CARGO_TARGET_DIR\" >>{}\n{cargo}", calls.display()));
    let before = std::env::var_os("PATH").unwrap_or_default();
    let paths = [at("bin")].into_iter().chain(std::env::split_paths(&before));
    Command::new(at("tree/tests/run"))
        .current_dir(folder)
        .env("PATH", std::env::join_paths(paths).expect("folders without colons"))
        .env("CARGO_TARGET_DIR", "builds")
        .stdin(Stdio::null())
        .output()
        .expect("bash runs")
}

#[test]
fn a_relative_folder_for_builds_is_one_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let calls = fs::read_to_string(folder.path().join("calls")).expect("written");
    let wanted = folder.path().join("builds").display().to_string();
    assert!(calls.lines().count() > 20 && calls.lines().all(|line| line == wanted), "{calls}");
}

/// What runs in the background is ended, and what that has started.
#[test]
fn nothing_is_left_running_where_a_check_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let children = folder.path().join("children");
    // The workspace's first lint waits for the firmware's to have begun, which would never end.
    let cargo = format!(
        "case \"$*\" in fmt*) exit 0 ;;\n\
         *--workspace*) until [ -s {0} ]; do sleep 0.02; done; exit 1 ;; esac\n\
         sleep 1000 & echo $! >>{0}; wait",
        children.display()
    );
    let output = run(folder.path(), &cargo);
    assert!(!output.status.success());
    let children = fs::read_to_string(children).expect("written");
    for child in children.lines() {
        let found = Command::new("ps").args(["-o", "stat=", "-p", child]).output();
        let state = String::from_utf8(found.expect("ps runs").stdout).expect("letters");
        // One that has ended may wait for somebody to ask how.
        assert!(state.is_empty() || state.starts_with('Z'), "process {child} is left: {state}");
    }
}
