//! Firmware projects: a folder that builds alone, with the model, the board and a self-test in it.
//!
//! | what | where |
//! |---|---|
//! | what every project has | `base.rs` |
//! | the boards, from their folders | `board.rs` |
//! | what their parts draw | `power.rs` |
//! | the model, in either format | `model.rs` |
//! | whether a board's memories hold an image | `room.rs` |
//! | programs with a serial port | `line.rs` |
//! | what raises the alarm | `alarm.rs` |
//! | what kinds of boards, and the two styles, differ in | `platform.rs` |
//! | a project that sends samples to be recorded, without a model | `record.rs` |
//! | samples and the bits of the decisions on them | `self_test.rs` |
//! | samples in the text of a source | `sample_form.rs` |
//! | sensors, and the parts that there are | `sensor.rs`, `sensor_part.rs` |
//! | models that report what they find in a stream, and a project around one | `watcher.rs`, `watch.rs` |
//! | what is written, with `{{names}}` for what differs | `template.rs`, `template/` |

mod alarm;
mod base;
mod board;
mod error;
mod line;
mod model;
mod platform;
mod power;
mod record;
mod room;
mod sample_form;
mod self_test;
mod sensor;
mod sensor_part;
mod template;
mod watch;
mod watcher;

pub use base::{CoreSource, check_rate};
pub use board::{PROJECT_BOARDS, ProjectBoard, Start};
pub use error::ProjectError;
pub use model::ProjectModel;
pub use power::Power;
pub use record::RecordProject;
pub use room::Room;
pub use sensor::Sensor;
pub use sensor_part::SensorPart;
pub use watch::WatchProject;
pub use watcher::{FindingBits, WatchedRecording, Watcher, WatcherKind};

use alarm::{Alarms, alarms};
use base::Base;
pub(crate) use base::RATES;
use line::{Line, beside_files, host_files};
use platform::{Pace, Style};
use sensor::Observed;
use template::fill;

use crate::classifier::Observations;
use crate::data::SamplesView;
use crate::data::internals::in_one_line;
use crate::deploy::FixedPoint;
use crate::report::grouped;

/// Parts of a project.
#[derive(Debug)]
pub struct Project<'a> {
    /// The package's name: letters, digits, `-` and `_`, a letter first.
    pub name: &'a str,
    /// The board.
    pub board: &'static ProjectBoard,
    /// Tasks on an executor, by embassy, instead of one loop that waits.
    pub tasks: bool,
    /// Source of the samples.
    pub samples: SampleSource,
    /// The classifier.
    pub model: ProjectModel<'a>,
    /// Samples per second.
    pub rate: f64,
    /// Source of the core.
    pub core: CoreSource,
    /// Classes that raise the alarm.
    pub alarms: &'a [String],
    /// The sensor; without one the recordings stand for it.
    pub sensor: Option<&'a Sensor>,
    /// Public key of those who may replace the model over a serial port, as `update.pub` has it: the program then keeps new models
    /// in slots. `None` for a model that stays.
    pub updates: Option<&'a str>,
    /// `true` for a program that is taught further classes, by a button and over a serial port, and keeps them in slots.
    pub lessons: bool,
}

/// Source of the samples that a project decides on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleSource {
    /// A sensor.
    Sensor,
    /// A host at a serial port, which compares the answers with its own: [`on_port`](crate::parity::on_port).
    Host,
}

