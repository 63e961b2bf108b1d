//! The boards that fishweir's firmware and projects are for, as data: a folder each, with all that is known of the board.
#![doc = include_str!("../README.md")]

/// All files: path from the root of this package, with `/`, and text.
pub static FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Text of a file.
#[must_use]
pub fn text(path: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

/// Names of the boards, in alphabetical order: those of their folders.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|(path, _)| path.strip_suffix("/board.toml"))
}

/// Name of the board that is used if none is named: its `board.toml` has the line `default = true`. Nothing else is read.
#[must_use]
pub fn default_name() -> &'static str {
    let marked = |text: &str| text.lines().any(|line| line == "default = true");
    let mut files =
        FILES.iter().filter_map(|(path, text)| Some((path.strip_suffix("/board.toml")?, text)));
    files.find(|(_, text)| marked(text)).map_or("", |(name, _)| name)
}
