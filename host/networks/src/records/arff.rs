//! The Attribute-Relation File Format.

use std::collections::HashSet;

use super::Layout;
use super::text::{Numbers, TextColumn, TextTable, check_shown};
use fishweir::data::{DataError, Place, Source};

pub(super) static LAYOUT: Layout = Layout { about: "ARFF", is_one, read };

/// The words that begin a line above the rows.
const KEYWORDS: [&str; 3] = ["@relation", "@attribute", "@data"];

/// Returns whether a text is of this format: it begins with a comment or a keyword, and has a keyword.
///
/// A name of a column may begin with `%` or `@`, too.
fn is_one(text: &[u8]) -> bool {
    let word = |line: &[u8]| {
        let mut words = line.trim_ascii_start().split(u8::is_ascii_whitespace);
        let first = words.next().unwrap_or_default();
        KEYWORDS.iter().any(|keyword| first.eq_ignore_ascii_case(keyword.as_bytes()))
    };
    matches!(text.trim_ascii_start().first(), Some(b'@' | b'%'))
        && text.split(|&byte| byte == b'\n').any(word)
}

/// Reads `@attribute` lines and the rows below `@data` into a table. Attributes are lists of states, or
/// `numeric`, `real`, `integer`, `string` or `date`; names and fields may stand in single or double quotes, within which a
/// backslash stands before a quote; `%` begins a comment line. A row in braces has the fields that are not zero, or
/// not the first state, behind their numbers from 0; a number in braces behind a row, its weight, is refused.
///
/// Source: Witten, Frank, Hall and Pal, "Data mining", 2016, section 2.4.
fn read(file: &str, text: &[u8], source: &Source, table: &mut TextTable) -> Result<(), DataError> {
    let at = |line: u64| Box::new(Place::line(file, line));
    let (mut data, mut numbers) = (false, Numbers::new(0, source));
    for (line, bytes) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let line_text =
            std::str::from_utf8(bytes).map_err(|_| DataError::NotUtf8 { place: at(line) })?.trim();
        let wrong = |what: String| DataError::Layout { place: at(line), what };
        if line_text.is_empty() || line_text.starts_with('%') {
            continue;
        }
        if data {
            row(file, line, line_text, table, &mut numbers)?;
            continue;
        }
        let (keyword, rest) = line_text
            .split_at(line_text.find(|one: char| one.is_whitespace()).unwrap_or(line_text.len()));
        match keyword.to_ascii_lowercase().as_str() {
            "@relation" => {}
            "@data" if table.columns.is_empty() => {
                return Err(wrong("there is no @attribute before @data".into()));
            }
            "@data" => {
                (data, numbers) = (true, Numbers::new(table.columns.len(), source));
            }
            "@attribute" => {
                let (name, kind) = first(rest.trim_start()).map_err(wrong)?;
                check_shown(&name, &at(line))?;
                if table.names().any(|other| other == name) {
                    return Err(wrong(format!("the attribute `{name}` occurs twice")));
                }
                let (declared, of_numbers) = declared(kind.trim()).map_err(wrong)?;
                declared.iter().flatten().try_for_each(|state| check_shown(state, &at(line)))?;
                let number = table.columns.len() + 1;
                let column = TextColumn::new(name, number, line, declared);
                table.columns.push(TextColumn { declared_numbers: of_numbers, ..column });
            }
            _ => {
                let what = format!("`{keyword}` is not @relation, @attribute or @data");
                return Err(wrong(what));
            }
        }
    }
    if data {
        return Ok(());
    }
    Err(DataError::HeaderOnly { file: file.to_owned() })
}

/// The states of an attribute, `None` for numbers and text; and whether it has numbers.
fn declared(kind: &str) -> Result<(Option<Vec<String>>, bool), String> {
    let Some(states) = kind.strip_prefix('{') else {
        let word = kind.split_whitespace().next().unwrap_or("").to_ascii_lowercase();
        return match word.as_str() {
            "numeric" | "real" | "integer" => Ok((None, true)),
            "string" | "date" => Ok((None, false)),
            _ => Err(format!("`{kind}` is not a type; write {{a,b}}, numeric, string or date")),
        };
    };
    let states =
        states.strip_suffix('}').ok_or("the states are not closed; write `}` after them")?;
    let states = fields(states)?;
    if states.iter().any(String::is_empty) {
        return Err("a state has no name; write one between the braces and after each comma".into());
    }
    let mut seen = HashSet::new();
    match states.iter().find(|&state| !seen.insert(state)) {
        Some(state) => Err(format!("the state `{state}` occurs twice")),
        None => Ok((Some(states), false)),
    }
}

