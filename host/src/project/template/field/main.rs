//! Decides on the samples of a sensor without a host, between {{classes}}, and takes new models over a serial port meanwhile.
//!
//! `model.rs` is what `{{export}}` wrote, `sensor.rs` stands for your sensor, `line.rs` is the serial port, `flash.rs` is where new
//! models are kept, `board.rs` is your board's own.
#![no_std]
#![no_main]

#[allow(dead_code, reason = "other programs play recordings to their end")]
mod board;
{{driver?}}mod bus;
{{driver?}}mod driver;
mod fault;
mod flash;
mod line;
#[allow(dead_code, reason = "an export names more than this program uses")]
mod model;
#[allow(dead_code, reason = "other programs play recordings to their end")]
mod report;
{{driver?}}#[allow(dead_code, reason = "recordings have a class, and a sensor has none")]
mod self_test;
mod sensor;
{{sleep?}}mod sleep;
{{copied?}}mod slots;
#[allow(dead_code, reason = "other programs around the model ask other things")]
mod stream;

use core::slice;

use board::{Board, entry};
use embassy_futures::select::{Either, select};
use embedded_io_async::{Read, Write};
use fishweir_device::applications::field::{Settings, UpdatableClassifier};
use fishweir_device::classifier::{ClassifierStream, Due};
use fishweir_device::meter::NoMeter;
use fishweir_device::session::{Action, Session};
use fishweir_device::update::Ed25519;
use line::{Buffers, Line};
use sensor::{Next, Sensor};

/// Public key of those whose models are taken.
const KEY: Ed25519 = Ed25519::from_hex(include_str!("../update.pub"));

/// Faults in a row, without a decision between them, after which the program no longer begins.
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
    {{run}}
}

/// Waits for the next sample and for the serial port, whichever comes first, for ever.
async fn run(mut board: Board) -> ! {
    let mut buffers = Buffers::default();
    let mut line = Line::new(&mut buffers);
{{mapped?}}    let Some(slots) = flash::open() else { board.give_up() };
{{copied?}}    let Some(slots) = slots::open() else { board.give_up() };
    let start = UpdatableClassifier::start(slots, KEY, stream::windows(), &Settings::DEFAULT);
    let Ok(mut stream) = start else { board.give_up() };
    let mut version = None;
    let mut session = Session::new(&mut stream, &NoMeter);
    let mut sensor = Sensor::new();
    let (mut samples, mut byte) = (0, 0);
    loop {
        match select(board.wait(), line.read(slice::from_mut(&mut byte))).await {
            Either::First(()) => {
                let stream = session.classifier();
                // A newer model begins with a stream of its own.
                if stream.has_newer() {
                    stream.reset();
                    samples = 0;
                }
                if version != Some(stream.version()) {
                    version = Some(stream.version());
                    report::version(stream.version());
                }
                match sensor.next() {
                    // A refused sample is missing: time passes.
                    Some(Next::Sample(sample)) => _ = stream.push(Some(&sample)),
                    Some(Next::Missing) => _ = stream.push(None),
                    Some(Next::Stream { .. }) => {
                        stream.reset();
                        samples = 0;
                        continue;
                    }
                    Some(Next::End) => continue,
                    None => {
                        sensor = Sensor::new();
                        continue;
                    }
                }
                stream.between_samples();
                samples += 1;
                // At the end of each window that the model was trained on.
                if stream.due() == Due::Decided
                    && let Ok(decision) = stream.decision()
                {
                    let class = model::CLASSES.get(decision.class).copied().unwrap_or("?");
                    report::decision(samples, class, &decision, None);
                    board.show(decision.class);
{{alarm?}}                    let Ok(()) = board.alarm.set(ALARMS.contains(&decision.class));
                    fault::survived();
                }
            }
            Either::Second(read) => {
                if let Ok(Action::Write(frame)) = session.on_byte(read.map(|_| byte)) {
                    // What is not sent is asked for again.
                    let _ = line.write_all(frame).await;
                }
            }
        }
    }
}
