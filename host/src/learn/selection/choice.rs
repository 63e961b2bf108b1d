//! Choices of inner cross-validation, and their alternatives.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use fishweir_core::classify::decide;
use fishweir_core::number::Real;

use crate::classifier::{Candidate, Choice, ChosenBy, Lead, Setting};
use crate::data::Folds;
use crate::elementary::Elementary;
use crate::learn::features::scaler::Scales;
use crate::learn::solver::loss::ClassWeight;

impl Candidate {
    fn judgement(&self) -> Judgement {
        Judgement { accuracy: self.accuracy, loss: self.loss }
    }
}

/// Accuracy and loss on held-out windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Judgement {
    pub(crate) accuracy: f64,
    pub(crate) loss: f64,
}

impl Judgement {
    /// Standard error of the accuracy, over `items` independent items of equal weight.
    pub(crate) fn standard_error(&self, items: f64) -> f64 {
        (self.accuracy * (1.0 - self.accuracy) / items.max(1.0)).sqrt()
    }

    /// Gain over another, with the standard error of the difference.
    pub(crate) fn lead(&self, next: &Self, standard_error: f64) -> Lead {
        let (accuracy, loss) = (self.accuracy - next.accuracy, next.loss - self.loss);
        Lead { accuracy, standard_error, loss, over_kept: false }
    }

    /// The greater is the better: more right, or as many with less loss. Less than a thousandth of a nat is
    /// nothing: where all are right by far, rounding would choose, and units with it.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let thousandths = |loss: f64| (1e3 * loss).round();
        let less = thousandths(other.loss).total_cmp(&thousandths(self.loss));
        self.accuracy.total_cmp(&other.accuracy).then(less)
    }
}

/// Decision on a held-out window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) right: bool,
    /// Margin of its class over the best of the others; negative where it does not win.
    pub(crate) lead: f64,
}

impl Verdict {
    /// Verdict from the outputs' values.
    pub(crate) fn of<T: Real>(values: &[T], label: usize) -> Self {
        let lead = match values {
            &[value] => if label == 1 { value } else { -value }.to_f64(),
            _ => {
                let others = values.iter().enumerate().filter(|&(class, _)| class != label);
                let best =
                    others.fold(f64::NEG_INFINITY, |best, (_, value)| best.max(value.to_f64()));
                values.get(label).map_or(f64::NAN, |value| value.to_f64() - best)
            }
        };
        Self { right: decide(values).class == label, lead }
    }
}

/// The settings to choose from: every combination of the lists' values, which are never empty.
pub(crate) struct Grid {
    pub(crate) scales: Vec<Option<Scales>>,
    pub(crate) sigma: Vec<Option<f64>>,
    pub(crate) c: Vec<f64>,
    /// `true` if a setting without an alternative is judged too, for a comparison by its accuracy.
    pub(crate) judge_alone: bool,
}

impl Grid {
    /// All settings: for each scaling, for each width, every C.
    fn settings(&self) -> Vec<Setting> {
        let forms = self.scales.iter().flat_map(|s| self.sigma.iter().map(move |&w| (*s, w)));
        let of_form = |(scales, sigma)| self.c.iter().map(move |&c| setting(scales, sigma, c));
        forms.flat_map(of_form).collect()
    }

    /// The middle of every list, of two the second, and of weights of codebooks the first.
    fn middle(&self) -> Setting {
        fn of<T: Copy>(list: &[T]) -> T {
            list[list.len() / 2]
        }
        let weight = |scales: &Option<Scales>| scales.map(|scales| scales.codebook_weight);
        let first = self.scales.first().and_then(weight);
        let alike: Vec<_> =
            self.scales.iter().copied().filter(|scales| weight(scales) == first).collect();
        setting(of(&alike), of(&self.sigma), of(&self.c))
    }
}

