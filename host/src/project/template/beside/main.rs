//! Decides on the samples of a sensor without a host, between {{classes}}, and {{beside}} over a serial port meanwhile.
//!
//! `model.rs` is what `{{export}}` wrote, `sensor.rs` stands for your sensor, `line.rs` is the serial port, `flash.rs` is where {{kept}}
//! are kept, `board.rs` is your board's own.
#![no_std]
#![no_main]

{{modules}}
use core::slice;

use board::{Board, entry};
use embassy_futures::select::{Either, select};
use embedded_io_async::{Read, Write};
{{button?}}use fishweir_core::classify::teach::ClassName;
{{lessons?}}use fishweir_core::classify::teach::{TaughtClasses, TeachingBasis};
{{updates?}}use fishweir_device::applications::field::{Settings, UpdatableClassifier};
{{lessons?}}use fishweir_device::applications::teach::{Lesson, TeachableClassifier, TeachingError};
use fishweir_device::classifier::{ClassifierStream, Due};
use fishweir_device::meter::NoMeter;
use fishweir_device::session::{Action, Session};
{{updates?}}use fishweir_device::update::Ed25519;
use line::{Buffers, Line};
use sensor::{Next, Sensor};

{{updates?}}/// Public key of those whose models are taken.
{{updates?}}const KEY: Ed25519 = Ed25519::from_hex(include_str!("../update.pub"));
{{lessons?}}/// Most taught classes, and the numbers that each takes.
{{lessons?}}const MOST: usize = 4;
{{lessons?}}const NUMBERS: usize = TeachingBasis::numbers_of(&model::TEACHING);
{{button?}}
{{button?}}/// Names of the classes that the button teaches: the first that is free.
{{button?}}const NAMES: [&str; MOST] = ["taught-1", "taught-2", "taught-3", "taught-4"];

/// Samples for which the sensor is not read after one from a host: a second of them.
const QUIET: u32 = {{every}};
{{alarm?}}
{{alarm?}}/// Classes that raise the alarm, by index: {{alarm_names}}.
{{alarm?}}const ALARMS: &[usize] = &[{{alarms}}];

#[entry]
{{main}} {
    let board = start::begin();
    {{run}}
}

/// Waits for the next sample and for the serial port, whichever comes first, for ever.
async fn run(mut board: Board) -> ! {
    let mut buffers = Buffers::default();
    let mut line = Line::new(&mut buffers);
{{updates?}}{{mapped?}}    let Some(slots) = flash::open() else { board.give_up() };
{{updates?}}{{copied?}}    let Some(slots) = slots::open() else { board.give_up() };
{{updates?}}    let start = UpdatableClassifier::start(slots, KEY, stream::windows(), &Settings::DEFAULT);
{{updates?}}    let mut version = None;
{{lessons?}}    let Some(slots) = flash::open() else { board.give_up() };
{{lessons?}}    let lesson = Lesson { basis: &model::TEACHING, calibration: {{calibration}}, known: &model::CLASSES };
{{lessons?}}    let mut record = [0; TaughtClasses::<MOST, NUMBERS>::RECORD_LONGEST];
{{lessons?}}    let start: Result<TeachableClassifier<'_, _, _, _, MOST, NUMBERS>, TeachingError<()>> =
{{lessons?}}        TeachableClassifier::start(slots, stream::windows(), lesson, &mut record);
    let Ok(mut stream) = start else { board.give_up() };
{{lessons?}}    report::taught(stream.taught().len());
{{button?}}    let mut was_held = false;
    let mut session = Session::new(&mut stream, &NoMeter);
    let mut sensor = Sensor::new();
    let (mut samples, mut byte, mut from_host, mut quiet) = (0, 0, 0, 0);
    loop {
{{heard?}}        board.feed();
        match select({{due}}, line.read(slice::from_mut(&mut byte))).await {
            // What a host sends is a stream of its own.
            Either::First(()) if quiet > 1 => {
{{heard?}}                let _ = sensor.next();
                quiet -= 1;
            }
            Either::First(()) => {
                let stream = session.classifier();
                if quiet > 0 {
                    stream.reset();
                    (samples, quiet) = (0, 0);
                }
{{updates?}}                // A newer model begins with a stream of its own.
{{updates?}}                if stream.has_newer() {
{{updates?}}                    stream.reset();
{{updates?}}                    samples = 0;
{{updates?}}                }
{{updates?}}                if version != Some(stream.version()) {
{{updates?}}                    version = Some(stream.version());
{{updates?}}                    report::version(stream.version());
{{updates?}}                }
{{button?}}                let is_held = board.is_held();
{{button?}}                if is_held != was_held {
{{button?}}                    was_held = is_held;
{{button?}}                    let is_free = |name: &ClassName| stream.taught().find(name).is_none();
{{button?}}                    let mut names = NAMES.iter().filter_map(|name| ClassName::new(name).ok());
{{button?}}                    let free = names.find(is_free);
{{button?}}                    let status = match free.filter(|_| is_held) {
{{button?}}                        Some(name) => stream.begin(&name),
{{button?}}                        None => stream.stop(),
{{button?}}                    };
{{button?}}                    report::lesson(status, is_held);
{{button?}}                    report::taught(stream.taught().len());
{{button?}}                }
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
{{updates?}}                if stream.due() == Due::Decided
{{updates?}}                    && let Ok(decision) = stream.decision()
{{updates?}}                {
{{lessons?}}                if stream.due() == Due::Decided {
{{lessons?}}                    let told = stream.prediction();
{{lessons?}}                    let decision = told.decision;
{{updates?}}                    let class = model::CLASSES.get(decision.class).copied().unwrap_or("?");
{{lessons?}}                    let class = stream.name(decision.class);
                    report::decision(samples, class, &decision, None);{{belief}}
                    board.show(decision.class);
{{alarm?}}                    let Ok(()) = board.alarm.set({{is_sure}}ALARMS.contains(&{{raised}}));
                    fault::survived();
                }
            }
            Either::Second(read) => {
                if let Ok(Action::Write(frame)) = session.on_byte(read.map(|_| byte)) {
                    // What is not sent is asked for again.
                    let _ = line.write_all(frame).await;
                    let told = session.report();
                    let pushed = told.samples.get() + told.missing.get();
                    if pushed != from_host {
                        (from_host, quiet) = (pushed, QUIET + 1);
                    }
                }
            }
        }
    }
}
