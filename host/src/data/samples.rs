//! The observations of one series, owned ([`Samples`]) and borrowed ([`SamplesView`]).

use std::ops::Range;

/// One observation of a live stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample<'a> {
    /// A row of real channels, in the order of the model's.
    Row(&'a [f64]),
    /// A symbol, by its index in the alphabet.
    Symbol(u16),
    /// A missing observation.
    Missing,
}

/// Real observations of `dimension` channels, row-major: `[time][channel]`.
///
/// A missing observation occupies a row too, so that time keeps its meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    dimension: usize,
    values: Vec<f64>,
    observed: Vec<bool>,
}

impl Rows {
    /// No row yet, `dimension` channels.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, values: Vec::new(), observed: Vec::new() }
    }

    /// Appends one observation, `None` for a missing one.
    ///
    /// # Panics
    /// If the row does not have `dimension` channels: a mistake of the caller, not of a file.
    pub fn push(&mut self, row: Option<&[f64]>) {
        match row {
            Some(row) => {
                assert_eq!(row.len(), self.dimension, "a row must have one value per channel");
                self.values.extend_from_slice(row);
            }
            // Never read through the interface; zero keeps arithmetic on raw storage harmless.
            None => self.values.resize(self.values.len() + self.dimension, 0.0),
        }
        self.observed.push(row.is_some());
    }

    /// The whole, borrowed.
    pub fn view(&self) -> RowsView<'_> {
        RowsView { dimension: self.dimension, values: &self.values, observed: &self.observed }
    }
}

/// A borrowed run of [`Rows`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowsView<'a> {
    dimension: usize,
    values: &'a [f64],
    observed: &'a [bool],
}

impl<'a> RowsView<'a> {
    /// Number of channels.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of observations, missing ones included.
    pub fn len(&self) -> usize {
        self.observed.len()
    }

    /// True without any observation.
    pub fn is_empty(&self) -> bool {
        self.observed.is_empty()
    }

    /// Observation `t`: its channels, or `None` when it is missing.
    ///
    /// # Panics
    /// If `t >= self.len()`.
    #[inline]
    pub fn row(&self, t: usize) -> Option<&'a [f64]> {
        self.observed[t].then(|| &self.values[t * self.dimension..(t + 1) * self.dimension])
    }

    /// All observations in order of time, missing ones as `None`.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&'a [f64]>> + Clone + use<'a> {
        let view = *self;
        (0..view.len()).map(move |t| view.row(t))
    }

    /// What is stored, row by row: zeros for a missing observation.
    pub(crate) fn values(&self) -> &'a [f64] {
        self.values
    }

    /// Whether any observation is missing.
    pub(crate) fn has_gaps(&self) -> bool {
        self.observed.contains(&false)
    }

    /// Observations `range.start..range.end`, without copying.
    ///
    /// # Panics
    /// If the range leaves the view.
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self {
            dimension: self.dimension,
            values: &self.values[range.start * self.dimension..range.end * self.dimension],
            observed: &self.observed[range],
        }
    }
}

/// The observations of one series.
#[derive(Clone, Debug, PartialEq)]
pub enum Samples {
    /// Real channels.
    Channels(Rows),
    /// Indices into the data set's alphabet; `None` is missing.
    Symbols(Vec<Option<u16>>),
}

impl Samples {
    /// The whole, borrowed.
    pub fn view(&self) -> SamplesView<'_> {
        match self {
            Self::Channels(rows) => SamplesView::Channels(rows.view()),
            Self::Symbols(symbols) => SamplesView::Symbols(symbols),
        }
    }
}

/// Rows of channels, none of them missing.
impl<const D: usize> FromIterator<[f64; D]> for Samples {
    fn from_iter<I: IntoIterator<Item = [f64; D]>>(rows: I) -> Self {
        let mut samples = Rows::new(D);
        rows.into_iter().for_each(|row| samples.push(Some(&row)));
        Self::Channels(samples)
    }
}

/// Symbols by their places in the alphabet, none of them missing.
impl FromIterator<u16> for Samples {
    fn from_iter<I: IntoIterator<Item = u16>>(symbols: I) -> Self {
        Self::Symbols(symbols.into_iter().map(Some).collect())
    }
}

/// A borrowed run of [`Samples`]: a whole series or a window of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SamplesView<'a> {
    /// Real channels.
    Channels(RowsView<'a>),
    /// Indices into the data set's alphabet; `None` is missing.
    Symbols(&'a [Option<u16>]),
}

impl<'a> SamplesView<'a> {
    /// Number of observations, missing ones included.
    pub fn len(&self) -> usize {
        match self {
            Self::Channels(rows) => rows.len(),
            Self::Symbols(symbols) => symbols.len(),
        }
    }

    /// True without any observation.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The observations in order, as a stream delivers them.
    pub fn iter(&self) -> impl Iterator<Item = Sample<'a>> + use<'a> {
        let view = *self;
        (0..view.len()).map(move |t| match view {
            Self::Channels(rows) => rows.row(t).map_or(Sample::Missing, Sample::Row),
            Self::Symbols(symbols) => symbols[t].map_or(Sample::Missing, Sample::Symbol),
        })
    }

    /// Number of observations that are there.
    pub fn observed(&self) -> usize {
        match self {
            Self::Channels(rows) => rows.observed.iter().filter(|&&seen| seen).count(),
            Self::Symbols(symbols) => symbols.iter().flatten().count(),
        }
    }

    /// Observations `range.start..range.end`, without copying.
    ///
    /// # Panics
    /// If the range leaves the view.
    pub fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Self::Channels(rows) => Self::Channels(rows.slice(range)),
            Self::Symbols(symbols) => Self::Symbols(&symbols[range]),
        }
    }

    /// Some columns of rows of real channels; symbols stay what they are.
    pub(crate) fn of_columns(&self, columns: &[usize]) -> Samples {
        match self {
            Self::Symbols(symbols) => Samples::Symbols(symbols.to_vec()),
            Self::Channels(rows) => {
                let (mut some, mut own) = (Rows::new(columns.len()), vec![0.0; columns.len()]);
                for row in rows.iter() {
                    if let Some(row) = row {
                        for d in 0..columns.len() {
                            own[d] = row[columns[d]];
                        }
                    }
                    some.push(row.map(|_| own.as_slice()));
                }
                Samples::Channels(some)
            }
        }
    }

    /// The rows, if these are real channels.
    #[inline]
    pub fn rows(&self) -> Option<RowsView<'a>> {
        match *self {
            Self::Channels(rows) => Some(rows),
            Self::Symbols(_) => None,
        }
    }

    /// The symbols, if these are symbols.
    pub fn symbols(&self) -> Option<&'a [Option<u16>]> {
        match *self {
            Self::Symbols(symbols) => Some(symbols),
            Self::Channels(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_row_keeps_its_place() {
        let mut rows = Rows::new(2);
        rows.push(Some(&[1.0, 2.0]));
        rows.push(None);
        rows.push(Some(&[3.0, 4.0]));
        let view = Samples::Channels(rows).clone();
        let view = view.view();
        assert_eq!((view.len(), view.observed()), (3, 2));
        let rows = view.slice(1..3).rows().expect("channels");
        assert_eq!(rows.iter().collect::<Vec<_>>(), [None, Some(&[3.0, 4.0][..])]);
        assert_eq!(view.symbols(), None);
    }
}
