//! Detection of files without readable data: by their first bytes, or by their shape.

use serde_json::Value;

use super::dialect::{Dialect, are_thousands, first_line};
use super::error::DataError;
use super::roles::may_be_samples;
use super::source::Source;
use super::table::Table;
use super::values::finite;
use super::zip;
use crate::words::shorten;

/// First bytes, the format that begins so, and the remedy.
const MAGIC: [(&[u8], &str, &str); 22] = [
    (b"%PDF-", "a PDF document", EXPORT),
    (
        b"\x89HDF\r\n\x1a\n",
        "an HDF5 file",
        "write its arrays as .npy or .npz, or as a table, with h5py or MATLAB",
    ),
    (
        b"MATLAB 5.0 MAT-file",
        "a MATLAB file",
        "write its arrays as CSV with writematrix, or as .npz with scipy.io.loadmat",
    ),
    (
        b"PAR1",
        "a Parquet file",
        "build fishweir with the feature `parquet`, or write it as CSV, for example with pandas: read_parquet and to_csv",
    ),
    (
        b"ARROW1",
        "a Feather file",
        "write it as CSV, for example with pandas: read_feather and to_csv",
    ),
    (b"\xD0\xCF\x11\xE0", "an old Excel or Office file", EXPORT),
    (b"SQLite format 3", "an SQLite database", "write the table as CSV: sqlite3 -header -csv"),
    (b"BZh", "a bzip2 archive", "unpack it first: bunzip2"),
    (b"\xFD7zXZ", "an xz archive", "unpack it first: unxz"),
    (b"\x28\xB5\x2F\xFD", "a Zstandard archive", "unpack it first: unzstd"),
    (b"7z\xBC\xAF", "a 7-Zip archive", "unpack it first"),
    (b"Rar!", "a RAR archive", "unpack it first"),
    (b"\x89PNG", "a picture", "name the file of the samples"),
    (b"\xFF\xD8\xFF", "a picture", "name the file of the samples"),
    (b"fLaC", "a FLAC sound file", "write it as WAV, for example with ffmpeg"),
    (b"ID3", "an MP3 sound file", "write it as WAV, for example with ffmpeg"),
    (b"OggS", "an Ogg sound file", "write it as WAV, for example with ffmpeg"),
    (b"\x80\x02", "a Python pickle", PICKLE),
    (b"\x80\x03", "a Python pickle", PICKLE),
    (b"\x80\x04", "a Python pickle", PICKLE),
    (b"\x80\x05", "a Python pickle", PICKLE),
    (b"<", "HTML or XML", "export the samples as CSV"),
];

const EXPORT: &str = "export the table as CSV and name that";

const PICKLE: &str =
    "reading a pickle runs code; save the arrays as .npy or .npz, or a frame with to_csv";

/// Detects the format of a file, as the error that refuses it; `None` if it is unknown.
pub(super) fn other_format(name: &str, bytes: &[u8]) -> Option<DataError> {
    let error = |what: String, remedy: &str| {
        Some(DataError::OtherFormat { file: name.to_owned(), what, remedy: remedy.to_owned() })
    };
    if bytes.starts_with(b"PK\x03\x04") {
        let names = zip::names(bytes).unwrap_or_default();
        let has = |part: &str| names.iter().any(|name| name.starts_with(part));
        return match (has("xl/"), has("word/"), has("content.xml")) {
            (true, ..) => error("an Excel workbook".into(), EXPORT),
            (_, true, _) => error("a Word document".into(), EXPORT),
            (.., true) => error("an OpenDocument file".into(), EXPORT),
            _ if names.is_empty() => {
                error("a truncated or damaged zip archive".into(), "copy it again")
            }
            _ => error(
                format!("a zip archive of {}", shorten(&names.join(", "))),
                "unpack it and name the folder",
            ),
        };
    }
    if let Some((_, what, remedy)) = MAGIC.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        return error((*what).to_owned(), remedy);
    }
    if let Some((_, what, remedy)) = TEXTS.iter().find(|(looks_so, ..)| looks_so(bytes)) {
        return error((*what).to_owned(), remedy);
    }
    let text = bytes.trim_ascii_start();
    if !matches!(text.first(), Some(b'{' | b'[')) {
        return None;
    }
    if let Some(error) = no_table(name, bytes) {
        return Some(error);
    }
    let value: Value = serde_json::from_slice(text).ok()?;
    let first = match &value {
        Value::Array(list) => list.first().cloned().unwrap_or_default(),
        other => other.clone(),
    };
    let keys = first.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>().join(", "));
    let is_of = |key: &str| first.get(key).is_some();
    match (keys, &value) {
        (Some(_), Value::Array(_)) if is_of("sensor") && is_of("time") => error(
            "a recording of Sensor Logger in JSON".into(),
            "export it as CSV, and name the folder",
        ),
        (Some(keys), Value::Array(list)) => error(
            format!("JSON, a list of {} objects with {}", list.len(), shorten(&keys)),
            "write it as CSV, a row per object",
        ),
        (Some(keys), _) => error(
            format!("JSON with {}", shorten(&keys)),
            "a recording of Edge Impulse has `payload`; write others as CSV",
        ),
        (None, _) => error("JSON, a list of values".into(), "write it as CSV, or as .npy"),
    }
}

