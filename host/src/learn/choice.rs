//! What inner cross-validation chose, and from what.

use std::fmt;

use serde::Serialize;

use super::features::Scaling;
use super::loss::ClassWeight;

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

/// The choice of a setting by inner cross-validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// What was chosen.
    #[serde(flatten)]
    pub setting: Setting,
    /// Inner accuracy of every candidate.
    pub candidates: Vec<Candidate>,
}

/// A candidate of the inner cross-validation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// What it is trained with.
    #[serde(flatten)]
    pub setting: Setting,
    /// Its accuracy over the inner folds.
    pub accuracy: f64,
}

impl Setting {
    /// What is chosen beside C, in words; empty for a kernel by marginalisation.
    #[must_use]
    pub fn form(&self) -> String {
        let scaling = self.scaling.map(|scaling| scaling.name().to_owned());
        let sigma = self.sigma.map(|sigma| format!("sigma={sigma}"));
        scaling.into_iter().chain(sigma).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = self.form();
        write!(f, "{form}{}C={}", if form.is_empty() { "" } else { " " }, self.c)
    }
}

impl Choice {
    /// Of a setting without others to choose from, or without the data to choose by.
    pub(super) fn only(setting: Setting) -> Self {
        Self { setting, candidates: Vec::new() }
    }

    /// The best of the settings, of equals the first, from the windows that each decides rightly,
    /// `[setting][class]`, and how many there are, `[class]`. `None` of none.
    pub(super) fn best(
        settings: &[Setting],
        right: &[Vec<usize>],
        total: &[usize],
        weight: ClassWeight,
    ) -> Option<Self> {
        let candidates: Vec<Candidate> = settings
            .iter()
            .zip(right)
            .map(|(&setting, right)| Candidate {
                setting,
                accuracy: accuracy(right, total, weight),
            })
            .collect();
        let best = candidates
            .iter()
            .copied()
            .reduce(|best, one| if one.accuracy > best.accuracy { one } else { best });
        best.map(|Candidate { setting, .. }| Self { setting, candidates })
    }

    /// Inner accuracy of what was chosen; zero where nothing was judged.
    pub(super) fn accuracy(&self) -> f64 {
        self.candidates.iter().map(|candidate| candidate.accuracy).fold(0.0, f64::max)
    }
}

/// The share of windows decided rightly, or with balanced classes the mean over classes.
fn accuracy(right: &[usize], total: &[usize], weight: ClassWeight) -> f64 {
    match weight {
        ClassWeight::Even => {
            right.iter().sum::<usize>() as f64 / total.iter().sum::<usize>().max(1) as f64
        }
        ClassWeight::Balanced => {
            let seen = right.iter().zip(total).filter(|(_, total)| **total > 0);
            let recalls: Vec<f64> = seen.map(|(&r, &total)| r as f64 / total as f64).collect();
            recalls.iter().sum::<f64>() / recalls.len().max(1) as f64
        }
    }
}
