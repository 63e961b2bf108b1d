use std::fmt;

use serde::Serialize;

use super::selection::{write_choice, write_chosen, write_copies, write_forms, write_limits};
use super::table::write_cost;
use super::{
    DataSummary, EmissionSummary, OutOfCoreSummary, Stored, Table, counted, grouped, short,
};
use crate::classifier::{Choice, Confidence, CopiesChoice, FormChoice, ScoreModels};
use crate::data::Kind;
use crate::deploy::{Cost, DeviceCost};
use crate::fit::{Fit, Restart};

/// Result of `fit`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitReport {
    /// Data of the training.
    #[serde(flatten)]
    pub data: DataSummary,
    /// Column whose values stayed in one inner fold.
    pub group: Option<String>,
    /// Name of the classifier: `bayes`, `fisher`, `gaussian`, ...
    pub classifier: String,
    /// Classes.
    pub classes: Vec<String>,
    /// Windows trained on.
    pub windows: usize,
    /// Description of the augmentation.
    pub varied: String,
    /// Description of the observations.
    pub observes: String,
    /// Hidden states of a class model, or of the kernel's.
    pub states: usize,
    /// Emissions of the states.
    #[serde(flatten)]
    pub emission: EmissionSummary,
    /// The fits, one a class, or one of all; none for a kernel by marginalisation, whose model is given, and for words.
    pub fits: Vec<ClassFit>,
    /// Form of the class models, and its alternatives; null for a kernel by marginalisation.
    pub form: Option<FormChoice>,
    /// Number of jittered copies of each training series; null if only one number was allowed.
    pub copies: Option<CopiesChoice>,
    /// Choice of inner cross-validation; null for Bayes.
    pub choice: Option<Choice>,
    /// Stored items of a kernel machine; null for other classifiers.
    pub stored: Option<Stored>,
    /// Calibration of decisions; null if not requested.
    pub confidence: Option<Confidence>,
    /// How the table was read in chunks; left out of one that was read whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_core: Option<OutOfCoreSummary>,
    /// The model's file.
    pub model: String,
    /// Cost on a device.
    pub cost: DeviceCost,
}

/// Summary of the fit of one class model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFit {
    /// The class.
    pub class: String,
    /// Seed of the restart that was kept.
    pub seed: u64,
    /// Log-likelihood of the model.
    pub log_likelihood: f64,
    /// Passes of Baum-Welch.
    pub passes: usize,
    /// `true` if it converged within the passes allowed.
    pub converged: bool,
    /// All restarts.
    pub restarts: Vec<Restart>,
    /// States in which less than one sample is expected.
    pub dead_states: usize,
    /// States whose standard deviation is held at its floor, by channel.
    pub floored: Vec<Floored>,
}

/// Standard deviations of a channel that are held at their floor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Floored {
    /// The channel.
    pub channel: String,
    /// Number of states at the floor.
    pub states: usize,
}

impl ClassFit {
    /// Summary of a fit to data of a kind.
    pub fn of(class: &str, kind: &Kind, fit: &Fit) -> Self {
        let names = match kind {
            Kind::Channels(names) => names.as_slice(),
            Kind::Symbols(_) => &[],
        };
        let floored = names.iter().zip(&fit.floored).filter(|(_, states)| **states > 0);
        Self {
            class: class.to_owned(),
            seed: fit.seed,
            log_likelihood: fit.last(),
            passes: fit.log_likelihood.len().saturating_sub(1),
            converged: fit.converged,
            restarts: fit.restarts.clone(),
            dead_states: fit.dead_states(),
            floored: floored
                .map(|(channel, &states)| Floored { channel: channel.clone(), states })
                .collect(),
        }
    }
}

