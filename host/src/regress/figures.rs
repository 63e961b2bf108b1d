//! Figures of a regression.

use serde::Serialize;

use super::Estimate;

/// Errors of estimates, in the target's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RegressionFigures {
    /// Windows with a target and an estimate.
    pub windows: usize,
    /// Root of the mean squared error.
    pub rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Share of the targets' variance that estimates explain: `1 - sum (y - estimate)^2 / sum (y - mean y)^2`; null if targets do
    /// not differ.
    pub r2: Option<f64>,
    /// Share of the targets within the interval; null without an interval.
    pub coverage: Option<f64>,
}

impl RegressionFigures {
    /// Figures of some estimates.
    #[must_use]
    pub fn of(estimates: &[Estimate]) -> Self {
        Self::all(estimates, false)
    }

    /// Figures of the training's mean in place of each estimate.
    #[must_use]
    pub fn of_mean(estimates: &[Estimate]) -> Self {
        Self { coverage: None, ..Self::all(estimates, true) }
    }

    fn all(estimates: &[Estimate], by_mean: bool) -> Self {
        let count = estimates.len().max(1) as f64;
        let middle = estimates.iter().map(|one| one.target).sum::<f64>() / count;
        let (mut squares, mut errors, mut spread) = (0.0, 0.0, 0.0);
        let (mut covered, mut intervals) = (0_usize, 0_usize);
        for one in estimates {
            let estimate = if by_mean { one.mean } else { one.estimate };
            let error = (estimate - one.target).abs();
            squares += error * error;
            errors += error;
            spread += (one.target - middle) * (one.target - middle);
            if let Some(half_width) = one.half_width {
                intervals += 1;
                covered += usize::from(error <= half_width);
            }
        }
        Self {
            windows: estimates.len(),
            rmse: (squares / count).sqrt(),
            mae: errors / count,
            r2: (spread > 0.0).then(|| 1.0 - squares / spread),
            coverage: (intervals > 0).then(|| covered as f64 / intervals as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_textbook() {
        let one = |target: f64, estimate: f64| Estimate {
            series: 0,
            start: 0,
            target,
            estimate,
            mean: 2.0,
            half_width: Some(1.0),
        };
        let all = [one(1.0, 1.0), one(2.0, 4.0), one(3.0, 2.0)];
        let figures = RegressionFigures::of(&all);
        assert_eq!((figures.windows, figures.mae, figures.coverage), (3, 1.0, Some(2.0 / 3.0)));
        assert!((figures.rmse - (5.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(figures.r2, Some(1.0 - 5.0 / 2.0));
        // The mean explains nothing.
        assert_eq!(RegressionFigures::of_mean(&all).r2, Some(0.0));
        assert_eq!(RegressionFigures::of(&all[..1]).r2, None);
    }
}
