//! One model, regardless of labels.

use crate::data::{Dataset, SamplesView, centre_and_scale};
use crate::fit::{BaumWelch, Fit, FitError};

/// A model fitted to some series of a data set, regardless of their labels.
///
/// `progress` is called after every pass of Baum-Welch.
///
/// # Errors
/// [`FitError`] if an option is out of range or there is nothing to fit.
pub fn fit_one(
    data: &Dataset,
    series: &[usize],
    options: &BaumWelch,
    progress: &(dyn Fn() + Sync),
) -> Result<Fit, FitError> {
    let sequences: Vec<SamplesView<'_>> =
        series.iter().map(|&index| data.series()[index].samples.view()).collect();
    let (_, scale) = centre_and_scale(data, series);
    options.fit(&sequences, data.kind().size(), &scale, progress)
}
