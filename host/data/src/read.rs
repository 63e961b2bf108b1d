//! Reading of a data set from bytes.

use std::path::{Path, PathBuf};

use super::assemble::assemble;
use super::dataset::{Dataset, Kind};
use super::dialect::first_line;
use super::error::{DataError, wrong_kind};
use super::gather::{File, files_of, label_by_list, label_by_names, name_by_files};
use super::layout::{FastaLabel, Layout, ReadOptions};
use super::load::{load, load_or_standard, unpacked, unpacked_as};
use super::part::Part;
use super::place::Place;
use super::preamble::{self, Preamble};
use super::recording::read_layout;
use super::source::{Finding, Source};
use super::{
    LAYOUTS, Values, annotations, edge_impulse, events, fasta, roles, sensor_logger, series_table,
    sniff, ucr,
};
use crate::words::{counted, shorten};

impl Dataset {
    /// Reads a file into memory: once as it is, and once as numbers. A folder, a pattern and `-` are as of
    /// [`read_all`](Self::read_all).
    ///
    /// # Errors
    /// [`DataError`] naming file, line and column.
    pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        Self::read_all(&[path.as_ref().to_owned()], options)
    }

    /// Reads files, all those of folders, and those that a pattern with `*` names; `-` is standard input. Series without label have
    /// that of their file's name, or of its folder, as the source says, or where names agree.
    ///
    /// # Errors
    /// [`DataError`] as for [`Dataset::read`], or if files do not go together.
    pub fn read_all(paths: &[PathBuf], options: &ReadOptions) -> Result<Self, DataError> {
        let (files, left_out) = files_of(paths)?;
        let by_name = options.source.names.is_some() || options.source.annotations.is_some();
        if let [File { path, .. }] = files.as_slice()
            && !by_name
            && !path.is_dir()
        {
            let (name, bytes) = load_or_standard(path)?;
            return Self::parse(&name, &bytes, options);
        }
        let annotations = options.source.annotations.as_ref().map(|path| {
            let (name, bytes) = load(path)?;
            annotations::read(&name, &unpacked_as(&name, &bytes, options.source.encoding)?)
        });
        let annotations = annotations.transpose()?;
        let is_list =
            |file: &File| file.below.file_name().is_some_and(|name| name == "info.labels");
        let (lists, files): (Vec<File>, Vec<File>) = files.into_iter().partition(is_list);
        let mut parts = Vec::with_capacity(files.len());
        for file in &files {
            if file.path.is_dir() {
                parts.push(segmented(sensor_logger::read_folder(&file.path, options)?, options)?);
                continue;
            }
            let (name, bytes) = load_or_standard(&file.path)?;
            let text = unpacked_as(&name, &bytes, options.source.encoding)?;
            parts.push(read_part(&name, &text, options)?);
        }
        for list in &lists {
            let (name, bytes) = load_or_standard(&list.path)?;
            let Some(labels) = edge_impulse::labels(&bytes) else {
                let what =
                    "is not a list of labels as Edge Impulse writes it; remove it".to_owned();
                return Err(DataError::Header { line: 1, file: name, what });
            };
            label_by_list(&files, &mut parts, list, &labels);
        }
        label_by_names(&files, &mut parts, &options.source)?;
        if files.len() > 1 {
            name_by_files(&files, &mut parts);
        }
        if let Some(annotations) = annotations {
            parts.iter_mut().try_for_each(|part| annotations::cut(part, &annotations))?;
        }
        if let Some(part) = parts.first_mut().filter(|_| left_out > 0) {
            let what = format!("{} without data are left out", counted(left_out, "file"));
            part.findings.add(Finding::Files, what);
        }
        if parts.is_empty() {
            return Err(DataError::NoSeries { file: "no file".to_owned() });
        }
        let data = assemble(parts, options)?;
        let source = match paths {
            [only] => only.display().to_string(),
            _ => data.source().to_owned(),
        };
        under(data.with_source(source), options)
    }

    /// Reads several files, each of one class: pairs of class and file.
    ///
    /// # Errors
    /// [`DataError`] as for [`Dataset::read`], or if files do not go together or have labels of
    /// their own.
    pub fn read_classes(
        files: &[(String, PathBuf)],
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let mut parts = Vec::new();
        for (class, path) in files {
            let (name, bytes) = load(path)?;
            let mut part =
                read_part(&name, &unpacked_as(&name, &bytes, options.source.encoding)?, options)?;
            for draft in &mut part.drafts {
                if draft.label.replace(class.clone()).is_some() {
                    return Err(DataError::LabelledTwice { file: name, class: class.clone() });
                }
            }
            parts.push(part);
        }
        if parts.is_empty() {
            return Err(DataError::NoSeries { file: "no file".to_owned() });
        }
        under(assemble(parts, options)?, options)
    }

    /// Parses bytes in memory as [`Dataset::read`] parses a file; `name` is for messages.
    ///
    /// # Errors
    /// [`DataError`] naming `name`, line and column.
    pub fn parse(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Self, DataError> {
        let text = unpacked_as(name, bytes, options.source.encoding)?;
        let checksum = crc32fast::hash(&text);
        let part = read_part(name, &text, options)?;
        drop(text);
        under(assemble(vec![part], options)?.with_checksum(checksum), options)
    }
}