/// A project, to be written.
#[derive(Clone, Debug)]
pub struct ProjectFiles {
    /// Path in the folder, with `/`; contents.
    pub files: Vec<(&'static str, String)>,
    /// Samples of the recordings that it plays.
    pub samples: usize,
    /// Number of samples of the self-test among them: each with its decision.
    pub compared: usize,
    /// Recordings: whole windows, or whole series where there are no windows.
    pub recordings: usize,
    /// `true` if the one recording was cut: the flash has no room for a whole window.
    pub cut: bool,
    /// `true` if the recordings are noise, for want of real ones.
    pub noise: bool,
}

/// Lines that follow the report of a decision.
const BELIEF: &str = "\n                report::belief(&decision);";
const BELIEF_TAUGHT: &str = "
                    if let Some(probability) = told.probability {
                        let rejection = told.rejection;
                        report::belief(&fishweir_core::classify::Prediction { decision, probability, rejection });
                    }";

/// Lines of a program that answers a host, before it does.
const BEFORE: &str = "    let (mut stream, meter) = (stream::new(), meter::start());\n";

/// Describes the channels in fixed point.
fn units(model: &FixedPoint) -> String {
    let Observations::Channels(names) = model.observations() else { return String::new() };
    let each = names.iter().zip(model.places());
    let each = each.map(|(name, places)| format!("{} x 2^{places}", name.escape_debug()));
    let all = each.collect::<Vec<_>>().join(", ");
    format!("\n\nChannels are integers of 16 bits, rounded from {all}.")
}

impl Project<'_> {
    /// The project's files. `recordings` are streams with their labels: some of them travel as the self-test
    /// and as what stands for a sensor; without any, noise does.
    ///
    /// # Errors
    /// A name that no package can have; a rate that no timer has; tasks on a board that has no clock for them.
    pub fn files<'s>(
        &self,
        recordings: impl IntoIterator<Item = (SamplesView<'s>, Option<usize>)>,
    ) -> Result<ProjectFiles, ProjectError> {
        self.check_kept()?;
        let board = match self.line() {
            Line::Updates => self.board.with_slots(true)?,
            Line::Lessons => self.board.with_slots(false)?,
            _ => self.board,
        };
        let mut known = self.model.classes().to_vec();
        known.extend(self.lessons.then(|| "taught".to_owned()));
        let (base, alarms) = (self.base(board), alarms(&known, self.alarms, false)?);
        base.check()?;
        base.check_source(self.samples)?;
        let filled = |text: &str| self.filled(&base, &alarms, text);
        let by_host = self.samples == SampleSource::Host;
        let streams = self_test::chosen(self.model, board, recordings);
        let noise = if streams.is_empty() { self_test::noise(self.model) } else { Vec::new() };
        let of_noise: Vec<_> = noise.iter().map(|samples| (samples.view(), None)).collect();
        let chosen = if noise.is_empty() { &streams } else { &of_noise };
        let (self_test, samples, compared) = self_test::source(self.model, chosen);
        let every = self.rate.round().max(1.0) as u64;

        let mut files = base.files(if base.line == Line::None { "none" } else { "pty" });
        files.extend([
            ("Cargo.toml", filled(include_str!("template/manifest.toml"))),
            ("src/board.rs", filled(&board.board_source())),
            ("src/report.rs", self.report(&filled)),
            ("src/self_test.rs", self_test),
            ("src/stream.rs", self_test::stream(self.model, every)),
            ("src/model.rs", self.model.to_source()),
        ]);
        files.extend(match base.line {
            Line::Answers => host_files(board, &filled),
            Line::Updates | Line::Lessons => beside_files(board, self.updates, &filled),
            Line::None | Line::Sends => vec![
                ("README.md", filled(include_str!("template/README.md"))),
                ("src/main.rs", filled(include_str!("template/main.rs"))),
            ],
        });
        if !by_host {
            files.extend(self.sensor_files(board, &filled)?);
        }
        base.check_values(&files)?;
        let recordings = chosen.len();
        let window = self.model.windows().map_or(0, |windows| windows.length as usize);
        let cut = noise.is_empty() && samples < window;
        Ok(ProjectFiles { files, samples, compared, recordings, cut, noise: !noise.is_empty() })
    }

    /// Task of the program at its serial port.
    fn line(&self) -> Line {
        match (self.samples, self.updates) {
            (SampleSource::Host, _) => Line::Answers,
            (SampleSource::Sensor, Some(_)) => Line::Updates,
            (SampleSource::Sensor, None) if self.lessons => Line::Lessons,
            (SampleSource::Sensor, None) => Line::None,
        }
    }

    /// Refuses updates of a model that none replaces, and lessons of one that is taught nothing.
    fn check_kept(&self) -> Result<(), ProjectError> {
        let is_taught = match self.model {
            ProjectModel::F32(model) => model.teaching().is_some(),
            ProjectModel::Q15(_) => false,
        };
        if self.lessons && !is_taught {
            return Err(ProjectError::NoLessons { number: self.model.number() });
        }
        let what = match (self.updates, self.model) {
            (None, _) => None,
            (Some(_), ProjectModel::Q15(_)) => {
                Some("updates are in f32, and it is in q15".to_owned())
            }
            (Some(_), ProjectModel::F32(model)) => model.no_artefact(),
        };
        what.map_or(Ok(()), |what| Err(ProjectError::NoUpdate { what }))
    }

    /// What gives the samples: the sensor's driver, or recordings that stand for it.
    fn sensor_files(
        &self,
        board: &ProjectBoard,
        filled: &dyn Fn(&str) -> String,
    ) -> Result<Vec<(&'static str, String)>, ProjectError> {
        let Some(sensor) = self.sensor else {
            return Ok(vec![("src/sensor.rs", filled(include_str!("template/sensor.rs")))]);
        };
        let places = match self.model {
            ProjectModel::F32(_) => Vec::new(),
            ProjectModel::Q15(model) => model.places().iter().map(|&one| i32::from(one)).collect(),
        };
        let sample = self.model.form().type_name();
        let observed = Observed { sample: &sample, places: &places };
        let mut files = vec![("src/sensor.rs", filled(&sensor.next_source(&observed)?))];
        files.extend(sensor.files(board)?);
        Ok(files)
    }

