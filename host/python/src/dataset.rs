//! Labelled series in the library's memory.

use std::sync::Arc;

use fishweir::data::{Alphabet, Dataset as Data, Kind, ReadOptions, Samples, Series as One};
use pyo3::prelude::*;

use crate::arrays::{Series, View};
use crate::error::{raised, refused};

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
        let held = Series::of(series)?;
        let views = held.views();
        let kind = match alphabet {
            Some(text) => Some(Kind::Symbols(text.parse::<Alphabet>().map_err(raised)?)),
            None => channels.map(Kind::Channels),
        };
        let made = py.detach(|| -> Result<Data, String> {
            let (kind, samples) = read(&views, kind.as_ref())?;
            let count = samples.len();
            if labels.as_ref().is_some_and(|labels| labels.len() != count) {
                return Err(format!("{} labels for {count} series", labels.map_or(0, |l| l.len())));
            }
            if groups.as_ref().is_some_and(|groups| groups.len() != count) {
                return Err(format!("{} groups for {count} series", groups.map_or(0, |l| l.len())));
            }
            let series = samples.into_iter().enumerate().map(|(index, samples)| One {
                id: index.to_string(),
                label: labels.as_ref().and_then(|labels| usize::try_from(labels[index]).ok()),
                columns: groups.iter().map(|groups| groups[index].clone()).collect(),
                times: Vec::new(),
                samples,
                line: 0,
            });
            let columns = groups.iter().map(|_| GROUP.to_owned()).collect();
            let data = Data::new("memory", kind, classes, columns, series.collect());
            let data = data.map_err(|error| error.to_string())?;
            Ok(match rate {
                Some(rate) => data.sampled_at(rate),
                None => data,
            })
        });
        made.map(Self::from).map_err(refused)
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

    /// Class of each series, an index of `classes`; -1 without a label.
    #[getter]
    fn labels(&self) -> Vec<i64> {
        let label = |one: &One| one.label.map_or(-1, |label| label as i64);
        self.data.series().iter().map(label).collect()
    }
}

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
    let read = Data::parse("memory", text.as_bytes(), &options).map_err(|e| e.to_string())?;
    Ok((read.kind().clone(), read.series().iter().map(|one| one.samples.clone()).collect()))
}
