//! `fishweir new`.

mod asked;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fishweir::classifier::Observations;
use fishweir::data::Dataset;
use fishweir::project::{
    CoreSource, Project, ProjectBoard, ProjectModel, RecordProject, Room, SampleSource, Sensor,
    SensorPart, Start,
};
use fishweir::report::{counted, grouped};
use serde::{Deserialize, Serialize};

use super::fixed::{NumberName, measured};
use super::help::brief;
use super::model::Model;
use super::network::Deployment;
use super::options::{self, note_idle};
use super::reading::{Placing, Reading};
use super::room::Wanted;
use super::watcher::WatcherModel;
use super::{Failure, Topic, board, note, read, recognise, record_project, values, watch_project};

pub(super) use asked::Asked;

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "board",
    "chip",
    "application",
    "alarm",
    "sensor",
    "model",
    "data",
    "number",
    "rate",
    "tasks",
    "update",
    "channel-columns",
    "json",
];

pub(super) const LONG_ABOUT: &str = "\
Write a firmware project for one of many boards: around a model, or to record the data for one.

The model is of any kind: a classifier, kernel machine or profile decides, a spotter or detector reports events and changes, and so does \
a classifier of records or, with --mean-time, a network. `--application sensor` runs it on the samples of a sensor. `--application record` sends the samples of a sensor over \
a serial port to `fishweir record`. It needs no model: --channels names the channels, with their units in brackets. \
`--application stream` runs the model on the samples that `fishweir run --port` sends. Real boards need --async for it. \
`--application field` decides on the samples of a sensor without a host, takes new models from `fishweir send` meanwhile, and keeps them in flash. \
`--application teach` does too, and is taught further classes, by the board's button and by `fishweir teach --port`; the model is fitted with --teachable. \
--update brings a new model into a project.

A project is in Rust. For Arduino, PlatformIO, ESP-IDF, Zephyr and other compilers, `fishweir export MODEL --c-source FOLDER` writes a library.";

const EXAMPLES: &str = "\
Examples:
  fishweir new gait-watch --board nrf52840-dk --model gait.json --data gait.csv
  fishweir new gait-watch --update --model better.json --data gait.csv
  fishweir new log --board esp32c3 --application record --channels 'ax [g],ay [g],az [g]' --rate 50
  fishweir new gait-watch --chip STM32L476RG --memories 1M,96K --model gait.json --sensor lis2dh12";

/// Task of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Application {
    /// Decide on the samples of a sensor, with a model
    Sensor,
    /// Send the samples of a sensor over a serial port, for `fishweir record`
    Record,
    /// Decide on samples that come over a serial port, with a model, for `fishweir run --port`
    Stream,
    /// Decide on the samples of a sensor, and take new models over a serial port, from `fishweir send`
    Field,
    /// Decide on the samples of a sensor, and learn further classes by a button and over a serial port, from `fishweir teach --port`
    Teach,
}

/// A sensor that projects have a driver of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SensorName {
    /// ST's accelerometer, also LIS2DH and LIS3DH
    Lis2dh12,
    /// ST's accelerometer and gyroscope
    Lsm6dso,
    /// Bosch's accelerometer and gyroscope
    Bmi270,
    /// TDK's accelerometer and gyroscope
    Mpu6050,
    /// Voltages at one to four pins: adc_a to adc_d in board.toml
    Adc,
    /// A PDM microphone of an nRF52833 or nRF52840, or an I2S microphone of an ESP32
    Microphone,
}

impl SensorName {
    fn part(self) -> SensorPart {
        match self {
            Self::Lis2dh12 => SensorPart::Lis2dh12,
            Self::Lsm6dso => SensorPart::Lsm6dso,
            Self::Bmi270 => SensorPart::Bmi270,
            Self::Mpu6050 => SensorPart::Mpu6050,
            Self::Adc => SensorPart::Adc,
            Self::Microphone => SensorPart::Microphone,
        }
    }
}

