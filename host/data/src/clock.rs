//! Sample rate, from the times.

use serde::{Deserialize, Serialize};

use super::batches::Batches;
use super::dataset::{Dataset, Series};
use super::error::DataError;
use super::median::median;
use super::rounding::Roundings;
use super::steps::{IRREGULAR, Steps, even_enough, nearest_period, period_of, rough_period};

/// The relative error of the sample period that a model bears, unless it says otherwise, and the most by which the
/// periods of two series of one data set may differ from the usual one.
pub const PERIOD_TOLERANCE: f64 = 0.05;

/// The relative error of the rate of a clock without a period above which it is another.
const ROUGH_TOLERANCE: f64 = 0.25;

/// Steps without which no clock is reported as irregular.
const FEWEST_STEPS: usize = 20;

/// The time between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Period {
    /// Seconds.
    pub seconds: f64,
    /// The relative error that the model bears.
    pub tolerance: f64,
}

impl Period {
    /// Clock of some series whose times are seconds; `None` if they have no common period.
    ///
    /// # Panics
    /// If there is no such series.
    #[must_use]
    pub fn of(data: &Dataset, series: &[usize]) -> Option<Self> {
        let seconds = data.sample_period(series, PERIOD_TOLERANCE)?;
        Some(Self { seconds, tolerance: PERIOD_TOLERANCE })
    }

    /// Samples per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        1.0 / self.seconds
    }

    /// Returns whether times without a period have about this rate, within a quarter.
    #[must_use]
    pub fn admits_roughly(&self, seconds: f64) -> bool {
        (seconds / self.seconds - 1.0).abs() <= ROUGH_TOLERANCE
    }

    /// Returns whether another period is the same within the tolerance.
    #[must_use]
    pub fn admits(&self, seconds: f64) -> bool {
        (seconds / self.seconds - 1.0).abs() <= self.tolerance
    }
}

/// Series whose samples do not come evenly.
#[derive(Clone, Debug, PartialEq)]
pub struct Irregular<'a> {
    /// Number of series.
    pub count: usize,
    /// The first of them.
    pub series: &'a Series,
    /// The share of its steps that differ from its period by more than 30 percent, leaps aside.
    pub share: f64,
    /// Batches in which its samples come, if they do.
    pub batches: Option<Batches>,
}

impl Series {
    /// The sample period by its times, in the unit of the times. `None` of fewer than two steps, and where a quarter of
    /// the steps or more are another.
    #[must_use]
    pub fn period(&self) -> Option<f64> {
        period_of(&self.times)
    }
}

impl Dataset {
    /// The sample period in seconds: the usual one of the series. `None` without times, where they number the
    /// samples, and where the periods of two of the series differ by more than `tolerance`.
    ///
    /// Times number the samples where they are whole, step by one, and name no unit.
    ///
    /// Work: `n log n` in the samples.
    ///
    /// # Panics
    /// If there is no such series.
    pub fn sample_period(&self, series: &[usize], tolerance: f64) -> Option<f64> {
        let chosen = || series.iter().map(|&index| &self.series()[index]);
        let mut periods: Vec<f64> =
            periods(&chosen().collect::<Vec<_>>()).into_iter().flatten().collect();
        let usual = median(&mut periods)?;
        let alike = periods.iter().all(|period| (period / usual - 1.0).abs() <= tolerance);
        let numbered = |one: &Series| one.times.iter().all(|t| t.fract() == 0.0);
        let by_number = !self.clock().named && usual == 1.0 && chosen().all(numbered);
        (alike && !by_number).then_some(usual)
    }

    /// Refuses series of several sample periods.
    ///
    /// # Errors
    /// [`DataError::MixedRates`] naming two of them.
    pub fn check_one_rate(&self) -> Result<(), DataError> {
        let periods = self.periods();
        let mut known: Vec<f64> = periods.iter().copied().flatten().collect();
        let Some(usual) = median(&mut known) else { return Ok(()) };
        let off = |period: f64| (period / usual - 1.0).abs() > PERIOD_TOLERANCE;
        let first = |wanted: &dyn Fn(f64) -> bool| {
            let each = self.series().iter().zip(&periods);
            each.filter_map(|(series, &period)| Some((series, period?)))
                .find(|&(_, period)| wanted(period))
        };
        let Some((other, other_period)) = first(&off) else { return Ok(()) };
        let (series, period) = first(&|period| !off(period)).unwrap_or((other, other_period));
        Err(DataError::MixedRates {
            file: self.source().to_owned(),
            series: [series.id.clone(), other.id.clone()],
            seconds: [period, other_period],
        })
    }

