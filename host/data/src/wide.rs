//! The layout `label,0,1,2,...`: one series of one channel a line.

use std::collections::HashMap;

use super::error::DataError;
use super::layout::{Layout, ReadOptions};
use super::one_line::{channel_names, rows, unnamed};
use super::part::{Body, Draft, Part};
use super::source::{Column, Source};
use super::stamps::plain;
use super::table::{Table, has_time, header_names, number};
use super::values::finite;
use crate::words::shorten;

pub(super) static LAYOUT: Layout = Layout {
    name: "wide",
    alias: "wide.csv",
    about: "a wide table (label,0,1,2,...)",
    of_symbols: false,
    recordings: None,
    is_one,
    read,
};

/// Roles of the columns.
struct Columns {
    id: Option<usize>,
    label: Option<usize>,
    /// Columns with other facts about a series.
    others: Vec<usize>,
    samples: Vec<usize>,
    /// Names of the first columns of further runs of numbered ones.
    more: Vec<String>,
    /// Names of two columns that are numbered as samples are, of which the second has the smaller number.
    reversed: Option<[String; 2]>,
}

impl Columns {
    /// Samples are a run of columns with rising numbers; without one, all that have no other purpose.
    fn of(names: &[&str], source: &Source) -> Self {
        let owned: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let place = |said: &Option<Column>, wanted: &[&str]| match said {
            Some(column) => column.place(&owned),
            None => wanted.iter().find_map(|wanted| {
                let exact = names.iter().position(|name| name == wanted);
                exact.or_else(|| names.iter().position(|name| plain(name) == *wanted))
            }),
        };
        let id = place(&source.series, &["series", "id"]);
        let label = place(&source.label, &["label", "class", "target", "activity"]);
        let free = |column: &usize| ![id, label].contains(&Some(*column));
        let free: Vec<usize> = (0..names.len()).filter(free).collect();
        let runs = free.chunk_by(|&one, &next| follows(names[one], names[next]));
        let mut numbered = runs.filter(|run| run.len() > 1);
        let run = numbered.next();
        let samples = run.unwrap_or(&free).to_vec();
        let more = numbered.map(|run| names[run[0]].to_owned()).collect();
        let named = |columns: &[usize]| columns.iter().map(|&one| names[one]).collect::<Vec<_>>();
        let reversed = reversed(&named(&free), &named(run.unwrap_or_default()));
        // The samples stand together among what is free.
        let (first, last) = (samples.first().copied(), samples.last().copied());
        let others = free.into_iter().filter(|&column| Some(column) < first || Some(column) > last);
        let others = others.collect();
        Self { id, label, others, samples, more, reversed }
    }

    fn are_numbered(&self, names: &[&str]) -> bool {
        self.samples.windows(2).all(|two| follows(names[two[0]], names[two[1]]))
            && self.samples.len() > 1
    }
}

/// A column's name before its number, and the number.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let at = name.trim_end_matches(|last: char| last.is_ascii_digit()).len();
    Some((&name[..at], name[at..].parse().ok()?))
}

fn ends_in_digit(name: &str) -> bool {
    name.ends_with(|last: char| last.is_ascii_digit())
}

/// Text before a `-` that may be a number's sign, which it is not in a date.
fn signed(stem: &str) -> Option<&str> {
    stem.strip_suffix('-').filter(|name| !ends_in_digit(name))
}

/// Returns whether a column is numbered, and this one has the next number.
///
/// Such are `x7` and `x8`, or larger numbers alone, which may be times. A `-` before a number may be its sign: `t-2`, `t-1` and
/// `t0`.
fn follows(one: &str, next: &str) -> bool {
    if let (Some(one), Some(next)) = (finite(one), finite(next)) {
        return one < next;
    }
    let numbers = numbered(one).zip(numbered(next));
    numbers.is_some_and(|((stem, one), (next_stem, next))| {
        let (up, down) = (one.checked_add(1) == Some(next), next.checked_add(1) == Some(one));
        match signed(stem) {
            _ if stem == next_stem && up => true,
            Some(name) => down && (stem == next_stem || name == next_stem && next == 0),
            None => false,
        }
    })
}

