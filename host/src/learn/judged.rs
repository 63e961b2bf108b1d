//! What came of a trial of a form, and when one leads another.

use super::choice::{Decided, Judgement, Marks};
use crate::classifier::{Choice, Form, FormCandidate, Lead};

/// Standard errors by which models of classes must lead models of all to be taken, series with a mirror image those
/// without, and other numbers of jittered copies the first. With one, of models, eight sets had 0.928 of their training
/// parts in the mean over folds, with two 0.933: inner folds of a few groups are worth less than their size says.
pub(super) const ERRORS: f64 = 2.0;

/// What a trial saw.
pub(super) struct Seen {
    pub(super) stage: usize,
    pub(super) closed_form: bool,
    pub(super) series: usize,
    pub(super) passes: usize,
}

/// What came of a trial of a form.
pub(super) struct Judged {
    pub(super) judgement: Judgement,
    pub(super) form: Form,
    pub(super) choice: Option<Choice>,
    pub(super) marks: Marks,
}

/// What was chosen.
pub(super) struct Chosen {
    pub(super) form: Form,
    /// The machine on it, where one was chosen.
    pub(super) choice: Option<Choice>,
    pub(super) lead: Option<Lead>,
    /// Forms that were not tried, for what leads errs too little.
    pub(super) could_not_lead: usize,
}

impl Judged {
    /// As what is chosen, with its lead.
    pub(super) fn taken(self, lead: Option<Lead>) -> Chosen {
        Chosen { form: self.form, choice: self.choice, lead, could_not_lead: 0 }
    }

    /// By how much it leads the best of some others, which are in order; none of none.
    pub(super) fn lead<'j>(&self, others: impl IntoIterator<Item = &'j Self>) -> Option<Lead> {
        let next = others.into_iter().next()?;
        Some(self.judgement.lead(&next.judgement, self.marks.standard_error(&next.marks)))
    }

    /// By how much it leads another, with the larger of the error of the difference and its own as of so many trials:
    /// groups may be too few to differ, and what errs nowhere has none.
    pub(super) fn safe_lead(&self, next: &Self) -> Lead {
        let own = self.judgement.standard_error(self.marks.count());
        self.judgement.lead(&next.judgement, own.max(self.marks.standard_error(&next.marks)))
    }

    /// By how much another leads it, that would have been kept unless led by as much.
    pub(super) fn lead_of(&self, best: &Self) -> Lead {
        let Lead { accuracy, standard_error, loss, .. } = self.safe_lead(best);
        Lead { accuracy: -accuracy, standard_error, loss: -loss, over_kept: true }
    }

    /// Whether it leads another by more than so many of those errors.
    pub(super) fn leads(&self, next: &Self, errors: f64) -> bool {
        let Lead { accuracy, standard_error, .. } = self.safe_lead(next);
        accuracy > errors * standard_error
    }

    /// Whether another leads it by more.
    pub(super) fn is_led_by(&self, best: &Self, errors: f64) -> bool {
        let Lead { accuracy, standard_error, .. } = self.lead_of(best);
        accuracy > errors * standard_error
    }

    /// Of the setting that was chosen on a form; `None` where nothing was judged.
    pub(super) fn of(form: &Form, Decided { choice, marks }: Decided) -> Option<Self> {
        let judgement = choice.judgement()?;
        Some(Self { judgement, form: form.clone(), choice: Some(choice), marks })
    }

    /// As it is told, not priced yet, nor won.
    pub(super) fn candidate(
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

/// Whether what is right in all of so many windows would lead by more than [`ERRORS`] standard errors.
pub(super) fn can_be_led(found: &Judgement, windows: f64) -> bool {
    1.0 - found.accuracy > ERRORS * found.standard_error(windows)
}

#[cfg(test)]
mod tests;
