//! Refusals of series that lack channels.

use super::dataset::{Dataset, Kind, Series};
use super::error::DataError;
use super::samples::{RowsView, SamplesView};
use crate::words::shorten;

impl Dataset {
    /// Refuses a series with samples of which each lacks a channel, by the names of these: for a reader of whole samples.
    ///
    /// # Errors
    /// [`DataError::NoWholeRow`].
    pub fn check_whole_rows(&self) -> Result<(), DataError> {
        let none_whole = |one: &&Series| match one.samples.view() {
            SamplesView::Channels(rows) => {
                rows.has_partial_rows() && rows.iter().all(|row| row.is_none())
            }
            SamplesView::Symbols(_) => false,
        };
        let found = self.series().iter().find(none_whole);
        found.map_or(Ok(()), |one| Err(self.no_whole_row(one, &self.absent_in(one))))
    }

    /// Refuses channels that have no number in any series: nothing can be learnt of them.
    pub(super) fn check_channels(&self) -> Result<(), DataError> {
        if self.missing().absent.is_empty() {
            return Ok(());
        }
        let mut never: Option<Vec<bool>> = None;
        for one in self.series() {
            let absent = self.absent_in(one);
            let never = never.get_or_insert_with(|| absent.clone());
            never.iter_mut().zip(absent).for_each(|(never, absent)| *never &= absent);
        }
        match (never, self.series().first()) {
            (Some(never), Some(first)) if never.contains(&true) => {
                Err(self.no_whole_row(first, &never))
            }
            _ => Ok(()),
        }
    }

    /// The channels without a number in a series, `[channel]`.
    fn absent_in(&self, series: &Series) -> Vec<bool> {
        let mut absent = vec![true; self.kind().size()];
        let rows = series.samples.view().rows();
        for row in rows.iter().flat_map(RowsView::iter_in_part).flatten() {
            absent.iter_mut().zip(row).for_each(|(absent, x)| *absent &= x.is_nan());
        }
        absent
    }

    fn no_whole_row(&self, series: &Series, absent: &[bool]) -> DataError {
        let Kind::Channels(names) = self.kind() else {
            return DataError::NoSeries { file: self.source().to_owned() };
        };
        let names = names.iter().zip(absent).filter(|(_, absent)| **absent);
        let names: Vec<String> = names.map(|(name, _)| format!("`{}`", shorten(name))).collect();
        DataError::NoWholeRow {
            place: super::Place::line(self.source(), series.line).into(),
            series: shorten(&series.id),
            missing: match names.is_empty() {
                true => "one or another".to_owned(),
                false => names.join(", "),
            },
        }
    }
}
