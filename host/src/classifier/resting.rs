//! Channels that rest in data and did not in training.

use std::collections::BTreeSet;
use std::fmt;

use super::{ChannelRange, Contract};
use crate::data::internals::Rests;
use crate::data::{Dataset, Kind};
use crate::words::counted;

/// A channel that keeps one number for fewer samples in training moves all the time, unless it does in a whole series.
const MOVES: usize = 32;
/// A channel that moves all the time in training keeps one number for fewer samples in each of nine data sets
/// (`host/docs/DATA.md`).
const TOO_LONG: usize = 2 * MOVES;

/// A channel that keeps one number as it did not in training.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resting {
    /// Name of the channel.
    pub channel: String,
    /// Place of the rest.
    pub place: Rest,
}

/// Extent of the samples in which a channel keeps one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rest {
    /// All of the data.
    Throughout,
    /// Each series by itself, with different numbers.
    WithinSeries,
    /// Too long a part of some series.
    Long {
        /// Number of series.
        series: usize,
        /// The name of the first.
        id: String,
        /// The most samples in it.
        samples: usize,
    },
}

/// The clause after the data's name: ``channel `x` never changes, and in training it did``.
impl fmt::Display for Resting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "channel `{}` ", self.channel)?;
        match &self.place {
            Rest::Throughout => f.write_str("never changes, and in training it did"),
            Rest::WithinSeries => {
                f.write_str("never changes within a series, and in training it did")
            }
            Rest::Long { series, id, samples } => {
                write!(f, "keeps one number for {} of series `{id}`", counted(*samples, "sample"))?;
                if *series > 1 {
                    write!(f, ", and for too long in {} more", counted(series - 1, "series"))?;
                }
                f.write_str("; in training it changed more often")
            }
        }
    }
}

impl ChannelRange {
    /// Returns whether a channel rests in the training: see [`ChannelRange::rests`].
    pub(super) fn rests_in(rests: &[Rests], channel: usize) -> bool {
        rests.iter().any(|one| one.longest[channel] >= MOVES || one.is_still(channel))
    }

    /// Returns whether a channel never changes within a series of the training.
    pub(super) fn is_fixed(rests: &[Rests], channel: usize) -> bool {
        Rests::within_each(rests, channel) > 0
    }

    /// Returns the samples in a row of one number from which on a channel that moved all the time in training is stuck.
    /// `None` of any other, which may rest for however long, and where a device keeps no account.
    #[must_use]
    pub fn longest_rest(&self) -> Option<usize> {
        let moves = self.spread > 0.0 && !self.fixed && self.rests == Some(false);
        moves.then_some(TOO_LONG)
    }
}

impl Contract {
    /// The channels that rest in data though they did not in training: throughout, within each series, or for 64 samples of
    /// some series.
    #[must_use]
    pub fn resting_channels(&self, data: &Dataset) -> Vec<Resting> {
        let Kind::Channels(names) = data.kind() else { return Vec::new() };
        let all: Vec<usize> = (0..data.series().len()).collect();
        let rests = Rests::all(data, &all);
        let found = ChannelRange::all(data, &all);
        let mut resting = Vec::new();
        for (channel, (name, trained)) in names.iter().zip(&self.channels).enumerate() {
            if trained.spread > 0.0
                && let Some(place) = self.place_of(data, &rests, channel, found[channel].spread)
            {
                resting.push(Resting { channel: name.clone(), place });
            }
        }
        resting
    }

