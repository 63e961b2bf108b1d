//! A program that answers a host over a serial port.

use super::board::ProjectBoard;

/// The files of a program that answers a host over a serial port, whatever the model; `filled` fills a template's names in.
pub(super) fn host_files(
    board: &ProjectBoard,
    filled: &dyn Fn(&str) -> String,
) -> Vec<(&'static str, String)> {
    const FLUSHED: &str = "\
            // An answer has gone: a later fault is not in a row with earlier ones.
        crate::fault::survived();
        ";
    const ARGUMENTS: &str = "_board: crate::board::Board, _buffers: &mut Buffers";
    const READING: &str = include_str!("template/stream/lines/emulated.rs");
    let through = include_str!("template/stream/lines/through.rs");
    let line = board.line_source(true, [", Read", ARGUMENTS, FLUSHED, READING], through);
    let meter = match board.counts_cycles() {
        true => include_str!("template/stream/meter_cycles.rs"),
        false => include_str!("template/stream/meter_none.rs"),
    };
    vec![
        ("README.md", filled(include_str!("template/stream/README.md"))),
        ("src/main.rs", filled(include_str!("template/stream/main.rs"))),
        ("src/line.rs", filled(&line)),
        ("src/meter.rs", filled(meter)),
    ]
}
