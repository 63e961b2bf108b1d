//! Places in a file, for messages.

use std::fmt;

/// Place in a file: `watch.csv, line 12, column 6 (ax)`. Lines, columns and characters
/// count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or `standard input`.
    pub file: String,
    /// Line, from 1; 0 outside files.
    pub line: u64,
    /// Column of a table, from 1, and its name (empty if unnamed).
    pub column: Option<(usize, String)>,
    /// Character within the field or line, from 1.
    pub character: Option<usize>,
}

impl Place {
    /// A whole line.
    pub fn line(file: &str, line: u64) -> Self {
        Self { file: file.to_owned(), line, column: None, character: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ", line {}", self.line)?;
        }
        match &self.column {
            Some((number, name)) if name.is_empty() => write!(f, ", column {number}")?,
            Some((number, name)) => write!(f, ", column {number} ({name})")?,
            None => {}
        }
        match self.character {
            Some(character) => write!(f, ", character {character}"),
            None => Ok(()),
        }
    }
}
