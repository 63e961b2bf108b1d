//! Data held against the contract of a classifier: whether they come at its rate, and their channels in its scales.

use std::collections::BTreeSet;
use std::fmt;

use super::{ChannelRange, Contract};
use crate::data::internals::{DEGREE, GRAVITY};
use crate::data::{DataError, Dataset, Kind, UnitComparison, split_unit};
use crate::elementary::Elementary;
use crate::words::{counted, to_three_digits};

/// Times the spread of the training, or its inverse, beyond which a channel is in another scale.
///
/// Measured on twelve sets of accelerations, vibrations, speech, power and pens (`host/docs/DATA.md`): of test sets, of
/// subjects and speakers held out, and of single series of those, no channel spreads more than 4.0 times as in training,
/// and none has its centre off by more than 3.0 spreads; of whole test sets none spreads less than 0.42 times. Another
/// unit is at least 9.8 times.
const FAR: f64 = 6.0;

/// A factor is near a well-known one within this factor: people differ by two.
const NEAR: f64 = 2.3;

/// Tolerance for the centres of data without all classes, which may be a calm class alone.
const NEARER: f64 = 1.3;
/// Tolerance for all spreads together: calm changes each channel by another factor.
const ALIKE: f64 = 1.6;
/// A factor of all spreads that no calm class has: numbers of a converter were expected.
const FEWER_COUNTS: f64 = 0.003;
/// Times the training's spread from its mean beyond which a sample is wild.
pub(crate) const WILD: f64 = 100.0;
/// Number of series below which spreads are not significant for the unit.
const FEWEST: usize = 3;

/// A channel whose scale or centre is far from that in training.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherScale {
    /// Name of the channel.
    pub channel: String,
    /// Quantity that differs.
    pub measure: Measure,
    /// Value in training.
    pub trained: f64,
    /// Value in the data.
    pub found: f64,
    /// The difference of units that has about this factor, in words; `None` if the names of the channel rule it out.
    pub guess: Option<&'static str>,
    /// The name in the data, where it has a unit and that in training has one too: `ax (m/s^2)`.
    pub header: Option<String>,
}

/// Samples of a channel that are a hundred times as far from its usual value as it spreads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WildSample<'a> {
    /// The channel.
    pub channel: &'a str,
    /// Series and sample of the first, or of the wildest.
    pub place: (usize, usize),
    /// Value that was found.
    pub value: f64,
    /// Number of samples with it.
    pub count: usize,
}

/// A measure of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The standard deviation.
    Spread,
    /// The mean.
    Centre,
}

impl OtherScale {
    /// Ratio of the data's value to the training's.
    #[must_use]
    pub fn times(&self) -> f64 {
        self.found / self.trained
    }
}

/// The clause after a channel's name: `spreads 9.81 times as in training (6.87, not 0.7)`.
impl fmt::Display for OtherScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { channel, trained, found, guess, header, .. } = self;
        let (trained, found) = (to_three_digits(*trained), to_three_digits(*found));
        write!(f, "channel `{channel}`: ")?;
        match self.measure {
            Measure::Spread => {
                let times = to_three_digits(self.times());
                write!(f, "its standard deviation is {times} times that of the training")?;
            }
            Measure::Centre => f.write_str("its mean is far from that of the training")?,
        }
        write!(f, " ({found} instead of {trained})")?;
        if let Some(guess) = guess {
            write!(f, "; perhaps {guess}")?;
        }
        header.as_ref().map_or(Ok(()), |header| write!(f, "; the header says `{header}`"))
    }
}

/// Factors that units are apart by.
const FACTORS: [(f64, &str); 6] = [
    (GRAVITY, "m/s^2 where the training had g"),
    (1.0 / GRAVITY, "g where the training had m/s^2"),
    (1000.0, "thousandths of the training's unit, such as mg or mV"),
    (0.001, "a unit a thousand times the training's, such as g for mg"),
    (1.0 / DEGREE, "degrees where the training had radians"),
    (DEGREE, "radians where the training had degrees"),
];

