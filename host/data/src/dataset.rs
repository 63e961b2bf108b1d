//! A whole data set in memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::alphabet::Alphabet;
use super::error::DataError;
use super::missing::Missing;
use super::samples::{Samples, SamplesView};
use super::source::Found;
use super::unit_match::UnitMatch;

/// Kind of one observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A row of real numbers, one per named channel.
    Channels(Vec<String>),
    /// One symbol of an alphabet.
    Symbols(Alphabet),
}

impl Kind {
    /// Number of channels, or of symbols.
    pub fn size(&self) -> usize {
        match self {
            Self::Channels(names) => names.len(),
            Self::Symbols(alphabet) => alphabet.len(),
        }
    }

    /// Returns true if the symbols are words.
    pub(super) fn has_words(&self) -> bool {
        matches!(self, Self::Symbols(alphabet) if !alphabet.words().is_empty())
    }

    /// Number of channels, or `None` for symbols.
    pub fn dimension(&self) -> Option<usize> {
        match self {
            Self::Channels(names) => Some(names.len()),
            Self::Symbols(_) => None,
        }
    }
}

/// One sequence of observations with its label and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name of the series in the file; unique in a series table, not necessarily among strings.
    pub id: String,
    /// Class of the series, an index into [`Dataset::classes`]; `None` if unlabelled.
    pub label: Option<usize>,
    /// Values of the extra columns, in the order of [`Dataset::columns`].
    pub columns: Vec<String>,
    /// Times of the column `t`, strictly increasing: seconds, or the numbers of the samples; empty where the layout has
    /// none.
    pub times: Vec<f64>,
    /// The observations.
    pub samples: Samples,
    /// Line of the file where it begins, from 1; 0 if it comes from no file.
    pub line: u64,
}

/// Properties of a data set's times, apart from the times themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    /// `true` if the data give the unit of the time; otherwise whole numbers that step by one number the samples.
    pub(super) named: bool,
    /// `true` if the samples were resampled.
    pub(super) resampled: bool,
}

/// Labelled or unlabelled series that share kind, classes and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    kind: Kind,
    classes: Vec<String>,
    columns: Vec<String>,
    series: Vec<Series>,
    source: String,
    checksum: Option<u32>,
    missing: Missing,
    clock: Clock,
    units: Vec<UnitMatch>,
    findings: Vec<Found>,
    skipped: usize,
}

impl Dataset {
    /// A data set from series made in memory.
    ///
    /// # Errors
    /// [`DataError::Inconsistent`] naming the first series that is empty, has another kind of
    /// samples, a label that is no index of `classes`, a symbol outside the alphabet, a wrong
    /// number of columns or of times; [`DataError::NoSeries`] without a series.
    pub fn new(
        source: impl Into<String>,
        kind: Kind,
        classes: Vec<String>,
        columns: Vec<String>,
        series: Vec<Series>,
    ) -> Result<Self, DataError> {
        let source = source.into();
        if series.is_empty() {
            return Err(DataError::NoSeries { file: source });
        }
        let mut missing = Missing::default();
        for (index, one) in series.iter().enumerate() {
            if let Some(what) = inconsistency(&kind, classes.len(), columns.len(), one) {
                return Err(DataError::Inconsistent { index, id: one.id.clone(), what });
            }
            let view = one.samples.view();
            missing.observations += view.len() - view.observed();
            view.rows().into_iter().for_each(|rows| missing.add_partial(rows));
        }
        let clock = Clock::default();
        let (checksum, units, findings) = (None, Vec::new(), Vec::new());
        Ok(Self {
            kind,
            classes,
            columns,
            series,
            source,
            checksum,
            missing,
            clock,
            units,
            findings,
            skipped: 0,
        })
    }

