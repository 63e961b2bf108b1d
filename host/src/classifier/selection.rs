//! Choices of a training, their alternatives and gains: for the report of `fit`, and for readers of a model's file.

use std::fmt;

use fishweir_core::classify::Normalisation;
use serde::{Deserialize, Serialize};

use super::{Scaling, normalisation_name};
use crate::data::Lags;
use crate::fit::Topology;
use crate::words::short;

/// Choices for a classifier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Form of the class models, with the trials of the last stage; `None` for a kernel by marginalisation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<FormChoice>,
    /// The machine's setting, with its trials; `None` for Bayes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Choice>,
    /// Learner that was trained on the features; `None` for Bayes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learner: Option<String>,
    /// Channels that change sign in the mirror images of the training series.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mirror: Vec<String>,
    /// Number of jittered copies of each training series; `None` if only one number was allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<CopiesChoice>,
}

/// The choice of a number of jittered copies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopiesChoice {
    /// Number that was chosen.
    pub copies: usize,
    /// Alternatives, the default first; empty if there are too few series or groups to judge by.
    pub candidates: Vec<CopiesCandidate>,
}

/// A number of jittered copies that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopiesCandidate {
    /// Number of copies of each series.
    pub copies: usize,
    /// Accuracy of machines trained on series and copies, on held-out series without their copies.
    pub accuracy: f64,
    /// Gain over the first; `None` for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Lead>,
}

/// Models that give scores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreModels {
    /// A model per class, all of them.
    #[default]
    All,
    /// The model of one class, by name.
    Class(String),
    /// One model of the series of all classes, fitted without their labels: a universal background model
    /// (D. A. Reynolds, T. F. Quatieri and R. B. Dunn, Speaker verification using adapted Gaussian mixture models,
    /// Digital Signal Processing 10, 2000), whose scores are kept rather than its adapted copies. A device has one
    /// model instead of one per class.
    Universal,
}

/// Form of the class models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Form {
    /// Models that give scores.
    pub models: ScoreModels,
    /// Hidden states; of a state per position, positions.
    pub states: usize,
    /// Transitions that states may make.
    pub topology: Topology,
    /// The floor of standard deviations, as a fraction: see [`BaumWelch::std_floor`](crate::fit::BaumWelch::std_floor);
    /// none of symbols, and of other emissions without one.
    pub std_floor: Option<f64>,
    /// Lags of differences that are further channels, or of the past that autoregressive emissions predict from.
    pub lags: Lags,
    /// Number of codebooks for each dilation.
    pub codebooks: usize,
    /// Levels of each of their codewords.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub levels: usize,
    /// Normalisation of evidence by length.
    #[serde(with = "normalisation_name")]
    pub normalisation: Normalisation,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn one() -> f64 {
    1.0
}

fn is_one(weight: &f64) -> bool {
    *weight == 1.0
}

/// The form chosen, and its alternatives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormChoice {
    /// Form that was chosen.
    #[serde(flatten)]
    pub form: Form,
    /// Every trial of every form, in their order, or in a model's file those of the last stage; none where there was
    /// nothing to choose from or to choose by.
    pub candidates: Vec<FormCandidate>,
    /// Number of further forms that were not tried because they exceed [`Request::limits`](crate::learn::Request::limits).
    pub left_out: usize,
    /// Number of further forms that were not tried because none could win by two standard errors.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub could_not_lead: usize,
    /// Models that were fitted to choose: one of a class in an inner fold is one.
    pub fits: usize,
    /// Gain over the runner-up of the last stage, or over the form kept by default; `None` for a single form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Lead>,
}

/// A trial of a form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormCandidate {
    /// Form that was tried.
    #[serde(flatten)]
    pub form: Form,
    /// `true` for the chosen form, in the last stage.
    pub won: bool,
    /// The stage, from 0: later ones see more series, more settings of the machine, or more passes.
    pub stage: usize,
    /// `true` if single series or groups were held out in closed form: see [`ChosenBy::HeldOut`].
    ///
    /// `false` if whole inner folds were, as in comparisons with models of classes.
    pub closed_form: bool,
    /// Series that it saw.
    pub series: usize,
    /// Number of settings of the machine of which it has the best; 0 for Bayes.
    pub settings: usize,
    /// Largest number of passes of Baum-Welch.
    pub passes: usize,
    /// Accuracy over the inner folds, or in closed form, on training series without augmentation.
    pub accuracy: f64,
    /// Standard error of the accuracy, with windows as independent trials: `sqrt(p (1 - p) / n)`.
    ///
    /// If classes weigh alike, `n` is the effective number of windows (L. Kish, Survey Sampling, 1965).
    pub standard_error: f64,
    /// Logarithmic loss there, in nats per window.
    pub loss: f64,
    /// Cost on a device; `None` if that is unknown before training: for kernel machines, which store as much as they need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// Cost on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Bytes of the model in flash.
    pub flash: usize,
    /// Bytes of a stream's state.
    pub ram: usize,
    /// Multiply-adds per sample.
    pub operations: usize,
}

