//! The table that takes are kept in.

use std::path::{Path, PathBuf};

use crate::data::internals::field;
use crate::data::{DataError, Dataset, ReadOptions};
use crate::files::{self, FileError};

use super::recording::Take;

/// Reason why a table takes no more takes.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum RecordingError {
    /// The file has other columns.
    #[error(
        "{}: the first line is `{found}`, but these takes have the columns `{expected}`; name another file",
        path.display()
    )]
    OtherColumns {
        /// The file.
        path: PathBuf,
        /// First line of the file.
        found: String,
        /// First line for the takes.
        expected: String,
    },
    /// No name for a column of whole series.
    #[error("column `{name}`: the name is empty or another column has it; choose another")]
    #[strum(serialize = "bad-column")]
    Column {
        /// Its name.
        name: String,
    },
    /// The file is no table of series.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

crate::kinds!(RecordingError,
    Self::Data(error) => error,
    Self::File(error) => error,
);

/// A table of takes, `series,<columns>,label,t [s],<channels>`, in which each take is a series: new, or with series that stay.
#[derive(Clone, Debug)]
pub struct RecordingFile {
    path: PathBuf,
    header: String,
    /// Fields of every line between series and time, each with a comma before it.
    about: String,
}

/// A take that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenTake {
    /// Name of its series.
    pub series: String,
    /// Sample period of the series that were there before, in seconds; `None` if there were none, or none that is known.
    pub period_before: Option<f64>,
}

impl RecordingFile {
    /// Names a file for takes of these channels. `columns` are names and values for whole series, as a subject; without a
    /// label the table has no such column.
    ///
    /// # Errors
    /// [`RecordingError`]: the file cannot be written, has other columns or is damaged.
    pub fn new(
        path: &Path,
        columns: &[(String, String)],
        label: Option<&str>,
        channels: &[String],
    ) -> Result<Self, RecordingError> {
        let names = columns.iter().map(|(name, _)| name.as_str());
        let names =
            ["series"].into_iter().chain(names).chain(label.map(|_| "label")).chain(["t [s]"]);
        let names: Vec<&str> = names.chain(channels.iter().map(String::as_str)).collect();
        for (index, name) in names.iter().enumerate() {
            let bad = name.trim().is_empty() || name.contains(char::is_control);
            if bad || names[..index].contains(name) {
                return Err(RecordingError::Column { name: (*name).to_owned() });
            }
        }
        let values = columns.iter().map(|(_, value)| value.as_str()).chain(label);
        let file = Self {
            path: path.to_owned(),
            header: names.iter().map(|name| field(name)).collect::<Vec<_>>().join(","),
            about: values.map(|value| format!(",{}", field(value))).collect(),
        };
        files::check_writable(path)?;
        file.there()?;
        Ok(file)
    }

    /// Adds a take as a series whose samples come every `period` seconds, from 0. The file is written whole or not at all.
    ///
    /// # Errors
    /// As [`new`](Self::new); what was there before stays.
    pub fn append(&self, take: &Take, period: f64) -> Result<WrittenTake, RecordingError> {
        use std::fmt::Write as _;
        let (mut text, before) = self.there()?;
        let taken = |name: &String| {
            before.as_ref().is_some_and(|data| data.series().iter().any(|one| one.id == *name))
        };
        let first = before.as_ref().map_or(0, |data| data.series().len()) + 1;
        let series = (first..).map(|number| format!("take{number}")).find(|name| !taken(name));
        let series = series.unwrap_or_default();
        if text.is_empty() {
            text = self.header.clone();
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        for (number, row) in take.rows().enumerate() {
            let _ = write!(text, "{series}{},{:.6}", self.about, number as f64 * period);
            for value in row {
                text.push(',');
                if !value.is_nan() {
                    let _ = write!(text, "{value}");
                }
            }
            text.push('\n');
        }
        files::write_whole(&self.path, text.as_bytes())?;
        let period_before = before.and_then(|data| {
            let all: Vec<usize> = (0..data.series().len()).collect();
            data.sample_period(&all, f64::INFINITY)
        });
        Ok(WrittenTake { series, period_before })
    }

    /// Text and data of the file; nothing where there is none, or an empty one.
    fn there(&self) -> Result<(String, Option<Dataset>), RecordingError> {
        if !self.path.exists() {
            return Ok((String::new(), None));
        }
        let bytes = files::read(&self.path)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let found = text.lines().next().unwrap_or_default();
        if text.is_empty() {
            return Ok((text, None));
        }
        if found != self.header {
            return Err(RecordingError::OtherColumns {
                path: self.path.clone(),
                found: found.chars().take(200).collect(),
                expected: self.header.clone(),
            });
        }
        if text.trim_end() == self.header {
            return Ok((text, None));
        }
        let data =
            Dataset::parse(&self.path.display().to_string(), &bytes, &ReadOptions::default())?;
        Ok((text, Some(data)))
    }
}
