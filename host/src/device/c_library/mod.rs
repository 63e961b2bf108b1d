//! The C interface as a folder: headers, a library for each core, and the files of Arduino, Zephyr and plain gcc.

use std::fs;
use std::path::Path;

use super::{DeviceError, Firmware, ModelFile};

/// Prefix of names in the C interface, unless another is given.
pub const C_PREFIX: &str = "fishweir";

/// Prefixes whose header would stand before one of C's own.
const HEADERS_OF_C: [&str; 31] = [
    "assert",
    "complex",
    "ctype",
    "errno",
    "fenv",
    "float",
    "inttypes",
    "iso646",
    "limits",
    "locale",
    "math",
    "setjmp",
    "signal",
    "stdalign",
    "stdarg",
    "stdatomic",
    "stdbit",
    "stdbool",
    "stdckdint",
    "stddef",
    "stdint",
    "stdio",
    "stdlib",
    "stdnoreturn",
    "string",
    "strings",
    "tgmath",
    "threads",
    "time",
    "uchar",
    "wchar",
];

/// Prefixes whose library a linker would take for one of the compiler's own, by `-lPREFIX`.
const LIBRARIES_OF_C: [&str; 5] = ["c", "g", "gcc", "m", "nosys"];

/// Prefixes whose header would be another one of the example's.
const HEADERS_OF_EXAMPLE: [&str; 2] = ["board", "recording"];

/// A core that C programs are compiled for.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CCore {
    /// Name of the core.
    pub name: &'static str,
    /// Rust's name of the target.
    pub target: &'static str,
    /// The folder of the library below `src`, as Arduino looks for it.
    pub folder: &'static str,
    /// Flags for gcc.
    pub flags: &'static str,
    /// Condition of Zephyr's settings for the core.
    zephyr: &'static str,
    /// Architectures of Arduino whose boards have the core, and floats as here; empty if none has.
    arduino: &'static str,
    /// A machine of QEMU that runs the example's build for the core; empty if there is none.
    machine: &'static str,
}

/// All cores, by their size.
pub static C_CORES: [CCore; 10] = [
    CCore {
        name: "cortex-m0plus",
        target: "thumbv6m-none-eabi",
        folder: "cortex-m0plus",
        flags: "-mcpu=cortex-m0plus -mthumb -mfloat-abi=soft",
        zephyr: "CONFIG_CPU_CORTEX_M0 OR CONFIG_CPU_CORTEX_M0PLUS",
        arduino: "mbed_rp2040,rp2040,samd,stm32",
        machine: MPS2,
    },
    CCore {
        name: "cortex-m23",
        // Whatever runs on a Cortex-M0 does on it.
        target: "thumbv6m-none-eabi",
        folder: "cortex-m23",
        flags: "-mcpu=cortex-m23 -mthumb -mfloat-abi=soft",
        zephyr: "CONFIG_CPU_CORTEX_M23",
        arduino: "",
        machine: MPS2,
    },
    CCore {
        name: "cortex-m3",
        target: "thumbv7m-none-eabi",
        folder: "cortex-m3",
        flags: "-mcpu=cortex-m3 -mthumb -mfloat-abi=soft",
        zephyr: "CONFIG_CPU_CORTEX_M3",
        arduino: "sam,stm32",
        machine: MPS2,
    },
    CCore {
        name: "cortex-m4",
        target: "thumbv7em-none-eabihf",
        folder: "cortex-m4/fpv4-sp-d16-hard",
        flags: "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard",
        zephyr: "CONFIG_CPU_CORTEX_M4 AND CONFIG_FP_HARDABI",
        arduino: "renesas_uno,samd,stm32",
        machine: MPS2,
    },
    CCore {
        name: "cortex-m4-softfp",
        // Floats in integer registers, as these boards pass them; the library computes without the FPU.
        target: "thumbv7m-none-eabi",
        folder: "cortex-m4/fpv4-sp-d16-softfp",
        flags: "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=softfp",
        zephyr: "CONFIG_CPU_CORTEX_M4 AND NOT CONFIG_FP_HARDABI",
        arduino: "mbed_nano",
        machine: MPS2,
    },
    CCore {
        name: "cortex-m7",
        target: "thumbv7em-none-eabihf",
        folder: "cortex-m7/fpv5-d16-hard",
        flags: "-mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard",
        zephyr: "CONFIG_CPU_CORTEX_M7 AND CONFIG_FP_HARDABI",
        arduino: "stm32",
        machine: "mps2-an500",
    },
    CCore {
        name: "cortex-m33",
        target: "thumbv8m.main-none-eabihf",
        folder: "cortex-m33/fpv5-sp-d16-hard",
        flags: "-mcpu=cortex-m33 -mthumb -mfpu=fpv5-sp-d16 -mfloat-abi=hard",
        zephyr: "CONFIG_CPU_CORTEX_M33 AND CONFIG_FP_HARDABI",
        arduino: "rp2040,stm32",
        machine: "",
    },
    CCore {
        name: "cortex-m55",
        // Without its vector extension, which Rust has no target for.
        target: "thumbv8m.main-none-eabihf",
        folder: "cortex-m55/auto-hard",
        flags: "-mcpu=cortex-m55 -mthumb -mfpu=auto -mfloat-abi=hard",
        zephyr: "CONFIG_CPU_CORTEX_M55 AND CONFIG_FP_HARDABI",
        arduino: "",
        machine: "",
    },
    CCore {
        name: "rv32imc",
        target: "riscv32imc-unknown-none-elf",
        folder: "esp32c3",
        flags: "-march=rv32imc -mabi=ilp32 -mcmodel=medany",
        zephyr: "CONFIG_RISCV AND NOT CONFIG_RISCV_ISA_EXT_A AND NOT CONFIG_64BIT AND NOT CONFIG_FPU",
        arduino: "esp32",
        machine: VIRT,
    },
    CCore {
        name: "rv32imac",
        target: "riscv32imac-unknown-none-elf",
        folder: "esp32c6",
        flags: "-march=rv32imac -mabi=ilp32 -mcmodel=medany",
        zephyr: "CONFIG_RISCV AND CONFIG_RISCV_ISA_EXT_A AND NOT CONFIG_64BIT AND NOT CONFIG_FPU",
        arduino: "esp32",
        machine: VIRT,
    },
];