    fn place_of(
        &self,
        data: &Dataset,
        rests: &[Rests],
        channel: usize,
        spread: f64,
    ) -> Option<Rest> {
        let trained = &self.channels[channel];
        if spread == 0.0 {
            // What rests in training may do so in all of one class, and what is fixed in all of one person's.
            let labels: BTreeSet<usize> =
                data.series().iter().filter_map(|one| one.label).collect();
            let may_rest = trained.fixed || trained.rests == Some(true) && labels.len() < 2;
            let observed: usize = rests.iter().map(|one| one.observed).sum();
            return (observed > 1 && !may_rest).then_some(Rest::Throughout);
        }
        let limit = trained.longest_rest()?;
        if Rests::within_each(rests, channel) > 0 {
            return Some(Rest::WithinSeries);
        }
        let long = |one: &Rests| one.longest[channel] >= limit;
        let first = rests.iter().position(long)?;
        Some(Rest::Long {
            series: rests.iter().filter(|one| long(one)).count(),
            id: data.series()[first].id.clone(),
            samples: rests[first].longest[channel],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;

    /// Series of waves; in channel `x` each keeps its first number from some sample on.
    fn data(from: &[usize]) -> Dataset {
        let kind = Kind::Channels(vec!["x".into(), "y".into()]);
        let samples = |series: usize| -> Samples {
            let wave = |t: usize| (series as f64 + 0.3 * t as f64).sin();
            (0..100).map(|t| [wave(if t < from[series] { t } else { 0 }), wave(t)]).collect()
        };
        let series = (0..from.len()).map(|one| (["calm", "wild"][one % 2], samples(one)));
        Dataset::labelled(kind, series).expect("valid")
    }

    fn places(trained: &[usize], found: &[usize]) -> Vec<Rest> {
        let trained = data(trained);
        let all: Vec<usize> = (0..trained.series().len()).collect();
        let contract =
            Contract { channels: ChannelRange::all(&trained, &all), ..Contract::default() };
        let resting = contract.resting_channels(&data(found));
        assert!(resting.iter().all(|one| one.channel == "x" && one.to_string().contains("`x`")));
        resting.into_iter().map(|one| one.place).collect()
    }

    #[test]
    fn a_stuck_channel_is_found_wherever_it_is_stuck() {
        let moves = [100, 100, 100];
        assert!(places(&moves, &moves).is_empty());
        assert!(places(&moves, &[100, 80, 100]).is_empty());
        assert_eq!(places(&moves, &[0]), [Rest::Throughout]);
        assert_eq!(places(&moves, &[0, 0]), [Rest::WithinSeries]);
        let long = |series, id: &str, samples| [Rest::Long { series, id: id.into(), samples }];
        assert_eq!(places(&moves, &[100, 0, 100, 30]), long(2, "1", 100));
        assert_eq!(places(&moves, &[100, 100, 10]), long(1, "2", 90));
    }

    /// Series of 20 samples, too short to keep one number for 32.
    #[test]
    fn a_channel_that_is_still_in_whole_series_rests() {
        let kind = || Kind::Channels(vec!["x".into(), "y".into()]);
        let of = |still: bool, count: usize| -> Samples {
            let wave = |t: usize| (0.3 * t as f64).sin();
            (0..count).map(|t| [if still { 0.0 } else { wave(t) }, wave(t)]).collect()
        };
        let labelled = |series: &[(&'static str, bool, usize)]| {
            let series = series.iter().map(|&(class, still, count)| (class, of(still, count)));
            Dataset::labelled(kind(), series).expect("valid")
        };
        let trained = labelled(&[("off", true, 20), ("on", false, 20), ("on", false, 20)]);
        let contract =
            Contract { channels: ChannelRange::all(&trained, &[0, 1, 2]), ..Contract::default() };
        assert_eq!(contract.channels[0].rests, Some(true));
        assert_eq!(contract.channels[1].rests, Some(false));
        assert!(contract.resting_channels(&labelled(&[("off", true, 20)])).is_empty());
        // Of all classes none moves: a sensor that is stuck.
        let stuck = labelled(&[("off", true, 20), ("on", true, 20)]);
        let [resting] = &contract.resting_channels(&stuck)[..] else { panic!("one rests") };
        assert_eq!(resting.place, Rest::Throughout);
        // Of one sample nobody knows, whatever is missing around it.
        let moves =
            Contract { channels: ChannelRange::all(&trained, &[1, 2]), ..Contract::default() };
        assert!(moves.resting_channels(&labelled(&[("on", true, 1)])).is_empty());
        // Nor of a few: a coarse sensor keeps its number for three.
        assert!(moves.resting_channels(&labelled(&[("on", true, 3), ("on", false, 3)])).is_empty());
    }

    #[test]
    fn what_rests_in_training_may_rest() {
        for trained in [&[0, 100, 100][..], &[0, 0, 0]] {
            for found in [&[0, 100, 100][..], &[0, 0]] {
                assert!(places(trained, found).is_empty(), "{trained:?} {found:?}");
            }
        }
    }
}
