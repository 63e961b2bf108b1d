//! Leaps of the time: recursions count samples, not seconds.

use std::fmt;

use super::batches::Batches;
use super::dataset::{Dataset, Series};
use super::median::{median_step, step_range};

/// Steps of the time `t` that are longer than one and a half times their series' usual step, its
/// median: samples that were lost, or that nobody marked as missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Gaps<'a> {
    /// Number of gaps.
    pub count: usize,
    /// The series of the first.
    pub series: &'a Series,
    /// The times before and behind the first.
    pub between: [f64; 2],
    /// The usual step of that series.
    pub usual: f64,
}

impl Dataset {
    /// The gaps in time, if there are any.
    pub fn gaps(&self) -> Option<Gaps<'_>> {
        let each = self.series().iter().zip(self.roundings().each);
        let found = each.filter_map(|(series, rounded)| gaps_in(series, rounded));
        found.reduce(|first, other| Gaps { count: first.count + other.count, ..first })
    }
}

impl Series {
    /// Returns the samples before which the time leaps by more than `steps` usual steps.
    pub(crate) fn leaps(&self, steps: usize) -> Vec<usize> {
        let all = || self.times.windows(2).map(|pair| pair[1] - pair[0]);
        // If even the smallest step is within the limit, no step is a leap.
        let [least, most] = step_range(&self.times);
        if most <= least * steps as f64 {
            return Vec::new();
        }
        let Some(usual) = usual_step(&self.times) else { return Vec::new() };
        // Times are rounded.
        let far = all().enumerate().filter(|&(_, step)| (step / usual).round() > steps as f64);
        far.map(|(before, _)| before + 1).collect()
    }
}

/// The step that is usual in a series' times: the mean of batches, else the median. `None` of fewer than two steps.
pub(super) fn usual_step(times: &[f64]) -> Option<f64> {
    Batches::of(times).map(|batches| batches.mean).or_else(|| median_step(times))
}

/// Gaps of series whose samples do not come in batches.
fn gaps_in(series: &Series, rounded: Option<f64>) -> Option<Gaps<'_>> {
    let [least, most] = step_range(&series.times);
    if rounded.is_none() && most <= 1.5 * least {
        return None;
    }
    let usual = median_step(&series.times)?;
    // Rounded times have a step of one unit more, which is no leap.
    let longest = rounded.map_or(1.5 * usual, |period| 2.0 * period);
    let mut leaps = series.times.windows(2).filter(|pair| pair[1] - pair[0] > longest);
    let first = leaps.next()?;
    if Batches::of(&series.times).is_some() {
        return None;
    }
    Some(Gaps { count: 1 + leaps.count(), series, between: [first[0], first[1]], usual })
}

impl fmt::Display for Gaps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, series, between: [from, to], usual } = self;
        // Steps are differences of times: what is behind a nanosecond is rounding.
        let usual = (usual * 1e9).round() / 1e9;
        let name = &series.id;
        match count {
            1 => f.write_str("samples are missing in one place (")?,
            count => write!(f, "samples are missing in {count} places (the first: ")?,
        }
        write!(f, "series `{name}`, from {from} to {to} s; the usual step is {usual} s)")
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dataset, ReadOptions};

    fn told(times: &[&str]) -> Option<String> {
        let rows = times
            .iter()
            .enumerate()
            .flat_map(|(series, times)| times.split(' ').map(move |t| format!("{series},{t},1\n")));
        let text = "series,t,x\n".to_owned() + &rows.collect::<String>();
        let data = Dataset::parse("data", text.as_bytes(), &ReadOptions::default());
        data.expect("valid").gaps().map(|gaps| gaps.to_string())
    }

    #[test]
    fn a_lost_sample_shows_and_an_uneven_clock_does_not() {
        assert_eq!(told(&["0 1 2 3", "0 0.02 0.041 0.06", "5", "5 9"]), None);
        let place = "series `1`, from 2 to 4 s; the usual step is 1 s)";
        let one = format!("samples are missing in one place ({place}");
        assert_eq!(told(&["0 1 2", "0 1 2 4 5 6"]), Some(one));
        let more = told(&["0 1 2", "0 1 2 4 5 6", "0 1 2 3 9 10 11 19 20 21"]);
        assert_eq!(more, Some(format!("samples are missing in 3 places (the first: {place}")));
    }
}