fn setting(scales: Option<Scales>, sigma: Option<f64>, c: f64) -> Setting {
    let codebook_weight = scales.map_or(1.0, |scales| scales.codebook_weight);
    Setting { scaling: scales.map(|scales| scales.scaling), codebook_weight, sigma, c }
}

/// Classes of held-back windows, the series or group that each is of, and what every setting decides of them,
/// `[setting][window]`.
pub(crate) struct HeldBack {
    pub(crate) labels: Vec<usize>,
    pub(crate) units: Vec<usize>,
    pub(crate) verdicts: Vec<Vec<Verdict>>,
}

/// Right decisions on held-out windows, for comparisons on the same windows in the same order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    pub(crate) right: Vec<bool>,
    /// The series or group of each.
    units: Vec<usize>,
    /// Weight of each window: one in the mean.
    weights: Vec<f64>,
}

impl Marks {
    /// Marks of windows of these classes, with the classes' weights.
    pub(crate) fn of(
        verdicts: &[Verdict],
        labels: &[usize],
        units: &[usize],
        weight: ClassWeight,
    ) -> Self {
        let mut of_class = vec![0_usize; labels.iter().max().map_or(0, |last| last + 1)];
        labels.iter().for_each(|&label| of_class[label] += 1);
        let classes = of_class.iter().filter(|&&count| count > 0).count();
        let weight = |&label: &usize| match weight {
            ClassWeight::Even => 1.0,
            ClassWeight::Balanced => labels.len() as f64 / (classes * of_class[label]) as f64,
        };
        Self {
            right: verdicts.iter().map(|one| one.right).collect(),
            units: units.to_vec(),
            weights: labels.iter().map(weight).collect(),
        }
    }

    /// Replaces the units of the windows.
    pub(crate) fn over(self, units: Vec<usize>) -> Self {
        Self { units, ..self }
    }

    /// Effective number of windows of equal weight: `(sum w)^2 / sum w^2` (L. Kish, Survey Sampling, 1965).
    pub(crate) fn count(&self) -> f64 {
        let (sum, square) =
            self.weights.iter().fold((0.0, 0.0), |(sum, square), w| (sum + w, square + w * w));
        if square > 0.0 { sum * sum / square } else { 0.0 }
    }

    /// Effective number of series or groups, computed from their weights in the same way.
    pub(crate) fn count_units(&self) -> f64 {
        let units = self.units.iter().collect::<BTreeSet<_>>().len();
        units as f64 * self.count() / self.right.len().max(1) as f64
    }

    /// The standard error of the difference to the accuracy of another, over units that were drawn independently: see
    /// [`Lead::standard_error`].
    pub(crate) fn standard_error(&self, other: &Self) -> f64 {
        let gain = |(a, b): (&bool, &bool)| f64::from(u8::from(*a)) - f64::from(u8::from(*b));
        let gains = self.right.iter().zip(&other.right).map(gain);
        let gains: Vec<f64> =
            gains.zip(&self.weights).map(|(gain, weight)| gain * weight).collect();
        let mean = gains.iter().sum::<f64>() / gains.len().max(1) as f64;
        let mut sums = vec![None; self.units.iter().max().map_or(0, |last| last + 1)];
        for (&unit, gain) in self.units.iter().zip(&gains) {
            *sums[unit].get_or_insert(0.0) += gain - mean;
        }
        let sums: Vec<f64> = sums.into_iter().flatten().collect();
        let units = sums.len() as f64;
        if units < 2.0 {
            return 0.0;
        }
        let square: f64 = sums.iter().map(|sum| sum * sum).sum();
        (units / (units - 1.0) * square).sqrt() / gains.len() as f64
    }
}

/// A choice, and its decisions; empty if nothing was judged.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub(crate) choice: Choice,
    pub(crate) marks: Marks,
}

