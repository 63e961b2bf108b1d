//! What every project has: a package for a board, with its settings and its reports of faults.

use super::ProjectError;
use super::board::{ProjectBoard, Start};
use crate::data::rate_words;
use crate::device::{Board, Port};
use crate::report::grouped;

/// Source of a project's `fishweir-core`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreSource {
    /// A registry, by this program's version.
    Registry,
    /// `vendor/core` in the project: the caller puts it there.
    Vendored,
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

/// What happens to the image of an emulated board with a serial port.
const RUNS_WITH_PORT: &str = "\
builds the image and runs it under QEMU, whose serial port is a terminal of this machine. QEMU says which, `/dev/pts/N`, and
runs until it is ended.";

/// What every project has.
pub(super) struct Base<'a> {
    pub(super) name: &'a str,
    pub(super) board: &'static ProjectBoard,
    pub(super) tasks: bool,
    pub(super) rate: f64,
    pub(super) core: CoreSource,
}

/// A template with its names filled in.
pub(super) fn fill(template: &str, names: &[(&str, String)]) -> String {
    names.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
}

impl Base<'_> {
    /// Refuses a name that no package can have, a rate that no timer has, tasks on a board that has no clock for them.
    pub(super) fn check(&self) -> Result<(), ProjectError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !self.name.starts_with(|c: char| c.is_ascii_alphabetic())
            || !self.name.chars().all(fits)
            || TAKEN.contains(&self.name)
        {
            return Err(ProjectError::Name { name: self.name.to_owned() });
        }
        check_rate(self.rate)?;
        if self.tasks && self.board.platform.is_emulated() {
            return Err(ProjectError::NoClock { board: self.board.name });
        }
        Ok(())
    }

    /// The files that are alike in all projects; an emulated board has its serial port at `serial`.
    pub(super) fn files(&self, serial: &str) -> Vec<(&'static str, String)> {
        let names = self.names();
        let mut files = vec![
            ("build.rs", fill(include_str!("template/build.rs"), &names)),
            (".cargo/config.toml", self.cargo_settings(serial)),
            (".gitignore", "/target\n".to_owned()),
            ("src/fault.rs", fill(include_str!("template/fault.rs"), &names)),
        ];
        files.extend(self.board.linker_script().map(|script| ("memory.x", script)));
        files
    }

    /// Where cargo finds one of the libraries: the fields of a dependency.
    pub(super) fn library(&self, folder: &str) -> String {
        match self.core {
            CoreSource::Registry => format!("version = \"={}\"", env!("CARGO_PKG_VERSION")),
            CoreSource::Vendored => format!("path = \"vendor/{folder}\""),
        }
    }

    /// Values of the templates' names, as far as all projects have them.
    pub(super) fn names(&self) -> Vec<(&'static str, String)> {
        let board = self.board;
        let parts = board.platform.parts(self.tasks);
        let period = format!("{}", (1e6 / self.rate).round() as u64);
        let memory = if board.memory_is_told { include_str!("template/memory.rs") } else { "" };
        let link: Vec<String> = board.link.iter().map(|argument| format!("{argument:?}")).collect();
        let (once, runs) = board.how_to_run();
        let watchdog = if board.platform.is_emulated() {
            ""
        } else {
            " A watchdog resets a\nprogram that stands still for two seconds; `Board::wait` feeds it."
        };
        let texts = [
            ("{{report_fault}}", board.platform.report_fault().trim_end()),
            ("{{exception}}", parts.exception),
            ("{{wait}}", parts.wait),
            ("{{uninit}}", parts.uninit),
            ("{{main}}", parts.main),
            ("{{await}}", if self.tasks { ".await" } else { "" }),
            ("{{clock}}", parts.clock),
            ("{{entry_use}}", parts.entry),
            ("{{executor}}", parts.executor),
            ("{{pace_field}}", parts.pace),
            ("{{pace_start}}", parts.pace_start),
            ("{{period}}", &period),
            ("{{name}}", self.name),
            ("{{title}}", board.title),
            ("{{board}}", board.title),
            ("{{target}}", board.target),
            ("{{memory}}", memory),
            ("{{once}}", once),
            ("{{runs}}", &runs),
            ("{{watchdog}}", watchdog),
        ];
        let mut names = texts.map(|(name, text)| (name, text.to_owned())).to_vec();
        let (host_runs, port) = match board.is_emulated() {
            true => (RUNS_WITH_PORT, "/dev/pts/N"),
            false => (runs.as_str(), "/dev/ttyACM0"),
        };
        names.push(("{{host_runs}}", host_runs.to_owned()));
        names.push(("{{port_name}}", port.to_owned()));
        names.push(("{{baud}}", grouped(Port::BAUD as usize)));
        names.push(("{{rate}}", rate_words(1.0 / self.rate)));
        names.push(("{{link}}", link.join(", ")));
        names.push(("{{dependencies}}", format!("{}{}", board.dependencies, parts.dependencies)));
        names
    }

    /// `.cargo/config.toml`.
    fn cargo_settings(&self, serial: &str) -> String {
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
                        serial,
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
