//! The boards that a project can be written for, and their differences.

use super::ProjectError;
use super::platform::Platform;
use crate::deploy::Core;
use crate::device::Clock;

/// A board.
#[derive(Debug)]
#[non_exhaustive]
pub struct ProjectBoard {
    /// Name of the board on the command line.
    pub name: &'static str,
    /// Name of the board in print.
    pub title: &'static str,
    /// The core on it.
    pub core: &'static str,
    /// Rust's name of the target.
    pub target: &'static str,
    /// Start of the image.
    pub start: Start,
    /// `board.rs`.
    pub(super) source: &'static str,
    /// Dependencies other than the core: lines of TOML, for both styles.
    pub(super) dependencies: &'static str,
    /// Platform: timers, and the start of a blocking program and of one with tasks.
    pub(super) platform: Platform,
    /// Clocks a second that the project leaves the core at; of an emulated board, which has no clock of its own, those of
    /// a part with such a core.
    pub clock: Clock,
    /// Start and kilobytes of flash and RAM.
    pub(super) memory: [(u32, u32); 2],
    /// `true` if `memory.x` describes the memory to the linker; otherwise the packages of the board do.
    pub(super) memory_is_told: bool,
    /// Lines of the linker's script other than the memory.
    pub(super) script: &'static str,
    /// Arguments of the linker.
    pub(super) link: &'static [&'static str],
    /// Serial port.
    pub(super) line: SerialLine,
}

/// `line.rs` that sends, and that both sends and receives; values of the names in them.
#[derive(Debug)]
pub(super) struct SerialLine {
    pub(super) sends: &'static str,
    pub(super) answers: &'static str,
    pub(super) names: &'static [(&'static str, &'static str)],
}

/// Start of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Started by an emulator: the board of this name in [`crate::device`].
    Emulated,
    /// Started by a debug probe: the name of the chip for probe-rs.
    Probe(&'static str),
}

