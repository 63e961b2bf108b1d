//! Native modules of MicroPython around a model, as a folder.

mod mpy;

use std::fs;
use std::path::Path;

use super::c_library::{check_free, put, unwritten};
use super::{DeviceError, Firmware, ModelFile, check_c_prefix};

/// Version of MicroPython's native interface: the end of a module's folder, as its packages call it.
const INTERFACE: &str = "6.3";

/// An architecture that modules are made for.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleArchitecture {
    /// MicroPython's name.
    pub name: &'static str,
    /// Cores and boards that have it.
    pub boards: &'static str,
    /// Rust's name of the target.
    pub target: &'static str,
    /// Its number in a file.
    code: u8,
    /// Bytes of an address.
    word: usize,
    /// Number of the relocation that adds the address of the code.
    relative: u64,
}

/// All architectures of modules.
pub static MODULE_ARCHITECTURES: [ModuleArchitecture; 5] = [
    ModuleArchitecture {
        name: "armv6m",
        boards: "Cortex-M0, M0+: Raspberry Pi Pico (RP2040)",
        target: "thumbv6m-none-eabi",
        code: 4,
        word: 4,
        relative: 23,
    },
    ModuleArchitecture {
        name: "armv7m",
        boards: "Cortex-M3",
        target: "thumbv7m-none-eabi",
        code: 5,
        word: 4,
        relative: 23,
    },
    ModuleArchitecture {
        name: "armv7emsp",
        boards: "Cortex-M4F, M7, M33: Pyboard, Pico 2 (RP2350), nRF52840, STM32",
        target: "thumbv7em-none-eabihf",
        code: 7,
        word: 4,
        relative: 23,
    },
    ModuleArchitecture {
        name: "rv32imc",
        boards: "RISC-V: ESP32-C3, ESP32-C6, Pico 2 on its RISC-V cores",
        target: "riscv32imc-unknown-none-elf",
        code: 11,
        word: 4,
        relative: 3,
    },
    ModuleArchitecture {
        name: "x64",
        boards: "MicroPython on Linux",
        target: "x86_64-unknown-linux-gnu",
        code: 2,
        word: 8,
        relative: 8,
    },
];

impl Firmware {
    /// Writes a folder with a module of MicroPython for each architecture, `ARCHITECTURE_6.3/NAME.mpy` with the `package.json`
    /// of its package installer, and a page; and returns the bytes of the modules. The folder is new, empty, or one that was
    /// written so before: modules of other architectures go then, for they hold another model.
    ///
    /// # Errors
    /// When the name is none of a module; when there is something else in the folder; when cargo refuses, or Rust's library
    /// for an architecture is missing; when a file cannot be written.
    pub fn micropython(
        &self,
        model: ModelFile<'_>,
        name: &str,
        architectures: &[&'static ModuleArchitecture],
        folder: &Path,
    ) -> Result<usize, DeviceError> {
        check_c_prefix(name)?;
        let page = folder.join("README.md");
        let title = format!("# {name}: a module of MicroPython, by fishweir\n");
        let is_ours = || fs::read_to_string(&page).is_ok_and(|text| text.starts_with(&title));
        check_free(folder, is_ours)?;
        for other in &MODULE_ARCHITECTURES {
            let stale = folder.join(format!("{}_{INTERFACE}", other.name));
            if stale.is_dir() {
                fs::remove_dir_all(&stale).map_err(|source| unwritten(&stale, source))?;
            }
        }
        let version = env!("CARGO_PKG_VERSION");
        let (mut bytes, mut rows) = (0, String::new());
        put(&page, title.as_bytes())?;
        for architecture in architectures {
            let elf = self.module(architecture.target, model)?;
            let module = mpy::module_file(&elf, architecture, name)
                .map_err(|message| DeviceError::Image { path: folder.to_owned(), message })?;
            let place = format!("{}_{INTERFACE}", architecture.name);
            rows +=
                &format!("| `{place}/{name}.mpy` | {} | {} |\n", architecture.boards, module.len());
            bytes += module.len();
            put(&folder.join(&place).join(format!("{name}.mpy")), &module)?;
            let package = include_str!("package.json")
                .replace("{{name}}", name)
                .replace("{{version}}", version);
            put(&folder.join(&place).join("package.json"), package.as_bytes())?;
        }
        let first = architectures.first().map_or("", |one| one.name);
        let text = include_str!("README.md")
            .replace("{{name}}", name)
            .replace("{{first}}", &format!("{first}_{INTERFACE}"))
            .replace("{{rows}}\n", &rows)
            .replace("{{interface}}", INTERFACE);
        put(&page, (title + &text).as_bytes())?;
        Ok(bytes)
    }
}
