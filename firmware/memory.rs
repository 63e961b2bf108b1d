//! The board of an image, and the linker's arguments for its memory: shared by images here and in `images`.
//!
//! A board is a folder of `boards`, or any other that the variable names, with `board.rs`, `memory.x` and `board.toml`.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The folder of the board.
const BOARD: &str = "FISHWEIR_BOARD";

/// Adds the linker's arguments of an image; `firmware` is the folder that boards are in. Returns the folder of the board, if an
/// image is built.
pub(crate) fn link_image(firmware: &Path) -> Option<PathBuf> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={BOARD}");
    if !env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "none") {
        return None;
    }
    if !on("image") {
        link_anywhere();
        return None;
    }
    match board(firmware) {
        Ok(folder) => {
            link(&folder);
            Some(folder)
        }
        Err(problem) => {
            println!("cargo::error={problem}");
            None
        }
    }
}

/// Returns whether a feature is on.
fn on(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase().replace('-', "_"))).is_some()
}

/// Hands the linker a memory with room for whatever is linked and never run.
fn link_anywhere() {
    const MEMORY: &str = "\
MEMORY
{
  FLASH : ORIGIN = 0x10000000, LENGTH = 16M
  RAM   : ORIGIN = 0x20000000, LENGTH = 16M
}
REGION_ALIAS(\"REGION_TEXT\", FLASH);
REGION_ALIAS(\"REGION_RODATA\", FLASH);
REGION_ALIAS(\"REGION_DATA\", RAM);
REGION_ALIAS(\"REGION_BSS\", RAM);
REGION_ALIAS(\"REGION_HEAP\", RAM);
REGION_ALIAS(\"REGION_STACK\", RAM);
PROVIDE(_stack_end = ORIGIN(RAM));
";
    let out = env::var("OUT_DIR").unwrap_or_default();
    if let Err(error) = fs::write(Path::new(&out).join("memory.x"), MEMORY) {
        println!("cargo::error={out}: {error}");
    }
    for argument in [&*format!("-L{out}"), "--nmagic", "-Tlink.x"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}

/// Hands the memory of the board to the linker.
fn link(folder: &Path) {
    // What measures holds many recursions, and saves nothing: it may have flash that is kept for that.
    let measured = folder.join("measure");
    let memory = if on("measure") && measured.is_dir() { &measured } else { folder };
    println!("cargo::rerun-if-changed={}", memory.join("memory.x").display());
    let search = format!("-L{}", memory.display());
    let mut arguments = vec![search.as_str(), "--nmagic", "-Tlink.x", "-Tdefmt.x"];
    if on("measure") {
        // Who calls whom, for the size of the code: in the ELF file only, not in flash.
        arguments.push("--emit-relocs");
    }
    for argument in arguments {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}

/// The folder of the board: the one that is named, or else the first, by name, of the target.
fn board(firmware: &Path) -> Result<PathBuf, String> {
    let target = env::var("TARGET").unwrap_or_default();
    if let Some(named) = env::var_os(BOARD) {
        let folder = firmware.join(named);
        let folder = folder.canonicalize().map_err(|error| {
            format!("{BOARD}: {}: {error}; name the folder of a board", folder.display())
        })?;
        let its = target_of(&folder)?;
        return if its == target {
            Ok(folder)
        } else {
            let board = folder.display();
            Err(format!("{BOARD}: {board} has the target {its}, not {target}: --target {its}"))
        };
    }
    let boards = firmware.join("boards");
    let said = |error: std::io::Error| format!("{}: {error}", boards.display());
    let mut folders: Vec<PathBuf> = fs::read_dir(&boards)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .map_err(said)?;
    folders.sort();
    let emulated = folders.iter().filter(|folder| folder.join("board.rs").is_file());
    let mut own = emulated.filter(|folder| target_of(folder).is_ok_and(|its| its == target));
    let none = || {
        format!(
            "no folder of {} has a board.rs for {target}; name one by {BOARD}",
            boards.display()
        )
    };
    own.next().ok_or_else(none)?.canonicalize().map_err(said)
}

/// Rust's name of a board's target, from its `board.toml`.
fn target_of(folder: &Path) -> Result<String, String> {
    let file = folder.join("board.toml");
    println!("cargo::rerun-if-changed={}", file.display());
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let target = text.lines().find_map(|line| line.strip_prefix("target = "));
    let target = target.map(|value| value.trim().trim_matches('"').to_owned());
    target.ok_or_else(|| format!("{}: there is no line `target = \"...\"`", file.display()))
}
