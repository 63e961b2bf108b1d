//! The contract of a classifier: the conditions of its training, which it keeps to wherever it runs.

use fishweir_core::contract::{self, Channels, UNIT_LONGEST, Windows};
use serde::{Deserialize, Serialize};

use super::{Classifier, Observations, Provenance, Rule, Target};
use crate::data::internals::{Rests, centre_and_spread, robust_centre_and_spread};
use crate::data::{Dataset, Kind, Period, SamplesView, Windowing, split_unit};

/// A channel in training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelRange {
    /// The unit, from the channel's name (`ax [g]`, `ax (g)`); empty where it is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// The mean, in the unit.
    pub centre: f64,
    /// The standard deviation, in the unit.
    pub spread: f64,
    /// `true` if it keeps one number for 32 samples, or for a whole series of eight or more. `None` if nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rests: Option<bool>,
    /// `true` if it changes only from series to series, as age and height do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed: bool,
    /// `true` if it may be missing in a sample while others are present: it was in training, and the models leave it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

impl ChannelRange {
    /// Ranges of each channel over some series of a data set; empty over symbols.
    ///
    /// # Panics
    /// If there is no such series.
    #[must_use]
    pub fn all(data: &Dataset, series: &[usize]) -> Vec<Self> {
        let Kind::Channels(names) = data.kind() else { return Vec::new() };
        let views = views(data, series);
        let mut all = Self::named(names, centre_and_spread(names.len(), || rows(&views)));
        let rests = Rests::all(data, series);
        let lacking =
            views.iter().filter_map(SamplesView::rows).filter(|rows| rows.has_partial_rows());
        for row in lacking.flat_map(|rows| rows.iter_in_part().flatten()) {
            all.iter_mut().zip(row).for_each(|(one, x)| one.missing |= x.is_nan());
        }
        for (channel, one) in all.iter_mut().enumerate() {
            one.rests = Some(Self::rests_in(&rests, channel));
            one.fixed = Self::is_fixed(&rests, channel);
        }
        all
    }

    /// Ranges of each channel over all series of a data set, robust against a few wild samples; empty over symbols.
    pub(super) fn robust(data: &Dataset) -> Vec<Self> {
        let Kind::Channels(names) = data.kind() else { return Vec::new() };
        let views = views(data, &(0..data.series().len()).collect::<Vec<_>>());
        Self::named(names, robust_centre_and_spread(names.len(), || rows(&views)))
    }

    fn named(names: &[String], (centre, spread): (Vec<f64>, Vec<f64>)) -> Vec<Self> {
        let each = names.iter().zip(centre.into_iter().zip(spread));
        each.map(|(name, (centre, spread))| {
            let unit = split_unit(name).1.to_owned();
            Self { unit, centre, spread, rests: None, fixed: false, missing: false }
        })
        .collect()
    }
}

fn views<'d>(data: &'d Dataset, series: &[usize]) -> Vec<SamplesView<'d>> {
    series.iter().map(|&index| data.series()[index].samples.view()).collect()
}

fn rows<'d>(views: &[SamplesView<'d>]) -> impl Iterator<Item = &'d [f64]> {
    views.iter().filter_map(SamplesView::rows).flat_map(|rows| rows.iter_in_part().flatten())
}

/// Conditions of a classifier's training data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contract {
    /// The windows of a decision; `None` where it decides on whole series.
    pub windowing: Option<Windowing>,
    /// The sample period; `None` where it is unknown, or where samples have no time.
    pub period: Option<Period>,
    /// Each channel; empty over symbols, and if unknown.
    pub channels: Vec<ChannelRange>,
    /// Target of a regression; `None` for a classifier.
    pub target: Option<Target>,
}

impl Contract {
    /// Checks period and channels; there are no channels, or as many as are observed. An error describes the fault.
    pub(crate) fn check(&self, observed: usize) -> Result<(), String> {
        if let Some(Period { seconds, tolerance }) = self.period
            && !(seconds > 0.0 && seconds.is_finite() && (0.0..=1.0).contains(&tolerance))
        {
            return Err(format!("a `period` of {seconds} s, within {tolerance}, is invalid"));
        }
        if ![0, observed].contains(&self.channels.len()) {
            let count = self.channels.len();
            return Err(format!(
                "`channels` of the provenance are {count}, where {observed} are observed"
            ));
        }
        for (index, ChannelRange { unit, centre, spread, .. }) in self.channels.iter().enumerate() {
            let sound = centre.is_finite() && *spread >= 0.0 && spread.is_finite();
            if !sound || unit.len() > UNIT_LONGEST || unit.contains(char::is_control) {
                return Err(format!(
                    "channel {index} of the provenance has an invalid unit, centre or spread"
                ));
            }
        }
        Ok(())
    }

    /// Returns whether a channel may be missing while others are present. If none may, a sample without one is missing.
    #[must_use]
    pub fn lacks_some(&self) -> bool {
        self.channels.iter().any(|one| one.missing)
    }