    /// Refuses data at another rate than a model's; data that do not give their rate pass.
    ///
    /// # Errors
    /// [`DataError::MixedRates`], [`DataError::OtherRate`].
    pub fn check_rate(&self, wanted: Period) -> Result<(), DataError> {
        self.check_one_rate()?;
        let all: Vec<usize> = (0..self.series().len()).collect();
        let other = |found| {
            let (file, wanted) = (self.source().to_owned(), wanted.seconds);
            Err(DataError::OtherRate { file, found, wanted })
        };
        if let Some(seconds) = self.sample_period(&all, PERIOD_TOLERANCE) {
            return if wanted.admits(seconds) { Ok(()) } else { other(seconds) };
        }
        // Times that come unevenly have a rate all the same; whole ones may number the samples.
        let whole = |one: &Series| one.times.iter().all(|t| t.fract() == 0.0);
        if !self.clock().named && self.series().iter().all(whole) {
            return Ok(());
        }
        let mut rough: Vec<f64> =
            self.series().iter().filter_map(|one| rough_period(&one.times)).collect();
        match median(&mut rough) {
            Some(seconds) if !wanted.admits_roughly(seconds) => other(seconds),
            _ => Ok(()),
        }
    }

    /// The series whose samples do not come evenly, if there are any.
    pub fn irregular(&self) -> Option<Irregular<'_>> {
        let mut found: Option<Irregular<'_>> = None;
        for (series, rounded) in self.series().iter().zip(self.roundings().each) {
            let Some(Steps { off, count, batches, .. }) = Steps::with(&series.times, rounded)
            else {
                continue;
            };
            if off > IRREGULAR && count >= FEWEST_STEPS {
                let one = Irregular { count: 0, series, share: off, batches };
                found.get_or_insert(one).count += 1;
            }
        }
        found
    }

    /// Returns whether times without a unit are whole numbers that step by two or more: most likely milliseconds.
    pub fn may_be_milliseconds(&self) -> bool {
        let whole = |one: &Series| one.times.iter().all(|t| t.fract() == 0.0);
        let slow = |period: Option<f64>| period.is_some_and(|period| period >= 2.0);
        !self.clock().named
            && self.series().iter().all(whole)
            && self.periods().into_iter().any(slow)
    }

    /// The period of times that are rounded to a unit about as long as their steps, in which the steps are unequal.
    pub fn rounded_period(&self) -> Option<f64> {
        self.roundings().usual.map(nearest_period)
    }

    /// Rounding of the times of all series.
    pub(super) fn roundings(&self) -> Roundings {
        let times: Vec<&[f64]> = self.series().iter().map(|one| one.times.as_slice()).collect();
        Roundings::of(&times)
    }

    /// The sample period of each series, in the unit of the times; `None` of fewer than two steps, and where a quarter of
    /// the steps or more are another.
    pub(super) fn periods(&self) -> Vec<Option<f64>> {
        periods(&self.series().iter().collect::<Vec<_>>())
    }

    /// Returns whether the samples were resampled after they were read.
    pub fn is_resampled(&self) -> bool {
        self.clock().resampled
    }
}