/// The difference of units whose factor is within another of some factor, in words.
pub(crate) fn unit_factor(factor: f64, within: f64) -> Option<&'static str> {
    let apart = |known: f64| (factor / known).portable_ln().abs();
    let nearest = FACTORS.iter().min_by(|a, b| apart(a.0).total_cmp(&apart(b.0)))?;
    (apart(nearest.0) < within.portable_ln()).then_some(nearest.1)
}

/// The name of a channel in data, where it has a unit and the name in training has one too.
fn header_of(data: &Dataset, name: &str) -> Option<String> {
    let found = data.unit_matches().iter().find(|one| one.wanted == name);
    let found = found.map_or(name, |one| one.found.as_str());
    let both = [name, found].iter().all(|name| !split_unit(name).1.is_empty());
    both.then(|| found.to_owned())
}

/// Possible cause of a factor, after the conversion that the names of a channel required.
fn guess_of(data: &Dataset, name: &str, factor: f64) -> Option<&'static str> {
    let matched = data.unit_matches().iter().find(|one| one.wanted == name);
    match matched.filter(|one| one.comparison() == UnitComparison::Converted) {
        None => unit_factor(factor, NEAR),
        // Another unit than either name says is not guessed.
        Some(one) => ((factor / one.conversion.factor).portable_ln().abs() < NEAR.portable_ln())
            .then_some("numbers that were in the unit of the training before they were converted"),
    }
}

impl Contract {
    /// Refuses data at another rate than that of the training, by more than its tolerance. Data that do not say their
    /// rate pass, and so do all where the training's is unknown.
    ///
    /// # Errors
    /// [`DataError::OtherRate`]; [`DataError::MixedRates`] of series of several rates.
    pub fn check_rate(&self, data: &Dataset) -> Result<(), DataError> {
        self.period.map_or(Ok(()), |period| data.check_rate(period))
    }

    /// The channels of data whose standard deviation is more than six times that of the training, or whose mean is off by
    /// more than six of its standard deviations; and those with less than a sixth of it, where that is no lack of
    /// variety: where the data have all `classes`, or where the mean, beyond the spread in training, is smaller by the factor
    /// of well-known units, or, of three series or more, all deviations are.
    ///
    /// The data have the channels of the training, in their order and their units. A few wild samples, one of a hundred,
    /// neither make such a channel nor hide one.
    #[must_use]
    pub fn other_scales(&self, data: &Dataset, classes: &[String]) -> Vec<OtherScale> {
        let Kind::Channels(names) = data.kind() else { return Vec::new() };
        let all: Vec<usize> = (0..data.series().len()).collect();
        let has_all = || {
            let labels = data.series().iter().filter_map(|one| data.classes().get(one.label?));
            let labels: BTreeSet<&String> = labels.collect();
            !classes.is_empty() && classes.iter().all(|class| labels.contains(class))
        };
        let found = ChannelRange::robust(data);
        // Labels that are not all classes say why the data vary less.
        let unlabelled = data.series().iter().all(|one| one.label.is_none());
        let varied = has_all() || unlabelled && all.len() >= FEWEST && self.shrinks_alike(&found);
        let mut others = Vec::new();
        for ((name, trained), found) in names.iter().zip(&self.channels).zip(&found) {
            // A channel that never moved in training has no scale, and one that does not move here is reported as constant.
            if trained.spread == 0.0 || found.spread == 0.0 {
                continue;
            }
            let times = found.spread / trained.spread;
            let of_centres = found.centre / trained.centre;
            let other = |measure, trained, found, factor| OtherScale {
                channel: name.clone(),
                measure,
                trained,
                found,
                guess: guess_of(data, name, factor),
                header: header_of(data, name),
            };
            let small = times * FAR < 1.0;
            // A centre beyond the spread, such as gravity's, tells a scale however little moves.
            let telling = trained.centre.abs() > trained.spread;
            let smaller = telling && of_centres < 1.0 && unit_factor(of_centres, NEARER).is_some();
            if times > FAR || small && (varied || smaller) {
                others.push(other(Measure::Spread, trained.spread, found.spread, times));
            } else if (found.centre - trained.centre).abs() > FAR * trained.spread {
                let factor = if telling { of_centres } else { f64::NAN };
                others.push(other(Measure::Centre, trained.centre, found.centre, factor));
            }
        }
        others
    }

