//! Dialect of a delimited text: separators, decimal marks, comments, header.

use std::borrow::Cow;

use super::quantity::split_unit;
use super::source::{Finding, Findings, Separator, Source};
use super::stamps::{plain, rank};
use super::values::finite;

/// Lines that are looked at.
const LOOKED_AT: usize = 200;

/// The first lines, of some hundred thousand bytes; the first line is whole.
fn beginning(text: &[u8]) -> &[u8] {
    const BYTES: usize = 1 << 18;
    let ends = |&byte: &u8| byte == b'\n' || byte == b'\r';
    let start = text.iter().position(|byte| !ends(byte)).unwrap_or_default();
    let text = &text[start..];
    let Some(head) = text.get(..BYTES) else { return text };
    match head.iter().rposition(ends) {
        Some(end) => &text[..end],
        None => &text[..text.iter().position(ends).unwrap_or(text.len())],
    }
}

/// The first line, without its end.
pub(super) fn first_line(bytes: &[u8]) -> &[u8] {
    bytes
        .split(|&byte| byte == b'\n' || byte == b'\r')
        .find(|line| !line.is_empty())
        .unwrap_or_default()
}

/// Dialect of a delimited text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) separator: Separator,
    /// Meaning of commas in numbers.
    pub(super) commas: Commas,
    /// `true` if the first line names the columns.
    pub(super) header: bool,
    /// Names of the columns in the last comment before rows without a header.
    pub(super) names: Vec<String>,
    /// `true` if lines that begin with `#` are comments.
    pub(super) comments: bool,
    pub(super) findings: Findings,
}

/// Meaning of a comma within a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Commas {
    /// An error: the meaning is ambiguous.
    Unknown,
    /// The decimal mark.
    Decimal,
    /// Separator of thousands.
    Thousands,
}

impl Commas {
    /// A text with a point for its decimal comma.
    pub(super) fn in_points(self, text: &str) -> Cow<'_, str> {
        match self == Self::Decimal && text.contains(',') {
            true => Cow::Owned(text.replacen(',', ".", 1)),
            false => Cow::Borrowed(text),
        }
    }

    /// A finite number.
    #[inline]
    pub(super) fn number(self, text: &str) -> Option<f64> {
        self.plain_number(text).or_else(|| self.typeset_number(text))
    }

    /// A number with a typographer's minus, or with thousands parted by apostrophes or blanks.
    #[cold]
    fn typeset_number(self, text: &str) -> Option<f64> {
        const BETWEEN: [char; 6] = ['\'', '\u{2019}', ' ', '\u{a0}', '\u{202f}', '\u{2009}'];
        let number = text.replacen('\u{2212}', "-", 1);
        let decimal = if self == Self::Decimal { ',' } else { '.' };
        match number.chars().find(|one| BETWEEN.contains(one)) {
            Some(mark) if are_grouped(&number, mark, decimal) => {
                self.plain_number(&number.replace(mark, ""))
            }
            None if number != text => self.plain_number(&number),
            _ => None,
        }
    }

    #[inline]
    fn plain_number(self, text: &str) -> Option<f64> {
        match self {
            Self::Decimal if text.contains([',', '.']) => {
                // Points stand between thousands, or for nothing.
                let sound = !text.contains('.') || are_grouped(text, '.', ',');
                sound.then(|| finite(&text.replace('.', "").replacen(',', ".", 1)))?
            }
            Self::Thousands if text.contains(',') => {
                are_thousands(text).then(|| finite(&text.replace(',', "")))?
            }
            _ => finite(text),
        }
    }
}

/// Returns whether each comma comes before three digits, as between thousands: `1,234`, `-12,345,678.9`.
pub(super) fn are_thousands(text: &str) -> bool {
    are_grouped(text, ',', '.')
}

/// Returns whether numbers are grouped by another mark, with another decimal mark.
fn are_grouped(text: &str, between: char, decimal: char) -> bool {
    let (whole, fraction) = text.split_once(decimal).unwrap_or((text, ""));
    let mut groups = whole.trim_start_matches(['+', '-']).split(between);
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    !fraction.contains(between)
        && groups.next().is_some_and(|first| {
            (1..=3).contains(&first.len()) && digits(first) && !first.starts_with('0')
        })
        && groups.all(|group| group.len() == 3 && digits(group))
}

