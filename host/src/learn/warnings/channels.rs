//! Channels, samples and classes that a model can learn little from.

use std::collections::BTreeSet;

use crate::data::internals::centre_and_spread;
use crate::data::{DataError, Dataset, Front, Kind, centre_and_scale};

/// Channels that never change over some series: they separate no classes.
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

/// Number of series, or groups, below which a class is scarce: one to learn from, one to choose by, one to judge by.
const FEWEST: usize = 3;

/// Classes with fewer than three series among some, or series of fewer than three groups where a column names them, and
/// how many they have; classes of none are left out.
///
/// # Errors
/// [`DataError`] where there is no such column.
pub fn scarce_classes<'a>(
    data: &'a Dataset,
    series: &[usize],
    group: Option<&str>,
) -> Result<Vec<(&'a str, usize)>, DataError> {
    let groups = group.map(|column| data.groups(column)).transpose()?;
    let unit = |index: usize| groups.as_ref().map_or(index, |(of_series, _)| of_series[index]);
    let mut units = vec![BTreeSet::new(); data.classes().len()];
    for &index in series {
        if let Some(class) = data.series()[index].label {
            units[class].insert(unit(index));
        }
    }
    let counts = data.classes().iter().zip(units.iter().map(BTreeSet::len));
    let scarce = counts.filter(|(_, count)| (1..FEWEST).contains(count));
    Ok(scarce.map(|(class, count)| (class.as_str(), count)).collect())
}

/// A channel that is of another scale in one class than in another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disparity<'a> {
    /// The channel.
    pub channel: &'a str,
    /// Quantity that differs: `standard deviation`, or `largest absolute value`.
    pub measure: &'static str,
    /// Name of the class with the smallest value, and that value.
    pub small: (&'a str, f64),
    /// Name of the class with the largest value, and that value.
    pub large: (&'a str, f64),
}

/// Largest ratio between two classes' values of a channel: units differ by a thousand.
const WIDEST: f64 = 1000.0;

/// Channels whose standard deviations in two classes, over some series, are more than a thousandfold apart, or if they
/// are not, whose largest absolute values are: as where one class was recorded in other units.
///
/// In a class in which it never changes a channel has no scale of deviation, and is compared by its values alone; where
/// it is zero throughout, not at all.
///
/// Cost: a few operations per sample.
pub fn disparate_channels<'a>(data: &'a Dataset, series: &[usize]) -> Vec<Disparity<'a>> {
    let Kind::Channels(names) = data.kind() else { return Vec::new() };
    let of_class = |class: usize| {
        let own = series.iter().map(|&index| &data.series()[index]);
        let own = own.filter(move |one| one.label == Some(class));
        own.filter_map(|one| one.samples.view().rows()).flat_map(|rows| rows.iter().flatten())
    };
    // Of each class, channel by channel.
    let measured: Vec<[Vec<f64>; 2]> = (0..data.classes().len())
        .map(|class| {
            let (_, spread) = centre_and_spread(names.len(), || of_class(class));
            let mut largest = vec![0.0_f64; names.len()];
            for row in of_class(class) {
                largest.iter_mut().zip(row).for_each(|(most, x)| *most = most.max(x.abs()));
            }
            [spread, largest]
        })
        .collect();
    let apart = |channel: usize, which: usize, measure| {
        let values = data.classes().iter().zip(&measured);
        let values = values.map(|(class, values)| (class.as_str(), values[which][channel]));
        let values = values.filter(|(_, value)| *value > 0.0);
        let small = values.clone().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let large = values.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let channel = names[channel].as_str();
        (large.1 / small.1 > WIDEST).then_some(Disparity { channel, measure, small, large })
    };
    let either = |channel| {
        apart(channel, 0, "standard deviation")
            .or_else(|| apart(channel, 1, "largest absolute value"))
    };
    (0..names.len()).filter_map(either).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::ReadOptions;

    /// One series per line: class, group, samples of one channel.
    fn data(series: &[(&str, &str, &[f64])]) -> Dataset {
        let mut text = "series,who,label,t,x,y\n".to_owned();
        for (index, (class, who, samples)) in series.iter().enumerate() {
            for (t, x) in samples.iter().enumerate() {
                text += &format!("{index},{who},{class},{t},{x},{}\n", t % 2);
            }
        }
        Dataset::parse("data", text.as_bytes(), &ReadOptions::default()).expect("sound")
    }

    #[test]
    fn classes_of_one_or_two_series_or_groups_are_scarce() {
        let of = |class, who| (class, who, &[1.0][..]);
        let data = data(&[
            of("a", "ann"),
            of("a", "ann"),
            of("a", "bob"),
            of("b", "ann"),
            of("b", "bob"),
            of("c", "ann"),
            of("c", "bob"),
            of("c", "cat"),
        ]);
        let all: Vec<usize> = (0..8).collect();
        assert_eq!(scarce_classes(&data, &all, None).expect("series"), [("b", 2)]);
        assert_eq!(scarce_classes(&data, &all, Some("who")).expect("there"), [("a", 2), ("b", 2)]);
        assert_eq!(scarce_classes(&data, &all[..6], None).expect("series"), [("b", 2), ("c", 1)]);
        assert!(scarce_classes(&data, &all, Some("whom")).is_err());
    }

    #[test]
    fn classes_a_thousandfold_apart_are_told_by_channel() {
        let told = |series: &[(&str, &str, &[f64])]| {
            let (data, all) = (data(series), (0..series.len()).collect::<Vec<_>>());
            let told = disparate_channels(&data, &all);
            assert!(told.iter().all(|one| one.channel == "x"));
            told.first().map(|one| (one.measure, one.small.0.to_owned(), one.large.0.to_owned()))
        };
        let told_of =
            |measure, small: &str, large: &str| Some((measure, small.to_owned(), large.to_owned()));
        let volts = ("volts", "", &[1.0, -1.0][..]);
        let near = ("near", "", &[999.0, -999.0][..]);
        let millivolts = ("millivolts", "", &[1001.0, -1001.0][..]);
        assert_eq!(told(&[volts, near]), None);
        let wanted = told_of("standard deviation", "volts", "millivolts");
        assert_eq!(told(&[volts, near, millivolts]), wanted);
        // About an offset it is the deviation that differs, not the values.
        let quiet = ("quiet", "", &[500.0, 500.001, 500.0][..]);
        assert_eq!(told(&[quiet, near]), told_of("standard deviation", "quiet", "near"));
        // A channel that rests in a class has no deviation there, at zero no scale at all.
        for still in [0.0, 0.5, -1.0] {
            assert_eq!(told(&[volts, ("rest", "", &[still, still])]), None);
        }
        let far = ("far", "", &[-2000.0, -2000.0][..]);
        assert_eq!(told(&[volts, far]), told_of("largest absolute value", "volts", "far"));
    }
}
