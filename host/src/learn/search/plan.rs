//! From a space to a plan: all that is left open, chosen in one order.

use crate::classifier::{Choice, ChosenBy, CopiesChoice, FormChoice};
use crate::learn::error::TrainError;
use crate::learn::features::FeatureMap;
use crate::learn::machine::Examples;
use crate::learn::search::forms::FormSearch;
use crate::learn::search::training_judge::TrainingJudge;
use crate::learn::solver::learner::Learner;
use crate::learn::space::Space;
use crate::learn::space::trial::Trial;
use crate::learn::variation::Mirror;

/// The features of series and copies by a map, where a choice has taken them.
pub(crate) type Taken = Option<(FeatureMap, Examples)>;

/// Training plan: one form, one augmentation and one setting of its machine, with their alternatives.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) series: Vec<usize>,
    pub(crate) trial: Trial,
    pub(crate) form: FormChoice,
    pub(crate) setting: Option<Choice>,
    pub(crate) copies: Option<CopiesChoice>,
}

impl Plan {
    /// Form of the class models, and its alternatives.
    #[must_use]
    pub fn form(&self) -> &FormChoice {
        &self.form
    }

    /// Setting of the machine, and its alternatives; `None` for Bayes.
    #[must_use]
    pub fn setting(&self) -> Option<&Choice> {
        self.setting.as_ref()
    }

    /// Number of jittered copies of each series, if that was chosen.
    #[must_use]
    pub fn copies(&self) -> Option<&CopiesChoice> {
        self.copies.as_ref()
    }

    /// Learner that is trained on the features; `None` for Bayes.
    #[must_use]
    pub fn learner(&self) -> Option<&'static Learner> {
        self.setting.as_ref().map(|_| self.trial.learner)
    }

    /// Channels that change sign in the mirror images of the series.
    #[must_use]
    pub fn mirror(&self) -> &[String] {
        match &self.trial.augment.mirror {
            Mirror::Channels(channels) => channels,
            Mirror::Choose => &[],
        }
    }
}

impl TrainingJudge<'_> {
    /// The best of a space that was [checked](Space::check), with the features that the last choice took.
    ///
    /// It chooses the form of class models, a mirror image, the number of jittered copies, and the setting of the machine, in
    /// this order, each by held-out windows.
    pub(crate) fn plan(&self, space: &Space<'_>) -> Result<(Plan, Taken), TrainError> {
        let (series, observed) = (space.series(), space.data().kind());
        let (form, plain) = FormSearch { space, judge: self }.choose()?;
        let (trial, mirrored) = self.choose_mirror(series, &space.trial(&form.form))?;
        let told = trial.augment.copies(observed);
        let copied = self.choose_copies(series, &trial)?;
        let trial = copied.trial;
        // A machine of another number of copies was chosen, if at all, with these.
        let as_told = trial.augment.copies(observed) == told;
        let with_copies = copied.machine.is_some();
        let mut setting = copied.machine.or(mirrored.or(plain).filter(|_| as_told));
        let set = self.set(series, &trial)?;
        set.check_windows(series)?;
        if let (Some(features), None) = (trial.request.features(), &setting) {
            // Before the copies of all series are made: inner folds make their own.
            let decided = match set.held_out_of(features, series)? {
                Some(held_out) => held_out.decided,
                None => set.choose(features, series, false)?,
            };
            setting = Some(decided.choice);
        }
        if let Some(choice) = setting.as_mut().filter(|choice| choice.by == ChosenBy::HeldOut)
            && !with_copies
            && trial.augment.copies(observed) > 0
        {
            choice.by = ChosenBy::HeldOutWithoutCopies;
        }
        let trial = match &setting {
            Some(choice) => trial.frozen(choice.setting),
            None => trial,
        };
        let (series, copies) = (series.to_vec(), copied.choice);
        Ok((Plan { series, trial, form, setting, copies }, copied.examples))
    }
}
