//! {{task}}: {{checker}} compares every bit.
//!
//! `model.rs` is what `{{export}}` wrote, `line.rs` is the serial port, `board.rs` is your board's own.
#![no_std]
#![no_main]

{{modules}}
use board::entry;
{{application}}
use line::{Buffers, Line};

#[entry]
{{main}} {
    let board = start::begin();
    let mut buffers = Buffers::default();
    let mut line = Line::new(board, &mut buffers);
{{before}}    loop {
        // A host that stops the conversation, or a line that breaks, may come again: it begins a new stream.
{{begin}}        let _ = {{serve}};
    }
}
