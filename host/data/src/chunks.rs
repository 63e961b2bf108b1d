//! A table of series that memory need not hold: read a chunk of whole series at a time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::assemble::assemble;
use super::dataset::{Clock, Dataset, Kind};
use super::encoding::Encoding;
use super::error::{DataError, wrong_kind};
use super::file_text::Text;
use super::layout::ReadOptions;
use super::place::Place;
use super::read::{detect, under};
use super::resample::Resample;
use super::reservoir::Reservoir;
use super::seen::SeenNames;
use super::series_table::{self, Columns};
use super::table::Table;
use super::{FastaLabel, Period};
use crate::words::shorten;

/// Bytes of text of a chunk, unless one series is longer.
const CHUNK: usize = 1 << 20;

/// Lines at the beginning by which the roles of columns are found, at the least.
const HEAD_LINES: usize = 4096;

/// A table of one sample per line that is read a chunk of whole series at a time, as often as it is needed.
///
/// Of the file [`open`](Self::open) keeps counts, classes and a sample of its series, drawn at random. RAM: some 8 MB for the
/// names, four times the text of a chunk of 1 MB, or of the longest series, and the sample; it does not grow with the number of
/// series. The columns' roles are found in the first 4 096 lines.
///
/// It takes what [`Dataset::read`] takes of one table of channels whose column of series parts them: text in UTF-8, gzipped or
/// not, and Parquet where the feature is on.
#[derive(Debug)]
pub struct LargeTable {
    file: TableFile,
    options: ReadOptions,
    counts: TableCounts,
    sample: Dataset,
}

/// The file of a table.
#[derive(Debug)]
struct TableFile {
    path: PathBuf,
    name: String,
    /// The text in which the roles of the columns are found.
    head: Vec<u8>,
    /// Bytes of text of a chunk.
    chunk: usize,
}

/// Counts of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableCounts {
    /// Number of series.
    pub series: usize,
    /// Number of samples, missing ones included.
    pub samples: usize,
    /// Number of missing samples among them.
    pub missing: usize,
    /// Number of series of each class, and of those without one under `None`.
    pub of_class: BTreeMap<Option<String>, usize>,
    /// CRC-32 of the text, by which a change between two readings is found.
    checksum: u32,
}

impl LargeTable {
    /// Series of a sample, by default.
    pub const SAMPLE: usize = 4096;

    /// Reads a table once, and keeps a random sample of `sample` of its series, in order.
    ///
    /// # Errors
    /// [`DataError`] naming file, line and column, as [`Dataset::read`] has it; [`DataError::NoChunks`] of a file that is not
    /// read so.
    pub fn open(
        path: impl AsRef<Path>,
        options: &ReadOptions,
        sample: usize,
    ) -> Result<Self, DataError> {
        Self::open_by(path.as_ref(), options, sample, CHUNK)
    }

    /// [`open`](Self::open), with chunks of some bytes.
    fn open_by(
        path: &Path,
        options: &ReadOptions,
        sample: usize,
        chunk: usize,
    ) -> Result<Self, DataError> {
        let path = path.to_owned();
        let name = path.display().to_string();
        check_options(&name, options)?;
        let mut text = Text::open(&path, &name)?;
        let mut lines = 0;
        while !text.ended && (lines < HEAD_LINES || text.buffer.len() < CHUNK) {
            let before = text.buffer.len();
            text.fill(before + CHUNK)?;
            lines += text.buffer[before..].iter().filter(|&&byte| byte == b'\n').count();
        }
        let last = text.buffer.iter().rposition(|&byte| byte == b'\n');
        let head = match (text.ended, last) {
            (false, Some(last)) => text.buffer[..=last].to_vec(),
            _ => text.buffer,
        };
        let no = |what: &str| DataError::NoChunks { file: name.clone(), what: what.to_owned() };
        if head.trim_ascii().is_empty() {
            return Err(DataError::Empty { file: name.clone() });
        }
        let layout = options.layout.map_or_else(|| detect(&name, &head, &options.source), Ok)?;
        if *layout != series_table::LAYOUT {
            let what = match layout.of_symbols {
                true => "strings of symbols, which are read whole; read it so",
                false => {
                    "not readable in chunks; write a table with one sample per line and a column of series, as \
                     convert does"
                }
            };
            return Err(no(&format!("its layout, {}, is {what}", layout.name)));
        }
        if matches!(options.kind, Some(Kind::Symbols(_))) {
            return Err(wrong_kind(&name, "real channels", "strings of symbols"));
        }
        let file = TableFile { path, name, head, chunk };
        let (counts, sample) = file.survey(options, sample)?;
        Ok(Self { file, options: options.clone(), counts, sample })
    }

