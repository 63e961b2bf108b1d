//! Templates: texts with names in double braces.

/// A template with its names filled in.
pub(super) fn fill(template: &str, names: &[(&str, String)]) -> String {
    names.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
}
