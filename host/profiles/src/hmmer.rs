//! HMMER3/f text: a header of tags, then three lines a position of negative natural logarithms, `*` for a
//! probability of zero. What is read is written as it was, but for the version line.

use std::fmt::Write as _;

use super::model::{Note, Profile};
use super::{ProfileError, Residues};
use fishweir::internals::Elementary;

/// Position of the reader.
struct Lines<'t> {
    file: &'t str,
    lines: std::iter::Enumerate<std::str::Lines<'t>>,
}

/// A line, and its number from 1.
#[derive(Clone, Copy)]
struct Line<'t> {
    file: &'t str,
    number: usize,
    text: &'t str,
}

impl<'t> Lines<'t> {
    /// The next line that is not blank.
    fn next(&mut self) -> Option<Line<'t>> {
        let (index, text) = self.lines.find(|(_, text)| !text.trim().is_empty())?;
        Some(Line { file: self.file, number: index + 1, text })
    }

    fn expect(&mut self, what: &str) -> Result<Line<'t>, ProfileError> {
        self.next().ok_or_else(|| ProfileError::File {
            file: self.file.to_owned(),
            what: format!("ends before {what}; is the file truncated?"),
        })
    }
}

impl<'t> Line<'t> {
    /// An error at a word of the line, or at its end.
    fn wrong(&self, word: Option<&str>, what: impl Into<String>) -> ProfileError {
        let offset = word.map_or(self.text.len(), |word| {
            (word.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
        });
        let before = self.text.get(..offset).unwrap_or(self.text);
        ProfileError::Text {
            file: self.file.to_owned(),
            line: self.number,
            column: before.chars().count() + 1,
            what: what.into(),
        }
    }

    /// Reads `count` probabilities from some words.
    fn probabilities(&self, words: &[&'t str], count: usize) -> Result<Vec<f64>, ProfileError> {
        if words.len() != count {
            let what = format!("{} numbers where {count} belong", words.len());
            return Err(self.wrong(words.get(count).copied(), what));
        }
        let probability = |&word: &&'t str| match (word, word.parse::<f64>()) {
            ("*", _) => Ok(0.0),
            (_, Ok(cost)) if cost >= 0.0 => Ok((-cost).portable_exp()),
            _ => Err(self.wrong(
                Some(word),
                format!(
                    "`{word}` is not a negative logarithm of a probability (0 or more, or `*`)"
                ),
            )),
        };
        words.iter().map(probability).collect()
    }
}

impl Profile {
    /// Returns whether bytes begin as the text of HMMER profiles. The values may still be invalid.
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(b"HMMER")
    }

    /// Reads every profile of a HMMER3/f text. `file` is its name in messages.
    ///
    /// # Errors
    /// Names line and column of what is no profile.
    pub fn parse_all(file: &str, text: &str) -> Result<Vec<Self>, ProfileError> {
        let mut lines = Lines { file, lines: text.lines().enumerate() };
        let mut profiles = Vec::new();
        while let Some(first) = lines.next() {
            profiles.push(parse(first, &mut lines)?);
        }
        if profiles.is_empty() {
            return Err(ProfileError::File {
                file: file.to_owned(),
                what: "is empty; expected a profile in HMMER3/f text".into(),
            });
        }
        Ok(profiles)
    }

    /// Reads a HMMER3/f text with one profile.
    ///
    /// # Errors
    /// As [`parse_all`](Self::parse_all); and where there are several.
    pub fn parse(file: &str, text: &str) -> Result<Self, ProfileError> {
        let mut profiles = Self::parse_all(file, text)?;
        match (profiles.pop(), profiles.is_empty()) {
            (Some(only), true) => Ok(only),
            _ => Err(ProfileError::File {
                file: file.to_owned(),
                what: format!("has {} profiles, and one is needed", profiles.len() + 1),
            }),
        }
    }

    /// The profile as HMMER3/f text.
    pub fn to_hmmer(&self) -> String {
        let mut text = String::from("HMMER3/f [fishweir]\n");
        let yes = |any: bool| if any { "yes" } else { "no" };
        let marked = |mark: usize| yes(self.notes.iter().any(|note| note.marks[mark] != '-'));
        let mut line = |tag: &str, value: &str| {
            let _ = writeln!(text, "{tag:<5} {value}");
        };
        line("NAME", &self.name);
        for (tag, value) in self.header.iter().filter(|(tag, _)| is_before_length(tag)) {
            line(tag, value);
        }
        line("LENG", &self.len().to_string());
        for (tag, value) in self.header.iter().filter(|(tag, _)| tag == "MAXL") {
            line(tag, value);
        }
        line("ALPH", self.residues.name);
        for (tag, mark) in [("RF", 1), ("MM", 2), ("CONS", 0), ("CS", 3)] {
            line(tag, marked(mark));
        }
        line("MAP", yes(self.notes.iter().any(|note| note.column.is_some())));
        let rest = |tag: &str| !is_before_length(tag) && tag != "MAXL";
        for (tag, value) in self.header.iter().filter(|(tag, _)| rest(tag)) {
            line(tag, value);
        }
        text.push_str("HMM     ");
        for symbol in self.residues.symbols.chars() {
            let _ = write!(text, "     {symbol}   ");
        }
        text.push_str("\n        ");
        text.push_str("    m->m     m->i     m->d     i->m     i->i     d->m     d->d\n");
        if let Some(composition) = &self.composition {
            row(&mut text, "  COMPO ", composition);
            text.push('\n');
        }
        for k in 0..=self.len() {
            if let Some((matched, note)) =
                k.checked_sub(1).and_then(|k| self.matched.get(k).zip(self.notes.get(k)))
            {
                row(&mut text, &format!(" {k:>6} "), matched);
                let column = note.column.map_or("-".to_owned(), |column| column.to_string());
                let _ = write!(text, " {column:>6}");
                for mark in note.marks {
                    let _ = write!(text, " {mark}");
                }
                text.push('\n');
            }
            for part in [self.inserted[k].as_slice(), &self.transition[k]] {
                row(&mut text, "        ", part);
                text.push('\n');
            }
        }
        text.push_str("//\n");
        text
    }
}

