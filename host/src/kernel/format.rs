//! Files of Gram matrices, written whole or not at all.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use super::{Gram, GramError};
use crate::files::{self, FileError};

/// The layout of a file with a Gram matrix. Numbers are written so that they read back to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GramFormat {
    /// A header `id,label,<id of item 1>,..,<id of item n>`, then a row per item; an unlabelled item
    /// has an empty label.
    Csv,
    /// NumPy's format, version 1: little-endian `f64`, shape `(n, n)`, C order; items have no names.
    Npy,
    /// LIBSVM's precomputed kernel, a line an item: `label 0:number 1:k_i1 .. n:k_in`. Items are
    /// numbered from 1 in the order of the data, labels are the number of the class from 1, and 0
    /// for an unlabelled item.
    LibSvm,
}

/// Names of the items of a Gram matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Items {
    /// Names of the items, in order.
    pub ids: Vec<String>,
    /// Classes of the items, indices into `classes`; `None` for an unlabelled item.
    pub labels: Vec<Option<usize>>,
    /// Names of the classes.
    pub classes: Vec<String>,
}

/// Reason why a Gram matrix was not written.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum FormatError {
    /// An entry is no number.
    #[error(transparent)]
    Gram(#[from] GramError),
    /// The numbers of names or labels differ from the number of items, or a label has no class.
    #[error("{ids} names and {labels} labels of {classes} classes for {items} items")]
    #[strum(serialize = "wrong-shape")]
    Items {
        /// Names given.
        ids: usize,
        /// Labels given.
        labels: usize,
        /// Classes given.
        classes: usize,
        /// Items of the matrix.
        items: usize,
    },
    /// Names of features that are not as many as the features of an item.
    #[error("{names} names for {features} features")]
    Names {
        /// Names given.
        names: usize,
        /// Features of an item.
        features: usize,
    },
    /// A feature is no number.
    #[error("item {item}: the feature {feature} is not finite")]
    NotFinite {
        /// Name of the item.
        item: String,
        /// Name of the feature.
        feature: String,
    },
    /// A build that writes no Parquet.
    #[error("Parquet needs a build with the feature `parquet`: write .csv or .npy")]
    NoParquet,
    /// The bytes could not be made.
    #[error("the Gram matrix cannot be encoded: {0}")]
    #[strum(serialize = "not-encoded")]
    Encode(#[from] io::Error),
    /// The file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

crate::kinds!(FormatError,
    Self::Gram(error) => error,
    Self::File(error) => error,
);

/// Writes a Gram matrix to a file, whole or not at all.
///
/// # Errors
/// [`FormatError`] naming the entry that is not finite, or the file.
pub fn write_gram(
    path: &Path,
    format: GramFormat,
    gram: &Gram,
    items: &Items,
) -> Result<(), FormatError> {
    Ok(files::write_whole(path, &gram_bytes(format, gram, items)?)?)
}

/// Returns the bytes that [`write_gram`] writes.
///
/// # Errors
/// [`FormatError`] naming the entry that is not finite.
pub fn gram_bytes(format: GramFormat, gram: &Gram, items: &Items) -> Result<Vec<u8>, FormatError> {
    gram.check()?;
    let known = |label: &Option<usize>| label.is_none_or(|label| label < items.classes.len());
    let (ids, labels) = (items.ids.len(), items.labels.len());
    if ids != gram.len() || labels != gram.len() || !items.labels.iter().all(known) {
        let (classes, items) = (items.classes.len(), gram.len());
        return Err(FormatError::Items { ids, labels, classes, items });
    }
    match format {
        GramFormat::Csv => csv_bytes(gram, items),
        GramFormat::Npy => Ok(npy_bytes([gram.len(); 2], gram.rows())),
        GramFormat::LibSvm => Ok(libsvm_text(gram, items).into_bytes()),
    }
}

fn csv_bytes(gram: &Gram, items: &Items) -> Result<Vec<u8>, FormatError> {
    table_bytes(&items.ids, gram.rows(), items)
}

/// A header `id,label` and the names of the columns, then a row per item.
pub(super) fn table_bytes<'r>(
    columns: &[String],
    rows: impl Iterator<Item = &'r [f64]>,
    items: &Items,
) -> Result<Vec<u8>, FormatError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let record = |writer: &mut csv::Writer<_>, fields: &mut dyn Iterator<Item = String>| {
        writer.write_record(fields).map_err(io::Error::from)
    };
    let heads = ["id", "label"].map(str::to_owned);
    record(&mut writer, &mut heads.into_iter().chain(columns.iter().cloned()))?;
    for ((row, id), label) in rows.zip(&items.ids).zip(&items.labels) {
        let label = label.map_or_else(String::new, |label| items.classes[label].clone());
        let names = [id.clone(), label];
        record(&mut writer, &mut names.into_iter().chain(row.iter().map(f64::to_string)))?;
    }
    Ok(writer.into_inner().map_err(csv::IntoInnerError::into_error)?)
}

