//! Export of a library for C around any model with a Rust source.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fishweir::device::{C_CORES, C_PREFIX, CCore, ModelFile, check_c_prefix};
use fishweir::files;

use super::Failure;
use super::options::{named, note_idle};

const USUAL_CORES: [&str; 2] = ["cortex-m0plus", "cortex-m4"];

#[derive(Debug, clap::Args)]
pub(super) struct ForC {
    /// Folder for a C library: headers, libfishweir.a per core, a program for gcc and QEMU, files for Arduino and Zephyr
    #[arg(long, value_name = "DIR")]
    pub(super) c: Option<PathBuf>,
    /// Core that the C library is for; may be given again [default: cortex-m0plus and cortex-m4]
    #[arg(long, value_name = "CORE", value_parser = cores())]
    core: Vec<&'static CCore>,
    /// Prefix of all names in C: functions, types, macros, and of --c headers and the library; name of a module [default: fishweir]
    ///
    /// Models of different prefixes go into one image.
    #[arg(long, value_name = "NAME")]
    prefix: Option<String>,
}

/// The cores of [`ForC::core`], by name.
fn cores() -> impl TypedValueParser<Value = &'static CCore> {
    let names = C_CORES.iter().map(|core| PossibleValue::new(core.name).help(core.flags));
    PossibleValuesParser::new(names)
        .try_map(|name| C_CORES.iter().find(|core| core.name == name).ok_or("no such core"))
}

impl ForC {
    /// Refuses options that need `--c` without it, and an invalid prefix, before a model is made. A C `source` of its own
    /// has a prefix, too.
    pub(super) fn check(&self, source: bool) -> Result<(), Failure> {
        if self.c.is_some() || source {
            check_c_prefix(self.prefix())?;
        }
        let idle = named([
            ("--core", self.c.is_none() && !self.core.is_empty()),
            ("--prefix", self.c.is_none() && !source && self.prefix.is_some()),
        ]);
        note_idle(&idle, "it is that of --c")
    }

    /// The prefix of names in C.
    pub(super) fn prefix(&self) -> &str {
        self.prefix.as_deref().unwrap_or(C_PREFIX)
    }

    /// Writes the library, where it was asked for, around the model of a Rust source; its folder, and the bytes of its
    /// archives.
    pub(super) fn write(
        &self,
        source: impl FnOnce() -> String,
    ) -> Result<Option<(String, usize)>, Failure> {
        let Some(folder) = &self.c else { return Ok(None) };
        let usual = C_CORES.iter().filter(|core| USUAL_CORES.contains(&core.name));
        let cores: Vec<&CCore> =
            if self.core.is_empty() { usual.collect() } else { self.core.clone() };
        let prefix = self.prefix();
        let scratch = tempfile::tempdir()?;
        let file = scratch.path().join("model.rs");
        files::write_whole(&file, source().as_bytes())?;
        fishweir_sources::firmware()?.c_library(
            ModelFile::Source(&file),
            prefix,
            &cores,
            folder,
        )?;
        let licences = folder.join(fishweir_sources::LICENCES_FILE);
        files::write_whole(&licences, fishweir_sources::LICENCES.as_bytes())?;
        let archive =
            |core: &&CCore| folder.join("src").join(core.folder).join(format!("lib{prefix}.a"));
        let sizes =
            cores.iter().map(|core| std::fs::metadata(archive(core)).map(|file| file.len()));
        let bytes = sizes.sum::<std::io::Result<u64>>()?;
        Ok(Some((folder.display().to_string(), bytes as usize)))
    }
}
