//! The period of some times: by their steps, however they are rounded, lost or handed over in batches.

use super::batches::Batches;
use super::median::median_step;
use super::rounding::Rounding;

/// A step is off where it differs from the period by more than this share of it.
const OFF: f64 = 0.3;

/// The share of steps that are off above which a clock is reported as irregular.
pub(super) const IRREGULAR: f64 = 0.1;

/// Share of other steps above which there is no period at all.
const NO_PERIOD: f64 = 0.25;

/// Number of steps whose mean is compared with the period: rounding and jitter cancel over them.
const BLOCK: usize = 32;

/// The steps of a series' time.
pub(super) struct Steps {
    /// The mean of those from half to one and a half times the median, and of shorter ones where there are many; of times
    /// that were rounded to units about as long, the mean of all but leaps; of batches, the mean of all.
    pub(super) period: f64,
    /// The share that is off, leaps aside.
    pub(super) off: f64,
    pub(super) count: usize,
    /// Batches in which samples come.
    pub(super) batches: Option<Batches>,
}

impl Steps {
    /// Steps of two times or more.
    pub(super) fn of(times: &[f64]) -> Option<Self> {
        Self::with(times, Rounding::of(times).period())
    }

    /// Steps with a known period of rounded times, or known to be without.
    pub(super) fn with(times: &[f64], rounded: Option<f64>) -> Option<Self> {
        if let Some(batches) = Batches::of(times) {
            let (period, count) = (nearest_period(batches.mean), times.len() - 1);
            return Some(Self { period, off: 1.0, count, batches: Some(batches) });
        }
        let median = median_step(times).filter(|&median| median > 0.0)?;
        let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // Rounded times have a step of one unit more, which is no leap.
        let reach = rounded.map_or(1.5 * median, |period| 2.0 * period);
        let means: Vec<(f64, usize)> =
            steps.chunks(BLOCK).filter_map(|block| mean_step(block, reach)).collect();
        // Where nearly all steps of a block are longer, the rate is another there.
        let is_long = |step: &&f64| **step > reach;
        let slower = steps
            .chunks(BLOCK)
            .filter(|block| 10 * block.iter().filter(is_long).count() >= 9 * block.len());
        let slower: usize = slower.map(<[f64]>::len).sum();
        steps.sort_unstable_by(f64::total_cmp);
        // Times in whole milliseconds are off by up to one.
        let apart = steps.windows(2).map(|pair| pair[1] - pair[0]);
        let finest = apart.filter(|&apart| apart > 1e-6 * median).fold(f64::INFINITY, f64::min);
        // A few short steps are samples sent twice; many are jitter, which the others have back.
        let short = steps.iter().filter(|&&step| step <= 0.5 * median).count();
        let [shortest, longest] = match 12 * short > steps.len() {
            true => [f64::NEG_INFINITY, 1.9 * median],
            false => [0.5 * median, 1.5 * median * (1.0 + 1e-9)],
        };
        let (mut sum, mut count) = (0.0, 0);
        for &step in &steps {
            if step > shortest && step <= longest {
                (sum, count) = (sum + step, count + 1);
            }
        }
        let period = nearest_period(rounded.unwrap_or(sum / f64::from(count)));
        let finest = if finest < period { 1.000_001 * finest } else { 0.0 };
        let bound = (OFF * period).max(finest);
        let is_off = |step: &&f64| (**step - period).abs() > bound && **step <= reach;
        // A stretch at another rate is off too, however evenly its samples come.
        let is_other = |mean: f64| (mean / period - 1.0).abs() > OFF;
        let other: usize = means.iter().filter(|(mean, _)| is_other(*mean)).map(|(_, of)| of).sum();
        let other = other + slower;
        let off = steps.iter().filter(is_off).count().max(other);
        let off = off as f64 / steps.len() as f64;
        Some(Self { period, off, count: steps.len(), batches: None })
    }
}

/// The sample period by some times: the mean of the steps up to one and a half times their median, and of all but leaps
/// where the times were rounded to units about as long. `None` of fewer than two steps, where a quarter of the steps or
/// more are another, and of batches.
#[must_use]
pub fn period_of(times: &[f64]) -> Option<f64> {
    even_enough(Steps::of(times)?)
}

/// The period of steps of which less than a quarter are another.
pub(super) fn even_enough(steps: Steps) -> Option<f64> {
    (steps.off <= NO_PERIOD).then_some(steps.period)
}

/// Returns the period if at most a tenth of the steps are another.
#[must_use]
pub fn even_period_of(times: &[f64]) -> Option<f64> {
    Steps::of(times).filter(|steps| steps.off <= IRREGULAR).map(|steps| steps.period)
}

/// The mean of the steps of some times, leaps aside, in the unit of the times: a rate of times without a period. Of
/// batches, and where most samples share their time with another, the mean of all steps. `None` of fewer than eight steps,
/// and where time stands still.
#[must_use]
pub fn rough_period(times: &[f64]) -> Option<f64> {
    if let Some(batches) = Batches::of(times) {
        return Some(batches.mean);
    }
    let median = median_step(times)?;
    let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let longest = if median > 0.0 { 1.5 * median } else { f64::INFINITY };
    mean_step(&steps, longest).map(|(mean, _)| mean).filter(|&mean| mean > 0.0)
}

/// The mean of a block's steps up to the longest that is no leap, and how many they are; `None` of too few.
fn mean_step(block: &[f64], longest: f64) -> Option<(f64, usize)> {
    let (mut sum, mut count) = (0.0, 0_usize);
    for &step in block {
        if step <= longest {
            (sum, count) = (sum + step, count + 1);
        }
    }
    (count >= BLOCK / 4).then(|| (sum / count as f64, count))
}

/// A period to the nanosecond, as the wire has it; of four digits where it is as near to those as floating point is to
/// times since 1970.
pub(super) fn nearest_period(seconds: f64) -> f64 {
    let short = format!("{seconds:.3e}").parse().unwrap_or(seconds);
    if (seconds / short - 1.0).abs() < 1e-6 {
        return short;
    }
    let nanoseconds = (seconds * 1e9).round();
    if nanoseconds > 0.0 { nanoseconds / 1e9 } else { seconds }
}