/// Magic string, version, the header's length in two bytes, the header: a Python dictionary padded so
/// that the numbers begin at a multiple of 64.
pub(super) fn npy_bytes<'r>(
    [rows, columns]: [usize; 2],
    values: impl Iterator<Item = &'r [f64]>,
) -> Vec<u8> {
    const BEFORE: usize = 10;
    let header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    // A line's end behind the padding.
    let padded = (BEFORE + header.len() + 1).next_multiple_of(64) - BEFORE;
    let mut bytes = Vec::with_capacity(BEFORE + padded + 8 * rows * columns);
    bytes.extend_from_slice(b"\x93NUMPY\x01\x00");
    bytes.extend_from_slice(&(padded as u16).to_le_bytes());
    bytes.extend_from_slice(format!("{header:width$}\n", width = padded - 1).as_bytes());
    bytes.extend(values.flatten().flat_map(|value| value.to_le_bytes()));
    bytes
}

fn libsvm_text(gram: &Gram, items: &Items) -> String {
    let mut text = String::new();
    for (number, (row, label)) in (1..).zip(gram.rows().zip(&items.labels)) {
        let class = label.map_or(0, |label| label + 1);
        // Writing to a string cannot fail.
        let _ = write!(text, "{class} 0:{number}");
        for (column, value) in (1..).zip(row) {
            let _ = write!(text, " {column}:{value}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named() -> (Gram, Items) {
        let gram = Gram::from_fn(3, |i, j| (1.0 + i as f64).sqrt() / 3.0 - 1e-30 * j as f64);
        let items = Items {
            ids: ["a", "b, c", "d"].map(str::to_owned).to_vec(),
            labels: vec![Some(1), None, Some(0)],
            classes: ["no", "yes \"1\""].map(str::to_owned).to_vec(),
        };
        (gram, items)
    }

    fn text(format: GramFormat) -> String {
        let (gram, items) = named();
        String::from_utf8(gram_bytes(format, &gram, &items).expect("finite")).expect("text")
    }

    #[test]
    fn csv_reads_back_to_the_bit_with_its_names() {
        let (gram, items) = named();
        let text = text(GramFormat::Csv);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heads: Vec<&str> = reader.headers().expect("a header").iter().skip(2).collect();
        assert_eq!(heads, items.ids);
        let labels = ["yes \"1\"", "", "no"];
        for (i, record) in reader.records().enumerate() {
            let record = record.expect("a record");
            assert_eq!((&record[0], &record[1]), (items.ids[i].as_str(), labels[i]));
            let row: Vec<f64> =
                record.iter().skip(2).map(|k| k.parse().expect("a number")).collect();
            assert_eq!(row, gram.row(i));
        }
        assert_eq!(text.lines().count(), 4);
    }

    #[test]
    fn npy_reads_back_to_the_bit() {
        let (gram, items) = named();
        let bytes = gram_bytes(GramFormat::Npy, &gram, &items).expect("finite");
        // As `numpy.save` writes an array of ones of this shape, up to the first number.
        let header = b"\x93NUMPY\x01\x00\x76\x00\
            {'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }";
        let (head, numbers) = bytes.split_at(128);
        assert_eq!(&head[..header.len()], header);
        assert!(head[header.len()..127].iter().all(|&byte| byte == b' '));
        assert_eq!(head[127], b'\n');
        let (numbers, rest) = numbers.as_chunks::<8>();
        let values: Vec<f64> = numbers.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
        assert_eq!(values, gram.rows().flatten().copied().collect::<Vec<f64>>());
        assert!(rest.is_empty());
    }

    #[test]
    fn libsvm_has_numbered_rows_and_numbered_classes() {
        let (gram, _) = named();
        let text = text(GramFormat::LibSvm);
        for (i, (line, class)) in text.lines().zip(["2", "0", "1"]).enumerate() {
            let mut words = line.split(' ');
            assert_eq!(words.next(), Some(class));
            assert_eq!(words.next(), Some(format!("0:{}", i + 1).as_str()));
            for (j, word) in words.enumerate() {
                let (column, value) = word.split_once(':').expect("index:value");
                assert_eq!(column, (j + 1).to_string());
                assert_eq!(value.parse(), Ok(gram.get(i, j)));
            }
        }
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (gram, mut items) = named();
        items.labels[0] = Some(2);
        let refused = |gram: &Gram, items: &Items| {
            gram_bytes(GramFormat::Csv, gram, items).expect_err("refused").to_string()
        };
        assert_eq!(refused(&gram, &items), "3 names and 3 labels of 2 classes for 3 items");
        let (gram, items) = named();
        let gram = gram.map(|k| k / 0.0);
        assert!(refused(&gram, &items).starts_with("the kernel of items 0 and 0 is not finite"));
    }
}