/// The sample period of each of some series. The rounding of their times is determined over all of them.
fn periods(series: &[&Series]) -> Vec<Option<f64>> {
    let times: Vec<&[f64]> = series.iter().map(|one| one.times.as_slice()).collect();
    let each = times.iter().zip(Roundings::of(&times).each);
    each.map(|(times, rounded)| even_enough(Steps::with(times, rounded)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadOptions;

    /// A series for each list of times, under a header for the time.
    fn data(time: &str, times: &[Vec<f64>]) -> Dataset {
        let mut text = format!("series,{time},x\n");
        for (series, times) in times.iter().enumerate() {
            times.iter().for_each(|t| text += &format!("{series},{t},1\n"));
        }
        Dataset::parse("data", text.as_bytes(), &ReadOptions::default()).expect("valid")
    }

    fn even(count: u32, step: f64) -> Vec<f64> {
        (0..count).map(|t| f64::from(t) * step).collect()
    }

    fn seconds(data: &Dataset) -> Option<f64> {
        let all: Vec<usize> = (0..data.series().len()).collect();
        data.sample_period(&all, PERIOD_TOLERANCE)
    }

    #[test]
    fn the_unit_of_the_time_is_that_of_the_header() {
        for (time, step) in [("t", 0.02), ("t [s]", 0.02), ("t (ms)", 20.0), ("t[us]", 20_000.0)] {
            assert_eq!(seconds(&data(time, &[even(30, step)])), Some(0.02), "{time}");
        }
        // Steps of one number the samples, unless they have a unit.
        assert_eq!(seconds(&data("t", &[even(30, 1.0)])), None);
        assert_eq!(seconds(&data("t [s]", &[even(30, 1.0)])), Some(1.0));
        assert_eq!(seconds(&data("t [ms]", &[even(30, 1.0)])), Some(0.001));
        let wrong = Dataset::parse("data", b"t [V],x\n0,1\n", &ReadOptions::default());
        assert_eq!(wrong.expect_err("no time").kind(), "bad-header");
        assert!(data("t", &[even(30, 20.0)]).may_be_milliseconds());
        assert!(!data("t [s]", &[even(30, 20.0)]).may_be_milliseconds());
        assert!(!data("t", &[even(30, 1.0)]).may_be_milliseconds());
    }

    #[test]
    fn rounded_and_lost_times_keep_their_period() {
        // 400 Hz in whole milliseconds, 667 Hz, and 30 Hz.
        for (step, wanted) in [(2.5, 0.0025), (1.5, 0.0015), (100.0 / 3.0, 0.1 / 3.0)] {
            let times = (0..400).map(|t| (f64::from(t) * step).round()).collect();
            let data = data("t [ms]", &[times]);
            let found = seconds(&data).expect("a period");
            assert!((found / wanted - 1.0).abs() < 0.01, "{found}");
            assert_eq!(data.irregular(), None);
        }
        let mut lost = even(100, 0.01);
        lost.retain(|t| ((t * 100.0).round() as u32).pow(2) % 11 != 4);
        assert_eq!(seconds(&data("t", &[lost])), Some(0.01));
        // One that is lost in every seventh place leaves such times as a slower clock, rounded, does.
        let mut regularly = even(100, 0.01);
        regularly.retain(|t| (t * 100.0).round() as u32 % 7 != 3);
        let regularly = data("t", &[regularly]);
        let found = seconds(&regularly).expect("a period");
        assert!((found - 0.01 * 7.0 / 6.0).abs() < 1e-4, "{found}");
        assert_eq!(regularly.rounded_period(), Some(found));
        let since_1970 = (0..200).map(|t| 1.7e9 + 0.02 * f64::from(t)).collect();
        assert_eq!(seconds(&data("t", &[since_1970])), Some(0.02));
    }

    /// Whole milliseconds of 800 Hz; series at another rate are not of this clock, however short.
    #[test]
    fn a_rounding_is_that_of_the_series_that_can_have_it() {
        let rounded = |count: u32| -> Vec<f64> {
            (0..count).map(|t| (f64::from(t) * 1.25).floor()).collect()
        };
        let long = [rounded(300), rounded(290), rounded(280)];
        let with = |other: Vec<f64>| {
            let series: Vec<Vec<f64>> = long.iter().cloned().chain([other]).collect();
            data("t [ms]", &series)
        };
        let short = with(rounded(12));
        assert!(short.check_one_rate().is_ok());
        let found = seconds(&short).expect("a period");
        assert!((found - 0.001_25).abs() < 1e-5, "{found}");
        for (count, step) in [(300, 1.0), (60, 1.0), (300, 2.0), (60, 2.0), (300, 1.5)] {
            let other = (0..count).map(|t| (f64::from(t) * step).floor()).collect();
            let error = with(other).check_one_rate().expect_err("two rates");
            assert_eq!(error.kind(), "mixed-rates", "{count} {step}");
        }
    }

    /// Ten samples at 50 Hz, and a pause until the next second.
    #[test]
    fn bursts_have_the_rate_of_their_samples() {
        let time = |t: u32| f64::from(t / 10) + 0.02 * f64::from(t % 10);
        let data = data("t", &[(0..200).map(time).collect()]);
        assert_eq!(seconds(&data), Some(0.02));
        assert_eq!(data.gaps().expect("pauses").count, 19);
        assert_eq!(data.series()[0].leaps(20), (1..20).map(|t| 10 * t).collect::<Vec<_>>());
    }

    #[test]
    fn a_stretch_at_another_rate_is_off() {
        for other in [0.001, 0.01, 0.005] {
            let first = even(80, 0.02);
            let last = first[79];
            let then = (1..=70).map(|t| last + other * f64::from(t));
            let times: Vec<f64> = first.iter().copied().chain(then).collect();
            let data = data("t", std::slice::from_ref(&times));
            assert_eq!(seconds(&data), None, "{other}");
            assert!(data.irregular().is_some(), "{other}");
        }
    }

    #[test]
    fn a_rate_of_uneven_times_is_judged_and_resampled() {
        let mut random = 1_u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(random >> 8) / f64::from(1 << 24)
        };
        let wanted = Period { seconds: 0.02, tolerance: PERIOD_TOLERANCE };
        for (step, right) in [(0.02, true), (0.01, false), (0.2, false)] {
            let times: Vec<f64> =
                (0..200).map(|t| step * (f64::from(t) + 0.98 * (next() - 0.5))).collect();
            let data = data("t", &[times]);
            assert_eq!(seconds(&data), None, "{step}");
            assert_eq!(data.check_rate(wanted).is_ok(), right, "{step}");
            let even = data.resampled(super::super::Resample::To(50.0)).expect("has times");
            assert_eq!(seconds(&even), Some(0.02), "{step}");
        }
    }

    #[test]
    fn an_uneven_clock_is_found() {
        let mut random = 1_u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(random >> 8) / f64::from(1 << 24)
        };
        let mut jittered = |by: f64| -> Vec<f64> {
            (0..200).map(|t| 0.02 * (f64::from(t) + by * (next() - 0.5))).collect()
        };
        let (slightly, badly) = (jittered(0.2), jittered(0.98));
        assert_eq!(data("t", std::slice::from_ref(&slightly)).irregular(), None);
        let both = data("t", &[slightly, badly]);
        let told = both.irregular().expect("told");
        assert_eq!((told.count, told.series.id.as_str()), (1, "1"));
        assert!(told.share > 0.1, "{told:?}");
        // Events at random have no rate, and are not refused for it.
        let mut t = 0.0;
        let random = (0..200).map(|_| {
            t -= (1.0 - next()).ln();
            t
        });
        let random: Vec<f64> = random.collect();
        let data = data("t", &[even(30, 0.02), random]);
        assert!(data.check_one_rate().is_ok() && data.irregular().is_some());
    }

    #[test]
    fn two_rates_are_refused_by_name() {
        let data = data("t", &[even(30, 0.02), even(30, 0.01), even(30, 0.0201)]);
        let error = data.check_one_rate().expect_err("two rates");
        let DataError::MixedRates { series, seconds, .. } = &error else { panic!("{error}") };
        assert_eq!((series, seconds), (&["0".into(), "1".into()], &[0.02, 0.01]));
        assert_eq!(super::Period::of(&data, &[0, 1, 2]), None);
        let fifty = Period::of(&data, &[0, 2]).expect("one rate");
        assert!(fifty.admits(0.0203) && !fifty.admits(0.01));
        let part = data.part(&[1]).expect("a part");
        assert_eq!(part.check_rate(fifty).expect_err("another").kind(), "other-rate");
        assert!(data.part(&[0]).expect("a part").check_rate(fifty).is_ok());
    }
}
