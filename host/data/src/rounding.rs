//! Times that were rounded to a unit about as long as their steps: 800 Hz in whole milliseconds steps by one and by two.
//!
//! Lost samples leave such steps too. The positions of the longer steps distinguish the two. An even clock, rounded in any way,
//! has each time within half a unit of its own; the longest period for which that is so, with few lost samples, is the clock's.
//! If samples are lost at random there is no such period.

use super::median::step_range;

/// Steps that are looked at as one.
const BLOCK: usize = 64;
/// Number of steps below which the result is not significant.
const LEAST: usize = 16;
/// Times in units that a clock's rounding leaves out, below which there is no sign of it.
const FEWEST: f64 = 6.0;
/// Longest period, in units, that needs no correction.
const LONGER: f64 = 1.045;
/// Length of a leap, in units.
const LEAP: i64 = 8;
/// The share of samples that may be lost in addition to the rounding.
const LOST: f64 = 0.06;
/// Periods of blocks differ by less.
const ALIKE: f64 = 0.03;
/// Periods of short series differ by less from that of the others.
const NEAR: f64 = 0.1;
/// Number of phases of a clock between two units that are tried, and tolerance of its times beyond half a unit.
const PHASES: usize = 16;
const SLACK: f64 = 0.03;

/// Relation of some times to an even clock that was rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rounding {
    /// No time is left out, or there are too few.
    Unknown,
    /// No clock leaves such times out: samples come unevenly, or are lost.
    Uneven,
    /// One of this period, in the unit of the times.
    Period(f64),
}

impl Rounding {
    pub(super) fn of(times: &[f64]) -> Self {
        let Some((unit, numbers)) = numbers(times) else { return Self::Unknown };
        let (mut periods, mut mixed, mut left_out) = (Vec::new(), 0, 0.0);
        let mut start = 0;
        while start + LEAST < numbers.len() {
            let block = &numbers[start..numbers.len().min(start + BLOCK + 1)];
            start += BLOCK;
            let span = block[block.len() - 1] - block[0];
            let leaps = block.windows(2).any(|pair| pair[1] - pair[0] > LEAP);
            if leaps || span + 1 < block.len() as i64 + 2 {
                continue;
            }
            mixed += 1;
            if let Some(period) = period_of(block) {
                left_out += span as f64 * (1.0 - 1.0 / period);
                periods.push(period);
            }
        }
        periods.sort_unstable_by(f64::total_cmp);
        let Some(&middle) = periods.get(periods.len() / 2) else {
            return if mixed > 0 { Self::Uneven } else { Self::Unknown };
        };
        let most = |count: usize, of: usize| 5 * count >= 4 * of;
        let alike = periods.iter().filter(|&one| (one / middle - 1.0).abs() < ALIKE).count();
        if !most(periods.len(), mixed) || !most(alike, periods.len()) {
            return Self::Uneven;
        }
        match left_out >= FEWEST && middle >= LONGER {
            true => Self::Period(middle * unit),
            false => Self::Unknown,
        }
    }

    /// The period.
    pub(super) fn period(self) -> Option<f64> {
        match self {
            Self::Period(period) => Some(period),
            Self::Unknown | Self::Uneven => None,
        }
    }

    /// The period that three quarters of the series have, of those that are not [`Unknown`](Self::Unknown).
    fn usual(all: &[Self]) -> Option<f64> {
        let known = all.iter().filter(|one| **one != Self::Unknown).count();
        let mut periods: Vec<f64> = all.iter().filter_map(|one| one.period()).collect();
        periods.sort_unstable_by(f64::total_cmp);
        let &middle = periods.get(periods.len() / 2)?;
        let alike = periods.iter().filter(|&one| (one / middle - 1.0).abs() < ALIKE).count();
        (4 * alike >= 3 * known).then_some(middle)
    }
}

/// The rounding of the times of several series, which come from one clock.
pub(super) struct Roundings {
    /// The period of most series whose times were rounded to units about as long.
    pub(super) usual: Option<f64>,
    /// Period of each series; `None` if its times are not rounded so.
    pub(super) each: Vec<Option<f64>>,
}

impl Roundings {
    pub(super) fn of(series: &[&[f64]]) -> Self {
        let all: Vec<Rounding> = series.iter().map(|times| Rounding::of(times)).collect();
        let Some(usual) = Rounding::usual(&all) else {
            return Self { usual: None, each: vec![None; series.len()] };
        };
        // Short series do not say it by themselves.
        let each = all.iter().zip(series).map(|(own, times)| match *own {
            Rounding::Period(own) if (own / usual - 1.0).abs() > NEAR => Some(own),
            Rounding::Period(_) => Some(usual),
            Rounding::Unknown | Rounding::Uneven => bears(times, usual).then_some(usual),
        });
        Self { usual: Some(usual), each: each.collect() }
    }
}

/// Returns whether some times can be those of a rounded clock of this period, with up to a quarter of the samples lost.
fn bears(times: &[f64], period: f64) -> bool {
    let steps = || times.windows(2).map(|pair| pair[1] - pair[0]).filter(|&step| step > 0.0);
    let (unit, count) = (steps().fold(f64::INFINITY, f64::min), steps().count() as f64);
    let span: f64 = steps().filter(|&step| step <= LEAP as f64 * unit).sum();
    span + unit >= (1.0 - ALIKE) * period * count && span - unit <= 1.3 * period * count
}

