//! Thresholds of a rejection, learnt from held-out windows, and their effect.

use fishweir_core::classify;
use serde::Serialize;

use super::judge::{Judged, rejected};
use super::unknown::UnknownClass;
use crate::classifier::{DeployedConfidence, Rejection};

/// Thresholds that reject a share of the windows they are made from, at most: the largest equal shares that are
/// cut off at the low end of margins, and at both ends of likelihoods per sample, which are counted from the mean
/// of what was decided for the same class, in its standard deviations.
///
/// ```text
/// z_n = (l_n - mean_c) / deviation_c,  c = the class decided for,  l_n = max_m log p_m(x_n) / t_n
/// limits of class c:  mean_c + deviation_c [quantile z, quantile z]
/// ```
///
/// A class's variance is that of its own windows with that within all classes, which counts as four more: two windows
/// that happen to be alike make no narrow limits. A class that no window was decided for has the mean of all. `None`
/// where no window was decided. Cost: two sorts, and `log n` passes over the windows.
#[must_use]
pub fn thresholds(judged: &[&Judged], classes: usize, rate: f64) -> Option<Rejection> {
    let decided = judged.iter().filter_map(|one| Some((one.decision?, *one)));
    let decided: Vec<(usize, &Judged)> = decided.collect();
    let mut margins: Vec<f64> =
        decided.iter().map(|(_, one)| f64::from(one.margin)).filter(|x| !x.is_nan()).collect();
    margins.sort_unstable_by(f64::total_cmp);
    // Where models are ruled out a margin may be infinite, and so no threshold.
    let least_margin = |count: usize| Some(margins.get(count)?.min(f64::from(f32::MAX)));
    let levels: Vec<(usize, f64)> = decided
        .iter()
        .filter_map(|&(class, one)| Some((class, f64::from(one.likelihood?))))
        .filter(|(_, level)| level.is_finite())
        .collect();
    let by_class = Level::of_classes(&levels, classes);
    let of_own = |&(class, level): &(usize, f64)| Some(by_class.get(class)?.standard(level));
    let mut standard: Vec<f64> = levels.iter().filter_map(of_own).collect();
    standard.sort_unstable_by(f64::total_cmp);
    // Thresholds that cut off `count` windows at each end.
    let cutting = |count: usize| -> Option<Rejection> {
        let last = standard.len().saturating_sub(1);
        let inner = count.min(last / 2);
        let ends = standard.get(inner).zip(standard.get(last - inner));
        let limits = |level: &Level| ends.map(|(&least, &most)| [least, most].map(|z| level.at(z)));
        let likelihoods = by_class.iter().map(limits).collect::<Option<_>>()?;
        Some(Rejection { rate, least_margin: least_margin(count)?, likelihoods })
    };
    let allowed = (rate * decided.len() as f64).floor() as usize;
    let rejects = |count: usize| {
        let rejection = cutting(count).map(|rejection| rejection.rounded());
        let count = |rejection: DeployedConfidence| {
            decided.iter().filter(|(_, one)| rejected(&rejection.of_core(), one)).count()
        };
        rejection.map_or(usize::MAX, count)
    };
    let (mut most, mut too_many) = (0, margins.len());
    while most + 1 < too_many {
        let middle = usize::midpoint(most, too_many);
        if rejects(middle) <= allowed { most = middle } else { too_many = middle }
    }
    cutting(most)
}

/// Weight, in windows, of the pooled variance in that of each class.
const PRIOR: f64 = 4.0;

/// Distribution of likelihoods per sample.
#[derive(Clone, Copy)]
struct Level {
    mean: f64,
    deviation: f64,
}

