//! The layout `series,<columns>,label,t,<channels>`: one sample per line; or without times
//! `series,label,<channels>`, samples in order of the lines.

use std::collections::HashMap;
use std::path::Path;

use super::Values;
use super::dataset::Kind;
use super::error::DataError;
use super::layout::{Layout, ReadOptions};
use super::part::{Body, Draft, Part};
use super::quantity::{Conversion, TimeUnit, find_channels};
use super::samples::Rows;
use super::table::{Table, finite, has_column, has_time, is_missing, number};
use super::unit_match::UnitMatch;
use super::wide;
use crate::words::shorten;

pub(super) static LAYOUT: Layout = Layout {
    name: "series",
    alias: "csv",
    about: "a table of series (series,<columns>,label,t,<channels>, or series,label,<channels>)",
    begins: "a header with a column `t` or `series` (series,label,t,<channels>)",
    of_symbols: false,
    is_one: |text| has_time(text) || (has_column(text, "series") && !(wide::LAYOUT.is_one)(text)),
    read,
};

/// Reads a series table.
fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Part, DataError> {
    let mut table = Table::open(name, bytes)?;
    let wanted = match &options.kind {
        Some(Kind::Channels(wanted)) => Some(wanted.as_slice()),
        _ => None,
    };
    let layout = Columns::of(&table, wanted)?;
    let mut part = Part {
        columns: layout.columns.iter().map(|&column| table.header()[column].clone()).collect(),
        channels: Some(wanted.map_or_else(|| layout.names(&table), <[String]>::to_vec)),
        label_column: layout.label.map(|column| (column + 1, "label".to_owned())),
        clocked: layout.time.is_some_and(|(_, unit)| unit.named),
        units: layout.units(&table, wanted),
        ..Part::new(name)
    };
    let mut first_lines: HashMap<String, u64> = HashMap::new();
    let mut row = Vec::with_capacity(layout.channels.len());
    // In the unit of the column.
    let mut last_time = 0.0;
    while table.next_row()? {
        let id = match layout.series {
            Some(column) => table.needed(column, "name of the series")?,
            None => "",
        };
        if part.drafts.last().is_none_or(|current| current.id != id) {
            if let Some(&first) = first_lines.get(id) {
                let place = table.place(layout.series.unwrap_or_default());
                return Err(DataError::SeriesSplit { place, series: shorten(id), first });
            }
            first_lines.insert(id.to_owned(), table.line());
            part.drafts.push(layout.begin(&table, id)?);
        }
        let Some(Draft { columns, label, times, body: Body::Rows(rows), .. }) =
            part.drafts.last_mut()
        else {
            continue; // A draft was pushed above, and it has rows.
        };
        layout.check_unchanged(&table, id, label.as_deref(), columns)?;
        if let Some((column, unit)) = layout.time {
            let time = Columns::time(&table, column, id, (!times.is_empty()).then_some(last_time))?;
            last_time = time;
            times.push(unit.seconds(time));
        }
        layout.fill(&table, options.values, &mut row)?;
        rows.push(Some(&row));
    }
    if let ([only], None) = (part.drafts.as_mut_slice(), layout.series) {
        only.id = stem(name);
    }
    Ok(part)
}

/// Which column is what.
struct Columns {
    series: Option<usize>,
    label: Option<usize>,
    /// None of a table whose lines are in order of time.
    time: Option<(usize, TimeUnit)>,
    columns: Vec<usize>,
    /// With what makes their numbers those of the unit that is wanted.
    channels: Vec<(usize, Conversion)>,
}

