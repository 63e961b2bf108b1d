//! Faults of recordings that a model would learn: channels that were stuck, other units, wild samples.

use crate::classifier::{WILD, WildSample, unit_factor};
use crate::data::internals::{Rests, robust_centre_and_spread, usual_deviation};
use crate::data::{Dataset, Kind};
use crate::elementary::Elementary;

/// A channel that is stuck in some series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck<'a> {
    /// Name of the channel.
    pub channel: &'a str,
    /// The series, in order.
    pub series: Vec<usize>,
    /// The class, if the channel is one number in all of its series; `None` if it is stuck in some series.
    pub class: Option<&'a str>,
}

/// A channel that keeps one number for fewer samples may rest.
const SHORT: usize = 16;
/// Number of samples for a channel that does change in the series.
const LONG: usize = 32;
/// Ratio of the longest runs of one number in two series at which the channel counts as stuck in one of them.
const TIMES: usize = 8;

/// Channels that never change within a series, though they differ from series to series: of two series or more.
pub fn fixed_channels<'a>(data: &'a Dataset, series: &[usize]) -> Vec<&'a str> {
    let Kind::Channels(names) = data.kind() else { return Vec::new() };
    let rests = Rests::all(data, series);
    let constant = super::channels::constant_channels(data, series);
    let fixed = (0..names.len()).filter(|&channel| Rests::within_each(&rests, channel) > 1);
    fixed.map(|channel| names[channel].as_str()).filter(|name| !constant.contains(name)).collect()
}

/// Channels that are stuck in some series, by the other series of the class, or in all of one class at one number.
pub fn stuck_channels<'a>(data: &'a Dataset, series: &[usize]) -> Vec<Stuck<'a>> {
    let Kind::Channels(names) = data.kind() else { return Vec::new() };
    let rests = Rests::all(data, series);
    let of_class = |class: usize| -> Vec<usize> {
        let own = |at: &usize| data.series()[series[*at]].label == Some(class);
        (0..series.len()).filter(own).filter(|&at| rests[at].observed >= SHORT).collect()
    };
    let classes: Vec<Vec<usize>> = (0..data.classes().len()).map(of_class).collect();
    let mut all = Vec::new();
    for (channel, name) in names.iter().enumerate() {
        let still = |own: &&Vec<usize>| own.iter().all(|&at| rests[at].never_changes(channel));
        let changing = classes.iter().filter(|own| !own.is_empty() && !still(own)).count();
        let mut found: Vec<usize> = Vec::new();
        for (class, own) in classes.iter().enumerate() {
            if own.len() > 1 && still(&own) {
                let number = |at: usize| {
                    let rows = data.series()[series[at]].samples.view();
                    rows.rows()
                        .and_then(|rows| rows.iter().flatten().next().map(|row| row[channel]))
                };
                if changing > 0 && own.iter().all(|&at| number(at) == number(own[0])) {
                    let (series, class) =
                        (own.iter().map(|&at| series[at]), &data.classes()[class]);
                    let (series, class) = (series.collect(), Some(class.as_str()));
                    all.push(Stuck { channel: name, series, class });
                }
                continue;
            }
            let mut lengths: Vec<usize> =
                own.iter().map(|&at| rests[at].longest[channel]).collect();
            lengths.sort_unstable();
            let Some(&lively) = lengths.get(lengths.len() / 4) else { continue };
            found.extend(own.iter().filter(|&&at| {
                let longest = rests[at].longest[channel];
                (longest >= LONG || rests[at].never_changes(channel)) && longest > TIMES * lively
            }));
        }
        if !found.is_empty() {
            found.sort_unstable();
            let series = found.into_iter().map(|at| series[at]).collect();
            all.push(Stuck { channel: name, series, class: None });
        }
    }
    all
}

/// Some series, or classes, whose numbers are all larger than the others' by the factor between two units.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedUnits<'a> {
    /// The names of the larger ones.
    pub large: Vec<&'a str>,
    /// The names of the others.
    pub small: Vec<&'a str>,
    /// `true` if the parts are classes; otherwise they are series of one class.
    pub classes: bool,
    /// Ratio of their sizes.
    pub factor: f64,
    /// The difference of units that has about this factor, in words.
    pub guess: &'static str,
}