    /// The sample: some of the series, in the order of the table, and all classes.
    pub fn sample(&self) -> &Dataset {
        &self.sample
    }

    /// The sample alone.
    pub fn into_sample(self) -> Dataset {
        self.sample
    }

    /// Counts of the whole table.
    pub fn counts(&self) -> &TableCounts {
        &self.counts
    }

    /// Reads the table again: data sets of some whole series each, in order, with the classes and the kind of the
    /// [sample](Self::sample).
    ///
    /// # Errors
    /// [`DataError::Io`]. Of a file that has changed since it was opened the last item is [`DataError::NoChunks`].
    pub fn chunks(&self) -> Result<impl Iterator<Item = Result<Dataset, DataError>>, DataError> {
        let mut chunks = Chunks::new(&self.file, &self.options)?;
        let classes = Some(self.sample.classes().to_vec());
        let kind = Some(self.sample.kind().clone());
        let own = ReadOptions { classes, kind, ..self.options.clone() };
        let mut done = false;
        Ok(std::iter::from_fn(move || {
            if std::mem::replace(&mut done, true) {
                return None;
            }
            match chunks.read(&own) {
                Ok(Some(data)) => {
                    done = false;
                    Some(Ok(data.with_checksum(self.counts.checksum)))
                }
                Ok(None) if chunks.text.checksum() == self.counts.checksum => None,
                Ok(None) => {
                    let what =
                        "it changed after it was first read; run the command again".to_owned();
                    Some(Err(DataError::NoChunks { file: self.file.name.clone(), what }))
                }
                Err(error) => Some(Err(error)),
            }
        }))
    }
}

impl TableFile {
    /// Counts of the whole, and a sample.
    fn survey(
        &self,
        options: &ReadOptions,
        sample: usize,
    ) -> Result<(TableCounts, Dataset), DataError> {
        let mut counts = TableCounts::default();
        let mut drawn = Reservoir::new(sample.max(1));
        let mut seen = SeenNames::new();
        let mut own = options.clone();
        let mut chunks = Chunks::new(self, options)?;
        // A channel that one chunk lacks may be in others.
        own.kind = Some(Kind::Channels(chunks.columns.names.clone()));
        let (mut clock, mut first) = (Clock::default(), None);
        while let Some(data) = chunks.read(&own)? {
            data.check_one_rate()?;
            if own.period.is_none() {
                let all: Vec<usize> = (0..data.series().len()).collect();
                own.period = Period::of(&data, &all);
            }
            counts.series += data.series().len();
            counts.samples += data.observations();
            counts.missing += data.missing().observations;
            clock = data.clock();
            for one in data.series() {
                seen.add(&one.id);
                let label = one.label.map(|label| data.classes()[label].as_str());
                match counts.of_class.get_mut(&label.map(str::to_owned)) {
                    Some(count) => *count += 1,
                    None => drop(counts.of_class.insert(label.map(str::to_owned), 1)),
                }
                drawn.offer(one, label);
            }
            first.get_or_insert_with(|| data.without_series());
        }
        counts.checksum = chunks.text.checksum();
        let Some(first) = first else {
            return Err(DataError::HeaderOnly { file: self.name.clone() });
        };
        if let Some(suspects) = seen.suspects(&self.name)? {
            check_names(&mut Chunks::new(self, options)?, &own, suspects)?;
        }
        let classes = options
            .classes
            .clone()
            .unwrap_or_else(|| counts.of_class.keys().flatten().cloned().collect());
        let series = drawn.series(&classes);
        let kind = first.kind().clone();
        let sample =
            Dataset::new(self.name.clone(), kind, classes, first.columns().to_vec(), series)?;
        let sample = sample.with_checksum_of(&first).with_checksum(counts.checksum);
        let sample = sample.with_clock(clock);
        if options.kind.is_none() {
            sample.check_channels()?;
        }
        Ok((counts, sample))
    }
}

