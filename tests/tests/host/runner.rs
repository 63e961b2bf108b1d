//! The scripts that run tests and lints: what they leave behind, and where they build. With programs that do
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

/// Runs a copy of a script in a folder, where `cargo` does as told after it has noted its own folder for
/// builds in `calls`.
fn run(script: &str, folder: &Path, cargo: &str) -> Output {
    let at = |name: &str| folder.join(name);
    for made in ["bin", "tree/tests", "tree/firmware"] {
        fs::create_dir_all(at(made)).expect("made");
    }
    for target in TARGETS {
        fs::create_dir_all(at("sysroot/lib/rustlib").join(target)).expect("made");
    }
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copied = at("tree/tests");
    for name in ["common.sh", script] {
        fs::copy(tests.join(name), copied.join(name)).expect("copied");
    }
    fs::write(at("tree/Cargo.toml"), "rust-version = \"1.2\"\n").expect("written");
    let program = |name: &str, text: &str| {
        let path = at("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    };
    for name in ["cc", "qemu-system-arm", "qemu-system-riscv32", "arm-none-eabi-gcc"] {
        program(name, "");
    }
    // An environment of Python, and what is copied into a package: cargo has built nothing.
    program(
        "python3",
        "[ \"$2\" = venv ] || exit 0\nmkdir -p \"$3/bin\" && cp \"$0\" \"$3/bin/python\"",
    );
    for made in ["tree/host/python/fishweir", "builds/release"] {
        fs::create_dir_all(at(made)).expect("made");
    }
    for made in ["tree/host/python/fishweir/__init__.py", "builds/release/lib_fishweir.so"] {
        fs::write(at(made), "").expect("written");
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
    Command::new(copied.join(script))
        .current_dir(folder)
        .env("PATH", std::env::join_paths(paths).expect("folders without colons"))
        .env("CARGO_TARGET_DIR", "builds")
        .stdin(Stdio::null())
        .output()
        .expect("bash runs")
}

#[test]
fn a_relative_folder_for_builds_is_one_folder() {
    for script in ["run", "lint"] {
        let folder = tempfile::tempdir().expect("a folder");
        let output = run(script, folder.path(), "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let calls = fs::read_to_string(folder.path().join("calls")).expect("written");
        let wanted = folder.path().join("builds").display().to_string();
        assert!(calls.lines().count() > 10 && calls.lines().all(|line| line == wanted), "{calls}");
    }
}

#[test]
fn lints_go_on_after_one_that_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run("lint", folder.path(), "case \"$*\" in doc*) exit 1 ;; esac");
    let text = String::from_utf8(output.stdout).expect("letters");
    assert!(!output.status.success());
    assert!(text.contains("==> the oldest compiler"), "{text}");
    assert!(text.contains("\nfailed: documentation\n"), "{text}");
    assert!(text.lines().last().expect("a summary").contains(" passed, 1 failed"), "{text}");
}

/// What runs in the background is ended, and what that has started.
#[test]
fn nothing_is_left_running_where_a_build_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let children = folder.path().join("children");
    // The workspace's build waits for the firmware's to have begun, which would never end.
    let cargo = format!(
        "case \"$*\" in\n\
         *--workspace*) until [ -s {0} ]; do sleep 0.02; done; exit 1 ;; esac\n\
         sleep 1000 & echo $! >>{0}; wait",
        children.display()
    );
    let output = run("run", folder.path(), &cargo);
    assert!(!output.status.success());
    let children = fs::read_to_string(children).expect("written");
    for child in children.lines() {
        let found = Command::new("ps").args(["-o", "stat=", "-p", child]).output();
        let state = String::from_utf8(found.expect("ps runs").stdout).expect("letters");
        // One that has ended may wait for somebody to ask how.
        assert!(state.is_empty() || state.starts_with('Z'), "process {child} is left: {state}");
    }
}