impl Columns {
    fn of(table: &Table<'_>, wanted: Option<&[String]>) -> Result<Self, DataError> {
        let header = table.header();
        table.check_case(&["series", "label", "t"])?;
        let (series, label) = (table.column("series"), table.column("label"));
        let clock = table.time()?;
        let time = clock.map(|(column, _)| column);
        if time.or(series).is_none() {
            return Err(table.bad_header(format!(
                "has no column `t`, which parts the columns of a series from its channels \
                 (series,label,t,<channels>), and no `series` (series,label,<channels>); found {}",
                shorten(&header.join(","))
            )));
        }
        let other = |column: &usize| Some(*column) != series && Some(*column) != label;
        let columns = (0..time.unwrap_or_default()).filter(other).collect();
        let behind = time.map_or(0, |time| time + 1);
        let all: Vec<usize> = (behind..header.len()).filter(other).collect();
        if all.is_empty() {
            let after = if time.is_some() { " after the column `t`" } else { "" };
            return Err(table.bad_header(format!("has no channel{after}")));
        }
        let channels = match wanted {
            None => all.into_iter().map(|column| (column, Conversion::NONE)).collect(),
            Some(wanted) => {
                let names: Vec<(usize, &str)> =
                    all.iter().map(|&column| (column, header[column].as_str())).collect();
                find_channels(wanted, &names).map_err(|none| none.error(table.file(), &names))?
            }
        };
        Ok(Self { series, label, time: clock, columns, channels })
    }

    /// Names of the channels.
    fn names(&self, table: &Table<'_>) -> Vec<String> {
        self.channels.iter().map(|&(column, _)| table.header()[column].clone()).collect()
    }

    /// Wanted channels that the table names otherwise.
    fn units(&self, table: &Table<'_>, wanted: Option<&[String]>) -> Vec<UnitMatch> {
        let names: Vec<(usize, &str)> =
            table.header().iter().map(String::as_str).enumerate().collect();
        UnitMatch::all(wanted.unwrap_or_default(), &self.channels, &names)
    }

    /// The label of the current row; an empty field is none.
    fn label<'t>(&self, table: &'t Table<'_>) -> Result<Option<&'t str>, DataError> {
        let Some(column) = self.label else {
            return Ok(None);
        };
        Ok(Some(table.name(column)?).filter(|text| !text.is_empty()))
    }

    /// A series that begins at the current row, still without samples.
    fn begin(&self, table: &Table<'_>, id: &str) -> Result<Draft, DataError> {
        let columns = self.columns.iter().map(|&column| table.name(column).map(str::to_owned));
        Ok(Draft {
            id: id.to_owned(),
            label: self.label(table)?.map(str::to_owned),
            columns: columns.collect::<Result<_, _>>()?,
            times: Vec::new(),
            line: table.line(),
            body: Body::Rows(Rows::new(self.channels.len())),
        })
    }

    /// The current row says of its series what the first row said.
    fn check_unchanged(
        &self,
        table: &Table<'_>,
        id: &str,
        label: Option<&str>,
        columns: &[String],
    ) -> Result<(), DataError> {
        let label = self.label.map(|column| (column, label.unwrap_or_default()));
        let columns = self.columns.iter().copied().zip(columns.iter().map(String::as_str));
        for (column, expected) in columns.chain(label) {
            let found = table.field(column)?;
            if found != expected {
                return Err(DataError::ColumnChanges {
                    place: table.place(column),
                    series: shorten(id),
                    found: shorten(found),
                    expected: shorten(expected),
                });
            }
        }
        Ok(())
    }

    /// The time of the current row, later than the previous one.
    fn time(
        table: &Table<'_>,
        column: usize,
        id: &str,
        previous: Option<f64>,
    ) -> Result<f64, DataError> {
        let text = table.field(column)?;
        let Some(t) = finite(text) else {
            return Err(DataError::TimeNotANumber {
                place: table.place(column),
                text: shorten(text),
            });
        };
        match previous {
            Some(previous) if t <= previous => Err(DataError::TimeOrder {
                place: table.place(column),
                t,
                previous,
                series: shorten(id),
            }),
            _ => Ok(t),
        }
    }

    /// Reads the channels of the current row; NaN is missing.
    fn fill(&self, table: &Table<'_>, values: Values, row: &mut Vec<f64>) -> Result<(), DataError> {
        row.clear();
        for &(column, conversion) in &self.channels {
            let text = table.field(column)?;
            if is_missing(text) {
                row.push(f64::NAN);
                continue;
            }
            let place = || table.place(column);
            let value = number(text, values, place).map_err(|error| self.explain(error))?;
            row.push(values.check(conversion.of(value), text, place)?);
        }
        Ok(())
    }

