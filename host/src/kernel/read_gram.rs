//! Gram matrices made elsewhere, or written by [`write_gram`](super::write_gram).

use std::path::Path;

use super::Gram;
use crate::files::{self, FileError};
use crate::words::{counted, grouped};

/// A Gram matrix as a file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadGram {
    /// The matrix.
    pub gram: Gram,
    /// The items' names, where the file has them.
    pub ids: Option<Vec<String>>,
    /// The items' labels, where the file has them; empty for one without.
    pub labels: Option<Vec<String>>,
}

/// Reason why no matrix was read.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum ReadGramError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line of text that does not belong there.
    #[error("{file}, line {line}: {what}")]
    #[strum(serialize = "bad-matrix-line")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// Fault, and the expected content.
        what: String,
    },
    /// The whole is no matrix of a kernel.
    #[error("{file}: {what}")]
    #[strum(serialize = "bad-matrix")]
    Matrix {
        /// The file.
        file: String,
        /// Fault of the entry.
        what: String,
    },
}

crate::kinds!(ReadGramError,
    Self::File(error) => error,
);

/// Largest difference of two mirrored entries, relative to the largest on the diagonal.
///
/// Other programs round each by itself, and to a few digits.
const ASYMMETRY: f64 = 1e-6;

/// Items at most: the matrix takes 800 MB.
const ITEMS_AT_MOST: usize = 10_000;

/// Reads a matrix of all pairs: comma-separated numbers, with the names that
/// [`GramFormat::Csv`](super::GramFormat::Csv) has or without any, or NumPy's `.npy` of `f64` in rows. Of
/// two entries that mirror each other the mean is taken.
///
/// # Errors
/// [`ReadGramError`] naming the file, and the line or the pair that is wrong.
pub fn read_gram(path: &Path) -> Result<ReadGram, ReadGramError> {
    parse_gram(&path.display().to_string(), &files::read(path)?)
}

/// Parses bytes in memory as [`read_gram`] parses a file; `file` is for messages.
///
/// # Errors
/// As [`read_gram`].
pub fn parse_gram(file: &str, bytes: &[u8]) -> Result<ReadGram, ReadGramError> {
    let of_matrix = |what: String| ReadGramError::Matrix { file: file.to_owned(), what };
    let read = if bytes.starts_with(NPY) {
        let rows = npy(bytes).map_err(of_matrix)?;
        Text { rows, ids: None, labels: None }
    } else {
        text(file, bytes)?
    };
    let gram = symmetric(&read.rows).map_err(of_matrix)?;
    Ok(ReadGram { gram, ids: read.ids, labels: read.labels })
}

struct Text {
    rows: Vec<Vec<f64>>,
    ids: Option<Vec<String>>,
    labels: Option<Vec<String>>,
}

fn text(file: &str, bytes: &[u8]) -> Result<Text, ReadGramError> {
    let wrong = |line: u64, what: String| ReadGramError::Line { file: file.to_owned(), line, what };
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let mut read = Text { rows: Vec::new(), ids: None, labels: None };
    // Names come before the numbers: a number of columns, and the header's names of the items.
    let mut heads: Option<Vec<String>> = None;
    for (index, record) in reader.records().enumerate() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(index as u64 + 1, csv::Position::line);
            wrong(line, "is not UTF-8 text; give a table of numbers, or .npy".into())
        })?;
        let line = record.position().map_or(index as u64 + 1, csv::Position::line);
        if index == 0 && record.get(0) == Some("id") && record.get(1) == Some("label") {
            heads = Some(record.iter().skip(2).map(str::to_owned).collect());
            (read.ids, read.labels) = (Some(Vec::new()), Some(Vec::new()));
            continue;
        }
        let named = if heads.is_some() { 2 } else { 0 };
        if let (Some(ids), Some(labels)) = (&mut read.ids, &mut read.labels) {
            ids.push(record.get(0).unwrap_or_default().to_owned());
            labels.push(record.get(1).unwrap_or_default().to_owned());
        }
        let number = |(column, field): (usize, &str)| {
            let value = field.trim().parse::<f64>().ok().filter(|value| value.is_finite());
            let column = column + 1;
            value.ok_or_else(|| wrong(line, format!("column {column}: `{field}` is not a number")))
        };
        let fields = record.iter().enumerate().skip(named);
        let row: Vec<f64> = fields.map(number).collect::<Result<_, _>>()?;
        let first = match &heads {
            Some(heads) => heads.len(),
            None => read.rows.first().map_or(row.len(), Vec::len),
        };
        if row.len() != first {
            let found = row.len();
            return Err(wrong(line, format!("{found} numbers, and {first} are needed")));
        }
        read.rows.push(row);
        if read.rows.len() > first {
            return Err(wrong(line, format!("one row more than the {first} columns")));
        }
    }
    if let (Some(heads), Some(ids)) = (heads, &read.ids)
        && let Some(row) = ids.iter().zip(&heads).position(|(row, column)| row != column)
    {
        let (row, column) = (&ids[row], &heads[row]);
        let what = format!(
            "row `{row}` is at the place of column `{column}`: rows and columns must have the same \
                        order"
        );
        return Err(ReadGramError::Matrix { file: file.to_owned(), what });
    }
    Ok(read)
}

const NPY: &[u8] = b"\x93NUMPY";