#[derive(Clone, Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folder to write, new or empty
    pub(super) folder: PathBuf,
    /// The board, or the path of a folder with its board.toml
    #[arg(long, value_parser = board::of_projects(), required_unless_present_any = ["update", "chip"])]
    board: Option<&'static ProjectBoard>,
    /// Chip of a board that is not listed: an nRF52, STM32, RP2040 or RP2350, or ESP32-C3, C6 or H2
    ///
    /// The name is that of the maker or of probe-rs, with the letters of its package if probe-rs asks for them: STM32L476RGTx. Pins
    /// are those of the family's usual boards: --pin names others.
    #[arg(long, requires = "memories", conflicts_with = "board")]
    chip: Option<String>,
    /// Flash and RAM of --chip, each a length or its origin and length: 1M,96K or 0x08000000:1M,0x20000000:96K
    #[arg(long, value_name = "FLASH,RAM", requires = "chip")]
    memories: Option<String>,
    /// Pin or peripheral of the board, by its name in board.toml: led=PB7; several times
    #[arg(long, value_name = "NAME=PIN", value_parser = pin)]
    pin: Vec<(String, String)>,
    /// Task of the program
    #[arg(long, value_enum, default_value_t = Application::Sensor)]
    pub(super) application: Application,
    /// Class, event or alarm (change, unlikely) that sets the board's alarm pin; several times, any for all events or alarms
    ///
    /// After a decision the pin stays high until another class is decided, after an event or an alarm for a second. With
    /// --application teach, taught is for all taught classes. Its name in board.toml is alarm: --pin alarm=PA8 takes another. An
    /// emulated board writes its changes to the output.
    #[arg(long, value_name = "NAME")]
    alarm: Vec<String>,
    /// Public key (update.pub) of `fishweir keygen`: --application field takes models that its private key has signed
    #[arg(long, value_name = "FILE")]
    update_key: Option<PathBuf>,
    /// Sensor on the board's I2C bus, at its analogue inputs, or a microphone, instead of recordings
    ///
    /// Channels on the bus are x, y, z of acceleration, then of turning. The project has the driver, from a crate, at the sensor's
    /// rate next above --rate. Pins of the bus are sda and scl in board.toml, inputs adc_a to adc_d, those of a microphone
    /// mic_clock and mic_data: see --pin.
    #[arg(long, value_enum, value_name = "PART")]
    pub(super) sensor: Option<SensorName>,
    /// Units of accelerations and of turning rates, or of voltages, where the channels' names say none: g or g,deg/s or V
    #[arg(long, value_delimiter = ',', requires = "sensor")]
    units: Vec<String>,
    /// Fitted model (JSON) of any kind, profile (HMMER3/f) or artefact
    #[arg(short, long, value_name = "FILE", required_unless_present = "channel-columns")]
    pub(super) model: Option<PathBuf>,
    /// Recordings for the self-test; the program also reads them in place of a sensor until you write its driver
    /// [default: noise; with --number q15
    /// the training data]
    ///
    /// The project contains one window per label, or one series if the model has no windows, in at most an eighth of
    /// the flash. With --number q15 the default is the file of the training data, in this folder or beside the
    /// model, if its checksum is unchanged.
    #[arg(long, value_name = "DATA")]
    pub(super) data: Option<PathBuf>,
    /// Numbers of the model: floating point, or fixed point for parts without an FPU
    ///
    /// Decisions in fixed point are compared with those in f64 on --data before anything is written.
    #[arg(long, value_enum, default_value_t = NumberName::F32)]
    pub(super) number: NumberName,
    /// Smallest share of windows on which fixed point and f64 must agree [default: 0.995]
    #[arg(long, value_name = "SHARE", value_parser = values::share, allow_negative_numbers = true)]
    pub(super) equal: Option<f64>,
    /// Write tasks for embassy's executor, instead of a loop that waits; not for emulated boards, which have no clock
    #[arg(long = "async")]
    pub(super) tasks: bool,
    /// Samples per second [default: the rate of the training data, or 50 if it is unknown]
    #[arg(long, value_name = "HERTZ", value_parser = values::hertz, allow_negative_numbers = true)]
    pub(super) rate: Option<f64>,
    /// Decide after every sample, without the windows of the training
    #[arg(long)]
    pub(super) endless: bool,
    /// Name of the package, if the folder's name is not allowed as one [default: that of the folder]
    #[arg(long)]
    name: Option<String>,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
    /// Bring --model into the project in the folder, and leave what you have changed there
    ///
    /// Board, application, numbers and name are those of the project. src/model.rs and src/self_test.rs are written anew, other
    /// files only if they are as `fishweir new` wrote them.
    #[arg(long, requires = "model", conflicts_with_all = ["board", "chip", "memories", "pin", "application", "sensor", "units", "update_key", "number", "tasks", "endless", "name", "force"])]
    update: bool,
    #[command(flatten)]
    pub(super) reading: Reading,
    #[command(flatten)]
    pub(super) placing: Placing,
    #[command(flatten)]
    deployment: Deployment,
    /// Report as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// A pin of a board and what it is to be.
