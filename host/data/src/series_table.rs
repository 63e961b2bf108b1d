//! One sample a line: `series,<columns>,label,t,<channels>`, or without times `series,label,<channels>`, samples in order of the
//! lines; or under the names that people use.

use std::collections::HashMap;
use std::path::Path;

use super::dataset::Kind;
use super::dialect::Commas;
use super::error::DataError;
use super::features::check_no_features;
use super::layout::{Layout, ReadOptions};
use super::part::{Body, Draft, Part, Text};
use super::parting::Parting;
use super::quantity::{Conversion, find_channels};
use super::roles::Roles;
use super::samples::Rows;
use super::source::{Finding, Source};
use super::stamps::Times;
use super::table::{Table, has_column, has_time, number};
use super::unit_match::UnitMatch;
use super::values::{Values, finite, short_decimal};
use super::wide;
use crate::words::shorten;

pub(super) static LAYOUT: Layout = Layout {
    name: "series",
    alias: "csv",
    about: "a table of series (series,<columns>,label,t,<channels>, or series,label,<channels>)",
    of_symbols: false,
    recordings: None,
    is_one: |text| has_time(text) || (has_column(text, "series") && !(wide::LAYOUT.is_one)(text)),
    read: |name, bytes, options| read(name, bytes, options, false),
};

/// Reads a series table; one of events has a word per line for its one channel.
pub(super) fn read(
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
    of_events: bool,
) -> Result<Part, DataError> {
    let (table, columns) = open(name, bytes, options)?;
    read_rows(table, &columns, options, of_events)
}

/// Opens a series table before its first row, and finds the roles of its columns.
pub(super) fn open<'t>(
    name: &'t str,
    bytes: &'t [u8],
    options: &ReadOptions,
) -> Result<(Table<'t>, Columns), DataError> {
    let source = &options.source;
    let wanted = match &options.kind {
        Some(Kind::Channels(wanted)) => Some(wanted.as_slice()),
        _ => None,
    };
    let mut looked = Table::open_as(name, bytes, source)?;
    let roles = Roles::of(&mut looked, source, wanted.unwrap_or_default())?;
    let table = Table::open_as(name, bytes, source)?;
    let columns = Columns::of(&table, roles, wanted)?;
    Ok((table, columns))
}

