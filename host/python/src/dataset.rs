//! Labelled series in the library's memory.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use fishweir::data::{
    Alphabet, Column, DataError, Dataset as Data, Encoding, Kind, Marks, NamePattern, Period,
    ReadOptions, Resample, Samples, SamplesView, Separator, Series as One, ShortSeries, Source,
    Window, Windowing,
};
use fishweir::report::SourceReport;
use numpy::{PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use serde::Deserialize;

use crate::arrays::{Series, View};
use crate::classifier::Classifier;
use crate::error::{raised, refused};
use crate::options::parse;
use crate::run::released;

/// Series with classes and groups, read from files or arrays.
#[pyclass(frozen, module = "fishweir")]
#[derive(Clone)]
pub(crate) struct Dataset {
    pub(crate) data: Arc<Data>,
}

impl From<Data> for Dataset {
    fn from(data: Data) -> Self {
        Self { data: Arc::new(data) }
    }
}

#[pymethods]
impl Dataset {
    /// Makes a data set of arrays `[series][time][channel]`, a list of `[time][channel]`, or a list of strings.
    ///
    /// `labels` are indices of `classes`, -1 for none.
    #[staticmethod]
    #[pyo3(signature = (series, *, labels=None, classes=vec![], groups=None, channels=None, alphabet=None, rate=None))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn from_arrays(
        py: Python<'_>,
        series: &Bound<'_, PyAny>,
        labels: Option<Vec<i64>>,
        classes: Vec<String>,
        groups: Option<Vec<String>>,
        channels: Option<Vec<String>>,
        alphabet: Option<&str>,
        rate: Option<f64>,
    ) -> PyResult<Self> {
        let columns = groups.iter().map(|_| GROUP.to_owned()).collect();
        let values = groups.map(|groups| groups.into_iter().map(|group| vec![group]).collect());
        let known = Known { ids: None, labels, classes, columns, values, channels, alphabet, rate };
        known.of(py, series)
    }

    /// Number of series.
    fn __len__(&self) -> usize {
        self.data.series().len()
    }

    /// Names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.data.classes().to_vec()
    }

    /// Names of the channels; `None` of symbols.
    #[getter]
    fn channels(&self) -> Option<Vec<String>> {
        match self.data.kind() {
            Kind::Channels(names) => Some(names.clone()),
            Kind::Symbols(_) => None,
        }
    }

    /// The symbols in order; `None` of channels.
    #[getter]
    fn alphabet(&self) -> Option<String> {
        match self.data.kind() {
            Kind::Channels(_) => None,
            Kind::Symbols(alphabet) => Some(alphabet.text()),
        }
    }

    /// Names of the series.
    #[getter]
    fn ids(&self) -> Vec<String> {
        self.data.series().iter().map(|one| one.id.clone()).collect()
    }

    /// Samples per second; `None` where the times do not say.
    #[getter]
    fn rate(&self) -> Option<f64> {
        let all: Vec<usize> = (0..self.data.series().len()).collect();
        Period::of(&self.data, &all).map(|period| period.rate())
    }

    /// The files that it was read from.
    #[getter]
    fn source(&self) -> &str {
        self.data.source()
    }

    /// Names of the columns of whole series: subjects, devices.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.data.columns().to_vec()
    }

    /// A column of whole series: the group of each.
    fn groups(&self, column: &str) -> PyResult<Vec<String>> {
        let (of, names) = self.data.groups(column).map_err(raised)?;
        Ok(of.into_iter().map(|index| names[index].clone()).collect())
    }

    /// How the files were read: a report for people.
    fn findings(&self) -> String {
        SourceReport::new(&self.data).to_string()
    }

    /// One series: an array of `(channels, time)`, NaN where a value is missing, or a string.
    fn series<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let Some(one) = self.data.series().get(index) else {
            let count = self.data.series().len();
            return Err(refused(format!("no series {index} of {count}")));
        };
        array(py, self.data.kind(), one.samples.view())
    }

    /// All series: arrays of `(channels, time)`, or strings.
    #[getter(X)]
    fn all<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let one = |one: &One| array(py, self.data.kind(), one.samples.view());
        self.data.series().iter().map(one).collect()
    }

    /// Class of each series by name; `None` without a label.
    #[getter]
    fn y(&self) -> Vec<Option<&str>> {
        let class = |one: &One| one.label.map(|label| self.data.classes()[label].as_str());
        self.data.series().iter().map(class).collect()
    }

    /// Pickled as arrays and names.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, PickledParts<'py>)> {
        let own = slf.get();
        let restore = slf.get_type().getattr("restore")?;
        let columns = own.data.series().iter().map(|one| one.columns.clone()).collect();
        let kept = (
            own.all(slf.py())?,
            own.ids(),
            own.labels(),
            own.classes(),
            own.columns(),
            columns,
            own.channels(),
            own.alphabet(),
            own.rate(),
        );
        Ok((restore, kept))
    }

    /// Makes a data set of what it was pickled as.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "as pickled")]
    fn restore(
        py: Python<'_>,
        series: Vec<Bound<'_, PyAny>>,
        ids: Vec<String>,
        labels: Vec<i64>,
        classes: Vec<String>,
        columns: Vec<String>,
        values: Vec<Vec<String>>,
        channels: Option<Vec<String>>,
        alphabet: Option<String>,
        rate: Option<f64>,
    ) -> PyResult<Self> {
        let mut turned = Vec::with_capacity(series.len());
        for one in series {
            turned.push(if one.is_instance_of::<PyString>() { one } else { one.getattr("T")? });
        }
        let series = turned;
        let series = PyList::new(py, series)?.into_any();
        let (ids, labels, values) = (Some(ids), Some(labels), Some(values));
        let alphabet = alphabet.as_deref();
        let known = Known { ids, labels, classes, columns, values, channels, alphabet, rate };
        known.of(py, &series)
    }

    /// The windows of all series, and the index of the series that each is of.
    #[pyo3(signature = (window, hop=None))]
    fn windows<'py>(
        &self,
        py: Python<'py>,
        window: NonZeroUsize,
        hop: Option<NonZeroUsize>,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<usize>)> {
        let hop = hop.unwrap_or(window);
        let by = Windowing { length: window, hop, short: ShortSeries::default() };
        let windows = self.data.windows(Some(&by));
        let one = |window: &Window<'_>| array(py, self.data.kind(), window.samples);
        let arrays = windows.all().iter().map(one).collect::<PyResult<_>>()?;
        Ok((arrays, windows.all().iter().map(|window| window.series).collect()))
    }

    /// Class of each series, an index of `classes`; -1 without a label.
    #[getter]
    fn labels(&self) -> Vec<i64> {
        let label = |one: &One| one.label.map_or(-1, |label| label as i64);
        self.data.series().iter().map(label).collect()
    }
}