/// Header lines that stand between the name and the length.
fn is_before_length(tag: &str) -> bool {
    matches!(tag, "ACC" | "DESC")
}

fn row(text: &mut String, head: &str, probabilities: &[f64]) {
    text.push_str(head);
    for &p in probabilities {
        let _ = if p > 0.0 {
            // Adding zero makes minus zero positive.
            write!(text, " {:>8.5}", -p.portable_ln() + 0.0)
        } else {
            write!(text, " {:>8}", "*")
        };
    }
}

/// One profile, from its version line on.
fn parse<'t>(first: Line<'t>, lines: &mut Lines<'t>) -> Result<Profile, ProfileError> {
    if !first.text.starts_with("HMMER3/f") {
        let what =
            "expected `HMMER3/f`, the first line of a profile; convert older files with hmmconvert";
        return Err(first.wrong(Some(first.text), what));
    }
    let mut header = Vec::new();
    let (mut name, mut length, mut residues) = (None, None, None);
    let start = loop {
        let line = lines.expect("the line `HMM`")?;
        let (tag, value) = line.text.split_once(char::is_whitespace).unwrap_or((line.text, ""));
        let value = value.trim();
        match tag {
            "HMM" => break line,
            "NAME" => name = Some(value.to_owned()),
            "LENG" => {
                let positions = value.parse::<usize>().ok().filter(|&positions| positions > 0);
                let what =
                    || line.wrong(Some(value), format!("`{value}` is not a number of positions"));
                length = Some(positions.ok_or_else(what)?);
            }
            "ALPH" => {
                let known = Residues::named(value);
                let what = || {
                    line.wrong(
                        Some(value),
                        format!("`{value}` is not a known alphabet: amino, DNA or RNA"),
                    )
                };
                residues = Some(known.ok_or_else(what)?);
            }
            // Derived from the notes where the profile is written.
            "RF" | "MM" | "CONS" | "CS" | "MAP" => {}
            _ => header.push((tag.to_owned(), value.to_owned())),
        }
    };
    let missing =
        |tag: &str| start.wrong(Some(start.text), format!("the header above has no `{tag}`"));
    let name = name.ok_or_else(|| missing("NAME"))?;
    let length = length.ok_or_else(|| missing("LENG"))?;
    let residues = residues.ok_or_else(|| missing("ALPH"))?;
    let width = residues.len();
    lines.expect("the names of the transitions")?;

    let mut composition = None;
    let (mut matched, mut inserted) = (Vec::new(), Vec::new());
    let (mut transition, mut notes) = (Vec::new(), Vec::new());
    let mut line = lines.expect("the begin state's emissions")?;
    let mut words: Vec<&str> = line.text.split_whitespace().collect();
    if words.first() == Some(&"COMPO") {
        composition = Some(line.probabilities(&words[1..], width)?);
        line = lines.expect("the begin state's emissions")?;
        words = line.text.split_whitespace().collect();
    }
    loop {
        inserted.push(line.probabilities(&words, width)?);
        line = lines.expect("transitions")?;
        words = line.text.split_whitespace().collect();
        let row = line.probabilities(&words, 7)?;
        transition.push(row.try_into().map_err(|_| line.wrong(None, "not seven numbers"))?);
        line = lines.expect("another position, or `//`")?;
        words = line.text.split_whitespace().collect();
        if words == ["//"] {
            break;
        }
        let position = matched.len() + 1;
        let numbered = words.first().and_then(|word| word.parse::<usize>().ok());
        if position > length || numbered != Some(position) {
            let what = if position > length {
                format!("more than the {length} positions of the header")
            } else {
                format!("expected position {position}")
            };
            return Err(line.wrong(words.first().copied(), what));
        }
        let numbers = words.get(1..=width).unwrap_or(&words[1..]);
        matched.push(line.probabilities(numbers, width)?);
        notes.push(note(&line, words.get(width + 1..).unwrap_or_default())?);
        line = lines.expect("insert emissions")?;
        words = line.text.split_whitespace().collect();
    }
    if matched.len() != length {
        let what = format!("the profile ends after {} positions of {length}", matched.len());
        return Err(line.wrong(Some(line.text), what));
    }
    let profile =
        Profile { residues, name, header, matched, inserted, transition, composition, notes };
    profile.validate()?;
    Ok(profile)
}

/// Reads the annotation after a position's emissions.
fn note(line: &Line<'_>, words: &[&str]) -> Result<Note, ProfileError> {
    let [column, marks @ ..] = words else { return Ok(Note::NONE) };
    let mut note = Note::NONE;
    if *column != "-" {
        let what =
            || line.wrong(Some(column), format!("`{column}` is not a column of an alignment"));
        note.column = Some(column.parse().map_err(|_| what())?);
    }
    for (mark, word) in note.marks.iter_mut().zip(marks) {
        *mark = word.chars().next().unwrap_or('-');
    }
    Ok(note)
}