/// The rows of a NumPy file: magic string, version, the header's length, a Python dictionary, numbers.
fn npy(bytes: &[u8]) -> Result<Vec<Vec<f64>>, String> {
    let damaged = || "is truncated; save it again".to_owned();
    let (start, length) = match *bytes.get(6..12).ok_or_else(damaged)? {
        [1, _, low, high, ..] => (10, usize::from(u16::from_le_bytes([low, high]))),
        [_, _, a, b, c, d] => (12, u32::from_le_bytes([a, b, c, d]) as usize),
        _ => return Err(damaged()),
    };
    let end = start + length;
    let header = bytes.get(start..end).ok_or_else(damaged)?;
    let header = String::from_utf8_lossy(header).replace(' ', "");
    if !header.contains("'descr':'<f8'") || !header.contains("'fortran_order':False") {
        return Err(
            "is not an array of little-endian float64 in rows; save np.ascontiguousarray(k, '<f8')"
                .into(),
        );
    }
    let shape = header.split("'shape':(").nth(1).and_then(|rest| rest.split(')').next());
    let sides: Option<Vec<usize>> =
        shape.map(|shape| shape.split(',').filter_map(|side| side.parse().ok()).collect());
    let Some([rows, columns]) = sides.as_deref() else {
        return Err("has no two dimensions; save a matrix".into());
    };
    if rows != columns || *rows > ITEMS_AT_MOST {
        return Err(not_square(*rows, *columns));
    }
    let numbers = bytes.get(end..).unwrap_or_default();
    if numbers.len() != 8 * rows * columns {
        return Err(damaged());
    }
    let (numbers, _) = numbers.as_chunks::<8>();
    let row = |row: &[[u8; 8]]| row.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
    Ok(numbers.chunks((*columns).max(1)).map(row).collect())
}

fn not_square(rows: usize, columns: usize) -> String {
    format!(
        "{} and {}; a matrix of all pairs of at most {} items is needed",
        counted(rows, "row"),
        counted(columns, "column"),
        grouped(ITEMS_AT_MOST)
    )
}

fn symmetric(rows: &[Vec<f64>]) -> Result<Gram, String> {
    let items = rows.len();
    let columns = rows.first().map_or(0, Vec::len);
    if items == 0 || columns != items || items > ITEMS_AT_MOST {
        return Err(not_square(items, columns));
    }
    let largest = (0..items).map(|i| rows[i][i].abs()).fold(0.0, f64::max);
    for (i, row) in rows.iter().enumerate() {
        for (j, &value) in row.iter().enumerate() {
            let mirrored = rows[j][i];
            if !value.is_finite() {
                return Err(format!("the kernel of items {} and {} is not finite", i + 1, j + 1));
            }
            if (value - mirrored).abs() > ASYMMETRY * largest {
                return Err(format!(
                    "the kernel of items {} and {} is {value}, and {mirrored} with the items exchanged; a kernel is \
                     symmetric",
                    i + 1,
                    j + 1
                ));
            }
        }
    }
    Ok(Gram::from_fn(items, |i, j| 0.5 * (rows[i][j] + rows[j][i])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{GramFormat, Items, gram_bytes};

    fn gram() -> (Gram, Items) {
        let gram = Gram::from_fn(3, |i, j| (1.0 + i as f64).sqrt() / 3.0 + 1e-3 * j as f64);
        let ids = ["a", "b, c", "d"].map(str::to_owned).to_vec();
        let items = Items { ids, labels: vec![Some(0), None, Some(0)], classes: vec!["x".into()] };
        (gram, items)
    }

    #[test]
    fn what_was_written_is_read_to_the_bit() {
        let (gram, items) = gram();
        let csv = gram_bytes(GramFormat::Csv, &gram, &items).expect("finite");
        let read = parse_gram("k.csv", &csv).expect("a matrix");
        let labels = ["x", "", "x"].map(str::to_owned).to_vec();
        assert_eq!(
            read,
            ReadGram { gram: gram.clone(), ids: Some(items.ids.clone()), labels: Some(labels) }
        );
        let npy = gram_bytes(GramFormat::Npy, &gram, &items).expect("finite");
        let read = parse_gram("k.npy", &npy).expect("a matrix");
        assert_eq!(read, ReadGram { gram, ids: None, labels: None });
        let plain = parse_gram("k", b"1,0.5\n0.5,2\n").expect("a matrix");
        assert_eq!((plain.gram.get(0, 1), plain.gram.get(1, 1)), (0.5, 2.0));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |bytes: &[u8]| parse_gram("k.csv", bytes).expect_err("refused").to_string();
        for (bytes, wanted) in [
            (&b"1,0.5\n0.5\n"[..], "k.csv, line 2: 1 numbers, and 2 are needed"),
            (b"1,0.5\n0.5,x\n", "k.csv, line 2: column 2: `x` is not a number"),
            (b"1,0.5\n0.5,nan\n", "k.csv, line 2: column 2: `nan` is not a number"),
            (b"1,0.5\n0.5,1\n1,1\n", "k.csv, line 3: one row more than the 2 columns"),
            (b"1,0.5\n", "k.csv: 1 row and 2 columns;"),
            (b"", "k.csv: 0 rows and 0 columns;"),
            (b"1,0.5\n0.25,1\n", "k.csv: the kernel of items 1 and 2 is 0.5, and 0.25 with"),
            (b"id,label,a,b\na,,1,0\nc,,0,1\n", "k.csv: row `c` is at the place of column `b`"),
        ] {
            let error = refused(bytes);
            assert!(error.starts_with(wanted), "{error}");
        }
        let (gram, items) = gram();
        let npy = gram_bytes(GramFormat::Npy, &gram, &items).expect("finite");
        for length in 0..npy.len() {
            assert!(parse_gram("k", &npy[..length]).is_err(), "{length}");
        }
    }
}
