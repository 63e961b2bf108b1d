//! Hands the board's memory to the linker.

use std::path::PathBuf;
use std::{env, fs};

/// A board's feature, which is its folder's name with other hyphens, and whether it logs by defmt.
const BOARDS: [(&str, bool); 3] =
    [("mps2-an386", false), ("nrf52840-dk", true), ("rp2040-pico", true)];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let on = |feature: &str| {
        env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase().replace('-', "_"))).is_some()
    };
    let mut chosen = BOARDS.into_iter().filter(|(feature, _)| on(feature));
    let (Some((board, logs)), None) = (chosen.next(), chosen.next()) else {
        return Err(
            "turn exactly one board on: --no-default-features --features nrf52840-dk".into()
        );
    };
    let memory = format!("boards/{}/memory.x", board.replace('-', "_"));
    println!("cargo::rerun-if-changed={memory}");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo says where to write")?);
    fs::copy(&memory, out.join("memory.x"))?;
    println!("cargo::rustc-link-search={}", out.display());
    for argument in ["--nmagic", "-Tlink.x"].into_iter().chain(logs.then_some("-Tdefmt.x")) {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    Ok(())
}