impl Level {
    /// Levels of each class, from likelihoods per sample with the decided class; the pooled level for a class without any.
    fn of_classes(levels: &[(usize, f64)], classes: usize) -> Vec<Self> {
        let of = |wanted: Option<usize>| {
            let own = move |one: &&(usize, f64)| wanted.is_none_or(|class| one.0 == class);
            levels.iter().filter(own).map(|one| one.1)
        };
        let mean = |class: Option<usize>| {
            let count = of(class).count();
            (count > 0).then(|| of(class).sum::<f64>() / count as f64)
        };
        let all = mean(None);
        let squares_about = |class: usize, mean: f64| -> f64 {
            of(Some(class)).map(|level| (level - mean) * (level - mean)).sum()
        };
        let within: f64 =
            (0..classes).filter_map(|class| Some(squares_about(class, mean(Some(class))?))).sum();
        let within = within / (levels.len().saturating_sub(classes)).max(1) as f64;
        let of_class = |class: usize| {
            let mean = mean(Some(class)).or(all)?;
            let count = of(Some(class)).count().saturating_sub(1) as f64;
            let variance = (squares_about(class, mean) + PRIOR * within) / (count + PRIOR);
            // Where all are as likely, next to nothing is a deviation.
            let least = f64::EPSILON.max(mean.abs() * f64::from(f32::EPSILON));
            Some(Self { mean, deviation: variance.sqrt().max(least) })
        };
        (0..classes).filter_map(of_class).collect()
    }

    fn standard(self, level: f64) -> f64 {
        (level - self.mean) / self.deviation
    }

    fn at(self, standard: f64) -> f64 {
        self.mean + self.deviation * standard
    }
}

/// Results of rejection on held-out windows, and on held-out classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RejectionFigures {
    /// The intended share of rejected windows of known classes; null if an artefact does not have it.
    pub rate: Option<f64>,
    /// The share of them that was, each fold by the thresholds of the others.
    pub rejected: f64,
    /// Accuracy on the accepted windows; null if none is left.
    pub accuracy_of_accepted: Option<f64>,
    /// Classes that a classifier of the others had never seen.
    pub unseen: Vec<Unseen>,
}

/// A class that a classifier had never seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unseen {
    /// The class.
    pub class: String,
    /// Number of windows of the class.
    pub windows: usize,
    /// The share of them rejected.
    pub rejected: f64,
}

impl RejectionFigures {
    /// Rejection of decisions on held-out windows, `[fold][window]`, each fold by thresholds from the others.
    ///
    /// `None` for fewer than two folds with a window.
    #[must_use]
    pub fn of(folds: &[&[Judged]], classes: usize, rate: f64) -> Option<Self> {
        let mut judged = Vec::new();
        for (held_back, own) in folds.iter().enumerate() {
            let others = folds.iter().enumerate().filter(|&(fold, _)| fold != held_back);
            let others: Vec<&Judged> = others.flat_map(|(_, fold)| *fold).collect();
            if let Some(rejection) = thresholds(&others, classes, rate) {
                let rejection = rejection.rounded();
                let rejected = |one| rejected(&rejection.of_core(), one);
                judged.extend(own.iter().map(|one| (rejected(one), one)));
            }
        }
        Self::of_rejected(Some(rate), &judged)
    }

    /// Rejection of decisions on windows of known classes, by fixed thresholds, with the intended rate if known.
    ///
    /// `None` without windows.
    #[must_use]
    pub fn by(
        confidence: &classify::Calibration<'_>,
        rate: Option<f64>,
        judged: &[Judged],
    ) -> Option<Self> {
        let judged: Vec<_> = judged.iter().map(|one| (rejected(confidence, one), one)).collect();
        Self::of_rejected(rate, &judged)
    }

    fn of_rejected(rate: Option<f64>, judged: &[(bool, &Judged)]) -> Option<Self> {
        let kept: Vec<&Judged> = judged.iter().filter(|one| !one.0).map(|one| one.1).collect();
        let right = kept.iter().filter(|one| one.decision == Some(one.label)).count();
        (!judged.is_empty()).then(|| Self {
            rate,
            rejected: (judged.len() - kept.len()) as f64 / judged.len() as f64,
            accuracy_of_accepted: (!kept.is_empty()).then(|| right as f64 / kept.len() as f64),
            unseen: Vec::new(),
        })
    }
}

impl Unseen {
    /// Rejection of the windows of an unknown class, by fixed thresholds.
    #[must_use]
    pub fn by(confidence: &classify::Calibration<'_>, class: String, judged: &[Judged]) -> Self {
        let away = judged.iter().filter(|one| rejected(confidence, one)).count();
        Self::share(class, away, judged.len())
    }

