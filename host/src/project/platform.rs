//! Differences between kinds of boards, and between programs with one loop and with tasks.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Platform {
    EmulatedArm,
    EmulatedRiscv,
    EmbassyArm,
    Esp,
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
    /// Lines before the first task.
    pub(super) executor: &'static str,
    /// Section of memory that outlives a reset, and the handler of a refused instruction.
    pub(super) uninit: &'static str,
    pub(super) exception: &'static str,
    /// Lines of TOML.
    pub(super) dependencies: &'static str,
}

const LOOP: Parts = Parts {
    entry: "pub use cortex_m_rt::entry;",
    main: "fn main() -> !",
    clock: "use embassy_time::{Duration, Instant};",
    pace: "due: Instant,",
    pace_start: "due: Instant::now(),",
    wait: include_str!("template/wait.rs"),
    executor: "",
    uninit: "#[unsafe(link_section = \".uninit.FAULT\")]",
    exception: "",
    dependencies: "",
};

/// Of an emulated board, which plays what is already there.
const NEVER: Parts = Parts { pace: "()", pace_start: "()", wait: WAIT_NEVER, ..LOOP };

const WAIT_NEVER: &str =
    "    /// Waits until the next sample is due: never, as the recordings are already there.
    pub fn wait(&mut self) {}";

const TASKS: Parts = Parts {
    entry: "pub use embassy_executor::main as entry;",
    main: "async fn main(_spawner: embassy_executor::Spawner) -> !",
    clock: "use embassy_time::{Duration, Ticker, with_timeout};",
    pace: "ticker: Ticker,",
    pace_start: "ticker: Ticker::every(PERIOD),",
    wait: include_str!("template/wait_async.rs"),
    ..LOOP
};

const ARM_EXCEPTION: &str = include_str!("template/exception_arm.rs");

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

    pub(super) fn parts(self, tasks: bool) -> Parts {
        match (self, tasks) {
            (Self::EmulatedArm, _) => Parts { exception: ARM_EXCEPTION, ..NEVER },
            (Self::EmulatedRiscv, _) => {
                Parts { exception: include_str!("template/exception_riscv.rs"), ..NEVER }
            }
            (Self::EmbassyArm, false) => Parts {
                exception: ARM_EXCEPTION,
                dependencies: "\
cortex-m-rt = \"0.7.7\"
defmt = \"1.0.1\"
defmt-rtt = \"1.3.1\"
embassy-time = \"0.5.1\"
",
                ..LOOP
            },
            (Self::EmbassyArm, true) => Parts {
                exception: ARM_EXCEPTION,
                dependencies: "\
cortex-m-rt = \"0.7.7\"
defmt = \"1.0.1\"
defmt-rtt = \"1.3.1\"
embassy-executor = { version = \"0.10.0\", features = [\"executor-thread\", \"platform-cortex-m\"] }
embassy-time = \"0.5.1\"
",
                ..TASKS
            },
            (Self::Esp, false) => Parts {
                entry: "pub use esp_hal::main as entry;",
                clock: "use esp_hal::time::{Duration, Instant};",
                uninit: ESP_UNINIT,
                dependencies: "\
defmt = \"1.0.1\"
defmt-rtt = \"1.3.1\"
",
                ..LOOP
            },
            (Self::Esp, true) => Parts {
                entry: "pub use esp_rtos::main as entry;",
                executor: include_str!("template/executor_esp.rs"),
                uninit: ESP_UNINIT,
                dependencies: "\
defmt = \"1.0.1\"
defmt-rtt = \"1.3.1\"
embassy-executor = \"0.10.0\"
embassy-time = \"0.5.1\"
",
                ..TASKS
            },
        }
    }
}

const ESP_UNINIT: &str = "#[unsafe(link_section = \".rtc_fast.persistent.FAULT\")]";