/// Resamples the data to the rate of the options.
pub(super) fn under(data: Dataset, options: &ReadOptions) -> Result<Dataset, DataError> {
    let data = match options.resample {
        Some(to) => {
            check_resampled(&data, options)?;
            data.resampled(to)?
        }
        None => data,
    };
    options.period.map_or(Ok(()), |period| data.check_rate(period))?;
    Ok(data)
}

/// Refuses to find values between counts, or between yes and no.
pub(super) fn check_resampled(data: &Dataset, options: &ReadOptions) -> Result<(), DataError> {
    match options.values {
        Values::Reals => Ok(()),
        _ => Err(DataError::NotResampled {
            file: data.source().to_owned(),
            why: "counts and values of yes or no cannot be interpolated",
        }),
    }
}

/// The [`Dataset::checksum`] of the data in a file.
///
/// # Errors
/// [`DataError`], if it is not there, empty, or damaged.
pub fn checksum(path: impl AsRef<Path>) -> Result<u32, DataError> {
    let (name, bytes) = load(path.as_ref())?;
    Ok(crc32fast::hash(&unpacked(&name, &bytes)?))
}

/// Cuts a part to its labels by time, if requested, and notes them if not.
fn segmented(mut part: Part, options: &ReadOptions) -> Result<Part, DataError> {
    let annotations = std::mem::take(&mut part.annotations);
    if !annotations.is_empty() && options.source.segments {
        annotations::cut(&mut part, &annotations)?;
    } else if !annotations.is_empty() {
        let count = counted(annotations.len(), "label");
        let what = format!("{count} by time in the file are not used");
        part.findings.add(Finding::Segments, what);
    }
    Ok(part)
}

pub(super) fn read_part(name: &str, text: &[u8], options: &ReadOptions) -> Result<Part, DataError> {
    let layout = match options.layout.map_or_else(|| detect(name, text, &options.source), Ok) {
        Ok(layout) => layout,
        Err(error @ DataError::UnknownLayout { .. }) => {
            let Some(Preamble { lines, separator, text }) = preamble::of(text) else {
                return Err(error);
            };
            let mut options = options.clone();
            options.source.separator = options.source.separator.or(separator);
            // What is said of the table alone is said of what is behind its preamble.
            let Ok(layout) = detect(name, &text, &options.source) else { return Err(error) };
            let mut part = read_as(layout, name, &text, &options)?;
            let what = format!("{} before the table are left out", counted(lines, "line"));
            part.findings.add(Finding::Header, what);
            return Ok(part);
        }
        Err(error) => return Err(error),
    };
    read_as(layout, name, text, options)
}

fn read_as(
    layout: &'static Layout,
    name: &str,
    text: &[u8],
    options: &ReadOptions,
) -> Result<Part, DataError> {
    check_room(name, text.len())?;
    if *layout != fasta::LAYOUT && options.fasta_label != FastaLabel::None {
        return Err(DataError::NoFasta { file: name.to_owned() });
    }
    match (&options.kind, layout.of_symbols) {
        (Some(Kind::Symbols(_)), false) => {
            Err(wrong_kind(name, "real channels", "strings of symbols"))
        }
        (Some(Kind::Channels(_)), true) => {
            Err(wrong_kind(name, "strings of symbols", options.values.channels()))
        }
        _ => segmented(read_layout(layout, name, text, options)?, options),
    }
}

/// The layout that a file's bytes look like, gzipped or not; `None` where no layout knows them.
#[must_use]
pub fn layout_of(bytes: &[u8]) -> Option<&'static Layout> {
    let text = unpacked("", bytes).ok()?;
    let of_samples =
        || roles::may_be_samples(&text, &Source::default()).then_some(&series_table::LAYOUT);
    LAYOUTS.iter().copied().find(|layout| (layout.is_one)(&text)).or_else(of_samples)
}

/// Refuses what memory has no room for, before half of it is filled: a symbol takes a byte as text
/// and four as a number, and a channel's number eight, of two characters or more.
fn check_room(name: &str, length: usize) -> Result<(), DataError> {
    let bytes = length.saturating_mul(5);
    match Vec::<u8>::new().try_reserve_exact(bytes) {
        Ok(()) => Ok(()),
        Err(_) => Err(DataError::TooLarge { file: name.to_owned(), bytes }),
    }
}

/// The layout, from how the text begins.
pub(super) fn detect(
    name: &str,
    text: &[u8],
    source: &Source,
) -> Result<&'static Layout, DataError> {
    if source.events.is_some() || source.names_columns() && events::is_one(text, source) {
        return Ok(&events::LAYOUT);
    }
    if let Some(layout) = LAYOUTS.iter().find(|layout| (layout.is_one)(text)) {
        return Ok(layout);
    }
    if roles::may_be_samples(text, source) {
        return Ok(&series_table::LAYOUT);
    }
    if let Some(error) = sniff::ambiguous(name, text, source) {
        return Err(error);
    }
    if source.names_columns() && sniff::is_table(text, source) {
        return Ok(&series_table::LAYOUT);
    }
    if let Some(error) = ucr::misfit(name, text).or_else(|| sniff::other_format(name, text)) {
        return Err(error);
    }
    let Ok(header) = std::str::from_utf8(first_line(text)) else {
        return Err(DataError::NotUtf8 { place: Place::line(name, 1).into() });
    };
    let (file, lacks) = (name.to_owned(), sniff::lacks(text, source));
    Err(DataError::UnknownLayout { file, found: shorten(header), lacks })
}
