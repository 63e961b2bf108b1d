//! The boards that the firmware knows, and the emulators that run them.

use std::path::Path;
use std::process::Command;

use super::DeviceError;

/// A board of the firmware.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Board {
    /// Name of the board: the firmware's feature.
    pub name: &'static str,
    /// The core on it.
    pub core: &'static str,
    /// Rust's name of the target.
    pub target: &'static str,
    /// A usual clock of such a core.
    pub usual_clock: Clock,
    /// The program that emulates it.
    pub(super) emulator: Emulator,
    /// The program's arguments that choose the machine.
    pub(super) machine: &'static [&'static str],
}

/// A clock, and a part that runs at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Ticks per second.
    pub hertz: u32,
    /// A part with this core, which allows it no more.
    pub part: &'static str,
}

/// An emulator.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Emulator {
    /// The program.
    pub(super) program: &'static str,
    /// The package of Debian and its kin that holds it.
    pub(super) package: &'static str,
}

const ARM: Emulator = Emulator { program: "qemu-system-arm", package: "qemu-system-arm" };
const RISCV: Emulator = Emulator { program: "qemu-system-riscv32", package: "qemu-system-misc" };

/// All boards, by the size of their cores.
pub static BOARDS: [Board; 5] = [
    Board {
        name: "microbit",
        core: "Cortex-M0",
        target: "thumbv6m-none-eabi",
        usual_clock: Clock { hertz: 16_000_000, part: "nRF51822" },
        emulator: ARM,
        machine: &["-machine", "microbit"],
    },
    Board {
        name: "lm3s6965evb",
        core: "Cortex-M3",
        target: "thumbv7m-none-eabi",
        usual_clock: Clock { hertz: 72_000_000, part: "STM32F103" },
        emulator: ARM,
        machine: &["-machine", "lm3s6965evb"],
    },
    Board {
        name: "mps2-an386",
        core: "Cortex-M4F",
        target: "thumbv7em-none-eabihf",
        usual_clock: Clock { hertz: 64_000_000, part: "nRF52840" },
        emulator: ARM,
        machine: &["-machine", "mps2-an386"],
    },
    Board {
        name: "mps2-an505",
        core: "Cortex-M33",
        target: "thumbv8m.main-none-eabihf",
        usual_clock: Clock { hertz: 128_000_000, part: "nRF5340" },
        emulator: ARM,
        machine: &["-machine", "mps2-an505"],
    },
    Board {
        name: "riscv-virt",
        core: "RV32IMAC",
        target: "riscv32imac-unknown-none-elf",
        usual_clock: Clock { hertz: 108_000_000, part: "GD32VF103" },
        emulator: RISCV,
        machine: &["-machine", "virt", "-bios", "none"],
    },
];

impl Board {
    /// The board that is used if none is named.
    pub const DEFAULT: &'static str = "mps2-an386";

    /// The board of a name.
    ///
    /// # Errors
    /// [`DeviceError::NoBoard`], which lists the names there are.
    pub fn named(name: &str) -> Result<&'static Self, DeviceError> {
        BOARDS.iter().find(|board| board.name == name).ok_or_else(|| DeviceError::NoBoard {
            name: name.to_owned(),
            known: BOARDS.each_ref().map(|board| board.name).join(", "),
        })
    }

    /// The emulator and the arguments that choose the machine.
    pub fn command(&self) -> Vec<&'static str> {
        [self.emulator.program].into_iter().chain(self.machine.iter().copied()).collect()
    }

    /// Returns one command for each program that this machine lacks to build for the board and to emulate it.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        let runs = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).output();
            output.ok().filter(|output| output.status.success()).map(|output| output.stdout)
        };
        let Emulator { program, package } = self.emulator;
        if runs(program, &["--version"]).is_none() {
            missing.push(format!("apt-get install {package}    # the emulator"));
        }
        match runs("rustc", &["--print", "target-libdir", "--target", self.target]) {
            Some(folder) if Path::new(String::from_utf8_lossy(&folder).trim()).is_dir() => {}
            Some(_) => missing.push(format!("rustup target add {}", self.target)),
            None => missing.push("install Rust from https://rustup.rs".to_owned()),
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_are_found_by_name_and_others_are_told_the_names() {
        for board in &BOARDS {
            assert_eq!(Board::named(board.name).expect("in the table"), board);
        }
        assert!(Board::named(Board::DEFAULT).is_ok());
        let error = Board::named("abacus").expect_err("no such board").to_string();
        assert!(BOARDS.iter().all(|board| error.contains(board.name)), "{error}");
    }

    #[test]
    fn what_is_missing_is_told_by_the_command_that_installs_it() {
        let abacus = Board {
            name: "abacus",
            core: "beads",
            // A target that rustc knows and nobody installs: there is no such component.
            target: "thumbv4t-none-eabi",
            usual_clock: Clock { hertz: 1, part: "fingers" },
            emulator: Emulator { program: "qemu-system-beads", package: "beads" },
            machine: &[],
        };
        let missing = abacus.missing();
        assert!(missing[0].contains("apt-get install beads"), "{missing:?}");
        assert_eq!(missing[1], "rustup target add thumbv4t-none-eabi");
    }
}
