//! Chips of the families that projects have sources for: from a chip's name, what its board's `board.toml` would say.
//!
//! A family is a folder of `families` with two files: `chips.toml` lists the chips in series with what those have in common, and
//! `chip.toml` is a `board.toml` with names in double braces.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use toml::{Table, Value};

use super::board_file::bytes;

/// Reason why there is no board for a chip.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum ChipError {
    /// No family has the chip.
    #[error(
        "no chip `{name}` is known; near it are {near}. For another chip write a folder with a board.toml, and give --board its path"
    )]
    #[strum(serialize = "unknown-chip")]
    Unknown {
        /// Requested name.
        name: String,
        /// Names of chips that are spelled like it.
        near: String,
    },
    /// Sources of a family that are not in order.
    #[error("{chip}: {what}; the files of its family are damaged")]
    #[strum(serialize = "bad-board")]
    Family {
        /// Requested name.
        chip: String,
        /// Fault.
        what: String,
    },
    /// Memories that are not two.
    #[error(
        "memories `{text}`: {what}; give flash and RAM, each as LENGTH or ORIGIN:LENGTH, for instance {example}"
    )]
    #[strum(serialize = "bad-memories")]
    Memory {
        /// The text.
        text: String,
        /// Fault of it.
        what: &'static str,
        /// A text without fault.
        example: &'static str,
    },
}

/// `chips.toml` of a family.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyFile {
    /// Origins of the memories, if the family has a `memory.x`.
    flash: Option<u64>,
    ram: Option<u64>,
    /// Template of `memory.x`.
    memory: Option<String>,
    #[serde(default)]
    values: BTreeMap<String, String>,
    series: Vec<SeriesFile>,
}

/// Chips that have much in common.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeriesFile {
    core: String,
    hertz: u32,
    /// Lines of names: a beginning, and endings if there are several.
    chips: String,
    memory: Option<String>,
    /// Bytes at the start of flash that are not the program's.
    #[serde(default)]
    boot: u64,
    #[serde(default)]
    values: BTreeMap<String, String>,
    /// What its boards say beside what those of the family do.
    #[serde(default)]
    board: Table,
}

/// A family.
#[derive(Debug)]
struct Family {
    /// `chip.toml`.
    template: &'static str,
    file: FamilyFile,
}

/// A chip of a family.
#[derive(Debug)]
pub(crate) struct Chip {
    family: &'static Family,
    series: &'static SeriesFile,
    /// Name in print.
    part: String,
    /// Name as it was given, if that says the package too.
    given: String,
}

/// A memory: where it begins, if that was said, and its bytes.
type Memory = (Option<u64>, u64);

/// Memories of a board with a chip: their bytes, and `memory.x` where the family has one.
#[derive(Debug)]
pub(crate) struct ChipMemories {
    pub(crate) bytes: [usize; 2],
    pub(crate) linker_script: Option<String>,
}

crate::kinds!(ChipError);

static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let files = fishweir_boards::FILES.iter();
    let families = files.filter_map(|(path, text)| {
        let folder = path.strip_suffix("/chips.toml")?;
        let template = fishweir_boards::text(&format!("{folder}/chip.toml"))?;
        Some(Family { template, file: toml::from_str(text).ok()? })
    });
    families.collect()
});

/// Names that are shown for one that is unknown.
const NEAR: usize = 5;
/// Letters of a package, of a temperature and of their kin, at the most, after the name of a chip.
const PACKAGE: usize = 5;
const EXAMPLE: &str = "0x08000000:1M,0x20000000:96K";

/// Target of a core, as Rust names it.
fn target(core: &str) -> &'static str {
    match core {
        "Cortex-M0" | "Cortex-M0+" => "thumbv6m-none-eabi",
        "Cortex-M3" => "thumbv7m-none-eabi",
        "Cortex-M4" => "thumbv7em-none-eabi",
        "Cortex-M33" => "thumbv8m.main-none-eabihf",
        "RV32IMC" => "riscv32imc-unknown-none-elf",
        "RV32IMAC" => "riscv32imac-unknown-none-elf",
        _ => "thumbv7em-none-eabihf",
    }
}

impl SeriesFile {
    /// Names of the chips in print.
    fn names(&self) -> impl Iterator<Item = String> {
        self.chips.lines().flat_map(|line| {
            let mut words = line.split_whitespace();
            let stem = words.next().unwrap_or_default();
            let endings: Vec<&str> = words.collect();
            match (stem, endings.is_empty()) {
                ("", _) => Vec::new(),
                (_, true) => vec![stem.to_owned()],
                (_, false) => endings.iter().map(|ending| format!("{stem}{ending}")).collect(),
            }
        })
    }
}

/// A name as it is compared, and as the packages have it.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "")
}

