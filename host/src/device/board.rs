//! The boards that the firmware has images for, and the emulators that run them.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use super::DeviceError;
use super::board_file::{BoardFolder, FOLDERS, kept};

/// A board of the firmware.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Board {
    /// Name of the board: that of its folder.
    pub name: &'static str,
    /// The core on it.
    pub core: &'static str,
    /// Rust's name of the target.
    pub target: &'static str,
    /// A usual clock of such a core.
    pub usual_clock: Clock,
    /// The folder, if it is not one that travels with the program.
    pub(super) folder: Option<&'static Path>,
    /// The program that emulates it.
    pub(super) emulator: Emulator,
}

/// A clock, and a part that runs at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Ticks per second.
    pub hertz: u32,
    /// A part with this core, which allows it no more.
    pub part: &'static str,
}

/// An emulator of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Emulator {
    /// The program.
    pub(crate) program: &'static str,
    /// The package of Debian and its kin that holds it.
    pub(crate) package: &'static str,
    /// The program's arguments that choose the machine.
    pub(crate) machine: &'static [&'static str],
}

/// All boards that are known by their names, by the size of their cores.
pub static BOARDS: LazyLock<Vec<Board>> =
    LazyLock::new(|| FOLDERS.iter().filter_map(Board::of).collect());

impl Emulator {
    /// The emulator of a board's folder. What it names stays as long as the program runs.
    pub(crate) fn of(folder: &BoardFolder) -> Option<Self> {
        let file = folder.file.emulator.as_ref()?;
        let machine: Vec<&str> = file.arguments.iter().map(|argument| kept(argument)).collect();
        let (program, package) = (kept(&file.program), kept(&file.package));
        Some(Self { program, package, machine: machine.leak() })
    }

    /// Returns one command for each program that this machine lacks to build for a target and to emulate it.
    pub(crate) fn missing(&self, target: &str) -> Vec<String> {
        let mut missing = Vec::new();
        let runs = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).output();
            output.ok().filter(|output| output.status.success()).map(|output| output.stdout)
        };
        let Self { program, package, .. } = self;
        if runs(program, &["--version"]).is_none() {
            missing.push(format!("apt-get install {package}    # the emulator"));
        }
        match runs("rustc", &["--print", "target-libdir", "--target", target]) {
            Some(folder) if Path::new(String::from_utf8_lossy(&folder).trim()).is_dir() => {}
            Some(_) => missing.push(format!("rustup target add {target}")),
            None => missing.push("install Rust from https://rustup.rs".to_owned()),
        }
        missing
    }

    /// The program and the arguments that choose the machine.
    pub(crate) fn command(&self) -> Vec<&'static str> {
        [self.program].into_iter().chain(self.machine.iter().copied()).collect()
    }
}

impl Board {
    /// Name of the board that is used if none is named.
    #[must_use]
    pub fn default_name() -> &'static str {
        // A start of the program asks this: it reads no board.
        fishweir_boards::default_name()
    }

    /// The board of a folder, if the firmware has images for it.
    fn of(folder: &BoardFolder) -> Option<Self> {
        let emulator = Emulator::of(folder).filter(|_| folder.has_images)?;
        let path = folder.path.clone().map(|path| &*Box::leak(path.into_boxed_path()));
        let [name, core, target] =
            [&folder.name, &folder.file.core, &folder.file.target].map(|text| kept(text));
        let clock = &folder.file.clock;
        let usual_clock = Clock { hertz: clock.hertz, part: kept(&clock.part) };
        Some(Self { name, core, target, usual_clock, folder: path, emulator })
    }

    /// The board of a name, or in a folder of one's own. What is read of such a folder stays as long as the program runs.
    ///
    /// # Errors
    /// [`DeviceError::NoBoard`], which lists the names there are; [`DeviceError::BoardFile`] of a folder that is not in order.
    pub fn named(name: &str) -> Result<&'static Self, DeviceError> {
        if let Some(board) = BOARDS.iter().find(|board| board.name == name) {
            return Ok(board);
        }
        let own = BoardFolder::at(Path::new(name)).transpose().map_err(Box::new)?;
        let board = own.as_ref().and_then(Self::of).map(Box::new);
        board.map(|board| &*Box::leak(board)).ok_or_else(|| DeviceError::NoBoard {
            name: name.to_owned(),
            known: BOARDS.iter().map(|board| board.name).collect::<Vec<_>>().join(", "),
        })
    }

    /// The emulator and the arguments that choose the machine.
    pub fn command(&self) -> Vec<&'static str> {
        self.emulator.command()
    }

    /// Returns one command for each program that this machine lacks to build for the board and to emulate it.
    pub fn missing(&self) -> Vec<String> {
        self.emulator.missing(self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_are_found_by_name_and_others_are_told_the_names() {
        for board in BOARDS.iter() {
            assert_eq!(Board::named(board.name).expect("in the table"), board);
        }
        assert!(Board::named(Board::default_name()).is_ok());
        let marked: Vec<&str> = FOLDERS
            .iter()
            .filter(|folder| folder.file.default)
            .map(|folder| folder.name.as_str())
            .collect();
        assert_eq!(marked, [Board::default_name()]);
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
            folder: None,
            emulator: Emulator { program: "qemu-system-beads", package: "beads", machine: &[] },
        };
        let missing = abacus.missing();
        assert!(missing[0].contains("apt-get install beads"), "{missing:?}");
        assert_eq!(missing[1], "rustup target add thumbv4t-none-eabi");
    }
}
