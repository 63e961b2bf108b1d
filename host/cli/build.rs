//! Packs the sources of the core and of the firmware, if they are next to this package. In a checkout they are, and the
//! program takes them along; from a registry it finds the core by version. And asks Rust's own linker for a smaller program.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Paths of the program's sources, below the root of the repository.
const SOURCES: [&str; 15] = [
    "Cargo.toml",
    "core",
    "firmware/.cargo/config.toml",
    "firmware/Cargo.lock",
    "firmware/Cargo.toml",
    "firmware/README.md",
    "firmware/build",
    "firmware/build.rs",
    "firmware/c",
    "firmware/device",
    "firmware/images",
    "firmware/memory.rs",
    "firmware/model",
    "firmware/models",
    "firmware/src",
];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(checkout)");
    println!("cargo::rerun-if-changed=build.rs");
    let beside = |file: &str| {
        let path = Path::new("../..").join(file);
        println!("cargo::rerun-if-changed={}", path.display());
        path.is_file()
    };
    if beside("core/Cargo.toml") && beside("firmware/Cargo.toml") {
        println!("cargo::rustc-cfg=checkout");
        if let Err(error) = pack() {
            println!("cargo::error=the sources that the program takes along: {error}");
        }
    }
    if is_linked_by_rust() {
        // Functions of the same code are one: a twentieth of the program.
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
        if loads_packed_relocations() {
            println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        }
    }
}

/// Writes a file with all sources: a line with the length and the path of each, then the file; compressed.
fn pack() -> io::Result<()> {
    let root = Path::new("../..");
    let mut paths = Vec::new();
    for name in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(name).display());
        collect(root, name, &mut paths)?;
    }
    paths.sort();
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let file = fs::File::create(folder.join("sources.gz"))?;
    let mut packed = GzEncoder::new(file, Compression::best());
    for path in paths {
        let bytes = fs::read(root.join(&path))?;
        writeln!(packed, "{} {path}", bytes.len())?;
        packed.write_all(&bytes)?;
    }
    packed.finish().map(|_| ())
}

/// A file, or all files of a folder but those of builds.
fn collect(root: &Path, name: &str, paths: &mut Vec<String>) -> io::Result<()> {
    let path = root.join(name);
    if !path.is_dir() {
        paths.push(name.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let inner = entry?.file_name();
        let is_build = inner == "target" || name == "firmware/c/example" && inner == "build";
        if !is_build {
            collect(root, &format!("{name}/{}", inner.to_string_lossy()), paths)?;
        }
    }
    Ok(())
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
