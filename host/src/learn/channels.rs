//! Channels, and samples, that a model can learn little from.

use crate::data::centre_and_scale;
use crate::data::{Dataset, Front, Kind};

/// Channels that never change over some series: they tell nothing apart.
pub fn constant_channels<'a>(data: &'a Dataset, series: &[usize]) -> Vec<&'a str> {
    let Kind::Channels(names) = data.kind() else { return Vec::new() };
    let rows = || {
        let views = series.iter().filter_map(|&index| data.series()[index].samples.view().rows());
        views.flat_map(|rows| rows.iter().flatten())
    };
    let Some(first) = rows().next() else { return Vec::new() };
    let constant = |channel: &usize| rows().all(|row| row[*channel] == first[*channel]);
    (0..names.len()).filter(constant).map(|channel| names[channel].as_str()).collect()
}

/// Channels whose steps in single precision, in which devices compute, are over a tenth of their standard
/// deviation over some series: the name, the step, the deviation.
pub fn coarse_channels<'a>(data: &'a Dataset, series: &[usize]) -> Vec<(&'a str, f32, f64)> {
    let Kind::Channels(names) = data.kind() else { return Vec::new() };
    let (centre, scale) = centre_and_scale(data, series);
    let coarse =
        names.iter().zip(centre.iter().zip(&scale)).filter_map(|(name, (&mean, &spread))| {
            let mean = mean.abs() as f32;
            let step = mean.next_up() - mean;
            (f64::from(step) > spread / 10.0).then_some((name.as_str(), step, spread))
        });
    coarse.filter(|&(name, ..)| !constant_channels(data, series).contains(&name)).collect()
}

/// Samples of some series that a front end refuses, which are missing to models: how many, and series and time of the
/// first.
pub fn refused_samples(
    data: &Dataset,
    series: &[usize],
    front: &Front,
) -> Option<(usize, (usize, usize))> {
    let front = front.over(data.kind()).ok().filter(|front| !front.is_empty())?;
    let of = |&index: &usize| front.refused(data.series()[index].samples.view());
    let each: Vec<Vec<usize>> = series.iter().map(of).collect();
    let first = series.iter().zip(&each).find_map(|(&index, at)| Some((index, *at.first()?)))?;
    Some((each.iter().map(Vec::len).sum(), first))
}
