//! Cuts of columns of numbers.

use fishweir::internals::Elementary;
use serde::{Deserialize, Serialize};

/// Options that turn the columns of a table into states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binning {
    /// A column of numbers is cut where it has more different ones than this; else each is a state.
    pub most_states: usize,
    /// Method of cutting.
    pub cutting: Cutting,
    /// `true` if a missing field is a state of its own, `?`, in columns with missing fields.
    pub missing_is_a_state: bool,
}

/// Method of cutting a column of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cutting {
    /// Into this number of bins of nearly equal numbers of rows; fewer if numbers are equal.
    EqualFrequency(usize),
    /// Cuts that separate the classes, as long as they shorten the description of the classes.
    ///
    /// Source: Fayyad and Irani, "Multi-interval discretization of continuous-valued attributes for
    /// classification learning", 1993.
    DescriptionLength,
}

impl Default for Binning {
    /// Four bins for columns with more than ten numbers; missing fields stay missing.
    fn default() -> Self {
        let cutting = Cutting::EqualFrequency(4);
        Self { most_states: 10, cutting, missing_is_a_state: false }
    }
}

/// Cuts into bins of equal frequency: between different numbers, next to where a bin would be full, and
/// after the cut before.
pub(super) fn equal_frequency(mut values: Vec<f64>, bins: usize) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    let (mut cuts, mut after) = (Vec::new(), 0);
    let bins = bins.min(values.len());
    for bin in 1..bins.max(1) {
        let wanted = bin * values.len() / bins;
        // The nearest place to either side at which numbers differ.
        let differs = |at: usize| at > after && at < values.len() && values[at - 1] < values[at];
        let near = (0..values.len()).find_map(|step| {
            let below = wanted.checked_sub(step).filter(|&at| differs(at));
            below.or_else(|| Some(wanted + step).filter(|&at| differs(at)))
        });
        let Some(at) = near else { break };
        cuts.push(between(values[at - 1], values[at]));
        after = at;
    }
    cuts
}

/// Cuts by description length: recursively at the best, while it pays.
pub(super) fn description_length(mut values: Vec<(f64, usize)>, classes: usize) -> Vec<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut cuts = Vec::new();
    let mut open = vec![&values[..]];
    while let Some(part) = open.pop() {
        if let Some(at) = best_cut(part, classes) {
            cuts.push(between(part[at - 1].0, part[at].0));
            open.extend([&part[..at], &part[at..]]);
        }
    }
    cuts.sort_by(f64::total_cmp);
    cuts
}

/// Best cut of sorted values, if any.
fn best_cut(values: &[(f64, usize)], classes: usize) -> Option<usize> {
    let n = values.len() as f64;
    let mut after = vec![0_usize; classes];
    values.iter().for_each(|&(_, class)| after[class] += 1);
    let (all, mut before) = (after.clone(), vec![0_usize; classes]);
    let mut best: Option<(f64, usize, [f64; 4])> = None;
    for at in 1..values.len() {
        let class = values[at - 1].1;
        before[class] += 1;
        after[class] -= 1;
        if values[at - 1].0 >= values[at].0 {
            continue;
        }
        let parts = [entropy(&before), entropy(&after)];
        let cost = (at as f64 * parts[0] + (n - at as f64) * parts[1]) / n;
        if best.is_none_or(|(least, ..)| cost < least) {
            let kinds = [&before, &after].map(|part| kinds(part) as f64);
            best = Some((cost, at, [parts[0], parts[1], kinds[0], kinds[1]]));
        }
    }
    let (cost, at, [first, second, in_first, in_second]) = best?;
    let (of_all, in_all) = (entropy(&all), kinds(&all) as f64);
    let delta = (3_f64.portable_powf(in_all) - 2.0).portable_log2()
        - (in_all * of_all - in_first * first - in_second * second);
    (of_all - cost > ((n - 1.0).portable_log2() + delta) / n).then_some(at)
}

fn kinds(counts: &[usize]) -> usize {
    counts.iter().filter(|&&count| count > 0).count()
}

/// Entropy in bits.
fn entropy(counts: &[usize]) -> f64 {
    let total = counts.iter().sum::<usize>() as f64;
    let p = counts.iter().filter(|&&count| count > 0).map(|&count| count as f64 / total);
    p.map(|p| -p * p.portable_log2()).sum()
}

/// A number between two different ones: their mean, with as few decimals as will do; the smaller where
/// none is between.
fn between(a: f64, b: f64) -> f64 {
    let mean = 0.5 * a + 0.5 * b;
    let fits = |cut: &f64| a < *cut && *cut < b;
    let rounded = (0..13).filter_map(|digits| format!("{mean:.digits$}").parse().ok()).find(fits);
    rounded.unwrap_or(if fits(&mean) { mean } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_as_even_as_equal_numbers_let_them() {
        let values = |numbers: &[i32]| numbers.iter().copied().map(f64::from).collect();
        assert_eq!(equal_frequency(values(&[4, 1, 3, 2, 8, 5, 7, 6]), 4), [2.5, 4.5, 6.5]);
        assert_eq!(equal_frequency(values(&[0, 0, 0, 0, 0, 0, 1, 2]), 4), [0.5, 1.5]);
        assert_eq!(equal_frequency(values(&[3, 3, 3]), 4), [0.0; 0]);
        assert_eq!(equal_frequency(vec![], 4), [0.0; 0]);
        let close = [1.0, f64::from_bits(1_f64.to_bits() + 1)];
        assert_eq!(equal_frequency(close.to_vec(), 2), [1.0]);
    }

    #[test]
    fn description_length_cuts_where_classes_change_and_nowhere_else() {
        let class = |i: usize| if (20..40).contains(&i) { 1 } else { 0 };
        let values: Vec<(f64, usize)> = (0..60).rev().map(|i| (i as f64, class(i))).collect();
        assert_eq!(description_length(values, 2), [19.5, 39.5]);
        let noise: Vec<(f64, usize)> = (0..60).map(|i| (i as f64, i * 7 % 3 % 2)).collect();
        assert_eq!(description_length(noise, 2), [0.0; 0]);
    }
}
