//! Differences between kinds of boards, and between the styles of programs.

use super::Sensor;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Platform {
    EmulatedArm,
    EmulatedRiscv,
    EmbassyArm,
    Esp,
}

/// Style of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// One loop that waits.
    Loop,
    /// Tasks on an executor.
    Tasks,
    /// One future without an executor.
    Future,
}

impl Style {
    /// Style of a program with a sensor, which may have to be waited for.
    pub(super) fn of(tasks: bool, sensor: Option<&Sensor>) -> Self {
        match tasks {
            true => Self::Tasks,
            false if sensor.is_some_and(Sensor::is_heard) => Self::Future,
            false => Self::Loop,
        }
    }
}

/// Pace of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// A sample is due at its time.
    Timed,
    /// Emulated boards play what is there without waiting.
    AtOnce,
}

/// Values of the templates' names.
#[derive(Default)]
pub(super) struct Parts {
    /// The attribute of `main`, imported as `entry`.
    pub(super) entry: &'static str,
    pub(super) main: &'static str,
    /// Import of the clock.
    pub(super) clock: &'static str,
    /// Fields of `Board`: the time of the next sample; its first value; the wait for it.
    pub(super) pace: &'static str,
    pub(super) pace_start: &'static str,
    pub(super) wait: &'static str,
    /// `true` if samples wait for their time.
    pub(super) is_paced: bool,
    /// Lines before the first wait.
    pub(super) executor: &'static str,
    /// What the core does until something happens; nothing in a program with an executor, or that does not wait.
    pub(super) idle: Option<&'static str>,
    /// Section of memory that outlives a reset, and the handler of a refused instruction.
    pub(super) uninit: &'static str,
    pub(super) exception: &'static str,
    /// The function that begins the program anew, of an emulated board.
    pub(super) reset: &'static str,
    /// Lines of TOML.
    pub(super) dependencies: String,
}

const LOOP: &str = "fn main() -> !";
const TASKS: &str = "async fn main(_spawner: embassy_executor::Spawner) -> !";
const ARM_UNINIT: &str = "#[unsafe(link_section = \".uninit.FAULT\")]";
const ESP_UNINIT: &str = "#[unsafe(link_section = \".rtc_fast.persistent.FAULT\")]";
const ARM_EXCEPTION: &str = include_str!("template/exception_arm.rs");
const RISCV_EXCEPTION: &str = include_str!("template/exception_riscv.rs");

