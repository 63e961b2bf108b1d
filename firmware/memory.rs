//! Linker arguments for the board's memory, shared by images here and in `images`.

use std::env;
use std::path::Path;

/// Boards: the feature, the folder with `memory.x`, the target.
const BOARDS: [Board; 5] = [
    Board::new("microbit", "src/boards/microbit", "thumbv6m-none-eabi"),
    Board::new("lm3s6965evb", "src/boards/lm3s6965evb", "thumbv7m-none-eabi"),
    Board::new("mps2-an386", "src/boards/mps2_an386", "thumbv7em-none-eabihf"),
    Board::new("mps2-an505", "src/boards/mps2_an505", "thumbv8m.main-none-eabihf"),
    Board::new("riscv-virt", "src/boards/riscv_virt", "riscv32imac-unknown-none-elf"),
];

struct Board {
    feature: &'static str,
    folder: &'static str,
    target: &'static str,
}

impl Board {
    const fn new(feature: &'static str, folder: &'static str, target: &'static str) -> Self {
        Self { feature, folder, target }
    }
}

/// Adds the linker's arguments of an image; `firmware` is the folder that boards are in.
pub(crate) fn link_image(firmware: &Path) {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "none")
        && let Err(problem) = link(firmware)
    {
        println!("cargo::error={problem}");
    }
}

/// Returns whether a feature is on.
fn on(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase().replace('-', "_"))).is_some()
}

/// Hands the memory of the chosen board to the linker.
fn link(firmware: &Path) -> Result<(), String> {
    let board = board()?;
    let mut folder = firmware.join(board.folder);
    // What measures holds many recursions, and saves nothing: it may have flash that is kept for that.
    if on("measure") && folder.join("measure").is_dir() {
        folder.push("measure");
    }
    println!("cargo::rerun-if-changed={}", folder.join("memory.x").display());
    let search = format!("-L{}", folder.display());
    let mut arguments = vec![search.as_str(), "--nmagic", "-Tlink.x"];
    if on("image") {
        arguments.push("-Tdefmt.x");
    }
    if on("measure") {
        // Who calls whom, for the size of the code: in the ELF file only, not in flash.
        arguments.push("--emit-relocs");
    }
    for argument in arguments {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    Ok(())
}

/// The one board that is on.
fn board() -> Result<&'static Board, String> {
    let names = || BOARDS.map(|board| board.feature).join(", ");
    let chosen: Vec<&Board> = BOARDS.iter().filter(|board| on(board.feature)).collect();
    let target = env::var("TARGET").unwrap_or_default();
    match chosen[..] {
        [board] if board.target == target => Ok(board),
        [Board { feature, target: its, .. }] => {
            Err(format!("the board {feature} has the target {its}, not {target}: --target {its}"))
        }
        // The linker alone needs a memory: any with room will do.
        [] if !on("image") => Ok(if target.starts_with("riscv") { &BOARDS[4] } else { &BOARDS[2] }),
        [] => Err(format!("an image needs a board: --features with one of {}", names())),
        _ => Err(format!(
            "an image takes one board, not {}: --no-default-features, then --features with one of {}",
            chosen.iter().map(|board| board.feature).collect::<Vec<_>>().join(" and "),
            names()
        )),
    }
}
