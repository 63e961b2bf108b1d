//! What inner cross-validation chose, and from what.

use std::cmp::Ordering;
use std::fmt;

use fishweir_core::classify::decide;
use fishweir_core::number::Real;
use serde::Serialize;

use super::loss::ClassWeight;
use super::scaling::Scaling;
use crate::data::Folds;
use crate::words::short;

/// What a machine is trained with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// The scaling of the features; `None` for a kernel by marginalisation, which has none.
    pub scaling: Option<Scaling>,
    /// The width of the Gaussian kernel on them, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
    /// The cost of an error.
    pub c: f64,
}

/// The choice of a setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// What was chosen.
    #[serde(flatten)]
    pub setting: Setting,
    /// How.
    pub by: ChosenBy,
    /// Inner accuracy of every candidate; none where nothing was judged.
    pub candidates: Vec<Candidate>,
}

/// How a setting was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChosenBy {
    /// The most accurate in inner cross-validation; of equals the first.
    InnerFolds,
    /// The most accurate on series, or groups, each held out of the machine alone, in closed form, of equals that of the
    /// least loss: [`Ridge`](super::Ridge) on the scores of a model that was fitted without labels.
    HeldOut,
    /// There was no other.
    Alone,
    /// The middle of every list, for there were too few series or groups of a class for inner folds.
    Middle,
}

/// A candidate of the inner cross-validation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// What it is trained with.
    #[serde(flatten)]
    pub setting: Setting,
    /// Its accuracy over the inner folds.
    pub accuracy: f64,
    /// Its logarithmic loss there, in nats a window: decision values as log-odds, once stretched as suits
    /// them best.
    pub loss: f64,
}

impl Candidate {
    fn judgement(&self) -> Judgement {
        Judgement { accuracy: self.accuracy, loss: self.loss }
    }
}

/// How well something decides what is held back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judgement {
    pub(super) accuracy: f64,
    pub(super) loss: f64,
}

impl Judgement {
    /// The standard error of the accuracy, over so many independent items.
    pub(super) fn standard_error(&self, items: usize) -> f64 {
        (self.accuracy * (1.0 - self.accuracy) / items.max(1) as f64).sqrt()
    }

    /// The greater is the better: more right, or as many with less loss. Less than a thousandth of a nat is
    /// nothing: where all are right by far, rounding would choose, and units with it.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let thousandths = |loss: f64| (1e3 * loss).round();
        let less = thousandths(other.loss).total_cmp(&thousandths(self.loss));
        self.accuracy.total_cmp(&other.accuracy).then(less)
    }
}

/// What was decided of a held-back window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) right: bool,
    /// By how much its class leads the best of the others; negative where it does not.
    pub(super) lead: f64,
}

impl Verdict {
    /// By the outputs' values.
    pub(super) fn of<T: Real>(values: &[T], label: usize) -> Self {
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

impl Setting {
    /// What is chosen beside C, in words; empty for a kernel by marginalisation.
    pub fn form(&self) -> String {
        let scaling = self.scaling.map(|scaling| scaling.name().to_owned());
        let sigma = self.sigma.map(|sigma| format!("sigma={}", short(sigma)));
        scaling.into_iter().chain(sigma).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = self.form();
        write!(f, "{form}{}C={}", if form.is_empty() { "" } else { " " }, short(self.c))
    }
}

impl fmt::Display for ChosenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InnerFolds => "chosen by inner cross-validation",
            Self::HeldOut => "chosen by leaving each out in closed form",
            Self::Alone => "nothing to choose from",
            Self::Middle => {
                "the middle of the candidates: too few series or groups for inner folds"
            }
        })
    }
}

/// The settings to choose from: every combination of what the lists hold. None of them is empty.
pub(super) struct Grid {
    pub(super) scalings: Vec<Option<Scaling>>,
    pub(super) sigma: Vec<Option<f64>>,
    pub(super) c: Vec<f64>,
    /// Whether a setting without an alternative is judged too: for what is held against its accuracy.
    pub(super) judge_alone: bool,
}

impl Grid {
    /// For each scaling, for each width, every C.
    fn settings(&self) -> Vec<Setting> {
        let forms = self.scalings.iter().flat_map(|s| self.sigma.iter().map(move |&w| (*s, w)));
        let of_form = |(scaling, sigma)| self.c.iter().map(move |&c| Setting { scaling, sigma, c });
        forms.flat_map(of_form).collect()
    }

