//! What every project has: a package for a board, with its settings and its reports of faults.

use super::board::{ProjectBoard, Start};
use super::line::Line;
use super::platform::{Pace, Parts, Style};
use super::sensor::Sensor;
use super::template::{MODULES, fill, select};
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
    pub(super) style: Style,
    pub(super) pace: Pace,
    pub(super) rate: f64,
    pub(super) core: CoreSource,
    /// `true` if the program has a pin for alarms.
    pub(super) alarm: bool,
    /// The sensor, in place of recordings.
    pub(super) sensor: Option<&'a Sensor>,
    /// The serial port.
    pub(super) line: Line,
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
        if self.style == Style::Tasks && self.board.platform.is_emulated() {
            return Err(ProjectError::NoClock { board: self.board.name });
        }
        Ok(())
    }

    /// Refuses a program that waits for a host on a board whose watchdog it could not feed meanwhile.
    pub(super) fn check_source(&self, samples: SampleSource) -> Result<(), ProjectError> {
        let in_tasks = self.style == Style::Tasks || self.board.is_emulated();
        if samples == SampleSource::Host && !in_tasks {
            return Err(ProjectError::NeedsTasks { board: self.board.name });
        }
        Ok(())
    }

    /// Name of an application's function in the style of the program.
    pub(super) fn call(&self, application: &str) -> String {
        match self.style {
            Style::Tasks => format!("{application}_async"),
            _ => application.to_owned(),
        }
    }

    /// The end of a call of it.
    pub(super) fn awaited(&self) -> &'static str {
        if self.style == Style::Loop { "" } else { ".await" }
    }

    fn parts(&self) -> Parts {
        self.board.platform.parts(self.style, self.pace)
    }

    /// A template with the lines that this program has.
    pub(super) fn select(&self, template: &str) -> String {
        let (parts, line) = (self.parts(), self.line);
        let waits = parts.idle.is_some();
        let marks = [
            ("alarm", self.alarm),
            ("paced", parts.is_paced),
            ("sleep", waits),
            ("block", waits && self.style == Style::Loop),
            ("polled", self.style == Style::Future),
            ("attended", line == Line::Answers),
            ("sensed", line != Line::Answers),
            ("line", line != Line::None),
            ("model", line != Line::Sends),
            ("slots", line.is_beside()),
            ("updates", line == Line::Updates),
            ("lessons", line == Line::Lessons),
            ("button", line == Line::Lessons && self.board.has_button()),
            ("driver", self.sensor.is_some()),
            ("bus", self.sensor.is_some_and(Sensor::has_bus)),
            ("heard", self.is_heard()),
            ("played", self.sensor.is_none()),
            ("copied", self.board.has_copy()),
            ("mapped", !self.board.has_copy()),
        ];
        select(&template.replace("{{modules}}", MODULES), &marks)
    }

    /// Returns whether a microphone says when a sample is due.
    fn is_heard(&self) -> bool {
        self.sensor.is_some_and(Sensor::is_heard)
    }

    /// The last line of `main`.
    fn run(&self) -> String {
        let program = if self.is_heard() { "driver::beside(run(board))" } else { "run(board)" };
        match self.style {
            Style::Loop => program.to_owned(),
            Style::Tasks => format!("{program}.await"),
            Style::Future => format!("sleep::block_on({program})"),
        }
    }

    /// Clocks per second, as a number of Rust.
    pub(super) fn hertz(&self) -> String {
        grouped(self.board.clock.hertz as usize).replace(' ', "_")
    }

    /// The libraries of a program with a model: lines of TOML. `features` of the core begin with a comma.
    pub(super) fn libraries(&self, features: &str) -> String {
        let (has_line, is_beside) = (self.line != Line::None, self.line.is_beside());
        let core = self.library("core");
        let mut lines = format!("fishweir-core = {{ {core}, default-features = false{features} }}");
        let in_loop = self.style == Style::Loop;
        let mut own: Vec<&str> = Vec::new();
        if self.line == Line::Answers && self.style == Style::Tasks {
            own.push("\"async\"");
        }
        if self.line == Line::Updates {
            own.push("\"ed25519\"");
        }
        if has_line || self.alarm {
            let device = self.library("firmware/device");
            let own = match own.is_empty() {
                true => String::new(),
                false => format!(", features = [{}]", own.join(", ")),
            };
            lines += &format!("\nfishweir-device = {{ {device}{own} }}");
        }
        if is_beside && self.board.is_emulated() {
            lines += "\nembedded-io = \"0.7\"";
        }
        if has_line {
            lines +=
                if in_loop { "\nembedded-io = \"0.7\"" } else { "\nembedded-io-async = \"0.7\"" };
        }
        if is_beside || self.is_heard() {
            lines += "\nembassy-futures = \"0.1\"";
        }
        if is_beside {
            lines += "\nembedded-storage = \"0.3\"";
        }
        if self.alarm && self.board.is_emulated() {
            lines += "\nembedded-hal = \"1.0\"";
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
            ("src/start.rs", self.select(include_str!("template/start.rs"))),
        ];
        let script = self.board.linker_script;
        files.extend(script.map(|script| ("memory.x", script.to_owned())));
        if self.parts().idle.is_some() {
            files.push(("src/sleep.rs", fill(include_str!("template/sleep.rs"), &names)));
        }
        files
    }

    /// Packages of what keeps models that come over a line, and of the sensor.
    pub(super) fn more_packages(&self) -> String {
        let update = self.board.update.as_ref().filter(|_| self.line.is_beside());
        let flash = update.map_or("", |(_, update)| &*update.packages);
        [flash, self.sensor.map_or("", Sensor::package)].concat()
    }

    /// Refuses a board whose sources ask for a value that it does not have.
    pub(super) fn check_values(
        &self,
        files: &[(&'static str, String)],
    ) -> Result<(), ProjectError> {
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
        };
        for (_, text) in files.iter().filter(|(path, _)| path.ends_with(".rs")) {
            let mut left = text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}"));
            if let Some((name, _)) = left.find(|(name, _)| is_name(name)) {
                return Err(ProjectError::Value { board: self.board.name, name: name.to_owned() });
            }
        }
        Ok(())
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
        let parts = self.parts();
        let period = format!("{}", (1e6 / self.rate).round() as u64);
        let period_ns = format!("{}", (1e9 / self.rate).round() as u64);
        let memory =
            if board.linker_script.is_some() { include_str!("template/memory.rs") } else { "" };
        let link: Vec<String> = board.link.iter().map(|argument| format!("{argument:?}")).collect();
        let (once, runs) = board.how_to_run();
        let watchdog = if board.platform.is_emulated() {
            ""
        } else {
            " A watchdog resets a\nprogram that stands still for two seconds; `Board::wait` feeds it."
        };
        let [owner, owned, last] = match self.line {
            Line::Answers => ["board: Board, ", "board, ", ", board"],
            _ => [""; 3],
        };
        let texts = [
            ("{{report_fault}}", board.platform.report_fault().trim_end()),
            ("{{exception}}", parts.exception),
            ("{{wait}}", parts.wait),
            ("{{uninit}}", parts.uninit),
            ("{{reset}}", parts.reset),
            ("{{idle}}", parts.idle.unwrap_or("")),
            ("{{main}}", parts.main),
            ("{{await}}", self.awaited()),
            ("{{clock}}", parts.clock),
            ("{{entry_use}}", parts.entry),
            ("{{executor}}", parts.executor),
            ("{{pace_field}}", parts.pace),
            ("{{pace_start}}", parts.pace_start),
            ("{{period}}", &period),
            ("{{period_ns}}", &period_ns),
            ("{{name}}", self.name),
            ("{{title}}", board.title),
            ("{{board}}", board.title),
            ("{{target}}", board.target),
            ("{{memory}}", memory),
            ("{{once}}", &once),
            ("{{runs}}", &runs),
            ("{{watchdog}}", watchdog),
            ("{{owner}}", owner),
            ("{{owned}}", owned),
            ("{{owned_last}}", last),
        ];
        let mut names = texts.map(|(name, text)| (name, text.to_owned())).to_vec();
        let (host_runs, port) = match board.is_emulated() {
            true => (RUNS_WITH_PORT, "/dev/pts/N"),
            false => (runs.as_str(), "/dev/ttyACM0"),
        };
        let [due, pause] = match self.is_heard() {
            true => ["sensor.wait()", "sensor.wait().await;\n            board.feed()"],
            false => [
                "board.wait()",
                if self.style == Style::Loop { "board.wait()" } else { "board.wait().await" },
            ],
        };
        names.push(("{{due}}", due.to_owned()));
        names.push(("{{pause}}", pause.to_owned()));
        names.push(("{{run}}", self.run()));
        names.push(("{{async}}", if self.style == Style::Loop { "" } else { "async " }.to_owned()));
        names.push(("{{host_runs}}", host_runs.to_owned()));
        names.push(("{{port_name}}", port.to_owned()));
        let role = match self.sensor {
            Some(sensor) if sensor.has_bus() => {
                "the sensor, by the driver in `src/driver.rs` on the bus of `src/bus.rs`"
            }
            Some(_) => "the sensor, by the driver in `src/driver.rs`",
            None => "stands for a sensor: replace it",
        };
        names.push(("{{sensor_role}}", role.to_owned()));
        names.push(("{{baud}}", grouped(Port::BAUD as usize)));
        names.push(("{{rate}}", rate_words(1.0 / self.rate)));
        names.push(("{{link}}", link.join(", ")));
        names.push(("{{dependencies}}", [board.dependencies, &parts.dependencies].concat()));
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
