//! Leaps in the times of a live stream.

use fishweir::classifier::Period;
use fishweir::data::{even_period_of, period_of, rough_period};

/// Steps that the usual one is the median of.
const STEPS: usize = 9;
/// Steps without which there is no usual one.
const LEAST: usize = 3;
/// Number of steps that a rate is judged by, or the length of a window.
const JUDGED: usize = 32;
/// Number of steps for times at another rate than in training, and uneven: lost samples may look so over a few.
const DOUBTFUL: usize = 8 * JUDGED;
/// The first doubt and the judgements after it; the last of them ends a stream.
const DOUBTS: u32 = 3;
/// Steps are closely a period, and their mean about that.
const CLOSE: f64 = 0.02;
const ABOUT: f64 = 0.25;
/// A step within this share of the training's period is one of it.
const OFF: f64 = 0.15;
/// A step that leaves out more periods than that is a leap.
const LEAP: f64 = 5.0;
/// Largest number of periods to make up for: as many as a sensor or a radio may hold back.
const HELD_BACK: f64 = 1024.0;

/// Pace of samples, by their times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pace {
    /// Samples at the rate of the training.
    AsInTraining,
    /// Samples at about that rate, and unevenly.
    Uneven,
    /// Samples with numbers in place of times.
    Numbered,
    /// Samples with another period, in seconds; zero if time stands still.
    Other(f64),
}

/// Returns whether times without a unit number the samples: whole numbers that step by one.
fn is_numbered(times: &[f64], named: bool) -> bool {
    !named && times.iter().all(|t| t.fract() == 0.0) && period_of(times) == Some(1.0)
}

/// Pace of samples at such times.
fn pace_of(times: &[f64], period: Period) -> Pace {
    // Late and early samples have their mean.
    let other = |found: f64| match mean_step(times).is_some_and(|mean| period.admits(mean)) {
        true => Pace::Uneven,
        false => Pace::Other(found),
    };
    match even_period_of(times) {
        Some(found) if period.admits(found) => Pace::AsInTraining,
        Some(found) => other(found),
        None => match rough_period(times).unwrap_or_default() {
            found if period.admits_roughly(found) => Pace::Uneven,
            found => other(found),
        },
    }
}

/// Returns whether nine in ten steps are close to a period.
fn is_even(times: &[f64], found: f64) -> bool {
    let close = |pair: &&[f64]| (pair[1] - pair[0] - found).abs() <= CLOSE * found;
    10 * times.windows(2).filter(close).count() >= 9 * (times.len() - 1)
}

/// Returns whether times surely come at another period than in training.
///
/// Nearly all steps are close to the other period, or few are near the training's period and both it and the mean of all steps
/// are far from it.
fn is_sure(times: &[f64], found: f64, period: Period) -> bool {
    if found <= 0.0 || is_even(times, found) {
        return true;
    }
    let trained =
        |pair: &&[f64]| (pair[1] - pair[0] - period.seconds).abs() <= OFF * period.seconds;
    if 4 * times.windows(2).filter(trained).count() >= times.len() {
        return false;
    }
    let far = |mean: f64| !period.admits_roughly(mean) && (mean / found - 1.0).abs() < ABOUT;
    !period.admits_roughly(found) && mean_step(times).is_some_and(far)
}

/// The mean of all steps.
fn mean_step(times: &[f64]) -> Option<f64> {
    let (first, last) = (times.first()?, times.last()?);
    (times.len() > 1).then(|| (last - first) / (times.len() - 1) as f64)
}

/// The times of a stream so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaps {
    last: Option<f64>,
    /// The last steps, the oldest overwritten first.
    steps: [f64; STEPS],
    seen: usize,
    /// The last times, by which the rate is judged, and then forgotten but for the last.
    block: Vec<f64>,
    /// Number of doubtful judgements of these and earlier samples, whose pace differed from training but not surely.
    doubts: u32,
    /// Samples without a time since the last.
    untimed: usize,
    /// Periods that leaps have left out and faster samples not made up for: delayed samples come faster.
    owed: f64,
    /// `true` if any were made up for while these times came.
    made_up: bool,
    /// `true` once [`first_period`](Self::first_period) was answered.
    asked: bool,
    /// `true` if the steps judged last were uneven: a few of them, such as a part of a batch, show nothing.
    uneven: bool,
}