/// The first two neighbours among free columns that may be samples whose numbers fall: as where names were sorted as
/// text, `x1,x10,x2`.
fn reversed(free: &[&str], run: &[&str]) -> Option<[String; 2]> {
    // Behind a sign numbers fall as time rises, and digits behind a point are no number of their own.
    let whole =
        |stem: &str| signed(stem).is_none() && !stem.strip_suffix('.').is_some_and(ends_in_digit);
    let falls = |one: &str, next: &str| match (finite(one), finite(next)) {
        (Some(one), Some(next)) => one > next,
        _ => numbered(one).zip(numbered(next)).is_some_and(|((stem, one), (next_stem, next))| {
            stem == next_stem && whole(stem) && one > next
        }),
    };
    let two = free
        .windows(2)
        .find(|two| two.iter().all(|name| may_be_of(run, name)) && falls(two[0], two[1]))?;
    Some([two[0].to_owned(), two[1].to_owned()])
}

/// Returns whether a column may belong to a run of samples.
///
/// It is numbered as they are and, by numbers alone, no farther from them than they reach: a year before `0,1,2,3` is not a
/// sample. Without a run any column may be one.
fn may_be_of(run: &[&str], name: &str) -> bool {
    let [first, .., last] = run else { return true };
    match [first, last, name].map(finite) {
        [Some(first), Some(last), Some(number)] => {
            let reach = last - first;
            (first - reach..=last + reach).contains(&number)
        }
        [None, None, None] => {
            numbered(name).zip(numbered(last)).is_some_and(|(one, last)| one.0 == last.0)
        }
        _ => false,
    }
}

/// A header with numbered samples and something else. Numbered channels of a series table without `t` have names
/// before their numbers, and a series in several rows.
fn is_one(text: &[u8]) -> bool {
    let names = header_names(text);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns = Columns::of(&names, &Source::default());
    if has_time(text) || columns.id.or(columns.label).is_none() {
        return false;
    }
    let bare = columns.samples.iter().all(|&column| finite(names[column]).is_some());
    if !columns.are_numbered(&names) {
        // Numbered in a wrong order it is a wide table to be refused, where nothing else reads it.
        return columns.reversed.is_some() && !names.contains(&"series");
    }
    match columns.id.filter(|&id| names[id] == "series" && !bare) {
        None => true,
        Some(series) => !comes_back(text, series),
    }
}

/// Returns whether a column has one value in two consecutive rows.
fn comes_back(text: &[u8], column: usize) -> bool {
    let Ok(mut table) = Table::open("", text) else { return false };
    let mut before = None;
    while let Ok(true) = table.next_row() {
        let Ok(now) = table.field(column) else { return false };
        if before.as_deref() == Some(now) {
            return true;
        }
        before = Some(now.to_owned());
    }
    false
}

/// Reads a wide table.
fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Part, DataError> {
    let source = &options.source;
    let mut table = Table::open_as(name, bytes, source)?;
    let columns = columns_of(&table, source)?;
    let header = |column: usize| table.header()[column].clone();
    let mut part = Part {
        columns: columns.others.iter().map(|&column| header(column)).collect(),
        channels: Some(channel_names(name, 1, options)?),
        label_column: columns.label.map(|column| (column + 1, header(column))),
        units: unnamed(options),
        findings: table.findings().clone(),
        ..Part::new(name)
    };
    let mut lines: HashMap<String, u64> = HashMap::new();
    while table.next_row()? {
        let id = match columns.id {
            Some(column) => table.needed(column, "name of the series")?.to_owned(),
            None => (part.drafts.len() + 1).to_string(),
        };
        let line = table.line();
        if let (Some(first), Some(column)) = (lines.insert(id.clone(), line), columns.id) {
            let what = format!(
                "series `{}` is in line {first} already, and each row of a wide table is a whole series: give each \
                 its own name, or rename the column if it describes groups of series",
                shorten(&id)
            );
            return Err(DataError::Layout { place: table.place(column), what });
        }
        let mut samples = Vec::with_capacity(columns.samples.len());
        for &column in &columns.samples {
            let (text, place) = (table.field(column)?, || table.place(column));
            samples.push(if source.missing.has(text) {
                None
            } else {
                let values = options.values;
                Some(values.check(number(text, values, table.commas(), place)?, text, place)?)
            });
        }
        let label = columns.label.map_or(Ok(""), |column| table.name(column))?;
        part.note_missing(&source.missing, label, "label");
        let others = columns.others.iter().map(|&column| table.name(column).map(str::to_owned));
        part.drafts.push(Draft {
            id,
            label: Some(label.to_owned()).filter(|label| !source.missing.has(label)),
            columns: others.collect::<Result<_, _>>()?,
            times: Vec::new(),
            line,
            body: Body::Rows(rows(&[samples])),
        });
    }
    Ok(part)
}

