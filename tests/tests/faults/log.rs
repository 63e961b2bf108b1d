//! What a device logged, as text.

use std::path::Path;

use defmt_decoder::{DecodeError, Table};

/// The lines of a log, level and text, decoded with the image that wrote it.
pub(crate) fn lines(elf: &Path, log: &[u8]) -> Vec<String> {
    let elf = std::fs::read(elf).expect("the image is there");
    let table = Table::parse(&elf).expect("an image with a log").expect("an image with a log");
    let mut decoder = table.new_stream_decoder();
    decoder.received(log);
    let mut lines = Vec::new();
    loop {
        match decoder.decode() {
            Ok(frame) => lines.push(frame.display(false).to_string()),
            // What a reset cut short.
            Err(DecodeError::Malformed) => {}
            Err(DecodeError::UnexpectedEof) => return lines,
        }
    }
}
