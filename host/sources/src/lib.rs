//! The sources that travel with a program: those of the core, for projects of one's own, and of the firmware, for emulated
//! devices and libraries for C where there is no checkout.

#[cfg(checkout)]
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use fishweir::device::{DeviceError, Firmware};
use fishweir::files::{self, FileError};
#[cfg(checkout)]
use flate2::bufread::GzDecoder;

/// Reason why sources cannot be had or written.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum SourcesError {
    /// The user has no folder for caches.
    #[error("no folder for caches: {0}; set the variable HOME")]
    NoCaches(String),
    /// A folder that cannot be made.
    #[error("{folder}: {error}")]
    UnwritableFolder {
        /// The folder.
        folder: String,
        /// Reason.
        error: std::io::Error,
    },
    /// Sources that do not unpack.
    #[error("the sources that came along are damaged: {0}")]
    Io(#[from] std::io::Error),
    /// A file that cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A folder without a firmware.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

fishweir::kinds!(SourcesError,
    Self::File(error) => error,
    Self::Device(error) => error,
);

/// Licences of the packages that a device's program is built with beside the board's own, for whoever passes a program on.
pub const LICENCES: &str = include_str!("../licences.txt");

/// Name of the file with the [`LICENCES`] in a project or library.
pub const LICENCES_FILE: &str = "LICENCES.txt";

/// Path, with `/`, and contents.
pub type File = (String, Vec<u8>);

/// All that travels, by path from the root of the repository.
#[cfg(checkout)]
fn travelling() -> Result<Vec<File>, SourcesError> {
    // As build.rs packed them: a line with the length and the path of a file, then the file.
    let packed: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sources.gz"));
    let mut text = BufReader::new(GzDecoder::new(packed));
    let (mut found, mut line) = (Vec::new(), String::new());
    while text.read_line(&mut line)? > 0 {
        if let Some((length, path)) = line.trim_end().split_once(' ') {
            let mut bytes = vec![0; length.parse().unwrap_or(0)];
            text.read_exact(&mut bytes)?;
            found.push((path.to_owned(), bytes));
        }
        line.clear();
    }
    Ok(found)
}

/// A manifest that what inherits from the workspace finds above it: this one's, of these members alone.
#[cfg(checkout)]
fn workspace(found: &[File], members: &[&str]) -> String {
    let manifest = found.iter().find(|(path, _)| path == "Cargo.toml");
    let text = manifest.map_or(&[][..], |(_, bytes)| bytes);
    let mut kept = format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n");
    let mut inherited = false;
    for line in String::from_utf8_lossy(text).lines() {
        if let Some(table) = line.strip_prefix("[workspace.") {
            inherited =
                ["package]", "dependencies]", "lints."].iter().any(|name| table.starts_with(name));
        } else if line.starts_with('[') {
            inherited = false;
        }
        if inherited {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

/// The core and the device's library.
#[cfg(checkout)]
const LIBRARIES: [&str; 2] = ["core", "firmware/device"];

/// The files of the libraries as they lie below a folder `vendor`, a manifest above them, and the page about the second;
/// nothing where the program was built from a registry, which has them by version.
#[cfg(checkout)]
///
/// # Errors
/// Sources that do not unpack.
pub fn libraries() -> Result<Option<(String, Vec<File>)>, SourcesError> {
    let mut found = travelling()?;
    let manifest = workspace(&found, &LIBRARIES);
    found.retain(|(path, _)| {
        path == "firmware/README.md"
            || ["core/", "firmware/device/"].iter().any(|one| path.starts_with(one))
    });
    Ok(Some((manifest, found)))
}

/// Nothing: a registry has the libraries by version.
///
/// # Errors
/// None.
#[cfg(not(checkout))]
pub fn libraries() -> Result<Option<(String, Vec<File>)>, SourcesError> {
    Ok(None)
}

/// All files of a project, its own being path and text, with the [`LICENCES`], and the [`libraries`] below its folder `vendor`.
#[must_use]
pub fn project(
    own: &[(&'static str, String)],
    libraries: Option<(String, Vec<File>)>,
) -> Vec<File> {
    let own = own.iter().map(|(name, text)| ((*name).to_owned(), text.clone().into()));
    let mut all: Vec<File> = own.collect();
    all.push((LICENCES_FILE.to_owned(), LICENCES.into()));
    if let Some((workspace, sources)) = libraries {
        all.push(("vendor/Cargo.toml".to_owned(), workspace.into_bytes()));
        all.extend(sources.into_iter().map(|(name, bytes)| (format!("vendor/{name}"), bytes)));
    }
    all
}

/// The firmware: that of the checkout that this program was built from, or, where it is gone, the same files as they
/// were then, in the user's folder for caches.
///
/// # Errors
/// A folder for caches that is not there or cannot be written.
pub fn firmware() -> Result<Firmware, SourcesError> {
    match Firmware::in_repository() {
        Ok(firmware) => Ok(firmware),
        Err(gone) => match unpacked()? {
            Some(folder) => Ok(Firmware::at(&folder)?),
            None => Err(gone.into()),
        },
    }
}

/// The checkout that this program was built from; `None` where it is gone.
#[must_use]
pub fn checkout() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().ok().filter(|root| root.join("host/web").is_dir())
}

/// The program's folder in the user's folder for caches.
///
/// # Errors
/// [`SourcesError::NoCaches`].
pub fn caches() -> Result<PathBuf, SourcesError> {
    let strategy = etcetera::choose_base_strategy()
        .map_err(|error| SourcesError::NoCaches(error.to_string()))?;
    Ok(strategy.cache_dir().join("fishweir"))
}

#[cfg(checkout)]
fn unpacked() -> Result<Option<PathBuf>, SourcesError> {
    unpacked_in(&caches()?).map(Some)
}

/// Unpacks the sources below a folder; existing files stay.
#[cfg(checkout)]
fn unpacked_in(caches: &Path) -> Result<PathBuf, SourcesError> {
    let mut found = travelling()?;
    let root = workspace(&found, &["core", "firmware/build", "firmware/device"]);
    found.retain(|(path, _)| path != "Cargo.toml");
    // By their contents: another build of the same version may have others.
    let mut digest = crc32fast::Hasher::new();
    for (name, bytes) in &found {
        digest.update(name.as_bytes());
        digest.update(bytes);
    }
    let name = format!("{}-{:08x}", env!("CARGO_PKG_VERSION"), digest.finalize());
    let folder = caches.join(name);
    let firmware = folder.join("firmware");
    // Its manifest is written last: where it is, the rest is.
    if !firmware.join("Cargo.toml").is_file() {
        write(&folder, &[("Cargo.toml".to_owned(), root.into_bytes())])?;
        let (last, first): (Vec<File>, _) =
            found.into_iter().partition(|(name, _)| name == "firmware/Cargo.toml");
        write(&folder, &first)?;
        write(&folder, &last)?;
    }
    Ok(firmware)
}

#[cfg(not(checkout))]
fn unpacked() -> Result<Option<PathBuf>, SourcesError> {
    Ok(None)
}

/// Writes files into a folder, each whole.
///
/// # Errors
/// A folder or a file that cannot be written.
pub fn write(folder: &Path, found: &[File]) -> Result<(), SourcesError> {
    for (name, bytes) in found {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| {
                let folder = parent.display().to_string();
                SourcesError::UnwritableFolder { folder, error }
            })?;
        }
        files::write_whole(&path, bytes)?;
    }
    Ok(())
}

#[cfg(all(test, checkout))]
mod tests {
    use std::process::Command;

    use super::*;

    /// All that the firmware has in the checkout is there, and cargo finds its way in it.
    #[test]
    fn what_is_unpacked_is_a_firmware() {
        let caches = tempfile::tempdir().expect("a folder");
        let firmware = unpacked_in(caches.path()).map_err(|_| ()).expect("unpacked");
        assert!(Firmware::at(&firmware).is_ok());
        let again = unpacked_in(caches.path()).map_err(|_| ()).expect("unpacked");
        assert_eq!(firmware, again);
        let output = Command::new(env!("CARGO"))
            .current_dir(&firmware)
            .args(["metadata", "--locked", "--format-version", "1", "--filter-platform"])
            .arg("thumbv6m-none-eabi")
            .output()
            .expect("cargo starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata = String::from_utf8_lossy(&output.stdout);
        for package in ["core", "device", "build", "c", "images", "model"] {
            assert!(metadata.contains(&format!("\"name\":\"fishweir-{package}\"")), "{package}");
        }
    }
}
