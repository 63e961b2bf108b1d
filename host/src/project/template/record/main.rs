//! Sends the samples of a sensor over a serial port, to be recorded by `fishweir record`.
//!
//! `sensor.rs` stands for your sensor, `line.rs` is the serial port, `board.rs` is your board's own.
#![no_std]
#![no_main]

{{modules}}
use board::entry;
use fishweir_device::applications::record::Recorder;
use line::Line;
use sensor::{CHANNELS, Sensor};

/// Time between two samples.
const PERIOD_NS: u64 = {{period_ns}};

#[entry]
{{main}} {
    let mut board = start::begin();
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