const EMULATED_ARM: &str = "\
cortex-m = { version = \"0.7.10\", features = [\"critical-section-single-core\"] }
cortex-m-rt = \"0.7.7\"
semihosting = { version = \"0.1.25\", features = [\"stdio\"] }
";

const EMULATED_RISCV: &str = "\
riscv = { version = \"0.16.1\", features = [\"critical-section-single-hart\"] }
riscv-rt = { version = \"0.18.0\", features = [\"memory\", \"single-hart\"] }
semihosting = { version = \"0.1.25\", features = [\"stdio\"] }
";

/// A port of an emulated board: its address and the width of its registers; what switches it on; how a byte is sent, and
/// received.
macro_rules! emulated_line {
    (
        $port:literal: $register:literal, start $start:literal,
        send $ready:literal $data:literal $status:literal,
        receive $received:literal $taken:literal $input:literal $byte:literal
    ) => {
        SerialLine {
            sends: include_str!("template/record/lines/emulated.rs"),
            answers: include_str!("template/record/lines/emulated.rs"),
            names: &[
                ("{{port}}", $port),
                ("{{start}}", $start),
                ("{{ready}}", $ready),
                ("{{data}}", $data),
                ("{{status}}", $status),
                ("{{received}}", $received),
                ("{{taken}}", $taken),
                ("{{input}}", $input),
                ("{{input_byte}}", $byte),
                ("{{register}}", $register),
            ],
        }
    };
}

/// The port of Arm's system design kit.
macro_rules! cmsdk_line {
    ($port:literal) => {
        emulated_line!(
            $port: "u32", start "(0x10, 16), (0x08, 3)",
            send "" "0" "(0x04, 1, 0)",
            receive "(0x04, 2, 2)" "" "0" "read(INPUT) as u8"
        )
    };
}

/// A port that a package of the board drives.
macro_rules! packaged_line {
    ($name:literal) => {
        SerialLine {
            sends: include_str!(concat!("template/record/lines/", $name)),
            answers: include_str!(concat!("template/stream/lines/", $name)),
            names: &[],
        }
    };
}

const EMULATED: ProjectBoard = ProjectBoard {
    name: "",
    title: "",
    core: "",
    target: "",
    start: Start::Emulated,
    source: include_str!("template/boards/emulated_arm.rs"),
    dependencies: EMULATED_ARM,
    platform: Platform::EmulatedArm,
    clock: Clock { hertz: 0, part: "" },
    memory: [(0, 0); 2],
    memory_is_told: true,
    script: "",
    link: &["--nmagic", "-Tlink.x"],
    line: cmsdk_line!("0x4000_4000"),
};

const ON_PROBE: ProjectBoard = ProjectBoard {
    link: &["--nmagic", "-Tlink.x", "-Tdefmt.x"],
    platform: Platform::EmbassyArm,
    ..EMULATED
};

/// All boards.
pub static PROJECT_BOARDS: [ProjectBoard; 11] = [
    ProjectBoard {
        name: "microbit",
        title: "the BBC micro:bit, emulated",
        core: "Cortex-M0",
        clock: Clock { hertz: 16_000_000, part: "nRF51822" },
        target: "thumbv6m-none-eabi",
        memory: [(0, 256), (0x2000_0000, 16)],
        line: emulated_line!(
            "0x4000_2000": "u32",
            start "(0x500, 4), (0x50C, 24), (0x514, 25), (0x524, 0x01D7_E000), (0x000, 1), (0x008, 1)",
            send "write(STATUS.0, 0);\n            " "0x51C" "(0x11C, 1, 1)",
            receive "(0x108, 1, 1)" "write(RECEIVED.0, 0);\n        " "0x518" "read(INPUT) as u8"
        ),
        ..EMULATED
    },
    ProjectBoard {
        name: "lm3s6965evb",
        title: "the LM3S6965 evaluation board, emulated",
        core: "Cortex-M3",
        clock: Clock { hertz: 72_000_000, part: "STM32F103" },
        target: "thumbv7m-none-eabi",
        memory: [(0, 256), (0x2000_0000, 64)],
        line: emulated_line!(
            "0x4000_C000": "u32", start "(0x2C, 0x70), (0x30, 0x301)",
            send "" "0" "(0x18, 0x20, 0)",
            receive "(0x18, 0x10, 0)" "" "0" "read(INPUT) as u8"
        ),
        ..EMULATED
    },
    ProjectBoard {
        name: "mps2-an386",
        title: "Arm's MPS2+ AN386, emulated",
        core: "Cortex-M4F",
        clock: Clock { hertz: 64_000_000, part: "nRF52840" },
        target: "thumbv7em-none-eabihf",
        memory: [(0, 4096), (0x2000_0000, 4096)],
        ..EMULATED
    },
    ProjectBoard {
        name: "mps2-an505",
        title: "Arm's MPS2+ AN505, emulated",
        core: "Cortex-M33",
        clock: Clock { hertz: 128_000_000, part: "nRF5340" },
        target: "thumbv8m.main-none-eabihf",
        // The core starts in the secure state, whose aliases of the memories have bit 28 set.
        memory: [(0x1000_0000, 4096), (0x3800_0000, 4096)],
        line: cmsdk_line!("0x5020_0000"),
        ..EMULATED
    },
    ProjectBoard {
        name: "riscv-virt",
        title: "QEMU's RISC-V machine",
        core: "RV32IMAC",
        clock: Clock { hertz: 108_000_000, part: "GD32VF103" },
        target: "riscv32imac-unknown-none-elf",
        source: include_str!("template/boards/emulated_riscv.rs"),
        dependencies: EMULATED_RISCV,
        platform: Platform::EmulatedRiscv,
        memory: [(0x8000_0000, 4096), (0x8040_0000, 4096)],
        script: "
REGION_ALIAS(\"REGION_TEXT\", FLASH);
REGION_ALIAS(\"REGION_RODATA\", FLASH);
REGION_ALIAS(\"REGION_DATA\", RAM);
REGION_ALIAS(\"REGION_BSS\", RAM);
REGION_ALIAS(\"REGION_HEAP\", RAM);
REGION_ALIAS(\"REGION_STACK\", RAM);
",
        line: emulated_line!(
            "0x1000_0000": "u8", start "(2, 1)",
            send "" "0" "(5, 0x20, 0x20)",
            receive "(5, 1, 1)" "" "0" "read(INPUT)"
        ),
        ..EMULATED
    },
    ProjectBoard {
        name: "nrf52840-dk",
        title: "the Nordic nRF52840-DK",
        core: "Cortex-M4F",
        clock: Clock { hertz: 64_000_000, part: "nRF52840" },
        target: "thumbv7em-none-eabihf",
        start: Start::Probe("nRF52840_xxAA"),
        source: include_str!("template/boards/nrf52840_dk.rs"),
        dependencies: "\
cortex-m = { version = \"0.7.10\", features = [\"critical-section-single-core\"] }
embassy-nrf = { version = \"0.11.0\", features = [\"defmt\", \"nrf52840\", \"time-driver-rtc1\"] }
",
        memory: [(0, 1024), (0x2000_0000, 256)],
        line: packaged_line!("nrf.rs"),
        ..ON_PROBE
    },
    ProjectBoard {
        name: "rp2040-pico",
        title: "the Raspberry Pi Pico",
        core: "Cortex-M0+",
        clock: Clock { hertz: 125_000_000, part: "RP2040" },
        target: "thumbv6m-none-eabi",
        start: Start::Probe("RP2040"),
        source: include_str!("template/boards/rp.rs"),
        // Without `intrinsics`: floats of the ROM are faster, but not IEEE to the last bit.
        dependencies: "\
cortex-m = \"0.7.10\"
# Without `intrinsics`: floats of the ROM are faster, and not the host's to the last bit.
embassy-rp = { version = \"0.10.0\", features = [\"critical-section-impl\", \"defmt\", \"rp2040\", \"time-driver\"] }
",
        // The boot ROM copies the first 256 bytes, which set the external flash up.
        memory: [(0x1000_0100, 2047), (0x2000_0000, 256)],
        script: "
MEMORY
{
  BOOT2 : ORIGIN = 0x10000000, LENGTH = 0x100
}
",
        link: &["--nmagic", "-Tlink.x", "-Tlink-rp.x", "-Tdefmt.x"],
        line: packaged_line!("rp.rs"),
        ..ON_PROBE
    },
    ProjectBoard {
        name: "rp2350-pico2",
        title: "the Raspberry Pi Pico 2",
        core: "Cortex-M33",
        clock: Clock { hertz: 150_000_000, part: "RP2350" },
        target: "thumbv8m.main-none-eabihf",
        start: Start::Probe("RP235x"),
        source: include_str!("template/boards/rp.rs"),
        dependencies: "\
cortex-m = \"0.7.10\"
embassy-rp = { version = \"0.10.0\", features = [\"critical-section-impl\", \"defmt\", \"rp235xa\", \"time-driver\"] }
",
        memory: [(0x1000_0000, 4096), (0x2000_0000, 512)],
        // The boot ROM looks for the image's definition in the first 4 kB.
        script: "
SECTIONS
{
  .start_block : ALIGN(4)
  {
    KEEP(*(.start_block));
  } > FLASH
} INSERT AFTER .vector_table;

_stext = ADDR(.start_block) + SIZEOF(.start_block);
",
        line: packaged_line!("rp.rs"),
        ..ON_PROBE
    },
    ProjectBoard {
        name: "nucleo-f446re",
        title: "the ST Nucleo-F446RE",
        core: "Cortex-M4F",
        clock: Clock { hertz: 16_000_000, part: "STM32F446RE" },
        target: "thumbv7em-none-eabihf",
        start: Start::Probe("STM32F446RETx"),
        source: include_str!("template/boards/stm32.rs"),
        dependencies: "\
cortex-m = { version = \"0.7.10\", features = [\"critical-section-single-core\"] }
embassy-stm32 = { version = \"0.6.0\", features = [\"defmt\", \"stm32f446re\", \"time-driver-any\"] }
",
        memory: [(0x0800_0000, 512), (0x2000_0000, 128)],
        line: packaged_line!("stm32.rs"),
        ..ON_PROBE
    },
    ProjectBoard {
        name: "nucleo-g071rb",
        title: "the ST Nucleo-G071RB",
        core: "Cortex-M0+",
        clock: Clock { hertz: 16_000_000, part: "STM32G071RB" },
        target: "thumbv6m-none-eabi",
        start: Start::Probe("STM32G071RBTx"),
        source: include_str!("template/boards/stm32.rs"),
        dependencies: "\
cortex-m = { version = \"0.7.10\", features = [\"critical-section-single-core\"] }
embassy-stm32 = { version = \"0.6.0\", features = [\"defmt\", \"stm32g071rb\", \"time-driver-any\"] }
",
        memory: [(0x0800_0000, 128), (0x2000_0000, 36)],
        line: packaged_line!("stm32.rs"),
        ..ON_PROBE
    },
    ProjectBoard {
        name: "esp32c3",
        title: "an ESP32-C3",
        core: "RV32IMC",
        clock: Clock { hertz: 80_000_000, part: "ESP32-C3" },
        target: "riscv32imc-unknown-none-elf",
        start: Start::Probe("esp32c3"),
        source: include_str!("template/boards/esp32c3.rs"),
        dependencies: "\
esp-bootloader-esp-idf = { version = \"0.6.0\", features = [\"esp32c3\"] }
esp-hal = { version = \"1.2.2\", features = [\"defmt\", \"esp32c3\", \"unstable\"] }
",
        platform: Platform::Esp,
        // As esp-hal's linker script has it: flash of the usual modules, and RAM before the second-stage boot loader's.
        memory: [(0x4200_0000, 4096), (0x3FC8_0000, 313)],
        memory_is_told: false,
        link: &["-Tlinkall.x", "-Tdefmt.x"],
        line: packaged_line!("esp.rs"),
        ..ON_PROBE
    },
];

impl ProjectBoard {
    /// The board of a name.
    ///
    /// # Errors
    /// [`ProjectError::NoBoard`], which lists the names there are.
    pub fn named(name: &str) -> Result<&'static Self, ProjectError> {
        PROJECT_BOARDS.iter().find(|board| board.name == name).ok_or_else(|| {
            ProjectError::NoBoard {
                name: name.to_owned(),
                known: PROJECT_BOARDS.each_ref().map(|board| board.name).join(", "),
            }
        })
    }

    /// Returns whether an emulator runs it.
    #[must_use]
    pub fn is_emulated(&self) -> bool {
        self.platform.is_emulated()
    }

    /// Returns whether the core has a counter of cycles that a project reads: those of the larger Cortex-M have.
    pub(super) fn counts_cycles(&self) -> bool {
        !self.is_emulated() && ["Cortex-M3", "Cortex-M4F", "Cortex-M33"].contains(&self.core)
    }

    /// Bytes of flash and of RAM.
    #[must_use]
    pub fn memories(&self) -> [usize; 2] {
        self.memory.map(|(_, kilobytes)| 1024 * kilobytes as usize)
    }

    /// Core of the board, with its measured cost of work.
    #[must_use]
    pub fn takes(&self) -> Option<&'static Core> {
        Core::named(self.core)
    }

    /// Values of the names in `line.rs`: of an emulated board what it imports to receive, what it is made of, what it does after
    /// an answer, and how it receives; of others the traits of a port.
    pub(super) fn line_values(
        &self,
        [reads, arguments, flushed, reading]: [&'static str; 4],
        through: &'static str,
    ) -> Vec<(&'static str, String)> {
        let own = [
            ("{{reads}}", reads),
            ("{{arguments}}", arguments),
            ("{{flushed}}", flushed),
            ("{{reading}}", reading),
            ("{{through}}", through),
        ];
        own.iter().chain(self.line.names).map(|&(name, text)| (name, text.to_owned())).collect()
    }

    /// `memory.x`.
    pub(super) fn linker_script(&self) -> Option<String> {
        if !self.memory_is_told {
            return None;
        }
        let [flash, ram] = self.memory;
        let region = |name, (start, kilobytes): (u32, u32)| {
            format!("  {name} : ORIGIN = {start:#010x}, LENGTH = {kilobytes}K\n")
        };
        Some(format!(
            "/* {}. */\nMEMORY\n{{\n{}{}}}\n{}",
            self.title,
            region("FLASH", flash),
            region("RAM  ", ram),
            self.script
        ))
    }

    /// Commands to install once, as lines for a shell, and the expected output.
    pub(super) fn how_to_run(&self) -> (&'static str, String) {
        match self.start {
            Start::Emulated if self.platform == Platform::EmulatedRiscv => {
                ("apt-get install qemu-system-misc", RUN_EMULATED.to_owned())
            }
            Start::Emulated => ("apt-get install qemu-system-arm", RUN_EMULATED.to_owned()),
            Start::Probe(chip) => (
                "cargo install probe-rs-tools --locked",
                format!(
                    "builds the image, flashes it by probe-rs to the {chip} on the debug probe, and prints its log, which comes\n\
                     by defmt over RTT. Without a probe it runs the same, and says nothing."
                ),
            ),
        }
    }
}

const RUN_EMULATED: &str = "\
builds the image and runs it under QEMU, where it talks through semihosting. It first decides on the samples of
`src/self_test.rs` and compares every bit with the host's, then plays them as a sensor would, and ends.";
