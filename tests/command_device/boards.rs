//! A board is a folder: a copy under a new name is a new board, for projects and for emulation, wherever it lies.

use std::fs;
use std::path::Path;

use fishweir::device::Board;

use crate::fixtures::{Folder, fixtures};
use crate::new::{runs, share_core};
use crate::{fishweir, json};

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("makes a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("copies");
        }
    }
}

#[test]
#[ignore = "by tests/boards"]
fn a_folder_under_a_new_name_is_a_board() {
    let folder = Folder::new();
    let (model, data) = (fixtures().at("three.json"), fixtures().at("three.csv"));
    let boards = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware/boards"));
    let board = folder.at("bench-7");
    copy(&boards.join(Board::default_name()), Path::new(&board));

    let at = folder.at("project");
    let told = json(&format!(
        "new {at} --name bench --board {board} --model {model} --data {data} --json"
    ));
    assert_eq!(told["board"], "bench-7", "{told}");
    share_core(Path::new(&at));
    let said = runs(Path::new(&at));
    assert!(said.starts_with("self-test: 90 samples, every bit as on the host\n"), "{said}");

    // Its images are built by its own registers and memory.
    let memory = Path::new(&board).join("memory.x");
    let text = fs::read_to_string(&memory).expect("reads");
    fs::write(&memory, text.replace("LENGTH = 4M", "LENGTH = 256K")).expect("writes");
    let line = format!("run {data} --model {model} --board {board} --limit 100");
    let report = json(&format!("{line} --json"));
    assert_eq!(report["differing_bits"], 0, "{report}");
    assert!(
        report["board"].as_str().is_some_and(|board| board.starts_with("bench-7 (")),
        "{report}"
    );
    let narrow = json(&format!("new {at} --force --board {board} --model {model} --json"));
    assert_eq!(narrow["ram_there"], 256 << 10, "{narrow}");

    // What is wrong with a folder is named with its file.
    let settings = Path::new(&board).join("board.toml");
    let text = fs::read_to_string(&settings).expect("reads");
    fs::write(&settings, text.replace("core = ", "corn = ")).expect("writes");
    let refused = fishweir(&line).output().expect("runs");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("board.toml") && said.contains("corn"), "{said}");
}
