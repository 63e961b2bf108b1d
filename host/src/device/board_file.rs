//! A board as its folder has it: `board.toml`, the memories, and the sources of a project.
//!
//! The folders of `fishweir-boards` travel with the program. A folder of one's own is read when it is named.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;

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

impl BoardFolder {
    /// A board that travels with the program.
    fn known(name: &str) -> Result<Self, BoardError> {
        let text = |path: &str| fishweir_boards::text(path).map(str::to_owned);
        Self::parse(name.to_owned(), None, &|file| text(&format!("{name}/{file}")))
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
        let file: BoardFile = toml::from_str(&text)
            .map_err(|error| in_settings(error.to_string().trim_end().to_owned()))?;
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
        let source = |file: &str| {
            let known = || fishweir_boards::text(file).map(str::to_owned);
            read(file).or_else(known).ok_or_else(|| {
                wrong(
                    file,
                    "there is no such file, nor one of this name beside the known boards".into(),
                )
            })
        };
        let SourcesFile { board, sends, answers } = &file.sources;
        let sources = [source(board)?, source(sends)?, source(answers)?];
        let has_images = read("board.rs").is_some();
        Ok(Self { name, path, file, linker_script, memories, sources, has_images })
    }
}

/// Text that stays as long as the program runs: boards are few.
pub(crate) fn kept(text: &str) -> &'static str {
    Box::leak(text.into())
}

/// Bytes of a memory in a linker's script.
fn region(script: &str, name: &str) -> Option<usize> {
    let line = script.lines().find(|line| {
        line.trim_start().strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(':'))
    })?;
    let length = line.split("LENGTH").nth(1)?.trim_start().strip_prefix('=')?.trim();
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
