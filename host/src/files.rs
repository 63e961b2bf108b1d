//! Files: read with a clear error, written whole or not at all.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{file}: cannot {verb}: {source}")]
pub struct FileError {
    file: String,
    verb: &'static str,
    source: io::Error,
}

impl crate::StableKind for FileError {
    fn kind(&self) -> &'static str {
        if self.verb == "read" { "unreadable-file" } else { "unwritable-file" }
    }
}

impl FileError {
    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self { file: path.display().to_string(), verb: "write", source }
    }
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

/// Writes a file whole or not at all: into a temporary file in its folder, which then takes its
/// place. A symbolic link is followed, the mode stays what it was (a new file's is the process'
/// own), and a file that is read-only stays as it is. What is no regular file, such as a device or
/// a pipe, is written through.
///
/// On Linux the temporary file has no name before it is complete: a process that is killed leaves
/// nothing of it or, between its naming and its taking the place, all of it in a hidden file. Elsewhere a
/// hidden file may be left half written. Another name of the same file (a hard link) keeps what was there.
///
/// # Errors
/// [`FileError`] naming it. What was there before is then still there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let write = || match before(path)? {
        Some(found) if !found.is_file() => {
            OpenOptions::new().write(true).open(path)?.write_all(bytes)
        }
        found => replace(&target(path)?, bytes, found.as_ref()),
    };
    write().map_err(|source| FileError::write(path, source))
}

/// Checks whether [`write_whole`] may write there, as far as possible without writing.
///
/// Call it before the work that produces the contents.
///
/// # Errors
/// [`FileError`]: the folder does not exist, the path is a folder, or the file is read-only.
pub fn check_writable(path: &Path) -> Result<(), FileError> {
    let check = || {
        let (target, refuse) = (target(path)?, |why: &str| Err(io::Error::other(why)));
        match before(path)? {
            Some(found) if found.is_dir() => refuse("it is a folder; name a file"),
            None if !folder_of(&target).is_dir() => {
                refuse("its folder does not exist; make it first")
            }
            _ => Ok(()),
        }
    };
    check().map_err(|source| FileError::write(path, source))
}

/// Returns whether two paths lead to one regular file, existing or not: by symbolic links, or as two names of it (hard links).
///
/// [`write_whole`] would separate hard links, although the user who named both means one file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) if !(one.is_file() && other.is_file()) => false,
        #[cfg(unix)]
        (Ok(one), Ok(other)) => {
            use std::os::unix::fs::MetadataExt;
            (one.dev(), one.ino()) == (other.dev(), other.ino())
        }
        _ => {
            let whole = |path: &Path| {
                let target = target(path).ok()?;
                Some(folder_of(&target).canonicalize().ok()?.join(target.file_name()?))
            };
            whole(one).is_some_and(|one| Some(one) == whole(other))
        }
    }
}

