//! Sequences aligned to a profile, as Stockholm.

use std::fmt::Write as _;

use super::path::State;
use super::{Alignment, Profile};

/// A part of a sequence and its path through a profile.
#[derive(Clone, Copy, Debug)]
pub struct Aligned<'a> {
    /// The sequence's name.
    pub name: &'a str,
    /// The whole sequence.
    pub sequence: &'a str,
    /// Index of the path's first symbol in the sequence, from 0.
    pub start: usize,
    /// States, and symbols emitted so far: those of a [`Path`](super::Path).
    pub states: &'a [(State, usize)],
}

/// A row: a residue or a deletion per position, and the insertions after it.
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
/// and last residue, from 1; the mark `RF` is `x` at the profile's positions.
pub fn aligned(profile: &Profile, paths: &[Aligned<'_>]) -> Alignment {
    let rows: Vec<Row> = paths.iter().map(|aligned| Row::new(profile, aligned)).collect();
    let widths: Vec<usize> = (0..profile.len())
        .map(|k| rows.iter().map(|row| row.inserted[k].chars().count()).max().unwrap_or(0))
        .collect();
    let mut reference = Vec::new();
    for &width in &widths {
        reference.push('x');
        reference.extend(std::iter::repeat_n('.', width));
    }
    let text = |row: &Row| {
        let mut text = String::new();
        for ((matched, inserted), &width) in row.matched.iter().zip(&row.inserted).zip(&widths) {
            let _ = write!(text, "{matched}{inserted:.<width$}");
        }
        text.chars().collect()
    };
    Alignment {
        name: profile.name.clone(),
        about: Vec::new(),
        rows: rows.iter().map(text).collect(),
        names: rows.into_iter().map(|row| row.label).collect(),
        marks: vec![("RF".to_owned(), reference)],
    }
}

/// [`aligned`] as Stockholm text.
pub fn stockholm(profile: &Profile, paths: &[Aligned<'_>]) -> String {
    aligned(profile, paths).to_stockholm()
}

impl Alignment {
    /// The alignment as Stockholm text: its name, its annotations, rows, marks.
    pub fn to_stockholm(&self) -> String {
        let marks: Vec<String> = self.marks.iter().map(|(tag, _)| format!("#=GC {tag}")).collect();
        let labels = self.names.iter().chain(&marks);
        let width = labels.map(|label| label.chars().count()).max().unwrap_or(0);
        let mut text = format!("# STOCKHOLM 1.0\n#=GF ID {}\n", self.name);
        for (tag, value) in self.about.iter().filter(|(tag, _)| tag != "ID") {
            let _ = writeln!(text, "#=GF {tag} {value}");
        }
        let rows = self.names.iter().zip(&self.rows);
        for (label, row) in rows.chain(marks.iter().zip(self.marks.iter().map(|(_, row)| row))) {
            let row: String = row.iter().collect();
            let _ = writeln!(text, "{label:<width$} {row}");
        }
        text.push_str("//\n");
        text
    }
}
