//! Numbers, names and tables as C writes them.

use std::fmt::Write as _;

/// A literal of C that reads back to the same bits.
pub(super) fn float(value: f32) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "INFINITE".into() } else { "-INFINITE".into() };
    }
    // Debug prints the shortest text that reads back to the same number.
    format!("{value:?}f")
}

/// The literals of some numbers.
pub(super) fn floats<'a>(numbers: impl IntoIterator<Item = &'a f32>) -> Vec<String> {
    numbers.into_iter().map(|&x| float(x)).collect()
}

/// A string literal of C, in UTF-8: all but plain letters as the octal digits of their bytes, a
/// question mark too, for two of them may begin a trigraph.
pub(super) fn string(name: &str) -> String {
    let byte = |byte: u8| match byte {
        b' '..=b'~' if !b"\"\\?".contains(&byte) => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    let text: String = name.bytes().map(byte).collect();
    // A name is no place for the prefix.
    let text = text.replace("fishweir_", "fishweir\\137").replace("FISHWEIR_", "FISHWEIR\\137");
    format!("\"{text}\"")
}

/// Some names as an initialiser.
pub(super) fn string_list(names: &[String]) -> String {
    list(names.iter().map(|name| string(name)))
}

/// An initialiser.
pub(super) fn list(entries: impl IntoIterator<Item = String>) -> String {
    format!("{{{}}}", entries.into_iter().collect::<Vec<_>>().join(", "))
}

/// A name as a comment of C may hold it: on one line, and without the comment's end.
pub(super) fn in_comment(name: &str) -> String {
    name.escape_debug().to_string().replace("*/", "* /").replace("/*", "/ *")
}

/// Macros under a comment, in the library's own names.
pub(super) fn define(comment: &str, macros: &[(&str, String)]) -> String {
    let mut text = format!("/* {comment} */\n");
    for (name, value) in macros {
        // Writing to a string does not fail.
        let _ = writeln!(text, "#define FISHWEIR_{name} {value}");
    }
    text
}

/// A table of C by its number of entries, row after row.
pub(super) fn table(kind: &str, name: &str, sizes: &[usize], entries: &[String]) -> String {
    let brackets: String = sizes.iter().map(|size| format!("[{size}]")).collect();
    format!("static const {kind} {name}{brackets} = {};\n", nested(sizes, entries))
}

/// The entries in braces, a line for each of the innermost rows.
fn nested(sizes: &[usize], entries: &[String]) -> String {
    let [size, inner @ ..] = sizes else { return entries.concat() };
    if inner.is_empty() {
        return format!("{{{}}}", entries.join(", "));
    }
    let rows = entries.chunks((entries.len() / (*size).max(1)).max(1));
    let rows: Vec<String> = rows.map(|row| nested(inner, row)).collect();
    format!("{{\n{}\n}}", rows.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_those_of_c() {
        assert_eq!(float(1.0), "1.0f");
        assert_eq!(float(1e-30), "1e-30f");
        assert_eq!(float(f32::NEG_INFINITY), "-INFINITE");
        assert_eq!(string("a\"?\u{e9}\n"), "\"a\\042\\077\\303\\251\\012\"");
        assert_eq!(string("fishweir_1"), "\"fishweir\\1371\"");
        assert_eq!(in_comment("a*/b\n"), "a* /b\\n");
        let entries: Vec<String> = (0..4).map(|x| x.to_string()).collect();
        assert_eq!(
            table("int", "T", &[2, 2], &entries),
            "static const int T[2][2] = {\n{0, 1},\n{2, 3}\n};\n"
        );
    }
}
