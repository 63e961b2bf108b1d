//! Input of models on a window: its samples and the device's integers, with past values at lags.

use crate::data::internals::Ring;
use crate::data::{Lags, Sample};
use crate::deploy::past::integers_in_part;

/// A sample as a model sees it.
#[derive(Clone)]
pub(super) enum Seen {
    Missing,
    Symbol(u16),
    /// The row unchanged, and in the device's integers; a channel that is missing is NaN, and `None`.
    Row(Vec<f64>, Vec<Option<i16>>),
}

impl Seen {
    pub(super) fn sample(&self) -> Sample<'_> {
        match self {
            Self::Missing => Sample::Missing,
            Self::Symbol(symbol) => Sample::Symbol(*symbol),
            Self::Row(row, _) => Sample::Row(row),
        }
    }

    /// Some columns of a row.
    fn columns(&self, columns: &[usize]) -> Self {
        match self {
            Self::Row(row, integers) => Self::Row(
                columns.iter().map(|&at| row[at]).collect(),
                columns.iter().map(|&at| integers[at]).collect(),
            ),
            other => other.clone(),
        }
    }
}

/// Values of all columns for a window's samples; `None` if 16 bits cannot hold one of them.
pub(super) fn seen(samples: &[Sample<'_>], lags: &Lags, places: &[i16]) -> Option<Vec<Seen>> {
    let mut exact = Ring::<f64>::new(lags.clone(), places.len());
    let mut fixed = Ring::<Option<i16>>::new(lags.clone(), places.len());
    let see = |sample: &Sample<'_>| match *sample {
        Sample::Symbol(symbol) => Some(Seen::Symbol(symbol)),
        Sample::Missing => {
            exact.take_missing();
            fixed.take_missing();
            Some(Seen::Missing)
        }
        Sample::Row(row) => {
            let own = integers_in_part(row, places).ok()?;
            let seen = match exact.widen(row).zip(fixed.widen(&own)) {
                Some((row, own)) => Seen::Row(row.to_vec(), own.to_vec()),
                None => Seen::Missing,
            };
            exact.take(row);
            fixed.take(&own);
            Some(seen)
        }
    };
    samples.iter().map(see).collect()
}

/// Selects the columns that a model reads; all for `None`.
pub(super) fn of_columns(seen: &[Seen], columns: Option<Vec<usize>>) -> Vec<Seen> {
    match columns {
        Some(columns) => seen.iter().map(|one| one.columns(&columns)).collect(),
        None => seen.to_vec(),
    }
}
