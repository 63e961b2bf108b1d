//! Sends the samples of a sensor over a serial port, to be recorded by `fishweir record`.
//!
//! `sensor.rs` stands for your sensor, `line.rs` is the serial port, `board.rs` is your board's own.
#![no_std]
#![no_main]

#[allow(dead_code, reason = "other programs show classes")]
mod board;
{{driver?}}mod bus;
{{driver?}}mod driver;
mod fault;
mod line;
mod report;
mod sensor;
{{sleep?}}mod sleep;

use board::{Board, entry};
use fishweir_device::applications::record::Recorder;
use line::Line;
use sensor::{CHANNELS, Sensor};

/// Time between two samples.
const PERIOD_NS: u64 = {{period_ns}};

/// Faults in a row, without a sample between them, after which the program no longer begins.
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
    let mut line = Line::new();
    let mut sensor = Sensor::new();
    let mut recorder = Recorder::new(CHANNELS, PERIOD_NS);
    loop {
        board.wait(){{await}};
        let sample = sensor.measure();
        // What the line does not take is lost. The host knows by the number of the next sample.
        let _ = recorder.push(&mut line, sample.as_ref());
        fault::survived();
    }
}