impl Leaps {
    /// Takes in a sample's time; whether time has gone back since the sample before, or on by more than `samples` usual
    /// steps. Before there are steps enough, the `period` of the training is the usual one; without it nothing leaps.
    pub(super) fn passes(&mut self, time: f64, samples: usize, period: Option<Period>) -> bool {
        // A clock that was set back counts on from there: what was before says nothing of a step across.
        let back = self.last.is_some_and(|last| time < last);
        if back {
            self.begin();
        }
        // Without a rate nothing is judged, and nothing forgets them.
        if period.is_some() || self.block.len() <= JUDGED {
            self.fill(time);
            self.block.push(time);
        }
        let untimed = std::mem::take(&mut self.untimed);
        if back {
            self.last = Some(time);
            return true;
        }
        let Some(step) = self.last.replace(time).map(|last| time - last) else { return false };
        if let Some(Period { seconds, .. }) = period {
            let more = step / seconds - (untimed + 1) as f64;
            if !(0.0..=LEAP).contains(&more) {
                self.owed = (self.owed + more).clamp(0.0, HELD_BACK);
            }
            self.made_up |= self.owed > 1.0;
        }
        // Within a batch samples come faster than they were taken.
        let trained = period.map(|period| period.seconds);
        let usual = self.usual().into_iter().chain(trained).reduce(f64::max);
        self.steps[self.seen % STEPS] = step / (untimed + 1) as f64;
        self.seen += 1;
        // Times are rounded.
        let far =
            |usual: f64| usual > 0.0 && (step / usual).round() - untimed as f64 > samples as f64;
        usual.is_some_and(far)
    }

    /// Pace of the last samples: judged once there are enough steps. Without `named` units whole
    /// times that step by one number the samples.
    pub(super) fn judge(&mut self, period: Period, samples: usize, named: bool) -> Option<Pace> {
        let judged = samples.saturating_sub(1).clamp(STEPS, JUDGED);
        let judged = if self.doubts > 0 { DOUBTFUL } else { judged };
        if self.block.len() <= judged {
            return None;
        }
        if is_numbered(&self.block, named) {
            self.forget();
            return Some(Pace::Numbered);
        }
        let pace = match pace_of(&self.block, period) {
            // Where samples are lost here and there a near rate is not told from the training's.
            Pace::Other(found)
                if self.doubts > 0
                    && period.admits_roughly(found)
                    && !is_even(&self.block, found) =>
            {
                Pace::Uneven
            }
            pace => pace,
        };
        if let Pace::Other(found) = pace {
            self.doubts += 1;
            // What was held up comes faster, and not more slowly.
            let made_up = found < period.seconds && self.made_up;
            let sure = self.doubts == 1 && is_sure(&self.block, found, period) && !made_up;
            if !sure && self.doubts < DOUBTS {
                // The first doubt goes on with the same times.
                if self.doubts > 1 {
                    self.begin_block();
                }
                return None;
            }
        }
        self.forget();
        self.uneven = pace == Pace::Uneven;
        Some(pace)
    }

    /// The sample period of the first times, where they have one, once there are enough, and then no more; `None` of numbers
    /// in place of times.
    pub(super) fn first_period(&mut self, named: bool) -> Option<f64> {
        if self.block.len() <= JUDGED || std::mem::replace(&mut self.asked, true) {
            return None;
        }
        let times = self.block.as_slice();
        even_period_of(times).filter(|_| !is_numbered(times, named))
    }

    /// Forgets the times that were judged but for the last.
    fn begin_block(&mut self) {
        self.block.clear();
        self.block.extend(self.last);
        self.made_up = self.owed > 1.0;
    }

    /// Forgets the block and all doubts.
    fn forget(&mut self) {
        self.begin_block();
        self.doubts = 0;
    }