/// Names of the chips that are most like a plain name.
fn near(wanted: &str) -> Vec<String> {
    let series = FAMILIES.iter().flat_map(|family| &family.file.series);
    let names = series.flat_map(SeriesFile::names);
    let mut near: Vec<(usize, String)> =
        names.map(|one| (strsim::damerau_levenshtein(&plain(&one), wanted), one)).collect();
    near.sort();
    near.into_iter().take(NEAR).map(|(_, part)| part).collect()
}

/// Returns whether what follows the name of a chip may be its package.
fn is_package(rest: &str) -> bool {
    let starts = rest.starts_with('_') || rest.starts_with(|c: char| c.is_ascii_alphabetic());
    rest.is_empty() || starts && rest.len() <= PACKAGE
}

impl Chip {
    /// The chip of a name, in capitals or not, with the letters of its package or without.
    pub(crate) fn named(name: &str) -> Result<Self, ChipError> {
        let wanted = plain(name);
        let mut found: Option<Self> = None;
        for family in FAMILIES.iter() {
            for series in &family.file.series {
                for part in series.names() {
                    let one = plain(&part);
                    let fits = wanted.strip_prefix(&one).is_some_and(is_package);
                    // Of two that fit the longer name says more.
                    if fits && found.as_ref().is_none_or(|other| other.part.len() < part.len()) {
                        let is_whole = one == wanted;
                        let given = if is_whole { part.clone() } else { name.to_owned() };
                        found = Some(Self { family, series, part, given });
                    }
                }
            }
        }
        found.ok_or_else(|| ChipError::Unknown {
            name: name.to_owned(),
            near: near(&wanted).join(", "),
        })
    }

    /// Name of the chip as the packages have it: that of a board without another.
    pub(crate) fn name(&self) -> String {
        plain(&self.part)
    }

    /// What `board.toml` says where a board's own says nothing else.
    pub(crate) fn defaults(&self) -> Result<Table, String> {
        let Self { family, series, part, given } = self;
        let mut values: BTreeMap<&str, String> = BTreeMap::new();
        for (name, text) in family.file.values.iter().chain(&series.values) {
            values.insert(name, text.clone());
        }
        values.entry("chip").or_insert_with(|| self.name());
        let own = [("part", part), ("given", given), ("core", &series.core)];
        values.extend(own.map(|(name, text)| (name, text.clone())));
        values.insert("hertz", series.hertz.to_string());
        values.insert("target", target(&series.core).to_owned());
        let mut text = family.template.to_owned();
        for (name, value) in values {
            text = text.replace(&format!("{{{{{name}}}}}"), &value);
        }
        let mut table = text.parse::<Table>().map_err(|error| error.to_string())?;
        overlay(&mut table, series.board.clone());
        Ok(table)
    }

    /// The memories that a text says: flash and RAM, each a length or an origin and a length.
    pub(crate) fn memories(&self, title: &str, text: &str) -> Result<ChipMemories, ChipError> {
        let wrong = |what| Err(ChipError::Memory { text: text.to_owned(), what, example: EXAMPLE });
        let parts: Vec<Option<Memory>> = text.split(',').map(memory).collect();
        let [Some(flash), Some(ram)] = parts[..] else {
            return wrong("it is not two memories with lengths");
        };
        let file = &self.family.file;
        let lengths = [flash.1, ram.1];
        let [Ok(flash_bytes), Ok(ram_bytes)] = lengths.map(usize::try_from) else {
            return wrong("a length is too large");
        };
        let bytes = [flash_bytes, ram_bytes];
        let template = self.series.memory.as_ref().or(file.memory.as_ref());
        let Some(template) = template.and_then(|path| fishweir_boards::text(path)) else {
            // The packages of the family tell the linker.
            if flash.0.or(ram.0).is_some() {
                return wrong(
                    "the packages of this chip know where its memories begin: leave the origins out",
                );
            }
            return Ok(ChipMemories { bytes, linker_script: None });
        };
        let origins = [flash.0.or(file.flash), ram.0.or(file.ram)].map(Option::unwrap_or_default);
        let ends = [0, 1].map(|one| origins[one].saturating_add(lengths[one]));
        if ends.iter().any(|&end| end > 1 << 32) {
            return wrong("a memory goes beyond 4 GB");
        }
        if origins[0] < ends[1] && origins[1] < ends[0] {
            return wrong("the two memories overlap");
        }
        let boot = self.series.boot;
        let Some(rest) = lengths[0].checked_sub(boot).filter(|&rest| rest > 0) else {
            return wrong("the flash has no room for a program");
        };
        let values = [
            ("title", title.to_owned()),
            ("flash_origin", format!("{:#010x}", origins[0] + boot)),
            ("flash_length", size(rest)),
            ("ram_origin", format!("{:#010x}", origins[1])),
            ("ram_length", size(lengths[1])),
            ("boot_origin", format!("{:#010x}", origins[0])),
            ("boot_length", format!("{boot:#x}")),
        ];
        let mut script = template.to_owned();
        for (name, value) in values {
            script = script.replace(&format!("{{{{{name}}}}}"), &value);
        }
        Ok(ChipMemories { bytes, linker_script: Some(script) })
    }
}

