//! Lists the files of the boards' folders, with their contents.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut files = Vec::new();
    for entry in fs::read_dir(&root)? {
        let path = entry?.path();
        // A folder without a board is no folder of boards: builds, and the library.
        if path.is_dir() && (path.join("board.toml").is_file() || path.ends_with("families")) {
            println!("cargo::rerun-if-changed={}", path.display());
            collect(&path, &mut files)?;
        }
    }
    // A new folder is seen by the change of this one.
    println!("cargo::rerun-if-changed={}", root.display());
    files.sort();
    let mut text = String::from("[\n");
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        text += &format!("    ({name:?}, include_str!({file:?})),\n");
    }
    text.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("files.rs"), text)
}

/// All files of a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
