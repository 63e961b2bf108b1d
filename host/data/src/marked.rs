//! Series whose label changes within: a column with a mark for every sample.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::assemble::assemble;
use super::dataset::{Dataset, Kind};
use super::error::DataError;
use super::fold_error::FoldError;
use super::folds::Folds;
use super::gather::{files_of, name_by_files};
use super::layout::ReadOptions;
use super::load::{load_or_standard, unpacked_as};
use super::part::Part;
use super::read::{check_resampled, read_part};
use super::resample::Resample;
use super::roles::Roles;
use super::samples::SamplesView;
use super::source::Column;
use super::table::Table;
use crate::words::shorten;

/// A data set, and the mark of each sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Marked {
    data: Dataset,
    /// The events of each series, in order of time, `[series]`.
    events: Vec<Vec<Mark>>,
    classes: Vec<String>,
}

/// Samples in a row that are marked alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// An index into [`Marked::classes`].
    pub class: usize,
    /// The samples of the series, from 0.
    pub samples: Range<usize>,
}

impl Marked {
    /// Creates marked series from the events of each, and the names of the marks.
    pub(super) fn of(data: Dataset, events: Vec<Vec<Mark>>, classes: Vec<String>) -> Self {
        Self { data, events, classes }
    }

    /// Reads a series table of which a column after `t` marks every sample. Empty fields and
    /// `background` are the background; samples in a row with one mark are one event. Where `options` have
    /// classes, they are those of the marks.
    ///
    /// # Errors
    /// [`DataError`] as for [`Dataset::read`], if the column does not exist, or a mark is not among the classes.
    pub fn read(
        path: impl AsRef<Path>,
        column: &str,
        background: Option<&str>,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        Self::read_all(&[path.as_ref().to_owned()], column, background, options)
    }

    /// Reads several files as [`read`](Self::read) does one; folders, patterns and `-` are as of [`Dataset::read_all`].
    ///
    /// # Errors
    /// As of [`read`](Self::read), or if files do not go together.
    pub fn read_all(
        paths: &[PathBuf],
        column: &str,
        background: Option<&str>,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let (files, _) = files_of(paths)?;
        let (mut parts, mut marks) = (Vec::new(), Vec::new());
        for file in &files {
            let (name, bytes) = load_or_standard(&file.path)?;
            if files.len() == 1 {
                return Self::parse(&name, &bytes, column, background, options);
            }
            let text = unpacked_as(&name, &bytes, options.source.encoding)?;
            let (part, own) = marked_part(&name, &text, column, background, options)?;
            parts.push(part);
            marks.extend(own);
        }
        name_by_files(&files, &mut parts);
        let data = assemble(parts, &ReadOptions { classes: None, ..options.clone() })?;
        Self::joined(data, &marks, options)
    }

    /// Parses bytes in memory as [`read`](Self::read) parses a file; `name` is for messages.
    ///
    /// # Errors
    /// As of [`read`](Self::read).
    pub fn parse(
        name: &str,
        bytes: &[u8],
        column: &str,
        background: Option<&str>,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let text = unpacked_as(name, bytes, options.source.encoding)?;
        let (part, marks) = marked_part(name, &text, column, background, options)?;
        let data = assemble(vec![part], &ReadOptions { classes: None, ..options.clone() })?;
        Self::joined(data.with_checksum(crc32fast::hash(&text)), &marks, options)
    }

    /// Joins series with the marks of their samples, in their order.
    fn joined(
        data: Dataset,
        marks: &[Option<String>],
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let found: BTreeSet<&String> = marks.iter().flatten().collect();
        let found = || found.into_iter().cloned().collect();
        let classes: Vec<String> = options.classes.clone().unwrap_or_else(found);
        let (mut events, mut rest) = (Vec::new(), marks);
        for series in data.series() {
            let (own, later) = rest.split_at(series.samples.view().len().min(rest.len()));
            rest = later;
            events.push(runs(own, &classes));
        }
        let marked = match options.resample {
            Some(to) => {
                check_resampled(&data, options)?;
                Self::of(data, events, classes).resampled(to)?
            }
            None => Self::of(data, events, classes),
        };
        options.period.map_or(Ok(()), |period| marked.data.check_rate(period))?;
        Ok(marked)
    }

