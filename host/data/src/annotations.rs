//! Labels in files of their own: stretches of time with a label each.

use super::error::DataError;
use super::part::{Annotation, Body, Draft, Part};
use super::samples::Rows;
use super::source::{Finding, Source};
use super::stamps::plain;
use super::table::Table;
use super::values::finite;
use crate::words::{counted, shorten};

const STARTS: [&str; 6] = ["start", "onset", "begin", "start_time", "start_s", "from"];
const ENDS: [&str; 6] = ["end", "stop", "finish", "end_time", "end_s", "to"];
const DURATIONS: [&str; 3] = ["duration", "length", "duration_s"];
const LABELS: [&str; 9] = [
    "label",
    "description",
    "class",
    "activity",
    "event",
    "text",
    "annotation",
    "trial_type",
    "name",
];
const SERIES: [&str; 5] = ["series", "recording", "file", "id", "filename"];

/// Reads a table of labels: `start,end,label`, or a duration for the end; a column may name the series. Without a header the
/// columns are start, end and label, as Audacity writes them.
pub(super) fn read(name: &str, text: &[u8]) -> Result<Vec<Annotation>, DataError> {
    let first = Table::open_as(name, text, &Source { header: Some(false), ..Source::default() });
    let headless = first.is_ok_and(|mut table| {
        matches!(table.next_row(), Ok(true))
            && table.header().len() == 3
            && [0, 1].iter().all(|&at| table.field(at).is_ok_and(|field| finite(field).is_some()))
    });
    let source = Source { header: Some(!headless), ..Source::default() };
    let mut table = Table::open_as(name, text, &source)?;
    let column = |known: &[&str]| {
        let names = table.header();
        known.iter().find_map(|wanted| names.iter().position(|name| plain(name) == *wanted))
    };
    let (start, end, duration, label, series) = match headless {
        true => (Some(0), Some(1), None, Some(2), None),
        false => {
            (column(&STARTS), column(&ENDS), column(&DURATIONS), column(&LABELS), column(&SERIES))
        }
    };
    let (Some(start), Some(label)) = (start, label) else {
        return Err(table.bad_header(format!(
            "annotations need the columns start, end (or duration) and label; found {}",
            shorten(&table.header().join(", "))
        )));
    };
    let mut annotations = Vec::new();
    while table.next_row()? {
        let seconds = |column: usize| {
            let text = table.field(column)?;
            table.commas().number(text).ok_or_else(|| DataError::TimeNotANumber {
                place: table.place(column),
                text: shorten(text),
            })
        };
        let from = seconds(start)?;
        let to = match (end, duration) {
            (Some(end), _) => seconds(end)?,
            (None, Some(duration)) => from + seconds(duration)?,
            (None, None) => f64::INFINITY,
        };
        if to <= from {
            let what = format!("the label ends at {to}, and begins at {from}; write a later end");
            return Err(DataError::Layout {
                place: table.place(end.or(duration).unwrap_or(start)),
                what,
            });
        }
        annotations.push(Annotation {
            series: series.map(|column| table.name(column)).transpose()?.map(str::to_owned),
            start: from,
            end: to,
            label: table.needed(label, "label")?.to_owned(),
        });
    }
    Ok(annotations)
}

/// Cuts the series of a part to labelled pieces and drops the rest. Labels that have no end last to the next.
pub(super) fn cut(part: &mut Part, annotations: &[Annotation]) -> Result<(), DataError> {
    const COLUMN: &str = "recording";
    let mut annotations = annotations.to_vec();
    annotations.sort_by(|a, b| a.start.total_cmp(&b.start));
    for at in 1..annotations.len() {
        let (start, series) = (annotations[at].start, annotations[at].series.clone());
        let before = &mut annotations[..at];
        let open = before.iter_mut().filter(|one| one.end.is_infinite() && one.series == series);
        open.for_each(|one| one.end = start);
    }
    let keeps = !part.columns.iter().any(|name| name == COLUMN);
    let (mut pieces, mut left_out) = (Vec::new(), 0);
    for draft in std::mem::take(&mut part.drafts) {
        let Body::Rows(rows) = &draft.body else { continue };
        if draft.times.is_empty() {
            let what = "has no times, so labels by time cannot be used".to_owned();
            return Err(DataError::Header { line: 1, file: part.file.clone(), what });
        }
        let view = rows.view();
        let mut kept = 0;
        let own = annotations
            .iter()
            .filter(|one| one.series.as_ref().is_none_or(|name| *name == draft.id));
        for (number, one) in (1..).zip(own) {
            let from = draft.times.partition_point(|&t| t < one.start);
            let to = draft.times.partition_point(|&t| t < one.end);
            if from >= to {
                continue;
            }
            let mut rows = Rows::new(view.dimension());
            (from..to).for_each(|t| rows.push(view.row(t)));
            kept += to - from;
            let mut columns = draft.columns.clone();
            columns.extend(keeps.then(|| draft.id.clone()));
            pieces.push(Draft {
                id: format!("{}/{number}", draft.id),
                label: Some(one.label.clone()),
                columns,
                times: draft.times[from..to].to_vec(),
                line: draft.line,
                body: Body::Rows(rows),
            });
        }
        left_out += view.len().saturating_sub(kept);
    }
    if keeps {
        part.columns.push(COLUMN.to_owned());
    }
    part.findings.add(
        Finding::Series,
        format!(
            "each labelled interval becomes a series ({}); {} without a label are left out",
            counted(pieces.len(), "series"),
            counted(left_out, "sample")
        ),
    );
    part.drafts = pieces;
    if part.drafts.is_empty() {
        return Err(DataError::NoSeries { file: part.file.clone() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_by_time_are_read_as_programs_write_them() {
        let one =
            |start, end, label: &str| Annotation { series: None, start, end, label: label.into() };
        let wanted = [one(0.0, 1.5, "up"), one(2.0, 3.0, "down")];
        for text in [
            "start,end,label\n0,1.5,up\n2,3,down\n",
            "onset\tduration\tdescription\n0\t1.5\tup\n2\t1\tdown\n",
            "0.000000\t1.500000\tup\n2.000000\t3.000000\tdown\n",
        ] {
            assert_eq!(read("x", text.as_bytes()).expect("sound"), wanted, "{text}");
        }
        let open = read("x", b"start,text,file\n1,up,a\n").expect("sound");
        assert_eq!((open[0].end, open[0].series.as_deref()), (f64::INFINITY, Some("a")));
        assert!(read("x", b"start,end,label\n2,1,up\n").is_err());
        assert!(read("x", b"a,b\n1,2\n").is_err());
    }
}