/// Recognition of a text, its kind, and the remedy.
type KnownText = (fn(&[u8]) -> bool, &'static str, &'static str);

/// Texts of other purposes: their recognition, the format, and the remedy.
const TEXTS: [KnownText; 3] = [
    (
        |text| begins(text, b"@relation") || begins(text, b"@attribute"),
        "ARFF, a table of records",
        "`network` reads it; write series as .ts, or as a table with a sample per line",
    ),
    (
        |text| {
            text.starts_with(b"@")
                && text
                    .split(|&byte| byte == b'\n')
                    .nth(2)
                    .is_some_and(|line| line.starts_with(b"+"))
        },
        "FASTQ",
        "write it as FASTA, for example with seqtk seq -a",
    ),
    (
        |text| begins(text, b"network ") && text.contains(&b'{'),
        "a Bayesian network (BIF)",
        "name the data instead",
    ),
];

/// Returns whether a text begins with a word in small letters, in any case, after comments and blank lines.
fn begins(text: &[u8], word: &[u8]) -> bool {
    let is_comment = |line: &&[u8]| {
        line.is_empty() || [&b"%"[..], b"//", b"/*"].iter().any(|mark| line.starts_with(mark))
    };
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !is_comment(line)).unwrap_or_default();
    first.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// The refusal of a text that looks like a table and is none: a JSON object in each line, Markdown, an archive. `None` of others.
pub(super) fn no_table(name: &str, text: &[u8]) -> Option<DataError> {
    let error = |what: String, remedy: &str| {
        Some(DataError::OtherFormat { file: name.to_owned(), what, remedy: remedy.to_owned() })
    };
    if text.get(257..262) == Some(b"ustar") {
        return error("a tar archive".into(), "unpack it and name the folder");
    }
    let line = first_line(text);
    let rest = text.get(line.len()..).unwrap_or_default();
    if line.starts_with(b"|") {
        let rule = first_line(rest).trim_ascii();
        let is_rule = rule.contains(&b'-') && rule.iter().all(|byte| b"|-: ".contains(byte));
        return is_rule.then(|| error("a table of Markdown".into(), "write it as CSV"))?;
    }
    if !line.starts_with(b"{") || rest.trim_ascii().is_empty() {
        return None;
    }
    let value: Value = serde_json::from_slice(line).ok()?;
    let keys = value.as_object()?.keys().cloned().collect::<Vec<_>>().join(", ");
    error(
        format!("JSON lines with {}", shorten(&keys)),
        "write it as CSV, for example with pandas: read_json(FILE, lines=True) and to_csv",
    )
}

/// Returns whether a text is lines of equally many fields, two or more.
pub(super) fn is_table(text: &[u8], source: &Source) -> bool {
    let dialect = Dialect::of(text, source);
    let (names, rows) = (dialect.first_row(text), dialect.rows(text));
    names.len() > 1 && !rows.is_empty() && rows.iter().all(|row| row.len() == names.len())
}

/// The first number with a comma of a table that is one only if it is known what commas in numbers mean.
pub(super) fn ambiguous(name: &str, text: &[u8], source: &Source) -> Option<DataError> {
    if source.decimal.is_some() {
        return None;
    }
    let decimal = Source { decimal: Some(','), ..source.clone() };
    if !may_be_samples(text, &decimal) {
        return None;
    }
    let mut table = Table::open_as(name, text, source).ok()?;
    while table.next_row().ok()? {
        for column in 0..table.header().len() {
            let field = table.field(column).ok()?;
            if field.contains(',') && are_thousands(field) {
                let (place, text) = (table.place(column), shorten(field));
                return Some(DataError::AmbiguousComma { place, text });
            }
        }
    }
    None
}