/// A memory as it is given: `LENGTH` or `ORIGIN:LENGTH`.
fn memory(text: &str) -> Option<Memory> {
    let (origin, length) = match text.trim().split_once(':') {
        Some((origin, length)) => (Some(bytes(origin)? as u64), length),
        None => (None, text),
    };
    let length = bytes(length)? as u64;
    (length > 0).then_some((origin, length))
}

/// A length as linkers read it.
fn size(bytes: u64) -> String {
    if bytes.is_multiple_of(1024) { format!("{}K", bytes / 1024) } else { bytes.to_string() }
}

/// Puts one table over another: of tables in both each name by itself.
pub(crate) fn overlay(under: &mut Table, over: Table) {
    for (name, value) in over {
        match (under.get_mut(&name), value) {
            (Some(Value::Table(under)), Value::Table(over)) => overlay(under, over),
            (_, value) => _ = under.insert(name, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::board_file::BoardFolder;

    #[test]
    fn every_chip_of_every_family_is_a_board() {
        let mut chips = 0;
        assert_eq!(FAMILIES.len(), 4, "a family's files are in order");
        for family in FAMILIES.iter() {
            for name in family.file.series.iter().flat_map(SeriesFile::names) {
                let folder = BoardFolder::of_chip(&name, "512K,64K");
                let folder = folder.unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(folder.file.clock.part, name);
                assert!(!folder.file.packages.lines.contains("{{"), "{name}");
                assert!(folder.linker_script.is_none_or(|script| !script.contains("{{")), "{name}");
                chips += 1;
            }
        }
        assert!(chips > 1300, "{chips}");
    }

    #[test]
    fn a_chip_is_found_by_its_name_with_its_package_or_without() {
        for (name, part, given) in [
            ("STM32L476RG", "STM32L476RG", "STM32L476RG"),
            ("stm32l476rg", "STM32L476RG", "STM32L476RG"),
            ("STM32L476RGTx", "STM32L476RG", "STM32L476RGTx"),
            ("nRF52832_xxAA", "nRF52832", "nRF52832_xxAA"),
            ("esp32c6", "ESP32-C6", "ESP32-C6"),
            ("RP2350", "RP2350", "RP2350"),
            ("RP2350B", "RP2350B", "RP2350B"),
        ] {
            let chip = Chip::named(name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((&*chip.part, &*chip.given), (part, given), "{name}");
        }
        for (name, near) in [("STM32L476XX", "STM32L476JE"), ("nrf52480", "nRF52840"), ("", "")] {
            let error = Chip::named(name).expect_err("none").to_string();
            assert!(error.contains(near) && error.contains("--board"), "{error}");
        }
        for name in ["nrf528400", "stm32l476rgtxabcd"] {
            assert!(Chip::named(name).is_err(), "{name}");
        }
    }

    #[test]
    fn memories_are_where_they_are_said_to_be() {
        let of = |chip: &str, text: &str| {
            Chip::named(chip).and_then(|chip| chip.memories("a board", text))
        };
        let memories = of("STM32L476RG", "1M,96K").expect("memories");
        assert_eq!(memories.bytes, [1 << 20, 96 << 10]);
        let script = memories.linker_script.expect("a script");
        assert!(script.contains("FLASH : ORIGIN = 0x08000000, LENGTH = 1024K"), "{script}");
        assert!(script.contains("RAM   : ORIGIN = 0x20000000, LENGTH = 96K"), "{script}");
        let script = of("STM32L476RG", "0x08008000:0x10000,0x10000000:32K").expect("memories");
        let script = script.linker_script.expect("a script");
        assert!(script.contains("0x08008000, LENGTH = 64K") && script.contains("0x10000000"));
        let script = of("RP2040", "2M,256K").expect("memories").linker_script.expect("a script");
        assert!(script.contains("0x10000100, LENGTH = 2096896"), "{script}");
        assert!(script.contains("0x10000000, LENGTH = 0x100"), "{script}");
        assert!(of("ESP32-C6", "4M,400K").expect("memories").linker_script.is_none());
        for (chip, text, wanted) in [
            ("STM32L476RG", "1M", "not two memories"),
            ("STM32L476RG", "1M,96K,1K", "not two memories"),
            ("STM32L476RG", "1M,much", "not two memories"),
            ("STM32L476RG", "1M,0", "not two memories"),
            ("STM32L476RG", "0x20000000:1M,96K", "overlap"),
            ("STM32L476RG", "0xffffffff:1M,96K", "4 GB"),
            ("RP2040", "256,64K", "no room"),
            ("ESP32-C6", "0x42000000:4M,400K", "leave the origins out"),
        ] {
            let error = of(chip, text).expect_err("refused").to_string();
            assert!(error.contains(wanted) && error.contains(EXAMPLE), "{text}: {error}");
        }
    }
}