    /// Rejection of the windows of an unknown class; `None` for a classifier without thresholds.
    #[must_use]
    pub fn of(unknown: &UnknownClass) -> Option<Self> {
        Some(Self::share(unknown.class.clone(), unknown.rejected?, unknown.windows))
    }

    fn share(class: String, away: usize, windows: usize) -> Self {
        Self { class, windows, rejected: away as f64 / windows.max(1) as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows decided for `class`, whose likelihoods per sample are about `level`.
    fn decided(class: usize, level: f32, count: usize) -> Vec<Judged> {
        let one = |n: usize| {
            let spread = (n * 37 % 1009) as f32 / 1009.0 - 0.5;
            Judged {
                series: n,
                start: 0,
                label: class,
                decision: Some(class),
                margin: 2.0 + (n * 53 % 1013) as f32 / 1013.0,
                leads: vec![0.0; 2],
                likelihood: Some(level + spread),
                settled: 1,
                refused: 0,
            }
        };
        (0..count).map(one).collect()
    }

    fn known() -> Vec<Judged> {
        [decided(0, -1.0, 300), decided(1, -20.0, 200)].concat()
    }

    fn share(rejection: &Rejection, judged: &[Judged]) -> f64 {
        Unseen::by(&rejection.rounded().of_core(), String::new(), judged).rejected
    }

    #[test]
    fn no_more_is_rejected_than_was_allowed_and_hardly_less() {
        let known = known();
        let all: Vec<&Judged> = known.iter().collect();
        for rate in [0.001, 0.01, 0.05, 0.2, 0.49] {
            let rejection = thresholds(&all, 2, rate).expect("windows");
            let share = share(&rejection, &known);
            assert!(share <= rate && share > 0.9 * rate - 3.0 / 500.0, "{rate}: {share}");
        }
    }

    #[test]
    fn what_lies_between_the_classes_is_found_by_limits_of_each() {
        let known = known();
        let rejection = thresholds(&known.iter().collect::<Vec<_>>(), 2, 0.05).expect("windows");
        for (class, level) in [(0, -10.0), (1, -10.0), (0, -30.0), (1, 5.0)] {
            assert_eq!(share(&rejection, &decided(class, level, 50)), 1.0, "{class} {level}");
        }
        let mut close = decided(0, -1.0, 50);
        close.iter_mut().for_each(|one| one.margin = 0.1);
        assert_eq!(share(&rejection, &close), 1.0);
        close.iter_mut().for_each(|one| (one.margin, one.decision) = (9.0, None));
        assert_eq!(share(&rejection, &close), 1.0, "what was not decided");
    }

    #[test]
    fn of_one_window_or_without_likelihoods_there_are_thresholds_and_of_none_there_are_none() {
        let mut one = decided(1, -3.0, 1);
        assert_eq!(share(&thresholds(&[&one[0]], 2, 0.1).expect("a window"), &one), 0.0);
        one[0].likelihood = None;
        let rejection = thresholds(&[&one[0]], 2, 0.1).expect("a window");
        assert!(rejection.likelihoods.is_empty());
        one[0].decision = None;
        assert_eq!(thresholds(&[&one[0]], 2, 0.1), None);
        let same: Vec<Judged> = decided(0, 0.0, 20)
            .into_iter()
            .map(|one| Judged { likelihood: Some(-2.5), ..one })
            .collect();
        let rejection = thresholds(&same.iter().collect::<Vec<_>>(), 2, 0.1).expect("windows");
        assert!(share(&rejection, &same) <= 0.1, "all as likely: {rejection:?}");
    }

    #[test]
    fn folds_are_judged_by_the_others() {
        let (usual, strange) = (decided(0, -1.0, 100), decided(0, -9.0, 100));
        let figures = RejectionFigures::of(&[&usual, &usual], 2, 0.05).expect("folds");
        assert!(figures.rejected <= 0.05 && figures.accuracy_of_accepted == Some(1.0));
        let figures = RejectionFigures::of(&[&usual, &strange], 2, 0.05).expect("folds");
        assert_eq!((figures.rejected, figures.accuracy_of_accepted), (1.0, None));
        assert!(RejectionFigures::of(&[&usual[..0], &usual[..0]], 2, 0.05).is_none());
    }
}