    /// Resamples the series: a sample has the mark of the nearest original one.
    ///
    /// # Errors
    /// As of [`Dataset::resampled`].
    pub fn resampled(&self, to: Resample) -> Result<Self, DataError> {
        let (data, nearest) = self.data.resampled_from(to)?;
        let at = |series: usize, old: usize| {
            let mark = self.events(series).iter().find(|mark| mark.samples.contains(&old))?;
            Some((mark.class, mark.samples.start))
        };
        let mut events = Vec::with_capacity(nearest.len());
        for (series, nearest) in nearest.iter().enumerate() {
            let marks: Vec<_> = nearest.iter().map(|&old| at(series, old)).collect();
            let (mut own, mut start) = (Vec::new(), 0);
            for run in marks.chunk_by(|a, b| a == b) {
                let samples = start..start + run.len();
                start = samples.end;
                own.extend(run[0].map(|(class, _)| Mark { class, samples }));
            }
            events.push(own);
        }
        Ok(Self::of(data, events, self.classes.clone()))
    }

    /// The series.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// The names of the marks, without the background's: sorted, or as they were prescribed.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The events of a series, in order of time.
    pub fn events(&self, series: usize) -> &[Mark] {
        self.events.get(series).map_or(&[], Vec::as_slice)
    }

    /// Some of the series with their events, in this order; the classes stay.
    ///
    /// # Errors
    /// [`DataError::NoSeries`] of none.
    pub fn part(&self, series: &[usize]) -> Result<Self, DataError> {
        let events = series.iter().map(|&one| self.events(one).to_vec()).collect();
        Ok(Self { data: self.data.part(series)?, events, classes: self.classes.clone() })
    }

    /// Folds over the series, in their order or shuffled by a seed; what is equal in the column `group` (see
    /// [`Dataset::groups`]) stays in one fold.
    ///
    /// # Errors
    /// [`DataError::NoColumn`], or [`DataError::Folds`] with the reason: also where a class has events in no
    /// other fold than one.
    pub fn folds(
        &self,
        folds: usize,
        group: Option<&str>,
        seed: Option<u64>,
    ) -> Result<Folds, DataError> {
        let failed = |reason| DataError::Folds { file: self.data.source().to_owned(), reason };
        // A series has events of many classes: none is what it is dealt by.
        let (alike, all) = (vec![0; self.data.series().len()], [String::new()]);
        let made = self.data.deal((&alike, &all), folds, group, seed)?;
        for (class, name) in self.classes.iter().enumerate() {
            let has = |one: &usize| self.events(*one).iter().any(|mark| mark.class == class);
            let own: Vec<usize> = (0..alike.len()).filter(has).collect();
            let class = || name.clone();
            let Some(fold) = own.first().map(|&one| made.fold_of(one)) else {
                return Err(failed(FoldError::ClassEmpty { class: class() }));
            };
            if own.iter().all(|&one| made.fold_of(one) == fold) {
                let items = own.len();
                return Err(failed(FoldError::ClassMissing { class: class(), items, fold }));
            }
        }
        Ok(made)
    }

    /// The samples of a class's events in some series; without a class, those between events.
    pub fn stretches(&self, class: Option<usize>, series: &[usize]) -> Vec<SamplesView<'_>> {
        let mut stretches = Vec::new();
        for &index in series {
            let samples = self.data.series()[index].samples.view();
            let mut end = 0;
            for event in self.events(index) {
                if class.is_none() && end < event.samples.start {
                    stretches.push(samples.slice(end..event.samples.start));
                }
                if class == Some(event.class) {
                    stretches.push(samples.slice(event.samples.clone()));
                }
                end = event.samples.end;
            }
            if class.is_none() && end < samples.len() {
                stretches.push(samples.slice(end..samples.len()));
            }
        }
        stretches
    }
}

fn runs(marks: &[Option<String>], classes: &[String]) -> Vec<Mark> {
    let mut start = 0;
    let mut events = Vec::new();
    for run in marks.chunk_by(|a, b| a == b) {
        let samples = start..start + run.len();
        start = samples.end;
        let class = run[0].as_ref().and_then(|mark| classes.iter().position(|class| class == mark));
        events.extend(class.map(|class| Mark { class, samples }));
    }
    events
}

