//! A board as its folder has it: `board.toml`, the memories, and the sources of a project.
//!
//! The folders of `fishweir-boards` travel with the program. A folder of one's own is read when it is named.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;

use super::chip::{Chip, ChipError, ChipMemories, overlay};
use crate::deploy::CORES;

/// Reason why a folder is no board.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {what}")]
pub struct BoardError {
    /// The file at fault.
    pub file: String,
    /// Fault of it.
    pub what: String,
}

/// `board.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoardFile {
    pub(crate) title: String,
    pub(crate) core: String,
    pub(crate) target: String,
    pub(crate) platform: String,
    /// `true` for the board of a command that names none.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "`fishweir_boards` finds it in the text"))]
    pub(crate) default: bool,
    /// Read by the firmware's build script.
    #[serde(default, rename = "costs_without")]
    _costs_without: Vec<String>,
    /// Name of the chip for probe-rs.
    pub(crate) probe: Option<String>,
    pub(crate) clock: ClockFile,
    pub(crate) emulator: Option<EmulatorFile>,
    /// Memories of a board without a `memory.x`.
    memory: Option<MemoryFile>,
    pub(crate) packages: PackagesFile,
    pub(crate) sources: SourcesFile,
    #[serde(default)]
    pub(crate) values: BTreeMap<String, String>,
    pub(crate) power: Option<PowerFile>,
    /// Where models that come over a line are kept.
    pub(crate) update: Option<UpdateFile>,
}

