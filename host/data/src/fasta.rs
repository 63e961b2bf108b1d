//! FASTA: `>name words...`, then the sequence in any number of lines.

use super::error::DataError;
use super::layout::{FastaLabel, Layout};
use super::part::{Body, Draft, Part, Text};
use super::place::Place;
use super::source::Source;
use super::table::check_name;
use crate::words::shorten;

pub(super) static LAYOUT: Layout = Layout {
    name: "fasta",
    alias: "fa",
    about: "FASTA",
    of_symbols: true,
    recordings: None,
    is_one: |text| matches!(text.trim_ascii_start().first(), Some(b'>' | b';')),
    read: |name, text, options| read(name, text, &options.fasta_label, &options.source),
};

/// Reads FASTA. Lines that begin with `;` are comments.
fn read(name: &str, bytes: &[u8], label: &FastaLabel, source: &Source) -> Result<Part, DataError> {
    let mut part = Part::new(name);
    part.findings.add_idle(source);
    for (line, bytes) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let place = || Box::new(Place::line(name, line));
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err(DataError::NotUtf8 { place: place() });
        };
        let text = text.trim_end();
        if text.is_empty() || text.starts_with(';') {
            continue;
        }
        if let Some(header) = text.strip_prefix('>') {
            let number = (part.drafts.len() + 1).to_string();
            let id = header.split_whitespace().next().unwrap_or(&number).to_owned();
            let label = label.find(header, place)?;
            for word in [&id].into_iter().chain(&label) {
                let before = text.find(word.as_str()).map_or(0, |at| text[..at].chars().count());
                check_name(word, |character| {
                    Box::new(Place { character: Some(before + character), ..*place() })
                })?;
            }
            part.drafts.push(Draft {
                id,
                label,
                columns: Vec::new(),
                times: Vec::new(),
                line,
                body: Body::Text(Text::default()),
            });
            continue;
        }
        match part.drafts.last_mut() {
            Some(Draft { body: Body::Text(sequence), .. }) => sequence.push_line(text, line),
            _ => {
                let what = "expected `>` and a name before the first sequence".into();
                return Err(DataError::Layout { place: place(), what });
            }
        }
    }
    Ok(part)
}

impl FastaLabel {
    /// The label in a header, which comes without its `>`.
    fn find(
        &self,
        header: &str,
        place: impl Fn() -> Box<Place>,
    ) -> Result<Option<String>, DataError> {
        let mut words = header.split_whitespace();
        let (found, expected) = match self {
            Self::None => return Ok(None),
            Self::Key(key) => {
                let value =
                    words.find_map(|word| word.strip_prefix(key.as_str())?.strip_prefix('='));
                (value, format!("`{key}=` with a value"))
            }
            Self::Word(number) => {
                let word = number.checked_sub(1).and_then(|skipped| words.nth(skipped));
                (word, format!("word {number}; `{}`", shorten(header)))
            }
        };
        match found.filter(|label| !label.is_empty()) {
            Some(label) => Ok(Some(label.to_owned())),
            None => {
                let what = format!("the header has no label ({expected})");
                Err(DataError::Layout { place: place(), what })
            }
        }
    }
}