/// Reads the rows of a series table, all of them or those of some whole series.
pub(super) fn read_rows(
    mut table: Table<'_>,
    layout: &Columns,
    options: &ReadOptions,
    of_events: bool,
) -> Result<Part, DataError> {
    let source = &options.source;
    let name = table.file().to_owned();
    let header = |column: usize| table.header()[column].clone();
    let mut part = Part {
        columns: layout.columns.iter().map(|&column| header(column)).collect(),
        channels: (!of_events).then(|| layout.names.clone()),
        text_column: of_events
            .then(|| (table.number(layout.channels[0].0), header(layout.channels[0].0))),
        label_column: layout.label.map(|column| (table.number(column), header(column))),
        clocked: layout.time.is_some_and(|(_, times)| times.named()),
        units: layout.units.clone(),
        findings: layout.findings.clone(),
        ..Part::new(&name)
    };
    // Where each series is among the drafts, and the line where it begins.
    let mut first_lines: HashMap<String, (usize, u64)> = HashMap::new();
    let mut current = 0;
    let mut row = Vec::with_capacity(layout.channels.len());
    // As the file has it.
    let mut last_time = String::new();
    let alone = layout.series.is_none() && source.series.is_none();
    // Events may be far apart: time that falls back alone parts them.
    let usual_step = layout.usual_step.map(|step| if of_events { f64::INFINITY } else { step });
    let mut parting =
        Parting::new(usual_step.filter(|_| alone), layout.label.is_some(), source.segments);
    while table.next_row()? {
        // A spreadsheet's blank line, or where files were joined.
        let is_blank = table.bytes(0).is_empty() && layout.is_placed() && table.is_blank();
        if is_blank || table.is_header() {
            continue;
        }
        let id = match layout.series {
            Some(column) => match table.field(column)? {
                id if !parting.is_another(id) => id,
                _ => table.needed(column, "name of the series")?,
            },
            None => "",
        };
        let time =
            layout.time.map(|(column, times)| Columns::time(&table, column, times)).transpose()?;
        let label = layout.label(&table, source, &mut part)?;
        let known = match layout.take_turns {
            true => first_lines.get(id).map(|&(at, _)| at),
            false => None,
        };
        let ends = |at: usize| {
            source.segments && part.drafts.get(at).is_some_and(|one| one.label.as_deref() != label)
        };
        if let Some(at) = known.filter(|&at| !ends(at)) {
            current = at;
        } else if known.is_some() {
            parting.go_on();
            current = part.drafts.len();
            first_lines.insert(id.to_owned(), (current, table.line()));
            part.drafts.push(layout.begin(&table, id, label.map(str::to_owned))?);
        } else if parting.parts(id, label, time, part.drafts.get(current)) {
            if parting.is_another(id) {
                if let Some(&(_, first)) = first_lines.get(id) {
                    let place = table.place(layout.series.unwrap_or_default());
                    return Err(DataError::SeriesSplit { place, series: shorten(id), first });
                }
                first_lines.insert(id.to_owned(), (part.drafts.len(), table.line()));
            }
            parting.begin(id);
            current = part.drafts.len();
            let mut draft = layout.begin(&table, id, label.map(str::to_owned))?;
            if of_events {
                draft.body = Body::Text(Text::of_events());
            }
            part.drafts.push(draft);
        }
        let Some(Draft { columns, label: began, times, body, .. }) = part.drafts.get_mut(current)
        else {
            continue; // A draft was pushed above.
        };
        layout.check_unchanged(&table, id, (began.as_deref(), label), columns, source)?;
        if let (Some(t), Some((column, _))) = (time, layout.time) {
            let text = table.field(column)?;
            // Several events may have one time.
            if times.last().is_some_and(|&before| t < before || t == before && !of_events) {
                let place = table.place(column);
                let series = shorten(if id.is_empty() { stem(table.file()) } else { id });
                let previous = match layout.take_turns {
                    true => times.last().copied(),
                    false => finite(&last_time).or(times.last().copied()),
                }
                .unwrap_or_default();
                let t = finite(text).unwrap_or(t);
                return Err(DataError::TimeOrder { place, t, previous, series });
            }
            text.clone_into(&mut last_time);
            times.push(t);
        }
        match body {
            Body::Rows(rows) => {
                layout.fill(&table, options, &mut row)?;
                rows.push(Some(&row));
            }
            Body::Text(text) => {
                let (column, _) = layout.channels[0];
                let event = Some(table.field(column)?).filter(|event| !source.missing.has(event));
                if text.push_event(event, table.line()) {
                    part.findings.add(Finding::Symbols, "separators within events are written `_`");
                }
            }
        }
    }
    if of_events {
        // Events come when they come: their times put them in order, and say no rate.
        part.drafts.iter_mut().for_each(|draft| draft.times.clear());
        part.clocked = false;
    }
    if layout.series.is_none() {
        part.drafts.iter_mut().for_each(|draft| draft.id = stem(&name).to_owned());
    }
    parting.name_parts(&mut part);
    check_no_features(&part, layout.time.is_some())?;
    Ok(part)
}

/// Roles of the columns.
pub(super) struct Columns {
    pub(super) series: Option<usize>,
    label: Option<usize>,
    /// Column of the times; `None` in a table whose lines are in order of time.
    time: Option<(usize, Times)>,
    usual_step: Option<f64>,
    pub(super) take_turns: bool,
    columns: Vec<usize>,
    /// Channels, with the conversion to the required unit.
    channels: Vec<(usize, Conversion)>,
    /// Names of the channels.
    pub(super) names: Vec<String>,
    /// Channels that were wanted under another name.
    units: Vec<UnitMatch>,
    commas: Commas,
    findings: super::source::Findings,
}

impl Columns {
    fn of(table: &Table<'_>, roles: Roles, wanted: Option<&[String]>) -> Result<Self, DataError> {
        let header = table.header();
        let Roles {
            series, label, time, columns, channels, usual_step, take_turns, findings, ..
        } = roles;
        if channels.is_empty() {
            let after = if time.is_some() { " after the column `t`" } else { "" };
            return Err(table.bad_header(format!("has no channel{after}")));
        }
        let channels = match wanted {
            None => channels.into_iter().map(|column| (column, Conversion::NONE)).collect(),
            Some(wanted) => {
                let names: Vec<(usize, &str)> =
                    channels.iter().map(|&column| (column, header[column].as_str())).collect();
                find_channels(wanted, &names)
                    .map_err(|none| none.error(table.file(), table.header_line(), &names))?
            }
        };
        let commas = table.commas();
        let names = match wanted {
            None => channels.iter().map(|&(column, _)| header[column].clone()).collect(),
            Some(wanted) => wanted.to_vec(),
        };
        let named: Vec<(usize, &str)> = header.iter().map(String::as_str).enumerate().collect();
        let units = UnitMatch::all(wanted.unwrap_or_default(), &channels, &named);
        Ok(Self {
            series,
            label,
            time,
            usual_step,
            take_turns,
            columns,
            channels,
            names,
            units,
            commas,
            findings,
        })
    }

