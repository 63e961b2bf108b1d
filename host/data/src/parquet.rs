//! Tables of Apache Parquet: read as the comma-separated text that they stand for, and written.

use std::fmt::Write;
use std::io::{self, Read};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::record::{Field, Row};
use parquet::schema::types::Type;

pub(super) const MAGIC: &[u8] = b"PAR1";

/// Bytes of text that are made at a time.
const AT_ONCE: usize = 1 << 16;

/// The text of a table, whose columns hold one value per row; an error describes its fault.
pub(super) fn text(bytes: &[u8]) -> Result<String, String> {
    let mut rows = ParquetText::open(bytes::Bytes::copy_from_slice(bytes))?;
    let mut text = std::mem::take(&mut rows.text);
    text.reserve(2 * bytes.len());
    while rows.push_row(&mut text)? {}
    Ok(text)
}

/// The text of a table, row by row: a page of each column is in memory at a time.
pub(super) struct ParquetText {
    file: Box<dyn FileReader>,
    /// The rows of the group before this one.
    rows: Option<ReaderIter>,
    group: usize,
    columns: usize,
    /// Text that was made and not read, and how much of it was read.
    text: String,
    read: usize,
}

impl ParquetText {
    /// Opens a table; its header is the first text.
    pub(super) fn open(file: impl ChunkReader + 'static) -> Result<Self, String> {
        let reader = SerializedFileReader::new(file).map_err(damaged)?;
        let mut text = String::new();
        let schema = reader.metadata().file_metadata().schema();
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
        Ok(Self { file: Box::new(reader), rows: None, group: 0, columns, text, read: 0 })
    }

    /// The next row. `RowIter` keeps the pages of a group of rows until it has those of the next.
    fn next_row(&mut self) -> Result<Option<Row>, ParquetError> {
        loop {
            if let Some(row) = self.rows.as_mut().and_then(Iterator::next) {
                return row.map(Some);
            }
            self.rows = None;
            if self.group == self.file.num_row_groups() {
                return Ok(None);
            }
            let schema = self.file.metadata().file_metadata().schema_descr_ptr();
            let group = self.file.get_row_group(self.group)?;
            self.rows = Some(TreeBuilder::new().as_iter(schema, &*group)?);
            self.group += 1;
        }
    }

    /// Appends the next row; `false` at the end.
    fn push_row(&mut self, text: &mut String) -> Result<bool, String> {
        let Some(row) = self.next_row().map_err(damaged)? else { return Ok(false) };
        for (index, (name, field)) in row.get_column_iter().enumerate() {
            match field {
                // An empty line is no row.
                Field::Null => push(text, index, if self.columns > 1 { "" } else { "NA" }),
                Field::Str(value) => push(text, index, value),
                Field::Bytes(value) => match std::str::from_utf8(value.data()) {
                    Ok(value) => push(text, index, value),
                    Err(_) => {
                        return Err(format!(
                            "has a column `{name}` of bytes that are no text; leave it out"
                        ));
                    }
                },
                other => push(text, index, &other.to_string()),
            }
        }
        text.push('\n');
        Ok(true)
    }
}

impl Read for ParquetText {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.read == self.text.len() {
            let mut text = std::mem::take(&mut self.text);
            text.clear();
            self.read = 0;
            while text.len() < AT_ONCE && self.push_row(&mut text).map_err(io::Error::other)? {}
            self.text = text;
        }
        let left = &self.text.as_bytes()[self.read..];
        let count = left.len().min(into.len());
        into[..count].copy_from_slice(&left[..count]);
        self.read += count;
        Ok(count)
    }
}

fn damaged(error: ParquetError) -> String {
    format!("is a damaged Parquet file, or of a kind that is not read: {error}")
}

/// The bytes of a table: columns `id` and `label`, which may be missing, then one of numbers for each of `names`;
/// `[row][column]`.
///
/// # Errors
/// A name that no column can have.
pub fn table(
    (ids, labels): (&[String], &[Option<&str>]),
    names: &[String],
    rows: &[Vec<f64>],
) -> Result<Vec<u8>, ParquetError> {
    let text = |name, repetition| {
        let column = Type::primitive_type_builder(name, Physical::BYTE_ARRAY);
        column.with_converted_type(ConvertedType::UTF8).with_repetition(repetition).build()
    };
    let mut columns = vec![
        Arc::new(text("id", Repetition::REQUIRED)?),
        Arc::new(text("label", Repetition::OPTIONAL)?),
    ];
    for name in names {
        let column = Type::primitive_type_builder(name, Physical::DOUBLE);
        columns.push(Arc::new(column.with_repetition(Repetition::REQUIRED).build()?));
    }
    let schema = Type::group_type_builder("table").with_fields(columns).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    let of_text = |text: &str| ByteArray::from(text.as_bytes().to_vec());
    let mut place = 0;
    while let Some(mut column) = group.next_column()? {
        match place {
            0 => {
                let ids: Vec<ByteArray> = ids.iter().map(|id| of_text(id)).collect();
                column.typed::<ByteArrayType>().write_batch(&ids, None, None)?;
            }
            1 => {
                let there: Vec<i16> =
                    labels.iter().map(|label| i16::from(label.is_some())).collect();
                let known: Vec<ByteArray> =
                    labels.iter().flatten().map(|label| of_text(label)).collect();
                column.typed::<ByteArrayType>().write_batch(&known, Some(&there), None)?;
            }
            _ => {
                let values: Vec<f64> = rows.iter().map(|row| row[place - 2]).collect();
                column.typed::<DoubleType>().write_batch(&values, None, None)?;
            }
        }
        column.close()?;
        place += 1;
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
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
    fn a_table_is_read_as_it_was_written() {
        let rows = vec![vec![0.1, -2.5e-7], vec![3.0, 1e300]];
        let names = ["a.mean[0][1]".to_owned(), "b,c".to_owned()];
        let ids = ["one".to_owned(), "two".to_owned()];
        let bytes = super::table((&ids, &[Some("y"), None]), &names, &rows).expect("a table");
        let text = super::text(&bytes).expect("a table");
        assert!(text.starts_with("id,label,a.mean[0][1],\"b,c\"\none,y,"), "{text}");
        let fields = text.lines().skip(1).flat_map(|line| line.split(',').skip(2));
        let numbers: Vec<f64> = fields.map(|field| field.parse().expect("a number")).collect();
        assert_eq!(numbers, rows.concat());
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
