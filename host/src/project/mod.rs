//! Firmware projects: a folder that builds alone, with the model, the board and a self-test in it.
//!
//! | what | where |
//! |---|---|
//! | the boards | `board.rs` |
//! | what their parts draw | `power.rs` |
//! | the model, in either format | `model.rs` |
//! | whether a board's memories hold an image | `room.rs` |
//! | what kinds of boards, and the two styles, differ in | `platform.rs` |
//! | samples and the bits of the decisions on them | `self_test.rs` |
//! | what is written, with `{{names}}` for what differs | `template/` |

mod board;
mod error;
mod model;
mod platform;
mod power;
mod room;
mod self_test;

pub use board::{PROJECT_BOARDS, ProjectBoard, Start};
pub use error::ProjectError;
pub use model::ProjectModel;
pub use power::Power;
pub use room::Room;

use crate::classifier::Observations;
use crate::data::internals::in_one_line;
use crate::data::{SamplesView, rate_words};
use crate::deploy::FixedPoint;
use crate::device::Board;
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
    /// The classifier.
    pub model: ProjectModel<'a>,
    /// Samples per second.
    pub rate: f64,
    /// Source of the core.
    pub core: CoreSource,
}

/// Source of a project's `fishweir-core`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreSource {
    /// A registry, by this program's version.
    Registry,
    /// `vendor/core` in the project: the caller puts it there.
    Vendored,
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

/// Samples a second that are waited for, from the least to the most: one a day, and what a timer of a microsecond tells
/// apart.
pub(crate) const RATES: [f64; 2] = [1.0 / 86_400.0, 1e5];

/// Refuses a rate of samples that no project has.
///
/// # Errors
/// [`ProjectError::Rate`], unless it is from one a day to 100 000 a second.
pub fn check_rate(rate: f64) -> Result<(), ProjectError> {
    if (RATES[0]..=RATES[1]).contains(&rate) { Ok(()) } else { Err(ProjectError::Rate { rate }) }
}

/// Lines that follow the report of a decision.
const BELIEF: &str = "\n                report::belief(&decision);";

/// Describes the channels in fixed point.
fn units(model: &FixedPoint) -> String {
    let Observations::Channels(names) = model.observations() else { return String::new() };
    let each = names.iter().zip(model.places());
    let each = each.map(|(name, places)| format!("{} x 2^{places}", name.escape_debug()));
    let all = each.collect::<Vec<_>>().join(", ");
    format!("\n\nChannels are integers of 16 bits, rounded from {all}.")
}