/// A number with one comma that may be its decimal mark.
fn has_decimal_comma(text: &str) -> bool {
    text.matches(',').count() == 1 && finite(&text.replacen(',', ".", 1)).is_some()
}

impl Dialect {
    /// Detects the dialect of a text from its first lines, except for what the source gives.
    pub(super) fn of(text: &[u8], source: &Source) -> Self {
        let lines: Vec<Cow<'_, str>> = beginning(text)
            .split(|&byte| byte == b'\n' || byte == b'\r')
            .filter(|line| !line.trim_ascii().is_empty())
            .take(LOOKED_AT)
            .map(String::from_utf8_lossy)
            .collect();
        let comments = lines.len() > 1
            && lines.iter().any(|line| line.starts_with('#'))
            && lines.iter().any(|line| !line.starts_with('#'));
        let first = lines.iter().position(|line| !line.starts_with('#')).unwrap_or_default();
        let comment = lines.get(first.wrapping_sub(1)).map_or("", |line| &line[1..]);
        let lines: Vec<&str> = lines
            .iter()
            .map(AsRef::as_ref)
            .filter(|line| !comments || !line.starts_with('#'))
            .collect();
        let mut findings = Findings::default();
        let separator = source.separator.unwrap_or_else(|| separator(&lines, &mut findings));
        let rows: Vec<Vec<&str>> = lines.iter().map(|line| fields(line, separator)).collect();
        let commas = match source.decimal {
            Some(',') => Commas::Decimal,
            Some(_) => Commas::Thousands,
            None => commas(&rows, &mut findings),
        };
        let names = names_in(comment, separator, &rows, commas);
        let header = source
            .header
            .unwrap_or_else(|| names.is_empty() && !begins_with_data(&rows, source, commas));
        let names = if header { Vec::new() } else { names };
        if !names.is_empty() {
            findings
                .add(Finding::Header, "the comment before the rows has the names of the columns");
        } else if !header && source.header.is_none() {
            let what = "the first line looks like data and names no columns: they are numbered";
            findings.add(Finding::Header, what);
        }
        Self { separator, commas, header, names, comments, findings }
    }

    /// The rows behind the header, of the lines that are looked at.
    pub(super) fn rows<'t>(&self, text: &'t [u8]) -> Vec<Vec<&'t str>> {
        let lines = beginning(text).split(|&byte| byte == b'\n' || byte == b'\r').filter(|line| {
            !(line.trim_ascii().is_empty() || self.comments && line.starts_with(b"#"))
        });
        let rows = lines.skip(usize::from(self.header)).take(LOOKED_AT);
        rows.map(|line| fields(std::str::from_utf8(line).unwrap_or_default(), self.separator))
            .collect()
    }

    /// The fields of the first line that is no comment.
    pub(super) fn first_row<'t>(&self, text: &'t [u8]) -> Vec<&'t str> {
        let mut lines = text.split(|&byte| byte == b'\n' || byte == b'\r');
        let first = lines.find(|line| {
            !(line.trim_ascii().is_empty() || self.comments && line.starts_with(b"#"))
        });
        fields(std::str::from_utf8(first.unwrap_or_default()).unwrap_or_default(), self.separator)
    }
}

/// The fields of a line, quotes taken off; a quoted field does not hold a line's end here.
pub(super) fn fields(line: &str, separator: Separator) -> Vec<&str> {
    let plain = |field: &str| -> bool { !field.contains('"') };
    match separator {
        Separator::Blanks => line.split_whitespace().collect(),
        Separator::Byte(byte) => {
            let by = char::from(byte);
            if plain(line) || byte == b'\t' {
                return line.split(by).map(|field| field.trim().trim_matches('"')).collect();
            }
            let mut quoted = false;
            let parts = line.split(|one| {
                quoted ^= one == '"';
                one == by && !quoted
            });
            parts.map(|field| field.trim().trim_matches('"')).collect()
        }
    }
}

