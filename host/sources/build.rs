//! Packs the sources of the core and of the firmware, if they are next to this package. In a checkout they are, and programs
//! take them along; from a registry they find the core by version.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Paths of the sources, below the root of the repository.
const SOURCES: [&str; 17] = [
    "Cargo.toml",
    "core",
    "firmware/.cargo/config.toml",
    "firmware/Cargo.lock",
    "firmware/Cargo.toml",
    "firmware/README.md",
    "firmware/boards",
    "firmware/build",
    "firmware/build.rs",
    "firmware/c",
    "firmware/device",
    "firmware/images",
    "firmware/memory.rs",
    "firmware/micropython",
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
            println!("cargo::error=the sources that programs take along: {error}");
        }
    }
}

/// Writes a file with all sources: a line with the length and the path of each, then the file; compressed, but for a page, which is
/// compressed as a whole.
fn pack() -> io::Result<()> {
    let root = Path::new("../..");
    let mut paths = Vec::new();
    for name in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(name).display());
        collect(root, name, &mut paths)?;
    }
    paths.sort();
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let is_page = env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm");
    let file = fs::File::create(folder.join("sources.gz"))?;
    let level = if is_page { Compression::none() } else { Compression::best() };
    let mut packed = GzEncoder::new(file, level);
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
