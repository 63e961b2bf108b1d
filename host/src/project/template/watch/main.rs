//! Watches a stream, sample by sample, and reports {{finds}}.
//!
//! `model.rs` is what `{{export}}` wrote, `sensor.rs` stands for your sensor, `board.rs` is your board's own.
#![no_std]
#![no_main]

mod board;
{{driver?}}mod bus;
{{driver?}}mod driver;
mod fault;
#[allow(dead_code, reason = "an export names more than this program uses")]
mod model;
mod report;
mod self_test;
mod sensor;
{{sleep?}}mod sleep;
#[allow(dead_code, reason = "other programs around the model ask other things")]
mod stream;

use board::{Board, entry};
use sensor::{Next, Sensor};

/// Faults in a row, without a sample between them, after which the program no longer begins.
const TOO_MANY: u32 = 3;

/// Samples for which a finding is shown: a second of them.
const SHOWN: u32 = {{every}};
{{alarm?}}
{{alarm?}}/// What raises the alarm for as long.
{{alarm?}}const ALARMS: &[&str] = &[{{alarms}}];

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
    let mut stream = stream::new();
    let mut shown = 0_u32;
    loop {
        let mut sensor = Sensor::new();
        while let Some(next) = sensor.next() {
            match next {
                Next::Stream { .. } => stream.reset(),
                Next::End => stream.at_end(|found| report::found(&found)),
                Next::Sample(sample) => stream.push(Some(&sample)),
                Next::Missing => stream.push(None),
            }
            if matches!(next, Next::Stream { .. } | Next::End) {
                continue;
            }
{{alarm?}}            let Ok(()) = board.alarm.pass();
            stream.found(|found| {
                report::found(&found);
{{alarm?}}                if ALARMS.contains(&found.name()) {
{{alarm?}}                    let Ok(()) = board.alarm.raise(SHOWN);
{{alarm?}}                }
                shown = SHOWN + 1;
            });
            shown = shown.saturating_sub(1);
            board.show(usize::from(shown > 0));
            fault::survived();
            board.wait(){{await}};
        }
        board.end_of_recordings();
    }
}
