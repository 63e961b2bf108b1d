//! Decides on a stream, sample by sample, between {{classes}}.
//!
//! `model.rs` is what `fishweir export` wrote, `sensor.rs` stands for your sensor, `board.rs` is your board's own.
#![no_std]
#![no_main]

mod board;
mod fault;
#[allow(dead_code, reason = "an export names more than this program uses")]
mod model;
mod report;
mod self_test;
mod sensor;

use board::{Board, entry};
use fishweir_core::filter::Running;
use sensor::{Next, Sensor};

/// Samples between two reports.
const EVERY: usize = {{every}};
/// Faults in a row, without a report between them, after which the program no longer begins.
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
    // The model stays in flash. This is all of the RAM that a stream takes, on this stack.
    let mut stream = Running::new(&model::MODEL);
    loop {
        let mut sensor = Sensor::new();
        let mut samples = 0;
        while let Some(next) = sensor.next() {
            match next {
                Next::Stream => {
                    stream.reset();
                    samples = 0;
                    continue;
                }
                Next::Sample(sample) => {
                    // Not a number, or impossible under the model: it is missing. Time passes.
                    let _ = stream.push_or_missing(&sample);
                }
                Next::Missing => stream.push_missing(),
            }
            samples += 1;
            if samples % EVERY == 0
                && let Some(decision) = self_test::decide(&stream)
            {
                let class = model::CLASSES.get({{decision}}.class).copied().unwrap_or("?");
                report::decision(samples, class, &{{decision}});{{belief}}
                board.show({{decision}}.class);
                fault::survived();
            }
            board.wait(){{await}};
        }
        board.end_of_recordings();
    }
}
