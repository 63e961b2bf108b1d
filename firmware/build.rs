//! Build script of the images: their board, the cost of recursions, and the proof that none of them panics.

use std::path::{Path, PathBuf};
use std::{env, fs};

mod memory;

fn main() {
    println!("cargo::rerun-if-changed=memory.rs");
    println!(
        "cargo::rustc-check-cfg=cfg(without, values(\"windows\", \"profiles\", \"profile-directions\", \"systems\"))"
    );
    if let Some(board) = memory::link_image(Path::new(env!("CARGO_MANIFEST_DIR")))
        && let Err(error) = select(&board)
    {
        println!("cargo::error={}: {error}", board.display());
    }
}

/// Writes the module of the board, and says its name.
fn select(board: &Path) -> std::io::Result<()> {
    let source = board.join("board.rs");
    let module = format!("#[path = {source:?}]\nmod selected;\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("selected.rs"), module)?;
    let name = board.file_name().unwrap_or_default().to_string_lossy();
    println!("cargo::rustc-env=FISHWEIR_BOARD_NAME={name}");
    // What `costs` leaves out on a board without flash for it.
    let settings = fs::read_to_string(board.join("board.toml"))?;
    let left_out = settings.lines().find_map(|line| line.strip_prefix("costs_without = "));
    for part in left_out.unwrap_or_default().split('"').skip(1).step_by(2) {
        println!("cargo::rustc-cfg=without=\"{part}\"");
    }
    Ok(())
}