/// The shortest step and the times as multiples of it; `None` if they are no multiples, or each follows at once.
fn numbers(times: &[f64]) -> Option<(f64, Vec<i64>)> {
    let steps = || times.windows(2).map(|pair| pair[1] - pair[0]);
    let [short, long] = step_range(times);
    if !(short > 0.0 && short.is_finite()) {
        return None;
    }
    // All multiples are one: no time is left out.
    if long < 1.5 * short {
        return None;
    }
    let (mut sum, mut count) = (0.0, 0.0);
    for step in steps().filter(|&step| step < 1.1 * short) {
        (sum, count) = (sum + step, count + 1.0);
    }
    let (unit, mut at) = (sum / count, 0);
    let mut numbers = vec![0];
    for step in steps() {
        let multiple = step / unit;
        // Times since 1970 have not all digits of their steps.
        let off = (multiple - multiple.round()).abs();
        if !multiple.is_finite() || off >= 0.01 * multiple.max(1.0) || multiple > 1e9 {
            return None;
        }
        at += multiple.round() as i64;
        numbers.push(at);
    }
    Some((unit, numbers))
}

/// The longest period, in units, of a clock whose rounded times these are, but for a few that are lost.
fn period_of(block: &[i64]) -> Option<f64> {
    let (span, steps) = ((block[block.len() - 1] - block[0]) as f64, (block.len() - 1) as f64);
    let (most, least) = ((span + 1.0) / steps, (span - 1.0) / (steps * (1.0 + LOST)));
    let least = least.max(1.02);
    let (mut period, mut found): (f64, Option<[f64; 2]>) = (most.min(1.98), None);
    while period >= least {
        match (is_rounded(block, period), found) {
            (true, None) => found = Some([period, period]),
            (true, Some([longest, _])) => found = Some([longest, period]),
            (false, Some(_)) => break,
            (false, None) => {}
        }
        period -= 0.3 / span;
    }
    found.map(|[longest, shortest]| f64::midpoint(longest, shortest))
}

/// Returns whether an even clock of this period has each time within half a unit of one of its own, in their order.
fn is_rounded(block: &[i64], period: f64) -> bool {
    let reach = 0.5 + SLACK;
    let begins = |phase: usize| block[0] as f64 - 0.5 + (phase as f64 + 0.5) / PHASES as f64;
    (0..PHASES).map(begins).any(|begin| {
        let mut last = 0.0_f64;
        block[1..].iter().all(|&number| {
            let first = ((number as f64 - reach - begin) / period - 1e-9).ceil();
            last = first.max(last + 1.0);
            begin + last * period <= number as f64 + reach
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from zero to one.
    fn random() -> impl FnMut() -> f64 {
        let mut state = 1_u32;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 24)
        }
    }

    #[test]
    fn rounded_clocks_have_their_rate() {
        let mut random = random();
        let roundings = [f64::floor, f64::round, f64::round_ties_even, f64::ceil];
        for lost in [0.0, 0.02] {
            let (mut right, mut all) = (0, 0);
            for hertz in [510.0, 560.0, 640.0, 667.0, 714.0, 750.0, 800.0, 833.0, 900.0] {
                let phases = [0.0, 0.13, 0.25, 0.5, 0.77];
                let each =
                    roundings.into_iter().flat_map(|round| phases.map(|phase| (round, phase)));
                for (round, phase) in each {
                    for (origin, unit) in [(0.0, 1.0), (1.7e9, 0.001)] {
                        let time = |t: u32| round(1000.0 * f64::from(t) / hertz + phase);
                        let kept = (0..300).filter(|_| random() >= lost);
                        let times: Vec<f64> = kept.map(|t| origin + unit * time(t)).collect();
                        let found = Rounding::of(&times).period().unwrap_or(unit);
                        all += 1;
                        right += usize::from((found * hertz / (1000.0 * unit) - 1.0).abs() < 0.02);
                    }
                }
            }
            assert!(10 * right >= 9 * all, "{lost}: {right} of {all}");
        }
    }

    #[test]
    fn lost_samples_are_no_rounding() {
        let mut random = random();
        for lost in [0.02, 0.05, 0.1, 0.2, 0.3] {
            let mut all = Vec::new();
            let mut taken = 0;
            for _ in 0..300 {
                let times: Vec<f64> = (0..300).map(f64::from).filter(|_| random() > lost).collect();
                taken += usize::from(Rounding::of(&times).period().is_some());
                all.push(times);
            }
            assert!(taken <= 6, "{lost}: {taken} of 300");
            let all: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
            assert_eq!(Roundings::of(&all).usual, None, "{lost}");
        }
    }

    #[test]
    fn jitter_and_single_steps_are_none() {
        let mut random = random();
        let jittered: Vec<f64> = (0..300).map(|t| f64::from(t) + 0.2 * random()).collect();
        assert_eq!(Rounding::of(&jittered), Rounding::Unknown);
        for times in [&[][..], &[1.0], &[1.0, 2.0], &[0.0; 40]] {
            assert_eq!(Rounding::of(times), Rounding::Unknown);
        }
        let even: Vec<f64> = (0..300).map(|t| f64::from(t) * 0.02).collect();
        assert_eq!(Rounding::of(&even), Rounding::Unknown);
    }
}
