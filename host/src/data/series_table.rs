//! The layout `series,<columns>,label,t,<channels>`: one sample per line.

use std::collections::HashMap;
use std::path::Path;

use super::Values;
use super::dataset::Kind;
use super::error::{DataError, Place};
use super::layout::{Layout, ReadOptions};
use super::part::{Body, Draft, Part};
use super::samples::Rows;
use super::table::{Table, finite, has_column, is_missing, number};
use crate::words::shorten;

pub(super) static LAYOUT: Layout = Layout {
    name: "series",
    alias: "csv",
    about: "a table of series (series,<columns>,label,t,<channels>)",
    begins: "a header with a column `t` (series,label,t,<channels>)",
    of_symbols: false,
    is_one: |text| has_column(text, "t"),
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
        file: name.to_owned(),
        columns: layout.columns.iter().map(|&column| table.header()[column].clone()).collect(),
        channels: Some(
            layout.channels.iter().map(|&column| table.header()[column].clone()).collect(),
        ),
        label_column: layout.label.map(|column| (column + 1, "label".to_owned())),
        text_column: None,
        partial: 0,
        drafts: Vec::new(),
    };
    let mut first_lines: HashMap<String, u64> = HashMap::new();
    let mut row = Vec::with_capacity(layout.channels.len());
    // Channels of the series being read of which there is a number.
    let mut seen = vec![false; layout.channels.len()];
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
            check_whole(&part, &seen)?;
            seen.fill(false);
            part.drafts.push(layout.begin(&table, id)?);
        }
        let Some(Draft { columns, label, times, body: Body::Rows(rows), .. }) =
            part.drafts.last_mut()
        else {
            continue; // A draft was pushed above, and it has rows.
        };
        layout.check_unchanged(&table, id, label.as_deref(), columns)?;
        times.push(layout.time(&table, id, times.last().copied())?);
        if layout.fill(&table, options.values, &mut row, &mut seen)? {
            rows.push(Some(&row));
        } else {
            part.partial += usize::from(!row.is_empty());
            rows.push(None);
        }
    }
    check_whole(&part, &seen)?;
    if let ([only], None) = (part.drafts.as_mut_slice(), layout.series) {
        only.id = stem(name);
    }
    Ok(part)
}

/// Which column is what.
struct Columns {
    series: Option<usize>,
    label: Option<usize>,
    time: usize,
    columns: Vec<usize>,
    channels: Vec<usize>,
}

impl Columns {
    fn of(table: &Table<'_>, wanted: Option<&[String]>) -> Result<Self, DataError> {
        let header = table.header();
        table.check_case(&["series", "label", "t"])?;
        let (series, label) = (table.column("series"), table.column("label"));
        let Some(time) = table.column("t") else {
            return Err(table.bad_header(format!(
                "has no column `t`, which parts the columns of a series from its channels \
                 (series,label,t,<channels>); found {}",
                shorten(&header.join(","))
            )));
        };
        let other = |column: &usize| Some(*column) != series && Some(*column) != label;
        let columns = (0..time).filter(other).collect();
        let all: Vec<usize> = (time + 1..header.len()).filter(other).collect();
        let names =
            || all.iter().map(|&column| header[column].as_str()).collect::<Vec<_>>().join(", ");
        if all.is_empty() {
            return Err(table.bad_header("has no channel after the column `t`".into()));
        }
        let channels = match wanted {
            None => all,
            Some(wanted) => wanted
                .iter()
                .map(|name| {
                    let found = all.iter().copied().find(|&column| header[column] == *name);
                    found.ok_or_else(|| {
                        table.bad_header(format!(
                            "has no channel `{name}`, which is needed; it has {}",
                            names()
                        ))
                    })
                })
                .collect::<Result<_, _>>()?,
        };
        Ok(Self { series, label, time, columns, channels })
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
    fn time(&self, table: &Table<'_>, id: &str, previous: Option<f64>) -> Result<f64, DataError> {
        let text = table.field(self.time)?;
        let Some(t) = finite(text) else {
            return Err(DataError::TimeNotANumber {
                place: table.place(self.time),
                text: shorten(text),
            });
        };
        match previous {
            Some(previous) if t <= previous => Err(DataError::TimeOrder {
                place: table.place(self.time),
                t,
                previous,
                series: shorten(id),
            }),
            _ => Ok(t),
        }
    }

    /// Reads the channels of the current row; false if any of them is missing. `row` then holds
    /// those that are there, which are `seen`.
    fn fill(
        &self,
        table: &Table<'_>,
        values: Values,
        row: &mut Vec<f64>,
        seen: &mut [bool],
    ) -> Result<bool, DataError> {
        row.clear();
        for (channel, &column) in self.channels.iter().enumerate() {
            let text = table.field(column)?;
            if is_missing(text) {
                continue;
            }
            let place = || table.place(column);
            row.push(values.check(number(text, values, place)?, text, place)?);
            seen[channel] = true;
        }
        Ok(row.len() == self.channels.len())
    }
}

/// Refuses a last series with numbers but no row in which all channels have one, by the name of what is
/// missing.
fn check_whole(part: &Part, seen: &[bool]) -> Result<(), DataError> {
    let Some(Draft { id, line, body: Body::Rows(rows), .. }) = part.drafts.last() else {
        return Ok(());
    };
    if !seen.contains(&true) || rows.view().iter().any(|row| row.is_some()) {
        return Ok(());
    }
    let names = part.channels.as_deref().unwrap_or_default().iter().zip(seen);
    let never = names.filter(|(_, seen)| !**seen).map(|(name, _)| format!("`{}`", shorten(name)));
    let missing = match never.collect::<Vec<_>>().as_slice() {
        [] => "one or another".to_owned(),
        never => never.join(", "),
    };
    let (place, series) = (Place::line(&part.file, *line).into(), shorten(id));
    Err(DataError::NoWholeRow { place, series, missing })
}

/// A file's name without folder and endings.
fn stem(name: &str) -> String {
    let file = Path::new(name).file_name().map_or(name.into(), |file| file.to_string_lossy());
    file.split('.').find(|piece| !piece.is_empty()).unwrap_or(name).to_owned()
}