    /// The middle of every list, of two the second.
    fn middle(&self) -> Setting {
        fn of<T: Copy>(list: &[T]) -> T {
            list[list.len() / 2]
        }
        Setting { scaling: of(&self.scalings), sigma: of(&self.sigma), c: of(&self.c) }
    }
}

/// Classes of held-back windows, and what every setting decides of them, `[setting][window]`.
pub(super) struct HeldBack {
    pub(super) labels: Vec<usize>,
    pub(super) verdicts: Vec<Vec<Verdict>>,
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
}

/// The folds by which settings are judged: as many as asked for, or as there can be; `None` where
/// there cannot be two. Items of one group stay together; without groups classes are dealt evenly.
pub(super) fn inner_folds(
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

impl Choice {
    /// Chooses the setting that decides most held-back windows rightly, of equals the first: the plainer
    /// scaling, the narrower kernel, the smaller C. Without folds it is the middle of every list.
    ///
    /// `judge` is given the items to train on and those to judge, and judges all settings in order.
    pub(super) fn by_folds<E>(
        grid: &Grid,
        folds: Option<&Folds>,
        weight: ClassWeight,
        mut judge: impl FnMut(Vec<usize>, Vec<usize>) -> Result<HeldBack, E>,
    ) -> Result<Self, E> {
        let settings = grid.settings();
        let (middle, candidates) = (grid.middle(), Vec::new());
        let alone = settings.len() == 1;
        let Some(folds) = folds.filter(|_| grid.judge_alone || !alone) else {
            let by = if alone { ChosenBy::Alone } else { ChosenBy::Middle };
            return Ok(Self { setting: middle, by, candidates });
        };
        let mut all = HeldBack { labels: Vec::new(), verdicts: vec![Vec::new(); settings.len()] };
        for fold in 0..folds.len() {
            let HeldBack { labels, verdicts } = judge(folds.train(fold), folds.test(fold))?;
            all.labels.extend(labels);
            all.verdicts.iter_mut().zip(verdicts).for_each(|(all, of_fold)| all.extend(of_fold));
        }
        let candidates = all.candidates(settings, weight);
        let better = |best: Candidate, &one: &Candidate| {
            if one.accuracy > best.accuracy { one } else { best }
        };
        let none = Candidate { setting: middle, accuracy: f64::NEG_INFINITY, loss: f64::INFINITY };
        let Candidate { setting, .. } = candidates.iter().fold(none, better);
        let by = if alone { ChosenBy::Alone } else { ChosenBy::InnerFolds };
        Ok(Self { setting, by, candidates })
    }

    /// Chooses the setting that decides most rightly in closed form, of equals that of the least loss. On three folds of
    /// the training parts of gunpoint, italy, pickup, basicmotions and vowels together that was right in 445 of 477, and
    /// the least loss, of forms too, in 431.
    pub(super) fn held_out(grid: &Grid, held_out: &HeldBack, weight: ClassWeight) -> Self {
        let candidates = held_out.candidates(grid.settings(), weight);
        let best = candidates.iter().rev().max_by(|a, b| a.judgement().order(&b.judgement()));
        let setting = best.map_or_else(|| grid.middle(), |best| best.setting);
        Self { setting, by: ChosenBy::HeldOut, candidates }
    }

    /// How well what was chosen decides; `None` where nothing was judged.
    pub(super) fn judgement(&self) -> Option<Judgement> {
        let chosen = self.candidates.iter().find(|candidate| candidate.setting == self.setting)?;
        Some(chosen.judgement())
    }
}

/// The logarithmic loss of leads taken as log-odds, `mean of log(1 + exp(-s lead))`, at the best of some
/// scales `s`: in units of the mean size of a lead, powers of the root of two from 1/8 to 64.
pub(super) fn log_loss(verdicts: &[Verdict]) -> f64 {
    let count = verdicts.len().max(1) as f64;
    let size = verdicts.iter().map(|one| one.lead.abs()).sum::<f64>() / count;
    if !(size.is_finite() && size > 0.0) {
        return std::f64::consts::LN_2;
    }
    let loss = |scale: f64| {
        let of_one = |one: &Verdict| {
            let odds = -scale * one.lead;
            odds.max(0.0) + (-odds.abs()).exp().ln_1p()
        };
        verdicts.iter().map(of_one).sum::<f64>() / count
    };
    (-6..=12).map(|step| loss((0.5 * f64::from(step)).exp2() / size)).fold(f64::INFINITY, f64::min)
}

/// The share of windows decided rightly, or with balanced classes the mean over classes.
pub(super) fn accuracy(labels: &[usize], right: &[bool], weight: ClassWeight) -> f64 {
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