    /// Contract of a model that takes whole samples: a sample without a channel is missing.
    #[must_use]
    pub(crate) fn of_whole_samples(&self) -> Self {
        let mut whole = self.clone();
        whole.channels.iter_mut().for_each(|one| one.missing = false);
        whole
    }

    /// The windows as the core has them.
    #[must_use]
    pub fn windows(&self) -> Option<Windows> {
        self.windowing.as_ref().map(Windowing::as_core)
    }

    /// States that windows take on a device: the windows that are open at a time.
    #[must_use]
    pub fn states(&self) -> usize {
        self.windows().map_or(1, |windows| windows.states())
    }

    /// Rounds it to the numbers of a device.
    pub(crate) fn carried(&self) -> Self {
        Self { windowing: self.windowing, ..self.with_core(|core| Self::from(core)) }
    }

    /// Hands over the core's form of it.
    pub fn with_core<R>(&self, take: impl FnOnce(&contract::Contract<'_>) -> R) -> R {
        let single = |x: f64| (x as f32).clamp(f32::MIN, f32::MAX);
        let channels: Vec<contract::ChannelRange<'_>> = self
            .channels
            .iter()
            .map(|ChannelRange { unit, centre, spread, .. }| contract::ChannelRange {
                unit,
                centre: single(*centre),
                spread: single(*spread),
            })
            .collect();
        let period = self.period.map(|Period { seconds, tolerance }| contract::Period {
            nanoseconds: ((seconds * 1e9).round() as u64).max(1),
            tolerance: tolerance as f32,
        });
        let windows = self.windows();
        let missing: Vec<u8> = match self.lacks_some() {
            true => self.channels.iter().map(|one| u8::from(one.missing)).collect(),
            false => Vec::new(),
        };
        let channels = Channels::of(&channels).with_missing(&missing);
        let target = self.target.as_ref().map(Target::as_core);
        take(&contract::Contract { windows, period, channels, target })
    }
}

impl From<&contract::Contract<'_>> for Contract {
    fn from(contract: &contract::Contract<'_>) -> Self {
        // A decimal that prints as it was: 0.1, not what is nearest to it in single precision.
        let double = |x: f32| x.to_string().parse().unwrap_or(f64::from(x));
        Self {
            windowing: contract.windows.as_ref().and_then(Windowing::from_core),
            period: contract.period.map(|period| Period {
                seconds: period.nanoseconds as f64 / 1e9,
                tolerance: double(period.tolerance),
            }),
            channels: contract
                .channels
                .iter()
                .enumerate()
                .map(|(index, channel)| ChannelRange {
                    missing: contract.channels.may_be_missing(index),
                    unit: channel.unit.to_owned(),
                    centre: double(channel.centre),
                    spread: double(channel.spread),
                    rests: None,
                    fixed: false,
                })
                .collect(),
            target: contract.target.as_ref().map(|target| Target::from_core(target, double)),
        }
    }
}

impl Provenance {
    /// Contract of the training data, for models that take whole samples: a sample without a channel is missing.
    #[must_use]
    pub fn contract(&self) -> Contract {
        self.contract_in_part().of_whole_samples()
    }

    /// Contract of the training data, for models that skip missing channels: those that were missing may be missing again.
    #[must_use]
    pub fn contract_in_part(&self) -> Contract {
        let channels = self.channels.clone();
        Contract { windowing: self.windowing, period: self.period, channels, target: None }
    }
}

impl Classifier {
    /// Contract of the training data.
    ///
    /// Channels that were missing in training may be missing if models read the sensor's samples themselves. Behind a front end,
    /// with codebooks, and for a kernel machine, a sample that lacks a channel is missing.
    #[must_use]
    pub fn contract(&self) -> Contract {
        let contract = self.provenance.contract();
        let hears_parts = self.front.is_empty()
            && self.codebooks.is_none()
            && matches!(self.rule, Rule::Linear(_))
            && matches!(self.observations, Observations::Channels(_));
        match hears_parts {
            true => Contract { channels: self.provenance.channels.clone(), ..contract },
            false => contract,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::data::ShortSeries;

    #[test]
    fn the_core_has_the_same() {
        let by = |short| Windowing {
            length: NonZeroUsize::new(200).expect("positive"),
            hop: NonZeroUsize::new(50).expect("positive"),
            short,
        };
        let channel = ChannelRange {
            unit: "g".into(),
            centre: 0.1,
            spread: 2.5,
            rests: None,
            fixed: false,
            missing: true,
        };
        for short in [ShortSeries::Keep, ShortSeries::Drop] {
            let contract = Contract {
                windowing: Some(by(short)),
                period: Some(Period { seconds: 0.02, tolerance: 0.05 }),
                channels: vec![channel.clone()],
                target: None,
            };
            assert_eq!(contract.with_core(|core| Contract::from(core)), contract);
            assert_eq!(contract.states(), 4);
            assert_eq!(contract.check(1), Ok(()));
            assert!(contract.check(2).is_err());
        }
    }
}