/// Gain of the choice over the runner-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lead {
    /// Accuracy more; less where something simpler was taken than the most accurate.
    pub accuracy: f64,
    /// The standard error of that difference `d`, over the same `n` windows decided by both, those of a series or
    /// group together (A. C. Cameron and D. L. Miller, A practitioner's guide to cluster-robust inference, Journal of
    /// Human Resources 50, 2015):
    ///
    /// ```text
    /// sqrt(G / (G - 1) sum_g (sum_i in g (d_i - d))^2) / n
    /// ```
    ///
    /// If the choice was compared with a simpler one, or with a number of copies, it is the standard error of its own accuracy
    /// over independent trials, if that is larger.
    pub standard_error: f64,
    /// Logarithmic loss less, in nats per window.
    pub loss: f64,
    /// `true` if the gain is not over the runner-up but over the default, which wins unless beaten by two standard errors.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_kept: bool,
}

/// Setting of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The scaling of the features; `None` for a kernel by marginalisation.
    pub scaling: Option<Scaling>,
    /// Factor on numbers of codewords, and of levels exceeded, after scaling as for scores.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub codebook_weight: f64,
    /// The width of the Gaussian kernel on them, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
    /// The cost of an error.
    pub c: f64,
}

/// The choice of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Setting that was chosen.
    #[serde(flatten)]
    pub setting: Setting,
    /// Method of the choice.
    pub by: ChosenBy,
    /// Inner accuracy of every candidate; empty if nothing was judged.
    pub candidates: Vec<Candidate>,
    /// Gain over the runner-up; `None` for a single setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Lead>,
}

/// Method that chose a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChosenBy {
    /// The most accurate in inner cross-validation; of equals the first.
    InnerFolds,
    /// The most accurate on series, or groups, each held out of the machine alone, in closed form, of equals that of the
    /// least loss: [`Ridge`](crate::learn::Ridge) on the scores of a model that was fitted without labels.
    HeldOut,
    /// By held-out series without their jittered copies, on which the machine is still trained.
    HeldOutWithoutCopies,
    /// No choice: there was a single setting.
    Alone,
    /// The middle of every list, for there were too few series or groups of a class for inner folds.
    Middle,
}

/// A candidate of the inner cross-validation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Setting of the machine.
    #[serde(flatten)]
    pub setting: Setting,
    /// Accuracy over the inner folds.
    pub accuracy: f64,
    /// Logarithmic loss there, in nats per window: decision values as log-odds, after the best common scaling.
    pub loss: f64,
}

#[cfg(test)]
impl Form {
    /// A value for tests that do not depend on its content.
    pub(crate) fn any() -> Self {
        Self {
            models: ScoreModels::All,
            states: 4,
            topology: Topology::Ergodic,
            std_floor: None,
            lags: Lags::NONE,
            codebooks: 0,
            levels: 0,
            normalisation: Normalisation::NONE,
        }
    }
}

impl FormChoice {
    /// Returns whether the alternatives differed only in floors of standard deviations.
    #[must_use]
    pub fn floors_alone(&self) -> bool {
        let alike =
            |one: &Form, other: &Form| Form { std_floor: other.std_floor, ..one.clone() } == *other;
        let all = &self.candidates;
        all.iter().all(|one| one.stage == 0 && alike(&one.form, &all[0].form))
            && all.iter().any(|one| one.form.std_floor != all[0].form.std_floor)
    }

    /// Keeps only the trials of the last stage, as in a model's file.
    pub(crate) fn last_stage(&self) -> Self {
        let last = self.candidates.iter().map(|one| one.stage).max();
        let mut kept = self.clone();
        kept.candidates.retain(|one| Some(one.stage) == last);
        kept
    }
}

impl Setting {
    /// Describes the choices other than C; empty for a kernel by marginalisation.
    pub fn form(&self) -> String {
        let scaling = self.scaling.map(|scaling| scaling.name().to_owned());
        let weight = self.codebook_weight;
        let weight = (weight != 1.0).then(|| format!("codebook weight={}", short(weight)));
        let sigma = self.sigma.map(|sigma| format!("sigma={}", short(sigma)));
        scaling.into_iter().chain(weight).chain(sigma).collect::<Vec<_>>().join(" ")
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
            Self::HeldOut => "chosen by leave-one-out cross-validation in closed form",
            Self::HeldOutWithoutCopies => {
                "chosen by leave-one-out cross-validation in closed form (without augmentation)"
            }
            Self::Alone => "nothing to choose from",
            Self::Middle => {
                "the middle one of the candidates, as there are too few series or groups for inner folds"
            }
        })
    }
}

impl fmt::Display for Lead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { accuracy, standard_error, loss, over_kept } = *self;
        if over_kept {
            return write!(
                f,
                "it is better by {accuracy:.3} (standard error {standard_error:.3}) than the default, which is kept \
                 unless another is better by two standard errors"
            );
        }
        if accuracy > 0.0 {
            return write!(
                f,
                "the choice leads the runner-up by {accuracy:.3} (standard error {standard_error:.3})"
            );
        }
        if accuracy < 0.0 {
            return write!(
                f,
                "it is the default, kept unless another is better by two standard errors; the next is better by \
                 {:.3} (standard error {standard_error:.3})",
                -accuracy
            );
        }
        if loss.abs() < 5e-4 {
            return f.write_str("it equals the next in accuracy and in loss");
        }
        let how = if loss < 0.0 { "more, but it comes first" } else { "less" };
        write!(f, "it equals the next in accuracy; its loss is {:.3} nats {how}", loss.abs())
    }
}
