//! Tables of one event per line: `series,label,t,event`, where the events are words and no other column is a channel.

use super::error::DataError;
use super::layout::{Layout, ReadOptions};
use super::part::Part;
use super::roles::Roles;
use super::series_table;
use super::source::{Column, Finding, Source};
use super::stamps::plain;
use super::table::{Table, header_names};
use crate::words::shorten;

pub(super) static LAYOUT: Layout = Layout {
    name: "events",
    alias: "log",
    about: "a table of named events (series,label,t,event)",
    of_symbols: true,
    recordings: None,
    is_one: |text| is_one(text, &Source::default()),
    read,
};

/// Names of columns of events, in small letters.
const NAMES: [&str; 5] = ["event", "symbol", "code", "word", "command"];

/// The column of events among names.
fn named(names: &[String]) -> Option<&String> {
    NAMES.iter().find_map(|known| names.iter().find(|name| plain(name) == *known))
}

/// The source whose one channel is the column of events.
fn with_column(source: &Source, column: &Column) -> Source {
    Source { channels: vec![column.clone()], ..source.clone() }
}

/// Returns whether a text is a table of events, given options for its other columns.
pub(super) fn is_one(text: &[u8], source: &Source) -> bool {
    let names = header_names(text);
    let Some(name) = named(&names).cloned() else { return false };
    if !source.channels.is_empty() || names.iter().any(|name| name == "sequence") {
        return false;
    }
    let source = with_column(source, &Column::Name(name));
    let Ok(mut table) = Table::open_as("", text, &source) else { return false };
    Roles::of(&mut table, &source, &[]).is_ok_and(|roles| roles.are_events())
}

fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Part, DataError> {
    let table = Table::open_as(name, bytes, &options.source)?;
    let found = || named(table.header()).map(|name| Column::Name(name.clone()));
    let Some(column) = options.source.events.clone().or_else(found) else {
        return Err(table.bad_header(format!(
            "has no column of events ({}); name the column; found {}",
            NAMES.join(", "),
            shorten(&table.header().join(", "))
        )));
    };
    let source = with_column(&options.source, &column);
    let options = ReadOptions { source, ..options.clone() };
    let mut part = series_table::read(name, bytes, &options, true)?;
    if let (None, Column::Name(name)) = (&options.source.events, &column) {
        part.findings.add(Finding::Events, format!("events are in `{name}`"));
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use crate::{Alphabet, Column, DataError, Dataset, Kind, ReadOptions, Source};

    fn parse(text: &str, source: Source) -> Result<Dataset, DataError> {
        let options = ReadOptions { source, ..ReadOptions::default() };
        Dataset::parse("log.csv", text.as_bytes(), &options)
    }

    fn symbols(data: &Dataset) -> Vec<&[Option<u16>]> {
        data.series().iter().filter_map(|one| one.samples.view().symbols()).collect()
    }

    #[test]
    fn a_log_is_a_series_of_words() {
        let text = "series,label,t,event\na,good,0,open\na,good,0,\na,good,3.5,door closed\nb,bad,1,open\n";
        let events = Kind::Symbols(Alphabet::new("door_closed\nopen").expect("two words"));
        for text in
            [text.to_owned(), text.replace("event", "Command"), text.replace(",t,", ",time,")]
        {
            let data = parse(&text, Source::default()).expect("a log");
            assert_eq!((data.kind(), data.classes().len()), (&events, 2), "{text}");
            assert_eq!(symbols(&data), [&[Some(1), None, Some(0)][..], &[Some(1)]], "{text}");
            assert!(data.series().iter().all(|one| one.times.is_empty()));
            assert!(data.findings().iter().any(|one| one.what.contains('_')), "{text}");
        }
        let error = parse(&text.replace("3.5", "-1"), Source::default()).expect_err("goes back");
        assert!(matches!(error, DataError::TimeOrder { .. }), "{error}");
        let turns = "id,time,event\na,0,x1\nb,0,x2\na,1,x2\nb,1,x1\na,2,x1\nb,2,x2\n".to_owned()
            + &(3..9).map(|t| format!("a,{t},x1\nb,{t},x2\n")).collect::<String>();
        assert_eq!(parse(&turns, Source::default()).expect("turns").series().len(), 2);
        let gap = "t,label,event\n0,a,x1\n1,a,x2\n900,a,x1\n3,b,x2\n";
        let lengths =
            |data: Dataset| symbols(&data).iter().map(|one| one.len()).collect::<Vec<_>>();
        assert_eq!(lengths(parse(gap, Source::default()).expect("two")), [3, 1]);
        // Other names of columns are given.
        let said = Source {
            series: Some(Column::of("machine")),
            label: Some(Column::of("wear")),
            ..Source::default()
        };
        let named = "machine,wear,time,event\n1,2,0,open\n1,2,5,close\n2,1,0,open\n";
        assert_eq!(parse(named, said).expect("said").classes(), ["1", "2"]);
    }

    /// Columns of numbers are channels in a table of events, and so are events that are numbers, unless they are named.
    #[test]
    fn channels_stay_channels() {
        let numbers = "series,t,code\na,0,12\na,1,7\na,2,12\n";
        let data = parse(numbers, Source::default()).expect("channels");
        assert_eq!(data.kind(), &Kind::Channels(vec!["code".into()]));
        let named = Source { events: Some(Column::of("code")), ..Source::default() };
        let data = parse(numbers, named).expect("events");
        assert_eq!(data.kind(), &Kind::Symbols(Alphabet::new("7\n12").expect("by number")));
        assert_eq!(symbols(&data), [[Some(1), Some(0), Some(1)]]);
        let beside = "series,t,x,event\na,0,1,up\na,1,2,up\n";
        let data = parse(beside, Source::default()).expect("a label beside a channel");
        assert_eq!((data.kind().size(), data.classes()), (1, &["up".to_owned()][..]));
        let one_word = numbers.replace("12", "12x");
        let error = parse(&numbers.replace("a,1,7", "a,1,7x"), Source::default());
        assert!(matches!(error, Err(DataError::NotANumber { .. })));
        assert!(parse(&one_word, Source::default()).is_ok());
    }
}
