//! One model for all series.

use crate::data::{Dataset, SamplesView, centre_and_scale};
use crate::fit::{BaumWelch, Fit, FitError};

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
