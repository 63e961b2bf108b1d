//! The boards that a project can be written for, and their differences: what their folders say.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::ProjectError;
use super::platform::Platform;
use super::power::Power;
use super::sensor_part::SensorPlace;
use super::template::fill;
use crate::deploy::Core;
use crate::device::{
    BoardError, BoardFolder, Clock, Emulator, FOLDERS, UpdateFile, kept, with_flash,
};

/// A board.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProjectBoard {
    /// Name of the board: that of its folder, or of its chip.
    pub name: &'static str,
    /// The folder, if it is not one that travels with the program.
    folder: Option<PathBuf>,
    /// Name of the board in print.
    pub title: &'static str,
    /// The core on it.
    pub core: &'static str,
    /// Rust's name of the target.
    pub target: &'static str,
    /// Start of the image.
    pub start: Start,
    /// `board.rs`, with names to fill in.
    pub(super) source: &'static str,
    /// Dependencies other than the core: lines of TOML, for both styles.
    pub(super) dependencies: &'static str,
    /// Platform: timers, and the start of a blocking program and of one with tasks.
    pub(super) platform: Platform,
    /// Clocks a second that the project leaves the core at; of an emulated board, which has no clock of its own, those of
    /// a part with such a core.
    pub clock: Clock,
    /// Bytes of flash and of RAM.
    memories: [usize; 2],
    /// `memory.x`; `None` where the packages of the board describe the memory to the linker.
    pub(super) linker_script: Option<&'static str>,
    /// Arguments of the linker.
    pub(super) link: Vec<&'static str>,
    /// `line.rs` that sends, and that both sends and receives.
    pub(super) line: [&'static str; 2],
    /// Values of the names in `board.rs` and `line.rs`.
    pub(super) values: Vec<(&'static str, String)>,
    /// The emulator.
    pub(super) emulator: Option<Emulator>,
    /// `bus.rs`, of a board that sensors are on; `driver.rs` of its analogue inputs, and of a microphone.
    sensors: [Option<&'static str>; 3],
    /// `flash.rs`, and what is said of the slots for models that come over a line.
    pub(super) update: Option<(&'static str, UpdateFile)>,
    /// Published currents of the part, as far as the folder says.
    power: Option<Power>,
}

/// Start of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Started by an emulator: the board of this name in [`crate::device`].
    Emulated,
    /// Started by a debug probe: the name of the chip for probe-rs.
    Probe(&'static str),
}

/// All boards that are known by their names: emulated ones first, by the size of their cores.
pub static PROJECT_BOARDS: LazyLock<Vec<ProjectBoard>> =
    LazyLock::new(|| FOLDERS.iter().filter_map(|folder| ProjectBoard::of(folder).ok()).collect());

impl ProjectBoard {
    /// The board of a name, or in a folder of one's own. What is read of such a folder stays as long as the program runs.
    ///
    /// # Errors
    /// [`ProjectError::NoBoard`], which lists the names there are; [`ProjectError::BoardFile`] of a folder that is not in order.
    pub fn named(name: &str) -> Result<&'static Self, ProjectError> {
        if let Some(board) = PROJECT_BOARDS.iter().find(|board| board.name == name) {
            return Ok(board);
        }
        match BoardFolder::at(Path::new(name)) {
            Some(folder) => {
                let folder = folder.map_err(Box::new)?;
                let known = PROJECT_BOARDS.iter().find(|board| board.name == folder.name);
                if let Some(known) = known.filter(|_| folder.is_known()) {
                    return Ok(known);
                }
                let board = Self::of(&folder).map_err(Box::new)?;
                Ok(Box::leak(Box::new(board)))
            }
            None => Err(ProjectError::NoBoard {
                name: name.to_owned(),
                known: PROJECT_BOARDS.iter().map(|board| board.name).collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// A board with a chip of a family that is known, by the chip's name and its memories: flash and RAM, each `LENGTH` or
    /// `ORIGIN:LENGTH`, with a comma between them. Pins are those that the family's boards often have: see
    /// [`with_pins`](Self::with_pins). The board stays as long as the program runs.
    ///
    /// # Errors
    /// [`ProjectError::Chip`]: a chip that no family has, with those that are spelled like it; memories that are not two.
    pub fn of_chip(chip: &str, memory: &str) -> Result<&'static Self, ProjectError> {
        let folder = BoardFolder::of_chip(chip, memory).map_err(Box::new)?;
        let board = Self::of(&folder).map_err(Box::new)?;
        Ok(Box::leak(Box::new(board)))
    }

    /// The board with other pins or peripherals: name in its `board.toml`, and what the packages call it there.
    ///
    /// # Errors
    /// [`ProjectError::Pin`]: a name that the board does not have, or what is no name.
    pub fn with_pins(
        &'static self,
        pins: &[(String, String)],
    ) -> Result<&'static Self, ProjectError> {
        if pins.is_empty() {
            return Ok(self);
        }
        let mut board = self.clone();
        for (name, pin) in pins {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let is_name =
                pin.starts_with(|c: char| c.is_ascii_alphabetic()) && pin.chars().all(fits);
            let key = format!("{{{{{name}}}}}");
            let slot = board.values.iter_mut().find(|(one, _)| **one == key);
            match slot.filter(|_| is_name && !self.is_emulated()) {
                Some((_, value)) => value.clone_from(pin),
                None => {
                    return Err(ProjectError::Pin {
                        name: name.clone(),
                        pin: pin.clone(),
                        board: self.name,
                        known: if self.is_emulated() { "none".to_owned() } else { self.pins() },
                    });
                }
            }
        }
        Ok(Box::leak(Box::new(board)))
    }

    /// The board with the end of its flash kept for models that come over a line, whose marks are written `twice`, or for taught
    /// classes.
    ///
    /// # Errors
    /// [`ProjectError::NoSlots`]: a board whose flash is not driven so, or too small.
    pub(super) fn with_slots(&'static self, twice: bool) -> Result<&'static Self, ProjectError> {
        let none = |what: &'static str| ProjectError::NoSlots { board: self.name, what };
        let Some((_, update)) = &self.update else {
            return Err(none("its board.toml has no table [update]"));
        };
        if twice && update.once {
            return Err(none("words of its flash are written only once"));
        }
        let too_small = || none("its flash is too small for them");
        let mut board = self.clone();
        let mut start = 0;
        if !update.apart {
            let [flash, _] = self.memories;
            // Bytes of flash before whole pages at its end.
            let (bytes, page) = (update.bytes as u64, update.page.max(1) as u64);
            let before = |origin: u64| {
                let start = (origin + flash as u64).checked_sub(bytes)? / page * page;
                start.checked_sub(origin).filter(|&left| left > 0)
            };
            let origin = match self.linker_script {
                Some(script) => {
                    let (origin, script) = with_flash(script, before).ok_or_else(too_small)?;
                    board.linker_script = Some(kept(&script));
                    origin
                }
                None => 0,
            };
            let left = before(origin).ok_or_else(too_small)?;
            start = origin + left;
            board.memories[0] = left as usize;
        }
        board.values.push(("{{slots_start}}", format!("{start:#010x}")));
        board.values.push(("{{slots_bytes}}", update.bytes.to_string()));
        Ok(Box::leak(Box::new(board)))
    }

    /// Bytes of RAM for a copy of the slots, and of flash that they take from the program's.
    pub(super) fn update_bytes(&self) -> [usize; 2] {
        let Some((_, update)) = &self.update else { return [0; 2] };
        [if update.copied { update.bytes } else { 0 }, if update.apart { 0 } else { update.bytes }]
    }

    /// Names of the pins and peripherals in its sources.
    fn pins(&self) -> String {
        let names = self.values.iter().map(|(name, _)| name.trim_matches(['{', '}']));
        names.collect::<Vec<_>>().join(", ")
    }

    /// Published currents of the part at its clock, from the folder of any board that has them; `None` if nothing was found.
    #[must_use]
    pub fn power(&self) -> Option<&Power> {
        let others = || PROJECT_BOARDS.iter().filter(|board| board.clock == self.clock);
        self.power.as_ref().or_else(|| others().find_map(|board| board.power.as_ref()))
    }

    /// The folder that [`named`](Self::named) was given; `None` of a board that is known by its name, or by its chip.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The board of a folder.
    fn of(folder: &BoardFolder) -> Result<Self, BoardError> {
        let BoardFolder { name, file, linker_script, memories, sources, flash, sensors, .. } =
            folder;
        let platform = Platform::named(&file.platform).ok_or_else(|| BoardError {
            file: format!("{name}/board.toml"),
            what: format!(
                "platform `{}`: it is one of {}",
                file.platform,
                Platform::NAMES.map(|(name, _)| name).join(", ")
            ),
        })?;
        let start = match &file.probe {
            Some(chip) => Start::Probe(kept(chip)),
            None => Start::Emulated,
        };
        let [source, sends, answers] = sources.each_ref().map(|text| kept(text));
        let values = file.values.iter();
        let values = values.map(|(name, text)| (kept(&format!("{{{{{name}}}}}")), text.clone()));
        let clock = Clock { hertz: file.clock.hertz, part: kept(&file.clock.part) };
        Ok(Self {
            name: kept(name),
            folder: folder.path.clone(),
            title: kept(&file.title),
            core: kept(&file.core),
            target: kept(&file.target),
            start,
            source,
            dependencies: kept(&file.packages.lines),
            platform,
            clock,
            memories: *memories,
            linker_script: linker_script.as_deref().map(kept),
            link: file.packages.link.iter().map(|argument| kept(argument)).collect(),
            line: [sends, answers],
            values: values.collect(),
            emulator: Emulator::of(folder),
            sensors: sensors.each_ref().map(|text| text.as_deref().map(kept)),
            update: flash.as_deref().map(kept).zip(file.update.clone()),
            power: file.power.as_ref().map(|power| Power::of_file(clock, power)),
        })
    }

    /// Returns one command for each program that this machine lacks to build for an emulated board and to run it.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        self.emulator.map(|emulator| emulator.missing(self.target)).unwrap_or_default()
    }

    /// Returns whether an emulator runs it.
    #[must_use]
    pub fn is_emulated(&self) -> bool {
        self.platform.is_emulated()
    }

    /// Returns whether the core has a counter of cycles that a project reads: those of the larger Cortex-M have.
    pub(super) fn counts_cycles(&self) -> bool {
        !self.is_emulated()
            && ["Cortex-M3", "Cortex-M4", "Cortex-M4F", "Cortex-M7", "Cortex-M33"]
                .contains(&self.core)
    }

    /// Bytes of flash and of RAM.
    #[must_use]
    pub fn memories(&self) -> [usize; 2] {
        self.memories
    }

    /// Core of the board, with its measured cost of work.
    #[must_use]
    pub fn takes(&self) -> Option<&'static Core> {
        Core::named(self.core)
    }

    /// `board.rs`, with the board's own names filled in.
    pub(super) fn board_source(&self) -> String {
        fill(self.source, &self.values)
    }

    /// `bus.rs`, or `driver.rs` of analogue inputs or a microphone, which the board's own names are still to be filled in; `None` of
    /// a board without it.
    pub(super) fn sensor_source(&self, place: SensorPlace) -> Option<&'static str> {
        self.sensors[place as usize]
    }

    /// Text with the board's own names filled in.
    pub(super) fn fill(&self, text: &str) -> String {
        fill(text, &self.values)
    }

    /// Value of a name in the sources.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.values.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str())
    }

    /// `flash.rs`, with the board's own names filled in.
    pub(super) fn flash_source(&self) -> String {
        self.update.as_ref().map_or_else(String::new, |(source, _)| fill(source, &self.values))
    }

    /// Returns whether it has a button.
    pub(super) fn has_button(&self) -> bool {
        self.value("{{button}}").is_some()
    }

    /// Returns whether its slots for models have a copy in RAM.
    pub(super) fn has_copy(&self) -> bool {
        self.update.as_ref().is_some_and(|(_, update)| update.copied)
    }

    /// `line.rs`, with the board's own names filled in; `answers` if it receives too. An emulated board's imports to
    /// receive, is made of, does after an answer and receives by the four texts; others have the traits of a port.
    pub(super) fn line_source(
        &self,
        answers: bool,
        [reads, arguments, flushed, reading]: [&str; 4],
        through: &str,
    ) -> String {
        let own = [
            ("{{reads}}", reads.to_owned()),
            ("{{arguments}}", arguments.to_owned()),
            ("{{flushed}}", flushed.to_owned()),
            ("{{reading}}", reading.to_owned()),
            ("{{through}}", through.to_owned()),
        ];
        fill(&fill(self.line[usize::from(answers)], &own), &self.values)
    }

    /// Commands to install once, as lines for a shell, and the expected output.
    pub(super) fn how_to_run(&self) -> (String, String) {
        match self.start {
            Start::Emulated => {
                let package = self.emulator.map_or("", |emulator| emulator.package);
                (format!("apt-get install {package}"), RUN_EMULATED.to_owned())
            }
            Start::Probe(chip) => (
                "cargo install probe-rs-tools --locked".to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deploy::Currents;

    #[test]
    fn every_folder_is_a_board() {
        assert_eq!(PROJECT_BOARDS.len(), FOLDERS.len());
    }

    #[test]
    fn currents_that_are_published_are_in_order() {
        let published: Vec<&Power> =
            PROJECT_BOARDS.iter().filter_map(|board| board.power.as_ref()).collect();
        assert!(published.len() >= 6);
        for &&Power { part, currents: Currents { run, sleep }, .. } in &published {
            assert!(0.0 < sleep[0] && sleep[0] <= sleep[1] && sleep[1] < run[0], "{part}");
            assert!(run[0] <= run[1], "{part}");
        }
        // A board has those of another with its part, at the same clock.
        let lent = PROJECT_BOARDS.iter().filter(|board| board.power.is_none());
        assert!(lent.filter_map(ProjectBoard::power).count() >= 1);
        assert!(PROJECT_BOARDS.iter().any(|board| board.power().is_none()));
    }
}