    /// Labelled series made in memory: each a class and its samples, numbered in their order.
    ///
    /// ```
    /// use fishweir_data::{Dataset, Kind};
    ///
    /// let still = vec![[0.0, 1.0], [0.1, 0.9]];
    /// let moving = vec![[0.8, 0.3], [-0.7, 0.4], [0.9, 0.2]];
    /// let channels = Kind::Channels(vec!["x".into(), "y".into()]);
    /// let series = [("still", still), ("moving", moving)];
    /// let data = Dataset::labelled(channels, series.map(|(class, rows)| (class, rows.into_iter().collect())))?;
    /// assert_eq!(data.classes(), ["moving", "still"]);
    /// # Ok::<(), fishweir_data::DataError>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn labelled<C: Into<String>>(
        kind: Kind,
        series: impl IntoIterator<Item = (C, Samples)>,
    ) -> Result<Self, DataError> {
        let series: Vec<(String, Samples)> =
            series.into_iter().map(|(class, samples)| (class.into(), samples)).collect();
        let mut classes: Vec<String> = series.iter().map(|(class, _)| class.clone()).collect();
        classes.sort_unstable();
        classes.dedup();
        let number = |class: &String| classes.binary_search(class).ok();
        let series = series.into_iter().enumerate().map(|(id, (class, samples))| Series {
            id: id.to_string(),
            label: number(&class),
            columns: Vec::new(),
            times: Vec::new(),
            samples,
            line: 0,
        });
        let series = series.collect();
        Self::new("memory", kind, classes, Vec::new(), series)
    }

    /// Renumbers the classes as in `classes`, by name.
    ///
    /// # Errors
    /// [`DataError::UnknownLabel`] naming the first series whose class is not among them.
    pub fn with_classes(mut self, classes: &[String]) -> Result<Self, DataError> {
        for series in &mut self.series {
            let Some(label) = series.label else { continue };
            let name = &self.classes[label];
            let known = classes.iter().position(|class| class == name);
            series.label = Some(known.ok_or_else(|| DataError::UnknownLabel {
                place: Box::new(match series.line {
                    // From no file: its name says which.
                    0 => super::Place::line(&format!("{}, series `{}`", self.source, series.id), 0),
                    line => super::Place::line(&self.source, line),
                }),
                label: name.clone(),
                classes: classes.join(", "),
            })?);
        }
        self.classes = classes.to_vec();
        Ok(self)
    }

    /// The series of some classes, numbered as in `classes`, by name, and those of none; and of the other
    /// classes the names and how many series each has: they are left out.
    ///
    /// # Errors
    /// [`DataError::UnknownLabel`] where nothing is left.
    pub fn of_classes(
        mut self,
        classes: &[String],
    ) -> Result<(Self, BTreeMap<String, usize>), DataError> {
        let mut unknown = BTreeMap::new();
        let known = |one: &&Series| match one.label.map(|label| &self.classes[label]) {
            Some(name) if !classes.contains(name) => {
                *unknown.entry(name.clone()).or_insert(0) += 1;
                false
            }
            _ => true,
        };
        let kept: Vec<Series> = self.series.iter().filter(known).cloned().collect();
        if !kept.is_empty() && !unknown.is_empty() {
            self.series = kept;
        }
        Ok((self.with_classes(classes)?, unknown))
    }

    /// Some of the series, in this order; classes and columns stay.
    pub(super) fn part(&self, series: &[usize]) -> Result<Self, DataError> {
        let own = series.iter().filter_map(|&one| self.series.get(one)).cloned().collect();
        let [classes, columns] = [&self.classes, &self.columns].map(Clone::clone);
        let part = Self::new(self.source.clone(), self.kind.clone(), classes, columns, own)?;
        let units = self.units.clone();
        Ok(Self { checksum: self.checksum, clock: self.clock, units, ..part })
    }

    /// Facts about the file, without its series.
    pub(super) fn without_series(self) -> Self {
        Self { series: Vec::new(), missing: Missing::default(), ..self }
    }

    /// Returns the data for readers of whole samples: where a channel is missing, the sample is.
    #[must_use]
    pub fn whole_samples(&self) -> Self {
        let mut whole = self.clone();
        for one in &mut whole.series {
            if let Samples::Channels(rows) = &mut one.samples {
                rows.leave_out_partial();
            }
        }
        let missing = &mut whole.missing;
        missing.observations += std::mem::take(&mut missing.partial);
        missing.absent.clear();
        whole
    }

    /// Sets the times of all samples by a rate in samples per second, from zero.
    #[must_use]
    pub fn sampled_at(mut self, rate: f64) -> Self {
        for one in &mut self.series {
            one.times = (0..one.samples.view().len()).map(|t| t as f64 / rate).collect();
        }
        self.clock.named = true;
        self
    }

    /// Adds the properties of the times.
    pub(super) fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Returns the properties of the times.
    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    /// Adds the wanted channels that the data name otherwise; of several alike the first.
    #[must_use]
    pub fn with_unit_matches(mut self, units: Vec<UnitMatch>) -> Self {
        self.units.clear();
        for one in units {
            if !self.units.contains(&one) {
                self.units.push(one);
            }
        }
        self
    }

    /// Sets another name for messages.
    pub(super) fn with_source(self, source: String) -> Self {
        Self { source, ..self }
    }

    /// Adds the inferred facts.
    pub(super) fn with_findings(self, findings: Vec<Found>) -> Self {
        Self { findings, ..self }
    }

    /// Facts that were inferred, and that a [`Source`](super::Source) can override.
    pub fn findings(&self) -> &[Found] {
        &self.findings
    }

    /// Adds how many series a reader left out.
    pub(super) fn with_skipped(self, skipped: usize) -> Self {
        Self { skipped, ..self }
    }

    /// Series that were left out because they could not be read ([`ReadOptions::skips`](super::ReadOptions::skips)).
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// The channels whose names in the data are not those that were wanted, which may be in other units.
    pub fn unit_matches(&self) -> &[UnitMatch] {
        &self.units
    }

    /// Adds what is known of the file that another data set was read from: its checksum, how samples were missing, and
    /// how its units compare.
    pub(super) fn with_checksum_of(mut self, other: &Self) -> Self {
        self.checksum = other.checksum;
        self.missing.codes.clone_from(&other.missing.codes);
        self.units.clone_from(&other.units);
        self.findings.clone_from(&other.findings);
        self.skipped = other.skipped;
        self
    }

    /// Adds the checksum of the one file that it was read from.
    pub(super) fn with_checksum(mut self, checksum: u32) -> Self {
        self.checksum = Some(checksum);
        self
    }

    /// Adds facts that only a reader knows: the characters and words that were missing.
    pub(super) fn with_codes(mut self, codes: BTreeMap<String, usize>) -> Self {
        self.missing.codes = codes;
        self
    }

    /// Kind of one observation.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Names of the classes: sorted as found, or in the order that was prescribed. Empty if nothing
    /// is labelled. Labels are compared byte by byte: two that Unicode writes in several ways, such as
    /// an accented letter and a letter with its accent, are two classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Names of the extra columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The series in the order of the file; never empty.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// The file or files this was read from, for messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// CRC-32 (ISO-HDLC) of the text of the one file that this was read from: unpacked, where it was gzipped, and
    /// without a byte order mark. A part of a data set has that of the whole; what is of no file or several has none.
    pub fn checksum(&self) -> Option<u32> {
        self.checksum
    }

    /// Counts of missing observations.
    pub fn missing(&self) -> &Missing {
        &self.missing
    }

    /// Number of observations in all series, missing ones included.
    pub fn observations(&self) -> usize {
        self.series.iter().map(|series| series.samples.view().len()).sum()
    }

    /// The class of every series.
    ///
    /// # Errors
    /// [`DataError::Unlabelled`] naming the first series without a label.
    pub fn labels(&self) -> Result<Vec<usize>, DataError> {
        self.series
            .iter()
            .map(|series| {
                series.label.ok_or_else(|| DataError::Unlabelled {
                    file: self.source.clone(),
                    line: series.line,
                    id: series.id.clone(),
                })
            })
            .collect()
    }

    /// The group of every series, numbered in sorted order of the group names (as numbers where all
    /// are numbers), and those names.
    ///
    /// `column` is an extra column, or one of two that every data set has: `series` (or `id`), the
    /// name of the series, and `sequence`, which puts series of equal observations in one group.
    ///
    /// # Errors
    /// [`DataError::NoColumn`] if there is no such column, [`DataError::EmptyColumn`] if it is empty in
    /// every row.
    pub fn groups(&self, column: &str) -> Result<(Vec<usize>, Vec<String>), DataError> {
        if let Some(index) = self.columns.iter().position(|name| name == column) {
            let values = self.series.iter().map(|series| series.columns[index].as_str());
            if values.clone().all(str::is_empty) {
                let (file, column) = (self.source.clone(), column.to_owned());
                return Err(DataError::EmptyColumn { file, column });
            }
            return Ok(number(values));
        }
        match column {
            "series" | "id" => Ok(number(self.series.iter().map(|series| series.id.as_str()))),
            "sequence" => Ok(self.equal_sequences()),
            _ => Err(DataError::NoColumn {
                file: self.source.clone(),
                column: column.to_owned(),
                available: ["series", "sequence"]
                    .into_iter()
                    .chain(self.columns.iter().map(String::as_str))
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }

    /// Groups of equal observations, named by their first series' number.
    fn equal_sequences(&self) -> (Vec<usize>, Vec<String>) {
        // Bits, not values: equality of f64 is no equivalence, and rows are finite anyway.
        let key = |view: SamplesView<'_>| -> Vec<u64> {
            match view {
                SamplesView::Channels(rows) => rows
                    .iter_in_part()
                    .flat_map(|row| {
                        let mark = u64::from(row.is_some());
                        let bits =
                            row.unwrap_or_default().iter().map(|value| (value + 0.0).to_bits());
                        std::iter::once(mark).chain(bits)
                    })
                    .collect(),
                SamplesView::Symbols(symbols) => {
                    symbols.iter().map(|symbol| symbol.map_or(u64::MAX, u64::from)).collect()
                }
            }
        };
        let mut seen = std::collections::HashMap::new();
        let mut names = Vec::new();
        let groups = self
            .series
            .iter()
            .enumerate()
            .map(|(index, series)| {
                *seen.entry(key(series.samples.view())).or_insert_with(|| {
                    names.push(index.to_string());
                    names.len() - 1
                })
            })
            .collect();
        (groups, names)
    }
}

/// Describes the fault of a series made in memory, if any.
fn inconsistency(kind: &Kind, classes: usize, columns: usize, series: &Series) -> Option<String> {
    let view = series.samples.view();
    if view.is_empty() {
        return Some("it has no observation".into());
    }
    match (kind, view) {
        (Kind::Channels(names), SamplesView::Channels(rows)) => {
            if rows.dimension() != names.len() || names.is_empty() {
                return Some(format!(
                    "{} channels where {} are named",
                    rows.dimension(),
                    names.len()
                ));
            }
            if rows.iter_in_part().flatten().flatten().any(|value| value.is_infinite()) {
                return Some("a value is not finite".into());
            }
        }
        (Kind::Symbols(alphabet), SamplesView::Symbols(symbols)) => {
            let outside = symbols.iter().flatten().find(|&&one| usize::from(one) >= alphabet.len());
            if let Some(symbol) = outside {
                return Some(format!("symbol {symbol} in an alphabet of {}", alphabet.len()));
            }
        }
        _ => return Some("its samples are of another kind than the data set's".into()),
    }
    if let Some(label) = series.label.filter(|&label| label >= classes) {
        return Some(format!("class {label} where there are {classes}"));
    }
    if series.columns.len() != columns {
        return Some(format!("{} extra columns where {columns} are named", series.columns.len()));
    }
    if !(series.times.is_empty() || series.times.len() == view.len()) {
        return Some(format!("{} times for {} observations", series.times.len(), view.len()));
    }
    None
}

/// Numbers names in sorted order: by value if all are numbers (subject 10 after subject 9), as text
/// otherwise.
fn number<'a>(names: impl Iterator<Item = &'a str> + Clone) -> (Vec<usize>, Vec<String>) {
    let mut sorted: Vec<&str> = names.clone().collect();
    sorted.sort_unstable();
    sorted.dedup();
    let values: Option<Vec<f64>> = sorted.iter().map(|name| name.parse().ok()).collect();
    if let Some(values) = values {
        let mut paired: Vec<_> = values.into_iter().zip(sorted).collect();
        paired.sort_by(|a, b| a.0.total_cmp(&b.0));
        sorted = paired.into_iter().map(|(_, name)| name).collect();
    }
    let index: BTreeMap<&str, usize> = sorted.iter().copied().zip(0..).collect();
    (names.map(|name| index[name]).collect(), sorted.into_iter().map(str::to_owned).collect())
}