    /// Channels with samples `|x - centre| > 100 spread`, by centre and spread of the training; the place is that of the first.
    ///
    /// Cost: one comparison a number.
    #[must_use]
    pub fn wild_samples<'d>(&self, data: &'d Dataset) -> Vec<WildSample<'d>> {
        let Kind::Channels(names) = data.kind() else { return Vec::new() };
        let mut found: Vec<Option<WildSample<'d>>> = vec![None; names.len()];
        for (index, series) in data.series().iter().enumerate() {
            let Some(rows) = series.samples.view().rows() else { continue };
            for (t, row) in rows.iter().enumerate() {
                let Some(row) = row else { continue };
                let each = names.iter().zip(row).zip(&self.channels).zip(&mut found);
                for (((channel, &value), trained), found) in each {
                    if (value - trained.centre).abs() > WILD * trained.spread
                        && trained.spread > 0.0
                    {
                        let first = WildSample { channel, place: (index, t), value, count: 0 };
                        found.get_or_insert(first).count += 1;
                    }
                }
            }
        }
        found.into_iter().flatten().collect()
    }

    /// Returns whether all of several channels spread less than in training by about one factor.
    ///
    /// That factor is one of well-known units, or smaller than any calm class has.
    fn shrinks_alike(&self, found: &[ChannelRange]) -> bool {
        let moves = |one: &(&ChannelRange, &ChannelRange)| one.0.spread > 0.0 && one.1.spread > 0.0;
        let both = self.channels.iter().zip(found).filter(moves);
        let times: Vec<f64> = both.map(|(trained, found)| found.spread / trained.spread).collect();
        let [least, most] = times
            .iter()
            .fold([f64::INFINITY, 0.0], |[least, most], &t| [t.min(least), t.max(most)]);
        let middle = (least * most).sqrt();
        let known = unit_factor(middle, ALIKE).is_some() || middle < FEWER_COUNTS;
        times.len() > 1 && middle < 1.0 && most <= ALIKE * least && known
    }
}

