//! Templates: texts with names in double braces.

/// The modules of a program: what `{{modules}}` stands for.
pub(super) const MODULES: &str = include_str!("template/modules.rs");

/// A template with its names filled in.
pub(super) fn fill(template: &str, names: &[(&str, String)]) -> String {
    names.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
}

/// A template with the lines that begin with `{{mark?}}` where the mark is set, and without them where it is not.
pub(super) fn select(template: &str, marks: &[(&str, bool)]) -> String {
    let mut text = String::with_capacity(template.len());
    'lines: for mut line in template.split_inclusive('\n') {
        while let Some((mark, rest)) = line
            .strip_prefix("{{")
            .and_then(|rest| rest.split_once("?}}"))
            .filter(|(mark, _)| mark.bytes().all(|letter| letter.is_ascii_lowercase()))
        {
            if !marks.iter().any(|&(one, is_set)| one == mark && is_set) {
                continue 'lines;
            }
            line = rest;
        }
        text += line;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_mark_are_there_where_it_is_set() {
        let template = "a\n{{pin?}}    b\n{{pin?}}{{bus?}}c\n{{x}}?}}\n";
        let of = |pin, bus| select(template, &[("pin", pin), ("bus", bus)]);
        assert_eq!(of(false, true), "a\n{{x}}?}}\n");
        assert_eq!(of(true, false), "a\n    b\n{{x}}?}}\n");
        assert_eq!(of(true, true), "a\n    b\nc\n{{x}}?}}\n");
        assert_eq!(select("{{other?}}a\nb", &[]), "b");
    }
}
