//! A program that decides without a host, and takes new models over a serial port meanwhile.

use super::board::ProjectBoard;

/// The files of such a program: `key` is the text of `update.pub`; `filled` fills a template's names in.
pub(super) fn field_files(
    board: &ProjectBoard,
    key: &str,
    filled: &dyn Fn(&str) -> String,
) -> Vec<(&'static str, String)> {
    const READING: &str = include_str!("template/field/lines/emulated.rs");
    let through = include_str!("template/field/lines/through.rs");
    let line = board.line_source(true, ["", "_buffers: &mut Buffers", "", READING], through);
    let mut files = vec![
        ("README.md", filled(include_str!("template/field/README.md"))),
        ("src/main.rs", filled(include_str!("template/field/main.rs"))),
        ("src/line.rs", filled(&line)),
        ("src/flash.rs", filled(&board.flash_source())),
        ("update.pub", format!("{}\n", key.trim())),
    ];
    if board.has_copy() {
        files.push(("src/slots.rs", filled(include_str!("template/field/slots.rs"))));
    }
    files
}
