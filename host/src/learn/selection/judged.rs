//! Result of a trial of a form, and comparisons of results.

use crate::classifier::{Choice, Form, FormCandidate, Lead};
use crate::learn::selection::choice::{Decided, Judgement, Marks};

/// Standard errors by which models of classes must lead models of all to be taken, series with a mirror image those
/// without, and other numbers of jittered copies the first. With one, of models, eight sets had 0.928 of their training
/// parts in the mean over folds, with two 0.933: inner folds of a few groups are worth less than their size says.
pub(crate) const ERRORS: f64 = 2.0;

/// Stage and data of a trial.
pub(crate) struct Seen {
    pub(crate) stage: usize,
    pub(crate) closed_form: bool,
    pub(crate) series: usize,
    pub(crate) passes: usize,
}

/// Result of a trial of a form.
pub(crate) struct JudgedForm {
    pub(crate) judgement: Judgement,
    pub(crate) form: Form,
    pub(crate) choice: Option<Choice>,
    pub(crate) marks: Marks,
}

/// Result of a choice.
pub(crate) struct ChosenForm {
    pub(crate) form: Form,
    /// The machine on it, where one was chosen.
    pub(crate) choice: Option<Choice>,
    pub(crate) lead: Option<Lead>,
    /// Number of forms that were not tried because they could not win.
    pub(crate) could_not_lead: usize,
}

impl JudgedForm {
    /// Converts it into a choice, with its gain.
    pub(crate) fn taken(self, lead: Option<Lead>) -> ChosenForm {
        ChosenForm { form: self.form, choice: self.choice, lead, could_not_lead: 0 }
    }

    /// Gain over the best of some others, which are in order; `None` without others.
    pub(crate) fn lead<'j>(&self, others: impl IntoIterator<Item = &'j Self>) -> Option<Lead> {
        let next = others.into_iter().next()?;
        Some(self.judgement.lead(&next.judgement, self.marks.standard_error(&next.marks)))
    }

    /// Gain over another, with the larger of the error of the difference and its own error over independent trials.
    ///
    /// There may be too few groups to differ, and a form without errors has no error of its own.
    pub(crate) fn safe_lead(&self, next: &Self) -> Lead {
        let own = self.judgement.standard_error(self.marks.count());
        self.judgement.lead(&next.judgement, own.max(self.marks.standard_error(&next.marks)))
    }

    /// Gain of another over it, where it is the default that must be beaten.
    pub(crate) fn lead_over(&self, best: &Self) -> Lead {
        let Lead { accuracy, standard_error, loss, .. } = self.safe_lead(best);
        Lead { accuracy: -accuracy, standard_error, loss: -loss, over_kept: true }
    }

    /// Returns whether it beats another by more than `errors` of those errors.
    pub(crate) fn beats(&self, next: &Self, errors: f64) -> bool {
        let Lead { accuracy, standard_error, .. } = self.safe_lead(next);
        accuracy > errors * standard_error
    }

    /// Returns whether another beats it by more.
    pub(crate) fn loses_to(&self, best: &Self, errors: f64) -> bool {
        let Lead { accuracy, standard_error, .. } = self.lead_over(best);
        accuracy > errors * standard_error
    }

    /// Result of the setting that was chosen on a form; `None` if nothing was judged.
    pub(crate) fn of(form: &Form, Decided { choice, marks }: Decided) -> Option<Self> {
        let judgement = choice.judgement()?;
        Some(Self { judgement, form: form.clone(), choice: Some(choice), marks })
    }

    /// Returns it as reported, without price and not marked as chosen.
    pub(crate) fn candidate(
        &self,
        Seen { stage, closed_form, series, passes }: Seen,
    ) -> FormCandidate {
        let Judgement { accuracy, loss } = self.judgement;
        FormCandidate {
            form: self.form.clone(),
            won: false,
            stage,
            closed_form,
            series,
            settings: self.choice.as_ref().map_or(0, |choice| choice.candidates.len()),
            passes,
            accuracy,
            standard_error: self.judgement.standard_error(self.marks.count()),
            loss,
            price: None,
        }
    }
}

/// Returns whether a form that is right in all of `windows` windows would win by more than [`ERRORS`] standard errors.
pub(crate) fn can_be_led(found: &Judgement, windows: f64) -> bool {
    1.0 - found.accuracy > ERRORS * found.standard_error(windows)
}

#[cfg(test)]
mod tests;