const MPS2: &str = "mps2-an386";
const VIRT: &str = "virt -bios none";

impl Firmware {
    /// Writes a folder that is a library of Arduino, a module of Zephyr, and of use to gcc alone: `src/fishweir.h`,
    /// `src/fishweir_model.h`, a `libfishweir.a` for each core, and `example/`, a program for QEMU. The folder is new,
    /// empty, or one that was written so before: libraries of other cores go then, for they hold another model.
    ///
    /// Names of files, functions, types and macros begin with `prefix` in place of [`C_PREFIX`]: libraries of different
    /// prefixes stand in one image.
    ///
    /// # Errors
    /// When the prefix cannot begin these names; when there is something else in the folder; when cargo refuses, or Rust's
    /// library for a core is missing; when a file cannot be written.
    pub fn c_library(
        &self,
        model: ModelFile<'_>,
        prefix: &str,
        cores: &[&'static CCore],
        folder: &Path,
    ) -> Result<(), DeviceError> {
        check_c_prefix(prefix)?;
        let archive = format!("lib{prefix}.a");
        // A symbol of Zephyr, or of another module, may be called as a prefix is.
        let module = match prefix {
            C_PREFIX => prefix.to_owned(),
            _ => format!("{C_PREFIX}_{prefix}"),
        };
        let prefixed = |text: &str| {
            text.replace("{{prefix}}", prefix)
                .replace("{{PREFIX}}", &prefix.to_ascii_uppercase())
                .replace("{{module}}", &module)
                .replace("{{MODULE}}", &module.to_ascii_uppercase())
        };
        let source = folder.join("src");
        check_free(folder, || is_library(&source, prefix))?;
        // No more yet: what a build that failed has left must not be in the way of the next.
        fs::create_dir_all(folder).map_err(|error| unwritten(folder, error))?;
        for other in C_CORES.iter().filter(|core| !cores.contains(core)) {
            let stale = source.join(other.folder).join(&archive);
            if stale.is_file() {
                fs::remove_file(&stale).map_err(|error| unwritten(&stale, error))?;
            }
        }
        for core in cores {
            let place = source.join(core.folder).join(&archive);
            self.c_archive(core.target, model, prefix, &source, &place)?;
        }
        let branches: Vec<String> =
            cores.iter().enumerate().map(|(n, core)| branch(n, core)).collect();
        let built: Vec<String> = cores.iter().map(|core| by_gcc(core)).collect();
        let version = env!("CARGO_PKG_VERSION");
        let files = [
            (
                "library.properties",
                include_str!("library.properties")
                    .replace("{{version}}", version)
                    .replace("{{url}}", env!("CARGO_PKG_REPOSITORY"))
                    .replace("{{architectures}}", &architectures(cores)),
            ),
            (
                "README.md",
                include_str!("README.md").replace("{{gcc}}", built.join("\n").trim_end()),
            ),
            ("examples/Sensor/Sensor.ino", include_str!("Sensor.ino").to_owned()),
            ("zephyr/module.yml", include_str!("module.yml").to_owned()),
            ("zephyr/Kconfig", include_str!("Kconfig").to_owned()),
            (
                "zephyr/CMakeLists.txt",
                include_str!("CMakeLists.txt").replace("{{branches}}", &branches.concat()),
            ),
        ];
        // Of cores that no board of Arduino has the folder is no library of Arduino.
        let for_arduino = |name: &str| {
            name != "library.properties" || cores.iter().any(|core| !core.arduino.is_empty())
        };
        for (name, text) in files.into_iter().filter(|(name, _)| for_arduino(name)) {
            put(&folder.join(name), prefixed(&text).as_bytes())?;
        }
        let example = self.c_folder().join("example");
        for name in [
            "board.c",
            "board.h",
            "main.c",
            "mps2_an386.ld",
            "startup.c",
            "virt.c",
            "virt.ld",
            "coins/recording.h",
        ] {
            let from = example.join(name);
            let text = fs::read_to_string(&from).map_err(|source| DeviceError::File {
                path: from,
                what: "cannot be read",
                source,
            })?;
            // A program that compiles by itself: its names are the usual ones.
            let text = text
                .replace("fishweir_", &format!("{prefix}_"))
                .replace("FISHWEIR_", &format!("{}_", prefix.to_ascii_uppercase()))
                .replace("fishweir.h", &format!("{prefix}.h"));
            let place = folder.join("example").join(name.trim_start_matches("coins/"));
            put(&place, text.as_bytes())?;
        }
        Ok(())
    }
}

/// Checks that names of C may begin so, and that headers of two prefixes do not meet.
///
/// # Errors
/// [`DeviceError::Prefix`], which says why not.
pub fn check_c_prefix(prefix: &str) -> Result<(), DeviceError> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let why = if !prefix.starts_with(|first: char| first.is_ascii_lowercase())
        || !prefix.bytes().all(fits)
    {
        "it must begin with a lower-case letter, followed by lower-case letters, digits and _"
    } else if prefix.ends_with("_model") {
        "its header would have the name of the model's header under another prefix"
    } else if HEADERS_OF_C.contains(&prefix) {
        "its header would hide a header of the C library"
    } else if LIBRARIES_OF_C.contains(&prefix) {
        "its library would hide a library of the compiler"
    } else if HEADERS_OF_EXAMPLE.contains(&prefix) {
        "the example has a header of that name"
    } else {
        return Ok(());
    };
    Err(DeviceError::Prefix { prefix: prefix.to_owned(), why })
}