/// Roles of the columns; an error describes the fault.
fn columns_of(table: &Table<'_>, source: &Source) -> Result<Columns, DataError> {
    let names: Vec<&str> = table.header().iter().map(String::as_str).collect();
    let columns = Columns::of(&names, source);
    if let Some([one, next]) = &columns.reversed {
        return Err(table.bad_header(format!(
            "`{}` is before `{}`, but samples are in the order of their columns; put the columns in the order of \
             their numbers, or rename those that are not samples",
            shorten(one),
            shorten(next)
        )));
    }
    match (columns.samples.first(), columns.more.as_slice()) {
        (None, _) => Err(table.bad_header("has no column of samples (label,0,1,2,...)".into())),
        (Some(&first), [second, ..]) => Err(table.bad_header(format!(
            "numbers columns from `{}` and again from `{}`: a wide table has one channel; write several channels as \
             columns of a table with one sample per line (series,label,t,<channels>)",
            shorten(names[first]),
            shorten(second)
        ))),
        _ => Ok(columns),
    }
}

#[cfg(test)]
mod tests {
    use crate::{DataError, Dataset, Kind, ReadOptions, layout};

    fn parse(text: &str) -> Result<Dataset, DataError> {
        Dataset::parse("data", text.as_bytes(), &ReadOptions::default())
    }

