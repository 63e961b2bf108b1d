//! Classifies a stream of accelerations, sample by sample.
//!
//! `model.rs` is what `fishweir export` wrote, `sensor.rs` stands for your sensor, `boards/` for your
//! board. Replace all three.
#![no_std]
#![no_main]

use fishweir_core::filter::Running;

mod boards;
#[allow(dead_code, reason = "an export names more than this program uses")]
mod model;
mod sensor;

use boards::{Board, entry};

/// Samples between two reports.
const EVERY: usize = 50;

#[entry]
fn main() -> ! {
    let mut board = Board::new();
    // The model stays in flash. This is all of the RAM that a stream takes, on this stack.
    let mut stream = Running::new(&model::MODEL);
    for recording in sensor::RECORDINGS {
        stream.reset();
        for (t, sample) in recording.iter().enumerate() {
            board.wait();
            let sample = sensor::acceleration(sample);
            let (outcome, clocks) = board.counted(|| stream.push(&sample));
            if outcome.is_err() {
                // Not a number, or impossible under the model: the stream is as it was. Time passes.
                stream.push_missing();
            }
            if (t + 1) % EVERY == 0 {
                let decision = stream.read();
                let class = model::CLASSES.get(decision.class).copied().unwrap_or("?");
                board.report(t + 1, class, &decision, clocks);
            }
        }
    }
    board.finish()
}
