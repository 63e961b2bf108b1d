//! Lines before a table that describe it: a logger's name, settings, `sep=;`.

use super::dialect::fields;
use super::source::Separator;

/// Most lines before a table.
const MOST: usize = 60;

/// Lines of a table that are inspected.
const LOOKED_AT: usize = 20;

/// Text of a table without its preamble.
pub(super) struct Preamble {
    /// Lines that are left out, blank ones aside.
    pub(super) lines: usize,
    /// The separator that they declare, if any.
    pub(super) separator: Option<Separator>,
    /// The text with blank lines in their place, so that lines keep their numbers.
    pub(super) text: Vec<u8>,
}

/// Finds a preamble: first lines whose numbers of fields differ from those of all lines that follow.
pub(super) fn of(text: &[u8]) -> Option<Preamble> {
    let mut lines: Vec<(usize, &[u8])> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n').take(MOST + LOOKED_AT) {
        if !line.trim_ascii().is_empty() {
            lines.push((start, line));
        }
        start += line.len();
    }
    let texts: Vec<&str> =
        lines.iter().map(|(_, line)| std::str::from_utf8(line)).collect::<Result<_, _>>().ok()?;
    let said = texts.first().and_then(|line| {
        let said = line.trim().strip_prefix("sep=")?;
        Separator::parse(said).ok()
    });
    if said.is_some() {
        return cut(text, &lines, 1, said);
    }
    let counts = [b',', b';', b'\t', b'|'].map(|byte| -> Vec<usize> {
        texts.iter().map(|line| fields(line.trim_end(), Separator::Byte(byte)).len()).collect()
    });
    // A table from its first line; decimal commas part its rows otherwise.
    if counts
        .iter()
        .any(|all| all.first() > Some(&1) && all.iter().all(|one| Some(one) == all.first()))
    {
        return None;
    }
    let first = counts.into_iter().filter_map(|counts| {
        let starts = |at: &usize| {
            let (before, table) = counts.split_at(*at);
            let count = table.first().copied().unwrap_or_default();
            let table = &table[..table.len().min(LOOKED_AT)];
            count > 1
                && table.len() > 2
                && table.iter().all(|&one| one == count)
                && before.iter().all(|&one| one != count)
        };
        (1..counts.len().min(MOST)).find(starts)
    });
    cut(text, &lines, first.min()?, None)
}

fn cut(
    text: &[u8],
    lines: &[(usize, &[u8])],
    first: usize,
    separator: Option<Separator>,
) -> Option<Preamble> {
    let &(start, _) = lines.get(first)?;
    let before = text.get(..start)?;
    let mut kept: Vec<u8> = before.iter().copied().filter(|&byte| byte == b'\n').collect();
    kept.extend_from_slice(text.get(start..)?);
    Some(Preamble { lines: first, separator, text: kept })
}

#[cfg(test)]
mod tests {
    use crate::{DataError, Dataset, ReadOptions};

    fn parse(text: &str) -> Result<Dataset, DataError> {
        Dataset::parse("data", text.as_bytes(), &ReadOptions::default())
    }

    #[test]
    fn what_stands_before_a_table_is_left_out_and_lines_keep_their_numbers() {
        let table = "series,label,t,x,y\n0,a,0,1,2\n0,a,1,2,3\n1,b,0,3,4\n1,b,1,4,5\n";
        let wanted = parse(table).expect("sound");
        for before in ["Device: ABC\nFirmware, 1.2\n\n", "sep=,\n", "\nexported by hand\n"] {
            let data = parse(&format!("{before}{table}")).expect(before);
            assert_eq!((data.kind(), data.classes()), (wanted.kind(), wanted.classes()));
            let said = data.findings().iter().any(|one| one.what.contains("before the table"));
            assert!(said, "{:?}", data.findings());
            let first = before.lines().count() as u64 + 2;
            assert_eq!(data.series()[0].line, first, "{before}");
            let told =
                parse(&format!("{before}{table}1,b,2,x,6\n")).expect_err("a word").to_string();
            assert!(told.contains(&format!("line {}", first + 4)), "{told}");
        }
        let data = parse("sep=;\nseries;label;t;x\n0;a;0;1,5\n0;a;1;2,5\n").expect("German");
        assert_eq!(data.observations(), 2);
        assert!(parse("Dear all,\nthis is no table.\nRegards\n").is_err());
    }
}
