//! Moments of channels that are Gaussian, each by itself: taken, estimated from, and as scores.

use fishweir_core::emission::{GaussianMoments, GaussianView, Spread};

use crate::data::internals::centre_and_spread;

/// A direction as the rate of a log density: `constant + sum_d z_d (linear_d + quadratic_d z_d)`.
pub(super) struct Moments<'a> {
    pub(super) constant: f64,
    pub(super) linear: Vec<f64>,
    pub(super) quadratic: &'a [f64],
}

impl<'a> Moments<'a> {
    /// Moments of a direction in means and log standard deviations.
    pub(super) fn of_score(mean: &[f64], log_std: &'a [f64], std: &[f64]) -> Self {
        Self {
            constant: -log_std.iter().sum::<f64>(),
            linear: mean.iter().zip(std).map(|(mean, std)| mean * (1.0 / std)).collect(),
            quadratic: log_std,
        }
    }
}

/// Adds a weighed row to the moments of `z = (x - mean) rate`.
#[inline]
pub(super) fn add(
    x: &[f64],
    weight: f64,
    (mean, rate): (&[f64], &[f64]),
    (first, second): (&mut [f64], &mut [f64]),
) {
    let channels = x.len();
    let (mean, rate) = (&mean[..channels], &rate[..channels]);
    let (first, second) = (&mut first[..channels], &mut second[..channels]);
    for d in 0..channels {
        let z = (x[d] - mean[d]) * rate[d];
        first[d] += weight * z;
        second[d] += weight * z * z;
    }
}

/// [`add`] of a row that lacks channels: of these `E[z] = 0` and `E[z^2] = 1`, and `lacks` hears of them.
pub(super) fn add_partial(
    x: &[f64],
    weight: f64,
    (mean, rate): (&[f64], &[f64]),
    (first, second): (&mut [f64], &mut [f64]),
    mut lacks: impl FnMut(usize),
) {
    for d in 0..x.len() {
        if x[d].is_nan() {
            second[d] += weight;
            lacks(d);
            continue;
        }
        let z = (x[d] - mean[d]) * rate[d];
        first[d] += weight * z;
        second[d] += weight * z * z;
    }
}

/// Mean and spread of a cluster of rows, channel by channel: those of all data where it has no sample of a channel, or not
/// more than `few`.
pub(super) fn centre_and_spread_of_cluster(
    rows: &[&[f64]],
    centre: &[f64],
    scale: &[f64],
    few: usize,
) -> (Vec<f64>, Vec<f64>) {
    // In the channels' own units: of what never moves the mean is what it is, to the last bit.
    let (mut mean, mut spread) = centre_and_spread(scale.len(), || rows.iter().copied());
    for d in 0..scale.len() {
        let count = rows.iter().filter(|row| !row[d].is_nan()).count();
        if count == 0 {
            mean[d] = centre[d];
        }
        if count <= few {
            spread[d] = scale[d];
        }
    }
    (mean, spread)
}

/// The likeliest mean and standard deviation, from the moments under those there are, less what was expected of
/// `absent` channels; without observations they stay.
pub(super) fn estimate(
    (mean, std): (&mut [f64], &mut [f64]),
    (occupancy, first, second): (f64, &[f64], &[f64]),
    absent: &[f64],
    floor: &[f64],
) {
    if occupancy < 1e-8 {
        return;
    }
    for (channel, &floor) in floor.iter().enumerate() {
        let absent = absent.get(channel).copied().unwrap_or(0.0);
        let occupancy = occupancy - absent;
        if occupancy < 1e-8 {
            continue;
        }
        let shift = first[channel] / occupancy;
        let square = (second[channel] - absent) / occupancy;
        let old = std[channel];
        mean[channel] += shift * old;
        let variance = (square - shift * shift).max(0.0);
        std[channel] = (variance.sqrt() * old).max(floor);
    }
}

/// Mean and standard deviation of a channel over all states, from the moments of `z = (x - mean) / std` in each.
pub(super) fn pooled(
    [mean, std]: [&[Vec<f64>]; 2],
    [occupancy, first, second]: [&[Vec<f64>]; 3],
    channel: usize,
) -> [f64; 2] {
    let (mut count, mut sum) = (0.0, 0.0);
    for state in 0..mean.len() {
        count += occupancy[state][0];
        sum += occupancy[state][0] * mean[state][channel]
            + std[state][channel] * first[state][channel];
    }
    if count <= 0.0 {
        return [0.0, 0.0];
    }
    let (centre, mut square) = (sum / count, 0.0);
    for state in 0..mean.len() {
        let (std, away) = (std[state][channel], mean[state][channel] - centre);
        let (first, second) = (first[state][channel], second[state][channel]);
        square += std * std * second + 2.0 * std * away * first + away * away * occupancy[state][0];
    }
    [centre, (square / count).max(0.0).sqrt()]
}

/// The score of the means, and that of the variances or log standard deviations.
pub(super) fn score(
    (mean, std): (&[f64], &[f64]),
    moments: GaussianMoments<'_, f64>,
    spread: Spread,
) -> (Vec<f64>, Vec<f64>) {
    let rate: Vec<f64> = std.iter().map(|std| 1.0 / std).collect();
    let none = vec![(); mean.len()];
    let view = GaussianView { mean, rate: &rate, constant: 0.0, linear: &none, quadratic: &none };
    let (mut means, mut spreads) = (vec![0.0; mean.len()], vec![0.0; mean.len()]);
    view.score(moments, spread, &mut means, &mut spreads);
    (means, spreads)
}