/// Returns whether the first line is data, not a header.
///
/// It is data if at least half of its fields occur again in their columns, or are numbers in columns of numbers. Numbers that
/// rise along the line are names if no word occurs again, as in names of samples; a name that readers know makes it a header.
fn begins_with_data(rows: &[Vec<&str>], source: &Source, commas: Commas) -> bool {
    let [first, below @ ..] = rows else { return false };
    let known = |name: &&str| {
        let name = plain(split_unit(name).0);
        rank(&name).is_some()
            || ["label", "series", "class", "id", "sequence"].contains(&name.as_str())
    };
    if below.is_empty() || first.iter().any(known) {
        return false;
    }
    let (mut alike, mut words) = (0, false);
    for (column, field) in first.iter().enumerate() {
        let own = || below.iter().filter_map(|row| row.get(column));
        let there = || own().filter(|field| !source.missing.has(field));
        let comes_back = !source.missing.has(field) && own().any(|one| one == field);
        let numbers = there().filter(|field| commas.number(field).is_some()).count();
        let number = commas.number(field).is_some();
        words |= comes_back && !number;
        alike += usize::from(comes_back || number && 2 * numbers > there().count());
    }
    let numbers: Vec<f64> = first.iter().filter_map(|field| commas.number(field)).collect();
    let rising = numbers.len() > 1 && numbers.windows(2).all(|pair| pair[0] < pair[1]);
    2 * alike >= first.len() && (words || !rising)
}

/// The names of the columns in a comment before rows of numbers, as NumPy's `savetxt` writes them; none of another comment.
fn names_in(
    comment: &str,
    separator: Separator,
    rows: &[Vec<&str>],
    commas: Commas,
) -> Vec<String> {
    let names = fields(comment.trim(), separator);
    let is_number = |field: &&str| commas.number(field).is_some();
    let is_no_name = |field: &&str| field.trim().is_empty() || is_number(field);
    let Some(first) = rows.first() else { return Vec::new() };
    match names.len() == first.len() && first.iter().all(is_number) && !names.iter().any(is_no_name)
    {
        true => names.into_iter().map(str::to_owned).collect(),
        false => Vec::new(),
    }
}

/// Counts the lines with as many fields as the first, and those fields.
fn agreement(lines: &[&str], separator: Separator) -> (usize, usize) {
    let counts: Vec<usize> =
        lines.iter().take(20).map(|line| fields(line.trim_end(), separator).len()).collect();
    let first = counts.first().copied().unwrap_or_default();
    // A separator may end the lines and not the header.
    (first, counts.iter().filter(|&&count| count == first || count == first + 1).count())
}

/// Tabs or commas, as in a header; else the separator that splits every line alike.
fn separator(lines: &[&str], findings: &mut Findings) -> Separator {
    const TAB: Separator = Separator::Byte(b'\t');
    const COMMA: Separator = Separator::Byte(b',');
    let Some(header) = lines.first() else { return TAB };
    let looked = lines.len().min(20);
    let parts_all = |one: Separator| {
        let (count, alike) = agreement(lines, one);
        count > 1 && alike == looked
    };
    let semicolons = Separator::Byte(b';');
    if header.contains('\t') {
        return TAB;
    }
    // Decimal commas part lines alike, too.
    let decimals = || {
        let of = |line: &&str| -> Vec<String> {
            fields(line, semicolons).into_iter().map(str::to_owned).collect()
        };
        let all: Vec<String> = lines.iter().take(20).flat_map(of).collect();
        let is_point = |one: &&String| one.contains('.') && finite(one).is_some();
        all.iter().any(|one| has_decimal_comma(one)) && !all.iter().any(|one| is_point(&one))
    };
    let found = if header.contains(';')
        && (!header.contains(',') || !parts_all(COMMA) || decimals())
        && parts_all(semicolons)
    {
        semicolons
    } else if header.contains(',') {
        return COMMA;
    } else if header.contains(';') {
        semicolons
    } else if header.contains('|') && parts_all(Separator::Byte(b'|')) {
        Separator::Byte(b'|')
    } else if header.contains('"') && parts_all(Separator::Byte(b' ')) {
        Separator::Byte(b' ')
    } else if lines.len() > 1 && (parts_all(Separator::Blanks) || parts_most(lines)) {
        Separator::Blanks
    } else {
        return TAB;
    };
    findings.add(Finding::Separator, format!("fields are separated by {}", found.words()));
    found
}

