//! Judge of trials: decides held-out windows for a search.

use crate::learn::error::TrainError;
use crate::learn::selection::judged::JudgedForm;
use crate::learn::space::trial::Trial;
use crate::learn::training::held_out::HeldOut;

/// Judge of trials by held-out windows, for a search.
pub(crate) trait Judge {
    /// Judges a trial in inner folds of some series; `None` if there can be none.
    fn in_folds(&self, trial: &Trial, series: &[usize]) -> Result<Option<JudgedForm>, TrainError>;

    /// Each series or group held out in closed form; `None` where that is not to be had.
    fn in_closed_form(
        &self,
        trial: &Trial,
        series: &[usize],
    ) -> Result<Option<HeldOut>, TrainError>;

    /// Judges a hold-out in the inner folds of some series: each is held out in closed form, from the existing features.
    ///
    /// `None` without folds.
    fn held_out_in_folds(
        &self,
        trial: &Trial,
        held_out: &HeldOut,
        all: &[usize],
        some: &[usize],
    ) -> Result<Option<JudgedForm>, TrainError>;

    /// Caches features of some series for the next trials on them.
    fn keep(&self, trial: &Trial, series: &[usize], held_out: &HeldOut);

    /// Models fitted so far.
    fn fits(&self) -> usize;
}