/// Flash for updates of the model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateFile {
    /// `flash.rs`.
    pub(crate) source: String,
    /// Bytes of both slots, and of what is erased at once.
    pub(crate) bytes: usize,
    pub(crate) page: usize,
    /// Lines of packages that it takes.
    #[serde(default)]
    pub(crate) packages: String,
    /// `true` if words of it are written only once after they are erased: there is no room for models, whose marks are written twice.
    #[serde(default)]
    pub(crate) once: bool,
    /// `true` if the slots are not the program's flash: a file of the machine that emulates.
    #[serde(default)]
    pub(crate) apart: bool,
    /// `true` if the processor does not see the flash as memory: a copy lies in RAM.
    #[serde(default)]
    pub(crate) copied: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClockFile {
    pub(crate) hertz: u32,
    pub(crate) part: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmulatorFile {
    pub(crate) program: String,
    pub(crate) package: String,
    pub(crate) arguments: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryFile {
    flash_kilobytes: usize,
    ram_kilobytes: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PackagesFile {
    pub(crate) lines: String,
    pub(crate) link: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourcesFile {
    board: String,
    sends: String,
    answers: String,
    /// `bus.rs`, of a board that sensors are on.
    i2c: Option<String>,
    /// `driver.rs` of analogue inputs, and of a microphone.
    adc: Option<String>,
    microphone: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PowerFile {
    pub(crate) run: [f64; 2],
    pub(crate) sleep: [f64; 2],
    pub(crate) conditions: String,
    pub(crate) asleep: String,
    pub(crate) source: String,
}

/// A board's folder.
#[derive(Debug)]
pub(crate) struct BoardFolder {
    /// Name of the board: that of the folder.
    pub(crate) name: String,
    /// The folder, if it is not one that travels with the program.
    pub(crate) path: Option<PathBuf>,
    pub(crate) file: BoardFile,
    /// `memory.x`.
    pub(crate) linker_script: Option<String>,
    /// Bytes of flash and of RAM.
    pub(crate) memories: [usize; 2],
    /// `board.rs`, and `line.rs` that sends and that answers.
    pub(crate) sources: [String; 3],
    /// `flash.rs`, where models that come over a line are kept.
    pub(crate) flash: Option<String>,
    /// `bus.rs`, of a board that sensors are on; `driver.rs` of its analogue inputs, and of a microphone.
    pub(crate) sensors: [Option<String>; 3],
    /// `true` if the firmware has images for it.
    pub(crate) has_images: bool,
}

/// The boards that travel with the program, emulated ones first, by the size of their cores.
pub(crate) static FOLDERS: LazyLock<Vec<BoardFolder>> = LazyLock::new(|| {
    let known = fishweir_boards::names().filter_map(|name| BoardFolder::known(name).ok());
    let mut all: Vec<BoardFolder> = known.collect();
    let size = |folder: &BoardFolder| {
        let core = crate::deploy::Core::named(&folder.file.core);
        let place = core.and_then(|core| CORES.iter().position(|one| one.name == core.name));
        (folder.file.emulator.is_none(), place.unwrap_or(CORES.len()))
    };
    all.sort_by(|a, b| size(a).cmp(&size(b)).then_with(|| a.name.cmp(&b.name)));
    all
});

impl BoardFile {
    /// Parses a `board.toml`. Of one that names a chip, what it does not say is that of the chip's family.
    fn parse(text: &str) -> Result<Self, String> {
        let said = |error: toml::de::Error| error.to_string().trim_end().to_owned();
        let mut own: toml::Table = toml::from_str(text).map_err(said)?;
        match own.remove("chip") {
            // As text, so that errors have their lines.
            None => toml::from_str(text).map_err(said),
            Some(toml::Value::String(name)) => {
                let mut all = Chip::named(&name).map_err(|error| error.to_string())?.defaults()?;
                overlay(&mut all, own);
                all.try_into().map_err(said)
            }
            Some(other) => Err(format!("chip = {other}: it is the name of a chip, in quotes")),
        }
    }
}

impl BoardFolder {
    /// A board with a chip of a known family, its memories as [`Chip::memories`] takes them.
    pub(crate) fn of_chip(name: &str, memory: &str) -> Result<Self, ChipError> {
        let chip = Chip::named(name)?;
        let wrong = |what: String| ChipError::Family { chip: name.to_owned(), what };
        let file: BoardFile = chip
            .defaults()
            .and_then(|table| table.try_into().map_err(|error| error.to_string()))
            .map_err(wrong)?;
        let ChipMemories { bytes: memories, linker_script } = chip.memories(&file.title, memory)?;
        let (sources, flash, sensors) =
            sources(&file, &|_| None).map_err(|(file, what)| wrong(format!("{file}: {what}")))?;
        let name = chip.name();
        let (path, has_images) = (None, false);
        Ok(Self { name, path, file, linker_script, memories, sources, flash, sensors, has_images })
    }

    /// A board that travels with the program.
    fn known(name: &str) -> Result<Self, BoardError> {
        let text = |path: &str| fishweir_boards::text(path).map(str::to_owned);
        Self::parse(name.to_owned(), None, &|file| text(&format!("{name}/{file}")))
    }

    /// Returns whether all its files are those of the board of this name that travels with the program.
    pub(crate) fn is_known(&self) -> bool {
        let Some(path) = &self.path else { return true };
        let own = format!("{}/", self.name);
        let mut known = fishweir_boards::FILES
            .iter()
            .filter_map(|(file, text)| file.strip_prefix(&own).map(|file| (file, *text)));
        known.all(|(file, text)| fs::read_to_string(path.join(file)).is_ok_and(|own| own == text))
    }

    /// The board in a folder; nothing where the folder has none.
    pub(crate) fn at(folder: &Path) -> Option<Result<Self, BoardError>> {
        if !folder.join("board.toml").is_file() {
            return None;
        }
        let wrong = |error: std::io::Error| BoardError {
            file: folder.display().to_string(),
            what: error.to_string(),
        };
        let path = match folder.canonicalize() {
            Ok(path) => path,
            Err(error) => return Some(Err(wrong(error))),
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let read = |file: &str| fs::read_to_string(path.join(file)).ok();
        Some(Self::parse(name, Some(path.clone()), &read))
    }

    /// Parses a board's files; `read` gives the text of one that there is.
    fn parse(
        name: String,
        path: Option<PathBuf>,
        read: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, BoardError> {
        let shown = path.as_ref().map_or_else(|| name.clone(), |path| path.display().to_string());
        let wrong = |file: &str, what: String| BoardError { file: format!("{shown}/{file}"), what };
        let in_settings = |what: String| wrong("board.toml", what);
        let text = read("board.toml").ok_or_else(|| in_settings("it is no text".into()))?;
        let file = BoardFile::parse(&text).map_err(in_settings)?;
        if file.probe.is_some() == file.emulator.is_some() {
            let what = "give either `probe` or `[emulator]`, which starts an image";
            return Err(in_settings(what.into()));
        }
        let linker_script = read("memory.x");
        let memories = match (&linker_script, &file.memory) {
            (Some(script), None) => {
                let region = |name: &str| {
                    region(script, name).ok_or_else(|| {
                        let line = format!("{name} : ORIGIN = 0x20000000, LENGTH = 64K");
                        wrong("memory.x", format!("it has no line like `{line}`; add one"))
                    })
                };
                [region("FLASH")?, region("RAM")?]
            }
            (None, Some(memory)) => [1024 * memory.flash_kilobytes, 1024 * memory.ram_kilobytes],
            _ => {
                let what =
                    "give the memory only once: as memory.x beside it, or as a table [memory]";
                return Err(in_settings(what.into()));
            }
        };
        let (sources, flash, sensors) =
            sources(&file, read).map_err(|(file, what)| wrong(&file, what))?;
        let has_images = read("board.rs").is_some();
        Ok(Self { name, path, file, linker_script, memories, sources, flash, sensors, has_images })
    }
}

/// What a board names: `board.rs` and both `line.rs`; `flash.rs`; `bus.rs` and what drives a sensor.
type Sources = ([String; 3], Option<String>, [Option<String>; 3]);

/// The sources that a board names, from its folder or from those beside the known boards; else the file at fault.
fn sources(
    file: &BoardFile,
    read: &dyn Fn(&str) -> Option<String>,
) -> Result<Sources, (String, String)> {
    let source = |file: &str| {
        let known = || fishweir_boards::text(file).map(str::to_owned);
        let missing = "there is no such file, nor one of this name beside the known boards";
        read(file).or_else(known).ok_or_else(|| (file.to_owned(), missing.to_owned()))
    };
    let SourcesFile { board, sends, answers, i2c, adc, microphone } = &file.sources;
    let flash = file.update.as_ref().map(|update| source(&update.source)).transpose()?;
    let mut sensors = [const { None }; 3];
    for (slot, name) in sensors.iter_mut().zip([i2c, adc, microphone]) {
        *slot = name.as_deref().map(source).transpose()?;
    }
    Ok(([source(board)?, source(sends)?, source(answers)?], flash, sensors))
}

/// Text that stays as long as the program runs: boards are few.
pub(crate) fn kept(text: &str) -> &'static str {
    Box::leak(text.into())
}

/// The line of a memory in a linker's script.
fn line_of<'s>(script: &'s str, name: &str) -> Option<&'s str> {
    script.lines().find(|line| {
        line.trim_start().strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(':'))
    })
}

/// Bytes of a memory in a linker's script.
fn region(script: &str, name: &str) -> Option<usize> {
    let length = line_of(script, name)?.split("LENGTH").nth(1)?;
    bytes(length.trim_start().strip_prefix('=')?)
}

/// Where the flash of a linker's script begins, and the script with as many bytes of it as `length` says.
pub(crate) fn with_flash(
    script: &str,
    length: impl Fn(u64) -> Option<u64>,
) -> Option<(u64, String)> {
    let line = line_of(script, "FLASH")?;
    let origin = line.split("ORIGIN").nth(1)?.trim_start().strip_prefix('=')?;
    let origin = bytes(origin.split(',').next()?)? as u64;
    let (before, _) = line.split_once("LENGTH")?;
    let length = length(origin)?;
    Some((origin, script.replacen(line, &format!("{before}LENGTH = {length}"), 1)))
}

/// A number of bytes, as linkers read it.
pub(crate) fn bytes(text: &str) -> Option<usize> {
    let length = text.trim();
    let (digits, unit) = match length.strip_suffix(['K', 'M']) {
        Some(digits) if length.ends_with('K') => (digits, 1 << 10),
        Some(digits) => (digits, 1 << 20),
        None => (length, 1),
    };
    let digits = digits.trim();
    let number = match digits.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    number.ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_of_a_board_is_in_order() {
        let names: Vec<&str> = fishweir_boards::names().collect();
        for name in &names {
            let folder = BoardFolder::known(name).map_err(|error| error.to_string());
            let folder = folder.expect("in order");
            assert!(folder.memories.iter().all(|&bytes| bytes >= 16 << 10), "{name}");
        }
        assert_eq!(FOLDERS.len(), names.len());
        let defaults = FOLDERS.iter().filter(|folder| folder.file.default);
        assert_eq!(defaults.count(), 1, "one board is the default");
    }

    /// What cargo runs by hand is what programs run: target and machine are said in two files of a board.
    #[test]
    fn settings_of_cargo_are_those_of_the_board() {
        let with_images = FOLDERS.iter().filter(|folder| folder.has_images);
        let mut seen = 0;
        for BoardFolder { name, file, .. } in with_images {
            let path = format!("{name}/.cargo/config.toml");
            let text = fishweir_boards::text(&path).unwrap_or_else(|| panic!("{path}"));
            let settings: toml::Table = text.parse().expect("TOML");
            assert_eq!(settings["build"]["target"].as_str(), Some(&*file.target), "{path}");
            // Cargo takes the dots of a target for those of a path.
            let own = file.target.split('.').try_fold(&settings["target"], |at, key| at.get(key));
            let runner = own.and_then(|own| own["runner"].as_array()).expect("a command");
            let runner: Vec<&str> = runner.iter().filter_map(toml::Value::as_str).collect();
            let emulator = file.emulator.as_ref().expect("an emulator");
            let machine = emulator.arguments.iter().map(String::as_str);
            let command: Vec<&str> = [&*emulator.program].into_iter().chain(machine).collect();
            assert!(runner.starts_with(&command), "{path}: {runner:?} for {command:?}");
            assert!(text.contains(&format!("boards/{path}")), "{path}: its page names it");
            seen += 1;
        }
        assert_eq!(seen, crate::device::BOARDS.len());
    }

    #[test]
    fn memories_are_read_in_any_unit() {
        let script = "/* RAM : of no line */\nMEMORY\n{\n  FLASH : ORIGIN = 0, LENGTH = 2M\n  \
                      RAM   : ORIGIN = 0x20000000, LENGTH = 0x4000\n}\n";
        assert_eq!([region(script, "FLASH"), region(script, "RAM")], [Some(2 << 20), Some(0x4000)]);
        assert_eq!(region("RAM : ORIGIN = 0, LENGTH = 36K", "RAM"), Some(36 << 10));
        assert_eq!(region("RAM : ORIGIN = 0, LENGTH = much", "RAM"), None);
    }

    #[test]
    fn what_is_wrong_in_a_folder_is_named_with_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(BoardFolder::at(folder.path()).is_none());
        let put =
            |file: &str, text: &str| fs::write(folder.path().join(file), text).expect("writes");
        let told = || {
            let read = BoardFolder::at(folder.path()).expect("a folder of a board");
            read.expect_err("not in order").to_string()
        };
        put("board.toml", "title = 3\n");
        assert!(told().contains("board.toml: ") && told().contains("line 1"), "{}", told());
        let settings = "title = 'a'\ncore = 'Cortex-M3'\ntarget = 't'\nplatform = 'emulated-arm'\nprobe = 'x'\n\
                        clock = { hertz = 1, part = 'p' }\npackages = { lines = '', link = [] }\n\
                        sources = { board = 'b.rs', sends = 's.rs', answers = 's.rs' }\n";
        put("board.toml", settings);
        assert!(told().contains("give the memory only once"), "{}", told());
        put("memory.x", "FLASH : ORIGIN = 0, LENGTH = 1K\n");
        assert!(told().contains("memory.x: it has no line like `RAM"), "{}", told());
        put("memory.x", "FLASH : ORIGIN = 0, LENGTH = 1K\nRAM : ORIGIN = 0, LENGTH = 1K\n");
        assert!(told().contains("b.rs: there is no such file"), "{}", told());
        put("board.toml", &settings.replace("probe", "prob"));
        assert!(told().contains("unknown field `prob`"), "{}", told());
    }
}
