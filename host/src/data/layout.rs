use super::assemble::Part;
use super::error::DataError;
use super::read::ReadOptions;

/// A layout of files: what it is called, known by, and read by.
#[derive(Debug)]
pub struct Layout {
    /// Its name in options.
    pub name: &'static str,
    /// Another name, which is also an ending of files.
    pub alias: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What its files begin with, in words.
    pub begins: &'static str,
    /// Whether an observation is a symbol; else a row of channels.
    pub of_symbols: bool,
    /// Whether a text looks like one.
    pub(super) is_one: fn(&[u8]) -> bool,
    /// Reads a text; the name is for messages.
    pub(super) read: fn(&str, &[u8], &ReadOptions) -> Result<Part, DataError>,
}

/// There is one of a name.
impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
