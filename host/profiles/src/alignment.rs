//! Alignments: Stockholm, and FASTA with gaps.

use std::collections::HashSet;

use super::{ProfileError, Residues};

/// Sequences in columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Alignment {
    /// Name of the alignment: Stockholm's `#=GF ID`, or the file's.
    pub name: String,
    /// Other lines about the family, `#=GF`: accession and description.
    pub about: Vec<(String, String)>,
    /// Names of the sequences.
    pub names: Vec<String>,
    /// Rows of the sequences, of one length: residues, and gaps `- . _ ~`.
    pub rows: Vec<Vec<char>>,
    /// A mark per column, `#=GC`: reference (`RF`), consensus structure (`SS_cons`), mask (`MM`).
    pub marks: Vec<(String, Vec<char>)>,
}

/// Returns whether a character of an alignment is no residue.
pub(super) fn is_gap(character: char) -> bool {
    matches!(character, '-' | '.' | '_' | '~')
}

/// A text with a name; messages give line and column.
struct Text<'t>(&'t str);

impl Text<'_> {
    fn wrong(&self, line: usize, column: usize, what: impl Into<String>) -> ProfileError {
        ProfileError::Text { file: self.0.to_owned(), line, column, what: what.into() }
    }

    /// Appends to a named entry, or creates it.
    fn extend(named: &mut Vec<(String, Vec<char>)>, name: &str, text: &str) {
        let found = named.iter_mut().find(|(known, _)| known == name);
        match found {
            Some((_, row)) => row.extend(text.chars()),
            None => named.push((name.to_owned(), text.chars().collect())),
        }
    }
}

impl Alignment {
    /// Reads Stockholm (by its first line) or aligned FASTA. `file` is its name in messages.
    ///
    /// # Errors
    /// Names line and column of what is no alignment: a line that is neither, a row of another length.
    pub fn parse(file: &str, text: &str) -> Result<Self, ProfileError> {
        let first = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty());
        let (named, about, marks): Parts = match first {
            Some((_, line)) if line.starts_with("# STOCKHOLM") => stockholm(&Text(file), text)?,
            Some((_, line)) if line.starts_with('>') => {
                (fasta(&Text(file), text, true)?, Vec::new(), Vec::new())
            }
            Some((number, _)) => {
                let what = "expected `# STOCKHOLM 1.0`, or `>` and a name (aligned FASTA); write the alignment as \
                        one of these";
                return Err(Text(file).wrong(number + 1, 1, what));
            }
            None => {
                let what = "is empty; expected an alignment".to_owned();
                return Err(ProfileError::File { file: file.to_owned(), what });
            }
        };
        let stem = || {
            let path = std::path::Path::new(file);
            path.file_stem().map_or(file.to_owned(), |stem| stem.to_string_lossy().into_owned())
        };
        let id = about.iter().find(|(tag, _)| tag == "ID").map(|(_, id)| id.clone());
        let name = id.unwrap_or_else(stem);
        let (names, rows) = named.into_iter().unzip();
        let alignment = Self { name, about, names, rows, marks };
        alignment.validate()?;
        Ok(alignment)
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    /// Marks of the columns.
    pub fn marks(&self, tag: &str) -> Option<&[char]> {
        self.marks.iter().find(|(known, _)| known == tag).map(|(_, marks)| marks.as_slice())
    }

    /// The alphabet that its residues are of.
    pub fn residues(&self) -> &'static Residues {
        self.guess_residues().0
    }

    /// Guesses the alphabet, and reports whether it is a guess.
    pub fn guess_residues(&self) -> (&'static Residues, bool) {
        Residues::guess(self.rows.iter().flatten().copied())
    }

    /// Checks that there are sequences, all of one length, and marks of it too.
    fn validate(&self) -> Result<(), ProfileError> {
        let wrong = |what: String| Err(ProfileError::Alignment { name: self.name.clone(), what });
        let columns = self.columns();
        if columns == 0 {
            return wrong("has no sequence".into());
        }
        let rows = self.names.iter().zip(&self.rows);
        let marks = self.marks.iter().map(|(tag, marks)| (tag, marks));
        for (name, row) in rows.chain(marks) {
            if row.len() != columns {
                return wrong(format!(
                    "{name} has {} columns where the first sequence has {columns}",
                    row.len()
                ));
            }
        }
        Ok(())
    }
}

