//! The layout `label`, `id`, `sequence`: one string per line.

use super::error::DataError;
use super::layout::{Layout, ReadOptions};
use super::part::{Body, Draft, Part, Text};
use super::roles::named;
use super::source::Column;
use super::table::{Table, has_column};
use crate::words::shorten;

pub(super) static LAYOUT: Layout = Layout {
    name: "strings",
    alias: "tsv",
    about: "a table of strings (label, id, sequence)",
    of_symbols: true,
    recordings: None,
    is_one: |text| has_column(text, "sequence"),
    read,
};

/// Reads labelled strings. `label` and `id` may be absent, further columns are kept.
fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Part, DataError> {
    let source = &options.source;
    let mut table = Table::open_as(name, bytes, source)?;
    table.check_case(&["sequence"])?;
    let place = |said: &Option<Column>, usual: &str| match said {
        Some(column) => named(&table, column),
        None => Ok(table.column(usual).or_else(|| Column::of(usual).place(table.header()))),
    };
    let (label, id) = (place(&source.label, "label")?, place(&source.series, "id")?);
    let Some(sequence) = table.column("sequence") else {
        return Err(table.bad_header(format!(
            "has no column `sequence` (label, id, sequence); found {}",
            shorten(&table.header().join(","))
        )));
    };
    let others: Vec<usize> = (0..table.header().len())
        .filter(|&column| column != sequence && ![label, id].contains(&Some(column)))
        .collect();
    let mut part = Part {
        columns: others.iter().map(|&column| table.header()[column].clone()).collect(),
        label_column: label.map(|column| (column + 1, "label".to_owned())),
        text_column: Some((sequence + 1, "sequence".to_owned())),
        findings: table.findings().clone(),
        ..Part::new(name)
    };
    part.findings.add_idle(source);
    while table.next_row()? {
        let name_of = |column| table.needed(column, "name of the sequence").map(str::to_owned);
        let id = id.map_or_else(|| Ok((part.drafts.len() + 1).to_string()), name_of)?;
        let label = label.map_or(Ok(""), |column| table.name(column))?;
        part.note_missing(&source.missing, label, "label");
        let text = table.field(sequence)?;
        let columns = others.iter().map(|&column| table.name(column).map(str::to_owned));
        part.drafts.push(Draft {
            label: Some(label.to_owned()).filter(|label| !source.missing.has(label)),
            columns: columns.collect::<Result<_, _>>()?,
            times: Vec::new(),
            line: table.line(),
            body: Body::Text(Text::of_line(text, table.line())),
            id,
        });
    }
    Ok(part)
}