fn pin(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(name, pin)| !name.is_empty() && !pin.is_empty());
    let (name, pin) = parts.ok_or("write NAME=PIN, for instance led=PA5")?;
    Ok((name.to_owned(), pin.to_owned()))
}

/// Samples per second of a project whose model does not say.
const ASSUMED_RATE: f64 = 50.0;

#[derive(Debug, Serialize)]
struct ProjectFiles {
    folder: String,
    board: &'static str,
    application: Application,
    number: NumberName,
    /// Share of the data's windows that fixed point decides as `f64` does; null of floating point.
    equal_decisions: Option<f64>,
    files: usize,
    model_bytes: usize,
    state_bytes: usize,
    /// Use of the board's memories by the image.
    #[serde(flatten)]
    room: Room,
    /// Samples of the recordings that it plays.
    samples: usize,
    /// Samples of the self-test among them.
    compared: usize,
    /// Recordings that it plays: whole windows, or whole series where there are no windows.
    recordings: usize,
    /// `true` if the one recording was cut: the flash has no room for a whole window.
    cut: bool,
    /// Samples per second.
    rate: f64,
    /// Samples in a window, and from one window to the next; null of a model that decides on whole series.
    windows: Option<[usize; 2]>,
    /// `true` if the recordings are noise.
    noise: bool,
    /// Classes that raise the alarm.
    alarms: Vec<String>,
    /// Samples per second of the sensor itself; null without one.
    sensor_rate: Option<f64>,
    /// Commands to run in the project.
    commands: Vec<String>,
}