    /// Puts times evenly between the last and this one for the samples that had none.
    fn fill(&mut self, time: f64) {
        let Some(last) = self.last.filter(|last| *last < time) else { return };
        let untimed = self.untimed.min(DOUBTFUL);
        for sample in 1..=untimed {
            let share = sample as f64 / (self.untimed + 1) as f64;
            self.block.push(last + share * (time - last));
        }
    }

    /// Takes in a sample without a time: its neighbours show when it came.
    pub(super) fn pass_untimed(&mut self) {
        self.untimed += 1;
    }

    /// Judges fewer samples at the end of a series, if they suffice.
    pub(super) fn judge_rest(&self, period: Period, named: bool) -> Option<Pace> {
        if self.block.len() > LEAST && is_numbered(&self.block, named) {
            return Some(Pace::Numbered);
        }
        // Of fewer steps a rounded time is too much.
        let found =
            even_period_of(&self.block).filter(|_| self.block.len() > STEPS && !self.uneven)?;
        let mean = mean_step(&self.block).is_some_and(|mean| period.admits_roughly(mean));
        let sure = is_even(&self.block, found) || !mean;
        (!period.admits(found) && sure).then_some(Pace::Other(found))
    }

    /// Forgets the last times: the next sample is another series', or its clock was set back.
    pub(super) fn begin(&mut self) {
        (self.last, self.owed, self.uneven) = (None, 0.0, false);
        self.forget();
    }

