//! Rests of channels: a sensor that is stuck, or unplugged, repeats one number.

use super::dataset::{Dataset, Kind};
use super::samples::RowsView;

/// Number of samples below which one number may be chance.
const STILL: usize = 8;

/// Lengths of the runs of one number in the channels of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rests {
    /// Samples that are observed.
    pub observed: usize,
    /// The most samples in a row with one number, those that are missing aside, `[channel]`.
    pub longest: Vec<usize>,
}

impl Rests {
    pub(crate) fn of(rows: RowsView<'_>) -> Self {
        let channels = rows.dimension();
        let (mut observed, mut longest) = (0, vec![0; channels]);
        let (mut last, mut length) = (vec![f64::NAN; channels], vec![0_usize; channels]);
        for row in rows.iter().flatten() {
            observed += 1;
            for channel in 0..channels {
                let goes_on = row[channel] == last[channel];
                length[channel] = if goes_on { length[channel] + 1 } else { 1 };
                longest[channel] = longest[channel].max(length[channel]);
                last[channel] = row[channel];
            }
        }
        Self { observed, longest }
    }

    /// Runs of equal numbers in some series; empty over symbols.
    ///
    /// # Panics
    /// If there is no such series.
    pub fn all(data: &Dataset, series: &[usize]) -> Vec<Self> {
        let Kind::Channels(_) = data.kind() else { return Vec::new() };
        let views = series.iter().filter_map(|&one| data.series()[one].samples.view().rows());
        views.map(Self::of).collect()
    }

    /// Returns whether a channel keeps one number from the first sample to the last, of two or more.
    pub fn never_changes(&self, channel: usize) -> bool {
        self.observed > 1 && self.longest[channel] == self.observed
    }

    /// Returns whether it does so for long enough to be significant.
    pub fn is_still(&self, channel: usize) -> bool {
        self.observed >= STILL && self.never_changes(channel)
    }

    /// Number of series of significant length, if a channel never changes within any of them; else zero.
    pub fn within_each(all: &[Self], channel: usize) -> usize {
        let long = || all.iter().filter(|one| one.observed >= STILL);
        if long().all(|one| one.never_changes(channel)) { long().count() } else { 0 }
    }
}