    /// Returns whether a column places each row, so that none is without any field.
    fn is_placed(&self) -> bool {
        self.series.is_some() || self.time.is_some()
    }

    /// Label of the current row; `None` for a missing field.
    fn label<'t>(
        &self,
        table: &'t Table<'_>,
        source: &Source,
        part: &mut Part,
    ) -> Result<Option<&'t str>, DataError> {
        let Some(column) = self.label else {
            return Ok(None);
        };
        let last = part.drafts.last().and_then(|draft| draft.label.as_deref());
        let text = table.field(column)?;
        if last == Some(text) {
            return Ok(Some(text));
        }
        table.name(column)?;
        if source.missing.has(text) {
            part.note_missing(&source.missing, text, &table.header()[column]);
            return Ok(None);
        }
        Ok(Some(text))
    }

    /// A series that begins at the current row, still without samples.
    fn begin(
        &self,
        table: &Table<'_>,
        id: &str,
        label: Option<String>,
    ) -> Result<Draft, DataError> {
        let columns = self.columns.iter().map(|&column| table.name(column).map(str::to_owned));
        Ok(Draft {
            id: id.to_owned(),
            label,
            columns: columns.collect::<Result<_, _>>()?,
            times: Vec::new(),
            line: table.line(),
            body: Body::Rows(Rows::new(self.channels.len())),
        })
    }

    /// Checks that the current row agrees with the first row of its series; labels are those of the first and of this row.
    fn check_unchanged(
        &self,
        table: &Table<'_>,
        id: &str,
        labels: (Option<&str>, Option<&str>),
        columns: &[String],
        source: &Source,
    ) -> Result<(), DataError> {
        let changed = |column: usize, expected: &str, found: &str| {
            let (place, series) =
                (table.place(column), shorten(if id.is_empty() { stem(table.file()) } else { id }));
            let (found, expected) = (shorten(found), shorten(expected));
            // Who names the labels, or says that there are none, looks for no other.
            let is_looked_for = source.label.is_none() && source.channels.is_empty();
            if self.label == Some(column) {
                DataError::ColumnChanges { place, series, found, expected }
            } else if self.label.is_none() && is_looked_for {
                let names = self.columns.iter().filter_map(|&column| table.header().get(column));
                let columns = names.cloned().collect();
                DataError::MaybeLabel { columns, place, series, found, expected }
            } else {
                DataError::WordsChange { place, series, found, expected }
            }
        };
        for (&column, expected) in self.columns.iter().zip(columns) {
            let found = table.field(column)?;
            if found != expected {
                return Err(changed(column, expected, found));
            }
        }
        match (self.label, labels) {
            (Some(column), (began, now)) if began != now => {
                Err(changed(column, began.unwrap_or_default(), now.unwrap_or_default()))
            }
            _ => Ok(()),
        }
    }

    /// The time of the current row, in seconds.
    fn time(table: &Table<'_>, column: usize, times: Times) -> Result<f64, DataError> {
        let text = table.field(column)?;
        times.seconds(&table.commas().in_points(text)).ok_or_else(|| DataError::TimeNotANumber {
            place: table.place(column),
            text: shorten(text),
        })
    }

    /// Reads the channels of the current row; NaN is missing.
    fn fill(
        &self,
        table: &Table<'_>,
        options: &ReadOptions,
        row: &mut Vec<f64>,
    ) -> Result<(), DataError> {
        row.clear();
        let values = options.values;
        // Nearly all fields are numbers that need no look at marks and commas.
        let plain = self.commas != Commas::Decimal && options.source.missing.are_words();
        for &(column, conversion) in &self.channels {
            if plain
                && values == Values::Reals
                && let Some(value) = short_decimal(table.bytes(column))
            {
                row.push(conversion.of(value));
                continue;
            }
            let text = table.field(column)?;
            if options.source.missing.has(text) {
                row.push(f64::NAN);
                continue;
            }
            let place = || table.place(column);
            let value =
                number(text, values, self.commas, place).map_err(|error| self.explain(error))?;
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
fn stem(name: &str) -> &str {
    let file = Path::new(name).file_name().and_then(|file| file.to_str()).unwrap_or(name);
    file.split('.').find(|piece| !piece.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use crate::{Column, DataError, Dataset, Kind, ReadOptions, Source};

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

    /// Whatever a table calls its columns and however it is written, it is the table with the layout's own names.
    #[test]
    fn tables_are_read_as_people_write_them() {
        let wanted =
            parse("series,label,t,x,y\n7,up,0,1,2.5\n7,up,1,NA,4\n8,,0,7,-8\n").expect("sound");
        for text in [
            "Series;Label;T;x;y\n7;up;0;1;2,5\n7;up;1;NA;4\n8;;0;7;-8\n",
            "recording,activity,time,x,y\n7,up,0,1,2.5\n7,up,1,nan,4\n8,None,0,7,-8\n",
            "# a logger's\nid,time,x,y,class\n7,0,1,2.5,up\n# rest\n7,1,null,4,up\n8,0,7,-8,?\n",
            ",series,label,t,x,y\n0,7,up,0,1,2.5\n1,7,up,1,,4\n2,8,,0,7,-8\n",
            "series,label,t,x,y,\n7,up,0,1,2.5,\n7,up,1,NA,4,\n8,,0,7,-8,\n",
            "series label t x y\n7 up 0  1 2.5\n7 up 1 NA 4\n8 NA 0 7 -8\n",
            "label|series|t|x|y\nup|7|0|1|2.5\nup|7|1|NA|4\n|8|0|7|-8\n",
        ] {
            let data = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((data.kind(), data.classes()), (wanted.kind(), wanted.classes()), "{text}");
            for (one, wanted) in data.series().iter().zip(wanted.series()) {
                assert_eq!((&one.id, &one.samples), (&wanted.id, &wanted.samples), "{text}");
                assert_eq!((one.label, &one.times), (wanted.label, &wanted.times), "{text}");
            }
        }
    }

    #[test]
    fn a_gap_or_a_changing_label_parts_recordings() {
        let row = |t: f64, label: &str| format!("{t},1,{label}\n");
        let mut text = "timestamp,x,activity\n".to_owned();
        for (start, label) in [(0.0, "up"), (30.0, "down"), (60.0, "up")] {
            for step in 0..5 {
                text += &row(start + 0.01 * f64::from(step), label);
            }
        }
        let data = parse(&text).expect("three recordings");
        let ids: Vec<&str> = data.series().iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["data/1", "data/2", "data/3"]);
        assert_eq!(data.groups("recording").expect("kept").1, ["data"]);
        assert_eq!(data.findings().len(), 3);
        // Without a gap a change of the label is a mistake, unless segments are asked for.
        let text = "t,x,label\n0,1,up\n1,2,up\n2,3,down\n3,4,up\n";
        assert!(matches!(parse(text), Err(DataError::ColumnChanges { .. })));
        let source = Source { segments: true, ..Source::default() };
        let options = ReadOptions { source, ..ReadOptions::default() };
        let data = Dataset::parse("day.csv", text.as_bytes(), &options).expect("three segments");
        let found = data.series().iter().map(|one| (one.id.as_str(), one.samples.view().len()));
        assert_eq!(found.collect::<Vec<_>>(), [("day/1", 2), ("day/2", 1), ("day/3", 1)]);
    }

    /// Without labels a restart of the time parts recordings, and a row out of order is a fault. Words that change are
    /// likely the labels.
    #[test]
    fn a_table_without_labels_is_parted_where_time_begins_again() {
        let rows = |from: u32| (from..from + 40).map(|n| format!("{},{}\n", n * 20, n % 7));
        let text: String =
            std::iter::once("time_ms,x\n".to_owned()).chain(rows(0)).chain(rows(0)).collect();
        let data = parse(&text).expect("two recordings");
        let ids: Vec<&str> = data.series().iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["data/1", "data/2"]);
        let swapped = text.replacen("100,5\n120,6\n", "120,6\n100,5\n", 1);
        let fault = parse(&swapped).expect_err("out of order").to_string();
        assert!(fault.contains("in series `data`"), "{fault}");
        let labelled: String = text
            .lines()
            .enumerate()
            .map(|(n, line)| match n {
                0 => format!("{line},Bewegung\n"),
                n => format!("{line},{}\n", if n < 20 { "kippen" } else { "schieben" }),
            })
            .collect();
        let fault = parse(&labelled);
        assert!(
            matches!(&fault, Err(DataError::MaybeLabel { columns, .. }) if columns == &["Bewegung"]),
            "{fault:?}"
        );
        // Whoever says that there are no labels is told how the column is left out.
        let source = Source { label: Some(Column::None), ..Source::default() };
        let options = ReadOptions { source, ..ReadOptions::default() };
        let fault = Dataset::parse("data.csv", labelled.as_bytes(), &options);
        assert!(matches!(fault, Err(DataError::WordsChange { .. })));
    }

    /// Options have priority over inferred facts.
    #[test]
    fn columns_are_what_is_said() {
        let column = |name: &str| Some(Column::of(name));
        let text = "1,a,0,5,9\n1,a,20,6,9\n2,b,0,7,8\n2,b,20,8,8\n";
        let source = Source {
            header: Some(false),
            series: column("1"),
            label: column("2"),
            time: column("3"),
            columns: vec![Column::of("5")],
            ..Source::default()
        };
        let options = ReadOptions { source, ..ReadOptions::default() };
        let data = Dataset::parse("data", text.as_bytes(), &options).expect("said");
        assert_eq!(data.kind(), &Kind::Channels(vec!["column4".into()]));
        assert_eq!(
            (data.classes(), data.columns()),
            (&["a".into(), "b".into()][..], &["column5".into()][..])
        );
        assert_eq!(data.series()[1].times, [0.0, 0.02]);
        let source = Source { label: column("mood"), ..Source::default() };
        let options = ReadOptions { source, ..ReadOptions::default() };
        let told = Dataset::parse("data", b"t,x\n0,1\n", &options).expect_err("none").to_string();
        assert!(told.contains("no column `mood`") && told.contains("t, x"), "{told}");
    }

    #[test]
    fn rows_of_several_series_may_take_turns() {
        let mut text = "id,time,x,label\n".to_owned();
        for t in 0..10 {
            for series in ["a", "b", "c"] {
                text += &format!("{series},0.{t},{t},{series}\n");
            }
        }
        for text in [text.clone(), text.replace("id,", "device,")] {
            assert_eq!(parse(&text).expect("three series").series().len(), 3);
        }
        let data = parse(&text).expect("three series");
        let lengths: Vec<usize> =
            data.series().iter().map(|one| one.samples.view().len()).collect();
        assert_eq!(
            (lengths, data.classes()),
            (vec![10; 3], &["a".into(), "b".into(), "c".into()][..])
        );
        let told = parse(&(text + "a,0.1,5,a\n")).expect_err("back in time").to_string();
        assert!(told.contains("line 5") && told.contains("series `a`"), "{told}");
    }

    #[test]
    fn a_table_of_features_is_no_series() {
        let told = parse("series,label,x_mean,x_std\n0,a,1,2\n1,b,3,4\n")
            .expect_err("features")
            .to_string();
        assert!(told.contains("table of features") && told.contains("x_mean"), "{told}");
    }

    #[test]
    fn mistakes_without_times_are_told_by_place() {
        for (text, begin, advice) in [
            (
                "series,label,x\n0,a,1\n1,a,1\n0,a,2\n",
                "data, line 4, column 1 (series): series `0` began on line 2",
                "keep the lines of a series together, in order of time",
            ),
            (
                "series,who,label,x\n0,ann,a,1\n",
                "data, line 2, column 2 (who): `ann` is not a finite number",
                "before a column `t`",
            ),
            (
                "series,label,x\n0,a,1\n0,b,1\n",
                "data, line 3, column 2 (label): `b`",
                "began with `a`",
            ),
            ("series,label\n0,a\n", "data: line 1, the header: has no channel", "channel"),
            ("series,x\n0,\n0,NA\n", "data, line 2: `0` has no sample", "add its samples"),
            ("series,x\n0,1,5\n", "data, line 2, column 3: the row has 3 fields", "no commas"),
        ] {
            let told = parse(text).expect_err(text).to_string();
            assert!(told.starts_with(begin) && told.contains(advice), "{text}: {told}");
        }
    }
}