    /// The median of the last steps.
    fn usual(&self) -> Option<f64> {
        let mut steps = self.steps;
        let steps = &mut steps[..self.seen.min(STEPS)];
        let middle = steps.len() / 2;
        (steps.len() >= LEAST).then(|| *steps.select_nth_unstable_by(middle, f64::total_cmp).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Leaps {
        /// The other sample period that was found.
        fn other_than(&mut self, period: Period, samples: usize, named: bool) -> Option<f64> {
            match self.judge(period, samples, named) {
                Some(Pace::Other(found)) => Some(found),
                _ => None,
            }
        }
    }

    const FIFTY: Option<Period> = Some(Period { seconds: 0.02, tolerance: 0.05 });

    /// The places before which time leaps, of windows of four samples.
    fn leaps(period: Option<Period>, times: &[f64]) -> Vec<usize> {
        let mut leaps = Leaps::default();
        (0..times.len()).filter(|&t| leaps.passes(times[t], 4, period)).collect()
    }

    #[test]
    fn more_steps_than_a_window_leap_and_less_do_not() {
        for period in [FIFTY, None] {
            let even = [0.0, 0.02, 0.04, 0.06, 0.08];
            let then = |times: &[f64]| leaps(period, &[&even, times].concat());
            assert!(then(&[0.1, 0.12]).is_empty());
            assert!(then(&[0.16, 0.18]).is_empty());
            assert_eq!(then(&[0.18, 0.2]), [5]);
            assert_eq!(then(&[0.06, 0.08, 0.1]), [5]);
            // A time that stands still is no leap, nor is the one after it.
            assert!(then(&[0.08, 0.12, 0.14]).is_empty());
        }
    }

    /// Wherever a clock is set back, the rate is that of the steps before and after.
    #[test]
    fn a_clock_that_is_set_back_has_no_other_rate() {
        let period = Period { seconds: 0.02, tolerance: 0.05 };
        for reset in 90..130 {
            for start in [0.0, 1.0] {
                let time = |t: usize| match t < reset {
                    true => 10.0 + 0.02 * t as f64,
                    false => start + 0.02 * (t - reset) as f64,
                };
                let mut leaps = Leaps::default();
                for t in 0..300 {
                    assert_eq!(leaps.passes(time(t), 200, FIFTY), t == reset, "{reset}: {t}");
                    assert_eq!(leaps.other_than(period, 200, true), None, "{reset}: {t}");
                }
            }
        }
    }

    #[test]
    fn memory_does_not_grow_with_the_stream() {
        for period in [None, FIFTY] {
            let mut leaps = Leaps::default();
            for t in 0..10_000 {
                leaps.passes(f64::from(t) * 0.02, 200, period);
                period.and_then(|period| leaps.other_than(period, 200, true));
            }
            assert!(leaps.block.len() <= JUDGED + 1);
        }
        // Nor where it is long in doubt.
        let mut leaps = Leaps::default();
        for t in 0..10_000 {
            leaps.passes(f64::from(t) * 0.001 + f64::from(t / 50), 200, FIFTY);
            FIFTY.and_then(|period| leaps.other_than(period, 200, true));
            assert!(leaps.block.len() <= DOUBTFUL + 1);
        }
    }

    #[test]
    fn a_first_step_is_no_measure() {
        assert!(leaps(None, &[0.0, 0.0, 0.04, 0.06, 0.08, 0.1]).is_empty());
        assert!(leaps(None, &[0.0, 0.000_01, 0.02, 0.04, 0.06, 0.08]).is_empty());
        assert_eq!(leaps(FIFTY, &[0.0, 0.2, 0.22]), [1]);
    }

    #[test]
    fn another_period_is_told_whenever_it_comes() {
        let period = Period { seconds: 0.02, tolerance: 0.05 };
        let first = |times: &dyn Fn(usize) -> f64, named: bool, window: usize| {
            let mut leaps = Leaps::default();
            let told = |t: usize| {
                leaps.passes(times(t), 200, FIFTY);
                Some((t, leaps.other_than(period, window, named)?))
            };
            (0..200).find_map(told)
        };
        let even = |step: f64| move |t: usize| t as f64 * step;
        assert_eq!(first(&even(20.0), false, 200), Some((32, 20.0)));
        assert_eq!(first(&even(20.0), false, 20), Some((19, 20.0)));
        assert_eq!(first(&even(0.01), false, 1), Some((9, 0.01)));
        assert_eq!(first(&even(0.0204), true, 200), None);
        assert_eq!(first(&even(1.0), false, 200), None);
        assert_eq!(first(&even(1.0), true, 200), Some((32, 1.0)));
        // Jitter hides no other rate, and makes none.
        let jittered =
            |step: f64| move |t: usize| (t as f64 + 0.3 * ((t * 7 % 5) as f64 / 2.0 - 1.0)) * step;
        assert!(first(&jittered(0.01), true, 200).is_some_and(|(at, _)| at == 32));
        assert_eq!(first(&jittered(0.02), true, 200), None);
        // Nor does it come too late.
        let late = |t: usize| if t < 100 { 0.02 * t as f64 } else { 2.0 + 0.01 * (t - 100) as f64 };
        assert!(first(&late, true, 200).is_some_and(|(at, _)| (100..160).contains(&at)));
        assert_eq!(first(&|_| 0.5, true, 200), Some((32, 0.0)), "time stands still");
        // Whole milliseconds of 400 Hz are no other rate.
        let mut leaps = Leaps::default();
        let period = Period { seconds: 0.0025, tolerance: 0.05 };
        for t in 0..100 {
            leaps.passes((f64::from(t) * 2.5).round() / 1000.0, 200, Some(period));
            assert_eq!(leaps.other_than(period, 200, true), None);
        }
    }

    /// A stream that comes evenly at a rate a little off ends at once, and as a short series too.
    #[test]
    fn even_times_a_little_off_are_of_another_rate() {
        let period = Period { seconds: 0.02, tolerance: 0.05 };
        for off in [-0.2, -0.12, -0.08, 0.08, 0.12, 0.2] {
            let step = 0.02 * (1.0 + off);
            let close = |found: f64| (found / step - 1.0).abs() < 1e-6;
            let mut leaps = Leaps::default();
            let first = (0..100).find_map(|t| {
                leaps.passes(f64::from(t) * step, 200, FIFTY);
                Some((t, leaps.other_than(period, 200, true)?))
            });
            let (at, found) = first.expect("another rate");
            assert!(at == 32 && close(found), "{off}: {at} {found}");
            let mut leaps = Leaps::default();
            (0..20).for_each(|t| _ = leaps.passes(f64::from(t) * step, 200, FIFTY));
            let Some(Pace::Other(found)) = leaps.judge_rest(period, true) else {
                panic!("{off}: another rate")
            };
            assert!(close(found), "{off}: {found}");
        }
        for off in [-0.04, 0.04] {
            let step = 0.02 * (1.0 + off);
            let mut leaps = Leaps::default();
            for t in 0..1000 {
                leaps.passes(f64::from(t) * step, 200, FIFTY);
                assert_eq!(leaps.other_than(period, 200, true), None, "{off}");
            }
        }
    }

    /// Uneven or delayed samples in one series do not affect the next.
    #[test]
    fn a_series_does_not_hide_the_rate_of_the_next() {
        let period = Period { seconds: 0.02, tolerance: 0.05 };
        let uneven = |t: usize| (t as f64 + (t * t % 5) as f64 * 0.2) * 0.02;
        let held_up = |t: usize| 0.02 * t as f64 + if t < 20 { 0.0 } else { 3600.0 };
        let mut leaps = Leaps::default();
        for before in [&uneven as &dyn Fn(usize) -> f64, &held_up] {
            for t in 0..40 {
                leaps.passes(before(t), 50, FIFTY);
                leaps.judge(period, 50, true);
            }
            leaps.begin();
            (0..20).for_each(|t| _ = leaps.passes(f64::from(t) * 0.01, 50, FIFTY));
            assert_eq!(leaps.judge_rest(period, true), Some(Pace::Other(0.01)));
            leaps.begin();
        }
        // A pause of an hour is not made up for by an hour of faster samples.
        let mut leaps = Leaps::default();
        let fast = |t: usize| if t < 200 { 0.02 * t as f64 } else { 3600.0 + 0.01 * t as f64 };
        let first = (0..6000).find(|&t| {
            leaps.passes(fast(t), 50, FIFTY);
            leaps.other_than(period, 50, true).is_some()
        });
        assert!(first.is_some_and(|at| (200..4000).contains(&at)), "{first:?}");
    }

    /// A time in every tenth sample: the others lie between.
    #[test]
    fn samples_without_times_are_no_leap() {
        let period = Period { seconds: 0.02, tolerance: 0.05 };
        let mut leaps = Leaps::default();
        for t in 0..500 {
            if t % 10 > 0 {
                leaps.pass_untimed();
                continue;
            }
            assert!(!leaps.passes(0.02 * f64::from(t), 5, FIFTY), "{t}");
            assert_eq!(leaps.other_than(period, 5, true), None, "{t}");
            assert!(!leaps.made_up);
        }
    }

    #[test]
    fn numbers_and_jitter_are_told_and_so_is_what_a_short_series_says() {
        let period = Period { seconds: 0.02, tolerance: 0.05 };
        let pace = |time: &dyn Fn(usize) -> f64, named: bool, count: usize| {
            let mut leaps = Leaps::default();
            let each = |t: usize| {
                leaps.passes(time(t), 200, FIFTY);
                leaps.judge(period, 200, named)
            };
            let whole = (0..count).find_map(each);
            whole.or(leaps.judge_rest(period, named))
        };
        let even = |step: f64| move |t: usize| t as f64 * step;
        for count in [4, 12, 100] {
            assert_eq!(pace(&even(1.0), false, count), Some(Pace::Numbered));
        }
        assert_eq!(pace(&even(1.0), true, 100), Some(Pace::Other(1.0)));
        assert_eq!(pace(&even(0.02), false, 100), Some(Pace::AsInTraining));
        assert_eq!(pace(&even(0.02), false, 20), None);
        assert_eq!(pace(&even(0.01), false, 20), Some(Pace::Other(0.01)));
        assert_eq!(pace(&even(0.01), false, 5), None, "too few to be sure");
        let uneven = |t: usize| (t as f64 + (t * t % 5) as f64 * 0.2) * 0.02;
        assert_eq!(pace(&uneven, true, 100), Some(Pace::Uneven));
    }
}