impl HeldBack {
    fn candidates(&self, settings: Vec<Setting>, weight: ClassWeight) -> Vec<Candidate> {
        let judged = settings.into_iter().zip(&self.verdicts);
        let candidate = |(setting, verdicts): (Setting, &Vec<Verdict>)| {
            let right: Vec<bool> = verdicts.iter().map(|one| one.right).collect();
            let accuracy = accuracy(&self.labels, &right, weight);
            Candidate { setting, accuracy, loss: log_loss(verdicts) }
        };
        judged.map(candidate).collect()
    }

    /// Choice among them, with its gain over the best of the others.
    fn decided(
        &self,
        setting: Setting,
        by: ChosenBy,
        candidates: Vec<Candidate>,
        weight: ClassWeight,
    ) -> Decided {
        let marks =
            |place: usize| Marks::of(&self.verdicts[place], &self.labels, &self.units, weight);
        let place = candidates.iter().position(|one| one.setting == setting);
        let chosen = place.map(|place| (candidates[place].judgement(), marks(place)));
        let others = candidates.iter().enumerate().filter(|(other, _)| Some(*other) != place);
        let next = others.rev().max_by(|(_, a), (_, b)| a.judgement().order(&b.judgement()));
        let lead = chosen.as_ref().zip(next).map(|((judgement, own), (next, other))| {
            judgement.lead(&other.judgement(), own.standard_error(&marks(next)))
        });
        let marks = chosen.map(|(_, marks)| marks).unwrap_or_default();
        Decided { choice: Choice { setting, by, candidates, lead }, marks }
    }
}

/// The folds by which settings are judged: as many as asked for, or as there can be; `None` where
/// there cannot be two. Items of one group stay together; without groups classes are dealt evenly.
pub fn inner_folds(
    labels: &[usize],
    classes: &[String],
    groups: Option<&[usize]>,
    most: usize,
) -> Option<Folds> {
    let made = |count| match groups {
        Some(groups) => Folds::grouped(labels, classes, groups, count, None),
        None => Folds::stratified(labels, classes, count, None),
    };
    (2..=most).rev().find_map(|count| made(count).ok())
}

/// Chooses the C whose machines decide most held-back items rightly in folds of them, of equals the smallest; the middle one
/// without folds. `values` is given the items to train on and those held back, and returns the outputs of the latter under
/// each C, `[c][item][output]`.
///
/// # Errors
/// Those of `values`.
///
/// # Panics
/// Where `c` is empty.
pub fn choose_c<E>(
    c: &[f64],
    (labels, units): (&[usize], &[usize]),
    folds: Option<&Folds>,
    weight: ClassWeight,
    mut values: impl FnMut(&[usize], &[usize]) -> Result<Vec<Vec<Vec<f64>>>, E>,
) -> Result<Choice, E> {
    let grid = Grid { scales: vec![None], sigma: vec![None], c: c.to_vec(), judge_alone: false };
    Choice::by_folds(&grid, folds, weight, |inner, held_back| {
        let of = |all: &[usize]| held_back.iter().map(|&item| all[item]).collect::<Vec<_>>();
        let (labels, units) = (of(labels), of(units));
        let verdicts = |values: Vec<Vec<f64>>| {
            let judged = values.iter().zip(&labels);
            judged.map(|(values, &label)| Verdict::of(values, label)).collect()
        };
        let verdicts = values(&inner, &held_back)?.into_iter().map(verdicts).collect();
        Ok(HeldBack { labels, units, verdicts })
    })
    .map(|decided| decided.choice)
}

