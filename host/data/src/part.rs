//! Content of a file as a reader finds it: series whose labels and symbols are still text.

use super::dictionary::is_separator;
use super::marks::Marks;
use super::samples::Rows;
use super::source::{Finding, Findings};
use super::unit_match::UnitMatch;

/// Content of a file.
pub(super) struct Part {
    pub(super) file: String,
    /// Names of the extra columns.
    pub(super) columns: Vec<String>,
    /// Names of the channels; `None` for symbols.
    pub(super) channels: Option<Vec<String>>,
    /// Number, from 1, and name of the columns for messages, where there are columns.
    pub(super) label_column: Option<(usize, String)>,
    pub(super) text_column: Option<(usize, String)>,
    /// `true` if the unit of the times is named.
    pub(super) clocked: bool,
    /// Channels that were wanted under another name.
    pub(super) units: Vec<UnitMatch>,
    /// Facts that were inferred.
    pub(super) findings: Findings,
    /// Labels by time.
    pub(super) annotations: Vec<Annotation>,
    pub(super) drafts: Vec<Draft>,
}

impl Part {
    /// Creates the part of a file before anything is found, and without columns.
    pub(super) fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            columns: Vec::new(),
            channels: None,
            label_column: None,
            text_column: None,
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
            let what = format!(
                "`{text}` in the column `{column}` is a missing value, so the series has no label"
            );
            self.findings.add(Finding::Missing, what);
        }
    }
}

/// A label from one time to another, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Annotation {
    /// Series that the annotation belongs to; every series if none is named.
    pub(super) series: Option<String>,
    pub(super) start: f64,
    /// Infinite where it lasts to the next, or to the end.
    pub(super) end: f64,
    pub(super) label: String,
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
    pub(super) form: Form,
}

/// Form of a string in its file.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// On one line.
    #[default]
    Line,
    /// Over several lines, in which blanks are no symbols.
    Folded,
    /// One event per line, which is a word, and missing where it is empty.
    Events,
}

impl Text {
    pub(super) fn of_line(text: &str, line: u64) -> Self {
        Self { text: text.to_owned(), lines: vec![(0, line)], form: Form::Line }
    }

    pub(super) fn of_events() -> Self {
        Self { form: Form::Events, ..Self::default() }
    }

    pub(super) fn push_line(&mut self, text: &str, line: u64) {
        self.form = Form::Folded;
        self.lines.push((self.text.len(), line));
        self.text.push_str(text);
    }

    /// Adds an event, with `_` for separators, or a missing one; returns whether there was a separator.
    pub(super) fn push_event(&mut self, text: Option<&str>, line: u64) -> bool {
        self.lines.push((self.text.len(), line));
        let Some(text) = text else { return false };
        let pieces = text.split(is_separator).filter(|piece| !piece.is_empty());
        let before = self.text.len();
        for piece in pieces {
            self.text.push_str(if self.text.len() > before { "_" } else { "" });
            self.text.push_str(piece);
        }
        self.text[before..] != *text
    }

    /// The characters that are symbols or codes, with their byte offsets.
    pub(super) fn characters(&self) -> impl Iterator<Item = (usize, char)> {
        let folded = self.form == Form::Folded;
        self.text.char_indices().filter(move |(_, one)| !(folded && one.is_whitespace()))
    }

    /// The words, with their byte offsets: one per event, or those between separators.
    pub(super) fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        let of_events = self.form == Form::Events;
        let ends = self.lines.iter().skip(1).map(|&(begin, _)| begin);
        let lines = self.lines.iter().map(|&(begin, _)| begin).zip(ends.chain([self.text.len()]));
        let events = lines.map(|(begin, end)| (begin, &self.text[begin..end]));
        let mut at = 0;
        let pieces = self.text.split(is_separator).map(move |piece| {
            let begin = at;
            at += piece.len() + 1;
            (begin, piece)
        });
        let pieces = pieces.filter(|(_, piece)| !piece.is_empty());
        events.filter(move |_| of_events).chain(pieces.filter(move |_| !of_events))
    }

    /// Line, and character within it from 1, of a byte offset; of events the line alone.
    pub(super) fn locate(&self, offset: usize) -> (u64, Option<usize>) {
        let line = self.lines.partition_point(|&(begin, _)| begin <= offset).saturating_sub(1);
        let (begin, number) = self.lines.get(line).copied().unwrap_or((0, 0));
        let within = self.text[begin..offset].chars().count() + 1;
        (number, (self.form != Form::Events).then_some(within))
    }
}
