//! The observations of one series, owned ([`Samples`]) and borrowed ([`SamplesView`]).

use std::ops::Range;

/// One observation of a live stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample<'a> {
    /// A row of real channels, in the order of the model's. A missing channel is NaN.
    Row(&'a [f64]),
    /// A symbol, by its index in the alphabet.
    Symbol(u16),
    /// A missing observation.
    Missing,
}

impl Sample<'_> {
    /// The sample; a missing one where a channel is missing.
    #[must_use]
    #[inline]
    pub fn if_whole(self) -> Self {
        match self {
            Self::Row(row) if is_partial(row) => Self::Missing,
            other => other,
        }
    }

    /// The sample; a missing one where every channel is.
    #[inline]
    pub fn unless_empty(self) -> Self {
        match self {
            Self::Row(row) if !row.is_empty() && row.iter().all(|x| x.is_nan()) => Self::Missing,
            other => other,
        }
    }
}

/// Presence of the channels of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Missing,
    Partial,
    Complete,
}

impl Presence {
    /// Presence of the channels in a row, in which a missing one is NaN.
    fn of(row: &[f64]) -> Self {
        match row.iter().filter(|x| x.is_nan()).count() {
            0 => Self::Complete,
            missing if missing == row.len() => Self::Missing,
            _ => Self::Partial,
        }
    }
}

/// Returns whether a channel of a row is missing, that is, NaN.
#[inline]
pub fn is_partial(row: &[f64]) -> bool {
    row.iter().any(|x| x.is_nan())
}

/// Real observations of `dimension` channels, row-major: `[time][channel]`.
///
/// A missing observation occupies a row too, so that time keeps its meaning. A channel that is missing in an observation
/// is NaN.
#[derive(Clone, Debug)]
pub struct Rows {
    dimension: usize,
    values: Vec<f64>,
    presence: Vec<Presence>,
}

impl Rows {
    /// No row yet, `dimension` channels.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, values: Vec::new(), presence: Vec::new() }
    }

    /// No row yet, `dimension` channels, and room for `length` rows.
    pub fn with_capacity(dimension: usize, length: usize) -> Self {
        let values = Vec::with_capacity(dimension * length);
        Self { dimension, values, presence: Vec::with_capacity(length) }
    }

    /// Appends one observation, `None` for a missing one. A channel that is missing is NaN; a row of them is a missing
    /// observation.
    ///
    /// # Panics
    /// If the row does not have `dimension` channels: a mistake of the caller, not of a file.
    #[inline]
    pub fn push(&mut self, row: Option<&[f64]>) {
        let presence = row.map_or(Presence::Missing, |row| {
            assert_eq!(row.len(), self.dimension, "a row must have one value per channel");
            Presence::of(row)
        });
        match row {
            Some(row) if presence != Presence::Missing => self.values.extend_from_slice(row),
            // Never read through the interface; zero keeps arithmetic on raw storage harmless.
            _ => self.values.resize(self.values.len() + self.dimension, 0.0),
        }
        self.presence.push(presence);
    }

    /// Makes each observation that lacks a channel a missing one.
    pub(super) fn leave_out_partial(&mut self) {
        for t in 0..self.presence.len() {
            if self.presence[t] == Presence::Partial {
                self.presence[t] = Presence::Missing;
                self.values[t * self.dimension..][..self.dimension].fill(0.0);
            }
        }
    }

    /// The whole, borrowed.
    #[inline]
    pub fn view(&self) -> RowsView<'_> {
        RowsView { dimension: self.dimension, values: &self.values, presence: &self.presence }
    }
}

/// Missing channels are equal.
impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.view() == other.view()
    }
}

/// A borrowed run of [`Rows`].
#[derive(Clone, Copy, Debug)]
pub struct RowsView<'a> {
    dimension: usize,
    values: &'a [f64],
    presence: &'a [Presence],
}

impl PartialEq for RowsView<'_> {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
        self.dimension == other.dimension
            && self.presence == other.presence
            && self.values.iter().zip(other.values).all(same)
    }
}

impl<'a> RowsView<'a> {
    /// Number of channels.
    #[inline]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of observations, missing ones included.
    #[inline]
    pub fn len(&self) -> usize {
        self.presence.len()
    }