/// Returns true if blanks split nearly every line into the same number of fields; a row with another number is reported where
/// it is read.
fn parts_most(lines: &[&str]) -> bool {
    let (count, alike) = agreement(lines, Separator::Blanks);
    let looked = lines.len().min(20);
    count > 2 && looked > 4 && 5 * alike >= 4 * looked
}

/// Decimal, where fields are numbers by that alone and some are no thousands.
fn commas(rows: &[Vec<&str>], findings: &mut Findings) -> Commas {
    // Where commas part fields, one with a comma was quoted.
    let fields = || rows.iter().skip(1).flatten().filter(|field| field.contains(','));
    let (mut decimal, mut sure) = (0, 0);
    for field in fields() {
        if has_decimal_comma(field) {
            decimal += 1;
            sure += usize::from(!are_thousands(field));
        }
    }
    let points = rows.iter().skip(1).flatten().filter(|field| field.contains('.'));
    let points = points.filter(|field| finite(field).is_some()).count();
    if decimal > 0 && sure > 0 && points == 0 {
        findings.add(Finding::Decimal, "numbers have decimal commas");
        return Commas::Decimal;
    }
    Commas::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(text: &str) -> (Separator, Commas, bool) {
        let found = Dialect::of(text.as_bytes(), &Source::default());
        (found.separator, found.commas, found.comments)
    }

    #[test]
    fn files_are_read_as_programs_write_them() {
        let [comma, tab, semicolon] = [b',', b'\t', b';'].map(Separator::Byte);
        for (text, separator, commas, comments) in [
            ("a,b\n1,2\n", comma, Commas::Unknown, false),
            ("a\tb, c\n1\t2\n", tab, Commas::Unknown, false),
            ("a;b\n1,5;2\n0,25;3\n", semicolon, Commas::Decimal, false),
            ("a;b\n1.5;2\n", semicolon, Commas::Unknown, false),
            ("a;b\n1,234;2,345\n", semicolon, Commas::Unknown, false),
            ("a b\n1 2\n3  4\n", Separator::Blanks, Commas::Unknown, false),
            ("a|b\n1|2\n", Separator::Byte(b'|'), Commas::Unknown, false),
            ("# by a logger\na,b\n1,2\n", comma, Commas::Unknown, true),
            ("0;a;0,5;1,25\n1;a;0,75;2\n0;b;1,5;3,5\n", semicolon, Commas::Decimal, false),
            ("a,b\n\"1,5\",\"2,25\"\n\"2,5\",\"3\"\n", comma, Commas::Decimal, false),
            ("a,b\n\"1,234\",2\n", comma, Commas::Unknown, false),
            ("a\n1\n", tab, Commas::Unknown, false),
        ] {
            assert_eq!(dialect(text), (separator, commas, comments), "{text}");
        }
    }

    #[test]
    fn a_first_line_that_looks_like_data_is_no_header() {
        let header = |text: &str| Dialect::of(text.as_bytes(), &Source::default()).header;
        for text in [
            "vhigh,vhigh,2,unacc\nvhigh,low,4,acc\nlow,low,2,unacc\n",
            "5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n",
            "0,walk,0.0,0.5,-1\n0,walk,0.1,0.25,-2\n",
        ] {
            assert!(!header(text), "{text}");
        }
        for text in [
            "a,b\n1,2\n",
            "label,0,1,2\nup,1,2,3\n",
            "door,warm\nopen,yes\n",
            "1,2\n3,4\n",
            "t,x\n0,1\n",
            "7,x\n",
        ] {
            assert!(header(text), "{text}");
        }
    }

    #[test]
    fn commas_in_numbers_are_what_is_said() {
        assert_eq!(Commas::Decimal.number("1.234,5"), Some(1234.5));
        assert_eq!(Commas::Thousands.number("-1,234,567.5"), Some(-1_234_567.5));
        assert_eq!(Commas::Thousands.number("1,5"), None);
        assert_eq!(Commas::Unknown.number("1,234"), None);
        assert_eq!(Commas::Decimal.number("2"), Some(2.0));
        assert_eq!(Commas::Decimal.number("-1.234"), Some(-1234.0));
        for mixed in ["12.5", "1.2.3,4", "0.25", "1,234.5"] {
            assert_eq!(Commas::Decimal.number(mixed), None, "{mixed}");
        }
    }
}
