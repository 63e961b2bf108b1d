//! Asks Rust's own linker for a smaller program.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if is_linked_by_rust() {
        // Functions of the same code are one: a twentieth of the program.
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
        if loads_packed_relocations() {
            println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        }
        // What is published catches no panic and names no function: it needs neither tables for unwinding nor symbols. The profile
        // cannot say so: Cargo forgets `strip` of a profile that inherits settings of single packages.
        let folder = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo names a folder"));
        if folder.ancestors().nth(3).is_some_and(|profile| profile.ends_with("dist")) {
            let script = folder.join("tables.ld");
            fs::write(&script, "SECTIONS { /DISCARD/ : { *(.eh_frame) } } INSERT AFTER .text;")
                .expect("a file in it");
            println!(
                "cargo::rustc-link-arg-bins=-Wl,--strip-all,--no-eh-frame-hdr,-T,{}",
                script.display()
            );
        }
    }
}

/// The target for which Rust links by the linker that it brings.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Returns whether a release is built for this machine and linked by the linker that comes with Rust, which folds functions.
fn is_linked_by_rust() -> bool {
    let is = |variable: &str, value: &str| env::var(variable).is_ok_and(|found| found == value);
    let own = is("TARGET", TARGET) && is("HOST", TARGET) && is("PROFILE", "release");
    let told = env::var_os("RUSTC_LINKER").is_some()
        || env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("link"));
    let sysroot = || said(&env::var("RUSTC").ok()?, &["--print", "sysroot"]);
    let linker = format!("lib/rustlib/{TARGET}/bin/gcc-ld/ld.lld");
    own && !told && sysroot().is_some_and(|root| Path::new(root.trim()).join(linker).is_file())
}

/// Returns whether the C library of this machine loads programs with packed relocations: glibc since 2.36.
fn loads_packed_relocations() -> bool {
    let version = said("getconf", &["GNU_LIBC_VERSION"]);
    let minor = |text: &str| text.trim().strip_prefix("glibc 2.")?.split('.').next()?.parse().ok();
    version.and_then(|text| minor(&text)).is_some_and(|minor: u32| minor >= 36)
}

/// Output of a command; `None` if it fails.
fn said(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok()).flatten()
}
