//! The sources that travel with the program: those of the core, for projects of one's own, and of the firmware, for
//! `run` where there is no checkout.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use fishweir::device::Firmware;
use fishweir::files;

use super::{Failure, Topic};

/// Path, with `/`, and contents.
type File = (String, &'static [u8]);

#[cfg(checkout)]
mod taken {
    use include_dir::{Dir, include_dir};

    pub(super) static CORE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../core");
    /// Folders of the firmware; beside them there may be builds.
    pub(super) static FIRMWARE: [(&str, Dir<'_>); 7] = [
        ("build", include_dir!("$CARGO_MANIFEST_DIR/../../firmware/build")),
        ("c", include_dir!("$CARGO_MANIFEST_DIR/../../firmware/c")),
        ("device", include_dir!("$CARGO_MANIFEST_DIR/../../firmware/device")),
        ("images", include_dir!("$CARGO_MANIFEST_DIR/../../firmware/images")),
        ("model", include_dir!("$CARGO_MANIFEST_DIR/../../firmware/model")),
        ("models", include_dir!("$CARGO_MANIFEST_DIR/../../firmware/models")),
        ("src", include_dir!("$CARGO_MANIFEST_DIR/../../firmware/src")),
    ];
    macro_rules! files {
        ($($name:literal),*) => {
            [$(($name, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $name)))),*]
        };
    }
    pub(super) static FILES: [(&str, &[u8]); 7] = files![
        "Cargo.toml",
        "firmware/.cargo/config.toml",
        "firmware/Cargo.lock",
        "firmware/Cargo.toml",
        "firmware/README.md",
        "firmware/build.rs",
        "firmware/memory.rs"
    ];
}

/// A manifest that what inherits from the workspace finds above it: this one's, of these members alone.
#[cfg(checkout)]
fn workspace(members: &[&str]) -> String {
    let [(_, text), ..] = &taken::FILES;
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

/// All files of a folder, below a name.
#[cfg(checkout)]
fn below(name: &str, folder: &include_dir::Dir<'static>, found: &mut Vec<File>) {
    for entry in folder.entries() {
        match entry {
            include_dir::DirEntry::Dir(inner) => below(name, inner, found),
            include_dir::DirEntry::File(file) => {
                let parts = file.path().iter().map(|part| part.to_string_lossy());
                let path = parts.collect::<Vec<_>>().join("/");
                found.push((format!("{name}/{path}"), file.contents()));
            }
        }
    }
}

/// The core and the device's library.
#[cfg(checkout)]
const LIBRARIES: [&str; 2] = ["core", "firmware/device"];

/// The files of the libraries as they lie below a folder `vendor`, a manifest above them, and the page about the second;
/// nothing where the program was built from a registry, which has them by version.
#[cfg(checkout)]
pub(super) fn libraries() -> Result<Option<(String, Vec<File>)>, Failure> {
    let mut found = Vec::new();
    below("core", &taken::CORE, &mut found);
    for (name, folder) in taken::FIRMWARE.iter().filter(|(name, _)| *name == "device") {
        below(&format!("firmware/{name}"), folder, &mut found);
    }
    let page = taken::FILES.iter().filter(|(name, _)| *name == "firmware/README.md");
    found.extend(page.map(|(name, bytes)| ((*name).to_owned(), *bytes)));
    Ok(Some((workspace(&LIBRARIES), found)))
}

#[cfg(not(checkout))]
pub(super) fn libraries() -> Result<Option<(String, Vec<File>)>, Failure> {
    Ok(None)
}

/// The firmware: that of the checkout that this program was built from, or, where it is gone, the same files as they
/// were then, in the user's folder for caches.
pub(super) fn firmware() -> Result<Firmware, Failure> {
    match Firmware::in_repository() {
        Ok(firmware) => Ok(firmware),
        Err(gone) => match unpacked()? {
            Some(folder) => Ok(Firmware::at(&folder)?),
            None => Err(gone.into()),
        },
    }
}

/// The program's folder in the user's folder for caches.
pub(super) fn caches() -> Result<PathBuf, Failure> {
    let strategy = etcetera::choose_base_strategy().map_err(|error| {
        Failure::input(
            Topic::NoCaches,
            format!("no folder for caches: {error}; name --firmware DIR"),
        )
    })?;
    Ok(strategy.cache_dir().join("fishweir"))
}

#[cfg(checkout)]
fn unpacked() -> Result<Option<PathBuf>, Failure> {
    unpacked_in(&caches()?).map(Some)
}

/// The same below a folder; what is there already stays.
#[cfg(checkout)]
fn unpacked_in(caches: &Path) -> Result<PathBuf, Failure> {
    let mut found = Vec::new();
    below("core", &taken::CORE, &mut found);
    for (name, folder) in &taken::FIRMWARE {
        below(&format!("firmware/{name}"), folder, &mut found);
    }
    let root = workspace(&["core", "firmware/build", "firmware/device"]);
    let of_firmware = taken::FILES.iter().filter(|(name, _)| name.starts_with("firmware/"));
    found.extend(of_firmware.map(|(name, bytes)| ((*name).to_owned(), *bytes)));
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
        write(&folder, &[("Cargo.toml".to_owned(), root.as_bytes())])?;
        let (last, first): (Vec<File>, _) =
            found.into_iter().partition(|(name, _)| name == "firmware/Cargo.toml");
        write(&folder, &first)?;
        write(&folder, &last)?;
    }
    Ok(firmware)
}

#[cfg(not(checkout))]
fn unpacked() -> Result<Option<PathBuf>, Failure> {
    Ok(None)
}

/// Writes files into a folder, each whole.
pub(super) fn write(folder: &Path, found: &[(String, &[u8])]) -> Result<(), Failure> {
    for (name, bytes) in found {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| {
                Failure::input(Topic::UnwritableFolder, format!("{}: {error}", parent.display()))
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