/// A clock that wakes futures, with an executor and without.
const TIMED: &str = "embassy-time = \"0.5.1\"\n";
const TIMED_ALONE: &str = "\
critical-section = \"1.2.0\"
embassy-time = { version = \"0.5.1\", features = [\"generic-queue-8\"] }
";
const SECTION: &str = "critical-section = \"1.2.0\"\n";
const LOG: &str = "\
defmt = \"1.0.1\"
defmt-rtt = \"1.3.1\"
";

impl Platform {
    /// Platforms by the names that `board.toml` has for them.
    pub(super) const NAMES: [(&str, Self); 4] = [
        ("emulated-arm", Self::EmulatedArm),
        ("emulated-riscv", Self::EmulatedRiscv),
        ("embassy-arm", Self::EmbassyArm),
        ("esp", Self::Esp),
    ];

    /// The platform of a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(one, _)| *one == name).map(|&(_, platform)| platform)
    }

    pub(super) fn is_emulated(self) -> bool {
        matches!(self, Self::EmulatedArm | Self::EmulatedRiscv)
    }

    /// Template of the module that reports.
    pub(super) fn report(self) -> &'static str {
        if self.is_emulated() {
            include_str!("template/report_semihosting.rs")
        } else {
            include_str!("template/report_defmt.rs")
        }
    }

    /// Template of the report of a fault.
    pub(super) fn report_fault(self) -> &'static str {
        if self.is_emulated() {
            include_str!("template/report_fault_semihosting.rs")
        } else {
            include_str!("template/report_fault_defmt.rs")
        }
    }

    pub(super) fn parts(self, style: Style, pace: Pace) -> Parts {
        match self {
            Self::EmulatedArm => Parts {
                entry: "pub use cortex_m_rt::entry;",
                uninit: ARM_UNINIT,
                exception: ARM_EXCEPTION,
                reset: include_str!("template/reset_arm.rs"),
                ..Self::emulated(style, pace)
            },
            Self::EmulatedRiscv => Parts {
                entry: "pub use riscv_rt::entry;",
                uninit: ARM_UNINIT,
                exception: RISCV_EXCEPTION,
                reset: include_str!("template/reset_riscv.rs"),
                ..Self::emulated(style, pace)
            },
            Self::EmbassyArm => {
                const EXECUTOR: &str = "embassy-executor = { version = \"0.10.0\", features = [\"executor-thread\", \
                     \"platform-cortex-m\"] }\n";
                let own = if style == Style::Tasks { EXECUTOR } else { "" };
                let real = Self::real(style);
                Parts {
                    entry: match style {
                        Style::Tasks => "pub use embassy_executor::main as entry;",
                        _ => "pub use cortex_m_rt::entry;",
                    },
                    idle: real.idle.and(Some("cortex_m::asm::wfi()")),
                    uninit: ARM_UNINIT,
                    exception: ARM_EXCEPTION,
                    dependencies: [
                        "cortex-m-rt = \"0.7.7\"\n",
                        LOG,
                        own,
                        real.dependencies.as_str(),
                    ]
                    .concat(),
                    ..real
                }
            }
            Self::Esp => {
                let own =
                    if style == Style::Tasks { "embassy-executor = \"0.10.0\"\n" } else { "" };
                let real = Self::real(style);
                Parts {
                    entry: match style {
                        Style::Tasks => "pub use esp_rtos::main as entry;",
                        _ => "pub use esp_hal::main as entry;",
                    },
                    idle: real.idle.and(Some("esp_hal::interrupt::wait_for_interrupt()")),
                    executor: include_str!("template/executor_esp.rs"),
                    uninit: ESP_UNINIT,
                    dependencies: [LOG, own, real.dependencies.as_str()].concat(),
                    ..real
                }
            }
        }
    }

    /// What all emulated boards have: no clock of their own, and nothing that wakes them.
    fn emulated(style: Style, pace: Pace) -> Parts {
        let (wait, is_paced) = match (style, pace) {
            (Style::Future, _) => (include_str!("template/wait_machine_async.rs"), true),
            (_, Pace::Timed) => (include_str!("template/wait_machine.rs"), true),
            (_, Pace::AtOnce) => (include_str!("template/wait_never.rs"), false),
        };
        let is_future = style == Style::Future;
        Parts {
            main: LOOP,
            wait,
            is_paced,
            idle: is_future.then_some("core::hint::spin_loop()"),
            dependencies: if is_future { SECTION.to_owned() } else { String::new() },
            ..Parts::default()
        }
    }

    /// What all real boards have.
    fn real(style: Style) -> Parts {
        let in_loop = style == Style::Loop;
        Parts {
            main: if style == Style::Tasks { TASKS } else { LOOP },
            clock: match in_loop {
                true => "use embassy_time::{Duration, Instant, Timer};",
                false => "use embassy_time::{Duration, Ticker, with_timeout};",
            },
            pace: if in_loop { "due: Instant," } else { "ticker: Ticker," },
            pace_start: if in_loop {
                "due: Instant::now(),"
            } else {
                "ticker: Ticker::every(PERIOD),"
            },
            wait: match in_loop {
                true => include_str!("template/wait.rs"),
                false => include_str!("template/wait_async.rs"),
            },
            is_paced: true,
            idle: (style != Style::Tasks).then_some(""),
            dependencies: if style == Style::Tasks { TIMED } else { TIMED_ALONE }.to_owned(),
            ..Parts::default()
        }
    }
}
