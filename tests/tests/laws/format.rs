//! Every public type of the core has `defmt::Format` behind the feature `defmt`, and few have many parameters: found in the
//! sources, so that a new type is found too.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Public types without `Format`, each with the reason.
const EXCEPTIONS: [(&str, &str); 0] = [];

const DERIVED: &str = "#[cfg_attr(feature=\"defmt\",derive(defmt::Format))]";

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The public types of a source and whether each derives `Format`. Attributes are what stands between the end
/// of the item before it and the type, comments and white space left out.
fn public_types(source: &str) -> Vec<(String, bool)> {
    let mut types = Vec::new();
    let mut attributes = String::new();
    for line in source.lines() {
        let line = line.trim();
        let item = ["pub struct ", "pub enum ", "pub union "];
        if let Some(name) = item.iter().find_map(|item| line.strip_prefix(item)) {
            types.push((identifier(name), attributes.contains(DERIVED)));
            attributes.clear();
        } else if line.starts_with("//") {
            continue;
        } else if line.is_empty() || line.ends_with([';', '}', '{']) {
            attributes.clear();
        } else {
            attributes.extend(line.chars().filter(|c| !c.is_whitespace()));
        }
    }
    types
}

/// The types with an implementation by hand, or by `shown!`: `[parameters] path::Type<..> =>`.
fn implemented(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for text in source.split("Format for ").skip(1) {
        found.insert(identifier(text));
    }
    for block in source.split("shown! {").skip(1) {
        let block = block.split("\n}").next().unwrap_or(block);
        // Types have semicolons too, none of which ends a line.
        for entry in block.split(";\n") {
            let Some((head, _)) = entry.split_once("=>") else { continue };
            let mut depth = 0;
            let end = head.char_indices().find_map(|(at, c)| {
                depth += i32::from(c == '[') - i32::from(c == ']');
                (c == ']' && depth == 0).then_some(at + 1)
            });
            let path = head[end.unwrap_or(0)..].trim();
            let path = path.split('<').next().unwrap_or(path);
            found.insert(identifier(path.rsplit("::").next().unwrap_or(path)));
        }
    }
    found
}

#[test]
fn every_public_type_of_the_core_has_a_format() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let texts: Vec<_> =
        files.iter().map(|file| fs::read_to_string(file).expect("a source")).collect();
    let by_hand: BTreeSet<_> = texts.iter().flat_map(|text| implemented(text)).collect();
    let mut count = 0;
    let mut missing = Vec::new();
    for (file, text) in files.iter().zip(&texts) {
        for (name, derived) in public_types(text) {
            count += 1;
            let excepted = EXCEPTIONS.iter().any(|(exception, _)| *exception == name);
            if !derived && !by_hand.contains(&name) && !excepted {
                missing.push(format!("{}: {name}", file.display()));
            }
        }
    }
    assert!(count > 200, "the sources are read: {count} types");
    assert!(missing.is_empty(), "no defmt::Format: {missing:#?}");
}

#[test]
fn a_type_without_format_is_found() {
    let bare = "#[derive(Clone)]\npub struct Bare<T> {\n    x: T,\n}\n";
    assert_eq!(public_types(bare), [("Bare".into(), false)]);
    let derived = format!("#[cfg_attr(feature = \"defmt\", derive(defmt::Format))]\n{bare}");
    assert_eq!(public_types(&derived), [("Bare".into(), true)]);
    // What the type before has does not count.
    let both = public_types(&format!("{derived}{bare}"));
    assert_eq!(both, [("Bare".into(), true), ("Bare".into(), false)]);
    let shown = "shown! {\n    [T, const N: [u8; 2]] a::Bare<T> => _ \"Bare\";\n}\n";
    assert!(implemented(shown).contains("Bare"));
    let table = "shown! {\n    [T] Of<[[T; 2]; 3]> => _ \"Of\";\n    [T] Bare<[T; 2]> =>\n        _ \"Bare\";\n}\n";
    assert_eq!(implemented(table), ["Bare", "Of"].map(String::from).into());
}

/// Public types and traits with four or more parameters, at most. A parameter that follows from others is to be none of
/// its own: take a model, an array or a table as a type.
const MANY_PARAMETERS: usize = 3;

/// The public items of a source that have parameters, and the number of these; lifetimes are not counted.
fn parameters(source: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let lines: Vec<_> =
        source.lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
    let code = lines.join("\n");
    let items = ["pub struct ", "pub enum ", "pub union ", "pub trait ", "pub type "];
    for item in items {
        for text in code.split(item).skip(1) {
            let name = identifier(text);
            let Some(list) = text[name.len()..].trim_start().strip_prefix('<') else { continue };
            let (mut depth, mut count, mut parameter, mut before) = (1, 0, String::new(), ' ');
            for c in list.chars() {
                depth += i32::from(matches!(c, '<' | '(' | '[' | '{'));
                depth -= i32::from(matches!(c, ')' | ']' | '}') || (c == '>' && before != '-'));
                before = c;
                if depth == 0 || (depth == 1 && c == ',') {
                    let parameter = std::mem::take(&mut parameter);
                    let parameter = parameter.trim();
                    count += usize::from(!parameter.is_empty() && !parameter.starts_with('\''));
                    if depth == 0 {
                        break;
                    }
                } else {
                    parameter.push(c);
                }
            }
            found.push((name, count));
        }
    }
    found
}

#[test]
fn few_public_types_of_the_core_have_many_parameters() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut all = 0;
    let mut many = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("a source");
        for (name, count) in parameters(&text) {
            all += 1;
            if count >= 4 {
                many.push(format!("{name}: {count}"));
            }
        }
    }
    assert!(all > 100, "the sources are read: {all} types with parameters");
    assert!(many.len() <= MANY_PARAMETERS, "{} types with many parameters: {many:#?}", many.len());
}

#[test]
fn parameters_are_counted() {
    let wide = "pub struct Wide<\n    'a,\n    A, // the first, of two\n    B: Fn(A, A) -> Vec<A>,\n    \
                const N: usize = { 1 },\n    T = [[f32; 2]; 3],\n> {\n}\n";
    assert_eq!(parameters(wide), [("Wide".into(), 4)]);
    let others = "pub struct Plain(u8);\npub trait Of<'a> {}\npub type Pair<A, B> = (A, B);\n";
    assert_eq!(parameters(others), [("Of".into(), 0), ("Pair".into(), 2)]);
}