/// Refuses options that need all of the data at a time.
fn check_options(name: &str, options: &ReadOptions) -> Result<(), DataError> {
    let source = &options.source;
    let needs = [
        (name == "-", "standard input can be read only once; write it to a file"),
        (
            !matches!(source.encoding, None | Some(Encoding::Utf8)),
            "its text must be in UTF-8; convert it",
        ),
        (source.segments, "segments that end where the label changes need all rows at once"),
        (source.annotations.is_some(), "labels by time need whole files"),
        (source.names.is_some(), "labels by names of files need several files"),
        (source.events.is_some(), "tables of events need all rows at once"),
        (options.fasta_label != FastaLabel::None, "FASTA is read whole"),
        (
            options.resample == Some(Resample::Lowest),
            "finding the lowest rate needs all rows at once; give the rate to resample to",
        ),
    ];
    match needs.iter().find(|(is_so, _)| *is_so) {
        Some((_, what)) => {
            Err(DataError::NoChunks { file: name.to_owned(), what: (*what).to_owned() })
        }
        None => Ok(()),
    }
}

/// Refuses a name that comes back, of those that may.
fn check_names(
    chunks: &mut Chunks<'_>,
    options: &ReadOptions,
    mut suspects: BTreeMap<String, u64>,
) -> Result<(), DataError> {
    while let Some(data) = chunks.read(options)? {
        for one in data.series() {
            let Some(first) = suspects.get_mut(&one.id) else { continue };
            if *first > 0 {
                let place =
                    Place { column: chunks.series_column(), ..Place::line(chunks.name, one.line) };
                let series = shorten(&one.id);
                return Err(DataError::SeriesSplit { place: place.into(), series, first: *first });
            }
            *first = one.line;
        }
    }
    Ok(())
}

/// One reading of a table.
struct Chunks<'t> {
    name: &'t str,
    text: Text,
    table: Table<'t>,
    columns: Columns,
    /// Column of the series.
    series: usize,
    /// The line where the text that is left begins.
    line: u64,
    /// Bytes of text of a chunk.
    chunk: usize,
}

impl<'t> Chunks<'t> {
    fn new(file: &'t TableFile, options: &ReadOptions) -> Result<Self, DataError> {
        let TableFile { path, name, head, chunk } = file;
        let no = |what: &str| DataError::NoChunks { file: name.to_owned(), what: what.to_owned() };
        let (mut table, columns) = series_table::open(name, head, options)?;
        let Some(series) = columns.series else {
            return Err(no("no column names the series; add one, or name it"));
        };
        if columns.take_turns {
            return Err(no("the rows of several series are interleaved; sort them by series"));
        }
        let Some((begin, line)) = table.first_row()? else {
            return Err(DataError::HeaderOnly { file: name.to_owned() });
        };
        let mut text = Text::open(path, name)?;
        text.fill(begin)?;
        text.take(begin);
        Ok(Self { name, text, table, columns, series, line, chunk: *chunk })
    }

    /// Number and name of the column of the series.
    fn series_column(&self) -> Option<(usize, String)> {
        Some((self.table.number(self.series), self.table.header()[self.series].clone()))
    }

    /// The next series; `None` at the end.
    fn read(&mut self, options: &ReadOptions) -> Result<Option<Dataset>, DataError> {
        let mut wanted = self.chunk;
        loop {
            self.text.fill(wanted)?;
            if self.text.buffer.is_empty() {
                return Ok(None);
            }
            let (end, next) = match self.text.ended && self.text.buffer.len() <= wanted {
                true => (self.text.buffer.len(), self.line),
                false => {
                    let rows = self.table.with_rows(&self.text.buffer, self.line);
                    match rows.last_change(self.series)? {
                        Some(change) => change,
                        // A series that is longer.
                        None if self.text.ended => (self.text.buffer.len(), self.line),
                        None => {
                            wanted = wanted.saturating_mul(2);
                            continue;
                        }
                    }
                }
            };
            let rows = self.table.with_rows(&self.text.buffer[..end], self.line);
            let part = series_table::read_rows(rows, &self.columns, options, false)?;
            self.text.take(end);
            self.line = next;
            // Blank lines, and headers where files were joined.
            if part.drafts.is_empty() {
                continue;
            }
            return under(assemble(vec![part], options)?, options).map(Some);
        }
    }
}

#[cfg(test)]
mod tests;