type Named = Vec<(String, Vec<char>)>;

/// The names and sequences of a FASTA text without gaps. `file` is its name in messages.
///
/// # Errors
/// Names line and column of what is no FASTA.
pub fn sequences(file: &str, text: &str) -> Result<Vec<(String, String)>, ProfileError> {
    if !text.trim_start().starts_with('>') {
        return Err(Text(file).wrong(1, 1, "expected `>` and a name: FASTA"));
    }
    let named = fasta(&Text(file), text, false)?;
    Ok(named.into_iter().map(|(name, row)| (name, row.into_iter().collect())).collect())
}

/// Reads FASTA; characters of unaligned sequences are checked where they are encoded.
fn fasta(file: &Text<'_>, text: &str, aligned: bool) -> Result<Named, ProfileError> {
    let mut named: Named = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end();
        if let Some(header) = line.strip_prefix('>') {
            let Some(name) = header.split_whitespace().next() else {
                return Err(file.wrong(number, 2, "a sequence without a name"));
            };
            named.push((name.to_owned(), Vec::new()));
        } else if let Some((_, row)) = named.last_mut() {
            if aligned {
                check(file, number, 1, line)?;
            }
            row.extend(line.chars());
        }
    }
    Ok(named)
}

/// Rows, annotations of the family, and marks of columns.
type Parts = (Named, Vec<(String, String)>, Named);

fn stockholm(file: &Text<'_>, text: &str) -> Result<Parts, ProfileError> {
    let (mut named, mut about, mut marks) = (Named::new(), Vec::new(), Vec::new());
    let mut ended = false;
    // Names of the block; a blank line ends it.
    let mut block: HashSet<&str> = HashSet::new();
    let mut lines = (1..).zip(text.lines());
    for (number, line) in lines.by_ref() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (None, ..) => block.clear(),
            (Some("//"), ..) => {
                ended = true;
                break;
            }
            (Some("#=GF"), Some(tag), _) => {
                let value = line.split_once(tag).map_or("", |(_, value)| value.trim());
                about.push((tag.to_owned(), value.to_owned()));
            }
            (Some("#=GC"), Some(tag), Some(row)) => Text::extend(&mut marks, tag, row),
            (Some(word), ..) if word.starts_with('#') => {}
            (Some(name), Some(row), None) => {
                let column = line.find(row).unwrap_or_default() + 1;
                check(file, number, column, row)?;
                if !block.insert(name) {
                    let what = format!(
                        "the sequence `{name}` occurs twice in this block; give each its own name"
                    );
                    return Err(file.wrong(number, line.find(name).unwrap_or_default() + 1, what));
                }
                Text::extend(&mut named, name, row);
            }
            (Some(word), ..) => {
                let column = line.find(word).unwrap_or_default() + 1;
                let what = "expected a name and a row of residues, or a line that begins with `#`";
                return Err(file.wrong(number, column, what));
            }
        }
    }
    if let Some((number, _)) = lines.find(|(_, line)| !line.trim().is_empty()) {
        let what = "another alignment follows after `//`; keep one per file";
        return Err(file.wrong(number, 1, what));
    }
    if !ended {
        let what = "ends without `//`; is the file truncated?".to_owned();
        return Err(ProfileError::File { file: file.0.to_owned(), what });
    }
    Ok((named, about, marks))
}

/// Checks that a row is of letters and gaps.
fn check(file: &Text<'_>, line: usize, column: usize, row: &str) -> Result<(), ProfileError> {
    let odd = |&(_, found): &(usize, char)| {
        !(found.is_ascii_alphabetic() || found == '*' || is_gap(found))
    };
    match row.chars().enumerate().find(odd) {
        Some((at, found)) => {
            Err(file.wrong(line, column + at, format!("`{found}` is neither a residue nor a gap")))
        }
        None => Ok(()),
    }
}