/// What is known of series besides their samples.
struct Known<'a> {
    /// Names of the series, or their numbers.
    ids: Option<Vec<String>>,
    labels: Option<Vec<i64>>,
    classes: Vec<String>,
    columns: Vec<String>,
    /// Each series' values of the columns.
    values: Option<Vec<Vec<String>>>,
    channels: Option<Vec<String>>,
    alphabet: Option<&'a str>,
    rate: Option<f64>,
}

impl Known<'_> {
    /// Makes a data set of arrays.
    fn of(self, py: Python<'_>, series: &Bound<'_, PyAny>) -> PyResult<Dataset> {
        let held = Series::of(series)?;
        let views = held.views();
        let kind = match self.alphabet {
            Some(text) => Some(Kind::Symbols(text.parse::<Alphabet>().map_err(raised)?)),
            None => self.channels.map(Kind::Channels),
        };
        if let Some(Kind::Channels(names)) = &kind
            && let Some(twice) = (1..names.len()).find(|&one| names[..one].contains(&names[one]))
        {
            return Err(refused(format!("channels has a name twice: {}", names[twice])));
        }
        if let Some(rate) = self.rate.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
            return Err(refused(format!("rate is {rate}: give samples per second, above 0")));
        }
        let (ids, labels, values) = (self.ids, self.labels, self.values);
        let made = py.detach(|| -> Result<Data, String> {
            let (kind, samples) = read(&views, kind.as_ref())?;
            let count = samples.len();
            let given = [
                (ids.as_ref().map(Vec::len), "names"),
                (labels.as_ref().map(Vec::len), "labels"),
                (values.as_ref().map(Vec::len), "groups"),
            ];
            for (found, what) in given {
                if let Some(found) = found.filter(|&found| found != count) {
                    return Err(format!("{found} {what} for {count} series"));
                }
            }
            let series = samples.into_iter().enumerate().map(|(index, samples)| One {
                id: ids.as_ref().map_or_else(|| index.to_string(), |ids| ids[index].clone()),
                label: labels.as_ref().and_then(|labels| usize::try_from(labels[index]).ok()),
                columns: values.as_ref().map_or_else(Vec::new, |values| values[index].clone()),
                times: Vec::new(),
                samples,
                line: 0,
            });
            let data = Data::new(ARRAYS, kind, self.classes, self.columns, series.collect());
            let data = data.map_err(|error| error.to_string())?;
            Ok(match self.rate {
                Some(rate) => data.sampled_at(rate),
                None => data,
            })
        });
        made.map(Dataset::from).map_err(refused)
    }
}

