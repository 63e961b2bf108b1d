//! Plain words: summaries of doc comments have a head, and pages and messages avoid a few odd phrases.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// First words of a summary that is a clause, not a noun phrase or a verb in the third person.
const CLAUSES: [&str; 28] = [
    "What", "That", "Of", "How", "Why", "Whether", "Where", "When", "Which", "Who", "Whose",
    "Whom", "Its", "It", "They", "Their", "None", "So", "Nor", "Both", "If", "Before", "After",
    "Those", "These", "There", "Is", "Are",
];

/// Beginnings of two words, which are clauses too.
const CLAUSES_OF_TWO: [[&str; 2]; 6] = [
    ["The", "same"],
    ["As", "many"],
    ["In", "which"],
    ["By", "what"],
    ["By", "how"],
    ["To", "which"],
];

/// Phrases that a reader has to read twice: write who does it, a noun, or a number.
const ODD: [&str; 20] = [
    "is told",
    "are told",
    "be told",
    "was told",
    "were told",
    "told of",
    "told by",
    "told apart",
    "so many",
    "is none",
    "are none",
    "had better",
    "this last one",
    "in its stead",
    "in their stead",
    "leads the next",
    "is said",
    "are said",
    "beside it",
    "beside each",
];

/// Largest shares of summaries without a head, and of lines with an odd phrase.
const LIMITS: [f64; 2] = [0.01, 0.001];

/// Folders that hold code and pages; tests, data and what was built are left out.
const ROOMS: [&str; 3] = ["core", "firmware", "host"];

/// A line, with its file and number.
type Place = (PathBuf, usize, String);

/// Lines counted, and those at fault.
#[derive(Default)]
struct Count {
    lines: usize,
    wrong: Vec<Place>,
}

impl Count {
    fn check(&self, what: &str, limit: f64) {
        let share = self.wrong.len() as f64 / self.lines.max(1) as f64;
        let listed: Vec<String> = self
            .wrong
            .iter()
            .take(20)
            .map(|(file, line, text)| format!("{}:{line}: {text}", file.display()))
            .collect();
        assert!(
            share <= limit,
            "{} of {} {what}, more than {limit}; rewrite these:\n{}",
            self.wrong.len(),
            self.lines,
            listed.join("\n")
        );
    }
}

/// Text of a doc comment's line; `None` for other lines.
fn documented(line: &str) -> Option<&str> {
    let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
    Some(text.strip_prefix(' ').unwrap_or(text))
}

fn has_no_head(summary: &str) -> bool {
    let mut words =
        summary.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    CLAUSES.contains(&first) || CLAUSES_OF_TWO.contains(&[first, second])
}

/// Returns whether a text has an odd phrase, as whole words.
fn is_odd(text: &str) -> bool {
    ODD.iter().any(|phrase| {
        text.match_indices(phrase).any(|(start, found)| {
            let outside = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
            outside(text[..start].chars().next_back())
                && outside(text[start + found.len()..].chars().next())
        })
    })
}

/// Adds a source file: its doc comments, comments and lines with strings.
fn count_source(path: &Path, text: &str, summaries: &mut Count, phrases: &mut Count) {
    let mut in_comment = false;
    for (number, line) in text.lines().map(str::trim).enumerate() {
        let place = || (path.to_owned(), number + 1, line.to_owned());
        let doc = documented(line);
        if let Some(summary) =
            doc.filter(|text| !in_comment && text.starts_with(char::is_alphabetic))
        {
            summaries.lines += 1;
            if has_no_head(summary) {
                summaries.wrong.push(place());
            }
        }
        in_comment = doc.is_some();
        if line.starts_with("//") || line.contains('"') {
            phrases.lines += 1;
            if is_odd(line) {
                phrases.wrong.push(place());
            }
        }
    }
}

/// Adds a page.
fn count_page(path: &Path, text: &str, phrases: &mut Count) {
    for (number, line) in text.lines().enumerate() {
        phrases.lines += 1;
        if is_odd(line) {
            phrases.wrong.push((path.to_owned(), number + 1, line.to_owned()));
        }
    }
}

/// Lists the files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        match path.is_dir() {
            true if name.starts_with('.') || name == "target" => {}
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

#[test]
fn summaries_have_heads_and_phrases_are_plain() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut found: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md"].map(|page| root.join(page)).into();
    ROOMS.iter().for_each(|room| files(&root.join(room), &mut found));
    let (mut summaries, mut phrases) = (Count::default(), Count::default());
    for path in found {
        let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        if !["rs", "md"].contains(&ending) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text");
        match ending {
            "rs" => count_source(&path, &text, &mut summaries, &mut phrases),
            _ => count_page(&path, &text, &mut phrases),
        }
    }
    assert!(summaries.lines > 5_000 && phrases.lines > 20_000, "the files are found");
    summaries.check("summaries of doc comments have no head", LIMITS[0]);
    phrases.check("lines have an odd phrase", LIMITS[1]);
}

#[test]
fn clauses_and_phrases_are_recognised() {
    for clause in [
        "What a stream left of it.",
        "The same of several files.",
        "Whether it is one.",
        "Its name.",
    ] {
        assert!(has_no_head(clause), "{clause}");
    }
    for headed in ["State of a stream.", "Returns whether it is one.", "The sample.", "Itself."] {
        assert!(!has_no_head(headed), "{headed}");
    }
    assert!(is_odd("a window of so many samples") && is_odd("where there are none"));
    assert!(!is_odd("the file is nonempty") && !is_odd("the user is toldest"));
}