fn row(
    file: &str,
    line: u64,
    text: &str,
    table: &mut TextTable,
    numbers: &mut Numbers<'_>,
) -> Result<(), DataError> {
    let place = Box::new(Place::line(file, line));
    let read = match text.strip_prefix('{') {
        Some(inside) => sparse(inside, table),
        None => fields(text),
    };
    let mut fields = read.map_err(|what| DataError::Layout { place: place.clone(), what })?;
    let is_weight = |field: &String| field.starts_with('{') && field.ends_with('}');
    if fields.len() == table.columns.len() + 1 && fields.last().is_some_and(is_weight) {
        let what = "a weight of a record (in braces) is not supported; remove it";
        return Err(DataError::Layout { place, what: what.into() });
    }
    // What is left out in quotes is a field all the same.
    fields.iter_mut().for_each(|field| *field = field.trim().to_owned());
    let (found, expected) = (fields.len(), table.columns.len());
    if found != expected {
        let column = table.columns.get(found.min(expected));
        let place = column.map_or(place, |column| column.place(file, line));
        return Err(DataError::Ragged { place, found, expected });
    }
    for (index, (column, field)) in table.columns.iter_mut().zip(&fields).enumerate() {
        check_shown(field, &column.place(file, line))?;
        let missing = numbers.is_missing(column, field);
        let known = column.declared.as_ref().is_none_or(|states| states.contains(field));
        if !missing && !known {
            return Err(DataError::UnknownCategory {
                place: column.place(file, line),
                text: field.clone(),
                column: column.name.clone(),
                states: column.declared.as_deref().unwrap_or_default().join(", "),
            });
        }
        numbers.push(index, column, field);
    }
    table.end_row(line);
    Ok(())
}

/// The fields of a row in braces: those that are named by their numbers, and zeros or first states.
fn sparse(inside: &str, table: &TextTable) -> Result<Vec<String>, String> {
    let inside = inside.strip_suffix('}').ok_or("the row is not closed; write `}` after it")?;
    let usual = |column: &TextColumn| match &column.declared {
        Some(states) => states.first().cloned().unwrap_or_default(),
        None => "0".to_owned(),
    };
    let mut row: Vec<String> = table.columns.iter().map(usual).collect();
    let mut rest = inside.trim();
    while !rest.is_empty() {
        let (number, after) = first(rest)?;
        let at: usize = number
            .parse()
            .ok()
            .filter(|&at| at < row.len())
            .ok_or_else(|| format!("`{number}` is not the number of an attribute, from 0"))?;
        let after = after.trim_start();
        let (field, after) = match after.starts_with(['\'', '"']) {
            true => first(after)?,
            false => {
                let end = after.find(',').unwrap_or(after.len());
                (after[..end].trim().to_owned(), &after[end..])
            }
        };
        row[at] = field;
        rest = after.trim_start();
        if let Some(after) = rest.strip_prefix(',') {
            rest = after.trim_start();
        } else if !rest.is_empty() {
            return Err(format!("`{rest}` after a field; write a comma"));
        }
    }
    Ok(row)
}

/// A word, in quotes or not, without blanks around it, and what follows it. Within quotes a backslash stands before a quote,
/// a backslash, or the letter of a blank.
fn first(text: &str) -> Result<(String, &str), String> {
    let Some(quote) = text.chars().next().filter(|one| matches!(one, '\'' | '"')) else {
        let end = text.find(|one: char| one.is_whitespace()).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        return match word {
            "" => Err("a name belongs here".into()),
            word => Ok((word.to_owned(), rest)),
        };
    };
    let mut word = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, one)) = letters.next() {
        match one {
            one if one == quote => {
                return Ok((word.trim().to_owned(), &text[at + one.len_utf8()..]));
            }
            '\\' => match letters.next() {
                Some((_, 't')) => word.push('\t'),
                Some((_, 'n' | 'r')) => word.push(' '),
                Some((_, escaped)) => word.push(escaped),
                None => break,
            },
            one => word.push(one),
        }
    }
    Err("the quoted name is not closed".into())
}

/// Fields between commas, quotes taken off.
fn fields(text: &str) -> Result<Vec<String>, String> {
    let (mut fields, mut rest) = (Vec::new(), text.trim());
    loop {
        if rest.starts_with(['\'', '"']) {
            let (field, after) = first(rest)?;
            fields.push(field);
            rest = after.trim_start();
            if !rest.is_empty() && !rest.starts_with(',') {
                return Err(format!("`{rest}` after a quoted field; write a comma"));
            }
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            fields.push(rest[..end].trim().to_owned());
            rest = &rest[end..];
        }
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start(),
            None => return Ok(fields),
        }
    }
}
