//! What a reader finds in a file: series whose labels and symbols are still text.

use super::annotations::Annotation;
use super::error::DataError;
use super::marks::Marks;
use super::place::Place;
use super::samples::Rows;
use super::source::{Finding, Findings};
use super::unit_match::UnitMatch;
use crate::words::shorten;

/// What a reader found in a file.
pub(super) struct Part {
    pub(super) file: String,
    /// Names of the extra columns.
    pub(super) columns: Vec<String>,
    /// Names of the channels; `None` for symbols.
    pub(super) channels: Option<Vec<String>>,
    /// Number, from 1, and name of the columns for messages, where there are columns.
    pub(super) label_column: Option<(usize, String)>,
    pub(super) text_column: Option<(usize, String)>,
    /// What rows lack that have a number of some channel.
    pub(super) absent: Absent,
    /// Whether the unit of the times is named.
    pub(super) clocked: bool,
    /// Channels that were wanted under another name.
    pub(super) units: Vec<UnitMatch>,
    /// What was found by looking.
    pub(super) findings: Findings,
    /// Labels by time.
    pub(super) annotations: Vec<Annotation>,
    pub(super) drafts: Vec<Draft>,
}

/// Numbers that are missing beside others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Absent {
    /// Rows that lack some channels only.
    pub(super) rows: usize,
    /// Those that lack a channel, `[channel]`; empty where there are none.
    pub(super) channels: Vec<usize>,
}

impl Absent {
    /// Takes in which channels a row lacks.
    pub(super) fn take(&mut self, absent: &[bool]) {
        if absent.contains(&true) && absent.contains(&false) {
            self.rows += 1;
            self.channels.resize(absent.len(), 0);
            absent.iter().zip(&mut self.channels).for_each(|(&one, of)| *of += usize::from(one));
        }
    }

    /// Takes in what others lack.
    pub(super) fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.channels.resize(self.channels.len().max(other.channels.len()), 0);
        other.channels.iter().zip(&mut self.channels).for_each(|(more, of)| *of += more);
    }
}

impl Part {
    /// Of a file in which nothing has been found yet, and which has no columns.
    pub(super) fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            columns: Vec::new(),
            channels: None,
            label_column: None,
            text_column: None,
            absent: Absent::default(),
            clocked: false,
            units: Vec::new(),
            findings: Findings::default(),
            annotations: Vec::new(),
            drafts: Vec::new(),
        }
    }

    /// Notes that a name in a column is taken for a missing one.
    pub(super) fn note_missing(&mut self, marks: &Marks, text: &str, column: &str) {
        if marks.has_name(text) {
            let what = format!("`{text}` in the column `{column}` is missing, and no label");
            self.findings.add(Finding::Missing, what);
        }
    }

    /// Refuses a last series with numbers but no row in which all channels have one, by the name of what is
    /// missing; `seen` are the channels of which it has a number.
    pub(super) fn check_whole(&self, seen: &[bool]) -> Result<(), DataError> {
        let Some(Draft { id, line, body: Body::Rows(rows), .. }) = self.drafts.last() else {
            return Ok(());
        };
        if !seen.contains(&true) || rows.view().iter().any(|row| row.is_some()) {
            return Ok(());
        }
        let names = self.channels.as_deref().unwrap_or_default().iter().zip(seen);
        let never =
            names.filter(|(_, seen)| !**seen).map(|(name, _)| format!("`{}`", shorten(name)));
        let missing = match never.collect::<Vec<_>>().as_slice() {
            [] => "one or another".to_owned(),
            never => never.join(", "),
        };
        let (place, series) = (Place::line(&self.file, *line).into(), shorten(id));
        Err(DataError::NoWholeRow { place, series, missing })
    }
}

/// A series whose label and symbols are still text.
pub(super) struct Draft {
    pub(super) id: String,
    pub(super) label: Option<String>,
    pub(super) columns: Vec<String>,
    pub(super) times: Vec<f64>,
    pub(super) line: u64,
    pub(super) body: Body,
}

pub(super) enum Body {
    Rows(Rows),
    Text(Text),
}

impl Default for Body {
    fn default() -> Self {
        Self::Text(Text::default())
    }
}

/// A string that remembers the lines it came from.
#[derive(Default)]
pub(super) struct Text {
    pub(super) text: String,
    /// Byte offset in `text` and line number of each line.
    lines: Vec<(usize, u64)>,
    /// A string over several lines, in which blanks are no symbols.
    folded: bool,
}

impl Text {
    pub(super) fn of_line(text: &str, line: u64) -> Self {
        Self { text: text.to_owned(), lines: vec![(0, line)], folded: false }
    }

    pub(super) fn push_line(&mut self, text: &str, line: u64) {
        self.folded = true;
        self.lines.push((self.text.len(), line));
        self.text.push_str(text);
    }

    /// The characters that are symbols or codes, with their byte offsets.
    pub(super) fn characters(&self) -> impl Iterator<Item = (usize, char)> {
        self.text.char_indices().filter(|(_, one)| !(self.folded && one.is_whitespace()))
    }

    /// Line, and character within it from 1, of a byte offset.
    pub(super) fn locate(&self, offset: usize) -> (u64, usize) {
        let line = self.lines.partition_point(|&(begin, _)| begin <= offset).saturating_sub(1);
        let (begin, number) = self.lines.get(line).copied().unwrap_or((0, 0));
        (number, self.text[begin..offset].chars().count() + 1)
    }
}