/// Reason why a text fits no layout; its first line names columns, or looks like data.
pub(super) fn lacks(text: &[u8], source: &Source) -> Option<String> {
    let dialect = Dialect::of(text, source);
    let names = dialect.first_row(text);
    let rows = dialect.rows(text);
    let alike = !rows.is_empty() && rows.iter().all(|row| row.len() == names.len());
    if names.len() < 2 || !alike {
        return None;
    }
    // Columns of columns, as pandas writes what groupby().agg() gives.
    let nested = names[0].is_empty() && rows[0][0].is_empty();
    // As a serial plotter takes them.
    let named = |field: &&str| {
        field
            .split_once(':')
            .is_some_and(|(name, value)| finite(name).is_none() && finite(value.trim()).is_some())
    };
    if names.iter().all(named) {
        let what = "each value is preceded by its name; write the names once, as a header, and the time of each row";
        return Some(what.into());
    }
    Some(match (nested, dialect.header) {
        (true, _) => "it has a header of several lines, as pandas writes a table of features (groupby and agg); give the samples \
                      themselves, one per row, or to_csv after reset_index"
            .into(),
        (_, false) => format!(
            "its {} columns have no names: give those of times, labels and series by number",
            names.len()
        ),
        _ => format!(
            "none of its columns, {}, is known as time (t, time, timestamp), name of a series (series, recording, \
             id) or strings (sequence): name the column, or write a series per line (label,0,1,2,...). If the \
             lines are samples in their order, name the format `series`; otherwise they are records, not series",
            shorten(&names.join(", "))
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::zip::stored;
    use crate::{DataError, Dataset, ReadOptions};

    #[test]
    fn files_are_called_what_they_are() {
        let workbook = stored(&[("[Content_Types].xml", b""), ("xl/workbook.xml", b"")]);
        let archive = stored(&[("a/x.csv", b"t,x\n0,1\n")]);
        for (bytes, what, remedy) in [
            (workbook.as_slice(), "Excel workbook", "CSV"),
            (&archive, "zip archive of a/x.csv", "unpack"),
            (b"%PDF-1.7\n", "PDF", "CSV"),
            (b"\x89HDF\r\n\x1a\n\0\0", "HDF5", "h5py"),
            (b"MATLAB 5.0 MAT-file, Platform", "MATLAB", "scipy"),
            (b"\x80\x04\x95\0", "pickle", ".npy"),
            (b"<!doctype html>", "HTML", "CSV"),
            (b"[{\"sensor\":\"Accelerometer\",\"time\":\"1\"}]", "Sensor Logger", "folder"),
            (b"{\"features\":[1,2],\"kind\":3}", "JSON with features, kind", "Edge Impulse"),
            (b"[1,2]", "list of values", ".npy"),
            (b"{\"t\":0,\"x\":1}\n{\"t\":1,\"x\":2}\n", "JSON lines with t, x", "lines=True"),
            (b"| t | x |\n|---|--:|\n| 0 | 1 |\n", "Markdown", "CSV"),
            (b"% by hand\n\n@RELATION a\n@data\n", "ARFF", ".ts"),
            (b"@r1\nACGT\n+\nIIII\n", "FASTQ", "FASTA"),
            (b"// by hand\nnetwork rain {\n}\n", "Bayesian network", "data"),
        ] {
            let error = Dataset::parse("x", bytes, &ReadOptions::default()).expect_err(what);
            assert!(matches!(error, DataError::OtherFormat { .. }), "{what}: {error}");
            let told = error.to_string();
            assert!(told.contains(what) && told.contains(remedy), "{told}");
        }
    }

    #[test]
    fn what_a_table_lacks_is_said_in_its_own_names() {
        for (text, told) in [
            ("ax,ay,mood\n1,2,good\n3,4,bad\n", "ax, ay, mood"),
            (",,x,x\n,,mean,std\nseries,label,,\n0,a,1,2\n", "table of features"),
            ("1.5,2.5,1\n1.25,2,2\n1,3,1\n", "no names"),
            ("x:1.5,y:2\nx:1.25,y:2\n", "preceded by its name"),
        ] {
            let error =
                Dataset::parse("x", text.as_bytes(), &ReadOptions::default()).expect_err(text);
            assert!(error.to_string().contains(told), "{error}");
        }
    }
}
