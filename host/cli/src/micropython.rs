//! Export of modules of MicroPython around any model with a Rust source.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fishweir::device::{MODULE_ARCHITECTURES, ModelFile, ModuleArchitecture};
use fishweir::files;

use super::Failure;
use super::options::{named, note_idle};

const USUAL: [&str; 2] = ["armv6m", "armv7emsp"];

#[derive(Debug, clap::Args)]
pub(super) struct ForMicroPython {
    /// Folder for native modules of MicroPython, PREFIX.mpy for each architecture, with package.json for mip
    #[arg(long, value_name = "DIR")]
    pub(super) micropython: Option<PathBuf>,
    /// Architecture that a module is for; may be given again [default: armv6m and armv7emsp]
    #[arg(long, value_name = "ARCH", value_parser = architectures())]
    arch: Vec<&'static ModuleArchitecture>,
}

/// The architectures of [`ForMicroPython::arch`], by name.
fn architectures() -> impl TypedValueParser<Value = &'static ModuleArchitecture> {
    let names =
        MODULE_ARCHITECTURES.iter().map(|one| PossibleValue::new(one.name).help(one.boards));
    PossibleValuesParser::new(names).try_map(|name| {
        MODULE_ARCHITECTURES.iter().find(|one| one.name == name).ok_or("no such architecture")
    })
}

impl ForMicroPython {
    /// Notes an architecture without a module.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let idle = named([("--arch", self.micropython.is_none() && !self.arch.is_empty())]);
        note_idle(&idle, "it is that of --micropython")
    }

    /// Writes the modules of a name, where they were asked for, around the model of a Rust source; their folder and bytes.
    pub(super) fn write(
        &self,
        name: &str,
        source: impl FnOnce() -> String,
    ) -> Result<Option<(String, usize)>, Failure> {
        let Some(folder) = &self.micropython else { return Ok(None) };
        let usual = MODULE_ARCHITECTURES.iter().filter(|one| USUAL.contains(&one.name));
        let architectures: Vec<&ModuleArchitecture> =
            if self.arch.is_empty() { usual.collect() } else { self.arch.clone() };
        let scratch = tempfile::tempdir()?;
        let file = scratch.path().join("model.rs");
        files::write_whole(&file, source().as_bytes())?;
        let model = ModelFile::Source(&file);
        let bytes =
            fishweir_sources::firmware()?.micropython(model, name, &architectures, folder)?;
        let licences = folder.join(fishweir_sources::LICENCES_FILE);
        files::write_whole(&licences, fishweir_sources::LICENCES.as_bytes())?;
        Ok(Some((folder.display().to_string(), bytes)))
    }
}
