//! Streams: a classifier in the middle of samples, in the device's arithmetic.

use std::sync::{Arc, Mutex, PoisonError};

use fishweir::data::{Decoded, Kind, Sample};
use fishweir::deploy::{OpenWindow, WindowStream};
use fishweir::estimator::Fitted;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::classifier::{Classifier, word};
use crate::error::{raised, refused};

/// A stream that decides at the end of each window of the training, as a device does.
#[pyclass(frozen, module = "fishweir._fishweir")]
pub(crate) struct Stream {
    fitted: Arc<Fitted>,
    kind: Kind,
    stream: Mutex<WindowStream>,
}

/// A decision on a run of samples.
#[pyclass(frozen, get_all, module = "fishweir._fishweir")]
pub(crate) struct Decision {
    /// Index of the class.
    class_index: usize,
    /// Place of the first sample, from 0.
    start: u64,
    /// Place after the last sample.
    end: u64,
    /// Margin over the best other class.
    margin: f64,
    /// Probability of each class.
    probabilities: Vec<f64>,
    /// Reason to doubt it, of a classifier that rejects.
    doubt: Option<&'static str>,
}

#[pymethods]
impl Stream {
    /// A stream before its first sample; an endless one decides after each sample.
    #[new]
    fn new(classifier: &Classifier, endless: bool) -> PyResult<Self> {
        let fitted = Arc::clone(&classifier.fitted);
        let deployed = fitted.deployed();
        let kind = deployed.observations().kind().map_err(raised)?;
        let stream = match endless {
            true => deployed.stream().into(),
            false => deployed.window_stream(),
        };
        Ok(Self { fitted, kind, stream: Mutex::new(stream) })
    }

    /// Takes in a sample: a number per channel, a symbol, or `None` for a missing one. Returns the decision that is due, if
    /// any.
    ///
    /// A refused sample raises an exception and counts as missing.
    fn push(&self, sample: &Bound<'_, PyAny>) -> PyResult<Option<Decision>> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let row;
        let sample = match &self.kind {
            _ if sample.is_none() => Sample::Missing,
            Kind::Symbols(alphabet) => {
                let Ok(text) = sample.cast::<PyString>() else {
                    let what = format!("a sample is a symbol of {alphabet}, or None");
                    return Err(refused(format!("{}: {what}", shown(sample)?)));
                };
                let text = text.to_str()?;
                match alphabet.decode_word(text) {
                    Decoded::Symbol(symbol) => Sample::Symbol(symbol),
                    Decoded::Missing => Sample::Missing,
                    Decoded::Unknown => {
                        return Err(refused(format!("`{text}` is not a symbol of {alphabet}")));
                    }
                }
            }
            Kind::Channels(names) => {
                let wanted = names.len();
                row = match sample.extract::<f64>() {
                    Ok(number) => vec![number],
                    Err(_) => match sample.extract::<Vec<Option<f64>>>() {
                        Ok(row) => row.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect(),
                        Err(_) => {
                            let what = format!("a sample is a row of {wanted} numbers, or None");
                            return Err(refused(format!("{}: {what}", shown(sample)?)));
                        }
                    },
                };
                if row.len() != wanted {
                    let (found, names) = (row.len(), names.join(", "));
                    let what = format!("{found} numbers, and there are {wanted} channels: {names}");
                    return Err(refused(what));
                }
                match row.iter().all(|x| x.is_nan()) {
                    true => Sample::Missing,
                    false => Sample::Row(&row),
                }
            }
        };
        stream.push(sample).map_err(raised)?;
        stream.decided().map(|window| self.decision(window)).transpose()
    }

    /// The decision on the oldest open window so far, or `None` where nothing may be decided yet.
    fn so_far(&self) -> PyResult<Option<Decision>> {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        stream.so_far().map(|window| self.decision(window)).transpose()
    }

    /// The log-likelihood of the oldest open window so far under each model, in single precision as on a device; `None` where
    /// nothing may be decided yet.
    fn log_likelihoods(&self) -> Option<Vec<f64>> {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let window = stream.so_far()?;
        Some(window.stream.log_likelihoods().into_iter().map(f64::from).collect())
    }

    /// Forgets the past.
    fn reset(&self) {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner).reset();
    }

    /// Samples of a window, and from one to the next; `None` of a stream that never ends.
    #[getter]
    fn windows(&self) -> Option<(u32, u32)> {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        stream.windows().map(|windows| (windows.length, windows.hop))
    }

    /// Samples since the last reset, missing ones included.
    #[getter]
    fn samples(&self) -> u64 {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner).samples()
    }
}

/// What was given, for a message.
fn shown(given: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = given.repr()?.to_str()?.to_owned();
    Ok(if text.chars().count() > 60 {
        text.chars().take(57).chain("...".chars()).collect()
    } else {
        text
    })
}

impl Stream {
    fn decision(&self, window: OpenWindow<'_>) -> PyResult<Decision> {
        let decision = window.stream.decision().map_err(raised)?;
        Ok(Decision {
            class_index: decision.class,
            start: window.start,
            end: window.end,
            margin: f64::from(decision.margin),
            probabilities: self.fitted.probabilities(window.stream).map_err(raised)?,
            doubt: self.fitted.doubt(window.stream).map(word),
        })
    }
}