/// What a data set is pickled as.
type PickledParts<'py> = (
    Vec<Bound<'py, PyAny>>,
    Vec<String>,
    Vec<i64>,
    Vec<String>,
    Vec<String>,
    Vec<Vec<String>>,
    Option<Vec<String>>,
    Option<String>,
    Option<f64>,
);

/// An array of `(channels, time)`, or a string.
fn array<'py>(
    py: Python<'py>,
    kind: &Kind,
    samples: SamplesView<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    match (samples, kind) {
        (SamplesView::Symbols(symbols), Kind::Symbols(alphabet)) => {
            Ok(PyString::new(py, &alphabet.spell(symbols)).into_any())
        }
        (SamplesView::Channels(rows), _) => {
            let (channels, length) = (rows.dimension(), rows.len());
            let mut values = vec![f64::NAN; channels * length];
            for t in 0..length {
                if let Some(row) = rows.row_in_part(t) {
                    for c in 0..channels {
                        values[c * length + t] = row[c];
                    }
                }
            }
            Ok(values.to_pyarray(py).reshape([channels, length])?.into_any())
        }
        _ => Err(refused("symbols without an alphabet")),
    }
}

/// Options of reading, by the names of the command's.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ReadingOptions {
    format: Option<String>,
    alphabet: Option<String>,
    label: Option<String>,
    series: Option<String>,
    time: Option<String>,
    channels: Vec<String>,
    columns: Vec<String>,
    events: Option<String>,
    words: bool,
    sep: Option<String>,
    decimal: Option<char>,
    na: Option<Vec<String>>,
    header: Option<bool>,
    encoding: Option<String>,
    segments: bool,
    annotations: Option<PathBuf>,
    name: Option<String>,
    resample: Option<f64>,
}

impl ReadingOptions {
    fn options(self) -> Result<ReadOptions, String> {
        let column = |name: &String| Column::of(name);
        let said = |error: String| error;
        let source = Source {
            label: self.label.as_ref().map(column),
            series: self.series.as_ref().map(column),
            time: self.time.as_ref().map(column),
            columns: self.columns.iter().map(column).collect(),
            channels: self.channels.iter().map(column).collect(),
            marks: None,
            target: None,
            events: self.events.as_ref().map(column),
            words: self.words,
            separator: self.sep.as_deref().map(Separator::parse).transpose().map_err(said)?,
            decimal: self.decimal,
            missing: self.na.map_or_else(Marks::default, Marks::new),
            header: self.header,
            encoding: self.encoding.as_deref().map(str::parse::<Encoding>).transpose()?,
            segments: self.segments,
            annotations: self.annotations,
            names: self.name.as_deref().map(NamePattern::parse).transpose()?,
        };
        let unknown = |name: &str| format!("format: `{name}` is no layout");
        let layout = match self.format.as_deref() {
            Some(name) => Some(fishweir::data::layout(name).ok_or_else(|| unknown(name))?),
            None => None,
        };
        let alphabet = self.alphabet.as_deref().map(str::parse::<Alphabet>).transpose();
        Ok(ReadOptions {
            layout,
            kind: alphabet.map_err(|error| error.to_string())?.map(Kind::Symbols),
            resample: self.resample.map(Resample::To),
            source,
            ..ReadOptions::default()
        })
    }
}