    fn read(text: &str) -> Dataset {
        parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// Samples of each series, `NaN` for a missing one.
    fn samples(data: &Dataset) -> Vec<Vec<Option<f64>>> {
        let one = |row: Option<&[f64]>| row.map(|row| row[0]);
        let rows = data.series().iter().filter_map(|one| one.samples.view().rows());
        rows.map(|rows| rows.iter().map(one).collect()).collect()
    }

    #[test]
    fn a_row_is_a_series_wherever_its_label_stands_and_however_samples_are_numbered() {
        let text = "label,0,1,2,3\nup,1,2,3,4\ndown,5,,7,\n,8,NA,,NA\n";
        let wanted = [
            vec![Some(1.0), Some(2.0), Some(3.0), Some(4.0)],
            vec![Some(5.0), None, Some(7.0)],
            vec![Some(8.0)],
        ];
        for text in [
            text.to_owned(),
            text.replace(',', "\t"),
            text.replace(',', ";"),
            text.replace("label", "Label"),
            text.replace('\n', "\r\n"),
            text.replace("label,0,1,2,3", "class,t0,t1,t2,t3"),
            text.replace("label,0,1,2,3", "label,x_08,x_09,x_10,x_11"),
            text.replace("label,0,1,2,3", "\"label\",0.0,0.02,0.04,0.1"),
            "0,1,2,3,label\n1,2,3,4,up\n5,,7,,down\n8,NA,,NA,\n".to_owned(),
            "0,1,label,2,3\n1,2,up,3,4\n5,,down,7,\n8,NA,,,NA\n".to_owned(),
        ] {
            let data = read(&text);
            assert_eq!(samples(&data), wanted, "{text}");
            assert_eq!(data.kind(), &Kind::Channels(vec!["x".into()]));
            assert_eq!(data.classes(), ["down", "up"]);
            let told = data.series().iter().map(|one| (one.id.as_str(), one.label, one.line));
            assert_eq!(
                told.collect::<Vec<_>>(),
                [("1", Some(1), 2), ("2", Some(0), 3), ("3", None, 4)],
                "{text}"
            );
            assert_eq!(data.missing().observations, 1);
        }
    }

    #[test]
    fn names_and_further_columns_are_kept_and_a_models_channel_is_taken() {
        let text = "series,subject,label,x1,x2,x3\na,ann,up,1,2,3\nb,bob,up,4,5,6\n";
        let data = read(text);
        assert_eq!((data.series()[1].id.as_str(), data.columns()), ("b", &["subject".into()][..]));
        assert_eq!(data.groups("subject").expect("there").1, ["ann", "bob"]);
        // A single series cannot come back either.
        assert_eq!(read("id,x0,x1\na,1,2\n").series()[0].id, "a");
        let options = |channels: &[&str]| ReadOptions {
            kind: Some(Kind::Channels(channels.iter().map(|&name| name.to_owned()).collect())),
            ..ReadOptions::default()
        };
        let data =
            Dataset::parse("data", text.as_bytes(), &options(&["acc"])).expect("one channel");
        assert_eq!(data.kind(), &Kind::Channels(vec!["acc".into()]));
        let told =
            Dataset::parse("data", text.as_bytes(), &options(&["ax", "ay"])).expect_err("two");
        assert_eq!(told.to_string(), "data: has 1 channel without a name, and ax, ay are needed");
        // Named, samples need no numbers.
        let named = ReadOptions { layout: layout("wide"), ..ReadOptions::default() };
        let data = Dataset::parse("data", b"morning,noon,class\n1,2,a\n", &named).expect("named");
        assert_eq!(samples(&data), [[Some(1.0), Some(2.0)]]);
    }

    /// A value that is refused in a sample is read in another column.
    #[test]
    fn further_columns_are_numbered_in_any_order() {
        let named = ReadOptions { layout: layout("wide"), ..ReadOptions::default() };
        for (header, others) in [
            ("id,label,visit2,visit1,0,1,2,3", &["visit2", "visit1"][..]),
            ("label,0,1,2,3,visit2,visit1", &["visit2", "visit1"]),
            ("id,label,2020,0,1,2,3", &["2020"]),
            ("label,2021,2020,x0,x1,x2,x3", &["2021", "2020"]),
            ("label,t-3,t-2,t-1,t0", &[]),
            ("label,t-2,t-1,t0,t1", &[]),
            ("label,x-1,x-2,x-3,x-4", &[]),
            ("0.0,0.02,0.04,0.1,class,week2,week1", &["week2", "week1"]),
        ] {
            let row = (1..=header.split(',').count()).map(|one| one.to_string());
            let text = format!("{header}\n{}\n", row.collect::<Vec<_>>().join(","));
            let data = read(&text);
            assert_eq!(
                (samples(&data)[0].len(), data.columns()),
                (4, &others.iter().map(|&one| one.to_owned()).collect::<Vec<_>>()[..]),
                "{header}"
            );
        }
        for header in ["label,t-3,t-2,t-1,t0", "label,t0.05,t0.1,t0.15,t0.2"] {
            let data = Dataset::parse("data", format!("{header}\nup,1,2,3,4\n").as_bytes(), &named);
            assert_eq!(samples(&data.expect(header))[0].len(), 4, "{header}");
        }
    }

    #[test]
    fn other_layouts_come_first() {
        for (text, series) in [
            ("series,label,t,0,1\na,up,0,1,2\na,up,1,3,4\n", 1),
            ("series,label,x0,x1\na,up,1,2\na,up,3,4\nb,up,3,4\n", 2),
            ("label,sequence,s0,s1\nup,ACGT,1,2\n", 1),
        ] {
            assert_eq!(read(text).series().len(), series, "{text}");
        }
        for text in ["label,a,b\nup,1,2\n", "0,1,2\n1,2,3\n", "label,x0\nup,1\n"] {
            let told = parse(text).expect_err(text).to_string();
            assert!(
                told.contains("fits no known layout") && told.contains("label,0,1,2"),
                "{told}"
            );
        }
    }

    #[test]
    fn mistakes_are_told_by_place() {
        for (text, begin, advice) in [
            (
                "label,0,1\nup,1,one\n",
                "data, line 2, column 3 (1): `one` is not a finite",
                "write NA",
            ),
            ("label,0,1\nup,1\n", "data, line 2, column 3 (1): the row has 2 fields", "complete"),
            ("label,0,1\nup,,NA\n", "data, line 2: `1` has no sample", "add its samples"),
            ("label,0,1\n", "data: has a header but no data", "below"),
            (
                "series,label,0,1\na,up,1,2\na,up,3,4\n",
                "data, line 3, column 1 (series): series `a` is in line 2 already",
                "rename the column",
            ),
            (
                "label,x0,x1,y0,y1\nup,1,2,3,4\n",
                "data: line 1, the header: numbers columns from `x0` and again from `y0`",
                "series,label,t",
            ),
            (
                "label,x1,x10,x2,x3\nup,1,2,3,4\n",
                "data: line 1, the header: `x10` is before `x2`",
                "in the order of their numbers",
            ),
            (
                "label,3,2,1\nup,1,2,3\n",
                "data: line 1, the header: `3` is before `2`",
                "in the order of their numbers",
            ),
            (
                "label,2020-01-03,2020-01-02,2020-01-01\nup,1,2,3\n",
                "data: line 1, the header: `2020-01-03` is before `2020-01-02`",
                "in the order of their numbers",
            ),
            (
                "label,10,1,2,3,4,5,6,7,8,9\nup,1,2,3,4,5,6,7,8,9,10\n",
                "data: line 1, the header: `10` is before `1`",
                "rename those that are not samples",
            ),
            (
                "x0,x2,x1,class\n1,2,3,up\n",
                "data: line 1, the header: `x2` is before `x1`",
                "in the order of their numbers",
            ),
        ] {
            let told = parse(text).expect_err(text).to_string();
            assert!(told.starts_with(begin) && told.contains(advice), "{text}: {told}");
        }
    }
}
