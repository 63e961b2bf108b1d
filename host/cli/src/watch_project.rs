//! `fishweir new` around a spotter, a detector or a model of records.

use std::fmt;
use std::path::Path;

use fishweir::project::{Room, SampleSource, Sensor, WatchProject};
use fishweir::report::{counted, grouped};
use serde::Serialize;

use super::fixed::NumberName;
use super::new::{Application, Arguments, Asked, assumed_rate, commands, core_source};
use super::options::{named, note_idle};
use super::rate::check_rate;
use super::room::{check_room, other_boards};
use super::watcher::WatcherModel;
use super::{Failure, Topic, record_project};

/// A project that was written.
#[derive(Debug, Serialize)]
struct WatchFiles {
    folder: String,
    board: &'static str,
    application: Application,
    /// Description of what the model finds.
    finds: String,
    files: usize,
    model_bytes: usize,
    state_bytes: usize,
    /// Use of the board's memories by the image.
    #[serde(flatten)]
    room: Room,
    /// Samples of the self-test.
    samples: usize,
    /// Findings of the self-test.
    findings: usize,
    /// Samples per second.
    rate: f64,
    /// `true` if the samples are noise.
    noise: bool,
    /// What sets the alarm pin.
    alarms: Vec<String>,
    /// Samples per second of the sensor itself; null without one.
    sensor_rate: Option<f64>,
    /// Commands to run in the project.
    commands: Vec<String>,
}

impl fmt::Display for WatchFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, board, finds, rate, .. } = self;
        let of_project = [self.files, self.model_bytes, self.state_bytes, self.samples];
        let [files, model, state, samples] = of_project.map(grouped);
        writeln!(f, "{folder}: {files} files, a project for {board} that reports {finds}")?;
        writeln!(f, "  model {model} B of flash, a stream {state} B of RAM")?;
        let Room { ram, ram_there, flash, flash_there } = &self.room;
        for (name, takes, there) in [("RAM", ram, ram_there), ("flash", flash, flash_there)] {
            let [least, most] = takes.map(grouped);
            writeln!(
                f,
                "  {name} of the whole image: {least} to {most} B of {} B",
                grouped(*there)
            )?;
        }
        let noise = if self.noise { " of noise, as there are no recordings (--data)" } else { "" };
        let findings = counted(self.findings, "finding");
        writeln!(f, "  self-test: {samples} samples{noise}, the bits of {findings}")?;
        match self.application {
            Application::Stream => {
                writeln!(f, "  watches the samples that come over its serial port")?;
            }
            _ => match self.sensor_rate {
                Some(own) => {
                    writeln!(f, "  reads its sensor at {rate} Hz, which samples at {own} Hz")?
                }
                None => {
                    writeln!(f, "  plays the samples for a sensor, at {rate} Hz: src/sensor.rs")?
                }
            },
        }
        if !self.alarms.is_empty() {
            writeln!(f, "  sets its alarm pin for a second after {}", self.alarms.join(" or "))?;
        }
        writeln!(f, "next:")?;
        self.commands.iter().try_for_each(|command| writeln!(f, "  {command}"))
    }
}

/// Writes a project around a watcher.
pub(super) fn write(
    arguments: &Asked,
    name: &str,
    model: &WatcherModel,
    samples: SampleSource,
) -> Result<(), Failure> {
    let (board, Arguments { folder, application, tasks, data, reading, .. }) =
        (arguments.board, &**arguments);
    let what = model.what();
    if arguments.number != NumberName::F32 {
        return Err(Failure::input(
            Topic::Unsupported,
            format!("--number q15: {what} runs in f32 on a board; leave it out"),
        ));
    }
    let idle = named([("--equal", arguments.equal.is_some()), ("--endless", arguments.endless)]);
    note_idle(&idle, format_args!("{what} has no windows"))?;
    let period = model.contract().and_then(|contract| contract.period);
    if let (Some(rate), Some(period)) = (arguments.rate, period) {
        check_rate("--rate", rate, period)?;
    }
    let rate = arguments.rate.or(period.map(|period| period.rate()));
    let rate = rate.unwrap_or_else(|| match samples {
        // A host sends records when it likes.
        SampleSource::Host => 1.0,
        SampleSource::Sensor => assumed_rate("the model has no sample rate"),
    });
    if data.is_none() {
        let given = [reading.given(), arguments.placing.given()].concat();
        note_idle(&given, "nothing is read without --data")?;
    }
    let gathering = arguments.placing.clone().into();
    let data = data.as_ref().map(|path| model.data(path, (reading, &gathering))).transpose()?;
    let watcher = model.on_board(board, data.as_ref())?;
    let room = Room::of_watcher(board, &watcher);
    let file = arguments.model.as_deref().unwrap_or(Path::new(""));
    let place = format!("on {} ({})", board.name, room.short());
    check_room(file, room.holds(), &place, || {
        other_boards(|board| Room::of_watcher(board, &watcher))
    })?;
    let core = core_source()?;
    let alarms = arguments.alarms()?;
    let sensor = match (arguments.sensor, model.observations()) {
        (None, _) => None,
        (Some(_), Some(observations)) => arguments.sensor(observations, rate)?,
        (Some(_), None) => {
            return Err(Failure::input(
                Topic::WrongObservations,
                "the model observes records of categories, and a sensor gives numbers: leave --sensor out",
            ));
        }
    };
    let project = WatchProject {
        name,
        board,
        tasks: *tasks,
        samples,
        watcher: &watcher,
        rate,
        core,
        sensor: sensor.as_ref(),
        alarms,
    };
    let all = fishweir_sources::project(&project.files()?, fishweir_sources::libraries()?);
    arguments.write(&all, name)?;
    let mut commands = commands(folder, board);
    if samples == SampleSource::Host {
        let file = file.display();
        let command = if watcher.kind.is_of_records() { "network run" } else { "run" };
        let port = record_project::port(board);
        commands.push(format!("fishweir {command} DATA --model {file} --port {port}"));
    }
    let [_, model_bytes, state_bytes] = watcher.bytes;
    let report = WatchFiles {
        folder: folder.display().to_string(),
        board: board.name,
        application: *application,
        files: all.len(),
        model_bytes,
        state_bytes,
        room,
        samples: watcher.samples(),
        findings: watcher.findings(),
        rate,
        noise: watcher.noise,
        finds: watcher.finds,
        alarms: alarms.to_vec(),
        sensor_rate: sensor.as_ref().map(Sensor::rate),
        commands,
    };
    crate::output::print_report(&report, arguments.json)
}
