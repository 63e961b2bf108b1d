//! Portable C source of a model, in a file beside its header or in a folder that is a library.

use std::fs;
use std::path::{Path, PathBuf};

use fishweir::deploy::{CNames, CSource, CSourceError};

use super::output;
use super::{Failure, Topic};

/// What makes the C source of a model, with some names.
pub(super) type InC<'a> = dyn Fn(CNames<'_>) -> Result<CSource, CSourceError> + 'a;

/// The C source of a model for a file, and its header.
pub(super) fn in_c(prefix: &str, file: &Path, make: &InC<'_>) -> Result<CSource, Failure> {
    let header = header_of(prefix, file);
    let header = header.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    make(CNames { prefix, header: &header }).map_err(|error| {
        let (topic, remedy) = match error {
            CSourceError::HeaderName(_) => (Topic::UnfitEnding, "name another file"),
            _ => (Topic::Unsupported, "use --rust or --c"),
        };
        Failure::input(topic, format!("{}: {error}: {remedy}", file.display()))
    })
}

/// The header of a C source: beside a file, or within a folder.
fn header_of(prefix: &str, file: &Path) -> PathBuf {
    match file.extension() {
        Some(_) => file.with_extension("h"),
        None => file.join("src").join(prefix).with_extension("h"),
    }
}

/// A file that was written: its name, what it is, its bytes.
type Written = (String, &'static str, usize);

/// Writes a C source to a file and its header beside it, or a library around both into a folder.
pub(super) fn write_in_c(
    prefix: &str,
    file: &Path,
    made: &CSource,
) -> Result<Vec<Written>, Failure> {
    let write = |file: &Path, form, text: &str| {
        output::write(file, text.as_bytes())?;
        Ok::<_, Failure>((file.display().to_string(), form, text.len()))
    };
    let header = header_of(prefix, file);
    if file.extension().is_some() {
        return Ok(vec![
            write(&header, "C header", &made.header)?,
            write(file, "C source", &made.source)?,
        ]);
    }
    let occupied = file.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    let is_ours =
        fs::read_to_string(&header).is_ok_and(|text| text.contains("exported by fishweir"));
    if occupied && !is_ours {
        return Err(Failure::input(
            Topic::FolderInUse,
            format!("{}: there are other files in it; name another folder", file.display()),
        ));
    }
    let files = made.package(prefix).into_iter().map(|(path, text)| {
        let form = match path.rsplit('.').next() {
            Some("c") => "C source",
            Some("h") => "C header",
            _ => "File of the library",
        };
        let path = file.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| {
                Failure::input(
                    Topic::UnwritableFolder,
                    format!("{}: cannot be made: {error}", folder.display()),
                )
            })?;
        }
        write(&path, form, &text)
    });
    files.collect()
}