    /// True without any observation.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.presence.is_empty()
    }

    /// Observation `t`: its channels, or `None` where one of them is missing. For a reader that knows no missing channels.
    ///
    /// # Panics
    /// If `t >= self.len()`.
    #[inline]
    pub fn row(&self, t: usize) -> Option<&'a [f64]> {
        (self.presence[t] == Presence::Complete).then(|| self.stored(t))
    }

    /// Observation `t`: its channels, of which NaN is missing, or `None` where all are.
    ///
    /// # Panics
    /// If `t >= self.len()`.
    #[inline]
    pub fn row_in_part(&self, t: usize) -> Option<&'a [f64]> {
        (self.presence[t] != Presence::Missing).then(|| self.stored(t))
    }

    #[inline]
    fn stored(&self, t: usize) -> &'a [f64] {
        &self.values[t * self.dimension..(t + 1) * self.dimension]
    }

    /// All observations in order of time, as [`row`](Self::row).
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&'a [f64]>> + Clone + use<'a> {
        let view = *self;
        (0..view.len()).map(move |t| view.row(t))
    }

    /// All observations in order of time, as [`row_in_part`](Self::row_in_part).
    #[inline]
    pub fn iter_in_part(
        &self,
    ) -> impl ExactSizeIterator<Item = Option<&'a [f64]>> + Clone + use<'a> {
        let view = *self;
        (0..view.len()).map(move |t| view.row_in_part(t))
    }

    /// Stored values, row by row: zeros for a missing observation, NaN for a missing channel.
    #[inline]
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// Returns whether any observation is missing.
    #[inline]
    pub fn has_gaps(&self) -> bool {
        self.presence.contains(&Presence::Missing)
    }

    /// Returns whether any observation lacks some channels but not all.
    pub fn has_partial_rows(&self) -> bool {
        self.presence.contains(&Presence::Partial)
    }

    /// Observations `range.start..range.end`, without copying.
    ///
    /// # Panics
    /// If the range leaves the view.
    #[inline]
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self {
            dimension: self.dimension,
            values: &self.values[range.start * self.dimension..range.end * self.dimension],
            presence: &self.presence[range],
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
    #[inline]
    pub fn view(&self) -> SamplesView<'_> {
        match self {
            Self::Channels(rows) => SamplesView::Channels(rows.view()),
            Self::Symbols(symbols) => SamplesView::Symbols(symbols),
        }
    }
}

/// Complete rows of channels.
impl<const D: usize> FromIterator<[f64; D]> for Samples {
    fn from_iter<I: IntoIterator<Item = [f64; D]>>(rows: I) -> Self {
        let mut samples = Rows::new(D);
        rows.into_iter().for_each(|row| samples.push(Some(&row)));
        Self::Channels(samples)
    }
}

/// Symbols by their places in the alphabet, without missing ones.
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
    /// A copy.
    pub fn to_samples(&self) -> Samples {
        match self {
            Self::Symbols(symbols) => Samples::Symbols(symbols.to_vec()),
            Self::Channels(view) => {
                let mut rows = Rows::new(view.dimension());
                view.iter_in_part().for_each(|row| rows.push(row));
                Samples::Channels(rows)
            }
        }
    }

    /// Number of observations, missing ones included.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Channels(rows) => rows.len(),
            Self::Symbols(symbols) => symbols.len(),
        }
    }

    /// True without any observation.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The observations in order, as a stream delivers them. A missing channel of a row is NaN.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Sample<'a>> + use<'a> {
        let view = *self;
        (0..view.len()).map(move |t| match view {
            Self::Channels(rows) => rows.row_in_part(t).map_or(Sample::Missing, Sample::Row),
            Self::Symbols(symbols) => symbols[t].map_or(Sample::Missing, Sample::Symbol),
        })
    }

    /// Number of observations that are there, whole or in part.
    pub fn observed(&self) -> usize {
        match self {
            Self::Channels(rows) => {
                rows.presence.iter().filter(|one| **one != Presence::Missing).count()
            }
            Self::Symbols(symbols) => symbols.iter().flatten().count(),
        }
    }

    /// Observations `range.start..range.end`, without copying.
    ///
    /// # Panics
    /// If the range leaves the view.
    #[inline]
    pub fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Self::Channels(rows) => Self::Channels(rows.slice(range)),
            Self::Symbols(symbols) => Self::Symbols(&symbols[range]),
        }
    }

    /// Some columns of rows of real channels; symbols stay as they are.
    pub fn of_columns(&self, columns: &[usize]) -> Samples {
        match self {
            Self::Symbols(symbols) => Samples::Symbols(symbols.to_vec()),
            Self::Channels(rows) => {
                let (mut some, mut own) = (Rows::new(columns.len()), vec![0.0; columns.len()]);
                for row in rows.iter_in_part() {
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
    #[inline]
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

    #[test]
    fn a_row_may_lack_channels() {
        let mut rows = Rows::new(2);
        for row in [[1.0, f64::NAN], [f64::NAN; 2], [3.0, 4.0]] {
            rows.push(Some(&row));
        }
        let view = rows.view();
        assert_eq!((view.row(0), view.row(1)), (None, None));
        let first = view.row_in_part(0).expect("in part");
        assert!(first[0] == 1.0 && first[1].is_nan());
        assert_eq!(view.row_in_part(1), None, "nothing was there");
        assert!(view.has_partial_rows() && view.has_gaps());
        assert!(!view.slice(1..3).has_partial_rows());
        assert_eq!(view, rows.clone().view());
        let samples = Samples::Channels(rows);
        assert_eq!(samples.view().observed(), 2);
        assert_eq!(samples.view().of_columns(&[1]).view().observed(), 1);
    }
}
