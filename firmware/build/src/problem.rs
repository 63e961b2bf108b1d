use std::fmt;
use std::path::{Path, PathBuf};

/// Problem with a model file: the file, the fault and the remedy, in one line.
#[derive(Debug)]
pub struct Problem {
    path: PathBuf,
    fault: String,
    remedy: &'static str,
}

impl Problem {
    pub(crate) fn new(path: &Path, fault: impl fmt::Display, remedy: &'static str) -> Self {
        Self { path: path.to_owned(), fault: fault.to_string(), remedy }
    }

    /// Problem of a damaged artefact.
    pub(crate) fn damaged(path: &Path, fault: impl fmt::Display) -> Self {
        Self::new(path, fault, "write it again by `fishweir export`")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, fault, remedy } = self;
        // Cargo takes one line.
        write!(f, "{}: {}; {remedy}", path.display(), fault.replace('\n', " "))
    }
}

impl std::error::Error for Problem {}
