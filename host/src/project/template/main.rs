//! Decides on a stream, sample by sample, between {{classes}}.
//!
//! `model.rs` is what `fishweir export` wrote, `sensor.rs` stands for your sensor, `board.rs` is your board's own.
#![no_std]
#![no_main]

mod board;
{{driver?}}mod bus;
{{driver?}}mod driver;
mod fault;
#[allow(dead_code, reason = "an export names more than this program uses")]
mod model;
mod report;
{{driver?}}#[allow(dead_code, reason = "recordings have a class, and a sensor has none")]
mod self_test;
mod sensor;
{{sleep?}}mod sleep;
#[allow(dead_code, reason = "other programs around the model ask other things")]
mod stream;

use board::{Board, entry};
use sensor::{Next, Sensor};

/// Faults in a row, without a report between them, after which the program no longer begins.
const TOO_MANY: u32 = 3;
{{alarm?}}
{{alarm?}}/// Classes that raise the alarm, by index: {{alarm_names}}.
{{alarm?}}const ALARMS: &[usize] = &[{{alarms}}];

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
    let (mut right, mut judged) = (0, 0);
    loop {
        let mut sensor = Sensor::new();
        let (mut samples, mut truth) = (0, None);
        while let Some(next) = sensor.next() {
            let decision = match next {
                Next::Stream { label } => {
                    stream.reset();
                    (samples, truth) = (0, label);
                    continue;
                }
                Next::End => stream::at_end(&stream, samples),
                Next::Sample(sample) => {
                    // A refused sample is missing: time passes.
                    let _ = stream.push(&sample);
                    samples += 1;
                    board.wait(){{await}};
                    stream::due(&stream, samples)
                }
                Next::Missing => {
                    let _ = stream.push(None);
                    samples += 1;
                    board.wait(){{await}};
                    stream::due(&stream, samples)
                }
            };
            if let Some(decision) = decision {
                let name = |class: usize| model::CLASSES.get(class).copied().unwrap_or("?");
                report::decision(samples, name({{decision}}.class), &{{decision}}, truth.map(name));{{belief}}
                if let Some(truth) = truth {
                    judged += 1;
                    right += usize::from(truth == {{decision}}.class);
                }
                board.show({{decision}}.class);
{{alarm?}}                let Ok(()) = board.alarm.set({{is_sure}}ALARMS.contains(&{{decision}}.class));
                fault::survived();
            }
        }
        report::right(right, judged);
        (right, judged) = (0, 0);
        board.end_of_recordings();
    }
}