impl Choice {
    /// Chooses the setting that decides most held-back windows rightly, of equals the first: the plainer
    /// scaling, the first weight, the narrower kernel, the smaller C. Without folds it is the middle of every list.
    ///
    /// `judge` is given the items to train on and those to judge, and judges all settings in order.
    pub(crate) fn by_folds<E>(
        grid: &Grid,
        folds: Option<&Folds>,
        weight: ClassWeight,
        mut judge: impl FnMut(Vec<usize>, Vec<usize>) -> Result<HeldBack, E>,
    ) -> Result<Decided, E> {
        let settings = grid.settings();
        let (middle, candidates) = (grid.middle(), Vec::new());
        let alone = settings.len() == 1;
        let Some(folds) = folds.filter(|_| grid.judge_alone || !alone) else {
            let by = if alone { ChosenBy::Alone } else { ChosenBy::Middle };
            let choice = Self { setting: middle, by, candidates, lead: None };
            return Ok(Decided { choice, marks: Marks::default() });
        };
        let verdicts = vec![Vec::new(); settings.len()];
        let mut all = HeldBack { labels: Vec::new(), units: Vec::new(), verdicts };
        for fold in 0..folds.len() {
            let HeldBack { labels, units, verdicts } = judge(folds.train(fold), folds.test(fold))?;
            all.labels.extend(labels);
            all.units.extend(units);
            all.verdicts.iter_mut().zip(verdicts).for_each(|(all, of_fold)| all.extend(of_fold));
        }
        let candidates = all.candidates(settings, weight);
        let better = |best: Candidate, &one: &Candidate| {
            if one.accuracy > best.accuracy { one } else { best }
        };
        let none = Candidate { setting: middle, accuracy: f64::NEG_INFINITY, loss: f64::INFINITY };
        let Candidate { setting, .. } = candidates.iter().fold(none, better);
        let by = if alone { ChosenBy::Alone } else { ChosenBy::InnerFolds };
        Ok(all.decided(setting, by, candidates, weight))
    }

    /// Chooses the setting that decides most rightly in closed form, of equals that of the least loss. On three folds of
    /// the training parts of gunpoint, italy, pickup, basicmotions and vowels together that was right in 445 of 477, and
    /// the least loss, of forms too, in 431.
    pub(crate) fn held_out(grid: &Grid, held_out: &HeldBack, weight: ClassWeight) -> Decided {
        let candidates = held_out.candidates(grid.settings(), weight);
        let best = candidates.iter().rev().max_by(|a, b| a.judgement().order(&b.judgement()));
        let setting = best.map_or_else(|| grid.middle(), |best| best.setting);
        held_out.decided(setting, ChosenBy::HeldOut, candidates, weight)
    }

    /// Judgement of the choice; `None` if nothing was judged.
    pub(crate) fn judgement(&self) -> Option<Judgement> {
        let chosen = self.candidates.iter().find(|candidate| candidate.setting == self.setting)?;
        Some(chosen.judgement())
    }
}

/// The logarithmic loss of leads taken as log-odds, `mean of log(1 + exp(-s lead))`, at the best of some
/// scales `s`: in units of the mean size of a lead, powers of the root of two from 1/8 to 64.
pub(crate) fn log_loss(verdicts: &[Verdict]) -> f64 {
    let count = verdicts.len().max(1) as f64;
    let size = verdicts.iter().map(|one| one.lead.abs()).sum::<f64>() / count;
    if !(size.is_finite() && size > 0.0) {
        return std::f64::consts::LN_2;
    }
    let loss = |scale: f64| {
        let of_one = |one: &Verdict| {
            let odds = -scale * one.lead;
            odds.max(0.0) + (-odds.abs()).portable_exp().portable_ln_1p()
        };
        verdicts.iter().map(of_one).sum::<f64>() / count
    };
    (-6..=12)
        .map(|step| loss((0.5 * f64::from(step)).portable_exp2() / size))
        .fold(f64::INFINITY, f64::min)
}