/// Returns the metadata at a path, links followed; an error if it may not be written.
fn before(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(found) => {
            if found.is_file() {
                if found.permissions().readonly() {
                    // The superuser may write it all the same, and somebody did not want that.
                    return Err(io::Error::new(ErrorKind::PermissionDenied, "it is read-only"));
                }
                OpenOptions::new().write(true).open(path)?;
            }
            Ok(Some(found))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the target of symbolic links, existing or not.
fn target(path: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Replaces the file at a path by a new regular file, or creates it.
fn replace(target: &Path, bytes: &[u8], before: Option<&Metadata>) -> io::Result<()> {
    let folder = folder_of(target);
    let fill = |file: &mut File| {
        file.write_all(bytes)?;
        if let Some(before) = before {
            // Only the superuser can give it back to another owner.
            #[cfg(unix)]
            {
                use std::os::unix::fs::{MetadataExt, fchown};
                let _ = fchown(&*file, Some(before.uid()), Some(before.gid()));
            }
            file.set_permissions(before.permissions())?;
        }
        file.sync_all()
    };
    #[cfg(target_os = "linux")]
    if let Ok(mut file) = nameless::create(folder) {
        fill(&mut file)?;
        // Not every file system that makes such files names them later.
        let named = tempfile::Builder::new().make_in(folder, |name| nameless::name(&file, name));
        if let Ok(named) = named {
            return named.persist(target).map(drop).map_err(|error| error.error);
        }
    }
    let mut file = hidden(folder)?;
    fill(file.as_file_mut())?;
    file.persist(target).map(drop).map_err(|error| error.error)
}

/// A temporary file with a name, and the mode of any new file: the process' mask is taken off.
fn hidden(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let open = fs::Permissions::from_mode(0o666);
        tempfile::Builder::new().permissions(open).tempfile_in(folder)
    }
    #[cfg(not(unix))]
    tempfile::NamedTempFile::new_in(folder)
}

/// Files that have no name yet, and go with the process if they never get one.
#[cfg(target_os = "linux")]
mod nameless {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    pub(super) fn create(folder: &Path) -> io::Result<File> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        Ok(open(folder, flags, Mode::from_raw_mode(0o666))?.into())
    }

    pub(super) fn name(file: &File, name: &Path) -> io::Result<()> {
        let link = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(CWD, link, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("there").permissions().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    }

    #[test]
    fn a_file_keeps_its_mode_and_a_read_only_one_its_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        write_whole(&path, b"new").expect("written");
        assert_eq!(mode(&path) & 0o600, 0o600);
        for kept in [0o600, 0o640, 0o755] {
            set_mode(&path, kept);
            write_whole(&path, b"again").expect("written");
            assert_eq!((mode(&path), fs::read(&path).expect("there")), (kept, b"again".to_vec()));
        }
        set_mode(&path, 0o444);
        for error in [check_writable(&path), write_whole(&path, b"no")] {
            let message = error.expect_err("refused").to_string();
            assert!(message.ends_with("cannot write: it is read-only"), "{message}");
        }
        assert_eq!((mode(&path), fs::read(&path).expect("there")), (0o444, b"again".to_vec()));
    }

    #[test]
    fn links_are_followed_even_to_what_is_not_there_yet() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("below")).expect("made");
        symlink("below/file", at("second")).expect("made");
        symlink("second", at("first")).expect("made");
        for bytes in [b"one", b"two"] {
            write_whole(&at("first"), bytes).expect("written");
            assert_eq!(fs::read(at("below/file")).expect("there"), bytes);
            assert!(at("first").is_symlink() && at("second").is_symlink());
        }
        symlink("round", at("round")).expect("made");
        assert!(write_whole(&at("round"), b"no").is_err());
    }

    #[test]
    fn what_is_no_regular_file_is_written_through() {
        let folder = tempfile::tempdir().expect("a folder");
        let null = folder.path().join("null");
        symlink("/dev/null", &null).expect("made");
        write_whole(&null, b"gone").expect("written");
        check_writable(&null).expect("may be written");
        assert!(null.is_symlink() && !fs::metadata("/dev/null").expect("there").is_file());
        let message = check_writable(folder.path()).expect_err("refused").to_string();
        assert!(message.ends_with("it is a folder; name a file"), "{message}");
    }

    #[test]
    fn the_same_file_is_known_by_any_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").expect("written");
        fs::hard_link(at("file"), at("hard")).expect("made");
        symlink("file", at("soft")).expect("made");
        symlink("later", at("ahead")).expect("made");
        for (one, other, same) in [
            ("file", "hard", true),
            ("soft", "hard", true),
            ("later", "./later", true),
            ("ahead", "later", true),
            ("file", "later", false),
            ("later", "other", false),
        ] {
            assert_eq!(is_same(&at(one), &at(other)), same, "{one}, {other}");
        }
        assert!(!is_same(Path::new("/dev/null"), Path::new("/dev/null")), "no harm is done there");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_is_left_of_a_file_that_was_never_finished() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut file = nameless::create(folder.path()).expect("this file system makes such files");
        file.write_all(&[1; 4096]).expect("written");
        let names = || fs::read_dir(folder.path()).expect("there").count();
        assert_eq!(names(), 0, "a process that is killed here leaves nothing");
        nameless::name(&file, &folder.path().join("whole")).expect("named");
        assert_eq!(names(), 1);
    }
}
