//! What every project has: a package for a board, with its settings and its reports of faults.

use super::board::{ProjectBoard, Start};
use super::template::fill;
use super::{ProjectError, SampleSource};
use crate::data::rate_words;
use crate::device::Port;
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

    /// Refuses a program that waits for a host on a board whose watchdog it could not feed meanwhile.
    pub(super) fn check_source(&self, samples: SampleSource) -> Result<(), ProjectError> {
        if samples == SampleSource::Host && !self.tasks && !self.board.is_emulated() {
            return Err(ProjectError::NeedsTasks { board: self.board.name });
        }
        Ok(())
    }

    /// Name of an application's function in the style of the program.
    pub(super) fn call(&self, application: &str) -> String {
        if self.tasks { format!("{application}_async") } else { application.to_owned() }
    }

    /// The end of a call of it.
    pub(super) fn awaited(&self) -> &'static str {
        if self.tasks { ".await" } else { "" }
    }

    /// Clocks per second, as a number of Rust.
    pub(super) fn hertz(&self) -> String {
        grouped(self.board.clock.hertz as usize).replace(' ', "_")
    }

    /// The libraries of a program with a model: lines of TOML. `features` of the core begin with a comma.
    pub(super) fn libraries(&self, features: &str, samples: SampleSource) -> String {
        let core = self.library("core");
        let mut lines = format!("fishweir-core = {{ {core}, default-features = false{features} }}");
        if samples == SampleSource::Host {
            let (name, own) = match self.tasks {
                true => ("embedded-io-async", ", features = [\"async\"]"),
                false => ("embedded-io", ""),
            };
            let device = self.library("firmware/device");
            lines += &format!("\n{name} = \"0.7\"\nfishweir-device = {{ {device}{own} }}");
        }
        lines
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
        let script = self.board.linker_script;
        files.extend(script.map(|script| ("memory.x", script.to_owned())));
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
        let memory =
            if board.linker_script.is_some() { include_str!("template/memory.rs") } else { "" };
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
            ("{{await}}", self.awaited()),
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
            ("{{once}}", &once),
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
        let tasks = if self.tasks { board.task_dependencies } else { "" };
        let dependencies = [board.dependencies, parts.dependencies, tasks].concat();
        names.push(("{{dependencies}}", dependencies));
        names
    }

    /// `.cargo/config.toml`.
    fn cargo_settings(&self, serial: &str) -> String {
        let board = self.board;
        let runner: Vec<&str> = match board.start {
            Start::Emulated => {
                const OURS: [&str; 6] = [
                    "-display",
                    "none",
                    "-monitor",
                    "none",
                    "-semihosting-config",
                    "enable=on,target=native",
                ];
                let mut command =
                    board.emulator.map(|emulator| emulator.command()).unwrap_or_default();
                command.extend(OURS);
                command.extend(["-serial", serial, "-kernel"]);
                command
            }
            Start::Probe(chip) => vec!["probe-rs", "run", "--chip", chip],
        };
        let log = if board.platform.is_emulated() { "" } else { "\n[env]\nDEFMT_LOG = \"info\"\n" };
        format!(
            "[build]\ntarget = {0:?}\n\n# What starts an image.\n[target.'cfg(target_os = \"none\")']\nrunner = {1:?}\n\n\
             [alias]\nimage = \"build --release\"\nstart = \"run --release\"\n{log}",
            board.target, runner
        )
    }
}
