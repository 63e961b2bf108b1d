//! Sequences aligned to a profile, as Stockholm.

use std::fmt::Write as _;

use super::Profile;
use super::path::State;

/// A part of a sequence and its path through a profile.
#[derive(Clone, Copy, Debug)]
pub struct Aligned<'a> {
    /// The sequence's name.
    pub name: &'a str,
    /// The whole sequence.
    pub sequence: &'a str,
    /// Where the path's first symbol is in it, from 0.
    pub start: usize,
    /// States, and symbols emitted so far: those of a [`Path`](super::Path).
    pub states: &'a [(State, usize)],
}

/// A row: a residue or a deletion a position, and what is inserted after it.
struct Row {
    label: String,
    matched: Vec<char>,
    inserted: Vec<String>,
}

impl Row {
    fn new(profile: &Profile, aligned: &Aligned<'_>) -> Self {
        let residues: Vec<char> = aligned.sequence.chars().skip(aligned.start).collect();
        let (mut first, mut last) = (None, 0);
        let mut matched = vec!['-'; profile.len()];
        let mut inserted = vec![String::new(); profile.len()];
        for &(state, symbols) in aligned.states {
            let residue = symbols.checked_sub(1).and_then(|t| residues.get(t)).copied();
            let Some(residue) = residue else { continue };
            match state {
                State::Match(k) => matched[k] = residue.to_ascii_uppercase(),
                State::Insert(k) => inserted[k].push(residue.to_ascii_lowercase()),
                State::Flank | State::Begin | State::Delete(_) => continue,
            }
            first.get_or_insert(symbols);
            last = symbols;
        }
        let (first, last) = (first.unwrap_or(0) + aligned.start, last + aligned.start);
        Self { label: format!("{}/{first}-{last}", aligned.name), matched, inserted }
    }
}

/// Paths of one domain each, in columns: residues that match in upper case, insertions in lower case, `-` for
/// what is deleted, `.` where another row has an insertion. Names are those of the sequences with the first
/// and last residue, from 1; `#=GC RF` marks the profile's positions.
pub fn stockholm(profile: &Profile, aligned: &[Aligned<'_>]) -> String {
    let rows: Vec<Row> = aligned.iter().map(|aligned| Row::new(profile, aligned)).collect();
    let widths: Vec<usize> = (0..profile.len())
        .map(|k| rows.iter().map(|row| row.inserted[k].chars().count()).max().unwrap_or(0))
        .collect();
    let labels = rows.iter().map(|row| row.label.chars().count());
    let label = labels.max().unwrap_or(0).max("#=GC RF".len());
    let mut text = format!("# STOCKHOLM 1.0\n#=GF ID {}\n", profile.name);
    for row in &rows {
        let _ = write!(text, "{:<label$} ", row.label);
        for ((matched, inserted), &width) in row.matched.iter().zip(&row.inserted).zip(&widths) {
            let _ = write!(text, "{matched}{inserted:.<width$}");
        }
        text.push('\n');
    }
    let _ = write!(text, "{:<label$} ", "#=GC RF");
    for &width in &widths {
        let _ = write!(text, "x{:.<width$}", "");
    }
    text.push_str("\n//\n");
    text
}