/// Names that cargo, the language's own crates or the crates that come along have already.
const TAKEN: [&str; 12] = [
    "alloc",
    "build",
    "core",
    "deps",
    "examples",
    "fishweir",
    "fishweir-core",
    "fishweir-device",
    "incremental",
    "proc_macro",
    "std",
    "test",
];

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
        let board = self.board;
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !self.name.starts_with(|c: char| c.is_ascii_alphabetic())
            || !self.name.chars().all(fits)
            || TAKEN.contains(&self.name)
        {
            return Err(ProjectError::Name { name: self.name.to_owned() });
        }
        check_rate(self.rate)?;
        if self.tasks && board.platform.is_emulated() {
            return Err(ProjectError::NoClock { board: board.name });
        }
        let [flash, _] = board.memories();
        let streams = self_test::chosen(self.model, flash, recordings);
        let noise = if streams.is_empty() { self_test::noise(self.model) } else { Vec::new() };
        let of_noise: Vec<_> = noise.iter().map(|samples| (samples.view(), None)).collect();
        let chosen = if noise.is_empty() { &streams } else { &of_noise };
        let (self_test, samples, compared) = self_test::source(self.model, chosen);
        let every = self.rate.round().max(1.0) as u64;

        let mut files = vec![
            ("Cargo.toml", self.filled(include_str!("template/manifest.toml"))),
            ("README.md", self.filled(include_str!("template/README.md"))),
            ("build.rs", self.filled(include_str!("template/build.rs"))),
            (".cargo/config.toml", self.cargo_settings()),
            (".gitignore", "/target\n".to_owned()),
            ("src/main.rs", self.filled(include_str!("template/main.rs"))),
            ("src/board.rs", self.filled(board.source)),
            ("src/fault.rs", self.filled(include_str!("template/fault.rs"))),
            ("src/report.rs", self.report()),
            ("src/sensor.rs", self.filled(include_str!("template/sensor.rs"))),
            ("src/self_test.rs", self_test),
            ("src/stream.rs", self_test::stream(self.model, every)),
            ("src/model.rs", self.model.to_source()),
        ];
        files.extend(board.linker_script().map(|script| ("memory.x", script)));
        let recordings = chosen.len();
        let window = self.model.windows().map_or(0, |windows| windows.length as usize);
        let cut = noise.is_empty() && samples < window;
        Ok(ProjectFiles { files, samples, compared, recordings, cut, noise: !noise.is_empty() })
    }

    /// A template with its names filled in.
    fn filled(&self, template: &str) -> String {
        let (board, believed) = (self.board, self.model.confidence().is_some());
        let parts = board.platform.parts(self.tasks);
        let cost = self.model.cost();
        let observed = match self.model.observations() {
            Observations::Channels(names) => names.join(", "),
            Observations::Symbols(symbols) => {
                format!("symbols {}, by their number", in_one_line(symbols))
            }
        };
        let (export, units) = match self.model {
            ProjectModel::F32(_) => ("fishweir export --rust", String::new()),
            ProjectModel::Q15(model) => ("fishweir export --rust --number q15", units(model)),
        };
        // In comments and prose: one line whatever is in a name.
        let classes: Vec<String> =
            self.model.classes().iter().map(|name| name.escape_debug().to_string()).collect();
        let classes = classes.join(", ");
        let period = format!("{}", (1e6 / self.rate).round() as u64);
        let windows = match self.model.windows() {
            Some(windows) => {
                format!("{} samples, a new one every {}", windows.length, windows.hop)
            }
            None => "none, it decides on whole series".to_owned(),
        };
        let memory = if board.memory_is_told { include_str!("template/memory.rs") } else { "" };
        let link: Vec<String> = board.link.iter().map(|argument| format!("{argument:?}")).collect();
        let core = match self.core {
            CoreSource::Registry => format!("version = \"={}\"", env!("CARGO_PKG_VERSION")),
            CoreSource::Vendored => "path = \"vendor/core\"".to_owned(),
        };
        let features = if self.model.is_of_sound() { ", features = [\"microfft\"]" } else { "" };
        let (once, runs) = board.how_to_run();
        let names = [
            ("{{exception}}", parts.exception),
            ("{{wait}}", parts.wait),
            ("{{uninit}}", parts.uninit),
            ("{{main}}", parts.main),
            ("{{decision}}", if believed { "decision.decision" } else { "decision" }),
            ("{{belief}}", if believed { BELIEF } else { "" }),
            ("{{await}}", if self.tasks { ".await" } else { "" }),
            ("{{clock}}", parts.clock),
            ("{{entry_use}}", parts.entry),
            ("{{executor}}", parts.executor),
            ("{{pace_field}}", parts.pace),
            ("{{pace_start}}", parts.pace_start),
            ("{{period}}", &period),
            ("{{rate}}", &rate_words(1.0 / self.rate)),
            ("{{windows}}", &windows),
            ("{{name}}", self.name),
            ("{{title}}", board.title),
            ("{{board}}", board.title),
            ("{{target}}", board.target),
            ("{{classes}}", &classes),
            ("{{observed}}", &observed),
            ("{{units}}", &units),
            ("{{export}}", export),
            ("{{model}}", &self.model.observations().to_string()),
            ("{{flash}}", &grouped(cost.model_bytes)),
            ("{{ram}}", &grouped(cost.state_bytes)),
            ("{{memory}}", memory),
            ("{{link}}", &link.join(", ")),
            (
                "{{core}}",
                &format!("fishweir-core = {{ {core}, default-features = false{features} }}"),
            ),
            ("{{dependencies}}", &format!("{}{}", board.dependencies, parts.dependencies)),
            ("{{once}}", once),
            ("{{runs}}", &runs),
            (
                "{{watchdog}}",
                if board.platform.is_emulated() {
                    ""
                } else {
                    " A watchdog resets a\nprogram that stands still for two seconds; `Board::wait` feeds it."
                },
            ),
        ];
        names.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    /// `report.rs`, with how far decisions are to be believed where the model says so.
    fn report(&self) -> String {
        let report = self.filled(self.board.platform.report());
        if self.model.confidence().is_none() {
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

    fn cargo_settings(&self) -> String {
        let board = self.board;
        let runner: Vec<String> = match board.start {
            Start::Emulated => Board::named(board.name)
                .map(|board| {
                    let mut command: Vec<String> =
                        board.command().into_iter().map(str::to_owned).collect();
                    let ours = [
                        "-display",
                        "none",
                        "-monitor",
                        "none",
                        "-serial",
                        "none",
                        "-semihosting-config",
                        "enable=on,target=native",
                        "-kernel",
                    ];
                    command.extend(ours.map(str::to_owned));
                    command
                })
                .unwrap_or_default(),
            Start::Probe(chip) => ["probe-rs", "run", "--chip", chip].map(str::to_owned).to_vec(),
        };
        let log = if board.platform.is_emulated() { "" } else { "\n[env]\nDEFMT_LOG = \"info\"\n" };
        format!(
            "[build]\ntarget = {0:?}\n\n# What starts an image.\n[target.'cfg(target_os = \"none\")']\nrunner = {1:?}\n\n\
             [alias]\nimage = \"build --release\"\nstart = \"run --release\"\n{log}",
            board.target, runner
        )
    }
}
