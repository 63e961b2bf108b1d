//! Tables of Apache Parquet, as the comma-separated text that they stand for.

use std::fmt::Write;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

pub(super) const MAGIC: &[u8] = b"PAR1";

/// The text of a table, whose columns hold one value per row; an error describes its fault.
pub(crate) fn text(bytes: &[u8]) -> Result<String, String> {
    let damaged =
        |error| format!("is a damaged Parquet file, or of a kind that is not read: {error}");
    let reader =
        SerializedFileReader::new(bytes::Bytes::copy_from_slice(bytes)).map_err(damaged)?;
    let schema = reader.metadata().file_metadata().schema();
    let mut text = String::with_capacity(2 * bytes.len());
    for (index, column) in schema.get_fields().iter().enumerate() {
        if column.is_group() {
            return Err(format!(
                "has a column `{}` of lists or records; write one value per row",
                column.name()
            ));
        }
        push(&mut text, index, column.name());
    }
    text.push('\n');
    let columns = schema.get_fields().len();
    for row in reader.get_row_iter(None).map_err(damaged)? {
        for (index, (name, field)) in row.map_err(damaged)?.get_column_iter().enumerate() {
            match field {
                // An empty line is no row.
                Field::Null => push(&mut text, index, if columns > 1 { "" } else { "NA" }),
                Field::Str(value) => push(&mut text, index, value),
                Field::Bytes(value) => match std::str::from_utf8(value.data()) {
                    Ok(value) => push(&mut text, index, value),
                    Err(_) => {
                        return Err(format!(
                            "has a column `{name}` of bytes that are no text; leave it out"
                        ));
                    }
                },
                other => push(&mut text, index, &other.to_string()),
            }
        }
        text.push('\n');
    }
    Ok(text)
}

/// Appends a field, quoted where it must be.
fn push(text: &mut String, index: usize, field: &str) {
    if index > 0 {
        text.push(',');
    }
    if field.contains([',', '"', '\n', '\r', '#']) {
        // Writing to a string fails never.
        let _ = write!(text, "\"{}\"", field.replace('"', "\"\""));
    } else {
        text.push_str(field);
    }
}

#[cfg(test)]
mod tests {
    use crate::{DataError, Dataset, Kind, ReadOptions};

    /// File as polars writes it: strings, times, whole numbers, reals of which one is missing.
    const SNAPPY: &[u8] = include_bytes!("parquet/snappy.parquet");

    #[test]
    fn a_table_is_read_whatever_packs_it() {
        for bytes in
            [SNAPPY, include_bytes!("parquet/zstd.parquet"), include_bytes!("parquet/gzip.parquet")]
        {
            let data =
                Dataset::parse("x.parquet", bytes, &ReadOptions::default()).expect("a table");
            assert_eq!(data.kind(), &Kind::Channels(vec!["ax".into(), "ay".into()]));
            assert_eq!(
                (data.series().len(), data.classes()),
                (2, &["run".into(), "walk".into()][..])
            );
            let series = &data.series()[0];
            assert_eq!((series.id.as_str(), series.times.len()), ("walk, 1", 3));
            assert!((series.times[1] - series.times[0] - 0.02).abs() < 1e-6, "{:?}", series.times);
            let rows = series.samples.view().rows().expect("channels");
            assert_eq!(rows.row(1), Some(&[-1.25, 2.0][..]));
            assert!(rows.row(2).is_none() && rows.row_in_part(2).is_some_and(|row| row[1] == 3.0));
        }
    }

    #[test]
    fn what_holds_no_table_is_refused() {
        let lists = include_bytes!("parquet/list.parquet");
        for bytes in [&lists[..], &SNAPPY[..900], b"PAR1"] {
            let error = Dataset::parse("x.parquet", bytes, &ReadOptions::default());
            assert!(matches!(error, Err(DataError::Header { .. })), "{error:?}");
        }
    }
}
