//! One model for all series, and the scale of their channels.

use crate::data::{Dataset, Kind, SamplesView};
use crate::fit::{BaumWelch, Fit, FitError};
use crate::runtime::numbers::centre_and_spread;

/// A model fitted to all series of a data set, whatever their labels.
///
/// `progress` is told of every pass of Baum-Welch.
///
/// # Errors
/// [`FitError`] if an option is out of range or there is nothing to fit.
pub fn fit_one(
    data: &Dataset,
    options: &BaumWelch,
    progress: &(dyn Fn() + Sync),
) -> Result<Fit, FitError> {
    let all: Vec<usize> = (0..data.series().len()).collect();
    let sequences: Vec<SamplesView<'_>> =
        data.series().iter().map(|series| series.samples.view()).collect();
    let (_, scale) = centre_and_scale(data, &all);
    options.fit(&sequences, data.kind().size(), &scale, progress)
}

/// Mean and standard deviation of each channel over the series; empty for symbols.
pub(crate) fn centre_and_scale(data: &Dataset, series: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let views = series.iter().map(|&index| data.series()[index].samples.view());
    centre_and_scale_of(data.kind(), &views.collect::<Vec<_>>())
}

/// Standard deviation of each channel over parts of series; empty for symbols.
pub(super) fn scale_of(kind: &Kind, samples: &[SamplesView<'_>]) -> Vec<f64> {
    centre_and_scale_of(kind, samples).1
}

fn centre_and_scale_of(kind: &Kind, samples: &[SamplesView<'_>]) -> (Vec<f64>, Vec<f64>) {
    let Some(dimension) = kind.dimension() else { return Default::default() };
    let rows =
        || samples.iter().filter_map(SamplesView::rows).flat_map(|rows| rows.iter().flatten());
    let (centre, spread) = centre_and_spread(dimension, rows);
    // A channel that never moves carries nothing; any scale will do but zero.
    (centre, spread.into_iter().map(|std| if std > 0.0 { std } else { 1.0 }).collect())
}