/// Describes several channels with a common factor once: the channels, then the first of them.
#[must_use]
pub fn scales_in_words(others: &[OtherScale]) -> Option<String> {
    let (first, rest) = others.split_first()?;
    if rest.is_empty() {
        return Some(first.to_string());
    }
    let names: Vec<String> = rest.iter().map(|one| format!("`{}`", one.channel)).collect();
    Some(format!("{first}; and {} more: {}", counted(rest.len(), "channel"), names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A calm class and a wild one of accelerations in g, a channel with gravity and one without; times a factor.
    fn data(classes: &[&str], factor: f64) -> Dataset {
        let rows = |wild: bool| -> crate::data::Samples {
            let size = if wild { 1.0 } else { 0.01 };
            (0..200)
                .map(|t| {
                    let wave = size * (0.3 * f64::from(t)).sin();
                    [factor * (1.0 + wave), factor * wave]
                })
                .collect()
        };
        let kind = Kind::Channels(vec!["az".into(), "ax".into()]);
        let series = classes.iter().map(|&class| (class, rows(class == "wild")));
        Dataset::labelled(kind, series).expect("valid")
    }

    fn of(data: &Dataset) -> Contract {
        Contract { channels: ChannelRange::all(data, &[0, 1]), ..Contract::default() }
    }

    #[test]
    fn another_unit_is_found_and_named() {
        let both = data(&["calm", "wild"], 1.0);
        let (contract, classes) = (of(&both), both.classes().to_vec());
        let all = ["calm", "wild"];
        for (factor, words) in [
            (GRAVITY, Some("m/s^2")),
            (1.0 / GRAVITY, Some("g where")),
            (1000.0, Some("thousandths")),
            (0.001, Some("a thousand times")),
            (DEGREE, Some("radians where")),
            (1.0 / DEGREE, Some("degrees")),
            (1e6, None),
        ] {
            let others = contract.other_scales(&data(&all, factor), &classes);
            let found: Vec<&str> = others.iter().map(|one| one.channel.as_str()).collect();
            assert_eq!(found, ["az", "ax"], "{factor}");
            for one in &others {
                assert!((one.times() / factor - 1.0).abs() < 1e-9);
                assert_eq!(one.guess.is_some(), words.is_some(), "{factor}: {one}");
                assert!(words.is_none_or(|words| one.to_string().contains(words)), "{one}");
            }
            assert!(scales_in_words(&others).is_some_and(|words| words.contains("`ax`")));
        }
        for factor in [1.0, 0.4, 2.5] {
            assert_eq!(contract.other_scales(&data(&all, factor), &classes), []);
        }
    }

    #[test]
    fn one_class_alone_is_no_other_scale() {
        let both = data(&["calm", "wild"], 1.0);
        let (contract, classes) = (of(&both), both.classes().to_vec());
        for class in ["calm", "wild"] {
            assert_eq!(contract.other_scales(&data(&[class], 1.0), &classes), [], "{class}");
        }
        // The channel with gravity tells it all the same.
        let others = contract.other_scales(&data(&["calm"], 1.0 / GRAVITY), &classes);
        let found: Vec<&str> = others.iter().map(|one| one.channel.as_str()).collect();
        assert_eq!(found, ["az"]);
        let shifted = Contract {
            channels: of(&both)
                .channels
                .into_iter()
                .map(|one| ChannelRange { centre: one.centre + 50.0, ..one })
                .collect(),
            ..Contract::default()
        };
        let others = shifted.other_scales(&both, &classes);
        assert!(others.iter().all(|one| one.measure == Measure::Centre) && others.len() == 2);
    }

    #[test]
    fn what_never_moves_has_no_scale() {
        let both = data(&["calm", "wild"], 1.0);
        let dead = data(&["calm", "wild"], 0.0);
        assert_eq!(of(&both).other_scales(&dead, both.classes()), []);
    }

    /// The library refuses the same data as the program.
    #[test]
    fn another_rate_is_refused_wherever_data_are_judged() {
        use crate::data::{ReadOptions, Resample};
        use crate::estimator::Estimator;
        use crate::learn::ClassifierKind;

        let table = |step: f64, name: &str| -> String {
            let row = |t: usize| {
                let (series, label) = (t / 40, ["calm", "wild"][t / 40 % 2]);
                let x = [0.1, 1.0][t / 40 % 2] * (t as f64).sin();
                format!("{name}{series},{label},{},{x}\n", (t % 40) as f64 * step)
            };
            (0..320).map(row).collect()
        };
        let read = |rows: String| {
            let text = format!("series,label,t,x\n{rows}");
            Dataset::parse("data", text.as_bytes(), &ReadOptions::default()).expect("valid")
        };
        let (slow, fast) = (read(table(0.02, "a")), read(table(0.01, "b")));
        let both = read(table(0.02, "a") + &table(0.01, "b"));
        let estimator = Estimator::new(ClassifierKind::Bayes);
        assert_eq!(estimator.fit(&both).expect_err("two rates").kind(), "mixed-rates");
        let fitted = estimator.fit(&slow).expect("fitted");
        assert!(fitted.accuracy(&slow).is_ok());
        assert_eq!(fitted.accuracy(&fast).expect_err("another").kind(), "other-rate");
        assert_eq!(fitted.unknown(&fast).expect_err("another").kind(), "other-rate");
        let period = fitted.deployed().contract().and_then(|contract| contract.period);
        let rate = period.expect("known").rate();
        let resampled = fast.resampled(Resample::To(rate)).expect("resampled");
        assert!(fitted.accuracy(&resampled).is_ok());
        let provenance =
            &estimator.fit(&resampled).expect("fitted").trained().classifier.provenance.clone();
        assert!(provenance.resampled && provenance.period == period);
    }
}
