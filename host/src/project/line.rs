//! Programs with a serial port: those that answer a host, and those that decide on a sensor beside it.

use super::board::ProjectBoard;

/// Task of a program at its serial port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// It has none.
    None,
    /// Sends samples, to be recorded.
    Sends,
    /// Answers a host that sends samples, and feeds the board's watchdog meanwhile.
    Answers,
    /// Takes new models beside the samples of a sensor.
    Updates,
    /// Is taught classes beside the samples of a sensor.
    Lessons,
}

impl Line {
    /// Returns whether it receives beside the samples of a sensor, and keeps what it receives in flash.
    pub(super) fn is_beside(self) -> bool {
        matches!(self, Self::Updates | Self::Lessons)
    }
}

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

/// The files of a program that decides without a host, and keeps in flash what comes over a serial port meanwhile: models whose signer
/// has the public `key`, the text of `update.pub`, or else taught classes.
pub(super) fn beside_files(
    board: &ProjectBoard,
    key: Option<&str>,
    filled: &dyn Fn(&str) -> String,
) -> Vec<(&'static str, String)> {
    const READING: &str = include_str!("template/beside/lines/emulated.rs");
    let through = include_str!("template/beside/lines/through.rs");
    let line = board.line_source(true, ["", "_buffers: &mut Buffers", "", READING], through);
    let page = match key {
        Some(_) => include_str!("template/beside/README.md"),
        None => include_str!("template/beside/LESSONS.md"),
    };
    let mut files = vec![
        ("README.md", filled(page)),
        ("src/main.rs", filled(include_str!("template/beside/main.rs"))),
        ("src/line.rs", filled(&line)),
        ("src/flash.rs", filled(&board.flash_source())),
    ];
    if let Some(key) = key {
        files.push(("update.pub", format!("{}\n", key.trim())));
        if board.has_copy() {
            files.push(("src/slots.rs", filled(include_str!("template/beside/slots.rs"))));
        }
    }
    files
}
