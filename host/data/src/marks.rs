//! Marks of missing values: one list for samples, labels, events and records.

use fishweir_core::emission::Alphabet;

/// Default marks of a missing value, besides an empty field.
///
/// They are those that R, pandas, NumPy, Weka, SQL and Python write, as a device reads them.
fn usual() -> impl Iterator<Item = &'static str> {
    Alphabet::MISSING_WORDS.split('\n')
}

/// The marks of missing values. The default is the usual list; an empty field is always missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks(Option<Vec<String>>);

impl Marks {
    /// Creates a list of these marks and the empty field, in place of the default.
    #[must_use]
    pub fn new(marks: Vec<String>) -> Self {
        Self(Some(marks))
    }

    /// Returns whether a field, without blanks around it, is missing.
    #[must_use]
    #[inline]
    pub fn has(&self, field: &str) -> bool {
        match (&self.0, field.as_bytes().first()) {
            (_, None) => true,
            (Some(marks), _) => marks.iter().any(|mark| mark == field),
            // Most fields are numbers, which no usual mark begins like.
            (None, Some(b'0'..=b'9' | b'-' | b'+' | b'.')) => false,
            (None, _) => field.len() <= 4 && usual().any(|mark| mark == field),
        }
    }

    /// Returns whether no mark is a number.
    pub(super) fn are_words(&self) -> bool {
        self.0.is_none()
    }

    /// The marks.
    pub(super) fn words(&self) -> Vec<&str> {
        match &self.0 {
            Some(marks) => marks.iter().map(String::as_str).collect(),
            None => usual().collect(),
        }
    }

    /// Returns whether a field that is not empty is missing: a name that may have been intended.
    #[must_use]
    pub fn has_name(&self, field: &str) -> bool {
        !field.is_empty() && self.has(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_other_programs_write_is_missing() {
        for mark in usual().chain([""]) {
            assert!(Marks::default().has(mark), "{mark}");
        }
        for value in ["0", "-1", "1e9", "none", "walk", "N", "na", "nano", "-", "."] {
            assert!(!Marks::default().has(value), "{value}");
        }
        let own = Marks::new(vec!["-9999".into(), "lost".into()]);
        assert!(own.has("-9999") && own.has("lost") && own.has("") && !own.has("NA"));
        assert!(own.has_name("lost") && !own.has_name(""));
    }
}