/// The share of windows decided rightly, or with balanced classes the mean over classes.
pub(crate) fn accuracy(labels: &[usize], right: &[bool], weight: ClassWeight) -> f64 {
    let share = |class: Option<usize>| {
        let own = labels.iter().zip(right).filter(|(label, _)| class.is_none_or(|c| c == **label));
        let (right, all) = own.fold((0, 0_usize), |(right, all), (_, &is_right)| {
            (right + usize::from(is_right), all + 1)
        });
        (all > 0).then(|| right as f64 / all as f64)
    };
    match weight {
        ClassWeight::Even => share(None).unwrap_or(0.0),
        ClassWeight::Balanced => {
            let last = labels.iter().max().copied().unwrap_or(0);
            let recalls: Vec<f64> = (0..=last).filter_map(|class| share(Some(class))).collect();
            recalls.iter().sum::<f64>() / recalls.len().max(1) as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::Scaling;

    /// Errors for windows alone are those of a mean of differences; for units that decide as one, those of as many units.
    #[test]
    fn the_standard_error_of_a_lead_is_over_units_and_pairs() {
        let verdicts = |right: [u8; 6]| right.map(|one| Verdict { right: one == 1, lead: 1.0 });
        let (one, other) = (verdicts([1, 1, 1, 1, 0, 0]), verdicts([1, 1, 0, 0, 0, 0]));
        let labels = [0, 1, 0, 1, 0, 1];
        let error = |units: [usize; 6]| {
            let marks = |all: &[Verdict]| Marks::of(all, &labels, &units, ClassWeight::Even);
            marks(&one).standard_error(&marks(&other))
        };
        // Two differences of one among six, whose sample variance is 4/15.
        assert!((error([0, 1, 2, 3, 4, 5]) - (4.0_f64 / 15.0 / 6.0).sqrt()).abs() < 1e-15);
        assert!((error([0, 0, 1, 1, 2, 2]) - (1.0_f64 / 9.0).sqrt()).abs() < 1e-15);
        assert_eq!(error([0; 6]), 0.0);
        let same = Marks::of(&one, &labels, &[0, 1, 2, 3, 4, 5], ClassWeight::Even);
        assert_eq!(same.standard_error(&same), 0.0);
        assert_eq!((same.count(), same.count_units()), (6.0, 6.0));
        // A class of one window weighs as much as one of five, and says as much as one window does.
        let rare = Marks::of(&one, &[0, 0, 0, 0, 0, 1], &[0, 1, 2, 3, 4, 5], ClassWeight::Balanced);
        assert_eq!(rare.weights, [0.6, 0.6, 0.6, 0.6, 0.6, 3.0]);
        assert!((rare.count() - 10.0 / 3.0).abs() < 1e-12);
    }

    /// Codebooks have the first weight if nothing is judged, whatever the scaling.
    #[test]
    fn the_middle_is_of_scalings_and_the_first_of_weights() {
        let scales = |scaling, codebook_weight| Some(Scales { scaling, codebook_weight });
        let all = [Scaling::Practical, Scaling::Diagonal, Scaling::Whitened];
        let scales = all.iter().flat_map(|&one| [1.0, 4.0].map(|weight| scales(one, weight)));
        let (scales, sigma) = (scales.collect(), vec![None]);
        let grid = Grid { scales, sigma, c: vec![0.1, 1.0, 10.0], judge_alone: false };
        let middle = setting(Some(Scaling::Diagonal.into()), None, 1.0);
        assert_eq!(grid.middle(), middle);
        let none = Grid { scales: vec![None], c: vec![2.0], ..grid };
        assert_eq!(none.middle(), setting(None, None, 2.0));
    }

    #[test]
    fn balanced_classes_are_judged_by_the_mean_of_their_shares() {
        let labels = [0, 0, 0, 0, 2, 2, 1];
        let right = [true, true, true, false, true, false, false];
        assert_eq!(accuracy(&labels, &right, ClassWeight::Even), 4.0 / 7.0);
        let shares = [0.75, 0.0, 0.5];
        assert_eq!(
            accuracy(&labels, &right, ClassWeight::Balanced),
            shares.iter().sum::<f64>() / 3.0
        );
        // A class without a window has no share.
        assert_eq!(accuracy(&labels[..6], &right[..6], ClassWeight::Balanced), 1.25 / 2.0);
        for weight in [ClassWeight::Even, ClassWeight::Balanced] {
            assert_eq!(accuracy(&[], &[], weight), 0.0);
        }
    }
}