    /// A word where a number should be may be no mistake of the row: without `t`, nothing but its name tells what a
    /// column is.
    fn explain(&self, error: DataError) -> DataError {
        match error {
            DataError::NotANumber { place, text } if self.time.is_none() => {
                DataError::NotAChannel { place, text }
            }
            error => error,
        }
    }
}

/// A file's name without folder and endings.
fn stem(name: &str) -> String {
    let file = Path::new(name).file_name().map_or(name.into(), |file| file.to_string_lossy());
    file.split('.').find(|piece| !piece.is_empty()).unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use crate::data::{DataError, Dataset, Kind, ReadOptions};

    fn parse(text: &str) -> Result<Dataset, DataError> {
        Dataset::parse("data", text.as_bytes(), &ReadOptions::default())
    }

    /// Every way to write the table without times is the table with them.
    #[test]
    fn without_times_samples_are_in_order_of_the_lines() {
        let timed = "series,label,t,x,y\n7,up,0,1,2\n7,up,1,NA,4\n7,up,2,5,6\n8,,0,7,8\n";
        let timed = parse(timed).expect("sound");
        let plain = "series,label,x,y\n7,up,1,2\n7,up,NA,4\n7,up,5,6\n8,,7,8\n";
        let last = "series,x,y,label\n7,1,2,up\n7,,4,up\n7,5,6,up\n8,7,8,\n";
        for text in [plain.to_owned(), plain.replace(',', "\t"), last.to_owned()] {
            let data = parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((data.kind(), data.classes()), (timed.kind(), timed.classes()));
            assert_eq!(data.missing(), timed.missing());
            for (one, timed) in data.series().iter().zip(timed.series()) {
                assert_eq!((&one.id, &one.samples), (&timed.id, &timed.samples));
                assert_eq!((one.label, one.line), (timed.label, timed.line));
                assert!(one.times.is_empty() && one.columns.is_empty());
            }
        }
        // Channels may be numbered: a series that comes back tells that lines are samples.
        let data = parse("series,c0,c1\na,1,2\nb,3,4\nb,5,6\n").expect("sound");
        assert_eq!(data.kind(), &Kind::Channels(vec!["c0".into(), "c1".into()]));
        assert_eq!((data.series().len(), data.observations()), (2, 3));
        let kind = Some(Kind::Channels(vec!["c1".into()]));
        let options = ReadOptions { kind, ..ReadOptions::default() };
        let data =
            Dataset::parse("data", b"series,c0,c1\na,1,2\na,3,4\n", &options).expect("there");
        let row = data.series()[0].samples.view().rows().expect("channels").row(1);
        assert_eq!(row, Some(&[4.0][..]));
    }

    #[test]
    fn mistakes_without_times_are_told_by_place() {
        for (text, begin, advice) in [
            (
                "series,label,x\n0,a,1\n1,a,1\n0,a,2\n",
                "data, line 4, column 1 (series): series `0` was already read from line 2",
                "keep the lines of a series together, in order of time",
            ),
            (
                "series,who,label,x\n0,ann,a,1\n",
                "data, line 2, column 2 (who): `ann` is not a finite number",
                "goes before a column `t`",
            ),
            (
                "series,label,x\n0,a,1\n0,b,1\n",
                "data, line 3, column 2 (label): `b`",
                "began with `a`",
            ),
            ("series,label\n0,a\n", "data: line 1, the header: has no channel", "channel"),
            ("series,x\n0,\n0,NA\n", "data, line 2: `0` has no observation", "add its samples"),
            (
                "Series,x\n0,1\n",
                "data: line 1, the header: names of columns are in small",
                "Series,x",
            ),
            ("series;x\n0;1\n", "data: line 1, the header: parts its columns by semicol", "commas"),
            ("series,x\n0,1,5\n", "data, line 2, column 3: the row has 3 fields", "no commas"),
        ] {
            let told = parse(text).expect_err(text).to_string();
            assert!(told.starts_with(begin) && told.contains(advice), "{text}: {told}");
        }
    }
}
