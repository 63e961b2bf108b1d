//! Files: read with a clear error, written whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// A file that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{file}: cannot {verb}: {source}")]
pub struct FileError {
    file: String,
    verb: &'static str,
    source: io::Error,
}

/// Reads a file.
///
/// # Errors
/// [`FileError`] naming it.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(|source| FileError {
        file: path.display().to_string(),
        verb: "read",
        source,
    })
}

/// Writes a file whole or not at all: into a temporary file beside it, which then takes its place.
///
/// # Errors
/// [`FileError`] naming it. What was there before is then still there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let write = || -> io::Result<()> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        // A temporary file is private to its owner; the finished one is as any other new file.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
        }
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|source| FileError { file: path.display().to_string(), verb: "write", source })
}