impl std::fmt::Display for ProjectFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { folder, board, .. } = self;
        let [files, samples, compared] = [self.files, self.samples, self.compared].map(grouped);
        writeln!(f, "{folder}: {files} files, a project for {board}")?;
        writeln!(
            f,
            "  model {} B of flash, a stream {} B of RAM",
            grouped(self.model_bytes),
            grouped(self.state_bytes)
        )?;
        let Room { ram, ram_there, flash, flash_there } = &self.room;
        for (name, takes, there) in [("RAM", ram, ram_there), ("flash", flash, flash_there)] {
            let [least, most] = takes.map(grouped);
            writeln!(
                f,
                "  {name} of the whole image: {least} to {most} B of {} B",
                grouped(*there)
            )?;
        }
        if let Some(equal) = self.equal_decisions {
            writeln!(
                f,
                "  in fixed point (q15): {:.2} % of the data's windows decided as in f64; the sensor gives integers",
                100.0 * equal
            )?;
        }
        let what = if self.noise {
            "of noise, as there are no recordings (--data)"
        } else {
            "of the recordings"
        };
        writeln!(f, "  self-test: {compared} samples {what}, every decision's bits")?;
        let recordings = counted(self.recordings, "recording");
        // A hundredth of a hertz is within what a clock is off.
        let rate = (self.rate * 100.0).round() / 100.0;
        let plays = self.application != Application::Stream && self.sensor_rate.is_none();
        match plays {
            true => {
                writeln!(f, "  plays {recordings} for a sensor: {samples} samples at {rate} Hz")?
            }
            false => match self.sensor_rate {
                Some(own) => {
                    let own = (own * 100.0).round() / 100.0;
                    writeln!(f, "  reads its sensor at {rate} Hz, which samples at {own} Hz")?;
                }
                None => writeln!(f, "  decides on the samples that come over its serial port")?,
            },
        }
        if self.cut && plays {
            writeln!(
                f,
                "  no whole window of the recordings is played: they are shorter than a window, or a window is too \
                 long for the flash"
            )?;
        }
        match self.windows {
            Some([length, hop]) => writeln!(
                f,
                "  decides on windows of {} samples, one every {}, as in training",
                grouped(length),
                grouped(hop)
            )?,
            None => {
                writeln!(f, "  decides after every sample, on all samples since the last reset")?
            }
        }
        if !self.alarms.is_empty() {
            writeln!(f, "  sets its alarm pin while {} is decided", self.alarms.join(" or "))?;
        }
        writeln!(f, "next:")?;
        self.commands.iter().try_for_each(|command| writeln!(f, "  {command}"))?;
        writeln!(f, "in Arduino's IDE: fishweir export MODEL --c-source FOLDER writes a library")
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let arguments = &Asked::of(arguments)?;
    let folder = &arguments.folder;
    let shown = folder.display();
    let empty = match folder.read_dir() {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => {
            return Err(Failure::input(
                Topic::UnreadableFolder,
                format!("{shown}: {error}; name another folder"),
            ));
        }
    };
    if !empty && !arguments.force && !arguments.update {
        return Err(Failure::input(
            Topic::FolderInUse,
            format!(
                "{shown}: there are files in it; name another folder, or --force to write over them"
            ),
        ));
    }
    let named =
        std::path::absolute(folder)?.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = arguments.name.clone().or(named).unwrap_or_default();
    if arguments.application == Application::Record {
        return record(arguments, &name);
    }
    let key = arguments.key()?;
    let lessons = arguments.application == Application::Teach;
    let samples = match arguments.application {
        Application::Stream => SampleSource::Host,
        _ => SampleSource::Sensor,
    };
    let Some(file) = arguments.model.as_deref() else {
        return Err(Failure::input(
            Topic::MissingOption,
            "there is no model: add --model FILE, or --application record",
        ));
    };
    let bytes = recognise::read(file)?;
    if let Some(watcher) = WatcherModel::read(file, &bytes, &arguments.deployment)? {
        if key.is_some() {
            let what = format!("{} stays as it is", watcher.what());
            return Err(fishweir::project::ProjectError::NoUpdate { what }.into());
        }
        if lessons {
            return Err(Failure::input(
                Topic::Unsupported,
                format!("{} is taught no classes: --application sensor runs it", watcher.what()),
            ));
        }
        return watch_project::write(arguments, &name, &watcher, samples);
    }
    note_idle(&arguments.deployment.given(), "only an alarm on a network uses them")?;
    let model = Model::parse(file, &bytes)?;
    let rate =
        model.rate(arguments.rate)?.unwrap_or_else(|| assumed_rate("the model has no sample rate"));
    let measured = match arguments.number {
        NumberName::Q15 => {
            let named = arguments.data.as_deref();
            let reading = (&arguments.reading, &arguments.placing.clone().into());
            Some(measured(file, &model, named, reading, arguments.equal)?)
        }
        NumberName::F32 => None,
    };
    let read = if measured.is_none() { recordings(arguments, &model)? } else { None };
    let data = measured.as_ref().map(|measured| &measured.data).or(read.as_ref());
    // Of a project in floating point it is what may be taken instead.
    let instead = match measured {
        Some(_) => None,
        None => model.fitted().and_then(|fitted| fitted.quantise().ok()),
    };
    if !arguments.endless {
        model.check_windows()?;
    }
    let windowing = model.windowing(None).filter(|_| !arguments.endless);
    let deployed = model.deployed.clone().on_windows(windowing);
    let fixed = measured.as_ref().map(|measured| measured.fixed.clone().on_windows(windowing));
    let numbers = match &fixed {
        Some(fixed) => ProjectModel::Q15(fixed),
        None => ProjectModel::F32(&deployed),
    };
    // A class that the model does not know has no index.
    let class = |name: &String| deployed.classes().iter().position(|class| class == name);
    let recordings = data.iter().flat_map(|data| {
        data.series().iter().flat_map(move |series| {
            let label = series.label.and_then(|label| class(&data.classes()[label]));
            let streams = series.streams(windowing.as_ref()).into_iter();
            streams.map(move |samples| (samples, label))
        })
    });
    let sensor = arguments.sensor(deployed.observations(), rate)?;
    let project = Project {
        name: &name,
        board: arguments.board,
        tasks: arguments.tasks,
        samples,
        model: numbers,
        rate,
        core: core_source()?,
        alarms: arguments.alarms()?,
        sensor: sensor.as_ref(),
        updates: key.as_deref(),
        lessons,
    };
    let made = project.files(recordings)?;
    let wanted = Wanted {
        file,
        board: arguments.board,
        model: numbers,
        fixed: instead.as_ref(),
        samples: made.samples,
        rate,
        beside: match (key.is_some(), lessons) {
            (true, _) => Room::with_updates,
            (false, true) => Room::with_lessons,
            (false, false) => |room, _| room,
        },
    };
    let room = wanted.check()?;
    let all = fishweir_sources::project(&made.files, fishweir_sources::libraries()?);
    arguments.write(&all, &name)?;
    let cost = numbers.cost();
    let mut commands = commands(folder, arguments.board);
    if samples == SampleSource::Host {
        let port = record_project::port(arguments.board);
        let number = if fixed.is_some() { " --number q15" } else { "" };
        commands
            .push(format!("fishweir run DATA --model {}{number} --port {port}", file.display()));
    }
    if lessons {
        let (model, port) = (file.display(), record_project::port(arguments.board));
        commands.push(format!("fishweir teach DATA --class NAME --model {model} --port {port}"));
    }
    if key.is_some() {
        let port = record_project::port(arguments.board);
        let model = "fishweir export MODEL --update new.update --update-version 2 --key update.key";
        commands.push(model.to_owned());
        commands.push(format!("fishweir send new.update --port {port}"));
        if deployed.confidence().is_some() {
            note(
                Topic::NoRejection,
                format_args!(
                    "{}: the model rejects some decisions, and with --application field the likeliest class is decided: an update \
                     brings no calibration",
                    file.display()
                ),
            );
        }
    }
    let report = ProjectFiles {
        folder: shown.to_string(),
        board: arguments.board.name,
        application: arguments.application,
        number: arguments.number,
        equal_decisions: measured.as_ref().map(|measured| measured.deviation.equal_decisions),
        files: all.len(),
        model_bytes: cost.model_bytes,
        state_bytes: cost.state_bytes,
        room,
        samples: made.samples,
        compared: made.compared,
        recordings: made.recordings,
        cut: made.cut,
        rate,
        windows: windowing.map(|by| [by.length.get(), by.hop.get()]),
        noise: made.noise,
        alarms: project.alarms.to_vec(),
        sensor_rate: sensor.as_ref().map(Sensor::rate),
        commands,
    };
    crate::output::print_report(&report, arguments.json)
}