/// A factor beyond nature where it is the same in all channels, as between numbers of a converter and a unit.
const COUNTS: f64 = 100.0;

/// The least factor between the smallest of the large and the largest of the small.
const GAP: f64 = 4.0;

/// Series of one class, else whole classes, that are all larger than the others in each channel by the same factor, which
/// is near one between two units. `None` of data of one channel where fewer than two are larger, or smaller.
///
/// Cost: one sort per channel of each series.
pub fn mixed_units<'a>(data: &'a Dataset, series: &[usize]) -> Option<MixedUnits<'a>> {
    let Kind::Channels(names) = data.kind() else { return None };
    // Of a few samples the size is chance.
    let long = |one: &&usize| data.series()[**one].samples.view().observed() >= SHORT;
    let series: Vec<usize> = series.iter().filter(long).copied().collect();
    let sizes: Vec<Vec<f64>> = series.iter().map(|&one| sizes(data, one, names.len())).collect();
    let (mut of_classes, mut class_names) = (Vec::new(), Vec::new());
    for (class, name) in data.classes().iter().enumerate() {
        let own = |at: &usize| data.series()[series[*at]].label == Some(class);
        let own: Vec<usize> = (0..series.len()).filter(own).collect();
        let ids: Vec<&str> = own.iter().map(|&at| data.series()[series[at]].id.as_str()).collect();
        let own: Vec<&[f64]> = own.iter().map(|&at| sizes[at].as_slice()).collect();
        if let Some(found) = parted(&own, &ids, 1.6, 1.5) {
            return Some(found);
        }
        if !own.is_empty() {
            of_classes.push(middle_sizes(&own));
            class_names.push(name.as_str());
        }
    }
    // Classes differ by nature, a single channel's more than several in step.
    let of_classes: Vec<&[f64]> = of_classes.iter().map(Vec::as_slice).collect();
    let found = (names.len() > 2).then(|| parted(&of_classes, &class_names, 1.25, 1.2)).flatten();
    found.map(|found| MixedUnits { classes: true, ..found })
}

/// The root mean square of each channel of a series, with wild samples clamped: one of a hundred is not significant for the unit.
fn sizes(data: &Dataset, series: usize, channels: usize) -> Vec<f64> {
    let view = data.series()[series].samples.view();
    let rows = || view.rows().into_iter().flat_map(|rows| rows.iter().flatten());
    let (centre, spread) = robust_centre_and_spread(channels, rows);
    centre
        .into_iter()
        .zip(spread)
        .map(|(centre, spread)| (centre * centre + spread * spread).sqrt())
        .collect()
}

/// The median of each channel.
fn middle_sizes(all: &[&[f64]]) -> Vec<f64> {
    let median = |channel: usize| {
        let mut sizes: Vec<f64> = all.iter().map(|one| one[channel]).collect();
        let middle = sizes.len() / 2;
        *sizes.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    (0..all.first().map_or(0, |one| one.len())).map(median).collect()
}

/// Returns parts whose channels all differ from those of the others by one factor.
fn parted<'a>(
    sizes: &[&[f64]],
    names: &[&'a str],
    alike: f64,
    near: f64,
) -> Option<MixedUnits<'a>> {
    let moves = |channel: &usize| sizes.iter().all(|one| one[*channel] > 0.0);
    let channels: Vec<usize> = (0..sizes.first()?.len()).filter(moves).collect();
    if channels.is_empty() {
        return None;
    }
    let size = |one: &[f64]| -> f64 {
        channels.iter().map(|&channel| one[channel].portable_ln()).sum::<f64>()
            / channels.len() as f64
    };
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|&a, &b| size(sizes[a]).total_cmp(&size(sizes[b])));
    let gap = |at: usize| size(sizes[order[at]]) - size(sizes[order[at - 1]]);
    let at = (1..order.len()).max_by(|&a, &b| gap(a).total_cmp(&gap(b)))?;
    let (small, large) = order.split_at(at);
    // One channel alone is large or small by nature, but for a thousand times.
    let (least, gap_least) = if channels.len() > 1 { (1, GAP) } else { (2, 50.0 * GAP) };
    if gap(at) < gap_least.portable_ln() || small.len().min(large.len()) < least || order.len() < 3
    {
        return None;
    }
    let of = |part: &[usize]| middle_sizes(&part.iter().map(|&one| sizes[one]).collect::<Vec<_>>());
    let (smaller, larger) = (of(small), of(large));
    let factors: Vec<f64> = channels.iter().map(|&one| larger[one] / smaller[one]).collect();
    let factor = (factors.iter().map(|factor| factor.portable_ln()).sum::<f64>()
        / factors.len() as f64)
        .portable_exp();
    let differs = |one: &f64| (one / factor).portable_ln().abs() > alike.portable_ln();
    if factors.iter().any(differs) {
        return None;
    }
    let guess =
        unit_factor(factor, near).or((factor > COUNTS).then_some("counts of a converter"))?;
    let named = |part: &[usize]| {
        let mut part = part.to_vec();
        part.sort_unstable();
        part.into_iter().map(|one| names[one]).collect()
    };
    Some(MixedUnits { large: named(large), small: named(small), classes: false, factor, guess })
}