/// Reads files in any layout that the command reads. `like` makes channels, classes and rate those of a fitted model.
#[pyfunction]
#[pyo3(signature = (paths, options="{}", like=None))]
pub(crate) fn read_files(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: &str,
    like: Option<&Classifier>,
) -> PyResult<Dataset> {
    let options: ReadingOptions = parse(options).map_err(refused)?;
    let mut options = options.options().map_err(refused)?;
    if let Some(like) = like {
        let deployed = like.fitted.deployed();
        options.kind = Some(deployed.observations().kind().map_err(raised)?);
        options.values = deployed.values();
        options.period = deployed.contract().and_then(|contract| contract.period);
        let rate = options.period.map(|period| Resample::To(period.rate()));
        options.resample = options.resample.and(rate);
    }
    let read = released(py, None, || {
        let data = Data::read_all(&paths, &options)?;
        options.source.check_columns(&data)?;
        Ok::<_, DataError>(data)
    })?;
    read.map(Dataset::from).map_err(raised)
}

/// Name of arrays in errors and in what a model keeps of its training: that of the argument.
pub(crate) const ARRAYS: &str = "X";

/// Name of the column of groups.
pub(crate) const GROUP: &str = "group";

/// Reads each series, of a kind if one is given.
pub(crate) fn read(
    views: &[View<'_>],
    kind: Option<&Kind>,
) -> Result<(Kind, Vec<Samples>), String> {
    if let Some(View::Text(_)) = views.first() {
        return strings(views, kind);
    }
    let Some(channels) = views.first().and_then(View::channels) else {
        return Err("no series; give at least one".to_owned());
    };
    let kind = match kind {
        Some(kind) => kind.clone(),
        None => Kind::Channels(channel_names(channels)),
    };
    let each = views.iter().enumerate().map(|(index, view)| {
        let found = view.channels();
        if found != kind.dimension() {
            let [found, wanted] = [found, kind.dimension()].map(|n| match n {
                Some(n) => format!("{n} channels"),
                None => "symbols".to_owned(),
            });
            return Err(format!("series {index} has {found} where {wanted} are expected"));
        }
        view.samples().map_err(|what| format!("series {index}, {what}"))
    });
    let samples = each.collect::<Result<_, _>>()?;
    Ok((kind, samples))
}

/// Names of channels that have none.
fn channel_names(count: usize) -> Vec<String> {
    match count {
        1 => vec!["x".to_owned()],
        _ => (0..count).map(|channel| format!("x{channel}")).collect(),
    }
}

/// Reads strings as the table of strings is read.
fn strings(views: &[View<'_>], kind: Option<&Kind>) -> Result<(Kind, Vec<Samples>), String> {
    let mut text = "sequence\n".to_owned();
    for (index, view) in views.iter().enumerate() {
        let View::Text(one) = view else {
            return Err(format!("series {index} is an array among strings"));
        };
        if one.is_empty() || one.contains(['\t', '\n', '\r', '"']) {
            return Err(format!(
                "string {index} is empty, or has a tab, a quote or a line break in it"
            ));
        }
        text.push_str(one);
        text.push('\n');
    }
    let options = ReadOptions {
        kind: kind.cloned(),
        layout: fishweir::data::layout("strings"),
        ..ReadOptions::default()
    };
    let read = Data::parse(ARRAYS, text.as_bytes(), &options).map_err(|e| e.to_string())?;
    Ok((read.kind().clone(), read.series().iter().map(|one| one.samples.clone()).collect()))
}