impl fmt::Display for FitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({} in all)", self.data, grouped(self.windows))?;
        self.out_of_core.iter().try_for_each(|how| writeln!(f, "{how}"))?;
        let (states, classes) =
            (counted(self.states, "hidden state"), counted(self.classes.len(), "class"));
        if self.fits.is_empty() {
            let Self { classifier, observes, .. } = self;
            let of = match classifier.as_str() {
                "empirical-mean-map" => "words and no model".to_owned(),
                _ => format!("a kernel of {states}"),
            };
            writeln!(f, "{classifier} over {observes}: {of}, {classes}\n")?;
        } else {
            self.write_fits(f, &states, &classes)?;
        }
        if let Some(choice) = &self.choice {
            if f.alternate() {
                write_choice(f, choice)?;
            } else {
                write_chosen(f, choice)?;
            }
            writeln!(f)?;
        }
        if let Some(stored) = &self.stored {
            writeln!(f, "stored: {stored}")?;
        }
        if let Some(confidence) = &self.confidence {
            let windows = counted(confidence.windows, "window");
            writeln!(f, "of {windows} held back: {confidence}")?;
        }
        write_cost(f, "on a device", &self.cost)?;
        if self.stored.is_some() {
            let Cost { multiply_adds_per_decision, exponentials_per_decision, .. } = self.cost.cost;
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

/// Channels that are named where many are held at the floor.
const NAMED: usize = 12;

impl FitReport {
    fn write_fits(&self, f: &mut fmt::Formatter<'_>, states: &str, classes: &str) -> fmt::Result {
        let Self { classifier, observes, .. } = self;
        let emission = self.emission.unusual();
        let emission = emission.map_or_else(String::new, |words| format!(", {words},"));
        let (which, whose) = match &self.form {
            Some(FormChoice { form, .. }) if form.models == ScoreModels::Universal => {
                if form.lags.is_apart() { ("a", "each lag and all") } else { ("one", "all") }
            }
            _ => ("a", "each"),
        };
        writeln!(
            f,
            "{classifier} over {observes}: {which} model of {states}{emission} for {whose} of {classes}\n"
        )?;
        let dead: usize = self.fits.iter().map(|fit| fit.dead_states).sum();
        if !f.alternate() {
            if dead > 0 {
                writeln!(
                    f,
                    "unused states: {dead}, with an expected count below one sample; fewer states suffice"
                )?;
            }
            let held = self.fits.iter().any(|fit| !fit.floored.is_empty());
            let form = self.form.iter();
            form.clone().filter(|_| held).try_for_each(|form| self.write_floor(f, form))?;
            form.clone().try_for_each(|form| write_limits(f, form))?;
            let unjudged = self.copies.iter().find(|copies| copies.candidates.is_empty());
            return unjudged.map_or(Ok(()), |copies| write_copies(f, copies));
        }
        let restarts = self.fits.iter().any(|fit| fit.restarts.len() > 1);
        let dead = dead > 0;
        let heads = ["class", "seed", "log-likelihood", "passes", "ended"].into_iter();
        let heads = heads.chain(dead.then_some("dead states"));
        let mut table = Table::new(heads.chain(restarts.then_some("all seeds")));
        for fit in &self.fits {
            let all = fit.restarts.iter().map(|r| format!("{}: {:.1}", r.seed, r.log_likelihood));
            let all = all.collect::<Vec<_>>().join("  ");
            let cells = [
                fit.class.clone(),
                fit.seed.to_string(),
                format!("{:.1}", fit.log_likelihood),
                fit.passes.to_string(),
                if fit.converged { "converged" } else { "stopped" }.to_owned(),
            ];
            let cells = cells.into_iter().chain(dead.then(|| fit.dead_states.to_string()));
            table.row(cells.chain(restarts.then_some(all)));
        }
        write!(f, "{table}")?;
        if dead {
            writeln!(
                f,
                "  unused states have an expected count below one sample; fewer states suffice"
            )?;
        }
        writeln!(f)?;
        writeln!(f, "training series: {}", self.varied)?;
        if let Some(form) = &self.form {
            self.write_floor(f, form)?;
            write_forms(f, form, form.floors_alone())?;
        }
        self.copies.iter().try_for_each(|copies| write_copies(f, copies))?;
        writeln!(f)
    }

    fn write_floor(&self, f: &mut fmt::Formatter<'_>, choice: &FormChoice) -> fmt::Result {
        let mut held: Vec<Floored> = Vec::new();
        for one in self.fits.iter().flat_map(|fit| &fit.floored) {
            match held.iter_mut().find(|held| held.channel == one.channel) {
                Some(held) => held.states += one.states,
                None => held.push(one.clone()),
            }
        }
        let Some(floor) = choice.form.std_floor else { return Ok(()) };
        if held.is_empty() && choice.candidates.is_empty() {
            return Ok(());
        }
        write!(f, "standard deviations: at least {} of the channel's in its class", short(floor))?;
        let inner = choice.candidates.iter().filter_map(|one| Some((one.form.std_floor?, one)));
        let inner = inner.map(|(floor, one)| format!("{}: {:.3}", short(floor), one.accuracy));
        let inner: Vec<String> = inner.collect();
        if !inner.is_empty() && choice.floors_alone() {
            write!(f, " (inner accuracy {})", inner.join(", "))?;
        }
        let more = held.len().saturating_sub(NAMED);
        let held = held.iter().take(NAMED);
        let held = held.map(|one| format!("{} in {}", one.channel, counted(one.states, "state")));
        let held = held.chain((more > 0).then(|| format!("{more} more")));
        match held.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => writeln!(f, "; no state is at that floor"),
            held => writeln!(f, "; at that floor: {held}"),
        }
    }
}