/// Rate where nobody says one, which is noted with why.
pub(super) fn assumed_rate(why: &str) -> f64 {
    note(
        Topic::AssumedRate,
        format_args!(
            "{why}: the project assumes {ASSUMED_RATE} samples per second; --rate sets another"
        ),
    );
    ASSUMED_RATE
}

/// Writes a project that sends the samples of a sensor.
fn record(arguments: &Asked, name: &str) -> Result<(), Failure> {
    let own = options::named([
        ("--data", arguments.data.is_some()),
        ("--number", arguments.number != NumberName::F32),
        ("--equal", arguments.equal.is_some()),
        ("--endless", arguments.endless),
    ]);
    note_idle(&own, "--application record decides nothing")?;
    arguments.alarms()?;
    arguments.key()?;
    note_idle(&arguments.reading.given(), "--application record reads no data")?;
    let model = arguments.model.as_deref().map(Model::read).transpose()?;
    let mut channels = arguments.placing.channels();
    if let (Some(model), true) = (&model, channels.is_empty()) {
        let Observations::Channels(names) = model.deployed.observations() else {
            return Err(Failure::input(
                Topic::WrongObservations,
                "the model observes symbols, and a sensor gives numbers: name its channels with --channels",
            ));
        };
        channels.clone_from(names);
    }
    let rate = match &model {
        Some(model) => model.rate(arguments.rate)?,
        None => arguments.rate,
    };
    let rate = rate.unwrap_or_else(|| assumed_rate("no rate is named"));
    let sensor = arguments.sensor(&Observations::Channels(channels.clone()), rate)?;
    let project = RecordProject {
        name,
        board: arguments.board,
        tasks: arguments.tasks,
        channels: &channels,
        rate,
        core: core_source()?,
        sensor: sensor.as_ref(),
    };
    let commands = commands(&arguments.folder, arguments.board);
    record_project::write(&arguments.folder, &project, commands, arguments.json)
}

/// Where the project has the libraries from.
pub(super) fn core_source() -> Result<CoreSource, Failure> {
    let vendored = fishweir_sources::libraries()?.is_some();
    Ok(if vendored { CoreSource::Vendored } else { CoreSource::Registry })
}

/// Reads the recordings for the self-test of a project in floating point.
fn recordings(arguments: &Arguments, model: &Model) -> Result<Option<Dataset>, Failure> {
    let equal = options::named([("--equal", arguments.equal.is_some())]);
    note_idle(&equal, "only --number q15 is measured on data")?;
    let Some(data) = arguments.data.as_deref() else {
        let given = [arguments.reading.given(), arguments.placing.given()].concat();
        note_idle(&given, "nothing is read without --data")?;
        return Ok(None);
    };
    let placing = arguments.placing.clone().into();
    read::to_decide(&[data.to_owned()], &arguments.reading, &placing, model).map(Some)
}

pub(super) fn commands(folder: &Path, board: &ProjectBoard) -> Vec<String> {
    let mut commands = vec![format!("cd {}", folder.display())];
    match board.start {
        Start::Emulated => {
            commands.extend(board.missing());
        }
        Start::Probe(_) => {
            commands.push(format!("rustup target add {}", board.target));
            commands.push("cargo install probe-rs-tools --locked    # to flash it".to_owned());
        }
    }
    commands.push("cargo run --release".to_owned());
    commands
}