/// Channels with samples more than a hundred times as far from the median as all but one in a hundred; the place is that of
/// the wildest.
///
/// Cost: one sort per channel, of its numbers.
pub fn wild_samples<'a>(data: &'a Dataset, series: &[usize]) -> Vec<WildSample<'a>> {
    let Kind::Channels(names) = data.kind() else { return Vec::new() };
    let rows = || {
        series.iter().flat_map(|&one| {
            let rows = data.series()[one].samples.view().rows();
            let rows = rows.into_iter().flat_map(|rows| rows.iter().enumerate());
            rows.filter_map(move |(t, row)| Some(((one, t), row?)))
        })
    };
    let wild_of = |channel: usize| {
        let mut values: Vec<f64> = rows().map(|(_, row)| row[channel]).collect();
        let middle = values.len() / 2;
        if values.is_empty() {
            return None;
        }
        let median = *values.select_nth_unstable_by(middle, f64::total_cmp).1;
        let bound = WILD * usual_deviation(&values, median);
        let far = rows().map(|(place, row)| (place, row[channel]));
        let far = far.filter(|(_, x)| bound > 0.0 && (x - median).abs() > bound);
        let count = far.clone().count();
        let wildest = far.max_by(|a, b| (a.1 - median).abs().total_cmp(&(b.1 - median).abs()));
        let channel = names[channel].as_str();
        wildest.map(|(place, value)| WildSample { channel, place, value, count })
    };
    (0..names.len()).filter_map(wild_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;

    /// Six series of two classes with three channels; `change` has the series, the channel, the time and the number.
    fn data(change: impl Fn(usize, usize, usize, f64) -> f64) -> Dataset {
        let kind = Kind::Channels(vec!["x".into(), "y".into(), "z".into()]);
        let samples = |series: usize| -> Samples {
            let size = [0.5, 1.0][series % 2];
            let row = |t: usize| {
                [0, 1, 2].map(|channel| {
                    let wave = size * (0.3 * (t + 7 * series + 3 * channel) as f64).sin();
                    change(series, channel, t, wave + if channel == 2 { 1.0 } else { 0.0 })
                })
            };
            (0..60).map(row).collect()
        };
        let series = (0..6).map(|one| (["calm", "wild"][one % 2], samples(one)));
        Dataset::labelled(kind, series).expect("valid")
    }

    const ALL: [usize; 6] = [0, 1, 2, 3, 4, 5];

    #[test]
    fn sound_recordings_have_no_faults() {
        let data = data(|_, _, _, x| x);
        assert!(fixed_channels(&data, &ALL).is_empty());
        assert!(stuck_channels(&data, &ALL).is_empty());
        assert!(wild_samples(&data, &ALL).is_empty());
        assert_eq!(mixed_units(&data, &ALL), None);
    }

    #[test]
    fn a_channel_that_is_stuck_is_found_in_its_series() {
        let at = |wanted: fn(usize) -> bool, from: usize| {
            data(move |series, channel, t, x| match (wanted(series), channel) {
                (true, 1) if t >= from => 0.25 + series as f64,
                _ => x,
            })
        };
        let fixed = at(|_| true, 0);
        assert_eq!(fixed_channels(&fixed, &ALL), ["y"]);
        assert!(stuck_channels(&fixed, &ALL).is_empty());
        let stuck =
            |series: &[usize], class| [Stuck { channel: "y", series: series.to_vec(), class }];
        assert_eq!(stuck_channels(&at(|series| series == 2, 0), &ALL), stuck(&[2], None));
        assert_eq!(stuck_channels(&at(|series| series < 2, 20), &ALL), stuck(&[0, 1], None));
        assert!(stuck_channels(&at(|series| series < 2, 50), &ALL).is_empty());
        let dead =
            data(|series, channel, _, x| if series % 2 == 1 && channel == 1 { 0.0 } else { x });
        assert_eq!(stuck_channels(&dead, &ALL), stuck(&[1, 3, 5], Some("wild")));
    }

    #[test]
    fn other_units_of_some_series_or_classes_are_found() {
        let scaled = |wanted: fn(usize) -> bool, factor: f64| {
            data(move |series, _, _, x| if wanted(series) { factor * x } else { x })
        };
        let large = |data: &Dataset| {
            mixed_units(data, &ALL).map(|one| (one.classes, one.large.join(" "), one.guess))
        };
        for factor in [9.81, 1000.0] {
            let (classes, names, _) = large(&scaled(|one| one < 2, factor)).expect("found");
            assert_eq!((classes, names.as_str()), (false, "0"), "{factor}");
            let (classes, names, _) = large(&scaled(|one| one >= 2, factor)).expect("found");
            assert_eq!((classes, names.as_str()), (false, "2 4"), "{factor}");
        }
        assert_eq!(large(&scaled(|one| one < 2, 30.0)), None, "no unit");
        assert_eq!(large(&scaled(|one| one < 2, 2.0)), None, "nature");
        let one_channel =
            data(|series, channel, _, x| if series < 2 && channel == 1 { 1000.0 * x } else { x });
        assert_eq!(large(&one_channel), None);
    }

    /// Series of other lengths, and rows that mark missing measurements, are of the same unit.
    #[test]
    fn lengths_and_markers_are_no_units() {
        let kind = || Kind::Channels(vec!["x".into(), "y".into(), "z".into()]);
        let of = |count: usize, factor: f64, marked: bool| -> Samples {
            let row = |t: usize| {
                [0, 1, 2].map(|channel| match marked && t == 7 {
                    true => -9999.0,
                    false => factor * (0.3 * (t + 3 * channel) as f64).sin(),
                })
            };
            (0..count).map(row).collect()
        };
        let series = (0..10).map(|one| ("calm", of([16, 1540][one % 2], 1.0, false)));
        let lengths = Dataset::labelled(kind(), series).expect("valid");
        assert_eq!(mixed_units(&lengths, &(0..10).collect::<Vec<_>>()), None);
        let series = (0..6).map(|one| ("calm", of(60, 1.0, one == 2)));
        let marked = Dataset::labelled(kind(), series).expect("valid");
        assert_eq!(mixed_units(&marked, &ALL), None);
        // A unit is found whatever the lengths.
        let series = (0..6).map(|one| {
            let factor = if one < 2 { 9.81 } else { 1.0 };
            ("calm", of([400, 40][one % 2], factor, false))
        });
        let mixed = Dataset::labelled(kind(), series).expect("valid");
        let found = mixed_units(&mixed, &ALL).expect("found");
        assert_eq!(found.large, ["0", "1"]);
        // Classes as a whole.
        let series = (0..9).map(|one| {
            let class = ["calm", "wild", "fast"][one / 3];
            (class, of(100, if one < 3 { 9.81 } else { 1.0 }, false))
        });
        let classes = Dataset::labelled(kind(), series).expect("valid");
        let found = mixed_units(&classes, &(0..9).collect::<Vec<_>>()).expect("found");
        assert_eq!((found.classes, found.large), (true, vec!["calm"]));
    }

    #[test]
    fn a_wild_sample_is_found() {
        let wild = data(|series, channel, t, x| match (series, channel, t) {
            (3, 1, 12) => 1e30,
            (4, 1, 13) => 1e3,
            _ => x,
        });
        let found = wild_samples(&wild, &ALL);
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((one.channel, one.place, one.value, one.count), ("y", (3, 12), 1e30, 2));
    }
}
