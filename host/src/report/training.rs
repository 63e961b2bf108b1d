use std::fmt;

use serde::Serialize;

use super::{DataSummary, Stored, Table, counted, grouped};
use crate::deploy::Cost;
use crate::fit::{Fit, Restart};
use crate::learn::Choice;

/// What `fit` has done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitReport {
    /// What on.
    #[serde(flatten)]
    pub data: DataSummary,
    /// Column that inner folds did not straddle.
    pub group: Option<String>,
    /// Which: `bayes`, `fisher`, `gaussian`, ...
    pub classifier: String,
    /// Classes.
    pub classes: Vec<String>,
    /// Windows trained on.
    pub windows: usize,
    /// What is observed, in words.
    pub observes: String,
    /// Hidden states of a class model, or of the kernel's.
    pub states: usize,
    /// The fits, one a class; none for a kernel by marginalisation, whose model is given.
    pub fits: Vec<ClassFit>,
    /// What inner cross-validation chose; null for Bayes.
    pub choice: Option<Choice>,
    /// What a kernel machine stores; null for what needs nothing stored.
    pub stored: Option<Stored>,
    /// The model's file.
    pub model: String,
    /// What it costs on a device.
    pub cost: Cost,
}

/// How one class model was fitted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFit {
    /// The class.
    pub class: String,
    /// Seed of the restart that was kept.
    pub seed: u64,
    /// Its log-likelihood.
    pub log_likelihood: f64,
    /// Passes of Baum-Welch.
    pub passes: usize,
    /// Whether it converged within the passes allowed.
    pub converged: bool,
    /// All restarts.
    pub restarts: Vec<Restart>,
}

impl ClassFit {
    /// Of a fit.
    #[must_use]
    pub fn of(class: &str, fit: &Fit) -> Self {
        Self {
            class: class.to_owned(),
            seed: fit.seed,
            log_likelihood: fit.last(),
            passes: fit.log_likelihood.len().saturating_sub(1),
            converged: fit.converged,
            restarts: fit.restarts.clone(),
        }
    }
}

impl fmt::Display for FitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({} in all)", self.data, grouped(self.windows))?;
        let (states, classes) =
            (counted(self.states, "hidden state"), counted(self.classes.len(), "class"));
        if self.fits.is_empty() {
            let Self { classifier, observes, .. } = self;
            writeln!(f, "{classifier} over {observes}: a kernel of {states}, {classes}\n")?;
        } else {
            self.write_fits(f, &states, &classes)?;
        }
        if let Some(choice) = &self.choice {
            write_choice(f, choice)?;
        }
        if let Some(stored) = &self.stored {
            writeln!(f, "stored: {stored}")?;
        }
        writeln!(
            f,
            "on a device: {} B of flash, {} B of RAM, {} multiply-adds and {} a sample",
            grouped(self.cost.model_bytes),
            grouped(self.cost.state_bytes),
            grouped(self.cost.multiply_adds_per_sample),
            counted(self.cost.exponentials_per_sample, "exponential")
        )?;
        if self.stored.is_some() {
            let Cost { multiply_adds_per_decision, exponentials_per_decision, .. } = self.cost;
            writeln!(
                f,
                "a decision that is read: {} multiply-adds and {}",
                grouped(multiply_adds_per_decision),
                counted(exponentials_per_decision, "exponential")
            )?;
        }
        writeln!(f, "model written to {}", self.model)
    }
}

impl FitReport {
    fn write_fits(&self, f: &mut fmt::Formatter<'_>, states: &str, classes: &str) -> fmt::Result {
        let Self { classifier, observes, .. } = self;
        writeln!(f, "{classifier} over {observes}: a model of {states} for each of {classes}\n")?;
        let restarts = self.fits.iter().any(|fit| fit.restarts.len() > 1);
        let heads = ["class", "seed", "log-likelihood", "passes", "converged"].into_iter();
        let mut table = Table::new(heads.chain(restarts.then_some("all seeds")));
        for fit in &self.fits {
            let all = fit.restarts.iter().map(|r| format!("{}: {:.1}", r.seed, r.log_likelihood));
            let all = all.collect::<Vec<_>>().join("  ");
            let cells = [
                fit.class.clone(),
                fit.seed.to_string(),
                format!("{:.1}", fit.log_likelihood),
                fit.passes.to_string(),
                if fit.converged { "yes" } else { "no" }.to_owned(),
            ];
            table.row(cells.into_iter().chain(restarts.then_some(all)));
        }
        writeln!(f, "{table}")
    }
}

/// The inner cross-validation as a grid: a row a scaling (and width), a column a C.
fn write_choice(f: &mut fmt::Formatter<'_>, choice: &Choice) -> fmt::Result {
    let chosen = choice.setting;
    if choice.candidates.is_empty() {
        let why = "a single candidate, or too little data to choose by";
        return writeln!(f, "{chosen} ({why})\n");
    }
    let (mut forms, mut values) = (Vec::new(), Vec::new());
    for one in &choice.candidates {
        if !forms.contains(&one.setting.form()) {
            forms.push(one.setting.form());
        }
        if !values.contains(&one.setting.c) {
            values.push(one.setting.c);
        }
    }
    let heads = ["inner accuracy".to_owned()].into_iter();
    let mut table = Table::new(heads.chain(values.iter().map(|c| format!("C={c}"))));
    for form in forms {
        let cells = values.iter().map(|&c| {
            let mut all = choice.candidates.iter();
            let found = all.find(|one| one.setting.form() == form && one.setting.c == c);
            let mark = if chosen.form() == form && chosen.c == c { "*" } else { "" };
            found.map_or(String::new(), |one| format!("{mark}{:.3}", one.accuracy))
        });
        table.row([form.clone()].into_iter().chain(cells));
    }
    writeln!(f, "{table}  * chosen by cross-validation within the training data\n")
}
