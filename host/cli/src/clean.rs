//! `fishweir clean`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use fishweir::report::grouped;

use super::{Failure, Topic, output};

const EXAMPLES: &str = "\
Examples:
  fishweir clean --dry-run    # what is kept, and where
  fishweir clean";

pub(super) const LONG_ABOUT: &str = "\
Remove what the program keeps in the user's folder for caches: the firmware that it unpacked and what was built there. `run` \
and `export --c` unpack and build it again.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = fishweir_sources::caches()?;
    let shown = folder.display();
    let at = |error: std::io::Error| {
        let what = format!("{shown}: {error}; remove the folder by hand");
        Failure::input(Topic::UnwritableFolder, what)
    };
    let text = match bytes_of(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => format!("{shown}: nothing is kept\n"),
        Err(error) => return Err(at(error)),
        Ok(bytes) if arguments.dry_run => format!("{shown}: {} kB\n", grouped(bytes / 1000)),
        Ok(bytes) => {
            fs::remove_dir_all(&folder).map_err(at)?;
            format!("{shown}: {} kB removed\n", grouped(bytes / 1000))
        }
    };
    output::print(text.as_bytes())
}

/// Bytes of all files of a folder; links are not followed.
fn bytes_of(folder: &Path) -> std::io::Result<usize> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += match entry.metadata()? {
            inner if inner.is_dir() => bytes_of(&entry.path())?,
            file => file.len() as usize,
        };
    }
    Ok(bytes)
}