/// Refuses a folder with files that are not of an earlier export.
///
/// # Errors
/// [`DeviceError::File`].
pub(super) fn check_free(folder: &Path, is_ours: impl FnOnce() -> bool) -> Result<(), DeviceError> {
    let occupied = folder.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if !occupied || is_ours() {
        return Ok(());
    }
    Err(DeviceError::File {
        path: folder.to_owned(),
        what: "there are other files in it; name another folder",
        source: std::io::ErrorKind::AlreadyExists.into(),
    })
}

/// Returns whether a library was written here before: its first headers exist, and the model's says so.
fn is_library(source: &Path, prefix: &str) -> bool {
    let header = fs::read_to_string(source.join(format!("{prefix}_model.h")));
    header.is_ok_and(|text| {
        text.starts_with("/* Sizes and names of one model, written with the library")
    })
}

/// The commands that build the example for a core and, if there is a machine for it, run it.
fn by_gcc(core: &CCore) -> String {
    let text = match core.machine {
        VIRT => include_str!("riscv.txt"),
        _ => include_str!("gcc.txt"),
    };
    let text = match core.machine {
        "" => text.split_inclusive("example.elf\n").next().unwrap_or(text),
        _ => text,
    };
    text.replace("{{flags}}", core.flags)
        .replace("{{folder}}", core.folder)
        .replace("{{machine}}", core.machine)
}

/// The architectures of Arduino that have boards with some of the cores.
fn architectures(cores: &[&CCore]) -> String {
    let mut all: Vec<&str> = cores.iter().flat_map(|core| core.arduino.split(',')).collect();
    all.retain(|name| !name.is_empty());
    all.sort_unstable();
    all.dedup();
    all.join(",")
}

/// Branch of CMake that selects the library of a core.
fn branch(number: usize, core: &CCore) -> String {
    let start = if number == 0 { "if" } else { "elseif" };
    format!("  {start}({})\n    set({{{{MODULE}}}}_CORE {})\n", core.zephyr, core.folder)
}

/// Writes a file, and the folders above it.
pub(super) fn put(path: &Path, bytes: &[u8]) -> Result<(), DeviceError> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| unwritten(parent, error))?;
    }
    fs::write(path, bytes).map_err(|error| unwritten(path, error))
}

/// The error of a file that was not written.
pub(super) fn unwritten(path: &Path, source: std::io::Error) -> DeviceError {
    DeviceError::File { path: path.to_owned(), what: "cannot be written", source }
}