/// A file's series without labels, and the marks of their samples, series by series.
fn marked_part(
    name: &str,
    text: &[u8],
    column: &str,
    background: Option<&str>,
    options: &ReadOptions,
) -> Result<(Part, Vec<Option<String>>), DataError> {
    let mut table = Table::open_as(name, text, &options.source)?;
    let found = table.column(column);
    // Marks are no labels, whatever they are called.
    let mut source = options.source.clone();
    if source.label.is_none() && table.column("label").is_none_or(|label| Some(label) == found) {
        source.label = Some(Column::None);
    }
    if found.is_some() {
        source.marks = Some(Column::Name(column.to_owned()));
    }
    let mut looked = Table::open_as(name, text, &source)?;
    let roles = Roles::of(&mut looked, &source, &[])?;
    let (Some(at), Some(_)) = (found, roles.time) else {
        let what = format!(
            "has no column `{column}` of marks beside a column of times; it has {}",
            shorten(&table.header().join(", "))
        );
        return Err(table.bad_header(what));
    };
    let channels = roles.channels.iter().map(|&place| table.header()[place].clone());
    let channels = Kind::Channels(channels.collect());
    let kind = options.kind.clone().or(Some(channels));
    let unlabelled = ReadOptions { kind, classes: None, source, ..options.clone() };
    let part = read_part(name, text, &unlabelled)?;

    let known = |mark: &String| options.classes.as_ref().is_none_or(|all| all.contains(mark));
    let mut marks: Vec<(usize, Option<String>)> = Vec::new();
    // Where rows of several series take turns: the place of each series among them.
    let mut places: HashMap<String, usize> = HashMap::new();
    while table.next_row()? {
        let mark = table.name(at)?;
        let marked = !options.source.missing.has(mark) && Some(mark) != background;
        let mark = marked.then(|| mark.to_owned());
        if let Some(label) = mark.as_ref().filter(|&mark| !known(mark)) {
            let classes = options.classes.as_ref().map_or_else(String::new, |all| all.join(", "));
            return Err(DataError::UnknownLabel {
                place: table.place(at),
                label: shorten(label),
                classes,
            });
        }
        let place = match roles.series.filter(|_| roles.take_turns) {
            None => 0,
            Some(series) => {
                let next = places.len();
                *places.entry(table.name(series)?.to_owned()).or_insert(next)
            }
        };
        marks.push((place, mark));
    }
    marks.sort_by_key(|&(place, _)| place);
    Ok((part, marks.into_iter().map(|(_, mark)| mark).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_runs_of_marks() {
        let text =
            b"series,t,x,mark\na,0,1,\na,1,2,up\na,2,2,up\na,3,1,down\nb,0,1,rest\nb,1,3,up\n";
        let options = ReadOptions::default();
        let marked = Marked::parse("m.csv", text, "mark", Some("rest"), &options).expect("sound");
        assert_eq!(marked.classes(), ["down", "up"]);
        assert_eq!(marked.data().kind(), &Kind::Channels(vec!["x".into()]));
        let mark = |class, samples| Mark { class, samples };
        assert_eq!(marked.events(0), [mark(1, 1..3), mark(0, 3..4)]);
        assert_eq!(marked.events(1), [mark(1, 1..2)]);
        let lengths = |class| -> Vec<usize> {
            marked.stretches(class, &[0, 1]).iter().map(SamplesView::len).collect()
        };
        assert_eq!(lengths(Some(1)), [2, 1]);
        assert_eq!(lengths(None), [1, 1]);
        let of = |classes: [&str; 3]| {
            let classes = Some(classes.map(String::from).to_vec());
            let options = ReadOptions { classes, ..ReadOptions::default() };
            Marked::parse("m.csv", text, "mark", Some("rest"), &options)
        };
        let part = marked.part(&[1]).expect("one");
        assert_eq!((part.data().series()[0].id.as_str(), part.classes()), ("b", marked.classes()));
        assert_eq!(part.events(0), marked.events(1));
        assert!(marked.part(&[]).is_err());
        // Of `down` there are events in the first series alone.
        let error = marked.folds(2, None, None).expect_err("nothing to train on").to_string();
        assert!(error.starts_with("m.csv: class `down` has only 1 series"), "{error}");
        let known = of(["up", "left", "down"]).expect("sound");
        assert_eq!(known.events(0), [mark(0, 1..3), mark(2, 3..4)]);
        let error = of(["up", "left", "right"]).expect_err("no `down`").to_string();
        assert!(
            error.starts_with("m.csv, line 5, column 4 (mark): unknown label `down`"),
            "{error}"
        );
        // Marks are marks in any layout of a table, and the name of labels is as good as another.
        let text = "Time [ms];Acc X (g);label\n0;0,5;rest\n20;0,25;up\n40;1,5;up\n60;1;rest\n";
        let marked = Marked::parse("m.csv", text.as_bytes(), "label", Some("rest"), &options);
        let marked = marked.expect("sound");
        assert_eq!((marked.data().kind().size(), marked.events(0)), (1, &[mark(0, 1..3)][..]));
        let error =
            Marked::parse("m.csv", b"t,x\n0,1\n", "label", None, &options).expect_err("none");
        assert!(error.to_string().contains("no column `label`"), "{error}");
    }
}
