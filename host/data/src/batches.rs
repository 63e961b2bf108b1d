//! Samples that a sensor hands over in batches, whose times are those of the handing over.

use super::median::{median, step_range};

/// Ratio of a step to those within a batch at which it begins another batch.
const LEAP: f64 = 5.0;
/// Least ratio of the mean step to that within a batch: below it, a recording has pauses.
const HANDED_OVER: f64 = 20.0;
/// Steps between batches without which there is no pattern.
const FEWEST: usize = 3;

/// Times that leap after a fixed number of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batches {
    /// Samples of a batch.
    pub length: usize,
    /// The step within a batch, in the unit of the times.
    pub within: f64,
    /// The mean step over whole batches.
    pub mean: f64,
}

impl Batches {
    /// Detects times that leap after a fixed number of samples, and by about the same amount, but for one in ten.
    ///
    /// Otherwise `None`. Within a batch the steps are those of reading a buffer: if they are more than a twentieth of the mean,
    /// the samples may have been taken then, in bursts.
    #[must_use]
    pub fn of(times: &[f64]) -> Option<Self> {
        let [least, most] = step_range(times);
        if most <= LEAP * least {
            return None;
        }
        let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        if steps.len() < 2 * FEWEST {
            return None;
        }
        let mut sorted = steps.clone();
        let quarter = sorted.len() / 4;
        let within = *sorted.select_nth_unstable_by(quarter, f64::total_cmp).1;
        let leaps: Vec<usize> = (0..steps.len())
            .filter(|&index| steps[index] > 0.0 && steps[index] > LEAP * within)
            .collect();
        // In batches of two every other step is within one.
        if leaps.len() < FEWEST || 5 * leaps.len() > 3 * steps.len() {
            return None;
        }
        let mut lengths: Vec<f64> =
            leaps.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let length = median(&mut lengths)?;
        let as_long = lengths.iter().filter(|&&one| one == length).count();
        let far = median(&mut leaps.iter().map(|&leap| steps[leap]).collect::<Vec<_>>())?;
        let as_far = leaps.iter().filter(|&&leap| (steps[leap] / far - 1.0).abs() < 0.5).count();
        let most = |count: usize, of: usize| 10 * count >= 9 * of;
        if length < 2.0 || !most(as_long, lengths.len()) || !most(as_far, leaps.len()) {
            return None;
        }
        let (first, last) = (leaps[0] + 1, leaps[leaps.len() - 1] + 1);
        let mean = (times[last] - times[first]) / (last - first) as f64;
        (mean >= HANDED_OVER * within * (1.0 - 1e-6)).then_some(Self {
            length: length as usize,
            within,
            mean,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_found_and_lost_samples_are_none() {
        for length in [2_usize, 3, 10, 32] {
            for within in [0.0, 0.0001, 0.001] {
                let time =
                    |t: usize| 0.02 * (t / length * length) as f64 + within * (t % length) as f64;
                let times: Vec<f64> = (0..length * 5).map(time).collect();
                let found = Batches::of(&times).expect("batches");
                assert_eq!(found.length, length);
                assert!((found.mean - 0.02).abs() < 1e-9, "{found:?}");
            }
        }
        let mut random = 1_u32;
        for lost in [2, 5, 10, 30] {
            let mut kept = |_: &f64| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (random >> 8) % 100 >= lost
            };
            let times: Vec<f64> = (0..500).map(f64::from).filter(&mut kept).collect();
            assert_eq!(Batches::of(&times), None);
        }
        assert_eq!(Batches::of(&[]), None);
        let pauses: Vec<f64> =
            (0..200).map(|t| f64::from(t) + f64::from(t * t / 2000) * 50.0).collect();
        assert_eq!(Batches::of(&pauses), None);
    }
}