    fn base(&self, board: &'static ProjectBoard) -> Base<'_> {
        let Self { name, tasks, rate, core, .. } = *self;
        let line = self.line();
        let sensor = self.sensor.filter(|_| line != Line::Answers);
        let (style, pace) = match (tasks, line.is_beside()) {
            (true, _) => (Style::Tasks, Pace::Timed),
            (false, true) => (Style::Future, Pace::Timed),
            (false, false) => (Style::of(false, sensor), Pace::AtOnce),
        };
        let alarm = !self.alarms.is_empty();
        Base { name, board, style, pace, rate, core, alarm, sensor, line }
    }

    /// A template with its names filled in.
    fn filled(&self, base: &Base<'_>, alarms: &Alarms, template: &str) -> String {
        // An update brings no calibration.
        let believed = self.model.confidence().is_some() && self.updates.is_none();
        let cost = self.model.cost();
        let observed = match self.model.observations() {
            Observations::Channels(names) => names.join(", "),
            Observations::Symbols(symbols) => {
                format!("symbols {}, by their number", in_one_line(symbols))
            }
        };
        let (export, number, units) = match self.model {
            ProjectModel::F32(_) => ("fishweir export --rust", "", String::new()),
            ProjectModel::Q15(model) => {
                ("fishweir export --rust --number q15", " --number q15", units(model))
            }
        };
        // In comments and prose: one line whatever is in a name.
        let classes: Vec<String> =
            self.model.classes().iter().map(|name| name.escape_debug().to_string()).collect();
        let windows = match self.model.windows() {
            Some(windows) => {
                format!("{} samples, one every {}", windows.length, windows.hop)
            }
            None => "none, it decides on whole series".to_owned(),
        };
        let features = if self.model.is_of_sound() { ", features = [\"microfft\"]" } else { "" };
        let call = base.call("classify_stream");
        let list = classes.join(", ");
        let task = format!(
            "Decides on the samples that a host sends over a serial port, between {list}: {}",
            self.model.observations()
        );
        let is_taught = self.lessons;
        let [beside, kept] = match is_taught {
            true => ["is taught further classes", "taught classes"],
            false => ["takes new models", "new models"],
        };
        let every = self.rate.round().max(1.0) as u64;
        let mut names = base.names();
        names.extend([
            ("{{beside}}", beside.to_owned()),
            ("{{kept}}", kept.to_owned()),
            ("{{every}}", every.to_string()),
            (
                "{{calibration}}",
                if believed { "Some(model::CALIBRATION)" } else { "None" }.to_owned(),
            ),
            (
                "{{raised}}",
                if is_taught {
                    "decision.class.min(model::CLASSES.len())"
                } else {
                    "decision.class"
                }
                .to_owned(),
            ),
            (
                "{{application}}",
                format!("use fishweir_device::applications::classify_stream::{call};"),
            ),
            ("{{before}}", BEFORE.to_owned()),
            ("{{begin}}", String::new()),
            ("{{serve}}", format!("{call}(&mut line, &mut stream, &meter){}", base.awaited())),
            ("{{task}}", task),
            ("{{checker}}", "`fishweir run --port`".to_owned()),
            ("{{check}}", format!("fishweir run DATA --model MODEL{number}")),
            ("{{stream}}", format!("the model on the windows of its training: {windows}")),
            ("{{hertz}}", base.hertz()),
            ("{{core}}", base.libraries(features)),
            ("{{alarm_names}}", alarms.names.clone()),
            ("{{alarms}}", alarms.indices.clone()),
            (
                "{{is_sure}}",
                match (believed, is_taught) {
                    (true, false) => "decision.rejection.is_none() && ",
                    (true, true) => "told.rejection.is_none() && ",
                    (false, _) => "",
                }
                .to_owned(),
            ),
            ("{{more_packages}}", base.more_packages()),
            ("{{decision}}", if believed { "decision.decision" } else { "decision" }.to_owned()),
            (
                "{{belief}}",
                match (believed, is_taught) {
                    (true, false) => BELIEF,
                    (true, true) => BELIEF_TAUGHT,
                    (false, _) => "",
                }
                .to_owned(),
            ),
            ("{{windows}}", windows),
            ("{{classes}}", list),
            ("{{observed}}", observed),
            ("{{units}}", units),
            ("{{export}}", export.to_owned()),
            ("{{model}}", self.model.observations().to_string()),
            ("{{flash}}", grouped(cost.model_bytes)),
            ("{{ram}}", grouped(cost.state_bytes)),
        ]);
        fill(&base.select(template), &names)
    }

    /// `report.rs`, with how far decisions are to be believed where the model says so.
    fn report(&self, filled: &dyn Fn(&str) -> String) -> String {
        let report = filled(self.board.platform.report());
        if self.model.confidence().is_none() || self.updates.is_some() {
            return report;
        }
        let belief = match self.board.platform.is_emulated() {
            true => include_str!("template/belief_semihosting.rs"),
            false => include_str!("template/belief_defmt.rs"),
        };
        let used = "use fishweir_core::classify::{Prediction, Decision, RejectionReason};";
        report.replace("use fishweir_core::classify::Decision;", used)
            + belief
            + include_str!("template/belief.rs")
    }
}
