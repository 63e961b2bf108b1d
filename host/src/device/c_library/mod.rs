//! The C interface as a folder: headers, a library for each core, and what Arduino, Zephyr and plain gcc want.

use std::fs;
use std::path::Path;

use super::{DeviceError, Firmware, ModelFile};

/// A core that C programs are compiled for.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CCore {
    /// Its name: the folder of Arduino's builds, below `src`.
    pub name: &'static str,
    /// Rust's name of the target.
    pub target: &'static str,
    /// The folder of the library below `src`, as Arduino looks for it.
    pub folder: &'static str,
    /// What gcc is told.
    pub flags: &'static str,
    /// What Zephyr calls it.
    zephyr: &'static str,
}

/// All cores, by their size.
pub static C_CORES: [CCore; 4] = [
    CCore {
        name: "cortex-m0plus",
        target: "thumbv6m-none-eabi",
        folder: "cortex-m0plus",
        flags: "-mcpu=cortex-m0plus -mthumb -mfloat-abi=soft",
        zephyr: "CONFIG_CPU_CORTEX_M0 OR CONFIG_CPU_CORTEX_M0PLUS",
    },
    CCore {
        name: "cortex-m3",
        target: "thumbv7m-none-eabi",
        folder: "cortex-m3",
        flags: "-mcpu=cortex-m3 -mthumb -mfloat-abi=soft",
        zephyr: "CONFIG_CPU_CORTEX_M3",
    },
    CCore {
        name: "cortex-m4",
        target: "thumbv7em-none-eabihf",
        folder: "cortex-m4/fpv4-sp-d16-hard",
        flags: "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard",
        zephyr: "CONFIG_CPU_CORTEX_M4 AND CONFIG_FP_HARDABI",
    },
    CCore {
        name: "cortex-m33",
        target: "thumbv8m.main-none-eabihf",
        folder: "cortex-m33/fpv5-sp-d16-hard",
        flags: "-mcpu=cortex-m33 -mthumb -mfpu=fpv5-sp-d16 -mfloat-abi=hard",
        zephyr: "CONFIG_CPU_CORTEX_M33 AND CONFIG_FP_HARDABI",
    },
];

impl Firmware {
    /// Writes a folder that is a library of Arduino, a module of Zephyr, and of use to gcc alone: `src/fishweir.h`,
    /// `src/fishweir_model.h`, a `libfishweir.a` for each core, and `example/`, a program for QEMU. The folder is new,
    /// empty, or one that was written so before: libraries of other cores go then, for they hold another model.
    ///
    /// # Errors
    /// When there is something else in the folder; when cargo refuses, or Rust's library for a core is missing; when a
    /// file cannot be written.
    pub fn c_library(
        &self,
        model: ModelFile<'_>,
        cores: &[&'static CCore],
        folder: &Path,
    ) -> Result<(), DeviceError> {
        let source = folder.join("src");
        let occupied = folder.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        if occupied && !source.join("fishweir.h").is_file() {
            let there = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
            return Err(DeviceError::File {
                path: folder.to_owned(),
                what: "there are other files in it; name another folder",
                source: there,
            });
        }
        for other in C_CORES.iter().filter(|core| !cores.contains(core)) {
            let stale = source.join(other.folder).join("libfishweir.a");
            if stale.is_file() {
                fs::remove_file(&stale).map_err(|error| unwritten(&stale, error))?;
            }
        }
        for core in cores {
            let place = source.join(core.folder);
            fs::create_dir_all(&place).map_err(|error| unwritten(&place, error))?;
            self.c_archive(core.target, model, &source, &place.join("libfishweir.a"))?;
        }
        let branches: Vec<String> =
            cores.iter().enumerate().map(|(n, core)| branch(n, core)).collect();
        let built: Vec<String> = cores
            .iter()
            .map(|core| {
                include_str!("gcc.txt")
                    .replace("{{flags}}", core.flags)
                    .replace("{{folder}}", core.folder)
            })
            .collect();
        let version = env!("CARGO_PKG_VERSION");
        let files = [
            (
                "library.properties",
                include_str!("library.properties").replace("{{version}}", version),
            ),
            (
                "README.md",
                include_str!("README.md").replace("{{gcc}}", built.join("\n").trim_end()),
            ),
            ("examples/Classify/Classify.ino", include_str!("Classify.ino").to_owned()),
            ("zephyr/module.yml", include_str!("module.yml").to_owned()),
            ("zephyr/Kconfig", include_str!("Kconfig").to_owned()),
            (
                "zephyr/CMakeLists.txt",
                include_str!("CMakeLists.txt").replace("{{branches}}", &branches.concat()),
            ),
        ];
        for (name, text) in files {
            put(&folder.join(name), text.as_bytes())?;
        }
        let example = self.c_folder().join("example");
        for name in
            ["board.c", "board.h", "main.c", "mps2_an386.ld", "startup.c", "coins/recording.h"]
        {
            let from = example.join(name);
            let bytes = fs::read(&from).map_err(|source| DeviceError::File {
                path: from,
                what: "cannot be read",
                source,
            })?;
            put(&folder.join("example").join(name.trim_start_matches("coins/")), &bytes)?;
        }
        Ok(())
    }
}

/// Of CMake: the library of a core.
fn branch(number: usize, core: &CCore) -> String {
    let start = if number == 0 { "if" } else { "elseif" };
    format!("  {start}({})\n    set(FISHWEIR_CORE {})\n", core.zephyr, core.folder)
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), DeviceError> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| unwritten(parent, error))?;
    }
    fs::write(path, bytes).map_err(|error| unwritten(path, error))
}

fn unwritten(path: &Path, source: std::io::Error) -> DeviceError {
    DeviceError::File { path: path.to_owned(), what: "cannot be written", source }
}
