use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Judged;

/// A mean with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Of a figure over `k` folds of a cross-validation, or of the difference of two figures fold by
    /// fold:
    ///
    /// ```text
    /// mean +- t_{0.975, k - 1} s sqrt( 1/k + 1/(k - 1) )
    /// ```
    ///
    /// with `s` the standard deviation over the folds. The second term (test windows a training
    /// window) is the correction of Nadeau and Bengio (2003): training sets overlap, so folds vary
    /// less than samples of the data would. `None` for less than two folds.
    #[must_use]
    pub fn over_folds(figures: &[f64]) -> Option<Self> {
        let k = figures.len() as f64;
        let student = StudentsT::new(0.0, 1.0, k - 1.0).ok()?;
        let mean = figures.iter().sum::<f64>() / k;
        let variance = figures.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (k - 1.0);
        let half = student.inverse_cdf(0.975) * (variance * (1.0 / k + 1.0 / (k - 1.0))).sqrt();
        Some(Self { mean, low: mean - half, high: mean + half })
    }
}

impl Interval {
    /// The same, of a figure that is a share: an end outside `0` to `1` says no more than that end.
    #[must_use]
    pub fn of_share(self) -> Self {
        Self { low: self.low.max(0.0), high: self.high.min(1.0), ..self }
    }
}

/// Resamples of a bootstrap.
const RESAMPLES: usize = 4_000;

impl Interval {
    /// Of the ratio of two sums over units that were drawn independently (subjects, series), such as
    /// windows decided rightly to windows: `(part, whole)` a unit.
    ///
    /// The percentile bootstrap over units, of a fixed seed: equal units give equal intervals, and
    /// parts that are differences of two classifiers' are paired. `None` for less than two units
    /// with anything in them.
    #[must_use]
    pub fn over_units(units: &[(f64, f64)]) -> Option<Self> {
        let units: Vec<(f64, f64)> = units.iter().copied().filter(|unit| unit.1 > 0.0).collect();
        if units.len() < 2 {
            return None;
        }
        let ratio = |drawn: &mut dyn Iterator<Item = (f64, f64)>| {
            let (part, whole) = drawn.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            part / whole
        };
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut ratios: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let mut draw = || units[random.random_range(0..units.len())];
                ratio(&mut (0..units.len()).map(|_| draw()))
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        Some(Self {
            mean: ratio(&mut units.iter().copied()),
            low: ratios[RESAMPLES / 40],
            high: ratios[RESAMPLES - 1 - RESAMPLES / 40],
        })
    }
}

/// Windows decided rightly, and windows, of each unit that was drawn independently: a subject, a
/// series.
#[derive(Clone, Debug, PartialEq)]
pub struct Units(Vec<(f64, f64)>);

impl Units {
    /// Of judged windows and the number of the unit that each belongs to.
    #[must_use]
    pub fn of(judged: &[Judged], unit: &[usize]) -> Self {
        let mut sums = vec![(0.0, 0.0); unit.iter().max().map_or(0, |last| last + 1)];
        for (one, &unit) in judged.iter().zip(unit) {
            sums[unit].0 += f64::from(u8::from(one.decision == Some(one.label)));
            sums[unit].1 += 1.0;
        }
        Self(sums)
    }

    /// Accuracy.
    #[must_use]
    pub fn accuracy(&self) -> Option<Interval> {
        Interval::over_units(&self.0)
    }

    /// By how much the accuracy exceeds another's on the same windows.
    #[must_use]
    pub fn gain_over(&self, other: &Self) -> Option<Interval> {
        let pairs = self.0.iter().zip(&other.0);
        Interval::over_units(
            &pairs.map(|(own, other)| (own.0 - other.0, own.1)).collect::<Vec<_>>(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `t_{0.975, 4} = 2.776`, of any table.
    #[test]
    fn five_folds_are_students() {
        let interval = Interval::over_folds(&[0.8, 0.9, 0.7, 0.8, 0.8]).expect("five folds");
        assert!((interval.mean - 0.8).abs() < 1e-12);
        let half = 2.776_445 * (0.005_f64 * 0.45).sqrt();
        assert!((interval.high - interval.mean - half).abs() < 1e-6);
        assert!((interval.low + interval.high - 2.0 * interval.mean).abs() < 1e-12);
        assert_eq!(Interval::over_folds(&[0.8]), None);
        assert_eq!(Interval::over_folds(&[]), None);
    }

    /// Of many equal units the bootstrap's interval is the normal one.
    #[test]
    fn many_units_are_normal() {
        let units: Vec<(f64, f64)> =
            (0..400).map(|unit| (f64::from(u8::from(unit % 4 > 0)), 1.0)).collect();
        let interval = Interval::over_units(&units).expect("units");
        assert_eq!(interval.mean, 0.75);
        let half = 1.96 * (0.75_f64 * 0.25 / 400.0).sqrt();
        assert!((interval.high - 0.75 - half).abs() < 0.004, "{interval:?}");
        assert!((0.75 - interval.low - half).abs() < 0.004, "{interval:?}");
        assert_eq!(Interval::over_units(&[(1.0, 2.0), (0.0, 0.0)]), None);
    }
}
