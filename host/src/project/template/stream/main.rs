//! {{task}}: {{checker}} compares every bit.
//!
//! `model.rs` is what `{{export}}` wrote, `line.rs` is the serial port, `board.rs` is your board's own.
#![no_std]
#![no_main]

#[allow(dead_code, reason = "other programs wait and show classes")]
mod board;
mod fault;
mod line;
#[allow(dead_code, reason = "not every program is measured")]
mod meter;
#[allow(dead_code, reason = "an export names more than this program uses")]
mod model;
#[allow(dead_code, reason = "other programs report their decisions")]
mod report;
#[allow(dead_code, reason = "other programs play the recordings")]
mod self_test;
#[allow(dead_code, reason = "other programs around the model ask other things")]
mod stream;

use board::{Board, entry};
{{application}}
use line::{Buffers, Line};

/// Faults in a row, without an answer between them, after which the program no longer begins.
const TOO_MANY: u32 = 3;

#[entry]
{{main}} {
    let mut board = Board::new();
    if let Some(fault) = fault::last() {
        report::fault(&fault);
        if fault.in_a_row >= TOO_MANY {
            board.give_up();
        }
    }
    match self_test::run(|| board.feed()) {
        Ok(samples) => report::tested(samples),
        Err(difference) => {
            report::differs(&difference);
            board.give_up();
        }
    }
    let mut buffers = Buffers::default();
    let mut line = Line::new(board, &mut buffers);
{{before}}    loop {
        // A host that stops the conversation, or a line that breaks, may come again: it begins a new stream.
{{begin}}        let _ = {{serve}};
    }
}
