//! Pattern of names of files, with the label in it.

use std::path::Path;

/// Names of files with parts: `{label}.{n}.csv`. What stands between braces is the label, or any text where it is another word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    text: String,
    /// Fixed texts, and names of the parts between them.
    parts: Vec<(String, Option<String>)>,
}

impl NamePattern {
    /// Parses a pattern such as `{label}.{n}.csv`.
    ///
    /// # Errors
    /// Without `{label}`, or a brace that does not end.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            let (name, behind) =
                after.split_once('}').ok_or("a brace is not closed; write {label}.{n}.csv")?;
            parts.push((before.to_owned(), Some(name.to_owned())));
            rest = behind;
        }
        parts.push((rest.to_owned(), None));
        let labels = parts.iter().filter(|(_, name)| name.as_deref() == Some("label")).count();
        if labels != 1 {
            return Err(format!("`{text}` has no {{label}}, or two; write {{label}}.{{n}}.csv"));
        }
        Ok(Self { text: text.to_owned(), parts })
    }

    /// The pattern as it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The label in a file's path: patterns with `/` are of its folders too. Each part is as short as it can be, but the last.
    pub fn label(&self, below: &Path) -> Option<String> {
        let path = below.to_string_lossy().replace('\\', "/");
        let depth = self.text.matches('/').count();
        let pieces: Vec<&str> = path.split('/').collect();
        let name = pieces[pieces.len().checked_sub(depth + 1)?..].join("/");
        let mut rest = name.strip_prefix(self.parts.first()?.0.as_str())?;
        let mut label = None;
        for pair in self.parts.windows(2) {
            let (part, next) = (&pair[0].1, pair[1].0.as_str());
            let is_last = pair[1].1.is_none();
            let at = match (next, is_last) {
                ("", true) => rest.len(),
                (next, true) => {
                    rest.len().checked_sub(next.len()).filter(|&at| rest.get(at..) == Some(next))?
                }
                ("", false) => rest.chars().next().map_or(0, char::len_utf8),
                (next, false) => rest.find(next)?,
            };
            let value = rest.get(..at)?;
            if part.as_deref() == Some("label") {
                label = Some(value.to_owned());
            }
            rest = rest.get(at + next.len()..)?;
        }
        label.filter(|label| !label.is_empty() && !label.contains('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_labels_in_names_and_folders() {
        let label = |pattern: &str, path: &str| {
            NamePattern::parse(pattern).expect("a pattern").label(Path::new(path))
        };
        assert_eq!(label("{label}.{n}.csv", "a/walk.12.csv").as_deref(), Some("walk"));
        assert_eq!(label("{time}_{label}.csv", "2024-12-01T15_walk.csv").as_deref(), Some("walk"));
        assert_eq!(label("{label}/{n}.csv", "x/walk/12.csv").as_deref(), Some("walk"));
        assert_eq!(label("{label}.csv", "walk.json"), None);
        assert_eq!(label("{label}", "walk"), Some("walk".into()));
        assert!(NamePattern::parse("{n}.csv").is_err() && NamePattern::parse("{label").is_err());
    }
}
